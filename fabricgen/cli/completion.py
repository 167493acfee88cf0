"""`fabricgen completion`: the script that completes commands, options and names in a shell."""

import click
from click.shell_completion import get_completion_class

from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write

PROGRAM, VARIABLE = "fabricgen", "_FABRICGEN_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@verb
@click.pass_context
def command(ctx: click.Context, settings: Settings, shell: str) -> int:
    """Print the completion script of a shell.

    \b
    Examples:
      fabricgen completion bash > ~/.bash_completion
      fabricgen completion zsh > "${fpath[1]}/_fabricgen"
    """
    found = get_completion_class(shell)
    assert found, "click completes these shells"
    write(found(ctx.find_root().command, {}, PROGRAM, VARIABLE).source().rstrip("\n"))
    return 0
