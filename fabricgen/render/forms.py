"""A template is expanded once for equal contexts, then stamped for each switch or port.

A value that differs from port to port is a `Slot` in a template: a blank that stamping fills in. Every other value is
text with an origin. Printing either leaves an invisible mark in the expansion, so the finished `Form` has the slots and
the origins of each field, and the source map needs no second record.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import NamedTuple, NoReturn

from fabricgen.errors import FabricgenError
from fabricgen.origin import Origin, Value

_SLOT = re.compile("\ue000([a-z0-9_.]+)\ue001")
_BROKEN = re.compile("[\ue000-\ue003]")
_ORIGIN = re.compile("\ue002([0-9]+)\ue003")
# A string, or a comma before a closing bracket: templates may leave such a comma.
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


class SlotTestedError(FabricgenError):
    """A template branched on a value that is not known when it is expanded."""


class Slot(Value):
    """A blank. It can be printed, alone or as part of a text, but not tested or compared."""

    def __new__(cls, name: str, origin: Origin) -> "Slot":
        slot = str.__new__(cls, f"\ue000{name}\ue001")
        slot.origin = origin
        return slot

    def _refuse(self, *_: object) -> NoReturn:
        raise SlotTestedError(f"{_named(self)} differs from row to row: print it, do not test it")

    __bool__ = __len__ = __int__ = __float__ = __getitem__ = __eq__ = _refuse
    __hash__ = Value.__hash__


class OriginMarks:
    """Jinja's `finalize`: escapes text for JSON and marks the origin of every value that is printed.

    Those of several kinds of templates share one list of origins.
    """

    def __init__(self, shared: "OriginMarks | None" = None) -> None:
        self.origins: list[Origin] = shared.origins if shared else []
        self._index: dict[Origin, int] = shared._index if shared else {}

    def finalize(self, printed: object) -> object:
        """What a template prints for a value."""
        if not isinstance(printed, Value):
            return printed  # what a macro made, or a plain word of Python's
        text = printed if isinstance(printed, Slot) else self.escape(printed)
        index = self._index.setdefault(printed.origin, len(self._index))
        if index == len(self.origins):
            self.origins.append(printed.origin)
        return f"\ue002{index}\ue003{text}"

    def escape(self, text: str) -> str:
        """The text as the content of a JSON string."""
        return encode_basestring_ascii(text)[1:-1]


class LineMarks(OriginMarks):
    """The same for templates of plain lines."""

    def escape(self, text: str) -> str:
        """The text as it is."""
        return str(text)


def unmarked(line: str) -> tuple[str, tuple[int, ...]]:
    """A line without its marks, and the indices of the origins that went into it."""
    return _ORIGIN.sub("", line), tuple(dict.fromkeys(map(int, _ORIGIN.findall(line))))


class NotRowsError(FabricgenError):
    """The output of a template is not TABLE -> key -> fields of text."""


@dataclass(frozen=True, slots=True)
class _Text:
    """Text with blanks; `pattern` is a %-format where there are any."""

    pattern: str
    slotted: bool

    def fill(self, values: Mapping[str, str]) -> str:
        return self.pattern % values if self.slotted else self.pattern


_Content = _Text | tuple[_Text, ...]


Fields = dict[str, str | list[str]]
Tables = dict[str, dict[str, Fields]]


class _RowForm(NamedTuple):
    """A row whose blanks are filled in for each device or port."""

    table: str
    key: _Text
    fields: Fields  # the names of all in their order; none if a name has a blank
    texts: tuple[tuple[str, str], ...]  # the fields with one text that has blanks: its %-format
    others: tuple[tuple[_Text, _Content], ...]  # the other fields with blanks

    def fill(self, values: Mapping[str, str]) -> Fields:
        """The fields of a row with blanks."""
        fields = dict(self.fields)
        for name, pattern in self.texts:
            fields[name] = pattern % values
        for slotted, content in self.others:
            filled = [part.fill(values) for part in content] if isinstance(content, tuple) else content.fill(values)
            fields[slotted.fill(values)] = filled
        return fields


class Form:
    """The rows that one expansion of a template makes.

    `sources`: 'TABLE|key', with slots as {name}, -> field -> indices of the origins that went into it.
    """

    def __init__(self, template: str, text: str) -> None:
        self.template = template
        self.sources: dict[str, dict[str, tuple[int, ...]]] = {}
        self._rows: list[_RowForm] = []
        for table, rows in _parse(text).items():
            for key, fields in rows.items():
                self._add(table, key, fields)

    def _add(self, table: str, key: str, fields: Mapping[str, object]) -> None:
        compiled: list[tuple[_Text, _Content]] = []
        sources = self.sources.setdefault(f"{table}|{_named(key)}", {})
        for name, content in fields.items():
            items = [item for item in (content if isinstance(content, list) else [content]) if isinstance(item, str)]
            if len(items) != (len(content) if isinstance(content, list) else 1):
                raise NotRowsError(f"{table}|{_named(key)}|{_named(name)} must be text or a list of texts")
            marks = [int(mark) for item in [name, *items] for mark in _ORIGIN.findall(item)]
            sources[_named(name)] = tuple(dict.fromkeys(marks))
            parts = tuple(_compile(item) for item in items)
            compiled.append((_compile(name), parts if isinstance(content, list) else parts[0]))
        if any(name.slotted for name, _ in compiled):
            self._rows.append(_RowForm(table, _compile(key), {}, (), tuple(compiled)))
            return
        patterns = {name.pattern: _patterns(inner) for name, inner in compiled}
        blanks = [(name, inner) for name, inner in compiled if any(part.slotted for part in _texts(inner))]
        texts = tuple((name.pattern, inner.pattern) for name, inner in blanks if isinstance(inner, _Text))
        others = tuple((name, inner) for name, inner in blanks if not isinstance(inner, _Text))
        self._rows.append(_RowForm(table, _compile(key), patterns, texts, others))

    def stamp(self, tables: Tables, values: Mapping[str, str]) -> None:
        """Add the rows to `tables`, blanks filled in. Rows that exist gain fields; raises NotRowsError on a clash."""
        for row in self._rows:
            table, key_text, fields, texts, others = row
            key = key_text.pattern % values if key_text.slotted else key_text.pattern
            if texts or others:
                fields = row.fill(values)
            rows = tables.get(table)
            if rows is None:
                rows = tables[table] = {}
            if key not in rows:
                rows[key] = fields
            elif rows[key] is not fields:
                rows[key] = _joined(rows[key], fields, row, key)


class LineForm:
    """A file of lines. `sources` as those of a form: 'file|key' -> "" -> indices of origins; a key has no fields."""

    def __init__(self, template: str, text: str, keys: Iterable[tuple[str, str]]) -> None:
        """`keys` are (file|key, text with marks) of every line or leaf with a source."""
        self.template = template
        self.sources: dict[str, dict[str, tuple[int, ...]]] = {}
        for key, marked in keys:
            self.sources[_named(key)] = {"": tuple(dict.fromkeys(map(int, _ORIGIN.findall(marked))))}
        self._text = _compile(text)

    def stamp(self, values: Mapping[str, str]) -> str:
        """The text, blanks filled in."""
        return self._text.fill(values)


def _joined(
    known: Mapping[str, str | list[str]], fields: Mapping[str, str | list[str]], row: _RowForm, key: str
) -> dict[str, str | list[str]]:
    """The fields of both. It is a new row, because forms share their rows between ports and switches."""
    for name, content in fields.items():
        if known.get(name, content) != content:
            raise NotRowsError(f"{row.table}|{key}|{name} is both {known[name]!r} and {content!r}")
    return {**known, **fields}


def _parse(text: str) -> dict[str, dict[str, dict[str, object]]]:
    try:
        tables = json.loads(_LAST_COMMA.sub(r"\1", text), object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        before = _clean(error.doc[max(0, error.pos - 40) : error.pos])
        raise NotRowsError(f"not JSON: {error.msg} after {before!r}") from error
    except RecursionError as error:
        raise NotRowsError("JSON of too many levels") from error
    except ValueError as error:  # a number of thousands of digits
        raise NotRowsError(f"not JSON: {error}") from error
    for table, rows in tables.items() if isinstance(tables, dict) else [("", None)]:
        if not isinstance(rows, dict) or not all(isinstance(fields, dict) for fields in rows.values()):
            raise NotRowsError(f"{table or 'the output'} is not a mapping of rows")
    return tables  # type: ignore[no-any-return]


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotRowsError(f"{_named(twice)!r} occurs twice in one object")
    return found


def _compile(text: str) -> _Text:
    if not _BROKEN.search(text):
        return _Text(text, slotted=False)
    bare = _ORIGIN.sub("", text)
    if _BROKEN.search(_SLOT.sub("", bare)):
        raise NotRowsError(
            f"{_BROKEN.sub('', _named(text))!r}, in which a filter has changed a blank: print it as it is"
        )
    if not _SLOT.search(bare):
        return _Text(bare, slotted=False)
    return _Text(_SLOT.sub(r"%(\1)s", bare.replace("%", "%%")), slotted=True)


def _texts(content: _Content) -> Iterable[_Text]:
    return content if isinstance(content, tuple) else (content,)


def _patterns(content: _Content) -> str | list[str]:
    return [part.pattern for part in content] if isinstance(content, tuple) else content.pattern


def _named(text: str) -> str:
    """Text for people: slots as {name}, origins left out."""
    if not _BROKEN.search(text):
        return text
    return _SLOT.sub(r"{\1}", _ORIGIN.sub("", text))


def _clean(text: str) -> str:
    return " ".join(_named(text).split())
