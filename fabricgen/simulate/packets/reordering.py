"""Selective repeat: receivers keep packets that arrive out of order, and senders repeat single packets.

A receiver answers each packet with the number of the packet and with that of the first one that is missing. Both ends
note packets in a window from there on, as bits.
"""

from typing import Any

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import BITS, ONE, trailing_zeros, whole
from fabricgen.simulate.packets.records import ACK, NAK, REFUSAL, TRIMMED
from fabricgen.simulate.packets.state import Run


@inlined
def keep(run: Run, packet: int) -> None:
    """Keep a packet that arrived, and turn it into its answer."""
    event, selected = run.events[packet], run.selected
    flow, number, kind = event.flow, whole(event.number), event.kind
    record = run.flows[flow]
    event.kind = ACK
    if kind == TRIMMED:
        if number >= record.received and not has(run, selected.received, flow, number):
            event.kind = REFUSAL
    elif number >= record.received:
        put(run, selected.received, flow, number)
        while has(run, selected.received, flow, record.received):
            remove(run, selected.received, flow, record.received)
            record.received += 1
        if number > record.received and not selected.flows[flow].in_order:
            event.kind = NAK
    event.number = record.received
    selected.numbers[packet] = number


@inlined
def answered(run: Run, packet: int) -> None:
    """An answer arrives at a source that repeats single packets."""
    event, selected = run.events[packet], run.selected
    flow, number = event.flow, whole(selected.numbers[packet])
    record, sender = run.flows[flow], selected.flows[flow]
    while record.acked < event.number:
        _forget(run, flow, whole(record.acked))
        remove(run, selected.acked, flow, whole(record.acked))
        record.acked += 1
    record.sent = max(record.sent, record.acked)
    if event.kind == REFUSAL:
        repeat(run, flow, number)
    elif number >= record.acked:
        _forget(run, flow, number)
        put(run, selected.acked, flow, number)
    if event.kind == NAK:
        for missing in range(max(whole(sender.asked), whole(record.acked)), number):
            repeat(run, flow, missing)
        sender.asked = max(sender.asked, number)
    sender.limit = min(whole(record.packets), whole(record.acked) + run.settings.window)
    run.nodes[record.node].quiet_until = 0


@inlined
def repeat(run: Run, flow: int, number: int) -> None:
    """Let the sender repeat a packet, unless it is acknowledged or waits for that already."""
    selected = run.selected
    if number < run.flows[flow].acked or has(run, selected.acked, flow, number):
        return
    if not has(run, selected.repeated, flow, number):
        put(run, selected.repeated, flow, number)
        selected.flows[flow].waiting += 1
        run.clock[0].repeats += 1


@inlined
def repeat_old(run: Run, flow: int) -> None:
    """Repeat what was sent before the retransmission timer started and is not acknowledged."""
    for number in range(run.flows[flow].acked, run.selected.flows[flow].horizon):
        repeat(run, flow, number)
    run.nodes[run.flows[flow].node].quiet_until = 0


@inlined
def may_send(run: Run, flow: int) -> bool:
    """Whether a sender has a packet to repeat, or a new one in its window."""
    sender = run.selected.flows[flow]
    if not sender.selective:
        return bool(run.flows[flow].sent < run.flows[flow].packets)
    return bool(sender.waiting > 0 or run.flows[flow].sent < sender.limit)


@inlined
def next_number(run: Run, flow: int) -> int:
    """The next packet of a sender: the first one to repeat, else a new one."""
    record, sender = run.flows[flow], run.selected.flows[flow]
    if not sender.selective or sender.waiting == 0:
        record.sent += 1
        return whole(record.sent) - 1
    number = _first(run, flow, whole(record.acked))
    _forget(run, flow, number)
    return number


@inlined
def _first(run: Run, flow: int, number: int) -> int:
    """The first packet to repeat, from a number on; there is one."""
    words = run.selected.repeated
    while True:
        place = number % run.settings.window
        bits = words[flow, place >> 6] >> (np.uint64(place) & BITS)
        if bits != 0:
            return number + trailing_zeros(bits)
        number += 64 - (place & 63)


@inlined
def _forget(run: Run, flow: int, number: int) -> None:
    """Do not repeat a packet any more."""
    repeated = run.selected.repeated
    if has(run, repeated, flow, number):
        remove(run, repeated, flow, number)
        run.selected.flows[flow].waiting -= 1


@inlined
def has(run: Run, bits: Any, flow: int, number: int) -> bool:
    """Whether the bit of a packet is set."""
    place = whole(number) % run.settings.window
    return bool(bits[flow, place >> 6] >> (np.uint64(place) & BITS) & ONE)


@inlined
def put(run: Run, bits: Any, flow: int, number: int) -> None:
    """Set the bit of a packet."""
    place = whole(number) % run.settings.window
    bits[flow, place >> 6] |= ONE << (np.uint64(place) & BITS)


@inlined
def remove(run: Run, bits: Any, flow: int, number: int) -> None:
    """Clear the bit of a packet."""
    place = whole(number) % run.settings.window
    bits[flow, place >> 6] &= ~(ONE << (np.uint64(place) & BITS))
