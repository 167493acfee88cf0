"""Lists of GUIDs for OpenSM: one per line, with 0x; OpenSM ignores the rest of the line.

Source: opensm 3.3.23, parse_node_map in complib/cl_nodenamemap.c.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricgen.c_numbers import c_number
from fabricgen.opensm.located_text import LocatedWord, pieces_of

_GUID = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)(?=[ \t\v\f\r]|$)")
_MOST_BYTES = 255  # OpenSM reads the rest of a longer line as another line, also that of a comment


@dataclass(frozen=True)
class GuidList:
    """The GUIDs in order, and the lines that OpenSM cannot read. One such line makes OpenSM ignore the file."""

    entries: tuple[tuple[int, LocatedWord], ...]
    unreadable: tuple[LocatedWord, ...]

    @cached_property
    def words(self) -> Mapping[int, LocatedWord]:
        """GUID -> its first place."""
        found: dict[int, LocatedWord] = {}
        for guid, word in self.entries:
            found.setdefault(guid, word)
        return found


def read_guids(text: str) -> GuidList:
    """The content of root_guids, cn_guids, io_guids or guid_routing_order."""
    entries, unreadable = [], []
    for line in lines_of_nodes(text):
        found = _GUID.match(line.text)
        guid = c_number(found[0]) if found else None
        if found and guid is not None:
            entries.append((guid, line.part(0, found.end())))
        else:
            unreadable.append(line)
    return GuidList(tuple(entries), tuple(unreadable))


def lines_of_nodes(text: str) -> Iterator[LocatedWord]:
    """The lines of a file with a GUID at the beginning of each line, as OpenSM reads them, without comments."""
    for piece in pieces_of(text, _MOST_BYTES):
        word = LocatedWord(piece.text.partition("#")[0], piece.line, piece.column)
        if (word := word.part(0, len(word.text))).text:
            yield word
