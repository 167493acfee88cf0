"""Values that know where they came from: an inventory place, a platform source, the steps of the computation."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """inventory: file and dotted path of the value that caused it. platform: the source of a hardware fact. steps: how
    the number was worked out, one line each."""

    inventory: str = ""
    platform: str = ""
    steps: tuple[str, ...] = ()


class Value(str):
    """Text for a CONFIG_DB field, with its origin."""

    origin: Origin

    def __new__(cls, text: object, origin: Origin) -> "Value":
        value = super().__new__(cls, text)
        value.origin = origin
        return value


def value(text: object, *steps: str, inventory: str = "", platform: str = "") -> Value:
    """Short for Value(text, Origin(…))."""
    return Value(text, Origin(inventory, platform, steps))


def joined(values: Iterable[object], origin: Origin, separator: str = ",") -> Value:
    """Several values as one list text, such as '3,4'."""
    return Value(separator.join(str(item) for item in values), origin)
