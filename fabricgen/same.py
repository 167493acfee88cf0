"""A key for one object, for what many share as one object. Equal objects have different keys."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Same(Generic[T]):
    """Equal only for the same object. It refers to the object, which lives as long as the key does: its address, which
    `id` returns, is that of another object later."""

    of: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.of is other.of

    def __hash__(self) -> int:
        return object.__hash__(self.of)
