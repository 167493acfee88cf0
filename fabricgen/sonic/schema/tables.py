"""schemas/config_db.json schema, each table when it is first asked for."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabricgen.resources import resource
from fabricgen.sonic.schema.types import Judge, compile_type

Need = tuple[Judge, str]  # a text that fits where the file has what it refers to


@dataclass(frozen=True, slots=True)
class FieldSchema:
    """One field: how to judge its text, or each of its texts."""

    judge: Judge
    is_list: bool = False
    least: int = 0
    most: int | None = None
    separator: str = ""  # lists that CONFIG_DB holds as one text


@dataclass(frozen=True, eq=False, slots=True)
class RowSchema:
    """One kind of row: a YANG list (rows found by the length of their key), or a container (one named row)."""

    name: str = ""
    keys: tuple[tuple[str, Judge], ...] = ()
    fields: Mapping[str, FieldSchema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    choices: tuple[tuple[tuple[str, ...], ...], ...] = ()
    entries: tuple[Judge, Judge] | None = None  # of a map such as DSCP_TO_TC_MAP: any field -> value
    most_rows: int | None = None
    unique: tuple[str, ...] = ()
    # YANG's `when`: what must be so for a field ("" for the row) to be there: (field of the row, its values), or
    # (TABLE|row|field, its values). None among the values: it may be missing.
    when: Mapping[str, tuple[str, tuple[str | None, ...]]] = field(default_factory=dict)
    refers: bool = True  # whether any field refers to other rows
    known_rows: dict[str, tuple[Need, ...]] = field(default_factory=dict)  # rows without a defect -> what they need


@dataclass(frozen=True, eq=False, slots=True)
class TableSchema:
    """Which rows a table can hold."""

    by_key_length: Mapping[int, RowSchema]
    by_name: Mapping[str, RowSchema]
    known_keys: dict[str, tuple[RowSchema, tuple[Need, ...]]] = field(default_factory=dict)  # keys without a defect

    def row_schema(self, key: str) -> RowSchema | None:
        """The kind of row that this key makes; named rows come before lists."""
        named = self.by_name.get(key) if self.by_name else None
        return named or self.by_key_length.get(key.count("|") + 1)


def table_names() -> frozenset[str]:
    """Every table that the schema knows."""
    return frozenset(_schema()["tables"])


def field_names(table: str) -> frozenset[str]:
    """Every field that any row of this table may have; empty for an unknown table."""
    schema = table_schema(table)
    kinds = [*schema.by_key_length.values(), *schema.by_name.values()] if schema else []
    return frozenset(name for kind in kinds for name in kind.fields)


@functools.cache
def _schema() -> dict[str, Any]:
    return dict(json.loads(resource("schemas", "config_db.json").read_bytes()))


@functools.cache
def table_schema(name: str) -> TableSchema | None:
    """The schema schema of one table, None for a table that SONiC's YANG does not have."""
    entry = _schema()["tables"].get(name)
    if entry is None:
        return None
    lists = {len(node["keys"]): _row_schema(node) for node in entry.get("lists", ())}
    return TableSchema(lists, {row: _row_schema({**node, "name": row}) for row, node in entry.get("rows", {}).items()})


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
    """One judge per type, so that what it has seen in one table it knows in all."""
    return _judge_of(json.dumps(spec))


@functools.cache
def _judge_of(spec: str) -> Judge:
    return compile_type(json.loads(spec), _schema()["types"])
