"""`fabricgen completion`: the script that completes commands, options and names in a shell."""

import re
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem, get_completion_class

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
      fabricgen completion bash > ~/.local/share/bash-completion/completions/fabricgen
      fabricgen completion zsh > "${fpath[1]}/_fabricgen"
    """
    found = get_completion_class(shell)
    assert found, "click completes these shells"
    write(found(ctx.find_root().command, {}, PROGRAM, VARIABLE).source().rstrip("\n"))
    return 0


def names_of(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Completion of the names that `fabricgen list KIND` prints."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from fabricgen.cli.list_ import KINDS

        names = _codes() if kind == "codes" else KINDS[kind]()
        return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]

    return complete


def _codes() -> list[str]:
    """The codes of the shipped pages: an import of all rules takes longer than a person waits for a completion."""
    from fabricgen.resources import package_text, resource

    others = re.findall(r"^(FG\d+):", package_text("codes.yaml"), re.MULTILINE)
    return sorted({*others, *(file.stem for file in resource("docs", "rules").glob("FG*.md"))})
