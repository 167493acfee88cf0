"""Many config_db.json files read at the price of their distinct tables.

In a fabric most tables stand in file after file with the same bytes. A file as `config save` writes it is cut between
its tables, and each distinct piece is parsed once; any other file is parsed whole.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import orjson

from fabricgen.sonic.tables import ConfigDb

_CUT = b"\n    },\n    "  # the end of one table and the start of the next in the bytes of `config save`
_END = b"\n    }\n}"


class TableLoader:
    """Loads files; tables with the same bytes become the same object, so that `is` tells most equal tables apart from
    the others. Nobody may change what it returns. With `most`, only so many pieces are remembered, those used last."""

    def __init__(self, most: int | None = None) -> None:
        self._parse = lru_cache(most)(_parse)
        self._last: list[bytes] = []  # pieces of the file that was loaded last

    def load(self, text: bytes) -> ConfigDb:
        """The tables of one file. Raises orjson.JSONDecodeError for no JSON, TypeError for JSON that is no object.

        Names that begin with a small letter are left out: sonic-cfggen loads no table from them (`bgpraw`).
        """
        return {table: rows for table, rows in self.load_all(text)[0].items() if table[:1].isupper()}

    def load_all(self, text: bytes) -> tuple[dict[str, Any], bool]:
        """Every member of one file, whatever its name, and whether the file was parsed whole. Raises as `load` does."""
        self._last = _cut(text, self._last)
        config = self._merged(self._last) if self._last else None
        if config is not None:
            return config, False
        whole = orjson.loads(text)
        if not isinstance(whole, dict):
            raise TypeError("not a JSON object")
        return whole, True

    def _merged(self, pieces: Iterable[bytes]) -> dict[str, Any] | None:
        """The members of all pieces, or None where the file was cut at a wrong place.

        A cut counts only where each piece, closed again, is JSON by itself: then all cuts lie between members of the
        top object, because no string of JSON holds a bare newline.
        """
        config: dict[str, Any] = {}
        for piece in pieces:
            try:
                config.update(self._parse(piece))
            except orjson.JSONDecodeError:
                return None
        return config


def _parse(piece: bytes) -> dict[str, Any]:
    members: dict[str, Any] = orjson.loads(b"{%s}}" % piece)
    return members


def _cut(text: bytes, like: Sequence[bytes]) -> list[bytes]:
    """The pieces of a file between its brackets; none for another layout.

    Where it begins and ends with pieces of the file before, it takes these, and looks for no cuts there.
    """
    if not (text.startswith(b"{\n    ") and text.endswith(_END)):
        return []
    start, end = 1, len(text) - len(_END)
    first, last = 0, len(like)
    while first < last and text.startswith(ahead := like[first] + _CUT, start):
        start += len(ahead)
        first += 1
    while first < last and text.endswith(behind := _CUT + like[last - 1], start, end):
        end -= len(behind)
        last -= 1
    return [*like[:first], *text[start:end].split(_CUT), *like[last:]]
