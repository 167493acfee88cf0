"""Placements of jobs: all of few, a greedy one, and those that one exchange of hosts makes of another."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from fabricgen.simulate.jobs.places import Counts, HostClasses, as_counts
from fabricgen.simulate.plane.ports import Ints

_MOST_CLASSES = 64  # of hosts, with which all placements are listed


def all_placements(places: HostClasses, most: int) -> list[Counts] | None:
    """All placements; None if there are more than `most`."""
    if len(places.classes) > _MOST_CLASSES:
        return None
    kinds = places.kinds()
    rows: list[tuple[int, ...]] = []

    def of_job(job: int, room: tuple[int, ...]) -> Iterator[Counts]:
        if job == len(kinds):
            yield tuple(rows)
            return
        for row in _rows(places, kinds[job], room):
            rows.append(row)
            yield from of_job(job + 1, tuple(have - used for have, used in zip(room, row, strict=True)))
            rows.pop()

    found = list(islice(of_job(0, tuple(places.room.tolist())), most + 1))
    return found if len(found) <= most else None


def _rows(places: HostClasses, need: dict[tuple[str, str], int], room: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The rows of a job that fit into the room of each class."""
    classes = places.classes

    def rest(at: int, left: dict[tuple[str, str], int]) -> Iterator[tuple[int, ...]]:
        if at == len(classes):
            if not any(left.values()):
                yield ()
            return
        kind = classes[at].kind
        wanted = left.get(kind, 0)
        behind = sum(have for one, have in zip(classes[at + 1 :], room[at + 1 :], strict=True) if one.kind == kind)
        for count in range(max(0, wanted - behind), min(wanted, room[at]) + 1):
            yield from ((count, *others) for others in rest(at + 1, {**left, kind: wanted - count}))

    yield from rest(0, need)


def greedy(places: HostClasses) -> Counts | None:
    """The largest jobs first, each into the smallest part of the fabric with room for it: a leaf, a unit, everything;
    there into the classes with the most room. None where the numbers of hosts by kind do not fit this way."""
    kinds = places.kinds()
    room = places.room.copy()
    table = np.zeros((len(kinds), len(places.classes)), np.int64)
    for job in sorted(range(len(kinds)), key=lambda job: (-sum(kinds[job].values()), job)):
        for kind, count in kinds[job].items():
            part = _smallest_part(places, room, kind, count)
            for at in sorted(part, key=lambda at: (-int(room[at]), at)):
                took = min(count, int(room[at]))
                table[job, at] += took
                room[at] -= took
                count -= took
            if count:
                return None
    return as_counts(table)


def _smallest_part(places: HostClasses, room: Ints, kind: tuple[str, str], count: int) -> list[int]:
    """The classes of the part that has room for `count` hosts, and the least of it: the narrowest level first."""
    own = [at for at, one in enumerate(places.classes) if one.kind == kind]
    for level in (2, 1, 0):
        parts: dict[object, list[int]] = {}
        for at in own:
            parts.setdefault(places.classes[at].levels[level], []).append(at)
        fitting = [part for part in parts.values() if int(room[part].sum()) >= count]
        if fitting:
            return min(fitting, key=lambda part: (int(room[part].sum()), part))
    return own


def neighbours(places: HostClasses, counts: Counts) -> Iterator[Counts]:
    """Placements with some hosts of one job exchanged with free ones, or with those of another job: all that it has in
    a class, or that fit; then a single one. Jobs on most classes come first."""
    table = np.array(counts, np.int64).reshape(len(counts), len(places.classes))
    free = places.room - table.sum(axis=0)
    jobs = sorted(range(len(counts)), key=lambda job: (-int((table[job] > 0).sum()), job))
    for whole in (True, False):
        for job in jobs:
            for near in np.flatnonzero(table[job]).tolist():
                for far in range(len(places.classes)):
                    if far == near or places.classes[far].kind != places.classes[near].kind:
                        continue
                    yield from _exchanges(table, free, job, near, far, whole=whole)


def _exchanges(
    table: Ints,
    free: Ints,
    job: int,
    near: int,
    far: int,
    *,
    whole: bool,
) -> Iterator[Counts]:
    """Hosts of a job in class `near` for free ones, and for those of each other job, in class `far`."""
    for other in (None, *range(len(table))):
        if other == job:
            continue
        size = min(int(table[job, near]), int(free[far] if other is None else table[other, far]))
        if size == 0 or (not whole and size == 1):  # a single host is the whole already
            continue
        size = size if whole else 1
        moved = table.copy()
        moved[job, near] -= size
        moved[job, far] += size
        if other is not None:
            moved[other, far] -= size
            moved[other, near] += size
        yield as_counts(moved)
