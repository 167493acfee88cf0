"""`fabricgen import avd`, `hhfab`, `minigraph` and `netbox`: what other tools and sources of truth have of a site."""

from collections.abc import Sequence
from pathlib import Path

import click

from fabricgen.cli.imported import print_notes, refuse_full, write_inventory
from fabricgen.cli.live import connection_options
from fabricgen.cli.output import EXIT_FINDINGS, print_findings
from fabricgen.cli.settings import Settings, several, verb
from fabricgen.cli.streams import write
from fabricgen.errors import UsageError
from fabricgen.findings import in_order


def _foreign(summary: str, name: str, metavar: str, examples: str) -> click.Command:
    """The import of another tool's files."""

    def convert(
        settings: Settings, paths: tuple[Path, ...], output: Path | None, fabric: str, hardware: tuple[str, ...]
    ) -> int:
        from fabricgen.adopt.written import FILE_NAME
        from fabricgen.api.importing import import_foreign
        from fabricgen.report.summary import Counts

        if output is not None:
            refuse_full(output)
        default = output.resolve().name if output else "imported"
        chosen = _platforms_of(hardware)
        imported = import_foreign(name, paths, fabric or default, chosen, single_file=output is None)
        if not imported.files:
            print_findings(settings, in_order(imported.findings), Counts(devices=imported.switches))
            return EXIT_FINDINGS
        print_notes(settings, imported.findings)
        if output is None:
            write(imported.files[FILE_NAME], nl=False)
            return 0
        write_inventory(settings, output, imported.files, imported.switches, imported.links)
        return 0

    options = several(
        click.argument("paths", nargs=-1, required=True, metavar=metavar, type=click.Path(path_type=Path)),
        click.option(
            "--output",
            "-o",
            type=click.Path(path_type=Path, file_okay=False),
            help="New folder for the inventory and its lock file. By default, the inventory without the lock file is "
            "printed to standard output.",
        ),
        click.option("--fabric", default="", help="Name of the fabric.  [default: name of the folder]"),
        click.option(
            "--hardware",
            multiple=True,
            metavar="MODEL=PLATFORM",
            help="Platform for a model of the files that the catalog does not have. The option can be repeated.",
        ),
    )
    return click.command(name, help=f"{summary}\n\n\b\nExamples:\n{examples}")(options(verb(convert)))


def _platforms_of(options: Sequence[str]) -> dict[str, str]:
    """Model -> platform. Raises UsageError."""
    found = {}
    for text in options:
        model, separator, platform = text.partition("=")
        if not (separator and platform):
            raise UsageError(f"--hardware {text!r}: write MODEL=PLATFORM, for example vEOS-lab=dell-s5232f")
        found[model] = platform
    return found


_NOTES = (
    "The files become an explicit inventory. What does not carry over, and numbers that the inventory does not have, "
    "are listed on standard error."
)


@click.command("netbox")
@click.option("--site", required=True, metavar="NAME", help="Site of the fabric; in Nautobot, the location.")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="New folder for the inventory.",
)
@click.option("--fabric", default="", help="Name of the fabric.  [default: name of the site]")
@click.option(
    "--gateway",
    "gateways",
    multiple=True,
    metavar="ADDRESS",
    help="Gateway of the management network, which keeps the addresses of eth0; for each family.",
)
@connection_options
@verb
def netbox(
    settings: Settings, site: str, output: Path, fabric: str, gateways: tuple[str, ...], software: str, url: str | None
) -> int:
    """Convert a site of NetBox or Nautobot into an explicit inventory: devices, cables, racks, serials and addresses.

    Switches are the devices with the role leaf, spine or core. The model of their device type, or its part number, is a
    hwsku. What the inventory does not have of the site is reported on standard error.

    \b
    Examples:
      fabricgen import netbox --site hall1 --output my-fabric
      fabricgen import netbox --site hall1 --software nautobot -o my-fabric
    """
    from fabricgen.api.importing import import_site
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.dcim.connecting import Software, connect
    from fabricgen.report.summary import Counts

    refuse_full(output)
    with TerminalProgress(settings).stage("reading"):
        adopted = import_site(connect(Software(software), url), site, fabric, gateways)
    if not adopted.files:
        print_findings(settings, adopted.findings, Counts(devices=adopted.switches, links=adopted.links))
        return EXIT_FINDINGS
    print_notes(settings, adopted.findings)
    write_inventory(settings, output, adopted.files, adopted.switches, adopted.links)
    return 0


COMMANDS = [
    _foreign(
        "Convert structured configurations of Arista AVD, else its group variables, into an explicit inventory. "
        f"{_NOTES}",
        "avd",
        "FILE...",
        "  fabricgen import avd intended/structured_configs --output my-fabric\n"
        "  fabricgen import avd group_vars/DC1 --hardware vEOS=dell-s5232f",
    ),
    _foreign(
        f"Convert the wiring diagram of a Hedgehog fabric (hhfab) into an explicit inventory. {_NOTES}",
        "hhfab",
        "FILE...",
        "  fabricgen import hhfab wiring.yaml --output my-fabric\n"
        "  fabricgen import hhfab include --hardware vs=dell-s5232f",
    ),
    _foreign(
        f"Convert minigraph.xml files of SONiC switches into an explicit inventory. {_NOTES}",
        "minigraph",
        "FILE...",
        "  fabricgen import minigraph leaf1.xml leaf2.xml --output my-fabric\n"
        "  fabricgen import minigraph graphs --fabric east --output my-fabric",
    ),
    netbox,
]
