"""The records of the event loop: one for each object, so a step touches few cache lines.

Times are ticks of the run's clock (`clock.py`), sizes are bytes on the wire. Packets and timers are both events. A
packet is in at most one list, so a single `next` serves the queues, the cables and the free list.
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

INDEX = np.uint32  # never negative, so numba does not count indices from the end of an array
NONE = (1 << 32) - 1  # no index
NEVER = 1 << 62
CONTROL = 15  # the queue of pause frames, which is served first; with compat hpcc also of ACKs that are never paused

# Kinds of events. Data whose payload a switch has cut off is TRIMMED, and its answer is a REFUSAL. An ACK or a NAK of
# compat hpcc that answers a marked packet carries the mark to the source: ECHO, MARKED_NAK. Otherwise a CNP does. Kinds
# up to TRIMMED are data, up to NAK packets.
DATA, MARKED_DATA, TRIMMED, CNP, ACK, REFUSAL, ECHO, MARKED_NAK, NAK, PAUSE, RESUME = range(11)
LOSS, SENT, WAKE, START, TIMEOUT, EXPIRE, REFRESH, FLUSH, CREDIT, DECREASE, INCREASE = range(11, 22)

SCHEDULED, DOWN = 1, 2  # states of a port, as bits: its event SENT is scheduled; its link is down

EVENT = np.dtype(
    [
        ("time", np.int64),  # when the packet behind it on the cable arrives
        ("next", INDEX),
        ("flow", INDEX),  # a timer's flow
        ("port", INDEX),  # the port that receives it; while queued: the port that it arrived at; a timer's port
        ("step", INDEX),  # into `steps`: the path from here
        ("number", np.int32),  # data: which packet of its flow; ACK: the first one not yet received
        ("size", np.uint16),
        ("kind", np.uint8),
        ("queue", np.uint8),  # class, or CONTROL; of a pause frame: the class that it pauses
    ]
)

FAR = np.dtype([("time", np.int64), ("tie", np.int64), ("next", np.int64)])  # of an event in the far future

LIST = np.dtype([("head", INDEX), ("tail", INDEX)])

LINE = 64  # bytes of a cache line
HUGE = 1 << 22  # numpy asks for huge pages for an array of this size; what is not touched takes no memory
LARGE = 1 << 20  # smaller arrays gain less from huge pages than it costs to clear them


def _on_lines(fields: list[tuple[str, type]]) -> np.dtype[np.void]:
    """A record that fills whole cache lines."""
    names, formats = zip(*fields, strict=True)
    size = sum(np.dtype(each).itemsize for each in formats)
    return np.dtype({"names": names, "formats": formats, "itemsize": -(-size // LINE) * LINE})


SLOT = np.dtype([("chunk", INDEX), ("count", INDEX)])  # its last chunk, and the number of its events

PORT = _on_lines(
    [
        ("delay", np.int64),  # of the cable
        ("free_at", np.int64),  # the end of its last transmission
        ("arrives", np.int64),  # when the last packet on the cable arrives
        ("last_packet", INDEX),  # on the cable
        ("node", INDEX),
        ("peer", INDEX),  # the port at the far end
        ("control_head", INDEX),
        ("control_tail", INDEX),
        ("rank", np.int32),  # by name, for events of the same tick
        ("speed", np.uint16),  # row of `durations`
        ("waiting", np.uint16),  # classes with packets, as bits
        ("paused", np.uint16),  # classes that the peer has paused
        ("strict", np.uint16),  # classes of strict priority
        ("discard", np.uint16),  # classes whose packets the watchdog drops
        ("deaf", np.uint16),  # classes that ignore pauses
        ("state", np.uint8),
        ("last", np.uint8),  # the class that sent last
        ("is_switch", np.uint8),
    ]
)

PFC = np.dtype(
    [
        ("response", np.int64),  # from a pause frame's arrival to its effect
        ("pause", np.int64),  # how long a pause frame lasts; 0: until resumed
        ("refresh", np.int64),  # how often a pause is repeated; 0: never
        ("turn", np.int64),  # compat hpcc: the place of the end of the last transmission within its tick
    ]
)

QUEUE = np.dtype(  # what every packet needs; half a cache line
    [
        ("head", INDEX),
        ("tail", INDEX),
        ("bytes", np.int32),
        ("most", np.int32),  # most bytes so far
        ("kmin", np.int32),
        ("deficit", np.int32),  # bytes
        ("sent", np.int32),  # packets
        ("pool", INDEX),  # of `pools`; NONE: only the groups limit the queue
    ]
)

GROUP = np.dtype(  # what every packet needs; half a cache line
    [
        ("used", np.int32),  # bytes in the reserve and in the shared pool
        ("headroom", np.int32),  # bytes in headroom
        ("reserve", np.int32),
        ("alpha", np.int32),  # in 1/256
        ("static", np.int32),  # static threshold; 0: dynamic
        ("pool", INDEX),  # of `pools`
        ("cell", np.int32),  # bytes; 0: a packet takes its bytes on the wire
        ("pausing", np.uint8),  # whether the group pauses its peer
        ("lossless", np.uint8),
        ("repeating", np.uint16),  # whether the timer of the repetition runs
    ]
)

PROFILE = _on_lines(  # the settings of a queue and of a group that few packets need
    [
        ("pmax", np.float64),
        ("kmax", np.int32),
        ("quantum", np.int32),  # bytes of a DWRR round
        ("floor", np.int32),  # bytes that the queue holds before it uses its pool
        ("limit", np.int32),  # bytes of the pool that the queue may use, instead of alpha
        ("alpha", np.uint16),  # of the queue, in 1/256; 0: the limit applies
        ("headroom_limit", np.int32),
        ("xon", np.int32),
        ("xon_offset", np.int32),
        ("trims", np.uint8),  # whether packets are trimmed if they do not fit
    ]
)

HOLD = np.dtype(
    [
        ("expires", np.int64),
        ("since", np.int64),  # start of the present or last pause
        ("total", np.int64),  # ticks of all past pauses
        ("frames", np.int32),  # pause frames received
        ("armed", np.int32),  # whether the timer of the expiry runs
        ("limited", np.int32),  # packets dropped by the limit of the queue
        ("discarded", np.int32),  # packets of the queue dropped by the watchdog
        ("dead", np.int32),  # packets of the queue, or arriving, lost with a dead link
        ("trimmed", np.int32),  # packets of the queue cut because there was no room
        ("marked", np.int32),  # packets of the queue
        ("drops", np.int32),  # packets of the group
        ("early", np.int32),  # pauses of the group before ECN marked
        ("headroom_most", np.int32),  # most bytes in the headroom of the group so far
    ]
)

NODE = _on_lines(
    [
        ("pool_limit", np.int64),  # of the shared headroom
        ("pool", np.int64),
        ("is_switch", np.int32),
        ("port", INDEX),  # a host's
        ("first_flow", INDEX),  # into `order`: the flows that a host is sending
        ("flows", np.int32),
        ("last_flow", np.int32),
        ("backlog", np.int32),  # bytes that a slow receiver has not processed
        ("drain", np.float64),  # ticks per byte of a slow receiver; 0: line rate
        ("wake_at", np.int64),  # the next wake-up of a NIC; 0: none is scheduled
        ("quiet_until", np.int64),  # no flow may send before, unless one starts, repeats packets or resumes
        ("drained_at", np.int64),
        ("backlog_limit", np.int32),
        ("storm_from", np.int64),  # a broken NIC pauses its switch from this time
        ("storm_until", np.int64),
    ]
)

FLOW = _on_lines(
    [
        ("port", INDEX),  # of the source
        ("out", INDEX),  # first step to the destination
        ("packets", np.int32),
        ("sent", np.int32),  # packets, as `acked` and `received`
        ("acked", np.int32),
        ("progress", np.int32),  # acknowledged packets when the retransmission timer started
        ("last_size", np.uint16),
        ("queue", np.uint8),
        ("slowed", np.uint8),  # whether there has been a congestion notification
        ("rank", np.int32),  # by name, for events of the same tick
        ("available", np.int64),  # earliest start of the next packet
        ("rate", np.float64),  # bit/s
        ("line_rate", np.float64),
        ("completion", np.int64),
        ("noticed_at", np.int64),  # the receiver's last notification
        ("refused_until", np.int64),  # the receiver does not send another NAK before
        ("received", np.int32),
        ("back", INDEX),
        ("timer", np.uint8),  # whether the retransmission timer runs
        ("notified", np.uint8),  # since alpha's last tick
        ("decreasing", np.uint8),  # a rate decrease is scheduled
        ("increasing", np.uint8),
        ("started", np.uint8),
        ("byte_stage", np.int32),
        ("timer_stage", np.int32),
        ("target", np.float64),
        ("alpha", np.float64),
        ("alpha_at", np.int64),  # last tick
        ("decrease_origin", np.int64),
        ("increase_at", np.int64),
        ("counted", np.int64),  # bytes sent since the last increase by bytes
        ("start", np.int64),
        ("travel", np.int64),  # of the report of a loss: the delay of all cables of the path
        ("node", INDEX),
    ]
)

SELECTIVE = np.dtype(  # a flow whose sender does not go back; packets are numbered
    [
        ("limit", np.int32),  # the sender may send packets before this one
        ("waiting", np.int32),  # packets to repeat
        ("asked", np.int32),  # packets before this one are not repeated because of another NAK
        ("horizon", np.int32),  # packets sent when the retransmission timer started
        ("selective", np.uint8),
        ("in_order", np.uint8),  # a packet out of order does not mean a loss
        ("unused", np.uint16),
    ]
)

CHOICES = np.dtype(  # the next hops of a switch for some destinations
    [
        ("turn", np.int64),  # packets so far, and the place of the switch, for round robin
        ("first", INDEX),  # into `members`
        ("count", INDEX),
        ("memory", INDEX),  # into `memory`: its first flow
        ("unused", INDEX),
    ]
)

REMEMBERED = np.dtype([("time", np.int64), ("port", np.int64)])  # the last packet of a flow, and its next hop

POOL = np.dtype([("limit", np.int64), ("used", np.int64)])

STEP = np.dtype([("port", INDEX), ("next", INDEX)])

CLOCK = np.dtype(
    [
        ("now", np.int64),
        ("tie", np.int64),  # the place of the present event within its tick
        ("place", np.int64),  # the present slot, counted from the start
        ("position", INDEX),  # of the next event in `present`
        ("count", INDEX),  # of sorted events in `present`
        ("end", INDEX),  # of all its events: those behind the sorted ones were added late
        ("late_key", np.int64),  # the least key of these; NEVER without them
        ("chunk", INDEX),  # head of the free chunks
        ("order", np.int64),  # events scheduled so far, with compat hpcc
        ("pending", np.int64),  # events in the wheel
        ("events", np.int64),
        ("transmissions", np.int64),
        ("drops", np.int64),
        ("repeats", np.int64),  # packets sent again
        ("finished", np.int64),  # flows
        ("frames", INDEX),  # rows of `frames` in use
        ("free", INDEX),  # head of the free packets
        ("free_count", np.int64),
    ]
)

FRAME = np.dtype([("time", np.int64), ("port", INDEX), ("queue", np.int16), ("pause", np.int16)])


def aligned(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """An array of zeros that starts on a cache line. A large one may use huge pages, so fewer addresses are looked
    up."""
    size = count * np.dtype(dtype).itemsize
    room = np.zeros(LINE + (max(size, HUGE) if size >= LARGE else size), np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size].view(dtype)
