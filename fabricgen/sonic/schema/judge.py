"""The check of a whole config_db.json."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson

from fabricgen.sonic.schema.content import needs, row_problems
from fabricgen.sonic.schema.musts import broken_musts
from fabricgen.sonic.schema.rows import Must
from fabricgen.sonic.schema.tables import Need, RowSchema, TableSchema, table_names, table_schema
from fabricgen.sonic.schema.types import Judge, Misfit
from fabricgen.sonic.schema.violations import Kind, Violation, did_you_mean, shown
from fabricgen.sonic.tables import SameTable, split_key

_MOST_KNOWN = 10_000  # rows and keys of each kind that are kept from file to file
_MOST_FITTING = 50_000  # texts of one type


@dataclass(frozen=True, slots=True)
class Clean:
    """The tables without violations of files that share equal tables as one object.

    `tables`: (name, table) -> its references. `musts`: (name, table, rule) for each rule that the table keeps.
    """

    tables: dict[tuple[str, SameTable], frozenset[Need]] = field(default_factory=dict)
    musts: set[tuple[str, SameTable, Must]] = field(default_factory=set)


def check(config: Mapping[str, Any], clean: Clean | None = None) -> list[Violation]:
    """The violations of a parsed config_db.json, in the order of the file, the `must` rules last.

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
                Violation(Kind.UNKNOWN_TABLE, table, "", "", "SONiC's YANG models do not have this table", hint)
            )
        elif not isinstance(rows, dict):
            run.found.append(Violation(Kind.WRONG_TYPE, table, "", "", f"{shown(rows)} is not a table of rows"))
        else:
            run.judge_table(table, schema, rows)
    return run.found + list(broken_musts(config, clean.musts))


