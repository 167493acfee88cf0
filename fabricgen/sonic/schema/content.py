"""The fields of one row: what is wrong with them, and what they refer to."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fabricgen.sonic.schema.tables import FieldSchema, Need, RowSchema
from fabricgen.sonic.schema.types import Judge, Misfit
from fabricgen.sonic.schema.violations import did_you_mean, shown

Problem = tuple[str, str, str, str]  # kind, field, message, hint
Ask = Callable[[Judge, str], Misfit | None]


def row_problems(schema: RowSchema, row: Mapping[str, Any], ask: Ask) -> Iterator[Problem]:
    """What is wrong with the fields of one row, in their order."""
    for name, value in row.items():
        if schema.entries:
            yield from _text(schema.entries[0], name, name, ask)
            yield from _text(schema.entries[1], name, value, ask)
        elif (spec := schema.fields.get(name)) is None:
            yield "unknown-field", name, "SONiC's YANG has no such field here", did_you_mean(name, schema.fields)
        elif type(value) is not str or spec.is_list or (value not in spec.judge.fitting and ask(spec.judge, value)):
            yield from _field(spec, name, value, ask)
    for name in schema.required:
        if name not in row:
            yield "missing-field", name, f"{name} must be given", ""
    for cases in schema.choices:
        given = [names for names in (sorted(set(case) & set(row)) for case in cases) if names]
        if len(given) > 1:
            yield "must", given[1][0], f"{given[0][0]} and {given[1][0]} exclude each other", ""
    for name, (other, values) in schema.when.items():
        if name in row and "|" not in other and row.get(other) not in values:
            yield "must", name, f"{name} is for {other} {' or '.join(value or 'none' for value in values)}", ""


def _field(spec: FieldSchema, name: str, value: object, ask: Ask) -> Iterator[Problem]:
    if not spec.is_list:
        yield from _text(spec.judge, name, value, ask)
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
        yield from _text(spec.judge, name, item, ask)
    if len(items) < spec.least:
        yield "must", name, f"needs at least {spec.least}, has {len(items)}", ""
    if spec.most is not None and len(items) > spec.most:
        yield "must", name, f"takes at most {spec.most}, has {len(items)}", ""


def _text(judge: Judge, name: str, value: object, ask: Ask) -> Iterator[Problem]:
    if isinstance(value, list | dict):
        yield "wrong-type", name, f"must be one text, not {shown(value)}", ""
    elif not isinstance(value, str):
        # SONiC writes a JSON number as its digits and true as "True", which is no boolean.
        misfit = None if isinstance(value, bool) or value is None else ask(judge, str(value))
        legible = misfit is None and not isinstance(value, bool) and value is not None
        hint = f'write "{str(value).lower() if isinstance(value, bool) else value}"' if value is not None else ""
        message = f"{json.dumps(value)} is not text: CONFIG_DB holds texts only"
        yield "not-text" if legible else "wrong-type", name, message, hint
    elif misfit := ask(judge, value):
        yield misfit.kind, name, misfit.message, did_you_mean(value, misfit.known)


def needs(schema: RowSchema, row: Mapping[str, str]) -> Iterator[Need]:
    """What a clean row of texts refers to. A list that is written as one text may refer in each of its items."""
    for name, value in row.items() if schema.refers else ():
        if schema.entries:
            yield from (
                (judge, text) for judge, text in zip(schema.entries, (name, value), strict=True) if judge.refers
            )
        elif (spec := schema.fields[name]).judge.refers:
            items = [item.strip() for item in value.split(spec.separator)] if spec.is_list else [value]
            yield from ((spec.judge, item) for item in items if item)
