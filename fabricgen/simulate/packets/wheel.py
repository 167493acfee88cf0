"""The timing wheel: the next event, by time and within a tick by a key, for any number of events.

The near future is a ring of slots of some ticks. A slot has its events in chunks of a cache line; when it becomes the
present one they are copied to one array and sorted. An event beyond the ring waits in the list of its turn, and
enters the ring when that turn starts. Bits show which slots are not empty, and bits of a summary which words of bits.
"""

from typing import Any

import numpy as np

from fabricgen.simulate.compilation import compiled, inlined
from fabricgen.simulate.packets.foresight import foresee, foresee_first
from fabricgen.simulate.packets.intrinsics import BITS, ONE, prefetch, trailing_zeros, unsigned, whole
from fabricgen.simulate.packets.records import NEVER, NONE
from fabricgen.simulate.packets.sorting import FEW, sort
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.ties import PLACE_BITS, tie_of

SLOT_BITS = 15
SLOTS = 1 << SLOT_BITS
TURNS = 4096
CHUNK = 8  # events
MOST_TICK_BITS = 16  # of a slot


@inlined
def schedule(run: Run, event: int, time: int) -> None:
    """Schedule an event at a time that has not passed, at its place within the tick."""
    schedule_as(run, event, time, tie_of(run, event))


@inlined
def schedule_as(run: Run, event: int, time: int, tie: int) -> None:
    """Schedule an event, at a given place within the tick."""
    clock, bits = run.clock[0], run.settings.slot_ticks
    clock.pending += 1
    place = time >> bits
    key = ((time - (place << bits)) << PLACE_BITS) | tie
    if place == clock.place:
        _into_present(run, event, key)
    elif place - clock.place < SLOTS:
        _into_slot(run, event, key, place & (SLOTS - 1))
    else:
        run.far[event].time, run.far[event].tie = time, tie
        _append(run, (place >> SLOT_BITS) & (TURNS - 1), event)


@compiled
def schedule_all(run: Run, events: Any, times: Any) -> None:
    """Schedule many events between two stretches of the loop, in order."""
    for index in range(len(events)):
        schedule(run, events[index], times[index])


@inlined
def next_event(run: Run, until: int) -> int:
    """Remove the next event; NONE if there is no event up to `until`, and then the clock is set to it."""
    clock, bits = run.clock[0], run.settings.slot_ticks
    while clock.position == clock.count:
        if clock.end > clock.count:
            _sort_late(run)
        elif not _turn_to_next(run, until >> bits):
            clock.now = until
            return NONE
    if clock.late_key < run.present_keys[0, clock.position]:
        _sort_late(run)
    at = clock.position
    key = run.present_keys[0, at]
    time = (clock.place << bits) + (key >> PLACE_BITS)
    if time > until:
        clock.now = until
        return NONE
    clock.position = at + 1
    clock.now, clock.tie = time, key & ((whole(1) << PLACE_BITS) - 1)
    clock.pending -= 1
    clock.events += 1
    if run.settings.foresees:
        foresee(run, at)
    return unsigned(run.present[0, at])


@inlined
def _into_present(run: Run, event: int, key: int) -> None:
    """Add an event to the present slot, after those with the same key: at its place if this is among the last ones,
    else behind the sorted events."""
    clock = run.clock[0]
    at = whole(clock.count)
    sorts = clock.end == clock.count and (at - FEW <= clock.position or run.present_keys[0, at - FEW] <= key)
    if sorts:
        while at > clock.position and run.present_keys[0, at - 1] > key:
            run.present_keys[0, at], run.present[0, at] = run.present_keys[0, at - 1], run.present[0, at - 1]
            at -= 1
        clock.count += 1
    else:
        at = whole(clock.end)
        clock.late_key = min(clock.late_key, key)
    run.present_keys[0, at], run.present[0, at] = key, event
    clock.end += 1


@inlined
def _sort_late(run: Run) -> None:
    """Sort the events that were added behind the others."""
    clock = run.clock[0]
    clock.count, clock.late_key = clock.end, NEVER
    sort(run.present_keys, run.present, whole(clock.position), whole(clock.count), run.places)


