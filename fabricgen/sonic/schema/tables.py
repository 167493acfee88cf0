"""schemas/config_db.json schema, each table when it is first asked for."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabricgen.resources import resource
from fabricgen.sonic.schema.types import Judge, compile_type


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


@dataclass(frozen=True, eq=False, slots=True)
class TableSchema:
    """Which rows a table can hold."""

    by_key_length: Mapping[int, RowSchema]
    by_name: Mapping[str, RowSchema]

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
    types = _schema()["types"]
    fields = {name: _field_schema(spec, types) for name, spec in entry["fields"].items()}
    entries = entry.get("map")
    return RowSchema(
        name=entry["name"],
        keys=tuple((name, fields[name].judge) for name in entry.get("keys", ())),
        fields=fields,
        required=(*entry.get("required", ()), *(name for name, spec in fields.items() if spec.least)),
        choices=tuple(tuple(map(tuple, cases)) for cases in entry.get("choices", ())),
        entries=(compile_type(entries[0], types), compile_type(entries[1], types)) if entries else None,
        most_rows=entry.get("max"),
        unique=tuple(entry.get("unique", ())),
    )


def _field_schema(spec: Any, types: dict[str, Any]) -> FieldSchema:
    if isinstance(spec, dict) and "list" in spec:
        judge = compile_type(spec["list"], types)
        return FieldSchema(judge, True, spec.get("min", 0), spec.get("max"), spec.get("split", ""))
    return FieldSchema(compile_type(spec, types))
