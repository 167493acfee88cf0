"""The tables of keys in the pages of `PAGES`. Each follows a comment `keys of CLASS`, and is made from its
declaration."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabricgen.inventory.model import Inventory
from fabricgen.inventory.part import Declared, Part, declared

PAGES = tuple(Path(__file__).with_name(name) for name in ("inventory.md", "access.md", "management.md"))
_TABLE = re.compile(r"(<!-- keys of (\w+) -->\n\n)(?:\|.*\n)*")
_WORDS = {"boolean": "true, false", "string": "text", "number": "number"}
_NAMES = {
    "lossless": "lossless settings", "external": "external router", "static": "static route",
    "switches": "list of switches", "per_nic": "text, or a list", "pair": "text, or a list", "texts": "text, or a list",
}  # fmt: skip
_SHOWN = ("ratio", "balance_mode", "ib_mtu", "routing_engine", "membership")  # definitions that a reader needs in full


def page(file: Path) -> str:
    """A page with fresh tables."""
    classes = {one.__name__: one for one in (Inventory, *_parts(Part))}
    text = file.read_text(encoding="utf-8")
    return _TABLE.sub(lambda found: found[1] + "".join(_table(classes[found[2]])), text)


def _parts(part: type[Part]) -> Iterator[type[Part]]:
    for one in part.__subclasses__():
        yield one
        yield from _parts(one)


def _table(part: type[Part]) -> Iterator[str]:
    yield "| key | type | default | meaning |\n|---|---|---|---|\n"
    for one in declared(part):
        schema = {**one.notation.schema, **one.key.limits}
        meaning = one.key.page or one.key.meaning or str(_resolved(schema, one).get("description", ""))
        yield f"| `{one.name}` | {_type(schema, one)} | {_default(one, schema)} | {_plain(meaning)} |\n"


def _plain(meaning: str) -> str:
    """A meaning as a cell: a single sentence begins with a small letter, unless with a name, and has no full stop."""
    if ". " in meaning:
        return meaning
    first = meaning.split(" ")[0]
    return (meaning if any(map(str.isupper, first[1:])) else meaning[:1].lower() + meaning[1:]).removesuffix(".")


def _default(one: Declared, schema: Mapping[str, Any]) -> str:
    """The default in words, or the one of the field."""
    if one.key.usual:
        return one.key.usual
    if one.key.required:
        return "required"
    usual = schema.get("default", getattr(one.default, "value", one.default) if one.has_default else None)
    if usual is None or usual in ("", ()):
        return "none"
    return f"`{usual if isinstance(usual, str) else json.dumps(usual)}`"


def _resolved(schema: Mapping[str, Any], one: Declared) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = one.notation.definitions[schema["$ref"].rpartition("/")[2]]
    return schema


def _type(schema: Mapping[str, Any], one: Declared) -> str:
    """The values that a key takes, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in _SHOWN:
            return _NAMES.get(name, name.replace("_", " "))
        schema = _resolved(schema, one)
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{word}`" for word in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return ", or ".join(dict.fromkeys(_type(form, one) for form in schema["anyOf"]))
    if "properties" in schema:
        return "{" + ", ".join(f"`{name}`" for name in schema["properties"]) + "}"
    kind = schema.get("type", "text")
    if kind == "array":
        return f"list of {_plural(_type(schema['items'], one))}"
    if kind == "object":
        return f"name: {_type(schema.get('additionalProperties', {}), one)}"
    if kind in ("integer", "number"):
        least, most = schema.get("minimum"), schema.get("maximum")
        return "number" if least is None or most is None else f"{least} to {most}"
    return _WORDS.get(kind, "text") if isinstance(kind, str) else "text or number"


def _plural(word: str) -> str:
    return f"{word}s" if re.fullmatch(r"[a-z ]+", word) else word


if __name__ == "__main__":
    for file in PAGES:
        file.write_text(page(file), encoding="utf-8")
