"""Sorts the events of a slot by their keys: few and nearly sorted as a rule, thousands if many ports send at once."""

from typing import Any

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import trailing_zeros, unsigned, whole

FEW = 16
DIGITS = 256  # values of a digit


@inlined
def sort(keys: Any, values: Any, first: int, end: int, places: Any) -> None:
    """Sort the columns from `first` to `end` of row 0 of two arrays by key, stably; row 1 and `places` are room to work
    in."""
    if end - first > 1 and not _insert_each(keys, values, first, end):
        _sort_by_digits(keys, values, first, end, places)


@inlined
def _insert_each(keys: Any, values: Any, first: int, end: int) -> bool:
    """Sort by insertion if the events are few or nearly sorted; False if this takes too long."""
    moves = whole(0)
    for at in range(first + 1, end):
        key, value, to = keys[0, at], values[0, at], at
        while to > first and keys[0, to - 1] > key:
            keys[0, to], values[0, to] = keys[0, to - 1], values[0, to - 1]
            to -= 1
        keys[0, to], values[0, to] = key, value
        moves += at - to
        if moves > FEW * (at - first + FEW):
            return False
    return True


@inlined
def _sort_by_digits(keys: Any, values: Any, first: int, end: int, places: Any) -> None:
    """Sort by one digit after the other, from the lowest, without the digits that all keys share."""
    different = whole(0)
    for at in range(first + 1, end):
        different |= keys[0, at] ^ keys[0, first]
    row = whole(0)
    while different != 0:
        shift = trailing_zeros(np.uint64(different))
        different &= ~((DIGITS - 1) << shift)
        _sort_by_digit(keys, values, first, end, places, row, shift)
        row = 1 - row
    if row == 1:
        for at in range(first, end):
            keys[0, at], values[0, at] = keys[1, at], values[1, at]


@inlined
def _sort_by_digit(keys: Any, values: Any, first: int, end: int, places: Any, row: int, shift: int) -> None:
    """Move the events from a row to the other one, in the order of a digit and within it of their places."""
    places[:] = 0
    for at in range(first, end):
        places[unsigned(keys[row, at] >> shift & (DIGITS - 1))] += 1
    place = whole(first)
    for digit in range(DIGITS):
        place, places[digit] = place + places[digit], place
    for at in range(first, end):
        key = keys[row, at]
        digit = unsigned(key >> shift & (DIGITS - 1))
        to = unsigned(places[digit])
        keys[1 - row, to], values[1 - row, to] = key, values[row, at]
        places[digit] += 1
