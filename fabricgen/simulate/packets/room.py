"""Room for events: their records, and the arrays of the wheel that grow with them."""

from typing import Any

import numpy as np

from fabricgen.simulate.packets.records import EVENT, FAR, INDEX, LIST, NONE, SLOT, aligned
from fabricgen.simulate.packets.sorting import DIGITS
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.wheel import CHUNK, SLOTS, TURNS


def empty_wheel(events: int) -> dict[str, Any]:
    """The arrays of a wheel with room for some events."""
    slots, turns = aligned(SLOTS, SLOT), np.zeros(TURNS, LIST)
    slots["chunk"], turns["head"], turns["tail"] = NONE, NONE, NONE
    return {
        "slots": slots,
        "places": np.zeros(DIGITS, np.int64),
        "turns": turns,
        "words": np.zeros(SLOTS >> 6, np.uint64),
        "summary": np.zeros(SLOTS >> 12, np.uint64),
        "links": np.arange(1, _chunks(events) + 1, dtype=INDEX),
        **_sized(events),
    }


def with_packets(run: Run) -> Run:
    """The run with twice as many packets."""
    before = len(run.events)
    count = 2 * before - run.settings.first_packet
    events = aligned(count, EVENT)
    events[:before] = run.events
    sized = _sized(count)
    for name in ("far", "chunk_keys", "chunks"):
        sized[name][: len(getattr(run, name))] = getattr(run, name)
    for name in ("present_keys", "present"):
        sized[name][:, : before + 1] = getattr(run, name)
    chunks = len(run.links)
    links = np.arange(1, _chunks(count) + 1, dtype=INDEX)
    links[:chunks] = run.links
    links[-1] = run.clock["chunk"][0]
    run.clock["chunk"] = chunks
    numbers = run.selected.numbers
    if run.settings.selective:
        numbers = np.concatenate([numbers, np.zeros(count - before, numbers.dtype)])
    selected = run.selected._replace(numbers=numbers)
    larger = run._replace(events=events, links=links, selected=selected, **sized)
    free_packets(larger, before)
    return larger


def free_packets(run: Run, first: int) -> None:
    """Add the packets from the event `first` to the free ones."""
    count = len(run.events) - first
    run.events["next"][first:] = np.arange(first + 1, first + count + 1)
    run.events["next"][-1] = run.clock["free"][0] if run.clock["free_count"][0] else NONE
    run.clock["free"] = first
    run.clock["free_count"] += count


def _sized(events: int) -> dict[str, Any]:
    chunks = _chunks(events)
    return {
        "far": aligned(events, FAR),
        "chunk_keys": aligned(chunks * CHUNK, np.int64).reshape(chunks, CHUNK),
        "chunks": aligned(chunks * CHUNK, INDEX).reshape(chunks, CHUNK),
        "present_keys": aligned(2 * (events + 1), np.int64).reshape(2, -1),
        "present": aligned(2 * (events + 1), INDEX).reshape(2, -1),
    }


def _chunks(events: int) -> int:
    """Chunks that suffice: each slot has one that is not full."""
    return SLOTS + events // CHUNK + 2
