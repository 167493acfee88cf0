"""Options that every verb has, before or after its name, and the defaults of all options.

The command line overrides the environment (FABRICGEN_<OPTION>), which overrides fabricgen.toml or [tool.fabricgen] in
pyproject.toml of the working directory, or of the nearest folder above it. There, a key is an option of every verb that
has it, and a table is a verb. The tables about findings, `severity` and `suppressions`, are read in policy.py. Only the
--output of a report has no variable: FABRICGEN_OUTPUT is the folder of the bundle.
"""

import os
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from fabricgen.cli.endings import format_for
from fabricgen.cli.given_paths import check_paths
from fabricgen.cli.streams import is_terminal, write
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.visible import visible

TABLES_OF_FINDINGS = ("severity", "suppressions")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


@dataclass(frozen=True)
class SettingsFile:
    """fabricgen.toml, or a table of pyproject.toml: its name, with the path of the table, and its content."""

    name: str
    content: Mapping[str, Any]
    folder: Path = Path()  # to which its relative paths refer; that of the working directory is empty


@dataclass(frozen=True)
class Settings:
    """The options that every verb has, and the settings file."""

    verbose: int = 0
    quiet: bool = False
    color: str = "auto"
    jobs: int = field(default_factory=lambda: cores())
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

        class OneLine(logging.Formatter):
            """Messages quote names of files and devices, which are foreign text."""

            def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (its name in logging)
                return visible(super().formatMessage(record))

        logging.basicConfig(level=logging.DEBUG if self.debug else level, force=True)
        for handler in logging.getLogger().handlers:
            handler.setFormatter(OneLine("%(levelname)s: %(message)s"))

    def paints(self, stream: Any) -> bool:
        """Whether text on a stream is colored."""
        if self.color != "auto":
            return self.color == "always"
        return not os.environ.get("NO_COLOR") and is_terminal(stream)

    def say(self, text: str) -> None:
        """Print a line about the progress to standard error; nothing with -q."""
        if not self.quiet:
            write(text, err=True, color=self.paints(sys.stderr), wraps=True)


def cores() -> int:
    """The cores that this process may use: those of its CPU set, and at most the quota of its container. 1 on other
    systems than Linux, where no processes are forked.

    Source: cpu.max in Documentation/admin-guide/cgroup-v2.rst of Linux: microseconds in each period, or max.
    """
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    with suppress(OSError, ValueError):  # "max", or no control groups of version 2
        quota_us, period_us = _QUOTA.read_text("ascii").split()
        found = min(found, max(1, int(quota_us) // int(period_us)))
    return found


def several(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Click options as one decorator; --help shows them in this order."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorated


class FullGroup(click.Group):
    """A group whose --help shows the whole summary of each command; click cuts it to one line."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, wrapped between words."""
        members = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(1000)) for name, each in members if each])


common_options = several(
    click.option("-v", "--verbose", count=True, help="Show more log messages."),
    click.option("-q", "--quiet", is_flag=True, help="Show only findings and results."),
    click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), help="Color the text output. [default: auto]"
    ),
    click.option("--jobs", type=click.IntRange(1), help="Number of processes. [default: one for each core]"),
    click.option("--debug", is_flag=True, help="Show the traceback of an internal error."),
)


def name_variables(command: click.Command) -> None:
    """Give every option of a command and of its subcommands an environment variable."""
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        name_variables(each)
    for option in _options(command).values():
        if option.envvar is None and _long_name(option) != "output":
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
        if settings.verbose:
            settings.say(f"settings: {settings.file.name or 'no fabricgen.toml or [tool.fabricgen]'}")
        own = {name: value for name, value in given.items() if name not in {each.name for each in fields(Settings)}}
        check_paths(ctx.command, own)
        _choose_format(ctx, own)
        return function(settings, **own)

    return wrapped


def _choose_format(ctx: click.Context, given: dict[str, Any]) -> None:
    """Set --format by the ending of --output if it is not given. Raises UsageError for an ending of another format."""
    output, kinds = given.get("output"), {each.name: each.type for each in ctx.command.params}
    fmt, file = kinds.get("fmt"), kinds.get("output")
    if isinstance(fmt, click.Choice) and isinstance(file, click.Path) and file.file_okay and isinstance(output, Path):
        is_chosen = ctx.get_parameter_source("fmt") in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
        given["fmt"] = format_for(output, given["fmt"], fmt.choices, is_chosen=is_chosen)


