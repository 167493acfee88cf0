"""Loads many config_db.json files and parses each distinct table once.

In a fabric most tables have the same bytes in many files. A file in the layout of `config save` is cut between its
tables, and each distinct piece is parsed once. Any other file is parsed as a whole.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from fabricgen.sonic.tables import ConfigDb

_MOST_TEXTS = 1 << 16  # a text that is in many files is soon among them again
_TEXT, _ROW = frozenset([str]), frozenset([dict])
_FEW_FIELDS = 5  # with more, a new dictionary is smaller by a quarter than that of orjson
_NO_FIELDS: dict[str, Any] = {}  # the row of most interfaces and of each address
_OF_NEIGHBORS = frozenset({"DEVICE_NEIGHBOR_METADATA"})  # tables whose rows all neighbors of a switch have
_NAME_END = b'":'  # text inside a string has a backslash before the quotation mark, and is then read slowly
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|[{}]')
_BEGIN, _CUT, _END = b"{\n", b"\n    },\n", b"\n    }\n}"  # around and between the tables as `config save` writes them


class TableLoader:
    """Loads files. Tables with the same bytes are the same object, so Same is a key for them. Callers must not
    change them.

    With `most`, the loader keeps only this number of pieces, those used last. Of tables that the caller says are kept,
    equal texts are one object: a speed is in each row, and the name of a switch in the files of all its neighbors.
    """

    def __init__(self, most: int | None = None) -> None:
        self._parse = lru_cache(most)(self._parsed)
        self._last: dict[bytes, bytes] = {}  # pieces of the last file, by their first lines
        self._texts: dict[str, str] = {}
        self._rows: dict[str, dict[str, Any]] = {}

    def load(self, text: bytes) -> ConfigDb:
        """The tables of one file. Raises orjson.JSONDecodeError for a file that is not JSON, or in which an object has
        two members of one name (RepeatedNameError), TypeError for JSON that is not an object.

        Names that begin with a small letter are left out: sonic-cfggen does not load them as tables (`bgpraw`).
        """
        return {table: rows for table, rows in self.load_all(text)[0].items() if table[:1].isupper()}

    def load_all(self, text: bytes, are_kept: bool = False) -> tuple[dict[str, Any], list[bytes]]:
        """All members of one file, and its text between them; none if the file was parsed as a whole.

        Raises the same errors as `load`.
        """
        self._last = _cut(text, self._last)
        pieces = [*self._last.values()]
        config = self._merged(pieces, are_kept) if pieces else None
        if config is not None:
            return config, pieces
        whole = orjson.loads(text)
        if not isinstance(whole, dict):
            raise TypeError("not a JSON object")
        if _number_of_names(whole) != text.count(_NAME_END):
            _refuse_repeated_name(text)
        if are_kept:
            self._share(whole)
        return whole, []

    def load_table(self, text: bytes, table: str) -> Any:
        """One member of a kept file that was loaded before, None if it has none. If possible only this is parsed."""
        first = b'    "%s": {' % table.encode()
        pieces = reversed(_cut(text, self._last).values())
        piece = next((piece for piece in pieces if piece.startswith(first) or _has_inside(piece, first)), None)
        members = self._merged([piece], are_kept=True) if piece is not None else None
        if members and table in members:
            return members[table]
        return self.load_all(text, are_kept=True)[0].get(table)

    def _merged(self, pieces: Iterable[bytes], are_kept: bool) -> dict[str, Any] | None:
        """The members of all pieces; None when the file was cut at a wrong place, or has two members of one name.

        The cuts are right when each piece, with its closing brackets, is valid JSON: then all cuts lie between members
        of the top object, because a JSON string cannot contain a newline.
        """
        config: dict[str, Any] = {}
        number = 0
        for piece in pieces:
            try:
                members = self._parse(piece, are_kept)
            except orjson.JSONDecodeError:
                return None
            config.update(members)
            number += len(members)
        return config if len(config) == number else None

    def _parsed(self, piece: bytes, are_kept: bool) -> dict[str, Any]:
        members: dict[str, Any] = orjson.loads(b"{%s}}" % piece)
        if _number_of_names(members) != piece.count(_NAME_END):
            raise orjson.JSONDecodeError("the whole file is read for its place", "", 0)
        if are_kept:
            self._share(members)
        return members

    def _share(self, tables: dict[str, Any]) -> None:
        """Replace equal texts of rows by one object, and equal rows where many files have them."""
        if len(self._texts) > _MOST_TEXTS:
            self._texts.clear()
            self._rows.clear()
        one = self._texts.setdefault
        for table, rows in tables.items():
            for key, row in rows.items() if type(rows) is dict else ():
                if type(row) is not dict:
                    continue
                if not row:
                    rows[key] = _NO_FIELDS
                    continue
                if len(row) > _FEW_FIELDS and _TEXT.issuperset(map(type, row.values())):
                    rows[key] = {name: one(value, value) for name, value in row.items()}
                    continue
                is_text = True
                for name, value in row.items():
                    if type(value) is str:
                        row[name] = one(value, value)
                    else:
                        is_text = False
                if is_text and table in _OF_NEIGHBORS and (known := self._rows.setdefault(key, row)) == row:
                    rows[key] = known


class RepeatedNameError(orjson.JSONDecodeError):
    """An object has two members of one name: SONiC's readers keep the last one, and lose the other in silence."""


def _number_of_names(tables: Mapping[str, Any]) -> int:
    """The number of the names of tables, rows and fields, without those of objects inside a field."""
    number = len(tables)
    for rows in tables.values():
        if type(rows) is dict:
            of_rows = rows.values()
            number += len(rows)
            number += sum(map(len, of_rows if _ROW.issuperset(map(type, of_rows)) else filter(_is_row, of_rows)))
    return number


def _is_row(row: object) -> bool:
    return type(row) is dict


def _refuse_repeated_name(text: bytes) -> None:
    """Raises RepeatedNameError at the second of two equal names of one object. The text is valid JSON."""
    names: list[set[str]] = []
    document = text.decode()
    for match in _TOKEN.finditer(document):
        token, is_name = match[0], match[1] is not None
        if token == "{":
            names.append(set())
        elif token == "}":
            names.pop()
        elif is_name and (name := match[1]) in names[-1]:
            message = f"a second {name} in one object: SONiC keeps the last one, and loses the other"
            raise RepeatedNameError(message, document, match.start())
        elif is_name:
            names[-1].add(match[1])


def _has_inside(piece: bytes, start: bytes) -> bool:
    """Whether a table begins inside a piece: only behind members without rows, which have no end to cut at."""
    return not piece.startswith(b"{", piece.find(b"\n") - 1) and b"\n" + start in piece


def _cut(text: bytes, like: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The pieces of a file between its brackets, by their first lines; none for another layout.

    A piece that is equal to a piece of the last file is taken without a search for its end.
    """
    pieces: dict[bytes, bytes] = {}
    if not (text.startswith(_BEGIN) and text.endswith(_END)):
        return pieces
    start, stop, end = len(_BEGIN), 0, len(text) - len(_END)
    while stop < end:
        first = _first_line(text, start)
        piece = like.get(first, b"")
        stop = start + len(piece)
        if not (piece and text.startswith(piece, start) and (stop == end or text.startswith(_CUT, stop, end))):
            found = text.find(_CUT, start, end)
            stop = end if found < 0 else found
            piece = text[start:stop]
        if first in pieces:
            return {}
        pieces[first] = piece
        start = stop + len(_CUT)
    return pieces


def _first_line(text: bytes, start: int) -> bytes:
    """`    "TABLE": {`."""
    return text[start : text.find(b"\n", start)]
