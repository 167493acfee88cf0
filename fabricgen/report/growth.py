"""What a changed inventory adds and moves: entries of the lock file, and cables beside a bundle. Text and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricgen.bundle.cable_changes import CableChanges, MovedCable
from fabricgen.bundle.cables import Pair
from fabricgen.units import counted

_SHOWN = 10  # cables of a list in text
_SHOWN_ENTRIES = 2  # of a section


def lock_lines(added: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A line for each section with added entries: the first ones, and how many more."""
    for section, entries in added.items():
        shown = [f"{key}: {_text(value)}" for key, value in list(entries.items())[:_SHOWN_ENTRIES]]
        more = len(entries) - len(shown)
        yield f"lock  + {section}: {'; '.join(shown)}" + (f"; and {more} more" if more > 0 else "")


def growth_lines(devices: Mapping[str, int], cables: CableChanges, bundle: str) -> Iterator[str]:
    """The counts of devices and cables, then moved and new cables as two lists."""
    yield (
        f"against {bundle}: {counted(devices['added'], 'new switch')}, {devices['changed']} changed, "
        f"{devices['alike']} unchanged, {devices['removed']} removed"
    )
    yield (
        f"against {bundle}: {counted(len(cables.new), 'new cable')}, {len(cables.moved)} moved, "
        f"{len(cables.removed)} removed, {cables.same} unchanged"
    )
    yield from _listed("moved cable", [_moved(one) for one in cables.moved])
    yield from _listed("new cable", [_pairs(pairs) for pairs in cables.new])
    yield from _listed("removed cable", [_pairs(pairs) for pairs in cables.removed])


def growth_object(devices: Mapping[str, int], cables: CableChanges) -> dict[str, Any]:
    """The JSON key `against`."""
    return {
        "devices": dict(devices),
        "cables": {
            "new": cables.new,
            "moved": [{"old": one.old, "new": one.new} for one in cables.moved],
            "removed": cables.removed,
            "unchanged": cables.same,
        },
    }


def _listed(what: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines[:_SHOWN]:
        yield f"  {what}: {line}"
    if len(lines) > _SHOWN:
        yield f"  {what}: {len(lines) - _SHOWN} more; --format json lists all"


def _pairs(pairs: Sequence[Pair]) -> str:
    """The ends of the first link of a cable, and how many more links it has."""
    (a, b), more = pairs[0], len(pairs) - 1
    return f"{':'.join(a)} – {':'.join(b)}" + (f" (+ {counted(more, 'link')})" if more else "")


def _moved(one: MovedCable) -> str:
    """A port that keeps a cable, and its far end before and after."""
    before = {end: far for a, b in one.old for end, far in ((a, b), (b, a))}
    for near, far in ((end, far) for a, b in one.new for end, far in ((b, a), (a, b))):
        if near in before:
            return f"{':'.join(near)}: {':'.join(before[near])} -> {':'.join(far)}"
    return f"{_pairs(one.old)} -> {_pairs(one.new)}"


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
