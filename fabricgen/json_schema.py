"""JSON Schema as its specification defines it: `$` in a pattern is the end of the text.

In Python's `re` it also matches before a final newline, so "leaf1\\n" would be a name.
"""

import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """ECMA 262 has no \\Z; its `$`, outside of a class and not escaped, means the same."""
    return re.compile(re.sub(r"(\\.|\[(?:\\.|[^\]\\])*\])|\$", lambda found: found[1] or r"\Z", pattern))


def _pattern(_validator: Any, pattern: str, instance: object, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


TYPE_WORDS = {
    "object": "a mapping", "array": "a list", "string": "text", "integer": "a whole number", "number": "a number",
    "boolean": "true or false", "null": "nothing",
}  # fmt: skip


def problem_in_words(error: ValidationError) -> str:
    """What is wrong with a value, with the word that was probably meant, else the words or types that it takes."""
    instance, limit = json.dumps(error.instance, default=str, ensure_ascii=False), error.validator_value
    if error.validator == "enum" and isinstance(limit, list):
        words = [str(word) for word in limit]
        close = get_close_matches(str(error.instance), words, 1)
        allowed = " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        return f"{instance} is not allowed: {f'did you mean {close[0]}?' if close else f'write {allowed}'}"
    if error.validator == "type":
        kinds = [limit] if isinstance(limit, str) else list(limit if isinstance(limit, list) else ())
        return f"{instance} is not {' or '.join(TYPE_WORDS[kind] for kind in kinds)}"
    return str(error.message).replace(" is a required property", " is missing")


SchemaValidator = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]
