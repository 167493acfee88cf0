"""Validation with the JSON Schema: each mistake becomes a finding, and the wrong part is removed."""

import json
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from math import isfinite
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from fabricgen.findings import Finding, Severity
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import part_notation
from fabricgen.json_schema import TYPE_WORDS, SchemaValidator
from fabricgen.sonic.secrets import SECRET_TABLES, is_secret

Path = tuple[str | int, ...]


def _is_number(_: object, value: object) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


# A number such as 2.0 is not an integer, and NaN is not a number: the code that follows expects int and finite numbers.
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
_VALIDATOR: Any = validators.extend(  # type: ignore[no-untyped-call]
    SchemaValidator, type_checker=_TYPES.redefine("number", _is_number)
)


@cache
def inventory_schema() -> dict[str, Any]:
    """The JSON Schema of an inventory, as its parts declare it. schemas/inventory.schema.json is its published copy."""
    whole = part_notation(Inventory)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:fabricgen:schema:inventory:1",
        "title": "fabricgen inventory",
        **whole.schema,
        "$defs": dict(whole.definitions),
    }


def prune_invalid(root: Node) -> list[Finding]:
    """Report violations of the schema and remove the wrong parts from `root`, so that the rest conforms.

    A misspelt key or word is reported, and read as the one that it resembles: what depends on it is checked, too.
    Only first causes are reported: a key that is missing because it was removed is not another finding. Keys that are
    missing at the top stay missing, and the typed model has an empty value for them.
    """
    validator = _VALIDATOR(inventory_schema())
    findings = _repair(root, validator)
    errors = list(validator.iter_errors(root.plain()))
    findings += [finding for error in errors for finding in _findings(root, error)]
    while errors:
        targets = {path for error in errors for path in _broken_parts(error)}
        if not targets:
            break
        _cut(root, targets)
        errors = list(validator.iter_errors(root.plain()))
    return findings


def _repair(root: Node, validator: Any) -> list[Finding]:
    """Replace misspelt keys and words by those that they resemble; a finding for each."""
    findings: list[Finding] = []
    while True:
        repaired = False
        for error in validator.iter_errors(root.plain()):
            node, found = root.find(tuple(error.absolute_path)), list(_findings(root, error))
            if error.validator == "additionalProperties":
                renamed = _rename_keys(node, _extra_keys(error), list(_schema(error).get("properties", {})))
                findings += [finding for finding in found if finding.path.rpartition(".")[2] in renamed]
                repaired |= bool(renamed)
            elif error.validator == "enum" and (close := _close(str(error.instance), _texts(_limit(error)))):
                node.value = next(option for option in _limit(error) if str(option) == close)
                findings += found
                repaired = True
        if not repaired:
            return findings


def _rename_keys(node: Node, keys: list[str], known: list[str]) -> set[str]:
    """The keys that were renamed: those that resemble a key that the mapping does not have yet."""
    renamed = set()
    for key in keys:
        close = _close(key, known)
        if close and close not in node.mapping:
            node.mapping[close] = node.mapping.pop(key)
            node.keys[close] = node.keys.pop(key, node.mapping[close].location)
            renamed.add(key)
    return renamed


def _broken_parts(error: ValidationError) -> list[Path]:
    """The smallest parts whose removal also removes the error."""
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        return [(*path, key) for key in _extra_keys(error)]
    if _is_about_a_key(error):
        return [(*path, str(error.instance))]
    if nearest := _nearest_alternative(error):
        return [part for each in nearest for part in _broken_parts(each)]
    return [path] if path else []


def _is_about_a_key(error: ValidationError) -> bool:
    return "propertyNames" in error.relative_schema_path


def _cut(root: Node, targets: set[Path]) -> None:
    """Remove the nodes at `targets`, the last items of lists first, so that indices stay valid."""
    for path in sorted(targets, key=lambda path: [(isinstance(step, int), step) for step in path], reverse=True):
        if any(path[:length] in targets for length in range(1, len(path))):
            continue  # removed with its parent
        parent = root.find(path[:-1])
        if isinstance(parent.value, list):
            del parent.value[int(path[-1])]
        else:
            parent.mapping.pop(str(path[-1]), None)
            parent.cut.add(str(path[-1]))


