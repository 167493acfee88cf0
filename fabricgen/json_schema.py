"""JSON Schema as its specification defines it: `$` in a pattern is the end of the text.

In Python's `re` it also matches before a final newline, so "leaf1\\n" would be a name.
"""

import re
from collections.abc import Iterator
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


SchemaValidator = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]
