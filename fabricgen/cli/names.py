"""Names that options accept and shells complete, read when they are needed: a verb starts without their registries."""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # a class without parameters before click 8.2


class OneOf(_Choice):
    """A choice of the names that a function returns. A completion uses `quickly` instead, which may have more names."""

    def __init__(self, names: Callable[[], Iterable[str]], quickly: Callable[[], Iterable[str]] | None = None) -> None:
        super().__init__(())
        del self.choices  # of the class: the property below takes its place
        self._names, self._quickly = names, quickly or names

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]  # cached_property can be written
        """The names, in their order."""
        return tuple(self._names())

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The chosen name. A completion does not need it, and reads no registry for a default."""
        return value if ctx is not None and ctx.resilient_parsing else super().convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """The names that begin so."""
        return items(self._quickly(), incomplete)


def names_of(kind: str) -> Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]:
    """Completion of the names that `fabricgen list KIND` prints."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        return items(_names(kind), incomplete)

    return complete


def items(names: Iterable[str], incomplete: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


def _names(kind: str) -> Iterable[str]:
    if kind == "codes":
        return _codes()
    if kind == "platforms":
        from fabricgen.platforms.catalog import switch_names

        return switch_names()
    from fabricgen.api.names import KINDS

    return KINDS[kind]()


def _codes() -> list[str]:
    """The codes of the shipped pages: an import of all rules takes longer than a person waits for a completion."""
    from fabricgen.resources import package_text, resource

    others = re.findall(r"^(FG\d+):", package_text("codes.yaml"), re.MULTILINE)
    return sorted({*others, *(file.stem for file in resource("docs", "rules").glob("FG*.md"))})
