"""The timing wheel: finds the next event with a few instructions, for any number of events.

A slot is one tick and a list, first in, first out. An event beyond the slots waits in the list of its epoch, and moves
to its slot when that epoch starts. Bits show which slots are not empty, and bits of a summary which words of bits.
"""

from typing import Any

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import BITS, ONE, prefetch, trailing_zeros
from fabricgen.simulate.packets.records import BEFORE_PACKETS, NONE, SENT
from fabricgen.simulate.packets.state import Run

SLOT_BITS = 17
SLOTS = 1 << SLOT_BITS
EPOCHS = 4096


@inlined
def schedule(run: Run, event: int, time: int) -> None:
    """Schedule an event at a time that has not passed."""
    clock = run.clock[0]
    clock.pending += 1
    run.events[event].time = time
    run.events[event].next = NONE
    if time >> SLOT_BITS == clock.epoch:
        _put(run, event, time & (SLOTS - 1))
    else:
        append(run.events, run.epochs, (time >> SLOT_BITS) & (EPOCHS - 1), event)


@inlined
def next_event(run: Run, until: int) -> int:
    """Remove the next event; NONE if there is no event up to `until`, and then the clock is set to it."""
    clock = run.clock[0]
    last = until >> SLOT_BITS
    slot = _next_slot(run, clock.slot)
    while slot == NONE and clock.epoch < last:
        clock.epoch += 1
        _spread(run)
        slot = _next_slot(run, 0)
    if slot == NONE or (clock.epoch << SLOT_BITS) + slot > until:
        clock.slot, clock.now = until & (SLOTS - 1), until
        return NONE
    clock.slot, clock.now = slot, (clock.epoch << SLOT_BITS) + slot
    clock.pending -= 1
    clock.events += 1
    event = run.slots[slot].head
    following = run.events[event].next
    run.slots[slot].head = following
    if following == NONE:
        _unmark(run, slot)
    else:
        _foresee(run, following)
    return event


@inlined
def _foresee(run: Run, event: int) -> None:
    """Prefetch the records that the next events of this tick use, which in a large network are not in the cache. Each
    event is followed in three steps, one at each of the events before it, so no step waits for another."""
    queue = run.queues[_port_used(run, event), 0]
    prefetch(run.events, queue.head if run.events[event].kind == SENT else queue.tail)
    second = run.events[event].next
    port, out = run.events[second].port, _port_used(run, second)
    prefetch(run.ports, port)
    prefetch(run.groups, port)
    prefetch(run.ports, out)
    prefetch(run.queues, out)
    prefetch(run.events, run.events[second].next)


@inlined
def _port_used(run: Run, event: int) -> int:
    """The port whose queue an event removes a packet from, or adds one to."""
    if run.events[event].kind == SENT:
        return run.events[event].port
    return run.steps[run.events[event].step].port


@inlined
def append(events: Any, lists: Any, index: int, event: int) -> None:
    """Append an event to a list."""
    if lists[index].head == NONE:
        lists[index].head = event
    else:
        events[lists[index].tail].next = event
    lists[index].tail = event


@inlined
def _put(run: Run, event: int, slot: int) -> None:
    """Add an event to a slot of this epoch: at its end, or at its head if its kind comes before packets."""
    if run.slots[slot].head == NONE:
        run.slots[slot].head = run.slots[slot].tail = event
        word = slot >> 6
        run.words[word] |= ONE << (np.uint64(slot) & BITS)
        run.summary[word >> 6] |= ONE << (np.uint64(word) & BITS)
    elif run.events[event].kind >= BEFORE_PACKETS:
        run.events[event].next = run.slots[slot].head
        run.slots[slot].head = event
    else:
        run.events[run.slots[slot].tail].next = event
        run.slots[slot].tail = event


@inlined
def _unmark(run: Run, slot: int) -> None:
    word = slot >> 6
    run.words[word] &= ~(ONE << (np.uint64(slot) & BITS))
    if run.words[word] == 0:
        run.summary[word >> 6] &= ~(ONE << (np.uint64(word) & BITS))


@inlined
def _next_slot(run: Run, slot: int) -> int:
    """The first slot from `slot` on with an event, or NONE."""
    word = slot >> 6
    bits = run.words[word] >> (np.uint64(slot) & BITS)
    if bits != 0:
        return slot + trailing_zeros(bits)
    word += 1
    group = word >> 6
    if group >= SLOTS >> 12:
        return NONE
    bits = run.summary[group] >> (np.uint64(word) & BITS)
    if bits != 0:
        word += trailing_zeros(bits)
        return (word << 6) + trailing_zeros(run.words[word])
    for later in range(group + 1, SLOTS >> 12):
        if run.summary[later] != 0:
            word = (later << 6) + trailing_zeros(run.summary[later])
            return (word << 6) + trailing_zeros(run.words[word])
    return NONE


@inlined
def _spread(run: Run) -> None:
    """Move the events of the epoch that starts to their slots; those of a later turn of the wheel stay."""
    waiting = run.epochs[run.clock[0].epoch & (EPOCHS - 1)]
    event, waiting.head = waiting.head, NONE
    while event != NONE:
        following = run.events[event].next
        run.events[event].next = NONE
        if run.events[event].time >> SLOT_BITS == run.clock[0].epoch:
            _put(run, event, run.events[event].time & (SLOTS - 1))
        else:
            append(run.events, run.epochs, run.clock[0].epoch & (EPOCHS - 1), event)
        event = following
