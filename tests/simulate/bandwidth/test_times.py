"""The time of a pattern is that of the fullest port: equal to fair sharing that is followed event by event."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from fabricgen.api.aside import render_aside
from fabricgen.api.candidates import equal_hosts, read_candidates, write_candidate
from fabricgen.bundle.read import open_bundle
from fabricgen.results import FailureKind
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.simulate.bandwidth.analysis import DEFAULT_PATTERNS, converged
from fabricgen.simulate.bandwidth.failures import BandwidthJudge, parts_of
from fabricgen.simulate.bandwidth.times import EvenLoad, demand_of, drawn
from fabricgen.simulate.max_min import max_min_times_ns
from fabricgen.simulate.patterns import Placement
from fabricgen.simulate.plane.hashing import hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.names import planes_for
from fabricgen.simulate.plane.ports import latency_ns
from fabricgen.simulate.plane.reading import read_plane

SIZE = 1 << 24
Read = tuple[HostNetwork, RoutedFabric, Path]


@pytest.fixture(scope="module", params=["rail-optimized", "fat-tree:2", "dual-tor"])
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Read:
    """The plane of a design for 64 GPUs on switches of 32 ports."""
    folder = tmp_path_factory.mktemp("bandwidth")
    (candidate,) = read_candidates(request.param)
    write_candidate(folder / "i", candidate, equal_hosts(read_candidates("dual-tor")), 64, "nvidia-sn4700")
    render_aside(folder / "i", folder / "b")
    bundle = open_bundle([folder / "b"])
    ((name, switches),) = planes_for(bundle, None, to_storage=False)
    fabric = read_fabric(bundle, switches)
    return read_plane(bundle, fabric, name, 3), fabric, folder / "b"


@pytest.mark.parametrize("pattern", DEFAULT_PATTERNS)
def test_the_fullest_port_is_the_end_of_fair_sharing(read: Read, pattern: str) -> None:
    plane = read[0]
    messages = demand_of(plane, pattern, SIZE, Placement.FRAGMENTED, 5).messages
    size = messages.bytes * plane.wire_share
    flows = hashed_flows(plane, messages.source, messages.target, size, messages.start_ns, 7).flows
    ports = replace(plane.ports, ack_bytes=0.0)
    followed = float(max_min_times_ns(ports, flows).max())
    assert drawn(plane, messages, 7).time_ns - latency_ns(plane.ports, flows).max() == pytest.approx(followed, rel=0.01)


def test_even_load_is_the_mean_of_many_draws(read: Read) -> None:
    """The load of a link under even spreading is the mean over hashes; the fullest of a draw is above it."""
    plane = read[0]
    messages = demand_of(plane, "permutation", SIZE, Placement.FRAGMENTED, 1).messages
    even = EvenLoad(plane)
    assert even.has_path(messages).all()
    times = [drawn(plane, messages, seed).time_ns for seed in range(20)]
    assert even.time_ns(messages) <= min(times)


def test_routes_after_a_failure_are_those_of_files_without_the_link(read: Read) -> None:
    """A link that leaves the files altogether: the next hops are the same."""
    plane, fabric, folder = read
    bundle = open_bundle([folder])
    reroute = converged(bundle, fabric, plane)
    part = parts_of(plane, FailureKind.LINK)[3]
    hops = reroute(np.array(part.links))
    assert (hops[list(part.links)] == 0).all() and (hops != plane.hops).any()
    name, port = part.name.split(":")
    removed = {(name, port), *(bundle.link_at[name, port].a, bundle.link_at[name, port].b)}
    for switch, interface in removed:
        tables = bundle.devices[switch].config
        rows = cast(dict[str, Any], tables["BGP_NEIGHBOR"])
        own = [key.split("|")[1].split("/")[0] for key in tables["INTERFACE"] if key.startswith(f"{interface}|")]
        for key in [key for key, row in rows.items() if row.get("local_addr") in own]:
            del rows[key]
    again = read_fabric(bundle, list(fabric.names))
    assert again.network.links == fabric.network.links - 2
    kept = [link for link in range(fabric.network.links) if link not in part.links]
    assert (read_plane(bundle, again, plane.name, 3).hops == hops[kept]).all()


def test_a_gpu_uses_its_other_port(read: Read) -> None:
    """One dead port halves the bandwidth of its GPU, and of a job that needs all of it; two dead ports cut it off."""
    plane, fabric, folder = read
    messages = demand_of(plane, "permutation", SIZE, Placement.ALIGNED, 0).messages
    judge = BandwidthJudge(plane, messages, converged(open_bundle([folder]), fabric, plane))
    one = judge.cost(FailureKind.HOST_LINK, 1, 10_000, 0)
    assert (one.judged, one.stopping, one.cut_off_most) == (len(plane.adapters), 0, 0)
    assert 0.5 <= one.share_least <= one.share_mean <= 1
    parts = parts_of(plane, FailureKind.HOST_LINK)
    gpu = {number: (adapter.host, adapter.rail) for number, adapter in enumerate(plane.adapters)}
    for first in range(0, len(parts), 7):
        twin = next(number for number in gpu if gpu[number] == gpu[first] and number != first)
        both = judge.outcome((parts[first], parts[twin]))
        assert (both.share, both.cut_off) == (0.0, 1)
        other = judge.outcome((parts[first], parts[(first + 1) % len(parts)]))
        assert other.share >= 0.25 and other.cut_off == 0
