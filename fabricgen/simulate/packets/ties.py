"""The order of events of the same tick: a key that does not depend on the order in which they were scheduled.

First the kind of the event, then the names of its flow or port: DCQCN, pause frames or credits, packets, losses and
timeouts, timers of pauses, ends of transmissions, wake-ups, starts. So a port that becomes idle has seen all that
arrived. With compat hpcc events are in the order of scheduling, as in ns-3, timers of DCQCN before others.
"""

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets import records
from fabricgen.simulate.packets.intrinsics import whole
from fabricgen.simulate.packets.records import DECREASE, INCREASE, LOSS, RESUME, START, TIMEOUT
from fabricgen.simulate.packets.state import Run

PLACE_BITS = 44  # of the key of an event within its slot: its place in the tick
_KIND_BITS = 40
_ORDER = (
    (records.DECREASE, records.INCREASE),
    (records.PAUSE, records.RESUME, records.CREDIT),
    tuple(range(records.NAK + 1)),
    (records.LOSS, records.TIMEOUT),
    (records.EXPIRE, records.REFRESH, records.FLUSH),
    (records.SENT,),
    (records.WAKE,),
    (records.START,),
)
_RANK = np.zeros(1 + max(max(kinds) for kinds in _ORDER), np.int64)
for _place, _kinds in enumerate(_ORDER):
    _RANK[list(_kinds)] = _place << _KIND_BITS


@inlined
def tie_of(run: Run, event: int) -> int:
    """The place of an event among those of its tick."""
    kind = run.events[event].kind
    if run.settings.truncated and kind >= DECREASE:
        return _ordinal(run)
    if run.settings.truncated:
        return tie_of_port(run, kind, 0)
    if kind >= DECREASE or kind in (LOSS, TIMEOUT, START):
        later = kind in (INCREASE, TIMEOUT)
        return _RANK[kind] | (whole(run.flows[run.events[event].flow].rank) << 1) | whole(later)
    port = run.events[event].port
    if kind <= RESUME:
        port = run.ports[port].peer
    place = whole(run.ports[port].rank)
    if records.EXPIRE <= kind <= records.CREDIT:
        place = ((place << 4) | run.events[event].queue) << 2 | (kind - records.EXPIRE)
    return _RANK[kind] | place


@inlined
def tie_of_port(run: Run, kind: int, rank: int) -> int:
    """The place of the arrival of a packet, by the rank of the port that sent it, or of the end of a transmission."""
    if run.settings.truncated:
        return (whole(1) << (PLACE_BITS - 1)) | _ordinal(run)
    return _RANK[kind] | whole(rank)


@inlined
def turn_of(run: Run, port: int) -> int:
    """The place of the end of a port's last transmission within its tick."""
    if run.settings.truncated:
        return int(run.pfc[port].turn)
    return _RANK[records.SENT] | whole(run.ports[port].rank)


@inlined
def _ordinal(run: Run) -> int:
    """The number of events scheduled so far."""
    clock = run.clock[0]
    clock.order += 1
    return clock.order
