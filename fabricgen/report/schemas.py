"""The published JSON Schemas of results, each as one document that needs no other file."""

from collections.abc import Iterator
from typing import Any

import orjson

from fabricgen.resources import resource

_SUFFIX, _URN = ".schema.json", "urn:fabricgen:"


def schema_names() -> list[str]:
    """The names of all schemas, in order."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in resource("schemas").glob(f"*{_SUFFIX}"))


def schema_text(name: str) -> str:
    """The schema as indented JSON: as in its file if it refers to no other."""
    whole = schema_object(name)
    if any(_references(whole)):
        return orjson.dumps(whole, option=orjson.OPT_INDENT_2).decode()
    return resource("schemas", name + _SUFFIX).read_text(encoding="utf-8").rstrip("\n")


def schema_object(name: str) -> dict[str, Any]:
    """The schema of this name. Schemas that it refers to are embedded in its `$defs` under their `$id`.

    Source: JSON Schema 2020-12, section 9.3.1, compound documents.
    """
    whole = _read(name)
    embedded: dict[str, Any] = {}
    waiting = [whole]
    while waiting:
        for urn in _references(waiting.pop()):
            if urn not in embedded and urn != whole["$id"]:
                embedded[urn] = _read(urn.split(":")[2])
                waiting.append(embedded[urn])
    if embedded:
        whole["$defs"] = {**whole.get("$defs", {}), **dict(sorted(embedded.items()))}
    return whole


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(resource("schemas", name + _SUFFIX).read_bytes())
    return found


def _references(schema: object) -> Iterator[str]:
    """The `$id` of each other schema that a schema refers to."""
    if isinstance(schema, dict):
        if str(schema.get("$ref", "")).startswith(_URN):
            yield schema["$ref"].partition("#")[0]
        for item in schema.values():
            yield from _references(item)
    elif isinstance(schema, list):
        for item in schema:
            yield from _references(item)
