"""`fabricgen lsp`: the language server of inventories."""

import sys

import click

from fabricgen.cli.options import policy_of
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import is_terminal
from fabricgen.errors import UsageError


@click.command("lsp")
@verb
def command(settings: Settings) -> int:
    """Serve an editor by the Language Server Protocol, over standard input and output.

    The editor starts it. While a person writes an inventory, it reports what `check` reports before it renders,
    explains keys and the values that come from them, completes names, and finds definitions.

    \b
    Examples:
      fabricgen lsp
      fabricgen lsp --verbose
    """
    try:
        from fabricgen.lsp.server import make_server
    except ImportError as error:
        raise UsageError("the language server needs pygls: pip install 'fabricgen[lsp]'") from error
    if is_terminal(sys.stdin):
        settings.say("waiting for the messages of an editor; Ctrl-C ends the server")
    make_server(policy_of(settings, expand=False)).start_io()
    return 0
