"""The traffic of a pattern for a packet run: a slice of the hosts or flows if there are too many of them."""

from dataclasses import dataclass, replace

import numpy as np

from fabricgen.simulate.patterns import TRACE, Everyone, Messages, Traffic, make_job, make_traffic
from fabricgen.simulate.plane.host_network import HostNetwork

MOST_FLOWS = 4096
MOST_PACKETS = 2_000_000


@dataclass(frozen=True, slots=True)
class TrafficChoice:
    """A pattern, the buffer of one rank, and the seed of all random choices."""

    pattern: str
    size_bytes: float
    seed: int


def sliced_traffic(plane: HostNetwork, choice: TrafficChoice, times: int) -> tuple[Messages, str]:
    """The messages of a pattern that is sent `times` times, and a note on what the slice leaves out. Hosts are halved
    until the run is small enough; of a trace the first flows are used."""
    if choice.pattern.startswith(TRACE):
        job = make_job(plane.adapters, seed=choice.seed)
        traffic = make_traffic(choice.pattern, job, plane.adapters, choice.size_bytes, choice.seed)
        return _first_flows(traffic, plane.payload_bytes, times)
    hosts = list(dict.fromkeys(adapter.host for adapter in plane.adapters))
    count = len(hosts)
    while True:
        chosen = set(hosts[:count])
        number = np.array([index for index, one in enumerate(plane.adapters) if one.host in chosen], np.int64)
        adapters = [plane.adapters[index] for index in number.tolist()]
        job = make_job(adapters, seed=choice.seed)
        traffic = make_traffic(choice.pattern, job, adapters, choice.size_bytes, choice.seed)
        if count <= 2 or _is_small(traffic, plane.payload_bytes, times):
            break
        count //= 2
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    reason = f"a slice: {count} of {len(hosts)} hosts" if count < len(hosts) else ""
    return replace(messages, source=number[messages.source], target=number[messages.target]), reason


def _first_flows(traffic: Traffic, payload_bytes: int, times: int) -> tuple[Messages, str]:
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    small = np.cumsum(messages.bytes) * times <= MOST_PACKETS * payload_bytes
    count = min(max(1, int(small.sum())), MOST_FLOWS // times)
    if count >= len(messages):
        return messages, ""
    return messages.only(np.arange(count)), f"a slice: the first {count} of {len(messages)} flows"


def _is_small(traffic: Traffic, payload_bytes: int, times: int) -> bool:
    total = len(traffic) * traffic.bytes_each if isinstance(traffic, Everyone) else float(traffic.bytes.sum())
    return times * len(traffic) <= MOST_FLOWS and times * total / payload_bytes <= MOST_PACKETS
