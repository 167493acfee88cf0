"""Options that every verb has, before or after its name, and the defaults of all options.

The command line overrides the environment (FABRICGEN_<OPTION>), which overrides fabricgen.toml or [tool.fabricgen] in
pyproject.toml of the working directory. There, a key is an option of every verb that has it, and a table is a verb. The
tables about findings, `severity` and `suppressions`, are read in policy.py. Only the --output of a report has no
variable: FABRICGEN_OUTPUT is the folder of the bundle.
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

from fabricgen.cli.streams import is_terminal, write
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.inputs import SETTINGS_BYTES, read_text

TABLES_OF_FINDINGS = ("severity", "suppressions")


@dataclass(frozen=True)
class SettingsFile:
    """fabricgen.toml, or a table of pyproject.toml: its name, with the path of the table, and its content."""

    name: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Settings:
    """The options that every verb has, and the settings file."""

    verbose: int = 0
    quiet: bool = False
    color: str = "auto"
    jobs: int = 1
    debug: bool = False
    file: "SettingsFile" = field(default_factory=lambda: SettingsFile("", {}))

    def updated(self, given: Mapping[str, object]) -> "Settings":
        """The settings with the given options."""
        names = {each.name for each in fields(self)}
        return replace(self, **{name: value for name, value in given.items() if name in names and value})  # type: ignore[arg-type]

    def start_logging(self) -> None:
        """Log to standard error, at the level of the options."""
        import logging  # takes a quarter of the time of --help

        level = logging.ERROR if self.quiet else [logging.WARNING, logging.INFO][min(self.verbose, 1)]
        form = "%(levelname)s: %(message)s"
        logging.basicConfig(level=logging.DEBUG if self.debug else level, format=form, force=True)

    def paints(self, stream: Any) -> bool:
        """Whether text on a stream is colored."""
        if self.color != "auto":
            return self.color == "always"
        return not os.environ.get("NO_COLOR") and is_terminal(stream)

    def say(self, text: str) -> None:
        """Print a line about the progress to standard error; nothing with -q."""
        if not self.quiet:
            write(text, err=True, color=self.paints(sys.stderr))


def several(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Click options as one decorator; --help shows them in this order."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorated


common_options = several(
    click.option("-v", "--verbose", count=True, help="Show more log messages."),
    click.option("-q", "--quiet", is_flag=True, help="Show only findings and results."),
    click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), help="Color the text output. [default: auto]"
    ),
    click.option("--jobs", type=click.IntRange(1), help="Number of processes. [default: 1]"),
    click.option("--debug", is_flag=True, help="Show the traceback of an internal error."),
)


def name_variables(command: click.Command) -> None:
    """Give every option of a command and of its subcommands an environment variable."""
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        name_variables(each)
    for option in _options(command).values():
        if option.envvar is None and option.name != "output":
            option.envvar = f"FABRICGEN_{_long_name(option).replace('-', '_').upper()}"


def option_names(command: click.Command) -> set[str]:
    """The long names of the options of a command and of its subcommands."""
    members = command.commands.values() if isinstance(command, click.Group) else ()
    return set(_options(command)).union(*map(option_names, members))


def _options(command: click.Command) -> dict[str, click.Option]:
    return {_long_name(option): option for option in command.params if isinstance(option, click.Option)}


def _long_name(option: click.Option) -> str:
    return max(option.opts, key=len).lstrip("-")


def verb(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate the function of a verb: it gets the settings first, with the common options after the verb."""

    @common_options
    @click.pass_context
    @wraps(function)
    def wrapped(ctx: click.Context, /, **given: Any) -> Any:
        common = {name: value for name, value in given.items() if not _overridden(ctx, name)}
        settings = (ctx.obj or Settings()).updated(common)
        settings.start_logging()
        own = {name: value for name, value in given.items() if name not in {each.name for each in fields(Settings)}}
        return function(settings, **own)

    return wrapped


def _overridden(ctx: click.Context, name: str) -> bool:
    """Whether an option is given before the verb, and the verb has it only from the environment or a file."""
    given = ParameterSource.COMMANDLINE
    return ctx.find_root().get_parameter_source(name) is given is not ctx.get_parameter_source(name)


def read_settings() -> SettingsFile:
    """The content of fabricgen.toml, else of [tool.fabricgen], else empty. Raises UnreadableInputError."""
    for name, keys in (("fabricgen.toml", ()), ("pyproject.toml", ("tool", "fabricgen"))):
        file = Path(name)
        if not file.is_file():
            continue
        import tomllib  # most working directories do not have such a file

        try:
            content: Any = tomllib.loads(read_text(file, SETTINGS_BYTES))
        except (ValueError, RecursionError) as error:
            raise UnreadableInputError(f"not TOML: {error}", Location(name)) from error
        for key in keys:
            content = content.get(key, {}) if isinstance(content, dict) else content
        if not isinstance(content, dict):
            raise UnreadableInputError(f"{'.'.join(keys)} is not a table", Location(name))
        if content:
            return SettingsFile("#".join([name, *[".".join(keys)] * bool(keys)]), content)
    return SettingsFile("", {})


def file_defaults(
    command: click.Command, name: str, content: Mapping[str, Any], above: Mapping[str, Any]
) -> dict[str, Any]:
    """The default map of click for a verb: the settings for all verbs (`above`), then those of the verb's table.

    Raises UsageError for a key of the verb's table that is not one of its options.
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
    """Raises UsageError for a key at the top of the file that is neither an option nor a table; `known` returns all."""
    unknown = [key for key in file.content if key.replace("_", "-") not in TABLES_OF_FINDINGS]
    if not unknown:
        return
    names = known()
    for key in unknown:
        if key.replace("_", "-") not in names:
            from difflib import get_close_matches  # needed for mistakes only

            close = get_close_matches(key, [*names, *TABLES_OF_FINDINGS], n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise UsageError(f"{file.name}: {key!r} is neither an option nor a verb{hint}")


def interactive() -> bool:
    """Whether a person watches the progress: standard error is a terminal, and this is not CI."""
    return is_terminal(sys.stderr) and not os.environ.get("CI")
