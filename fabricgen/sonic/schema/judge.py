"""The check of a whole config_db.json."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fabricgen.sonic.schema.musts import broken_musts
from fabricgen.sonic.schema.tables import FieldSchema, RowSchema, TableSchema, table_names, table_schema
from fabricgen.sonic.schema.types import Judge, Misfit
from fabricgen.sonic.schema.violations import Violation, did_you_mean, shown
from fabricgen.sonic.tables import split_key

_Problem = tuple[str, str, str, str]  # kind, field, message, hint
_NO_PROBLEMS: list[_Problem] = []


def check(config: Mapping[str, Any]) -> list[Violation]:
    """Everything in a parsed config_db.json that breaks the schema, in the order of the file.

    Takes any JSON object and never raises; the `must` rules come last. A table that the schema does not know gives one
    violation of kind unknown-table (SONiC ignores such tables when it validates).
    """
    run = _Run(config)
    for table, rows in config.items():
        schema = table_schema(table)
        if schema is None:
            hint = did_you_mean(table, table_names())
            run.found.append(Violation("unknown-table", table, "", "", "SONiC's YANG has no such table", hint))
        elif not isinstance(rows, dict):
            run.found.append(Violation("wrong-type", table, "", "", f"a table holds rows, not {shown(rows)}"))
        else:
            run.judge_table(table, schema, rows)
    return run.found + list(broken_musts(config))


class _Run:
    """One check of one file: what it found, and what it judged already."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.found: list[Violation] = []
        self._config = config
        self._targets: dict[str, Collection[str]] = {}
        self._misfits: dict[tuple[Judge, str], Misfit | None] = {}
        self._clean_rows: set[object] = set()

    def references(self, target: str) -> Collection[str]:
        """Every value that the file has at TABLE/LIST/leaf or TABLE/row/leaf."""
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
                yield split_key(key)[names.index(leaf)]
            elif isinstance(row, dict):
                value = row.get(leaf)
                yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str))

    def judge_table(self, table: str, schema: TableSchema, rows: dict[str, Any]) -> None:
        """Judge every row of one table."""
        for key, row in rows.items():
            kind_of_row = schema.row_schema(key)
            if kind_of_row is None:
                self.found.append(Violation("wrong-key", table, key, "", *_wrong_key(schema, key)))
                continue
            if kind_of_row.keys:
                self._judge_key(table, key, kind_of_row)
            if not isinstance(row, dict):
                self.found.append(Violation("wrong-type", table, key, "", f"a row holds fields, not {shown(row)}"))
                continue
            for kind, name, message, hint in self._judged_row(kind_of_row, row):
                self.found.append(Violation(kind, table, key, name, message, hint))
        for of_list in schema.by_key_length.values():
            if of_list.most_rows is not None or of_list.unique:
                self._judge_all_rows(table, of_list, rows)

    def _judge_key(self, table: str, key: str, schema: RowSchema) -> None:
        for part, (name, judge) in zip(key.split("|"), schema.keys, strict=True):
            if misfit := self._misfit(judge, part):
                kind = "dangling-reference" if misfit.kind == "dangling-reference" else "wrong-key"
                hint = did_you_mean(part, misfit.known)
                self.found.append(Violation(kind, table, key, "", f"{name} of the key: {misfit.message}", hint))

    def _misfit(self, judge: Judge, text: str) -> Misfit | None:
        """The judge's word on a text; a file says the same things many times."""
        try:
            return self._misfits[judge, text]
        except KeyError:
            misfit = self._misfits[judge, text] = judge(text, self.references)
            return misfit

    def _judged_row(self, schema: RowSchema, row: dict[str, Any]) -> list[_Problem]:
        """The row's problems; a row whose content was found clean before has none."""
        try:
            content = (schema, *row.items())
            if content in self._clean_rows:
                return _NO_PROBLEMS
        except TypeError:  # a list among the values
            return list(self._judge_row(schema, row))
        problems = list(self._judge_row(schema, row))
        if not problems:
            self._clean_rows.add(content)
        return problems

    def _judge_row(self, schema: RowSchema, row: dict[str, Any]) -> Iterator[_Problem]:
        for name, value in row.items():
            if schema.entries:
                yield from self._judge_entry(schema.entries, name, value)
            elif (spec := schema.fields.get(name)) is None:
                yield "unknown-field", name, "SONiC's YANG has no such field here", did_you_mean(name, schema.fields)
            elif type(value) is not str or spec.is_list or self._misfit(spec.judge, value):
                yield from self._judge_field(spec, name, value)
        for name in schema.required:
            if name not in row:
                yield "missing-field", name, f"{name} must be given", ""
        for cases in schema.choices:
            given = [names for names in (sorted(set(case) & set(row)) for case in cases) if names]
            if len(given) > 1:
                yield "must", given[1][0], f"{given[0][0]} and {given[1][0]} exclude each other", ""

    def _judge_entry(self, entries: tuple[Judge, Judge], name: str, value: object) -> Iterator[_Problem]:
        yield from self._judge_text(entries[0], name, name)
        yield from self._judge_text(entries[1], name, value)

    def _judge_field(self, spec: FieldSchema, name: str, value: object) -> Iterator[_Problem]:
        if not spec.is_list:
            yield from self._judge_text(spec.judge, name, value)
            return
        if isinstance(value, str) and spec.separator:
            items: list[Any] = [item.strip() for item in value.split(spec.separator)]
        elif isinstance(value, list) or value == "":
            items = list(value)
        else:
            yield "wrong-type", name, f"must be a list of texts, not {shown(value)}", ""
            return
        items = [item for item in items if item != ""]  # the one empty text with which Redis keeps an empty list
        for item in items:
            yield from self._judge_text(spec.judge, name, item)
        if len(items) < spec.least:
            yield "must", name, f"needs at least {spec.least}, has {len(items)}", ""
        if spec.most is not None and len(items) > spec.most:
            yield "must", name, f"takes at most {spec.most}, has {len(items)}", ""

    def _judge_text(self, judge: Judge, name: str, value: object) -> Iterator[_Problem]:
        if isinstance(value, list | dict):
            yield "wrong-type", name, f"must be one text, not {shown(value)}", ""
        elif not isinstance(value, str):
            hint = f'write "{str(value).lower() if isinstance(value, bool) else value}"' if value is not None else ""
            yield "not-text", name, f"{json.dumps(value)} is not text: CONFIG_DB holds texts only", hint
        elif misfit := self._misfit(judge, value):
            yield misfit.kind, name, misfit.message, did_you_mean(value, misfit.known)

    def _judge_all_rows(self, table: str, schema: RowSchema, rows: dict[str, Any]) -> None:
        own = [key for key in rows if key.count("|") + 1 == len(schema.keys)]
        if schema.most_rows is not None and len(own) > schema.most_rows:
            message = f"{table} takes at most {schema.most_rows} rows, has {len(own)}"
            self.found.append(Violation("must", table, own[schema.most_rows], "", message))
        first: dict[tuple[str, ...], str] = {}
        for key in own if schema.unique else ():
            row = rows[key] if isinstance(rows[key], dict) else {}
            named = dict(zip((name for name, _ in schema.keys), split_key(key), strict=True)) | row
            values = tuple(str(named[name]) for name in schema.unique if name in named)
            if len(values) == len(schema.unique) and first.setdefault(values, key) != key:
                message = f"{', '.join(schema.unique)} are those of {first[values]}, too"
                self.found.append(Violation("must", table, key, "", message))


def _wrong_key(schema: TableSchema, key: str) -> tuple[str, str]:
    """Message and hint for a key that no kind of row of the table has."""
    forms = ["|".join(f"<{name}>" for name, _ in rows.keys) for rows in schema.by_key_length.values()]
    named = sorted(schema.by_name)
    expected = " or ".join([*forms, *(named if len(named) <= 4 else [f"one of {len(named)} fixed names"])])
    return f"no row can have this key; keys here are {expected}", did_you_mean(key, named)
