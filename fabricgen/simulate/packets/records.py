"""The records of the event loop: one for each object, so a step touches few cache lines.

Times are ticks of the run's clock (`clock.py`), sizes are bytes on the wire. Packets and timers are both events. An
event is in at most one list, so a single `next` serves the slots of the wheel, the queues and the free list.
"""

import numpy as np
from numpy.typing import NDArray

NONE = -1
CONTROL = 15  # the queue of pause frames, and of ACKs that are never paused: it is served first

# Kinds of events. Those from `BEFORE_PACKETS` on come before packets of the same tick, others in order of scheduling.
# An ACK or a NAK that answers a marked packet carries the mark to the source: ECHO, MARKED_NAK.
DATA, MARKED_DATA, ACK, ECHO, MARKED_NAK, NAK, PAUSE, RESUME, SENT, WAKE, START, TIMEOUT, EXPIRE, REFRESH, FLUSH = (
    range(15)
)
BEFORE_PACKETS = 20
DECREASE, INCREASE = 20, 21

BUSY, DOWN = 1, 2  # states of a port, as bits

EVENT = np.dtype(
    [
        ("time", np.int64),
        ("next", np.int32),
        ("flow", np.int32),  # a timer's flow
        ("port", np.int32),  # the port that receives it; while queued: the port that it arrived at; a timer's port
        ("step", np.int32),  # into `steps`: the path from here
        ("number", np.int32),  # data: which packet of its flow; ACK: the first one not yet received
        ("size", np.uint16),
        ("kind", np.uint8),
        ("queue", np.uint8),  # class, or CONTROL; of a pause frame: the class that it pauses
    ]
)

LIST = np.dtype([("head", np.int32), ("tail", np.int32)])

LINE = 64  # bytes of a cache line


def _on_a_line(fields: list[tuple[str, type]]) -> np.dtype[np.void]:
    """A record that fills one cache line."""
    names, formats = zip(*fields, strict=True)
    return np.dtype({"names": names, "formats": formats, "itemsize": LINE})


PORT = _on_a_line(
    [
        ("delay", np.int64),  # of the cable
        ("response", np.int64),  # from a pause frame's arrival to its effect
        ("pause", np.int64),  # how long a pause frame lasts; 0: until resumed
        ("refresh", np.int64),  # how often a pause is repeated; 0: never
        ("node", np.int32),
        ("peer", np.int32),  # the port at the far end
        ("control_head", np.int32),
        ("control_tail", np.int32),
        ("speed", np.int16),  # row of `durations`
        ("waiting", np.uint16),  # classes with packets, as bits
        ("paused", np.uint16),  # classes that the peer has paused
        ("strict", np.uint16),  # classes of strict priority
        ("discard", np.uint16),  # classes whose packets are dropped: by the watchdog, or all of a dead link
        ("deaf", np.uint16),  # classes that ignore pauses
        ("state", np.uint8),
        ("last", np.uint8),  # the class that sent last
    ]
)

QUEUE = _on_a_line(
    [
        ("head", np.int32),
        ("tail", np.int32),
        ("bytes", np.int32),
        ("most", np.int32),  # most bytes so far
        ("kmin", np.int32),
        ("kmax", np.int32),
        ("pmax", np.float64),
        ("quantum", np.int32),  # bytes of a DWRR round
        ("deficit", np.int32),
        ("sent", np.int32),  # packets
        ("marked", np.int32),
        ("pool", np.int32),  # of `pools`; NONE: only the groups limit the queue
        ("floor", np.int32),  # bytes that it holds before it uses the pool
        ("limit", np.int32),  # bytes of the pool that it may use, instead of alpha
        ("alpha", np.uint16),  # in 1/256; 0: the limit applies
    ]
)

