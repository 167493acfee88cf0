"""Tables of the real OpenSM on a dragonfly of 1,056 adapters, kept small: to make them takes a minute or two of CPU for
each engine, and ibdmchk takes ten seconds.

    python -m tests.opensm.recorded ENGINE...

runs OpenSM, asks for the SL of every path, has ibdmchk judge the dumps, and writes them beside the goldens.
"""

import io
import lzma
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from fabricgen.observed.opensm_dumps import Dumps, read_dumps, read_subnet
from fabricgen.observed.subnet import Subnet
from fabricgen.simulate.opensm import find_tools
from fabricgen.simulate.opensm.answers import path_levels, port_keys
from fabricgen.simulate.opensm.bench import swept
from fabricgen.simulate.opensm.proof import engine_at_work
from tests.opensm.netlists import dragonfly, write
from tests.opensm.peer import credit_loops

FOLDER = Path(__file__).parents[1] / "golden" / "infiniband" / "dragonfly-1056"


def recorded(engine: str, scratch: Path) -> tuple[Dumps, bool]:
    """The tables that an engine made, and whether ibdmchk found a credit loop in them."""
    files = write(scratch, dragonfly(8, 4, 4), engine)
    with lzma.open(FOLDER / f"{engine}.npz.xz") as stream:
        kept = np.load(io.BytesIO(stream.read()))
    subnet = read_subnet(files / "topology.ibsim")
    tables = {name: kept[name] for name in ("forwarding", "destinations", "owners", "sl2vl", "path_sl")}
    return Dumps(subnet, **tables), bool(kept["ibdmchk_loops"])


def record(engine: str, scratch: Path) -> str:
    """Make the tables again; returns the result in one line."""
    tools, ibdmchk = find_tools(), shutil.which("ibdmchk")
    assert tools and ibdmchk
    files = write(scratch / "files", dragonfly(8, 4, 4), engine, extra="nue_max_num_vls 8" if engine == "nue" else "")
    with swept(tools, files / "topology.ibsim", files) as bench:
        assert engine_at_work(bench) == engine
        dumps = read_dumps(bench.scratch)
        levels = path_levels(bench, dumps, engine, port_keys(bench, dumps))
        shutil.copytree(bench.scratch, scratch / "dumps")
    assert levels.is_complete
    dumps = replace(dumps, path_sl=levels.path_sl)
    loops = credit_loops(ibdmchk, scratch / "dumps", dumps)
    return keep(engine, dumps, read_subnet(files / "topology.ibsim"), loops)


def keep(engine: str, dumps: Dumps, netlist: Subnet, loops: bool) -> str:
    """Write the tables in the order of the netlist, from which the wiring is read again."""
    assert dumps.path_sl is not None and dumps.sl2vl is not None
    row = {switch.node_guid: number for number, switch in enumerate(dumps.subnet.switches)}
    rows = [row[switch.node_guid] for switch in netlist.switches]
    place = {adapter.port_guid: number for number, adapter in enumerate(dumps.subnet.adapters)}
    places = np.array([place[adapter.port_guid] for adapter in netlist.adapters])
    stream = io.BytesIO()
    np.savez(
        stream,
        forwarding=dumps.forwarding[rows],
        destinations=dumps.destinations,
        owners=np.argsort(places)[dumps.owners],
        sl2vl=dumps.sl2vl[rows],
        path_sl=dumps.path_sl[places],
        ibdmchk_loops=loops,
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = FOLDER / f"{engine}.npz.xz"
    kept.write_bytes(lzma.compress(stream.getvalue(), preset=9))
    return f"{kept.name}: {kept.stat().st_size // 1024} KiB, ibdmchk {'finds a loop' if loops else 'finds no loop'}"


def main() -> None:
    """Record the engines named."""
    for engine in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as scratch:
            sys.stdout.write(record(engine, Path(scratch)) + "\n")


if __name__ == "__main__":
    main()
