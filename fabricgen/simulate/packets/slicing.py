"""The traffic of a pattern for a packet run: a slice of the hosts or flows if the run would be too long.

The cost of a run is its packet hops: packets times the links of their paths, there and, for ACKs, back.
"""

from dataclasses import dataclass, replace

import numpy as np

from fabricgen.simulate.patterns import TRACE, Everyone, Messages, Traffic, make_job, make_traffic
from fabricgen.simulate.plane.hashing import hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT, Ints
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
    if choice.jobs:
        return _of_jobs(plane, choice, times)
    if choice.pattern.startswith(TRACE):
        job = make_job(plane.adapters, seed=choice.seed)
        traffic = make_traffic(choice.pattern, job, plane.adapters, choice.size_bytes, choice.seed)
        messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
        return _first_flows(messages, plane.payload_bytes, _hops(plane, messages, times, choice), choice.max_hops)
    hosts = list(dict.fromkeys(adapter.host for adapter in plane.adapters))
    count, whole = len(hosts), 0.0
    while True:
        chosen = set(hosts[:count])
        number = np.array([index for index, one in enumerate(plane.adapters) if one.host in chosen], np.int64)
        adapters = [plane.adapters[index] for index in number.tolist()]
        job = make_job(adapters, seed=choice.seed)
        traffic = make_traffic(choice.pattern, job, adapters, choice.size_bytes, choice.seed)
        cost = _hops(plane, traffic, times, choice, number) * _packets(traffic, plane.payload_bytes)
        whole = whole or cost
        if count <= 2 or (cost <= choice.max_hops and times * len(traffic) <= MOST_FLOWS):
            break
        count //= 2
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    reason = f"a slice: {count} of {len(hosts)} hosts; {_limit(whole, choice.max_hops)}" if count < len(hosts) else ""
    if cost > choice.max_hops:
        few = f"{count} hosts have about {_millions(cost)} packet hops, and fewer cannot send to each other"
        reason = f"{reason}; {few}" if reason else f"{few}; --max-hops is {choice.max_hops}"
    return replace(messages, source=number[messages.source], target=number[messages.target]), reason


def _of_jobs(plane: HostNetwork, choice: TrafficChoice, times: int) -> tuple[Messages, str]:
    """The messages of the jobs of a plane; if there are too many packets, divided by a power of two."""
    placed = [one for one in choice.jobs if plane.name in one.planes]
    messages = mix_of(plane.adapters, placed, choice.seed).messages
    hops = _hops(plane, messages, times, choice)
    whole = _packets(messages, plane.payload_bytes) * hops
    part = 1
    while (cost := _packets(messages, plane.payload_bytes) * hops) > choice.max_hops and cost > len(messages) * hops:
        messages, part = replace(messages, bytes=messages.bytes / 2), part * 2
    if part == 1:
        return messages, ""
    return messages, f"a slice: messages of all jobs divided by {part}; {_limit(whole, choice.max_hops)}"


def _first_flows(messages: Messages, payload_bytes: int, hops: float, max_hops: int) -> tuple[Messages, str]:
    cost = np.cumsum(np.ceil(messages.bytes / payload_bytes)) * hops
    count = min(max(1, int((cost <= max_hops).sum())), MOST_FLOWS)
    if count >= len(messages):
        return messages, ""
    left = f"a slice: the first {count} of {counted(len(messages), 'flow')}; {_limit(float(cost[-1]), max_hops)}"
    return messages.only(np.arange(count)), left


def _limit(hops: float, max_hops: int) -> str:
    """Why there is a slice."""
    return f"all have about {_millions(hops)} packet hops, but --max-hops is {max_hops}"


def _millions(hops: float) -> str:
    return f"{hops / 1e6:.2g} million"


def _packets(traffic: Traffic, payload_bytes: int) -> float:
    if isinstance(traffic, Everyone):
        return float(len(traffic) * np.ceil(traffic.bytes_each / payload_bytes))
    return float(np.ceil(traffic.bytes / payload_bytes).sum())


def _hops(plane: HostNetwork, traffic: Traffic, times: int, choice: TrafficChoice, number: Ints | None = None) -> float:
    """The mean hops of a packet and its ACK, `times` times, of a random sample. `number` is each end's adapter; without
    it the ends are numbers of adapters."""
    if not len(traffic):
        return 0.0
    source, target = _sample(traffic, plane.payload_bytes, choice.seed)
    if number is not None:
        source, target = number[source], number[target]
    size = np.ones(len(source))
    drawn = hashed_flows(plane, source, target, size, np.zeros_like(size), choice.seed)
    links = float((drawn.flows.path != NO_PORT).sum(axis=1).mean()) if drawn.arrived.any() else 1.0
    return 2 * times * links


def _sample(traffic: Traffic, payload_bytes: int, seed: int) -> tuple[Ints, Ints]:
    """Sources and targets of some packets."""
    random = np.random.default_rng(seed)
    if isinstance(traffic, Messages):
        packets = np.ceil(traffic.bytes / payload_bytes)
        drawn = random.choice(len(traffic), _SAMPLE, p=packets / packets.sum())
        return traffic.source[drawn], traffic.target[drawn]
    pairs = np.array([len(group) * (len(group) - 1) for group in traffic.groups], float)
    drawn = random.choice(len(pairs), _SAMPLE, p=pairs / pairs.sum())
    ends = [random.choice(traffic.groups[each], 2, replace=False) for each in drawn.tolist()]
    source, target = np.array(ends, np.int64).T
    return source, target
