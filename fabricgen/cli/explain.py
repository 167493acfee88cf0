"""`fabricgen explain`: what a code means and what to do about it."""

import click

from fabricgen.cli.settings import Settings, verb
from fabricgen.codes import explain_code
from fabricgen.errors import UsageError


@click.command("explain")
@click.argument("code")
@verb
def command(settings: Settings, code: str) -> int:
    """Explain CODE, such as FG512."""
    from fabricgen.rules.registry import explain_text

    page = explain_text(code) or explain_code(code)
    if page is None:
        raise UsageError(f"no finding has the code {code!r}; docs/findings.md lists them all")
    click.echo(page)
    return 0
