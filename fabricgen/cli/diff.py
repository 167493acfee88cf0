"""`fabricgen diff`: two bundles, or a bundle and a running fabric, row by row."""

import sys
from pathlib import Path

import click

from fabricgen.cli import diff_output
from fabricgen.cli.diff_release import EXIT_DIFFERENT
from fabricgen.cli.diff_release import show as show_upgrade
from fabricgen.cli.given_paths import require_place
from fabricgen.cli.names import OneOf, releases
from fabricgen.cli.options import templates_option, work_order_option
from fabricgen.cli.output import json_text
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write
from fabricgen.errors import UsageError
from fabricgen.vocabulary import InputForm

EXIT_UNSAFE = 1
FORMATS = ("text", "json", "markdown", "jsonpatch", "plan")


@click.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path), required=False)
@click.option(
    "--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True,
    help="Format of the result. jsonpatch is RFC 6902, for `config apply-patch`; plan is several patches in order.",
)  # fmt: skip
@click.option(
    "--safe", is_flag=True,
    help="Order the plan so that no step cuts off a host or makes a cycle; exit with 1 and the reasons if none does.",
)  # fmt: skip
@click.option("--exit-code", is_flag=True, help="Exit with 4 if there are differences.")
@click.option(
    "--release", "upgrade", nargs=2, type=OneOf(releases), metavar="FROM TO",
    help="In place of NEW: what an upgrade between these SONiC releases changes in OLD, a bundle or an inventory.",
)  # fmt: skip
@click.option(
    "--as", "new_form", type=click.Choice([form.value for form in InputForm]),
    help="Form of NEW. [default: recognized by its content]",
)  # fmt: skip
@click.option(
    "--output", "-o", type=click.Path(path_type=Path),
    help="File for the result instead of standard output; with jsonpatch and plan, a folder for the patches.",
)  # fmt: skip
@work_order_option
@templates_option
@verb
def command(
    settings: Settings,
    old: Path,
    new: Path | None,
    fmt: str,
    safe: bool,
    exit_code: bool,
    upgrade: tuple[str, str] | None,
    new_form: str | None,
    output: Path | None,
    work_order: Path | None,
    templates: Path | None,
) -> int:
    """Show how NEW differs from OLD, by table, key and field.

    OLD and NEW are bundles, or the running configuration: a folder of DEVICE.json or DEVICE/config_db.json, or one
    file. Rows that a switch makes by itself are not differences. With a running configuration as OLD and a bundle as
    NEW, the patches change the switches to the bundle. If NEW is an LLDP dump, or the output of ibnetdiscover, it is
    compared with the cabling of OLD.

    Errors of NEW against the schema, for which no switch loads it, are reported on standard error as `validate` does.
    With jsonpatch and plan the exit code is then 1.

    \b
    Examples:
      fabricgen diff build build-next
      fabricgen diff build running --exit-code
      fabricgen diff build lldp --as lldp --work-order cables.csv
      fabricgen diff running build --format plan --output patches
      fabricgen diff build --release 202505 202605
      fabricgen diff my-fabric --release 202505 master --format jsonpatch
    """
    from fabricgen.api.comparison import diff
    from fabricgen.atomic import write_atomically
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.diff.cables import CableDifference

    if output is not None and fmt not in ("jsonpatch", "plan"):
        require_place("--output", output)
    form = _checked_form(new, upgrade, new_form, fmt, work_order, safe=safe)
    if new is None or form is None:
        assert upgrade
        return show_upgrade(settings, old, upgrade, fmt, output, templates, safe=safe, exit_code=exit_code)
    with TerminalProgress(settings).stage("comparing"):
        found = diff(old, new, form=form)
    is_unsafe = is_invalid = False
    if not isinstance(found, CableDifference):
        is_invalid = diff_output.invalid_targets(settings, found)
    color = output is None and settings.paints(sys.stdout)
    if isinstance(found, CableDifference):
        text = diff_output.cables(found, fmt, color)
        diff_output.write_order(old, found, work_order)
    elif fmt in ("jsonpatch", "plan"):
        if fmt == "plan":
            patches, is_unsafe = diff_output.plans(settings, found, output, safe=safe)
        else:
            patches = diff_output.patches(settings, found, output)
        text = json_text(patches) if patches is not None else ""
    else:
        text = diff_output.rows(found, fmt, color)
    if text and output is not None:  # patches are written to their own files
        write_atomically(output, f"{text}\n".encode())
    elif text:
        write(text, color=settings.paints(sys.stdout), wraps=fmt == "text")
    if is_unsafe or (is_invalid and fmt in ("jsonpatch", "plan")):
        return EXIT_UNSAFE
    return EXIT_DIFFERENT if found.differs and exit_code else 0


def _checked_form(
    new: Path | None,
    upgrade: tuple[str, str] | None,
    new_form: str | None,
    fmt: str,
    work_order: Path | None,
    *,
    safe: bool,
) -> InputForm | None:
    """The form of NEW; None with --release. Raises UsageError for options that do not fit together."""
    from fabricgen.observed.running import form_of

    if (new is None) == (upgrade is None):
        raise UsageError("compare OLD with NEW, or give --release FROM TO without NEW")
    if safe and fmt != "plan":
        raise UsageError("--safe orders the steps of a plan: choose --format plan")
    form = None if new is None else InputForm(new_form) if new_form else form_of(new)
    if work_order and not (form and form.is_cabling):
        raise UsageError("--work-order is for cables: NEW is an LLDP dump, or the output of ibnetdiscover")
    if form and form.is_cabling and fmt in ("jsonpatch", "plan"):
        raise UsageError("cables cannot be patched: choose text, json or markdown")
    return form
