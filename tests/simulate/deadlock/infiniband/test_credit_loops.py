"""Our verdict on credit loops against that of ibdmchk, on tables that the real OpenSM makes: engine by engine,
wiring by wiring. minhop and dor on tori must loop."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fabricgen.observed.opensm_dumps import read_dumps
from fabricgen.simulate.deadlock.certificate import certificate
from fabricgen.simulate.deadlock.infiniband.analysis import analyse_dumps
from fabricgen.simulate.deadlock.infiniband.virtual_lanes import find_credit_loops
from fabricgen.simulate.opensm import Tools, prove
from fabricgen.simulate.opensm.answers import path_levels, port_keys
from fabricgen.simulate.opensm.bench import swept
from fabricgen.simulate.opensm.proof import engine_at_work
from fabricgen.simulate.plane.service_levels import on_levels
from tests.opensm.netlists import Net, dragonfly, lines, three_tier, torus, two_tier, write
from tests.opensm.peer import credit_loops, path_sl_text
from tests.opensm.recorded import recorded
from tests.simulate.deadlock.test_certificate import checked

WIRINGS: dict[str, Callable[[], Net | tuple[Net, str]]] = {
    "two-tier": lambda: two_tier(8, 4, 8),
    "three-tier": lambda: three_tier(4, 4, 4, 8, 2),
    "torus-5x5": lambda: torus((5, 5), 2),
    "torus-4x4x4": lambda: torus((4, 4, 4), 1),
    "torus-4x4x4, two hosts": lambda: torus((4, 4, 4), 2),  # which stop dfsssp
    "torus-5x5x5": lambda: torus((5, 5, 5), 1),
    "dragonfly": lambda: dragonfly(4, 2, 2),
    "torus-6x4": lambda: torus((6, 4), 2),
    "mesh-4x4": lambda: lines((4, 4), 2, longest=1),
    "hyperx-4x3": lambda: lines((4, 3), 2, longest=3),
    "dragonfly-114": lambda: dragonfly(6, 1, 3),
}
# wiring, configured engine, active engine, whether there is a loop
MEASURED = [
    *[("two-tier", engine, engine, False) for engine in ("dfsssp", "ftree", "lash", "minhop", "nue", "updn")],
    *[("three-tier", engine, engine, False) for engine in ("dfsssp", "ftree", "lash", "minhop", "nue", "updn")],
    *[("torus-5x5", engine, engine, False) for engine in ("dfsssp", "lash", "nue", "torus-2QoS")],
    *[("torus-5x5", engine, engine, True) for engine in ("dor", "minhop")],
    ("torus-5x5", "updn", "minhop", True),
    *[("torus-4x4x4", engine, engine, False) for engine in ("lash", "nue", "torus-2QoS")],
    *[("torus-4x4x4", engine, engine, True) for engine in ("dor", "minhop")],
    *[("torus-4x4x4, two hosts", engine, "minhop", True) for engine in ("dfsssp", "dfsssp,updn")],
    *[("torus-5x5x5", engine, engine, False) for engine in ("lash", "torus-2QoS")],
    ("torus-5x5x5", "minhop", "minhop", True),
    ("torus-5x5x5", "dfsssp", "minhop", True),
    *[("dragonfly", engine, engine, False) for engine in ("dfsssp", "lash")],
    ("dragonfly", "minhop", "minhop", True),
    ("dragonfly", "updn", "minhop", True),
    *[("torus-6x4", engine, engine, False) for engine in ("dfsssp", "lash", "nue", "torus-2QoS")],
    *[("torus-6x4", engine, engine, True) for engine in ("dor", "minhop", "sssp")],
    *[("mesh-4x4", engine, engine, False) for engine in ("dfsssp", "dor", "lash")],
    ("mesh-4x4", "minhop", "minhop", True),
    *[("hyperx-4x3", engine, engine, False) for engine in ("dfsssp", "dor", "lash", "nue")],
    *[("hyperx-4x3", engine, engine, True) for engine in ("minhop", "sssp")],
    ("hyperx-4x3", "updn", "minhop", True),
    ("dragonfly-114", "lash", "lash", False),
]
# Free with the SLs of path records, cyclic with all packets on SL 0.
LOOPS_ON_SL_0 = {
    *((wiring, engine) for wiring in ("torus-5x5", "torus-6x4") for engine in ("dfsssp", "lash", "torus-2QoS")),
    *((wiring, "lash") for wiring in ("torus-4x4x4", "torus-5x5x5", "dragonfly", "dragonfly-114")),
    *(("torus-5x5x5", "torus-2QoS"), ("dragonfly", "dfsssp"), ("mesh-4x4", "dfsssp"), ("hyperx-4x3", "dfsssp")),
}
WITH_LMC = [("torus-6x4", engine, engine, engine == "minhop") for engine in ("minhop", "nue", "torus-2QoS")]


def made(folder: Path, wiring: str, engine: str, **more: str) -> Path:
    """The files of a subnet."""
    built = WIRINGS[wiring]()
    net, conf = built if isinstance(built, tuple) else (built, "")
    return write(folder, net, engine, torus_conf=conf, **more)


@pytest.mark.parametrize(
    ("wiring", "engine", "active", "loops", "more"),
    [(*one, "") for one in MEASURED] + [(*one, "lmc 1") for one in WITH_LMC],
)
def test_verdict_equals_ibdmchk(
    opensm: Tools, ibdmchk: str, tmp_path: Path, wiring: str, engine: str, active: str, loops: bool, more: str
) -> None:
    files = made(tmp_path / "files", wiring, engine, extra=more)
    with swept(opensm, files / "topology.ibsim", files) as bench:
        assert engine_at_work(bench) == active
        dumps = read_dumps(bench.scratch)
        levels = path_levels(bench, dumps, active, port_keys(bench, dumps))
        kept = Path(shutil.copytree(bench.scratch, tmp_path / "dumps"))
    dumps = replace(dumps, path_sl=levels.path_sl)
    assert levels.is_complete and not levels.refused
    found = find_credit_loops(dumps)
    assert (found.cycle is not None) == loops == credit_loops(ibdmchk, kept, dumps)
    assert not found.lost_count
    fixed = on_levels(dumps, (0,))
    assert (find_credit_loops(fixed).cycle is not None) == credit_loops(ibdmchk, kept, fixed)
    assert (find_credit_loops(fixed).cycle is not None) == (loops or (wiring, active) in LOOPS_ON_SL_0)
    (kept / "path.psl").write_text(path_sl_text(dumps))
    (read_back,) = analyse_dumps(kept)
    assert read_back.fixed_sl is not None
    assert read_back.fixed_sl.dependencies == find_credit_loops(fixed).dependencies
    assert (read_back.verdict == "cyclic", read_back.dependencies) == (loops, found.dependencies)
    line = checked(certificate([read_back]), kept)
    assert ("its dependencies are cyclic" if loops else f"{found.dependencies} dependencies checked") in line


def test_a_cycle_is_a_walk_over_cables_that_its_witnesses_take(opensm: Tools, tmp_path: Path) -> None:
    files = made(tmp_path, "torus-5x5", "minhop")
    dumps = prove(opensm, files / "topology.ibsim", files).dumps
    assert dumps is not None
    cycle = find_credit_loops(dumps).cycle
    assert cycle is not None and len(cycle.hops) == 4  # no shorter one is in a torus with shortest paths
    row = {switch.name: number for number, switch in enumerate(dumps.subnet.switches)}
    onward = cycle.hops[1:] + cycle.hops[:1]
    for (name, port), (following, port_there), lid in zip(cycle.hops, onward, cycle.witnesses, strict=True):
        assert dumps.subnet.peer_switch[row[name], int(port)] == row[following]
        assert dumps.forwarding[row[name], int(lid)] == int(port)
        assert dumps.forwarding[row[following], int(lid)] == int(port_there)


@pytest.mark.parametrize("engine", ["minhop", "dfsssp", "nue", "lash"])
def test_verdict_equals_that_of_ibdmchk_on_1056_adapters(tmp_path: Path, engine: str) -> None:
    dumps, loops = recorded(engine, tmp_path)
    found = find_credit_loops(dumps)
    assert (found.cycle is not None) == loops == (engine == "minhop")
    assert found.order is None or len(found.order) == found.channels
    assert not found.lost_count
    with_one_level = find_credit_loops(replace(dumps, path_sl=None))  # what an application does that asks for no SL
    assert with_one_level.cycle is not None and with_one_level.lanes == (0,)


def test_with_lmc_the_level_hangs_on_the_lid_that_a_port_sends_from(opensm: Tools, tmp_path: Path) -> None:
    files = made(tmp_path, "torus-6x4", "dfsssp", extra="lmc 1")
    dumps = prove(opensm, files / "topology.ibsim", files).dumps
    assert dumps is not None and dumps.path_sl is not None
    ports = len(dumps.subnet.adapters)
    assert dumps.path_sl.shape == (2 * ports, 2 * ports)
    assert (dumps.path_sl[:ports] != dumps.path_sl[ports:]).any()
    assert find_credit_loops(dumps).cycle is None