def _findings(root: Node, error: ValidationError) -> Iterator[Finding]:
    path = tuple(error.absolute_path)
    node = root.find(path)
    if _is_about_a_key(error):
        key = str(error.instance)
        yield _finding("FG105", path, key, node, f"{key!r} is not allowed{_in(path) or ' here'}", _allowed(error))
    elif error.validator == "additionalProperties":
        for key in _extra_keys(error):
            known = list(_schema(error).get("properties", {}))
            yield _finding("FG101", path, key, node, f"unknown key {key!r}{_in(path)}", _did_you_mean(key, known))
    elif error.validator == "required":
        known = _schema(error).get("properties", {})
        unknown = [key for key in node.mapping if key not in known]
        for key in _limit(error):
            if f"{key!r} is a required" in error.message and not get_close_matches(key, unknown, n=1, cutoff=0.6):
                yield _finding("FG106", path, "", node, f"{key!r} is missing{_in(path)}", f"add `{key}:`")
    elif error.validator == "type":
        yield _finding(
            "FG104",
            path,
            "",
            node,
            f"{_dotted(path)} must be {_types(error)}, not {_shown(path, error)}",
            _advice(path, error),
        )
    elif error.validator == "anyOf":
        yield from _any_of(root, error)
    else:
        yield _finding("FG105", path, "", node, f"{_dotted(path)}: {_constraint(path, error)}", _advice(path, error))


def _nearest_alternative(error: ValidationError) -> list[ValidationError]:
    """The mistakes in the nearest alternative of an anyOf, with the type of the value: mapping or list."""
    if error.validator != "anyOf" or not isinstance(error.instance, dict | list):
        return []
    alternatives: dict[object, list[ValidationError]] = {}
    for each in error.context or ():
        alternatives.setdefault(each.relative_schema_path[0], []).append(each)
    candidates = [found for found in alternatives.values() if not any(_is_of_another_type(each) for each in found)]
    return min(candidates, key=len, default=[])


def _is_of_another_type(error: ValidationError) -> bool:
    return not error.relative_path and error.validator in ("type", "const", "pattern", "enum")


def _any_of(root: Node, error: ValidationError) -> Iterator[Finding]:
    """The mistakes in the nearest alternative; without one, the description of the allowed values."""
    if nearest := _nearest_alternative(error):
        for each in nearest:
            yield from _findings(root, each)
        return
    path = tuple(error.absolute_path)
    kinds = {name for option in _limit(error) for name in _option_types(option)}
    code = "FG105" if _json_type(error.instance) in kinds else "FG104"
    message = f"{_dotted(path)} cannot be {_shown(path, error)}"
    yield _finding(code, path, "", root.find(path), message, _advice_of_any(path, error))


def _advice_of_any(path: Path, error: ValidationError) -> str:
    """A hint with the words that the alternatives list, the other types that they take, and the meaning of the key."""
    options = [_referred(option) for option in _limit(error)]
    words = [word for option in options for word in _words_of(option)]
    if not words:
        return _advice(path, error)
    close = _close(error.instance, words) if isinstance(error.instance, str) else None
    if close and len(words) == 1:
        return f"did you mean {close!r}?"
    types = [TYPE_WORDS[kind] for option in options if not [*_words_of(option)] for kind in _option_types(option)]
    hint = f"write {_either([*words, *types])}{_meaning(error)}"
    return f"did you mean {close!r}? Or {hint}" if close else hint


def _schema(error: ValidationError) -> dict[str, Any]:
    return error.schema if isinstance(error.schema, dict) else {}


def _limit(error: ValidationError) -> Any:
    return error.validator_value


def _referred(option: dict[str, Any]) -> dict[str, Any]:
    """An alternative, or the definition that it refers to."""
    found: dict[str, Any] = (
        inventory_schema()["$defs"][option["$ref"].rsplit("/", 1)[1]] if "$ref" in option else option
    )
    return found


