"""Two pages of the site: the commands with their options, and the keys of an inventory with their values."""

import json
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import Any

import click

from fabricgen.cli.main import main
from fabricgen.inventory.schema import inventory_schema

_NOTICE = "This page is generated from the program when the site is built."
_GLOBAL = {"verbose", "quiet", "color", "jobs", "debug"}
Schema = Mapping[str, Any]


def commands_page() -> str:
    """Each verb with its usage, its text and its options."""
    lines = ["# Commands", "", _NOTICE, "", *_options(main, common=True)]
    context = click.Context(main, info_name="fabricgen")
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command
        lines += _command(command, click.Context(command, parent=context, info_name=name), 2)
    return "\n".join(lines) + "\n"


def _command(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    yield from (f"{'#' * level} {context.command_path}", "")
    yield from ("```text", " ".join([context.command_path, *command.collect_usage_pieces(context)]), "```", "")
    yield from (_text(command.help or ""), "")
    yield from _options(command, common=False)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            assert member
            yield from _command(member, click.Context(member, parent=context, info_name=name), level + 1)


def _text(text: str) -> str:
    """The help of a command as Markdown: a block that click keeps as written is code."""
    blocks = cleandoc(text).split("\n\n")
    kept = [block.partition("\b\n") for block in blocks]
    return "\n\n".join(f"```text\n{behind}\n```" if mark else before for before, mark, behind in kept)


def _options(command: click.Command, *, common: bool) -> Iterator[str]:
    rows = [
        (", ".join(f"`{text}`" for text in (*one.opts, *one.secondary_opts)), _type(one), one.help or "")
        for one in command.params
        if isinstance(one, click.Option) and ((one.name in _GLOBAL) == common) and not one.hidden
    ]
    yield from _table(("option", "value", "meaning"), rows)


def _type(option: click.Option) -> str:
    if option.is_flag or option.count:
        return ""
    if isinstance(option.type, click.Choice):
        return ", ".join(f"`{choice}`" for choice in option.type.choices)
    return (option.metavar or option.type.name).lower()


def keys_page() -> str:
    """Each key of the schema with its values, default and meaning, in a table for each mapping."""
    schema = inventory_schema()
    lines = ["# Inventory keys", "", _NOTICE, "[Inventory](../inventory.md) explains them with examples.", ""]
    lines += ["## Top of the inventory", "", *_keys(schema)]
    for name, one in schema["$defs"].items():
        lines += [f"## Type {name}", "", *_definition(one)]
    return "\n".join(lines) + "\n"


def _definition(one: Schema) -> Iterator[str]:
    yield from (f"{_words(one)}.".replace("..", "."), "")
    if text := one.get("description"):
        yield from (text, "")
    for form in (one, *one.get("anyOf", ())):
        if form.get("properties"):
            yield from _keys(form)


def _keys(schema: Schema) -> Iterator[str]:
    yield from _table(("key", "value", "meaning"), list(_rows(schema, "")))


def _rows(schema: Schema, prefix: str) -> Iterator[tuple[str, ...]]:
    """A row for each key, followed by those of the mapping or of the list of mappings behind it."""
    required = schema.get("required", ())
    for key, one in schema["properties"].items():
        default = f" Default: `{json.dumps(one['default'])}`." if "default" in one else ""
        need = " Required." if key in required else ""
        yield f"`{prefix}{key}`", _words(one), f"{one.get('description', '')}{default}{need}".strip()
        for inner, step in ((one, ""), (one.get("items", {}), "[]"), (one.get("additionalProperties"), ".NAME")):
            if isinstance(inner, Mapping) and inner.get("properties"):
                yield from _rows(inner, f"{prefix}{key}{step}.")


def _words(one: Schema) -> str:
    """The allowed values in words."""
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return f"[{name}](#type-{name.lower()})"
    if "enum" in one:
        return ", ".join(f"`{word}`" for word in one["enum"])
    if "const" in one:
        return f"`{one['const']}`"
    if "anyOf" in one:
        return " or ".join(_words(form) for form in one["anyOf"])
    kind = one.get("type", "any")
    if kind == "array":
        return f"list of {_words(one.get('items', {}))}"
    if kind == "object":
        inner = one.get("additionalProperties")
        named = isinstance(inner, Mapping) and not inner.get("properties")
        return f"mapping of name to {_words(inner)}" if named and inner else "mapping"
    names = {"string": "text", "integer": "whole number", "boolean": "`true`, `false`"}
    low, high = one.get("minimum"), one.get("maximum")
    limits = f" {low} to {high}" if low is not None and high is not None else f" from {low}" if low is not None else ""
    return " or ".join(names.get(each, each) for each in ([kind] if isinstance(kind, str) else kind)) + limits


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"
    yield ""
