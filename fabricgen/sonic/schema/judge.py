"""The check of a whole config_db.json."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress, repeat
from typing import Any

from fabricgen.same import Same
from fabricgen.sonic.schema.conditions import broken_conditions
from fabricgen.sonic.schema.content import needs, row_problems
from fabricgen.sonic.schema.musts import CHECKED, Kept, broken_musts
from fabricgen.sonic.schema.tables import Need, RowSchema, TableSchema, table_names, table_schema
from fabricgen.sonic.schema.types import Judge, Misfit
from fabricgen.sonic.schema.violations import Violation, ViolationKind, did_you_mean, shown
from fabricgen.sonic.tables import split_key

_MOST_FITTING = 50_000  # texts of one type

Refers = tuple[Judge, frozenset[str]]  # texts of one type that fit if the file has the rows that they refer to


@dataclass(frozen=True, slots=True)
class Clean:
    """The tables without violations of files that share equal tables as one object.

    `tables`: (name, table) -> its references. `musts`: the rules that tables keep. `texts`: each distinct set of texts
    that refer to rows, once.
    """

    tables: dict[tuple[str, Same[object]], tuple[Refers, ...]] = field(default_factory=dict)
    musts: set[Kept] = field(default_factory=set)
    texts: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)


def check(config: Mapping[str, Any], clean: Clean | None = None, release: int | None = None) -> list[Violation]:
    """The violations of a parsed config_db.json, in the order of the file, the `must` rules last.

    Conditions are those of the models of `release`, such as 202505; None means the newest.

    Accepts any JSON object and never raises. A table without a schema gives one violation of kind UNKNOWN_TABLE. With
    `clean`, tables that were found without violations in other files are not checked again.
    """
    clean = clean or Clean()
    run = _Run(config, clean)
    for table, rows in config.items():
        schema = table_schema(table)
        if schema is None:
            hint = did_you_mean(table, table_names())
            run.found.append(
                Violation(
                    ViolationKind.UNKNOWN_TABLE, table, "", "", "SONiC's YANG models do not have this table", hint
                )
            )
        elif not isinstance(rows, dict):
            run.found.append(
                Violation(ViolationKind.WRONG_TYPE, table, "", "", f"{shown(rows)} is not a table of rows")
            )
        else:
            run.judge_table(table, schema, rows)
    found = run.found + list(broken_musts(config, clean.musts))
    placed = {(one.table, one.key, one.field) for one in found}
    broken = broken_conditions(config, CHECKED, release)
    return found + [one for one in broken if (one.table, one.key, one.field) not in placed]


class _Run:
    """One check of one file: its violations, and its intermediate results."""

    def __init__(self, config: Mapping[str, Any], clean: Clean) -> None:
        self.found: list[Violation] = []
        self._clean = clean
        self._config = config
        self._targets: dict[str, Collection[str]] = {}
        self._misfits: dict[Need, Misfit | None] = {}
        self._met: set[Refers] = set()

    def references(self, target: str) -> Collection[str]:
        """Every value of the file at TABLE/LIST/leaf or TABLE/row/leaf."""
        if target not in self._targets:
            self._targets[target] = frozenset(self._values(*target.split("/")))
        return self._targets[target]

    def _values(self, table: str, kind_name: str, leaf: str) -> Iterator[str]:
        rows = self._config.get(table)
        schema = table_schema(table)
        if not isinstance(rows, dict) or schema is None:
            return
        if _is_only_key(schema, kind_name, leaf) and not any(leaf in row for row in rows.values() if type(row) is dict):
            yield from (key for key in rows if "|" not in key)
            return
        for key, row in rows.items():
            kind = schema.row_schema(key)
            if kind is None or kind.name != kind_name:
                continue
            names = [name for name, _ in kind.keys]
            if leaf in names:
                given = row.get(leaf) if isinstance(row, dict) else None  # SONiC prefers it to the key's
                yield given if isinstance(given, str) else split_key(key)[names.index(leaf)]
            elif isinstance(row, dict):
                value = row.get(leaf)
                yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str))

    def judge_table(self, table: str, schema: TableSchema, rows: dict[str, Any]) -> None:
        """Check every row of one table.

        Files of a fabric are similar. A table that is valid in one file is valid in the next, if the rows that it
        refers to exist there. In a table of valid rows each column is valid, so only rows of other tables are read one
        by one.
        """
        same = table, Same(rows)
        known = self._clean.tables.get(same)
        if known is not None and all(map(self._is_met, known)):
            return
        count = len(self.found)
        refers = self._refers_of_columns(schema, rows)
        if refers is None:
            refers = self._judge_rows(table, schema, rows)
        for of_list in schema.by_key_length.values():
            if of_list.most_rows is not None or of_list.unique:
                self._judge_all_rows(table, of_list, rows)
        if refers is not None and len(self.found) == count:
            self._clean.tables[same] = refers

    def _refers_of_columns(self, schema: TableSchema, rows: dict[str, Any]) -> tuple[Refers, ...] | None:
        """The references of a table in which every text of every column fits; None for any other table."""
        found = columns(schema, rows)
        if found is None:
            return None
        refers: dict[Refers, None] = {}
        for judge, values in found:
            if {*map(type, values)} != {str}:
                return None
            if judge.refers:
                one = judge, self._shared(frozenset(values))
                if not self._is_met(one):
                    return None
                refers[one] = None
            elif judge.fits and all(map(judge.fits, values)):
                continue
            elif any(self._misfit(judge, text) for text in {*values} - judge.fitting):
                return None
        return tuple(refers)

    def _shared(self, texts: frozenset[str]) -> frozenset[str]:
        return self._clean.texts.setdefault(texts, texts)

    def _is_met(self, refers: Refers) -> bool:
        """Whether the file has the rows that some texts refer to."""
        if refers not in self._met:
            judge, texts = refers
            others = texts.difference(self.references(judge.target)) if judge.target else texts
            if any(judge(text, self.references) for text in others):
                return False
            self._met.add(refers)
        return True

    def _judge_rows(self, table: str, schema: TableSchema, rows: dict[str, Any]) -> tuple[Refers, ...] | None:
        """Report the violations of each row. The references of the rows; None if a row is not one of texts."""
        needed: dict[Judge, set[str]] = {}
        is_of_texts = True
        for key, row in rows.items():
            kind = self._judge_key(table, key, schema)
            if kind is None:
                continue
            of_row = self._judge_content(table, key, kind, row, schema)
            is_of_texts = is_of_texts and of_row is not None
            for judge, text in (*_needs_of_key(kind, key), *(of_row or ())):
                needed.setdefault(judge, set()).add(text)
        return (
            tuple((judge, self._shared(frozenset(texts))) for judge, texts in needed.items()) if is_of_texts else None
        )

    def _judge_key(self, table: str, key: str, schema: TableSchema) -> RowSchema | None:
        kind_of_row = schema.row_schema(key)
        if kind_of_row is None:
            self.found.append(Violation(ViolationKind.WRONG_KEY, table, key, "", *_wrong_key(schema, key)))
            return None
        for name, judge, part in _parts(kind_of_row, key):
            if misfit := self._misfit(judge, part):
                kind = (
                    ViolationKind.DANGLING_REFERENCE
                    if misfit.kind == ViolationKind.DANGLING_REFERENCE
                    else ViolationKind.WRONG_KEY
                )
                hint = did_you_mean(part, misfit.known)
                self.found.append(Violation(kind, table, key, "", f"{name} of the key: {misfit.message}", hint))
        return kind_of_row

    def _judge_content(
        self, table: str, key: str, schema: RowSchema, row: object, of_table: TableSchema
    ) -> tuple[Need, ...] | None:
        """The references of a valid row of texts; None for other rows."""
        if not isinstance(row, dict):
            self.found.append(
                Violation(ViolationKind.WRONG_TYPE, table, key, "", f"{shown(row)} is not a row of fields")
            )
            return None
        problems = list(row_problems(schema, row, self._misfit))
        for kind, name, message, hint in problems:
            upper = _upper_row(of_table, schema, key, name) if kind == ViolationKind.UNKNOWN_FIELD else ""
            hint = f"write it into the row {upper}" if upper else hint
            self.found.append(Violation(kind, table, key, name, message, hint))
        return None if problems or list in map(type, row.values()) else tuple(needs(schema, row))

    def _misfit(self, judge: Judge, text: str) -> Misfit | None:
        """Why a text does not fit; None if it fits. Most texts occur many times."""
        if text in judge.fitting:
            return None
        known = judge, text
        if known in self._misfits:
            return self._misfits[known]
        misfit = judge(text, self.references)
        if misfit is None and not judge.refers and len(judge.fitting) < _MOST_FITTING:
            judge.fitting.add(text)
        else:
            self._misfits[known] = misfit
        return misfit

    def _judge_all_rows(self, table: str, schema: RowSchema, rows: dict[str, Any]) -> None:
        own = [key for key in rows if key.count("|") + 1 == len(schema.keys)]
        if schema.most_rows is not None and len(own) > schema.most_rows:
            message = f"{table} has {len(own)} rows, expected at most {schema.most_rows}"
            self.found.append(Violation(ViolationKind.MUST, table, own[schema.most_rows], "", message))
        first: dict[tuple[str, ...], str] = {}
        for key in own if schema.unique else ():
            row = rows[key] if isinstance(rows[key], dict) else {}
            named = dict(zip((name for name, _ in schema.keys), split_key(key), strict=True)) | row
            values = tuple(str(named[name]) for name in schema.unique if name in named)
            if len(values) == len(schema.unique) and first.setdefault(values, key) != key:
                message = f"{', '.join(schema.unique)} must be unique, but {first[values]} has the same"
                self.found.append(Violation(ViolationKind.MUST, table, key, "", message))


def _is_only_key(schema: TableSchema, kind_name: str, leaf: str) -> bool:
    """Whether a leaf is the whole key of rows of a kind, in a table without named rows."""
    kind = schema.by_key_length.get(1)
    return not schema.by_name and kind is not None and kind.name == kind_name and [*dict(kind.keys)] == [leaf]


def _parts(schema: RowSchema, key: str) -> Iterator[tuple[str, Judge, str]]:
    """(name, type, text) of each part of a key."""
    parts = key.split("|") if schema.keys else []
    return ((name, judge, part) for part, (name, judge) in zip(parts, schema.keys, strict=True))


def _needs_of_key(schema: RowSchema, key: str) -> Iterator[Need]:
    return ((judge, part) for _, judge, part in _parts(schema, key) if judge.refers)


def _upper_row(of_table: TableSchema, schema: RowSchema, key: str, field: str) -> str:
    """The row above a row that has a field: that of the interface for vrf_name of an address; "" if none."""
    names = [name for name, _ in schema.keys]
    for count, kind in of_table.by_key_length.items():
        if count < len(names) and field in kind.fields and [name for name, _ in kind.keys] == names[:count]:
            return "|".join(split_key(key)[:count])
    return ""


def _wrong_key(schema: TableSchema, key: str) -> tuple[str, str]:
    """Message and hint for a key that does not fit any kind of row of the table."""
    forms = ["|".join(f"<{name}>" for name, _ in rows.keys) for rows in schema.by_key_length.values()]
    named = sorted(schema.by_name)
    expected = " or ".join([*forms, *(named if len(named) <= 4 else [f"one of {len(named)} fixed names"])])
    return f"the key is not valid in this table; expected {expected}", did_you_mean(key, named)


# The texts of a table by type: equal texts of a column are judged once, by calls for all of them.

Column = tuple[Judge, Sequence[Any]]
_MOST_SHAPES = 16  # sets of fields of one kind of row; a table with more is read row by row


def columns(schema: TableSchema, rows: Mapping[str, Any]) -> list[Column] | None:
    """(type, values) of each part of the keys and of each field, if these alone decide whether the rows are valid.

    None if a row has to be read as a whole: a key or a set of fields is wrong, a field is a list or depends on another.
    """
    if schema.by_name and rows:
        return None
    found: list[Column] = []
    bars = [*map(str.count, rows, repeat("|"))]
    for count in dict.fromkeys(bars):
        kind = schema.by_key_length.get(count + 1)
        if kind is None or len(kind.keys) != count + 1:
            return None
        is_own = [*map(count.__eq__, bars)]
        keys = [*compress(rows, is_own)]
        parts: Iterator[Any] = zip(*[key.split("|") for key in keys], strict=True) if count else iter([keys])
        found += zip((judge for _, judge in kind.keys), parts, strict=True)
        fields = _fields(kind, [*compress(rows.values(), is_own)])
        if fields is None:
            return None
        found += fields
    return found


def _fields(kind: RowSchema, rows: Sequence[Any]) -> list[Column] | None:
    """(type, values) of each field of rows of one kind."""
    if {*map(type, rows)} != {dict}:
        return None
    shapes = [*map(tuple, rows)]
    distinct = dict.fromkeys(shapes)
    if len(distinct) > _MOST_SHAPES:
        return None
    found: list[Iterator[Column]] = []
    for names in distinct:
        judges = kind.judges_of(names)
        if judges is None:
            return None
        own = compress(rows, map(names.__eq__, shapes)) if len(distinct) > 1 else rows
        found.append(zip(judges, zip(*map(dict.values, own), strict=True), strict=True))
    return [*chain.from_iterable(found)]
