"""The traffic of a pattern for a packet run: a slice of the hosts or flows if the run would be too long.

The cost of a run is its packet hops: packets times the links of their paths, there and, for ACKs, back.
"""

from dataclasses import dataclass, replace

import numpy as np

from fabricgen.simulate.patterns import TRACE, Everyone, Messages, Traffic, make_job, make_traffic
from fabricgen.simulate.plane.hashing import hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT
from fabricgen.simulate.workload import PlacedJob, mix_of
from fabricgen.units import counted

DEFAULT_MAX_HOPS = 50_000_000  # about ten seconds
MOST_FLOWS = 4_000_000  # a flow needs about 500 bytes of memory
_SAMPLE = 256


@dataclass(frozen=True, slots=True)
class TrafficChoice:
    """A pattern, the buffer of one rank, the seed of all random choices, and the largest number of packet hops. Without
    `queue_pairs`, a connection has as many as the files of the hosts say. With `jobs` they send in place of the
    pattern."""

    pattern: str
    size_bytes: float
    seed: int
    max_hops: int = DEFAULT_MAX_HOPS
    queue_pairs: int | None = None
    jobs: tuple[PlacedJob, ...] = ()


def sliced_traffic(plane: HostNetwork, choice: TrafficChoice, times: int) -> tuple[Messages, str]:
    """The messages of a pattern that is sent `times` times, and a note on what the slice leaves out. Hosts are halved
    until the run is small enough; of a trace the first flows are used, and of jobs all messages become smaller."""
    hops = 2 * times * _mean_links(plane, choice.seed)  # of a packet and its ACK
    if choice.jobs:
        return _of_jobs(plane, choice, hops)
    if choice.pattern.startswith(TRACE):
        job = make_job(plane.adapters, seed=choice.seed)
        traffic = make_traffic(choice.pattern, job, plane.adapters, choice.size_bytes, choice.seed)
        return _first_flows(traffic, plane.payload_bytes, hops, choice.max_hops)
    hosts = list(dict.fromkeys(adapter.host for adapter in plane.adapters))
    count, whole = len(hosts), 0.0
    while True:
        chosen = set(hosts[:count])
        number = np.array([index for index, one in enumerate(plane.adapters) if one.host in chosen], np.int64)
        adapters = [plane.adapters[index] for index in number.tolist()]
        job = make_job(adapters, seed=choice.seed)
        traffic = make_traffic(choice.pattern, job, adapters, choice.size_bytes, choice.seed)
        cost = hops * _packets(traffic, plane.payload_bytes)
        whole = whole or cost
        if count <= 2 or (cost <= choice.max_hops and times * len(traffic) <= MOST_FLOWS):
            break
        count //= 2
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    reason = f"a slice: {count} of {len(hosts)} hosts; {_limit(whole, choice.max_hops)}" if count < len(hosts) else ""
    return replace(messages, source=number[messages.source], target=number[messages.target]), reason


def _of_jobs(plane: HostNetwork, choice: TrafficChoice, hops: float) -> tuple[Messages, str]:
    """The messages of the jobs of a plane; if there are too many packets, divided by a power of two."""
    placed = [one for one in choice.jobs if plane.name in one.planes]
    messages = mix_of(plane.adapters, placed, choice.seed).messages
    whole = _packets(messages, plane.payload_bytes) * hops
    part = 1
    while (cost := _packets(messages, plane.payload_bytes) * hops) > choice.max_hops and cost > len(messages) * hops:
        messages, part = replace(messages, bytes=messages.bytes / 2), part * 2
    if part == 1:
        return messages, ""
    return messages, f"a slice: messages of all jobs divided by {part}; {_limit(whole, choice.max_hops)}"


def _first_flows(traffic: Traffic, payload_bytes: int, hops: float, max_hops: int) -> tuple[Messages, str]:
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    cost = np.cumsum(np.ceil(messages.bytes / payload_bytes)) * hops
    count = min(max(1, int((cost <= max_hops).sum())), MOST_FLOWS)
    if count >= len(messages):
        return messages, ""
    left = f"a slice: the first {count} of {counted(len(messages), 'flow')}; {_limit(float(cost[-1]), max_hops)}"
    return messages.only(np.arange(count)), left


def _limit(hops: float, max_hops: int) -> str:
    """Why there is a slice."""
    return f"all have about {hops / 1e6:.2g} million packet hops, --max-hops is {max_hops}"


def _packets(traffic: Traffic, payload_bytes: int) -> float:
    if isinstance(traffic, Everyone):
        return float(len(traffic) * np.ceil(traffic.bytes_each / payload_bytes))
    return float(np.ceil(traffic.bytes / payload_bytes).sum())


def _mean_links(plane: HostNetwork, seed: int) -> float:
    """The mean number of links between two adapters, of a random sample."""
    random = np.random.default_rng(seed)
    source, target = random.integers(0, len(plane.adapters), (2, _SAMPLE))
    apart = source != target
    if not apart.any():
        return 1.0
    size = np.ones(int(apart.sum()))
    drawn = hashed_flows(plane, source[apart], target[apart], size, np.zeros_like(size), seed)
    return float((drawn.flows.path != NO_PORT).sum(axis=1).mean()) if drawn.arrived.any() else 1.0
