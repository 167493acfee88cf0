"""Rows of bits: one bit per destination class, 64 in a word, so that one operation handles 64 destinations."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Indices = NDArray[np.int64]
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ROWS_AT_ONCE = 1024
_ROWS_IN_CACHE = 64  # with thousands of columns a row has one byte for each of them


def word_count(bits: int) -> int:
    """The number of words for this number of bits."""
    return (bits + 63) // 64


def set_bits(rows: int, columns: int, row: Indices, column: Indices) -> Words:
    """A [rows, words] array with the given bits set."""
    words = np.zeros((rows, word_count(columns)), np.uint64)
    np.bitwise_or.at(words, (row, column >> 6), np.uint64(1) << (column & 63).astype(np.uint64))
    return words


def row_of(columns: Indices, width: int) -> Words:
    """One row of `width` bits with the given columns set."""
    row: Words = set_bits(1, width, np.zeros_like(columns), columns)[0]
    return row


def ones(columns: int) -> Words:
    """A row of words with the first `columns` bits set."""
    row = np.full(word_count(columns), ALL)
    if columns % 64:
        row[-1] = (np.uint64(1) << np.uint64(columns % 64)) - np.uint64(1)
    return row


def take_columns(words: Words, columns: Indices) -> Words:
    """The given columns of each row, in the given order."""
    if np.array_equal(columns, np.arange(len(columns))):
        return words[:, : word_count(len(columns))] & ones(len(columns))
    taken = np.zeros((len(words), word_count(len(columns))), np.uint64)
    for first in range(0, len(words), _ROWS_IN_CACHE):
        rows = np.unpackbits(words[first : first + _ROWS_IN_CACHE].view(np.uint8), axis=1, bitorder="little")
        packed = np.packbits(np.take(rows, columns, axis=1), axis=1, bitorder="little")
        taken.view(np.uint8)[first : first + len(packed), : packed.shape[1]] = packed
    return taken


def transposed(words: Words, columns: int) -> Words:
    """Rows and columns exchanged: bit j of row i becomes bit i of row j."""
    turned = np.zeros((columns, word_count(len(words))), np.uint64)
    for first in range(0, len(words), _ROWS_AT_ONCE):
        rows = np.unpackbits(words[first : first + _ROWS_AT_ONCE].view(np.uint8), axis=1, bitorder="little")
        packed = np.packbits(rows[:, :columns].T, axis=1, bitorder="little")
        turned.view(np.uint8)[:, first // 8 : first // 8 + packed.shape[1]] = packed
    return turned


def columns_of(row: Words) -> list[int]:
    """The columns of the bits that are set in one row."""
    return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()


def has(rows: Words, column: int) -> NDArray[np.bool_]:
    """For each row, whether the bit of the column is set."""
    bit: NDArray[np.bool_] = (rows[:, column >> 6] >> np.uint64(column & 63) & np.uint64(1)).astype(bool)
    return bit


def count(words: Words) -> int:
    """The number of bits that are set."""
    return int(np.unpackbits(words.view(np.uint8)).sum()) if words.any() else 0


def any_of(rows: Words, starts: Indices) -> Words:
    """OR over each run of rows (runs x words)."""
    joined: Words = np.bitwise_or.reduceat(rows, starts) if len(starts) else rows
    return joined


def any_by_key(rows: Words, sorted_keys: NDArray[np.int32], keys: int) -> Words:
    """OR over the rows of each key (keys x words); the rows are sorted by key. Much faster than `bitwise_or.at`."""
    joined = np.zeros((keys, rows.shape[1]), np.uint64)
    starts = segment_starts(sorted_keys)
    joined[sorted_keys[starts]] = any_of(rows, starts)
    return joined


def segment_starts(sorted_keys: NDArray[np.int32]) -> Indices:
    """The index at which each run of equal keys begins."""
    if not len(sorted_keys):
        return np.empty(0, np.int64)
    return np.flatnonzero(np.concatenate(([True], sorted_keys[1:] != sorted_keys[:-1])))
