"""`fabricgen rehearse`: the plan of a change against stand-ins of the switches."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen import __version__
from fabricgen.cli.output import json_text
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write
from fabricgen.units import counted
from fabricgen.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabricgen.diff.rehearsal import Rehearsal


@click.command("rehearse")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the result instead of standard output.",
)
@verb
def command(settings: Settings, old: Path, new: Path, fmt: str, output: Path | None) -> int:
    """Apply the plan from OLD to NEW to stand-ins of the switches.

    The stand-ins take patches as the real updater and daemons were measured to take them. The exit code is 1 if a patch
    is refused, a lossless queue is without watchdog, or the end differs from a cold boot of NEW. OLD and NEW are those
    of `diff`.

    \b
    Examples:
      fabricgen rehearse build build-next
      fabricgen rehearse running build --format json --output rehearsal.json
    """
    from fabricgen.api.comparison import rehearse
    from fabricgen.atomic import write_atomically

    found = rehearse(old, new)
    text = _json(found) if fmt == "json" else _text(found)
    if output is None:
        write(text, wraps=fmt == "text")
    else:
        write_atomically(output, f"{text}\n".encode())
    return 1 if any(one.problems for one in found) else 0


def _json(found: "Sequence[Rehearsal]") -> str:
    devices = {
        one.device: {"route": one.route, "release": one.release, "patches": one.steps, "problems": one.problems}
        for one in found
    }
    head = {"format_version": "1", "tool": {"name": "fabricgen", "version": __version__}}
    summary = {"devices": len(found), "with_problems": sum(bool(one.problems) for one in found)}
    return json_text({**head, "summary": summary, "devices": devices})


def _text(found: "Sequence[Rehearsal]") -> str:
    if not found:
        return "no switch of both sides changes: nothing to rehearse"
    lines = [f"{visible(one.device)}: {visible(problem)}" for one in found for problem in one.problems]
    good = [one for one in found if not one.problems]
    patched, reloaded = ([one for one in good if bool(one.steps) == is_patched] for is_patched in (True, False))
    patches = sum(one.steps for one in patched)
    parts = []
    if patched:
        verb = "reaches" if len(patched) == 1 else "reach"
        with_patches = counted(patches, "patch")
        parts.append(f"{len(patched)} {verb} the state of a cold boot with {with_patches}")
    if reloaded:
        parts.append(f"{len(reloaded)} {'needs' if len(reloaded) == 1 else 'need'} a reload or a reboot")
    bad = len(found) - len(good)
    problems = f"{bad} with problems" if bad else "no problems"
    head = f"rehearsed {counted(len(found), 'device')}, {problems}"
    lines.append(f"{head}: {', '.join(parts)}" if parts else head)
    return "\n".join(lines)
