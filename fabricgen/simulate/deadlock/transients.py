"""Transient loops: two switches that send a packet back and forth before both know of a failure.

A switch that loses its only next hop to a destination falls back at once on the routes that its neighbors advertised.
The neighbors still forward as before. A neighbor that uses the switch and another path may have advertised the other
path. If the loop check accepts it, the switch sends packets back to the neighbor, which still sends them to the switch.
The two links wait for each other until the neighbor learns of the failure.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import Words
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.multipath import narrow_choices
from fabricgen.simulate.deadlock.analysis import Evidence
from fabricgen.simulate.deadlock.core.dependencies import carried
from fabricgen.simulate.deadlock.core.valleys import levels_without_valleys


@dataclass(frozen=True, slots=True)
class TransientLoop:
    """After link `failed` has failed, its source sends packets over link `back` to `neighbor`, and the neighbor still
    sends them over the reverse of `back`. `column` is one such destination of the routes."""

    failed: int
    back: int
    neighbor: int
    column: int


def transient_loops(evidence: Evidence) -> list[TransientLoop]:
    """One loop for each single link failure that can cause one, by link; empty if ASNs rule out all valleys."""
    if levels_without_valleys(evidence.fabric, evidence.traffic) is not None:
        return []
    found: dict[int, TransientLoop] = {}
    for loop in _loops(evidence):
        found.setdefault(loop.failed, loop)
    return [found[link] for link in sorted(found)]


def _loops(evidence: Evidence) -> Iterator[TransientLoop]:
    network, policy = evidence.fabric.network, evidence.fabric.policy
    hops = forwarding(network, evidence.routes, evidence.fabric.discards)
    flow = np.empty_like(hops)
    flow[network.incoming] = carried(network, hops, evidence.traffic.sources)
    single = _only_next_hops(evidence, hops)
    if single is None:
        return
    several = _through_several_asns(evidence, hops)
    mask = evidence.lossless.mask
    lossless = (mask & mask[network.reverse]) != 0
    shared = _shared(policy.asn)
    for link in np.flatnonzero(lossless & (network.source != network.target)).tolist():
        neighbor, struck = int(network.source[link]), int(network.target[link])
        back = int(network.reverse[link])
        lenient = policy.allowas_in[back] > 0
        looping = flow[link] & single[struck] & (hops[link] if lenient else several[neighbor])
        for column in bits.columns_of(looping) if looping.any() else ():
            failed = _next_hop(evidence, hops, struck, column)
            if network.target[failed] == neighbor:
                continue
            if lenient or not shared[struck] or _has_path_around(evidence, hops, neighbor, struck, column):
                single[struck, column >> 6] &= ~(
                    np.uint64(1) << np.uint64(column & 63)
                )  # one loop for each failure is enough
                yield TransientLoop(failed, back, neighbor, column)


def _only_next_hops(evidence: Evidence, hops: Words) -> Words | None:
    """The destinations that each switch (switches x words) reaches over one link only."""
    network = evidence.fabric.network
    if not network.links:
        return None
    everywhere = np.ones(network.switches, bool)
    links = narrow_choices(network, evidence.fabric.policy.asn, everywhere, np.full(network.switches, -1))
    assert links is not None
    some = np.zeros((network.switches, hops.shape[1]), np.uint64)
    starts = bits.segment_starts(network.source)
    some[network.source[starts]] = np.bitwise_or.reduceat(hops, starts)
    return some & ~links.undecided(hops, network.switches)


def _through_several_asns(evidence: Evidence, hops: Words) -> Words:
    """The destinations that each switch reaches through neighbors of several ASNs, so that it may advertise any
    path."""
    network = evidence.fabric.network
    most = np.full(network.switches, network.links + 1)
    groups = narrow_choices(network, evidence.fabric.policy.asn, np.zeros(network.switches, bool), most)
    assert groups is not None
    return groups.undecided(hops, network.switches)


def _shared(asn: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each switch, whether another switch has the same ASN."""
    _, index, count = np.unique(asn, return_inverse=True, return_counts=True)
    several: NDArray[np.bool_] = count[index] > 1
    return several


def _next_hop(evidence: Evidence, hops: Words, switch: int, column: int) -> int:
    """The only next-hop link of a switch."""
    first, last = evidence.fabric.network.offsets[switch : switch + 2]
    return int(first + np.flatnonzero(bits.has(hops[first:last], column))[0])


def _has_path_around(evidence: Evidence, hops: Words, start: int, struck: int, column: int) -> bool:
    """Whether some shortest path from `start` has no switch with the ASN of `struck`."""
    network, asn = evidence.fabric.network, evidence.fabric.policy.asn
    origins = evidence.routes.destinations[column].origins
    seen, waiting = {start}, [start]
    while waiting:
        switch = waiting.pop()
        if switch in origins:
            return True
        first, last = network.offsets[switch : switch + 2]
        for link in (first + np.flatnonzero(bits.has(hops[first:last], column))).tolist():
            far = int(network.target[link])
            if far not in seen and asn[far] != asn[struck]:
                seen.add(far)
                waiting.append(far)
    return False