def _option_types(option: dict[str, Any]) -> Iterator[str]:
    option = _referred(option)
    kind = option.get("type", "string" if {"const", "enum", "pattern"} & option.keys() else None)
    yield from [kind] if isinstance(kind, str) else kind or ()


def _words_of(option: dict[str, Any]) -> Iterator[str]:
    """The words that an alternative of an anyOf lists."""
    listed = option.get("enum", [option["const"]] if "const" in option else [])
    yield from (word for word in listed if isinstance(word, str))


def _either(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _finding(code: str, path: Path, key: str, node: Node, message: str, hint: str) -> Finding:
    place = node.keys.get(key, node.location) if key else node.location
    return Finding(
        code, Severity.ERROR, message, path=_dotted((*path, key) if key else path), location=place, hint=hint
    )


def _extra_keys(error: ValidationError) -> list[str]:
    known = _schema(error).get("properties", {})
    instance: Any = error.instance
    return [key for key in instance if key not in known]


def _dotted(path: Iterable[str | int]) -> str:
    """The path as text, with asterisks for keys that are secrets."""
    text, before = "", ""
    for given in path:
        step = "***" if before in SECRET_TABLES else given
        before = str(given)
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "the inventory"


def _in(path: Path) -> str:
    return f" in {_dotted(path)}" if path else ""


def _shown(path: Path, error: ValidationError) -> str:
    """The wrong value as text. A value that may be a secret is not shown."""
    if any(is_secret(str(step), str(step)) for step in path):
        return "this value"
    if isinstance(error.instance, dict | list):
        return TYPE_WORDS[_json_type(error.instance)]
    return json.dumps(error.instance, default=str)


def _json_type(value: object) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "null")


def _types(error: ValidationError) -> str:
    kinds = _limit(error)
    return " or ".join(TYPE_WORDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _constraint(path: Path, error: ValidationError) -> str:
    limit = _limit(error)
    shown = _shown(path, error)
    words = {
        "minimum": f"{shown} is less than {limit}", "maximum": f"{shown} is more than {limit}",
        "minItems": f"needs at least {limit} items", "maxItems": f"takes at most {limit} items",
        "minProperties": f"needs at least {limit} entries", "maxProperties": f"takes at most {limit} entries",
        "const": f"{shown} is not {json.dumps(limit)}",
    }  # fmt: skip
    return words.get(str(error.validator), f"{shown} is not allowed")


def _advice(path: Path, error: ValidationError) -> str:
    """A hint that names the key to change, what it takes, and what it means."""
    if error.validator == "enum" or not path:
        return _allowed(error)
    key, bounds = _dotted(path).rpartition(".")[2], {"minimum": "at least", "maximum": "at most"}
    verb = f"correct `{key}`"
    if error.validator in bounds:
        verb = f"set `{key}` to {bounds[str(error.validator)]} {_limit(error)}"
    elif error.validator == "type":
        verb = f"set `{key}` to {_types(error)}"
    return f"{verb}{_meaning(error)}"


def _meaning(error: ValidationError) -> str:
    """What the key means, behind a colon; "" where the schema does not say."""
    meaning = _allowed(error).rstrip(".")
    if meaning[1:2].islower():
        meaning = meaning[0].lower() + meaning[1:]
    return f": {meaning}" if meaning else ""


def _allowed(error: ValidationError) -> str:
    if error.validator == "enum":
        return _did_you_mean(str(error.instance), _texts(_limit(error)))
    description: str = _schema(error).get("description", "")
    return description or (f"pattern {_limit(error)}" if error.validator == "pattern" else "")


def _did_you_mean(word: str, known: list[str]) -> str:
    """A hint: the nearest known word, or all of them in the order of the schema."""
    close = _close(word, known)
    return f"did you mean {close!r}?" if close else f"known: {', '.join(known)}" if known else ""


def _close(word: str, known: list[str]) -> str | None:
    """The known word that a word resembles. A number resembles no other."""
    close = get_close_matches(word, known, n=1, cutoff=0.6) if not word.isdecimal() else []
    return close[0] if close else None


def _texts(options: Iterable[object]) -> list[str]:
    return [str(option) for option in options]
