"""The base of everything that templates see: values that are equal if and only if text and origin are."""

from collections.abc import Hashable, Mapping
from dataclasses import fields
from functools import cached_property

from fabricgen.origin import Value


class Context:
    """Base of the dataclasses that templates see. Two are equal if all their fields have the same text and origin.

    A context is the key of the form that it expands to, so two ports share a form exactly where no template can
    distinguish them. Subclasses are `dataclass(frozen=True, eq=False)`.
    """

    @cached_property
    def _fields(self) -> tuple[Hashable, ...]:
        return tuple(_comparable(getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]

    @cached_property
    def _hash(self) -> int:
        return hash((type(self), self._fields))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Context) and type(self) is type(other) and self._fields == other._fields

    def __hash__(self) -> int:
        return self._hash


def _comparable(content: object) -> Hashable:
    """The content of a field as a key: the text of a value alone would lose its origin, and slots refuse comparison."""
    if isinstance(content, Value):
        return str(content), content.origin
    if isinstance(content, tuple):
        return tuple(map(_comparable, content))
    if isinstance(content, Mapping):
        return tuple((_comparable(key), _comparable(inner)) for key, inner in content.items())
    assert isinstance(content, Hashable), f"{type(content).__name__} is not hashable"
    return content
