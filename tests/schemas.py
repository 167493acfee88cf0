"""The published JSON Schemas, and the JSON of every command that a test runs, checked with them."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from fabricgen.report.schemas import schema_object

_NAMES = {"validate": "findings", "jsonpatch": "patches", "plan": "plan"}
_VERBS = ("validate", "check", "accept", "capacity", "compare", "diff", "rehearse", "report", "tune")
_SIMULATED = ("deadlock", "congestion", "packets")
_KEPT = 8  # items of a list: the others have the same form


def check_json(arguments: Sequence[str], printed: str) -> None:
    """Judge the JSON that a command prints or writes, if it does, by the schema of its verb.

    The schema allows further keys, for later versions. Here it does not, so that it describes every key.
    """
    chosen = [name for at, name in enumerate(arguments) if at and arguments[at - 1] == "--format"]
    words = _SIMULATED if "simulate" in arguments else _VERBS
    verb = next((word for word in arguments if word in words), None)
    if verb is None or not chosen or chosen[-1] not in ("json", "jsonpatch", "plan"):
        return
    files = [arguments[at + 1] for at, word in enumerate(arguments) if word in ("--output", "-o")]
    if files:
        file = Path(files[-1])
        printed = file.read_text() if file.is_file() else ""
    if printed.startswith("{"):
        name = _NAMES.get(chosen[-1]) or _NAMES.get(verb, verb)
        require_schema(name, json.loads(printed))


def require_schema(name: str, found: object) -> None:
    """AssertionError with the first fault if a value has another form than the schema says."""
    validator, thinned = _validator(name), _thinned(found)
    if validator.is_valid(thinned):  # a search for the best of all faults takes as long again
        return
    fault = best_match(validator.iter_errors(thinned))
    assert fault is None, f"schema {name}, {list(fault.absolute_path)}: {fault.message[:400]}"


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    """Embedded schemas are found once: else each reference to one searches the whole schema."""
    schema = _closed(schema_object(name))
    embedded: Any = Registry().with_resource(schema["$id"], DRAFT202012.create_resource(schema)).crawl()
    return Draft202012Validator(schema, registry=embedded)


def _closed(schema: Any) -> Any:
    """The schema without further keys."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _closed(item) for key, item in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        found.setdefault("additionalProperties", False)
    return found


def _thinned(value: Any) -> Any:
    if isinstance(value, list):
        kept = value if len(value) <= _KEPT else [*value[: _KEPT // 2], *value[-(_KEPT // 2) :]]
        return [_thinned(item) for item in kept]
    return {key: _thinned(item) for key, item in value.items()} if isinstance(value, dict) else value
