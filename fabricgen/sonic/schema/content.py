"""The fields of one row: their problems, and their references."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fabricgen.sonic.schema.tables import FieldSchema, Need, RowSchema
from fabricgen.sonic.schema.types import Judge, Misfit
from fabricgen.sonic.schema.violations import ViolationKind, did_you_mean, shown

Problem = tuple[ViolationKind, str, str, str]  # kind, field, message, hint
Check = Callable[[Judge, str], Misfit | None]


def row_problems(schema: RowSchema, row: Mapping[str, Any], check: Check) -> Iterator[Problem]:
    """The problems of one row's fields, in the order of the fields."""
    for name, value in row.items():
        if schema.entries:
            yield from _text(schema.entries[0], name, name, check)
            yield from _text(schema.entries[1], name, value, check)
        elif (spec := schema.fields.get(name)) is None:
            yield (
                ViolationKind.UNKNOWN_FIELD,
                name,
                "SONiC's YANG models do not have this field here",
                did_you_mean(name, schema.fields.keys() - row.keys()),
            )
        elif type(value) is not str or spec.is_list or (value not in spec.judge.fitting and check(spec.judge, value)):
            yield from _field(spec, name, value, check)
    for name in schema.required:
        if name not in row:
            yield ViolationKind.MISSING_FIELD, name, f"{name} is missing", ""
    for cases in schema.choices:
        given = [names for names in (sorted(set(case) & set(row)) for case in cases) if names]
        if len(given) > 1:
            yield ViolationKind.MUST, given[1][0], f"{given[0][0]} and {given[1][0]} exclude each other", ""
    for name, (other, values) in schema.when.items():
        if name in row and "|" not in other and row.get(other) not in values:
            yield (
                ViolationKind.MUST,
                name,
                f"{name} is only allowed where {other} is {' or '.join(value or 'missing' for value in values)}",
                "",
            )


def _field(spec: FieldSchema, name: str, value: object, check: Check) -> Iterator[Problem]:
    if not spec.is_list:
        yield from _text(spec.judge, name, value, check)
        return
    if isinstance(value, str) and spec.separator:
        items: list[Any] = [item.strip() for item in value.split(spec.separator)]
    elif isinstance(value, list) or value == "":
        items = list(value)
    else:
        yield ViolationKind.WRONG_TYPE, name, f"{shown(value)} is not a list of texts", ""
        return
    items = [item for item in items if item != ""]  # Redis stores an empty list as one empty text
    for item in items:
        yield from _text(spec.judge, name, item, check)
    twice = next((item for at, item in enumerate(items) if item in items[:at]), None)
    if twice is not None:
        yield ViolationKind.MUST, name, f"{shown(twice)} occurs twice", "remove one"
    if len(items) < spec.least:
        yield ViolationKind.MUST, name, f"has {len(items)} items, expected at least {spec.least}", ""
    if spec.most is not None and len(items) > spec.most:
        yield ViolationKind.MUST, name, f"has {len(items)} items, expected at most {spec.most}", ""


def _text(judge: Judge, name: str, value: object, check: Check) -> Iterator[Problem]:
    if isinstance(value, list | dict):
        yield ViolationKind.WRONG_TYPE, name, f"{shown(value)} is not a text", ""
    elif not isinstance(value, str):
        # SONiC writes a JSON number as its digits and true as "True", which is not a boolean.
        misfit = None if isinstance(value, bool) or value is None else check(judge, str(value))
        legible = misfit is None and not isinstance(value, bool) and value is not None
        hint = f'write "{str(value).lower() if isinstance(value, bool) else value}"' if value is not None else ""
        message = f"{json.dumps(value)} is not text; CONFIG_DB contains only text"
        yield ViolationKind.NOT_TEXT if legible else ViolationKind.WRONG_TYPE, name, message, hint
    elif misfit := check(judge, value):
        yield misfit.kind, name, misfit.message, did_you_mean(value, misfit.known)


def needs(schema: RowSchema, row: Mapping[str, str]) -> Iterator[Need]:
    """The references of a valid row of texts. A list that is written as one text can have one in each item."""
    for name, value in row.items() if schema.refers else ():
        if schema.entries:
            yield from (
                (judge, text) for judge, text in zip(schema.entries, (name, value), strict=True) if judge.refers
            )
        elif (spec := schema.fields[name]).judge.refers:
            items = [item.strip() for item in value.split(spec.separator)] if spec.is_list else [value]
            yield from ((spec.judge, item) for item in items if item)