class _Run:
    """One check of one file: its violations, and its intermediate results."""

    def __init__(self, config: Mapping[str, Any], clean: Clean) -> None:
        self.found: list[Violation] = []
        self._clean = clean.tables
        self._config = config
        self._targets: dict[str, Collection[str]] = {}
        self._misfits: dict[Need, Misfit | None] = {}
        self._met: set[Need] = set()

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

        Files of a fabric are similar. A key, row or table that is valid in one file is valid in the next, if the rows
        that it refers to exist there.
        """
        met, known_keys = self._met, schema.known_keys
        same = table, SameTable(rows)
        all_needs = self._clean.get(same)
        if all_needs is not None and (met.issuperset(all_needs) or self._all_met(all_needs)):
            return
        count, needed, is_known = len(self.found), set[Need](), True
        for key, row in rows.items():
            known = known_keys.get(key)
            if known is None or (known[1] and not (met.issuperset(known[1]) or self._all_met(known[1]))):
                known = self._judge_key(table, key, schema)
                if known is None:
                    continue
            refers_to = self._needs_of_texts(known[0], row)
            if refers_to is None:
                written = _written(row)
                refers_to = known[0].known_rows.get(written)
                if refers_to is None or (refers_to and not (met.issuperset(refers_to) or self._all_met(refers_to))):
                    refers_to = self._judge_content(table, key, known[0], row, written)
                    is_known = is_known and refers_to is not None
            if known[1]:
                needed.update(known[1])
            if refers_to:
                needed.update(refers_to)
        for of_list in schema.by_key_length.values():
            if of_list.most_rows is not None or of_list.unique:
                self._judge_all_rows(table, of_list, rows)
        if is_known and len(self.found) == count:
            self._clean[same] = frozenset(needed)

    def _all_met(self, needs: Collection[Need]) -> bool:
        met, references = self._met, self.references
        for need in needs:
            if need not in met:
                if need[0](need[1], references) is not None:
                    return False
                met.add(need)
        return True

    def _judge_key(self, table: str, key: str, schema: TableSchema) -> tuple[RowSchema, tuple[Need, ...]] | None:
        kind_of_row = schema.row_schema(key)
        if kind_of_row is None:
            self.found.append(Violation(Kind.WRONG_KEY, table, key, "", *_wrong_key(schema, key)))
            return None
        count = len(self.found)
        parts = key.split("|") if kind_of_row.keys else []
        for part, (name, judge) in zip(parts, kind_of_row.keys, strict=True):
            if misfit := self._misfit(judge, part):
                kind = Kind.DANGLING_REFERENCE if misfit.kind == Kind.DANGLING_REFERENCE else Kind.WRONG_KEY
                hint = did_you_mean(part, misfit.known)
                self.found.append(Violation(kind, table, key, "", f"{name} of the key: {misfit.message}", hint))
        known = tuple((judge, part) for part, (_, judge) in zip(parts, kind_of_row.keys, strict=True) if judge.refers)
        if len(self.found) == count:
            _keep(schema.known_keys, key, (kind_of_row, known))
        return kind_of_row, known

    def _needs_of_texts(self, schema: RowSchema, row: object) -> tuple[Need, ...] | None:
        """The references of a row that is valid because each of its texts fits; None for any other row.

        Descriptions and addresses differ in each row, so the fields are compared one by one, not the row as a whole.
        """
        if type(row) is not dict:
            return None
        names = tuple(row)
        try:
            judges = schema.known_names[names]
        except KeyError:
            judges = schema.judges_of(names)
            _keep(schema.known_names, names, judges)
        if judges is None:
            return None
        found: tuple[Need, ...] = ()
        for judge, text in zip(judges, row.values(), strict=True):
            if type(text) is not str:
                return None
            if text not in judge.fitting:
                if self._misfit(judge, text) is not None:
                    return None
                if judge.refers:
                    found += ((judge, text),)
        return found

    def _judge_content(
        self, table: str, key: str, schema: RowSchema, row: object, written: str
    ) -> tuple[Need, ...] | None:
        """The references of a valid row of texts; None for other rows."""
        if not isinstance(row, dict):
            self.found.append(Violation(Kind.WRONG_TYPE, table, key, "", f"{shown(row)} is not a row of fields"))
            return None
        problems = list(row_problems(schema, row, self._misfit))
        self.found += [Violation(kind, table, key, name, message, hint) for kind, name, message, hint in problems]
        if not problems and list not in map(type, row.values()):
            refers_to = tuple(needs(schema, row))
            _keep(schema.known_rows, written, refers_to)
            return refers_to
        return None

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
            self.found.append(Violation(Kind.MUST, table, own[schema.most_rows], "", message))
        first: dict[tuple[str, ...], str] = {}
        for key in own if schema.unique else ():
            row = rows[key] if isinstance(rows[key], dict) else {}
            named = dict(zip((name for name, _ in schema.keys), split_key(key), strict=True)) | row
            values = tuple(str(named[name]) for name in schema.unique if name in named)
            if len(values) == len(schema.unique) and first.setdefault(values, key) != key:
                message = f"{', '.join(schema.unique)} must be unique, but {first[values]} has the same"
                self.found.append(Violation(Kind.MUST, table, key, "", message))


def _written(row: object) -> str:
    """A row as one text. The bytes of orjson need more memory."""
    try:
        return orjson.dumps(row).decode()
    except TypeError:  # whole numbers beyond 64 bits, which no field allows
        return repr(row)


_Known = TypeVar("_Known")


def _keep(known: dict[Any, _Known], seen: object, what: _Known) -> None:
    """Keep a result, up to a limit."""
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[seen] = what


def _wrong_key(schema: TableSchema, key: str) -> tuple[str, str]:
    """Message and hint for a key that does not fit any kind of row of the table."""
    forms = ["|".join(f"<{name}>" for name, _ in rows.keys) for rows in schema.by_key_length.values()]
    named = sorted(schema.by_name)
    expected = " or ".join([*forms, *(named if len(named) <= 4 else [f"one of {len(named)} fixed names"])])
    return f"the key is not valid in this table; expected {expected}", did_you_mean(key, named)
