"""The SLs of paths: lines `0x<source node GUID, 16 digits> <destination LID> <SL>`, as ibdmchk -c reads them.

4,096 adapters have 17 million such lines. They are read in blocks, many lines at once: eight characters are one number
of 64 bits, whose bytes are separated by masks.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import DUMP_BYTES, require_regular
from fabricgen.observed.subnet import Subnet

NO_PATH = 255

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]

_BLOCK = 1 << 19  # its arrays fit into a core's cache
_LID_AT = 19  # after 0x, 16 digits and a blank
_BEHIND = b" " * 32  # so that no column is after the end
_LIDS = 1 << 16


def _each(byte: int) -> np.uint64:
    return np.uint64(byte * 0x0101010101010101)


_U8, _U16, _U32, _U56, _U64 = (np.uint64(bits) for bits in (8, 16, 32, 56, 64))
_U16_MASK, _ZERO_X = np.uint64(0xFFFF), np.uint64(int.from_bytes(b"0x", "little"))


def read_path_sls(file: Path, subnet: Subnet, destinations: Ints) -> NDArray[np.uint8]:
    """[A, D] SLs, NO_PATH if the file has none; lines of another format are ignored. If a node has several ports in
    this subnet, every port has the SLs of the node. Raises UnreadableInputError."""
    nodes, node_of = np.unique(np.array([port.node_guid for port in subnet.adapters], np.uint64), return_inverse=True)
    column_of = np.full(_LIDS + 1, len(destinations), np.int64)  # unknown nodes and LIDs have an extra row and column
    column_of[destinations] = np.arange(len(destinations))
    width = len(destinations) + 1
    table = np.full((len(nodes) + 1) * width, NO_PATH, np.uint8)
    for text in _blocks(file):
        lines = _line_starts(text)
        words = np.ndarray(len(text) - 7, "<u8", text, strides=(1,))  # the eight characters from each place
        row = _rows(words, lines, nodes)
        tail = words[lines + _LID_AT]
        lid, digits = _leading_number(tail)
        level, level_digits = _leading_number(tail >> (digits + np.uint64(1) << np.uint64(3)))
        level[level_digits == 0] = NO_PATH
        table[row * width + column_of[np.minimum(lid, np.uint64(_LIDS)).view(np.int64)]] = level
    found = table.reshape(-1, width)[node_of, :-1]
    if (found == NO_PATH).all():
        form = "0x<source node GUID, 16 digits> <destination LID> <SL>"
        raise UnreadableInputError(f"no line `{form}` of a path between adapters here", Location(str(file)))
    return found


def _blocks(file: Path) -> Iterator[bytes]:
    require_regular(file, DUMP_BYTES)
    try:
        with file.open("rb") as stream:
            while block := stream.read(_BLOCK):
                yield b"".join((block, stream.readline(), _BEHIND))
    except OSError as error:
        raise UnreadableInputError(f"cannot read: {error.strerror}", Location(str(file))) from error


def _line_starts(text: bytes) -> Ints:
    raw = np.frombuffer(text, np.uint8, len(text) - len(_BEHIND) - 1)
    return np.concatenate(([0], np.flatnonzero(raw == ord("\n")) + 1))


def _rows(words: Words, lines: Ints, nodes: Words) -> Ints:
    """The row of each line's node, an extra row for unknown nodes and for lines of another format. Lines of one node
    are mostly adjacent: only the first of a run is read."""
    differs = np.zeros(len(lines), bool)
    differs[0] = True
    for at in (2, 10):  # the digits
        part = words[lines + at]
        differs[1:] |= part[1:] != part[:-1]
    first = np.flatnonzero(differs)
    heads = lines[first]
    guid = _hex(words[heads + 2]) << _U32 | _hex(words[heads + 10])
    row = np.searchsorted(nodes, guid)
    row[row == len(nodes)] = 0
    is_known = (nodes[row] == guid) & (words[heads] & _U16_MASK == _ZERO_X) & (words[heads + 11] >> _U56 == ord(" "))
    row[~is_known] = len(nodes)
    return np.repeat(row, np.diff(first, append=len(lines)))


def _hex(text: Words) -> Words:
    """The number of eight hexadecimal digits."""
    value = (text & _each(0x0F)) + (text >> np.uint64(6) & _each(1)) * np.uint64(9)
    value = (value << np.uint64(4) | value >> _U8) & np.uint64(0x00FF00FF00FF00FF)
    value = (value << _U8 | value >> _U16) & np.uint64(0x0000FFFF0000FFFF)
    return (value << _U16 | value >> _U32) & np.uint64(0xFFFFFFFF)


def _leading_number(text: Words) -> tuple[Words, Words]:
    """The decimal number at the start of each eight characters, and its number of digits; (0, 0) without digits."""
    digits = text ^ _each(ord("0"))
    others = ((digits & _each(0x7F)) + _each(0x80 - 10) | digits) & _each(0x80)  # high bit: not a digit
    kept = (others & -others) - np.uint64(1) >> np.uint64(7)
    count = (kept & _each(1)) * _each(1) >> _U56
    value = (digits & kept) << (_U64 - count * _U8)
    value = value * np.uint64(10) + (value >> _U8) & np.uint64(0x00FF00FF00FF00FF)
    value = value * np.uint64(100) + (value >> _U16) & np.uint64(0x0000FFFF0000FFFF)
    return value * np.uint64(10000) + (value >> _U32) & np.uint64(0xFFFFFFFF), count
