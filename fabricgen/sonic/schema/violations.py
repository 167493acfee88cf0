"""The findings of the schema check: one `Violation` per place in a config_db.json."""

import enum
import functools
from collections.abc import Iterable
from dataclasses import dataclass


class ViolationKind(enum.StrEnum):
    """How a place breaks the schema. SONiC's validation accepts UNKNOWN_TABLE and NOT_TEXT and refuses all others."""

    UNKNOWN_TABLE = "unknown-table"
    UNKNOWN_FIELD = "unknown-field"
    MISSING_FIELD = "missing-field"
    WRONG_KEY = "wrong-key"
    NOT_TEXT = "not-text"  # a JSON number that is valid as text
    WRONG_TYPE = "wrong-type"
    OUT_OF_RANGE = "out-of-range"
    BAD_PATTERN = "bad-pattern"
    BAD_ENUM = "bad-enum"
    DANGLING_REFERENCE = "dangling-reference"
    MUST = "must"
    YANG = "yang"  # a message of libyang


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a config_db.json breaks the schema.

    `key` and `field` are empty for a whole table or row. `field` is also empty for a place inside the key.
    """

    kind: ViolationKind
    table: str
    key: str
    field: str
    message: str
    hint: str = ""


def shown(value: object) -> str:
    """A value as messages quote it, at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint with the nearest of the known words; "" when none is near."""
    return _nearest(word, frozenset(known))


@functools.lru_cache(maxsize=4096)  # the same mistake is often in the row of each port
def _nearest(word: str, known: frozenset[str]) -> str:
    import difflib  # only needed for mistakes

    near = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""
