"""The command `fabricgen`: it imports a verb when it is called, and turns errors into exit codes."""

import importlib
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import click

from fabricgen import __version__
from fabricgen.cli.settings import (
    Settings,
    common_options,
    file_defaults,
    name_variables,
    option_names,
    read_settings,
    refuse_unknown_keys,
)
from fabricgen.cli.streams import write
from fabricgen.errors import FabricgenError
from fabricgen.interrupts import held
from fabricgen.visible import visible

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_BUG = 3
EXIT_INTERRUPTED = 130

# verb -> (module, summary). With the summaries here, --help does not import the verbs.
_VERBS = {
    "init": ("fabricgen.cli.init", "Write a first inventory that can be rendered."),
    "render": ("fabricgen.cli.render", "Render an inventory into a bundle of configuration files."),
    "validate": ("fabricgen.cli.validate", "Check rendered files, or any config_db.json, with the rules."),
    "simulate": ("fabricgen.cli.simulate", "Prove or simulate the behavior of a fabric, from its files."),
    "check": ("fabricgen.cli.check", "Check an inventory before a merge: render, validate, simulate."),
    "tune": ("fabricgen.cli.tune", "Find better ECN thresholds and queue pairs by packet runs."),
    "capacity": ("fabricgen.cli.capacity", "Count the switches, links, cables and ports of an inventory."),
    "compare": ("fabricgen.cli.compare", "Compare designs or fabrics: cost, bandwidth, failures, growth."),
    "diff": ("fabricgen.cli.diff", "Show how two bundles, or a bundle and a running fabric, differ."),
    "report": ("fabricgen.cli.report", "Write all verdicts on a fabric as one web page."),
    "draw": ("fabricgen.cli.draw", "Draw a fabric, a switch, a rack or a cable as SVG, draw.io or DOT."),
    "rehearse": ("fabricgen.cli.rehearse", "Apply the plan of a change to stand-ins of the switches."),
    "handoff": ("fabricgen.cli.handoff", "Write a bundle as files for the tools that deploy it."),
    "accept": ("fabricgen.cli.accept", "Judge measured results against what the files promise."),
    "import": ("fabricgen.cli.import_", "Convert the files of an existing site into an inventory."),
    "explain": ("fabricgen.cli.explain", "Explain the code of a finding, or the origin of a value."),
    "list": ("fabricgen.cli.list_", "List platforms, designs, codes and other names."),
    "schema": ("fabricgen.cli.schema", "Print a JSON Schema."),
    "lsp": ("fabricgen.cli.lsp", "Serve an editor: findings, hover, completion of an inventory."),
    "completion": ("fabricgen.cli.completion", "Print the completion script of a shell."),
}


_FILE = "fabricgen.settings"  # the key of the settings file in a context


def _known_keys(group: click.Command) -> set[str]:
    """All options of fabricgen and of its verbs, and the verbs."""
    members = [importlib.import_module(module).command for module, _ in _VERBS.values()]
    return set(_VERBS).union(option_names(group), *map(option_names, members))


class Verbs(click.Group):
    """The verbs, imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs, in the order of their use."""
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A verb; --help of the group needs its summary only."""
        if cmd_name not in _VERBS:
            return None
        module = _VERBS[cmd_name][0]
        if ctx.resilient_parsing:  # a completion reads no defaults
            return cast(click.Command, importlib.import_module(module).command)
        with held():  # the import of orjson crashes if an exception is raised in a module that it imports
            importlib.import_module("orjson")
        command: click.Command = importlib.import_module(module).command
        name_variables(command)
        file = ctx.meta[_FILE] = read_settings()
        refuse_unknown_keys(file, lambda: _known_keys(main))
        shared = {key.replace("_", "-"): value for key, value in file.content.items() if not isinstance(value, dict)}
        ctx.default_map = {cmd_name: file_defaults(command, cmd_name, file.content, shared, file.folder)}
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Verbs and options that begin so, without importing the verbs."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(name, help=text) for name, (_, text) in _VERBS.items() if name.startswith(incomplete)]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb of the arguments. A verb that does not exist is an error with a suggestion."""
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], list(_VERBS), n=1)
            raise click.UsageError(
                f"unknown command {args[0]!r}" + (f"; did you mean {close[0]!r}?" if close else ""), ctx
            )
        return super().resolve_command(ctx, args)


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, message="fabricgen %(version)s")
@common_options
@click.pass_context
def main(ctx: click.Context, /, **given: object) -> None:
    """Render the network of an AI cluster from an inventory, and prove it lossless before the merge.

    \b
    Examples:
      fabricgen init my-fabric --hosts 32
      fabricgen check my-fabric
      fabricgen render my-fabric --output build
    """
    ctx.obj = replace(Settings().updated(given), file=ctx.meta[_FILE])


name_variables(main)


def run(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    debug = "--debug" in (sys.argv[1:] if arguments is None else arguments) or bool(os.environ.get("FABRICGEN_DEBUG"))
    sys.exit(_exit_code(arguments, debug))


def _exit_code(arguments: Sequence[str] | None, debug: bool) -> int:
    try:
        code = main.main(args=arguments, prog_name="fabricgen", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        write(shown.getvalue().rstrip("\n"), err=True, wraps=True)
        return EXIT_USAGE
    except FabricgenError as error:
        write(f"error: {visible(str(error))}", err=True, wraps=True)
        return EXIT_USAGE
    except (KeyboardInterrupt, click.Abort):
        write("interrupted; nothing was left half-written", err=True)
        return EXIT_INTERRUPTED
    except MemoryError:
        write(
            "error: the memory is full: give the machine or the container more, or use --jobs 1", err=True, wraps=True
        )
        return EXIT_USAGE
    except OSError as error:
        write(visible(f"error: {error.filename or 'output'}: {error.strerror or error}"), err=True, wraps=True)
        return EXIT_USAGE
    except Exception as error:  # noqa: BLE001 (all other exceptions are bugs)
        if debug:
            import traceback  # takes longer than the rest of --help

            traceback.print_exc()
        write(visible(f"fabricgen has a bug: {type(error).__name__}: {error}"), err=True, wraps=True)
        write("Please report it with the command and its output with --debug.", err=True)
        return EXIT_BUG
