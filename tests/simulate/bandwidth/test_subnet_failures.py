"""Routes of InfiniBand trees after failures: up and then down, wherever such a path exists, and nowhere else."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.bundle.read import open_bundle
from fabricgen.resources import resource
from fabricgen.results import FailureKind
from fabricgen.routing.network import Network, build_network
from fabricgen.simulate.bandwidth.analysis import BandwidthOptions, analyse_bandwidth
from fabricgen.simulate.plane.shortest_hops import by_destination, shortest_hops, tiers_of, up_down_hops
from tests.conftest import Cli

LEAVES, SPINES, CORES = 4, 4, 2
NONE = np.zeros(0, np.int64)
LEAF = np.repeat(np.arange(LEAVES), 2)  # two adapters at each leaf


def tree() -> Network:
    """Two pods of two leaves and two spines, and two cores that join all spines."""
    pairs = [(leaf, LEAVES + spine) for leaf in range(LEAVES) for spine in range(SPINES) if leaf // 2 == spine // 2]
    pairs += [(LEAVES + spine, LEAVES + SPINES + core) for spine in range(SPINES) for core in range(CORES)]
    return build_network(LEAVES + SPINES + CORES, [a for a, _ in pairs], [b for _, b in pairs])


NETWORK = tree()


def dead_links(cables: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Both directions of each cable."""
    return np.unique([end for link in cables for end in (link, int(NETWORK.reverse[link]))]).astype(np.int64)


def follows(hops: np.ndarray[tuple[int, int], np.dtype[np.uint64]], start: int, adapter: int) -> list[int] | None:
    """The switches on the way of the first next hops; None if it ends before the leaf of the adapter."""
    at, seen = start, [start]
    while at != LEAF[adapter]:
        own = range(int(NETWORK.offsets[at]), int(NETWORK.offsets[at + 1]))
        onward = [link for link in own if int(hops[link, 0]) >> adapter & 1]
        if not onward:
            return None
        at = int(NETWORK.target[onward[0]])
        assert at not in seen, "a loop"
        seen.append(at)
    return seen


def reachable(tier: Sequence[int], dead: set[int], start: int, goal: int) -> bool:
    """Whether a path goes up and then down, by search over (switch, whether it has turned)."""
    found, waiting = set(), [(start, False)]
    while waiting:
        at, turned = waiting.pop()
        if at == goal:
            return True
        if (at, turned) in found:
            continue
        found.add((at, turned))
        for link in range(int(NETWORK.offsets[at]), int(NETWORK.offsets[at + 1])):
            far = int(NETWORK.target[link])
            down = tier[far] < tier[at]
            if link not in dead and (down or not turned):
                waiting.append((far, turned or down))
    return False


def test_without_a_failure_they_are_the_shortest_paths() -> None:
    tier = tiers_of(NETWORK, LEAF)
    assert tier is not None
    assert (up_down_hops(NETWORK, tier, LEAF, NONE) == shortest_hops(NETWORK, LEAF)).all()


@given(st.lists(st.integers(0, NETWORK.links - 1), max_size=10), st.booleans())
def test_a_path_exists_if_and_only_if_one_goes_up_and_then_down(cables: list[int], adaptive: bool) -> None:
    tier, dead = tiers_of(NETWORK, LEAF), dead_links(cables)
    assert tier is not None
    hops = up_down_hops(NETWORK, tier, LEAF, dead)
    assert not hops[dead].any()
    hops = hops if adaptive else by_destination(NETWORK, hops, LEAF)
    for start in range(LEAVES):
        for adapter in range(len(LEAF)):
            way = follows(hops, start, adapter)
            assert (way is not None) is reachable(tier.tolist(), set(dead.tolist()), start, int(LEAF[adapter]))
            rises = [tier[b] > tier[a] for a, b in zip(way or [], (way or [])[1:], strict=False)]
            assert rises == sorted(rises, reverse=True), "up, then down"


def test_failures_of_a_tree_are_judged(cli: Cli, tmp_path: Path) -> None:
    """A failed link between switches costs bandwidth, and cuts no GPU off; a failed leaf stops the job."""
    copy = shutil.copytree(resource("inventories", "infiniband"), tmp_path / "infiniband")
    assert cli("-q", "render", copy, "-o", tmp_path / "bundle").code == 0
    options = BandwidthOptions(patterns=("permutation",), draws=1, failure_sets=12)
    found = analyse_bandwidth(open_bundle([tmp_path / "bundle"]), options, "compute")
    costs = {(one.kind, one.depth): one for one in found.failures}
    link, switch = costs[FailureKind.LINK, 1], costs[FailureKind.SWITCH, 1]
    assert (link.sets, link.judged, link.cut_off_most) == (256, 12, 0) and 0 < link.share_least <= 1
    assert (switch.sets, switch.stopping) == (12, 8), "eight leaves, four spines"
    assert "shortest paths up and down" in found.reason