GROUP = _on_a_line(
    [
        ("used", np.int32),  # bytes in the reserve and in the shared pool
        ("headroom", np.int32),  # bytes in headroom
        ("reserve", np.int32),
        ("headroom_limit", np.int32),
        ("alpha", np.int32),  # in 1/256
        ("static", np.int32),  # static threshold; 0: dynamic
        ("xon", np.int32),
        ("xon_offset", np.int32),
        ("pool", np.int32),  # of `pools`
        ("cell", np.int32),  # bytes; 0: a packet takes its bytes on the wire
        ("headroom_most", np.int32),
        ("drops", np.int32),
        ("early", np.int32),  # pauses that were sent before ECN marked
        ("pausing", np.uint8),  # whether the group pauses its peer
        ("lossless", np.uint8),
        ("repeating", np.uint16),  # whether the timer of the repetition runs
    ]
)

HOLD = np.dtype(
    [
        ("expires", np.int64),
        ("since", np.int64),  # start of the present or last pause
        ("total", np.int64),  # ticks of all past pauses
        ("frames", np.int32),  # pause frames received
        ("armed", np.int16),  # whether the timer of the expiry runs
        ("unused", np.int16),
        ("dropped", np.int64),  # packets dropped by the limit of the queue
    ]
)

NODE = np.dtype(
    [
        ("pool_limit", np.int64),  # of the shared headroom
        ("pool", np.int64),
        ("is_switch", np.int32),
        ("port", np.int32),  # a host's
        ("first_flow", np.int32),  # into `order`: the flows that a host is sending
        ("flows", np.int32),
        ("last_flow", np.int32),
        ("awake", np.int32),  # whether a wake-up is scheduled
        ("backlog", np.int32),  # bytes that a slow receiver has not processed
        ("backlog_limit", np.int32),
        ("drain", np.float64),  # ticks per byte of a slow receiver; 0: line rate
        ("drained_at", np.int64),
        ("storm_from", np.int64),  # a broken NIC pauses its switch from this time
        ("storm_until", np.int64),
    ]
)

FLOW = np.dtype(
    [
        ("port", np.int32),  # of the source
        ("node", np.int32),
        ("out", np.int32),  # first step to the destination
        ("back", np.int32),
        ("packets", np.int32),
        ("sent", np.int32),  # packets, as the next three
        ("acked", np.int32),
        ("received", np.int32),
        ("last_size", np.uint16),
        ("queue", np.uint8),
        ("timer", np.uint8),  # whether the retransmission timer runs
        ("slowed", np.uint8),  # whether there has been a congestion notification
        ("notified", np.uint8),  # since alpha's last tick
        ("decreasing", np.uint8),  # a rate decrease is scheduled
        ("increasing", np.uint8),
        ("started", np.uint8),
        ("progress", np.int32),  # acknowledged packets when the retransmission timer started
        ("available", np.int64),  # earliest start of the next packet
        ("completion", np.int64),
        ("start", np.int64),
        ("line_rate", np.float64),  # bit/s
        ("rate", np.float64),
        ("target", np.float64),
        ("alpha", np.float64),
        ("alpha_at", np.int64),  # last tick
        ("decrease_origin", np.int64),
        ("increase_at", np.int64),
        ("noticed_at", np.int64),  # the receiver's last notification
        ("refused_until", np.int64),  # the receiver does not send another NAK before
        ("timer_stage", np.int32),
        ("byte_stage", np.int32),
        ("counted", np.int64),  # bytes sent since the last increase by bytes
    ]
)

POOL = np.dtype([("limit", np.int64), ("used", np.int64)])

STEP = np.dtype([("port", np.int32), ("next", np.int32)])

CLOCK = np.dtype(
    [
        ("now", np.int64),
        ("epoch", np.int64),
        ("slot", np.int64),
        ("pending", np.int64),  # events in the wheel
        ("events", np.int64),
        ("transmissions", np.int64),
        ("drops", np.int64),
        ("repeats", np.int64),  # packets sent again
        ("finished", np.int64),  # flows
        ("frames", np.int64),  # rows of `frames` in use
        ("free", np.int64),  # head of the free packets
        ("free_count", np.int64),
        ("random", np.uint64),
    ]
)

FRAME = np.dtype([("time", np.int64), ("port", np.int32), ("queue", np.int16), ("pause", np.int16)])


def aligned(count: int, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """An array of zeros that starts on a cache line."""
    room = np.zeros(count * dtype.itemsize + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + count * dtype.itemsize].view(dtype)
