"""Findings at values of an inventory, with their location and dotted path."""

from difflib import get_close_matches

from fabricgen.findings import Finding, Related, Severity
from fabricgen.inventory.part import Part


def error(
    code: str, message: str, part: Part, *steps: str | int, hint: str = "", related: tuple[Related, ...] = ()
) -> Finding:
    """An error at a value of the inventory."""
    return Finding(
        code, Severity.ERROR, message, path=part.path_of(*steps), location=part.at(*steps), hint=hint, related=related
    )


def warning(code: str, message: str, part: Part, *steps: str | int, hint: str = "") -> Finding:
    """A warning at a value of the inventory."""
    return Finding(code, Severity.WARNING, message, path=part.path_of(*steps), location=part.at(*steps), hint=hint)


def note(code: str, message: str, part: Part, *steps: str | int, hint: str = "") -> Finding:
    """A note at a value of the inventory."""
    return Finding(code, Severity.NOTE, message, path=part.path_of(*steps), location=part.at(*steps), hint=hint)


def suggest(word: str, known: list[str]) -> str:
    """A hint: the nearest known word, or all known words."""
    close = get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known) or 'none'}"


def name_twice(name: str, second: Part, first: Part) -> Finding:
    """The finding about two items with one name."""
    return Finding(
        "FG102", Severity.ERROR, f"the name {name!r} is given twice", path=second.path, location=second.at("name"),
        related=(Related("the first one", first.at("name")),), hint="rename or remove one of the two",
    )  # fmt: skip
