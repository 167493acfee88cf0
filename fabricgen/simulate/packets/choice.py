"""How a switch selects the next hop of a packet among equal ones, while it forwards it."""

from typing import Any

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.draws import GOLDEN, mixed
from fabricgen.simulate.packets.intrinsics import unsigned, whole
from fabricgen.simulate.packets.records import DOWN, TRIMMED
from fabricgen.simulate.packets.state import Run

# 0: flows have one path, from the start of the run.
HASH, FLOWLET, ADAPTIVE_PACKET, ADAPTIVE_FLOWLET, SPRAY_RANDOM, SPRAY_ROUND = range(1, 7)

_OF_SWITCH, _OF_FLOW = np.uint64(1 << 32), np.uint64(1 << 33)  # places of random numbers, beyond those of queues


@inlined
def next_hop(run: Run, packet: int) -> int:
    """The port that a packet leaves a switch by; its `step` is the host that it goes to."""
    event, spread = run.events[packet], run.spread
    goal = unsigned(event.step)
    node = run.ports[event.port].node
    last = run.ports[run.nodes[goal].port].peer
    if run.ports[last].node == node:
        return unsigned(last)
    switch = spread.number[node]
    group = unsigned(spread.groups[switch, spread.number[goal]])
    choices = spread.choices[group]
    if choices.count == 1:
        return unsigned(spread.members[choices.first])
    choice = run.settings.choice
    if choice == HASH:
        return _member(run, group, _hashed(run, packet, switch))
    if choice == SPRAY_RANDOM:
        return _member(run, group, _drawn(run, switch))
    if choice == SPRAY_ROUND:
        choices.turn += 1
        return _member(run, group, np.uint64(choices.turn - 1))
    if choice == ADAPTIVE_PACKET:
        return _emptiest(run, group, switch)
    return _of_flowlet(run, packet, group, switch)


@inlined
def _of_flowlet(run: Run, packet: int, group: int, switch: int) -> int:
    """The last next hop of the flow, or a new one after a gap."""
    choices, settings, now = run.spread.choices[group], run.settings, run.clock[0].now
    place = whole(_hashed(run, packet, switch) % np.uint64(settings.max_flows))
    last = run.spread.memory[unsigned(choices.memory) + place]
    lasting = now - last.time < settings.flowlet_gap
    if settings.choice == ADAPTIVE_FLOWLET:
        if not lasting or run.ports[last.port].state & DOWN:
            last.port = _emptiest(run, group, switch)
    elif not lasting:
        last.port = _member(run, group, _drawn(run, switch))
    last.time = now
    return unsigned(last.port)


@inlined
def _member(run: Run, group: int, number: Any) -> int:
    """The member of a group by a number, modulo the members."""
    choices = run.spread.choices[group]
    return unsigned(run.spread.members[unsigned(choices.first) + whole(number % np.uint64(choices.count))])


@inlined
def _emptiest(run: Run, group: int, switch: int) -> int:
    """A random one of the members of a group in the lowest band."""
    choices, spread = run.spread.choices[group], run.spread
    first, lowest, count = unsigned(choices.first), len(spread.bands) + 2, 0
    for member in range(first, first + choices.count):
        band = _band(run, unsigned(spread.members[member]))
        if band < lowest:
            lowest, count = band, 1
        elif band == lowest:
            count += 1
    left = whole(_drawn(run, switch) % np.uint64(count))
    for member in range(first, first + choices.count):
        port = unsigned(spread.members[member])
        if _band(run, port) == lowest:
            if left == 0:
                return port
            left -= 1
    return unsigned(spread.members[first])


@inlined
def _band(run: Run, port: int) -> int:
    """The number of limits that the packets at a port have reached; one more if its link is down."""
    bands, depth = run.spread.bands, 0
    if run.ports[port].state & DOWN:
        return len(bands) + 1
    for lane in range(run.settings.classes):
        depth += run.queues[port, lane].bytes
    band = 0
    while band < len(bands) and bands[band] <= depth:
        band += 1
    return band


@inlined
def _drawn(run: Run, switch: int) -> Any:
    """The next random number of a switch."""
    run.spread.made[switch] += np.uint64(1)
    own = mixed(np.uint64(run.settings.seed) + (_OF_SWITCH + np.uint64(switch)) * GOLDEN)
    return mixed(own + run.spread.made[switch] * GOLDEN)


@inlined
def _hashed(run: Run, packet: int, switch: int) -> Any:
    """The hash of a switch for the flow of a packet and its direction."""
    event = run.events[packet]
    way = np.uint64(2 * whole(run.flows[event.flow].rank) + whole(event.kind > TRIMMED))
    own = mixed(np.uint64(run.settings.seed) + (_OF_FLOW + np.uint64(switch)) * GOLDEN)
    return mixed(own + way * GOLDEN)
