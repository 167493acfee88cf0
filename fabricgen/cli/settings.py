"""Options that every verb takes, before or after it, and where their defaults come from.

The command line beats the environment (FABRICGEN_<OPTION>), which beats fabricgen.toml or [tool.fabricgen] in
pyproject.toml of the working directory. There, a key names an option for every verb that has it; a table names a verb.
"""

import logging
import os
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location


@dataclass(frozen=True)
class Settings:
    """How to talk, and how hard to work."""

    verbose: int = 0
    quiet: bool = False
    color: str = "auto"
    jobs: int = 1
    debug: bool = False

    def updated(self, given: Mapping[str, object]) -> "Settings":
        """With the options that were given; logging follows at once."""
        names = {field.name for field in fields(self)}
        settings = replace(self, **{name: value for name, value in given.items() if name in names and value})  # type: ignore[arg-type]
        level = logging.ERROR if settings.quiet else [logging.WARNING, logging.INFO][min(settings.verbose, 1)]
        logging.basicConfig(
            level=logging.DEBUG if settings.debug else level, format="%(levelname)s: %(message)s", force=True
        )
        return settings

    def paints(self, stream: Any) -> bool:
        """Whether text on a stream is coloured."""
        if self.color != "auto":
            return self.color == "always"
        return "NO_COLOR" not in os.environ and stream.isatty()

    def say(self, text: str) -> None:
        """A line about the work, for people: on standard error, silent with -q."""
        if not self.quiet:
            click.echo(text, err=True)


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """-v, -q, --color, --jobs, --debug."""
    options = [
        click.option("-v", "--verbose", count=True, help="Say more."),
        click.option("-q", "--quiet", is_flag=True, help="Say nothing but findings and results."),
        click.option(
            "--color", type=click.Choice(["auto", "always", "never"]), help="Colour of text output. [default: auto]"
        ),
        click.option("--jobs", type=click.IntRange(1), envvar="FABRICGEN_JOBS", help="Processes to use. [default: 1]"),
        click.option("--debug", is_flag=True, envvar="FABRICGEN_DEBUG", help="Show tracebacks."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def verb(function: Callable[..., Any]) -> Callable[..., Any]:
    """A verb's function gets `settings` first; the common options that stand after the verb count, too."""

    @common_options
    @click.pass_context
    @wraps(function)
    def wrapped(ctx: click.Context, /, **given: Any) -> Any:
        settings = (ctx.obj or Settings()).updated(given)
        own = {name: value for name, value in given.items() if name not in {field.name for field in fields(Settings)}}
        return function(settings, **own)

    return wrapped


def file_defaults(verbs: Sequence[str]) -> dict[str, Any]:
    """click's default map from fabricgen.toml or pyproject.toml."""
    for name, keys in (("fabricgen.toml", ()), ("pyproject.toml", ("tool", "fabricgen"))):
        file = Path(name)
        if not file.is_file():
            continue
        try:
            content: Any = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise UnreadableInputError(f"not TOML: {error}", Location(name)) from error
        for key in keys:
            content = content.get(key, {})
        if content:
            shared = {key.replace("-", "_"): value for key, value in content.items() if not isinstance(value, dict)}
            own = {key: value for key, value in content.items() if isinstance(value, dict)}
            return {each: {**shared, **own.get(each, {}), **own.get(each, {})} for each in verbs}
    return {}


def interactive() -> bool:
    """Whether a person watches: progress bars are for them only."""
    return sys.stderr.isatty() and not os.environ.get("CI")
