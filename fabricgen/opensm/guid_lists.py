"""Lists of GUIDs for OpenSM: one per line, with 0x; OpenSM ignores the rest of the line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricgen.opensm.located_text import LocatedWord, lines_of

_GUID = re.compile(r"0[xX]([0-9a-fA-F]{1,16})(?=\s|$)")


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
    for line in lines_of(text):
        found = _GUID.match(line.text)
        if found and int(found[1], 16):
            entries.append((int(found[1], 16), line.part(0, found.end())))
        else:
            unreadable.append(line)
    return GuidList(tuple(entries), tuple(unreadable))
