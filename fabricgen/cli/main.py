"""The command `fabricgen`: verbs are imported when they are called, errors become exit codes."""

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

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
from fabricgen.cli.streams import tell
from fabricgen.errors import FabricgenError

EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_BUG = 3
EXIT_INTERRUPTED = 130

# verb -> (module, one line). The line stands here, so that help imports no verb.
_VERBS = {
    "init": ("fabricgen.cli.init", "Start an inventory that renders at once."),
    "render": ("fabricgen.cli.render", "Render an inventory into a bundle of switch configuration."),
    "validate": ("fabricgen.cli.validate", "Judge rendered files, or any config_db.json files, by rules."),
    "simulate": ("fabricgen.cli.simulate", "Prove what the fabric does, from rendered files alone."),
    "check": ("fabricgen.cli.check", "The pre-merge gate: render aside, then validate and simulate."),
    "capacity": ("fabricgen.cli.capacity", "Count switches, links, cables and ports of an inventory."),
    "diff": ("fabricgen.cli.diff", "Tell how bundles differ, or what runs differs from a bundle."),
    "handoff": ("fabricgen.cli.handoff", "Hand a bundle to the tools that deploy it."),
    "import": ("fabricgen.cli.import_", "Make inventory parts of what a site has already."),
    "explain": ("fabricgen.cli.explain", "Explain a finding's code."),
    "schema": ("fabricgen.cli.schema", "Print a JSON Schema."),
}


_FILE = "fabricgen.settings"  # where a context keeps the settings file


def _known_keys(group: click.Command) -> set[str]:
    """Every option of fabricgen and of its verbs, and the verbs."""
    members = [importlib.import_module(module).command for module, _ in _VERBS.values()]
    return set(_VERBS).union(option_names(group), *map(option_names, members))


class Verbs(click.Group):
    """The verbs, imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs, in the order in which one meets them."""
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A verb; with --help of the group only its one line is needed."""
        if cmd_name not in _VERBS:
            return None
        command: click.Command = importlib.import_module(_VERBS[cmd_name][0]).command
        name_variables(command)
        file = ctx.meta[_FILE] = read_settings()
        refuse_unknown_keys(file, lambda: _known_keys(main))
        shared = {key.replace("_", "-"): value for key, value in file.content.items() if not isinstance(value, dict)}
        ctx.default_map = {cmd_name: file_defaults(command, cmd_name, file.content, shared)}
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a suggestion for a verb that does not exist."""
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], list(_VERBS), n=1)
            raise click.UsageError(f"no command {args[0]!r}" + (f"; did you mean {close[0]!r}?" if close else ""), ctx)
        return super().resolve_command(ctx, args)


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, message="fabricgen %(version)s")
@common_options
@click.pass_context
def main(ctx: click.Context, /, **given: object) -> None:
    """One inventory in, a judged AI-cluster network out.

    Two commands to a fabric:  fabricgen init my-fabric,  then  fabricgen check my-fabric.
    """
    ctx.obj = replace(Settings().updated(given), file=ctx.meta[_FILE])


name_variables(main)


def run(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    gc.disable()  # trees of parsed files hold no cycles; looking for some costs a quarter of the time
    debug = "--debug" in (sys.argv[1:] if arguments is None else arguments) or bool(os.environ.get("FABRICGEN_DEBUG"))
    code = _exit_code(arguments, debug)
    gc.freeze()  # nor at exit, when the system takes all of it back at once
    sys.exit(code)


def _exit_code(arguments: Sequence[str] | None, debug: bool) -> int:
    try:
        code = main.main(args=arguments, prog_name="fabricgen", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return EXIT_USAGE
    except FabricgenError as error:
        tell(f"error: {error}", err=True)
        return EXIT_USAGE
    except (KeyboardInterrupt, click.Abort):
        tell("interrupted; nothing was left half-written", err=True)
        return EXIT_INTERRUPTED
    except OSError as error:
        tell(f"error: {error.filename or 'output'}: {error.strerror or error}", err=True)
        return EXIT_USAGE
    except Exception as error:  # noqa: BLE001 (whatever is left is a bug of ours)
        if debug:
            import traceback  # costs more than the rest of --help

            traceback.print_exc()
        tell(f"fabricgen has a bug: {type(error).__name__}: {error}", err=True)
        tell("Please report it with the command and the output of the same with --debug.", err=True)
        return EXIT_BUG
