"""Options that every verb takes, before or after it, and where their defaults come from.

The command line beats the environment (FABRICGEN_<OPTION>), which beats fabricgen.toml or [tool.fabricgen] in
pyproject.toml of the working directory. There, a key names an option for every verb that has it; a table names a verb.
What it says about findings, `severity` and `suppressions`, is read in policy.py.
The one option without a variable is the --output of judging verbs: FABRICGEN_OUTPUT is the bundle's folder.
"""

import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from fabricgen.cli.streams import is_terminal, tell
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location

TABLES_OF_FINDINGS = ("severity", "suppressions")


@dataclass(frozen=True)
class SettingsFile:
    """fabricgen.toml, or a part of pyproject.toml: its name, with the tables that lead to the part, and its content."""

    name: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Settings:
    """How to talk, and how hard to work."""

    verbose: int = 0
    quiet: bool = False
    color: str = "auto"
    jobs: int = 1
    debug: bool = False
    file: "SettingsFile" = field(default_factory=lambda: SettingsFile("", {}))

    def updated(self, given: Mapping[str, object]) -> "Settings":
        """With the options that were given."""
        names = {each.name for each in fields(self)}
        return replace(self, **{name: value for name, value in given.items() if name in names and value})  # type: ignore[arg-type]

    def start_logging(self) -> None:
        """Log to standard error, as much as was asked for."""
        import logging  # a quarter of the time that --help takes

        level = logging.ERROR if self.quiet else [logging.WARNING, logging.INFO][min(self.verbose, 1)]
        form = "%(levelname)s: %(message)s"
        logging.basicConfig(level=logging.DEBUG if self.debug else level, format=form, force=True)

    def paints(self, stream: Any) -> bool:
        """Whether text on a stream is coloured."""
        if self.color != "auto":
            return self.color == "always"
        return not os.environ.get("NO_COLOR") and is_terminal(stream)

    def say(self, text: str) -> None:
        """A line about the work, for people: on standard error, silent with -q."""
        if not self.quiet:
            tell(text, err=True, color=self.paints(sys.stderr))


def several(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Some click options as one decorator; help shows them in this order."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorated


common_options = several(
    click.option("-v", "--verbose", count=True, help="Say more."),
    click.option("-q", "--quiet", is_flag=True, help="Say nothing but findings and results."),
    click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), help="Colour of text output. [default: auto]"
    ),
    click.option("--jobs", type=click.IntRange(1), help="Processes to use. [default: 1]"),
    click.option("--debug", is_flag=True, help="Show tracebacks."),
)


def name_variables(command: click.Command) -> None:
    """Give every option of a command, and of its members, its environment variable."""
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        name_variables(each)
    for option in _options(command).values():
        if option.envvar is None and option.name != "output":
            option.envvar = f"FABRICGEN_{_long_name(option).replace('-', '_').upper()}"


def option_names(command: click.Command) -> set[str]:
    """The long names of the options of a command and of its members."""
    members = command.commands.values() if isinstance(command, click.Group) else ()
    return set(_options(command)).union(*map(option_names, members))


def _options(command: click.Command) -> dict[str, click.Option]:
    return {_long_name(option): option for option in command.params if isinstance(option, click.Option)}


def _long_name(option: click.Option) -> str:
    return max(option.opts, key=len).lstrip("-")


def verb(function: Callable[..., Any]) -> Callable[..., Any]:
    """A verb's function gets `settings` first; the common options that stand after the verb count, too."""

    @common_options
    @click.pass_context
    @wraps(function)
    def wrapped(ctx: click.Context, /, **given: Any) -> Any:
        common = {name: value for name, value in given.items() if not _beaten(ctx, name)}
        settings = (ctx.obj or Settings()).updated(common)
        settings.start_logging()
        own = {name: value for name, value in given.items() if name not in {each.name for each in fields(Settings)}}
        return function(settings, **own)

    return wrapped


def _beaten(ctx: click.Context, name: str) -> bool:
    """Whether an option stood before the verb, while the verb itself has it from the environment or a file."""
    given = ParameterSource.COMMANDLINE
    return ctx.find_root().get_parameter_source(name) is given is not ctx.get_parameter_source(name)


def read_settings() -> SettingsFile:
    """fabricgen.toml, else [tool.fabricgen]; empty where there is neither. Raises UnreadableInputError."""
    for name, keys in (("fabricgen.toml", ()), ("pyproject.toml", ("tool", "fabricgen"))):
        file = Path(name)
        if not file.is_file():
            continue
        import tomllib  # few working directories have such a file

        try:
            content: Any = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise UnreadableInputError(f"not TOML: {error}", Location(name)) from error
        for key in keys:
            content = content.get(key, {}) if isinstance(content, dict) else content
        if not isinstance(content, dict):
            raise UnreadableInputError(f"{'.'.join(keys)} is no table", Location(name))
        if content:
            return SettingsFile("#".join([name, *[".".join(keys)] * bool(keys)]), content)
    return SettingsFile("", {})


def file_defaults(
    command: click.Command, name: str, content: Mapping[str, Any], above: Mapping[str, Any]
) -> dict[str, Any]:
    """click's default map for a verb: what is set for all verbs (`above`), then what its own table says.

    Raises UsageError for a key of its own table that is none of its options.
    """
    own = content.get(name, {})
    if not isinstance(own, dict):
        raise UsageError(f"fabricgen's settings: {name!r} names a verb, so it must be a table")
    shared = {**above, **{key.replace("_", "-"): value for key, value in own.items() if not isinstance(value, dict)}}
    if isinstance(command, click.Group):
        return {each: file_defaults(member, each, own, shared) for each, member in command.commands.items()}
    options = _options(command)
    for key in own:
        if key.replace("_", "-") not in options:
            raise UsageError(f"fabricgen's settings: {name} has no option {key!r}; it has {', '.join(options)}")
    return {str(options[key].name): value for key, value in shared.items() if key in options}


def refuse_unknown_keys(file: SettingsFile, known: Callable[[], Collection[str]]) -> None:
    """Raises UsageError for a key at the top of the file that neither names an option nor a table; `known` are all."""
    strange = [key for key in file.content if key.replace("_", "-") not in TABLES_OF_FINDINGS]
    if not strange:
        return
    names = known()
    for key in strange:
        if key.replace("_", "-") not in names:
            from difflib import get_close_matches  # only those who err need it

            close = get_close_matches(key, [*names, *TABLES_OF_FINDINGS], n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise UsageError(f"{file.name}: {key!r} is neither an option nor a verb{hint}")


def interactive() -> bool:
    """Whether a person watches: progress bars are for them only."""
    return is_terminal(sys.stderr) and not os.environ.get("CI")
