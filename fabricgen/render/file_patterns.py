"""config_db.json from the text of the file, with blanks, that switches with equal forms share.

The forms are stamped once with marks in place of what differs from switch to switch. Where the marks come out in the
text, the values of a switch go in. Only rows whose order depends on the values of their keys are put in order for each
switch. A switch for which this is not possible is stamped and written row by row, which has the same bytes:

- two rows of other ports or templates may be one row on some switch, because their keys are equal there;
- a value may need escapes in JSON.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, starmap
from json.encoder import encode_basestring_ascii as quote
from operator import itemgetter
from typing import Any

from fabricgen.render.formed import FormedSwitch, Slots
from fabricgen.render.forms import Tables
from fabricgen.render.templates import TemplateProblemError
from fabricgen.same import Same
from fabricgen.sonic.canonical import in_natural_order, natural_key
from fabricgen.sonic.dump import dump_line, dump_member, join_rows, join_tables
from fabricgen.sonic.tables import Table

_OPEN = "\ue000"  # no template prints it
_MARK = "\ue000{}\ue001"
_BLANK = re.compile(r"\\ue000(\d+)\\ue001")  # a mark in JSON
_CUT = "\0"  # a character that JSON escapes
_MOST = 128  # patterns, of the size of a file each

Stamp = Callable[[FormedSwitch], Tables]
Blank = tuple[int, str]  # the port, or -1 for the switch, and the name of the slot


@dataclass(frozen=True, slots=True)
class FilePattern:
    """The text of a file. `pieces` are texts and blanks in turn, where `blanks` says what comes in.

    Filled in, the text is cut into parts. `members` has for each part that has whole tables None, and for a table with
    keys to put in order its name and its number of rows: the keys of all rows come first, then the rows.
    """

    pieces: tuple[str, ...]
    blanks: tuple[Blank, ...]
    members: tuple[tuple[str, int] | None, ...]

    def fill(self, formed: FormedSwitch) -> bytes | None:
        """The file of a switch; None where it has to be written row by row."""
        slots = [*formed.own, formed.slots]
        values = [slots[index][name] for index, name in self.blanks]
        if not _is_plain("".join(values)):
            return None
        pieces = list(self.pieces)
        pieces[1::2] = values
        parts = iter("".join(pieces).split(_CUT))
        members = []
        for member in self.members:
            if member is None:
                members.append(next(parts))
                continue
            table, number = member
            keys = [next(parts) for _ in range(number)]
            lines = [next(parts) for _ in range(number)]
            rows = dict(zip(keys, lines, strict=True))
            if len(rows) < number and any(rows[key] != line for key, line in zip(keys, lines, strict=True)):
                return None
            members.append(dump_member(table, join_rows([rows[key] for key in in_natural_order(rows)])))
        return join_tables(members).encode("ascii")


class FilePatterns:
    """The patterns of a fabric. A pattern is made for the second switch with the same forms."""

    def __init__(self, stamp: Stamp) -> None:
        """`stamp` stamps the tables of a switch; raises TemplateProblemError where two forms disagree about a row."""
        self._stamp = stamp
        self._known: dict[object, FilePattern | None] = {}
        self._once: set[object] = set()

    def content(self, formed: FormedSwitch) -> bytes | None:
        """The file of a switch; None where it has to be written row by row."""
        key = Same(formed.layout), formed.forms, formed.forms_of_ports
        if key in self._known:
            pattern = self._known[key]
            return pattern.fill(formed) if pattern else None
        if key not in self._once or len(self._known) == _MOST:
            self._once.add(key)
            return None
        pattern = self._known[key] = self._made(formed)
        return pattern.fill(formed) if pattern else None

    def _made(self, formed: FormedSwitch) -> FilePattern | None:
        """The pattern of the switches with these forms; None where the text of a file depends on the values."""
        blanks: list[Blank] = []

        def marked(place: int, slots: Slots) -> Slots:
            found = {name: _MARK.format(len(blanks) + index) for index, name in enumerate(slots)}
            blanks.extend((place, name) for name in slots)
            return found

        slots, own = marked(-1, formed.slots), list(starmap(marked, enumerate(formed.own)))
        try:
            tables = self._stamp(replace(formed, slots=slots, own=own))
        except TemplateProblemError:
            return None  # of two marks, which may stand for equal values
        members: list[tuple[str, int] | None] = []
        texts: list[str] = []
        for table in sorted(tables, key=natural_key):
            found = _in_order(tables[table]) if tables[table] else []
            if found is None:
                return None
            if len(found) > 1:
                members.append((table, len(found) // 2))
                texts += found
            elif members and members[-1] is None and found:
                texts[-1] += f",\n{dump_member(table, found[0])}"
            elif found:
                members.append(None)
                texts.append(dump_member(table, found[0]))
        pieces = _BLANK.split(_CUT.join(texts))
        return FilePattern(tuple(pieces), tuple(blanks[int(index)] for index in pieces[1::2]), tuple(members))


def _in_order(table: Table) -> list[str] | None:
    """The text of a table, or keys and then rows whose order depends on values; None if not even the rows are known."""
    if any(_OPEN in name for row in table.values() for name in row):
        return None
    if not any(_OPEN in key for key in table):
        return [join_rows(dump_line(key, table[key]) for key in sorted(table, key=natural_key))]
    keys = [quote(key)[1:-1] for key in table]
    if not _is_plain("".join(_BLANK.sub("", key) for key in keys)):
        return None
    if fixed := _fixed_order(table):
        return [join_rows(dump_line(key, table[key]) for key in fixed)]
    return [*keys, *(dump_line(key, row) for key, row in table.items())]


def _fixed_order(table: Table) -> list[str] | None:
    """The keys in the order that they have with any values, such as Ethernet0, Ethernet0|<address>; None if the values
    decide about it."""
    starts = sorted(((natural_key(key.partition(_OPEN)[0])[0], _OPEN in key, key) for key in table), key=itemgetter(0))
    is_fixed = all(_is_always_before(*one[:2], *two[:2]) for one, two in pairwise(starts))
    return [key for *_, key in starts] if is_fixed else None


def _is_always_before(one: Sequence[Any], is_open: bool, two: Sequence[Any], is_two_open: bool) -> bool:
    """Whether a key is before another one in natural order, whatever the values behind their first parts. A key is open
    if a value follows, which can make its last part longer."""
    if (is_open and not one[-1]) or (is_two_open and not two[-1]):
        return False  # the value may have more digits of the number before it
    for index, (part, other) in enumerate(zip(one, two, strict=False), 1):
        is_longer, is_other_longer = is_open and index == len(one), is_two_open and index == len(two)
        if part != other:
            return bool(part < other) and not (is_longer and other.startswith(part))
        if is_longer or is_other_longer:
            return False
    return len(one) < len(two)


def _is_plain(text: str) -> bool:
    """Whether JSON has this text as it is."""
    return text.isascii() and (text.isprintable() or not text) and '"' not in text and "\\" not in text
