"""Sorts the events of a slot by their keys: few and nearly sorted as a rule, thousands if many ports send at once."""

from typing import Any

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import whole

FEW = 16


@inlined
def sort(keys: Any, values: Any, count: int) -> None:
    """Sort the first columns of row 0 of two arrays by key, stably; row 1 is room to work in."""
    if count > 1:
        longest = _insert_each(keys, values, count)
        if longest < count:
            _merge_runs(keys, values, count)


@inlined
def _insert_each(keys: Any, values: Any, count: int) -> int:
    """Sort in blocks of a few by insertion, or all if they are few or nearly sorted; the number that is sorted."""
    moves = whole(0)
    for at in range(1, count):
        key, value, to = keys[0, at], values[0, at], at
        while to > 0 and keys[0, to - 1] > key:
            keys[0, to], values[0, to] = keys[0, to - 1], values[0, to - 1]
            to -= 1
        keys[0, to], values[0, to] = key, value
        moves += at - to
        if moves > FEW * (at + FEW):
            return at + 1
    return count


@inlined
def _merge_runs(keys: Any, values: Any, count: int) -> None:
    """Merge neighboring ascending runs until one is left."""
    source, runs = whole(0), whole(2)
    while runs > 1:
        at, runs = whole(0), whole(0)
        while at < count:
            middle = _end_of_run(keys, source, at, count)
            end = _end_of_run(keys, source, middle, count) if middle < count else middle
            _merge(keys, values, source, at, middle, end)
            at, runs = end, runs + 1
        source = 1 - source
    if source == 1:
        for at in range(count):
            keys[0, at], values[0, at] = keys[1, at], values[1, at]


@inlined
def _end_of_run(keys: Any, row: int, at: int, count: int) -> int:
    at += 1
    while at < count and keys[row, at - 1] <= keys[row, at]:
        at += 1
    return at


@inlined
def _merge(keys: Any, values: Any, row: int, first: int, middle: int, end: int) -> None:
    left, right, other = first, middle, 1 - row
    for at in range(first, end):
        if right >= end or (left < middle and keys[row, left] <= keys[row, right]):
            keys[other, at], values[other, at] = keys[row, left], values[row, left]
            left += 1
        else:
            keys[other, at], values[other, at] = keys[row, right], values[row, right]
            right += 1
