"""The two verbs agree: the same bundle, pattern and hashes, without ECN, in the congestion model and in packets.

The congestion model counts the load of ACKs, but not their waiting behind data of other flows. So ACKs have a
separate class here.
"""

import dataclasses
import random
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from tests.conftest import Cli
from tests.inventories import ARISTA, DELL, NVIDIA, rail_optimized, write
from tests.simulate.packets.running import edit, prepare

prepare(print)

from fabricgen.simulate.congestion.analysis import Options, analyse_congestion  # noqa: E402
from fabricgen.simulate.packets import from_bundle  # noqa: E402
from fabricgen.simulate.packets.analysis import simulate_bundle  # noqa: E402 (compiled code comes after its cache)

PATTERNS = ("incast", "permutation", "all-to-all", "tree-all-reduce", "ring-all-reduce")
BORDER = (1.14, 1.26)
ERROR = 0.1  # of a completion time; flows of 16 KiB are a few packets


@pytest.mark.parametrize("platform", [ARISTA, NVIDIA, DELL])
@pytest.mark.parametrize("number", range(5))
def test_victims_pauses_and_ideal_times(
    platform: str, number: int, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = from_bundle.roce_transport
    monkeypatch.setattr(
        from_bundle, "roce_transport", lambda *values: dataclasses.replace(given(*values), ack_lossless=False)
    )
    chosen = random.Random(f"{platform} {number}")
    tree = rail_optimized(hosts=chosen.choice([8, 12]), unit=4, planned=3, platform=platform)
    bundle = tmp_path / "bundle"
    assert cli("-q", "render", str(write(tmp_path / "given", tree)), "--output", str(bundle)).code == 0
    alpha = str(chosen.choice([-8, -6, -4, 0]))
    edit(bundle, "WRED_PROFILE", lambda _, row: row.update(ecn="ecn_none"))
    edit(bundle, "BUFFER_PROFILE", lambda key, row: row.update(dynamic_th=alpha) if key.startswith("pg_l") else None)
    if platform == NVIDIA:
        edit(bundle, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", lambda _, row: row.update(default_dynamic_th=alpha))
    pattern, size, seed = PATTERNS[number], chosen.choice([1 << 20, 4 << 20]), chosen.randrange(5)
    opened = open_bundle([bundle])
    [packets] = simulate_bundle(opened, pattern, size_bytes=size, seed=seed)
    [congestion] = analyse_congestion(opened, Options(pattern=pattern, size_bytes=size, seed=seed))
    assert not packets.result.drops
    by_ends = {(flow.src, flow.dst): flow for flow in congestion.flows}
    for flow in packets.result.flows:
        its = by_ends[flow.src, flow.dst]
        assert flow.fct_ns is not None and flow.hol_factor is not None and its.fct_ns is not None
        assert its.fct_ns == pytest.approx(flow.fct_ns, rel=ERROR)
        assert its.ideal_fct_ns == pytest.approx(flow.ideal_fct_ns, rel=1e-4)
        if not BORDER[0] <= flow.hol_factor <= BORDER[1]:
            assert its.victim == (flow.hol_factor > 1.2)
    assert bool(congestion.paused) == bool(packets.result.pfc_frames)
    assert congestion.unexplained == 0
    assert congestion.roots or not congestion.victims
