"""What failures of a torus cost, by the tables that the real OpenSM makes after each."""

from pathlib import Path

import numpy as np
import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.results import FailureKind
from fabricgen.simulate.bandwidth.analysis import BandwidthOptions, analyse_bandwidth
from fabricgen.simulate.bandwidth.failures import UnjudgedError, parts_of
from fabricgen.simulate.bandwidth.resweeps import MOST_SWEPT, resweeping
from fabricgen.simulate.opensm import Tools
from fabricgen.simulate.opensm.plane_tables import plane_tables
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.subnet_plane import Forwarding, subnet_plane
from tests.conftest import Cli
from tests.inventories import grid, write

SIZE = 4
OPTIONS = BandwidthOptions(patterns=("all-to-all",), draws=1, failure_sets=1)
Hops = np.ndarray[tuple[int, int], np.dtype[np.uint64]]


@pytest.fixture
def bundle(opensm: Tools, tmp_path: Path, cli: Cli) -> Bundle:
    """A ring of four switches with a host each, and one cable from each to the next."""
    tree = grid("torus", [SIZE], hosts=SIZE)
    plane = tree["planes"]["compute"]
    plane |= {"technology": "infiniband", "infiniband": {"engine": "nue"}}
    del plane["addressing"], tree["management"]
    assert cli("-q", "render", write(tmp_path / "in", tree), "-o", tmp_path / "bundle").code == 0
    return open_bundle([tmp_path / "bundle"])


def tables_of(bundle: Bundle) -> Forwarding:
    return Forwarding(plane_tables(bundle, ["compute"]))


def way(plane: HostNetwork, hops: Hops, start: int, adapter: int) -> list[int]:
    """The links from a switch to the leaf of an adapter."""
    at, links = start, list[int]()
    while at != plane.leaf[adapter]:
        own = range(int(plane.network.offsets[at]), int(plane.network.offsets[at + 1]))
        (link,) = [link for link in own if int(hops[link, adapter // 64]) >> adapter % 64 & 1]
        links.append(link)
        at = int(plane.network.target[link])
        assert len(links) < SIZE, "a loop"
    return links


def test_tables_after_failures_avoid_what_failed(bundle: Bundle) -> None:
    """Without a cable of a ring all paths go around it; one failure leaves nothing behind for the next."""
    assert bundle.wiring is not None
    plane = subnet_plane(bundle.wiring, "compute", tables_of(bundle))
    assert plane is not None
    cables = parts_of(plane, FailureKind.LINK)
    assert len(cables) == SIZE
    with resweeping(bundle, plane) as reroute:
        assert reroute is not None
        assert (reroute(np.zeros(0, np.int64)) == plane.hops).all()
        for cable in cables[:2]:
            dead = np.array(cable.links, np.int64)
            hops = reroute(dead)
            used = {
                link
                for start in range(SIZE)
                for adapter in range(len(plane.adapters))
                for link in way(plane, hops, start, adapter)
            }
            assert used == set(range(plane.network.links)) - set(cable.links)
        with pytest.raises(UnjudgedError):  # one of the switches has the manager
            for switch in parts_of(plane, FailureKind.SWITCH):
                reroute(np.unique(np.array(switch.links, np.int64)))


def test_failures_of_a_torus_are_costed(bundle: Bundle) -> None:
    """A ring without a cable is slower, and without two it is divided."""
    found = analyse_bandwidth(bundle, OPTIONS, "compute", subnets=tables_of(bundle))
    costs = {(one.kind, one.depth): one for one in found.failures}
    link, pair = costs[FailureKind.LINK, 1], costs[FailureKind.LINK, 2]
    assert (link.sets, link.judged, link.stopping, link.cut_off_most) == (SIZE, 1, 0, 0)
    assert 0.2 < link.share_least < 0.9
    assert (pair.sets, pair.stopping) == (6, 1), "two dead cables divide a ring"
    assert costs[FailureKind.HOST_LINK, 1].cut_off_most == 1
    assert f"at most {MOST_SWEPT} sets of each kind" in found.reason


def test_without_opensm_the_reason_is_given(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_of(bundle)
    monkeypatch.setattr("fabricgen.simulate.bandwidth.resweeps.find_tools", lambda: None)
    found = analyse_bandwidth(bundle, OPTIONS, "compute", subnets=tables)
    assert found.failures == () and found.patterns
    assert "failures are not judged" in found.reason and "install opensm and ibsim" in found.reason
