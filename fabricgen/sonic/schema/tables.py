"""The schema of schemas/config_db.json; each table is compiled at its first use."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabricgen.resources import resource
from fabricgen.sonic.schema.types import Judge, compile_type

Need = tuple[Judge, str]  # a text that fits if the file has the row that it refers to
_MOST_KNOWN = 10_000  # sets of fields of one kind of row that are kept from file to file


@dataclass(frozen=True, slots=True)
class FieldSchema:
    """One field: the check of its text, or of each of its texts."""

    judge: Judge
    is_list: bool = False
    least: int = 0
    most: int | None = None
    separator: str = ""  # of a list that CONFIG_DB stores as one text


@dataclass(frozen=True, eq=False, slots=True)
class RowSchema:
    """One kind of row: a YANG list (its rows have keys of one length), or a container (one named row)."""

    name: str = ""
    keys: tuple[tuple[str, Judge], ...] = ()
    fields: Mapping[str, FieldSchema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    choices: tuple[tuple[tuple[str, ...], ...], ...] = ()
    entries: tuple[Judge, Judge] | None = None  # of a map such as DSCP_TO_TC_MAP: any field -> value
    most_rows: int | None = None
    unique: tuple[str, ...] = ()
    # YANG's `when`, the condition for a field ("" for the row): (field of the row, its allowed values), or
    # (TABLE|row|field, its allowed values). None among the values: the other field may be missing.
    when: Mapping[str, tuple[str, tuple[str | None, ...]]] = field(default_factory=dict)
    refers: bool = True  # whether any field refers to other rows
    known_names: dict[tuple[str, ...], tuple[Judge, ...] | None] = field(default_factory=dict)  # see `judges_of`

    def judges_of(self, names: tuple[str, ...]) -> tuple[Judge, ...] | None:
        """The check of each field of a row with these fields, if only their texts decide whether the row is valid.

        None if the fields themselves are wrong, or if one is a list or allowed only beside a value of another.
        """
        try:
            return self.known_names[names]
        except KeyError:
            if len(self.known_names) >= _MOST_KNOWN:
                self.known_names.clear()
            return self.known_names.setdefault(names, self._judges_of(names))

    def _judges_of(self, names: tuple[str, ...]) -> tuple[Judge, ...] | None:
        given = set(names)
        kinds = [self.fields.get(name) for name in names]
        plain = [kind.judge for kind in kinds if kind is not None and not kind.is_list]
        excluded = any(sum(not given.isdisjoint(case) for case in cases) > 1 for cases in self.choices)
        has_all = not self.entries and len(plain) == len(names) and given.issuperset(self.required)
        return tuple(plain) if has_all and not excluded and given.isdisjoint(self.when) else None


@dataclass(frozen=True, eq=False, slots=True)
class TableSchema:
    """The kinds of rows of a table."""

    by_key_length: Mapping[int, RowSchema]
    by_name: Mapping[str, RowSchema]
    module: str = ""  # of YANG

    def row_schema(self, key: str) -> RowSchema | None:
        """The kind of row for a key; named rows come before lists."""
        named = self.by_name.get(key) if self.by_name else None
        return named or self.by_key_length.get(key.count("|") + 1)


def table_names() -> frozenset[str]:
    """The names of all tables of the schema."""
    return frozenset(_schema()["tables"])


def field_names(table: str) -> frozenset[str]:
    """The names of all fields of a table; empty for an unknown table."""
    schema = table_schema(table)
    kinds = [*schema.by_key_length.values(), *schema.by_name.values()] if schema else []
    return frozenset(name for kind in kinds for name in kind.fields)


@functools.cache
def _schema() -> dict[str, Any]:
    return dict(json.loads(resource("schemas", "config_db.json").read_bytes()))


@functools.cache
def table_schema(name: str) -> TableSchema | None:
    """The schema of one table; None for a table that SONiC's YANG models do not have."""
    entry = _schema()["tables"].get(name)
    if entry is None:
        return None
    lists = {len(node["keys"]): _row_schema(node) for node in entry.get("lists", ())}
    named = {row: _row_schema({**node, "name": row}) for row, node in entry.get("rows", {}).items()}
    return TableSchema(lists, named, entry.get("module", ""))


def _row_schema(entry: dict[str, Any]) -> RowSchema:
    fields = {name: _field_schema(spec) for name, spec in entry["fields"].items()}
    entries = entry.get("map")
    return RowSchema(
        name=entry["name"],
        keys=tuple((name, fields[name].judge) for name in entry.get("keys", ())),
        fields=fields,
        required=(*entry.get("required", ()), *(name for name, spec in fields.items() if spec.least)),
        choices=tuple(tuple(map(tuple, cases)) for cases in entry.get("choices", ())),
        entries=(_judge(entries[0]), _judge(entries[1])) if entries else None,
        refers=bool(entries) or any(spec.judge.refers for spec in fields.values()),
        most_rows=entry.get("max"),
        unique=tuple(entry.get("unique", ())),
        when={name: (other, tuple(values)) for name, (other, values) in entry.get("when", {}).items()},
    )


def _field_schema(spec: Any) -> FieldSchema:
    if isinstance(spec, dict) and "list" in spec:
        return FieldSchema(_judge(spec["list"]), True, spec.get("min", 0), spec.get("max"), spec.get("split", ""))
    return FieldSchema(_judge(spec))


def _judge(spec: Any) -> Judge:
    """One check per type, so that all tables share its results."""
    return _judge_of(json.dumps(spec))


@functools.cache
def _judge_of(spec: str) -> Judge:
    return compile_type(json.loads(spec), _schema()["types"])
