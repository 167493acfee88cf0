"""`fabricgen diff`: two bundles, or a bundle and what runs, row by row."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from fabricgen import __version__
from fabricgen.atomic import write_atomically
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import tell
from fabricgen.errors import UsageError
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.diff.difference import Difference
    from fabricgen.observed.running import InputForm

EXIT_DIFFERENT = 4
FORMATS = ("text", "json", "markdown", "jsonpatch")


@click.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True,
    help="Form of the result; jsonpatch: RFC 6902 for `config apply-patch`.",
)  # fmt: skip
@click.option("--exit-code", is_flag=True, help="Exit with 4 where there are differences.")
@click.option(
    "--as", "new_form", type=click.Choice(["bundle", "running", "lldp", "ibnetdiscover"]),
    help="What NEW is. [default: by its content]",
)  # fmt: skip
@click.option(
    "--output", type=click.Path(path_type=Path),
    help="File for the result instead; with jsonpatch a folder, for DEVICE.json each.",
)  # fmt: skip
@verb
def command(
    settings: Settings, old: Path, new: Path, fmt: str, exit_code: bool, new_form: str | None, output: Path | None
) -> int:
    """Tell how the bundle NEW differs from the bundle OLD, by table, key and field.

    NEW may also be what runs: a folder of DEVICE.json or DEVICE/config_db.json (or a single file), or an LLDP dump or
    the output of ibnetdiscover, which are compared with the cabling. Rows that a switch makes by itself are no drift.
    With a running configuration as OLD and a bundle as NEW, the patches bring the switches to the bundle.
    """
    from fabricgen.observed.running import InputForm, form_of

    form = InputForm(new_form) if new_form else form_of(new)
    old_form = form_of(old)
    if old_form.is_cabling:
        raise UsageError(f"{old} is no bundle and no config_db.json: OLD is what NEW is compared with")
    if form.is_cabling:
        differs, text = _compare_cables(settings, old, (new, form), fmt, output)
    else:
        differs, text = _compare(settings, (old, old_form), (new, form), fmt, output)
    if text and output is not None:  # patches went to their own files
        write_atomically(output, f"{text}\n".encode())
    elif text:
        tell(text, color=settings.paints(sys.stdout))
    return EXIT_DIFFERENT if differs and exit_code else 0


def _compare(
    settings: Settings, old: tuple[Path, "InputForm"], new: tuple[Path, "InputForm"], fmt: str, output: Path | None
) -> tuple[bool, str]:
    """Whether there are differences, and the report."""
    from fabricgen.diff.difference import compare
    from fabricgen.diff.sides import open_side

    sides = [open_side(*old), open_side(*new)]
    for side, other in ((0, 1), (1, 0)):  # a running file may be named as the other side names its device
        if sides[side].form == "running":
            sides[side] = open_side(*(old, new)[side], known=sides[other].files)
    difference = compare(*sides)
    if fmt == "jsonpatch":
        return difference.differs, _patches(settings, difference, output)
    if fmt == "json":
        from fabricgen.report.diff_json import diff_object

        text = orjson.dumps(diff_object(__version__, difference), option=orjson.OPT_INDENT_2).decode()
    elif fmt == "markdown":
        from fabricgen.report.diff_markdown import diff_markdown

        text = diff_markdown(difference)
    else:
        from fabricgen.report.diff_text import diff_text

        text = diff_text(difference, output is None and settings.paints(sys.stdout))
    return difference.differs, text


def _compare_cables(
    settings: Settings, old: Path, new: tuple[Path, "InputForm"], fmt: str, output: Path | None
) -> tuple[bool, str]:
    from fabricgen.bundle.read import open_bundle
    from fabricgen.diff.cables import compare_cables
    from fabricgen.diff.subnet_cables import compare_subnet_cables
    from fabricgen.report.diff_cables import cables_markdown, cables_object, cables_text

    if fmt == "jsonpatch":
        raise UsageError("cables are not patched: take text, json or markdown")
    compare = compare_subnet_cables if new[1] == "ibnetdiscover" else compare_cables
    difference = compare(open_bundle([old]), new[0])
    if fmt == "json":
        text = orjson.dumps(cables_object(__version__, difference), option=orjson.OPT_INDENT_2).decode()
    elif fmt == "markdown":
        text = cables_markdown(difference)
    else:
        text = cables_text(difference, output is None and settings.paints(sys.stdout))
    return difference.differs, text


def _patches(settings: Settings, difference: "Difference", output: Path | None) -> str:
    """The patches as one object; with `output` a file for each device instead."""
    from fabricgen.diff.counts import count
    from fabricgen.report.diff_json import patch_files, patch_object
    from fabricgen.report.diff_words import cost_lines

    counts = count(difference)
    for line in cost_lines(counts):
        settings.say(line)
    if counts.withheld:
        secrets = counted(counts.withheld, "change")
        settings.say(f"{secrets} of secrets in no patch: bring them to the switches from where they are kept")
    if output is None:
        return orjson.dumps(patch_object(__version__, difference, counts), option=orjson.OPT_INDENT_2).decode()
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file; --output names a folder for patches")
    output.mkdir(parents=True, exist_ok=True)
    for name, content in patch_files(difference).items():
        write_atomically(output / name, content)
    return ""
