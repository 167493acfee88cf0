"""Rows of bits against sets of numbers, at widths around the word size and more rows than one pass takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.routing import bits

WIDTHS = [1, 63, 64, 65, 127, 128, 129, 200]
Rows = list[set[int]]


def words_of(rows: Rows, width: int) -> bits.Words:
    pairs = [(row, column) for row, columns in enumerate(rows) for column in columns]
    row, column = np.array(pairs, np.int64).reshape(-1, 2).T
    return bits.set_bits(len(rows), width, row, column)


def sets_of(words: bits.Words) -> Rows:
    return [set(bits.columns_of(row)) for row in words]


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, Rows]:
    width = draw(st.sampled_from(WIDTHS))
    return width, draw(st.lists(st.sets(st.integers(0, width - 1), max_size=8), min_size=1, max_size=6))


@pytest.mark.parametrize(("size", "words"), [(0, 0), (1, 1), (63, 1), (64, 1), (65, 2), (128, 2), (129, 3)])
def test_word_count(size: int, words: int) -> None:
    assert bits.word_count(size) == words
    assert bits.set_bits(3, size, np.empty(0, np.int64), np.empty(0, np.int64)).shape == (3, words)


def test_where_a_bit_is() -> None:
    """Bit 64 is the lowest bit of the second word."""
    assert bits.row_of(np.array([0, 5, 64, 127]), 130).tolist() == [0b100001, 1 | 1 << 63, 0]


@given(tables())
def test_bits_come_back(table: tuple[int, Rows]) -> None:
    width, rows = table
    words = words_of(rows, width)
    assert sets_of(words) == rows
    assert bits.count(words) == sum(map(len, rows))
    for column in range(width):
        assert bits.has(words, column).tolist() == [column in row for row in rows]


def test_count_of_nothing() -> None:
    assert bits.count(np.zeros((2, 2), np.uint64)) == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_ones_are_the_first_bits(width: int) -> None:
    assert sets_of(bits.ones(width)[None]) == [set(range(width))]


def test_no_columns_are_no_ones() -> None:
    assert bits.ones(0).tolist() == []


@given(tables(), st.data())
def test_columns_are_taken_in_their_order(table: tuple[int, Rows], data: st.DataObject) -> None:
    width, rows = table
    columns = data.draw(st.lists(st.integers(0, width - 1), max_size=width, unique=True))
    taken = bits.take_columns(words_of(rows, width), np.array(columns, np.int64))
    assert taken.shape == (len(rows), bits.word_count(len(columns)))
    assert sets_of(taken) == [{place for place, column in enumerate(columns) if column in row} for row in rows]


@given(tables())
def test_transposed(table: tuple[int, Rows]) -> None:
    width, rows = table
    turned = bits.transposed(words_of(rows, width), width)
    assert sets_of(turned) == [
        {row for row, columns in enumerate(rows) if column in columns} for column in range(width)
    ]


@pytest.mark.parametrize("rows", [1023, 1024, 1025, 2049, 3000])
def test_transposed_in_passes(rows: int) -> None:
    """More rows than one pass unpacks."""
    table = [{row % 7, row % 3} for row in range(rows)]
    turned = bits.transposed(words_of(table, 7), 7)
    assert turned.shape == (7, bits.word_count(rows))
    assert sets_of(turned) == [{row for row in range(rows) if column in table[row]} for column in range(7)]


def test_runs_of_rows() -> None:
    keys = np.array([2, 2, 3, 7, 7, 7], np.int32)
    starts = bits.segment_starts(keys)
    assert starts.tolist() == [0, 2, 3]
    rows = np.array([[1], [2], [4], [8], [8], [32]], np.uint64)
    assert bits.any_of(rows, starts).tolist() == [[3], [4], [40]]
    assert bits.segment_starts(np.empty(0, np.int32)).tolist() == []
    assert bits.any_of(np.empty((0, 2), np.uint64), np.empty(0, np.int64)).shape == (0, 2)
