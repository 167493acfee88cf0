"""What the JSON Schema of an inventory says about a path: keys, allowed values, descriptions, defaults."""

from collections.abc import Iterator, Mapping
from typing import Any

from fabricgen.inventory.schema import inventory_schema
from fabricgen.lsp.cursor import Steps

Schema = Mapping[str, Any]


def schemas_at(path: Steps) -> list[Schema]:
    """The schemas of a value: several where the value may have several forms. Empty for an unknown key."""
    found = list(_forms(inventory_schema()))
    for step in path:
        found = [form for one in found for child in _child(one, step) for form in _forms(child)]
    return found


def keys_at(path: Steps) -> dict[str, Schema]:
    """The keys of the mapping at a path, each with the first of its schemas."""
    keys: dict[str, Schema] = {}
    for one in schemas_at(path):
        for key, child in one.get("properties", {}).items():
            keys.setdefault(key, child)
    return keys


def values_at(path: Steps) -> list[str]:
    """The words that the schema lists for a value, as YAML."""
    words: list[str] = []
    for one in schemas_at(path):
        listed = one.get("enum", [one["const"]] if "const" in one else [])
        words += ["true", "false"] if one.get("type") == "boolean" else map(str, listed)
    return list(dict.fromkeys(words))


def meaning_of(path: Steps) -> str:
    """The description of a value; "" if the schema has none."""
    return next((one["description"] for one in _declared(path) if "description" in one), "")


def default_of(path: Steps) -> Any:
    """The default of a value; None if the schema has none."""
    return next((one["default"] for one in _declared(path) if "default" in one), None)


def limits_of(path: Steps) -> str:
    """'1 to 64', 'at least 1', or ""."""
    for one in schemas_at(path):
        least, most = one.get("minimum"), one.get("maximum")
        if least is not None and most is not None:
            return f"{least} to {most}"
        if least is not None:
            return f"at least {least}"
    return ""


def _declared(path: Steps) -> Iterator[Schema]:
    """The schemas as their parents declare them, before the references in them, which may have other descriptions."""
    for parent in schemas_at(path[:-1]) if path else ():
        for child in _child(parent, path[-1]):
            yield child
            yield from _forms(child)


def _child(schema: Schema, step: str | int) -> Iterator[Schema]:
    if isinstance(step, int):
        child = schema.get("items")
    else:
        child = schema.get("properties", {}).get(step, schema.get("additionalProperties"))
    if isinstance(child, Mapping):
        yield child


def _forms(schema: Schema) -> Iterator[Schema]:
    """The schema itself, and those that it refers to or offers."""
    yield schema
    if "$ref" in schema:
        yield from _forms(inventory_schema()["$defs"][schema["$ref"].rpartition("/")[2]])
    for option in schema.get("anyOf", ()):
        yield from _forms(option)