@inlined
def _into_slot(run: Run, event: int, key: int, index: int) -> None:
    """Add an event to another slot of the ring."""
    slot, clock = run.slots[index], run.clock[0]
    at = slot.count & (CHUNK - 1)
    if at == 0:
        chunk = clock.chunk
        clock.chunk = run.links[chunk]
        run.links[chunk] = slot.chunk
        slot.chunk = chunk
        if slot.count == 0:
            word = index >> 6
            run.words[word] |= ONE << (np.uint64(index) & BITS)
            run.summary[word >> 6] |= ONE << (np.uint64(word) & BITS)
    run.chunk_keys[slot.chunk, at], run.chunks[slot.chunk, at] = key, event
    slot.count += 1


@inlined
def _append(run: Run, turn: int, event: int) -> None:
    """Append an event to the list of its turn."""
    waiting = run.turns[turn]
    run.far[event].next = NONE
    if waiting.head == NONE:
        waiting.head = event
    else:
        run.far[waiting.tail].next = event
    waiting.tail = event


@inlined
def _turn_to_next(run: Run, last: int) -> bool:
    """Turn the wheel to the next slot with events, or to the start of the next turn; False beyond the slot `last`."""
    clock = run.clock[0]
    if clock.pending == 0:
        return False
    index = _next_slot(run, (clock.place & (SLOTS - 1)) + 1)
    turn = clock.place >> SLOT_BITS
    place = (turn << SLOT_BITS) + index if index != NONE else (turn + 1) << SLOT_BITS
    if place > last:
        return False
    clock.place, clock.position, clock.count, clock.end = place, 0, 0, 0
    if run.slots[place & (SLOTS - 1)].count:
        _open(run, place & (SLOTS - 1))
        if run.settings.foresees:
            foresee_first(run)
    if index == NONE:
        _enter_turn(run, turn + 1)
    return True


@inlined
def _open(run: Run, index: int) -> None:
    """Copy the events of a slot to the present, in order of their keys."""
    slot, clock = run.slots[index], run.clock[0]
    chunk, first = whole(slot.chunk), (slot.count - 1) & ~(CHUNK - 1)
    end = whole(slot.count)
    clock.count = clock.end = end
    while first >= 0:
        following = whole(run.links[chunk])
        if first > 0:
            prefetch(run.chunk_keys, following, 0)
            prefetch(run.chunks, following, 0)
        for at in range(end - first):
            run.present_keys[0, first + at] = run.chunk_keys[chunk, at]
            run.present[0, first + at] = run.chunks[chunk, at]
        run.links[chunk] = clock.chunk
        clock.chunk = chunk
        chunk, end, first = following, first, first - CHUNK
    slot.count, slot.chunk = 0, NONE
    word = index >> 6
    run.words[word] &= ~(ONE << (np.uint64(index) & BITS))
    if run.words[word] == 0:
        run.summary[word >> 6] &= ~(ONE << (np.uint64(word) & BITS))
    sort(run.present_keys, run.present, 0, whole(clock.count), run.places)


@inlined
def _enter_turn(run: Run, turn: int) -> None:
    """Bring in the events that waited for this turn; those of a later turn in the same list stay."""
    waiting, bits = run.turns[turn & (TURNS - 1)], run.settings.slot_ticks
    event, waiting.head = waiting.head, NONE
    while event != NONE:
        far = run.far[event]
        following = unsigned(far.next)
        if far.time >> (bits + SLOT_BITS) == turn:
            run.clock[0].pending -= 1
            schedule_as(run, event, far.time, far.tie)
        else:
            _append(run, turn & (TURNS - 1), event)
        event = following


@inlined
def _next_slot(run: Run, index: int) -> int:
    """The first slot from `index` to the end of the turn with an event, or NONE."""
    word = index >> 6
    if word >= SLOTS >> 6:
        return NONE
    bits = run.words[word] >> (np.uint64(index) & BITS)
    if bits != 0:
        return index + trailing_zeros(bits)
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
