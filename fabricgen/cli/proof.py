"""What a deadlock verdict rests on, as files: the certificate, the routes, and pictures of cycles."""

from collections.abc import Sequence
from pathlib import Path

import click
import orjson

from fabricgen.bundle.read import Bundle
from fabricgen.cli.settings import several
from fabricgen.results import DeadlockResult

_FILE = click.Path(path_type=Path, dir_okay=False)
proof_options = several(
    click.option(
        "--certificate", type=_FILE, metavar="FILE",
        help="File for the order of channels that proves planes free of deadlock, and InfiniBand tables.",
    ),
    click.option(
        "--routes", type=_FILE, metavar="FILE",
        help="File for the next hops that the verdict rests on, as JSON by switch and prefix, or InfiniBand port GUID.",
    ),
    click.option(
        "--svg", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
        help="Folder for a picture of each cycle.",
    ),
)  # fmt: skip


def write_proof(
    bundle: Bundle, results: Sequence[DeadlockResult], certificate: Path | None, routes: Path | None, svg: Path | None
) -> None:
    """Write the files that are asked for. Raises OSError where one cannot be written."""
    if certificate is not None:
        from fabricgen.simulate.deadlock.certificate import certificate_text

        certificate.write_text(certificate_text(results), encoding="utf-8")
    if routes is not None:
        from fabricgen.simulate.deadlock.certificate import next_hops

        routes.write_bytes(orjson.dumps(next_hops(results), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    if svg is not None:
        from fabricgen.report.cycle_svg import cycle_pictures

        pictures = cycle_pictures(bundle, results)
        if pictures:
            svg.mkdir(parents=True, exist_ok=True)
        for name, text in pictures.items():
            (svg / name).write_text(text, encoding="utf-8")