def _overridden(ctx: click.Context, name: str) -> bool:
    """Whether an option is given before the verb, and the verb has it only from the environment or a file."""
    given = ParameterSource.COMMANDLINE
    return ctx.find_root().get_parameter_source(name) is given is not ctx.get_parameter_source(name)


def read_settings() -> SettingsFile:
    """The settings of the nearest folder that has any, from the working directory upwards; empty without such a folder.

    In a folder, fabricgen.toml comes before [tool.fabricgen] of pyproject.toml, and a pyproject.toml without this table
    is not a settings file. Settings of several folders are not merged. Raises UnreadableInputError.
    """
    try:
        start = Path.cwd()
    except OSError:  # the working directory was removed
        return SettingsFile("", {})
    for folder in (start, *start.parents):
        if found := _settings_in(folder, "" if folder == start else f"{folder}/"):
            return found
    return SettingsFile("", {})


def _settings_in(folder: Path, shown: str) -> SettingsFile | None:
    """The settings of a folder, named with the prefix `shown`; None if it does not have any."""
    for base, keys in (("fabricgen.toml", ()), ("pyproject.toml", ("tool", "fabricgen"))):
        file, name = folder / base, f"{shown.replace('//', '/')}{base}"
        try:
            if not file.is_file():
                continue
        except OSError:  # a folder above that this user cannot read
            continue
        from fabricgen.findings import Location  # most working directories do not have such a file
        from fabricgen.inputs import SETTINGS_BYTES, read_text

        try:
            content = _content(read_text(file, SETTINGS_BYTES))
        except (ValueError, RecursionError) as error:
            raise UnreadableInputError(f"not TOML: {error}", Location(name)) from error
        for key in keys:
            content = content.get(key, {}) if isinstance(content, dict) else content
        if not isinstance(content, dict):
            raise UnreadableInputError(f"{'.'.join(keys)} is not a table", Location(name))
        if content or not keys:
            folder_given = folder if shown else Path()
            return SettingsFile("#".join([name, *[".".join(keys)] * bool(keys)]), content, folder_given)
    return None


@lru_cache(8)
def _content(text: str) -> Any:
    """The tables of a TOML file. A program that runs many verbs parses it once: the pyproject.toml of a project takes
    longer than a verb. Raises ValueError or RecursionError."""
    import tomllib

    return tomllib.loads(text)


def file_defaults(
    command: click.Command, name: str, content: Mapping[str, Any], above: Mapping[str, Any], folder: Path = Path()
) -> dict[str, Any]:
    """The default map of click for a verb: the settings for all verbs (`above`), then those of the verb's table.

    Relative paths refer to `folder`. Raises UsageError for a key of the verb's table that is not one of its options.
    """
    own = content.get(name, {})
    if not isinstance(own, dict):
        raise UsageError(f"fabricgen's settings: {name!r} names a verb, so it must be a table")
    shared = {**above, **{key.replace("_", "-"): value for key, value in own.items() if not isinstance(value, dict)}}
    if isinstance(command, click.Group):
        return {each: file_defaults(member, each, own, shared, folder) for each, member in command.commands.items()}
    options = _options(command)
    for key in own:
        if key.replace("_", "-") not in options:
            raise UsageError(f"fabricgen's settings: {name} has no option {key!r}; it has {', '.join(options)}")
    return {
        str(options[key].name): _as_written(options[key], _below(folder, options[key], value))
        for key, value in shared.items()
        if key in options
    }


def _below(folder: Path, option: click.Option, value: Any) -> Any:
    """The value of an option; a relative path refers to the folder of the settings."""
    if not isinstance(option.type, click.Path) or folder == Path():
        return value
    if isinstance(value, list):
        return [_below(folder, option, each) for each in value]
    return str(folder / value) if isinstance(value, str) and value != "-" else value


def _as_written(option: click.Option, value: Any) -> Any:
    """The value in the form of the command line, so that click refuses a value of another type."""
    if isinstance(value, list) and (option.multiple or option.nargs != 1):
        return [str(each) for each in value]
    return value if isinstance(value, bool) else str(value)


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
