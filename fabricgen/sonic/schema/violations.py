"""What the schema check finds: one `Violation` per place in a config_db.json."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a config_db.json breaks the schema.

    `kind` is one of unknown-table, unknown-field, missing-field, wrong-key, not-text, wrong-type, out-of-range,
    bad-pattern, bad-enum, dangling-reference, must; or yang, for libyang's own words. SONiC's validation takes
    unknown-table, and not-text, a number that would be right as text; it refuses all others. `key` and `field` are
    empty where the table or the row as a whole is meant; a place inside the key leaves `field` empty.
    """

    kind: str
    table: str
    key: str
    field: str
    message: str
    hint: str = ""


def shown(value: object) -> str:
    """A value as messages quote it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """'did you mean X?' for the nearest of the known words, or nothing."""
    return _nearest(word, frozenset(known))


@functools.lru_cache(maxsize=4096)  # one mistake often repeats in every port's row
def _nearest(word: str, known: frozenset[str]) -> str:
    import difflib  # only mistakes need it

    near = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""
