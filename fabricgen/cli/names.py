"""Names that options accept and shells complete, read when they are needed: a verb starts without their registries."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
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


def releases() -> Iterable[str]:
    """The SONiC releases whose models are known."""
    from fabricgen.sonic.release_models import images, release_word

    return map(release_word, images())


def names_in(section: str, after: str = "") -> Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]:
    """Completion of the names in a section of fabric.json of the bundle on the command line: planes, devices, hosts.

    `after` follows each name.
    """

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        given = next((ctx.params[name] for name in ("bundle", "subject", "paths") if ctx.params.get(name)), ctx.args)
        folders = [given] if isinstance(given, (str, Path)) else given  # args: those before an option without its value
        names = {name: None for folder in folders for name in _names_in(Path(folder) / "fabric.json", section)}
        return items((f"{name}{after}" for name in names), incomplete)

    return complete


def _names_in(file: Path, section: str) -> Iterator[str]:
    """fabric.json has a line for each member of a section. Only the lines up to the end of the section are read."""
    try:
        with file.open("rb") as lines:
            for line in lines:
                if line.startswith(f'  "{section}": ['.encode()):
                    break
            for line in lines:
                if line.startswith(b"  ]"):
                    return
                yield json.loads(line.rstrip(b",\n"))["name"]
    except (OSError, ValueError, LookupError, TypeError):  # not a bundle: nothing to complete
        return


def items(names: Iterable[str], incomplete: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


def _names(kind: str) -> Iterable[str]:
    if kind == "codes":
        return _codes()
    if kind == "platforms":
        return _platforms()
    from fabricgen.api.names import KINDS

    return KINDS[kind]()


def _codes() -> list[str]:
    """The codes of the shipped pages: an import of all rules takes longer than a person waits for a completion."""
    from fabricgen.codes import code_names
    from fabricgen.resources import resource

    return sorted({*code_names(), *(file.stem for file in resource("docs", "rules").glob("FG*.md"))})


def _platforms() -> Iterable[str]:
    """The files of the catalog. Those of installed packages are known to the catalog only, which takes longer."""
    from fabricgen.extensions import PLATFORMS, installed_names
    from fabricgen.resources import package_files

    if installed_names(PLATFORMS):
        from fabricgen.platforms.catalog import switch_names

        return switch_names()
    return (Path(file).stem for file in package_files("platforms/catalog/switches", "yaml"))
