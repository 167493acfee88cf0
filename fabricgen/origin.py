"""Values with their origin: a place in the inventory, a source of platform data, the steps of the computation."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a value.

    `inventory` is the file and dotted path of an inventory value, `platform` the source of a hardware fact, and `steps`
    the computation, one line each.
    """

    inventory: str = ""
    platform: str = ""
    steps: tuple[str, ...] = ()


class Value(str):
    """The text of a CONFIG_DB field, with its origin."""

    origin: Origin

    def __new__(cls, text: object, origin: Origin) -> "Value":
        value = super().__new__(cls, text)
        value.origin = origin
        return value


def value(text: object, *steps: str, inventory: str = "", platform: str = "") -> Value:
    """Short for `Value(text, Origin(…))`."""
    return Value(text, Origin(inventory, platform, steps))


def joined(values: Iterable[object], origin: Origin, separator: str = ",") -> Value:
    """Several values as one text, for example '3,4'."""
    return Value(separator.join(str(item) for item in values), origin)
