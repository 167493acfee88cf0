"""`fabricgen import`: what a site has already, as parts of an inventory."""

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from fabricgen.atomic import new_files, write_atomically
from fabricgen.cli.judge import link_options, open_observed
from fabricgen.cli.output import platform_option, print_result
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import tell
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, in_order
from fabricgen.report.formats.concise import concise_report
from fabricgen.report.summary import Counts
from fabricgen.sonic.secrets import shown_key

DIFFERENCES = "differences.csv"


@click.group("import")
def command() -> None:
    """Make inventory parts of what a site has already."""


@command.command("sonic-device")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--hwsku", default="", help="One SKU of a platform folder; for a SKU's own folder, how it is called.")
@click.option("--name", default="", help="Name of the platform in inventories. [default: vendor-model]")
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="File for the entry.")
@click.option("--onie-platform", default="", help="Where the folder's name does not say it: x86_64-vendor_model-r0.")
@click.option("--asic", default="", help="Chip, e.g. Tomahawk5.")
@click.option("--asic-vendor", default="", help="broadcom, nvidia, marvell …")
@click.option("--cell-bytes", type=click.IntRange(1), help="Size of a buffer cell.")
@click.option("--mmu-bytes", type=click.IntRange(1), help="Packet memory of the chip.")
@click.option("--source", default="", help="What the tree is called in sources, e.g. sonic-buildimage@086b03bd70f9.")
@verb
def sonic_device(settings: Settings, folder: Path, hwsku: str, output: Path | None, **facts: object) -> int:
    """Write a platform entry for a folder of sonic-buildimage's device/: a platform with its SKUs, or one SKU.

    The entry goes to standard output and the notes to standard error. Name its file under `platforms:` of an inventory,
    and the platform under `platform:` of a tier.
    """
    from fabricgen.platforms.entry_text import switch_entry_text
    from fabricgen.platforms.sonic_device.entry import DeviceFacts, import_device

    platform, findings = import_device(folder, hwsku, DeviceFacts(**facts))  # type: ignore[arg-type]
    _tell(settings, findings)
    if platform is None:
        return 1
    text = switch_entry_text(platform)
    if output is None:
        tell(text, nl=False)
        return 0
    write_atomically(output, text.encode())
    kept = ", ".join(layout.name for layout in platform.layouts)
    settings.say(f"wrote {output}: platform {platform.name}, layouts {kept}")
    return 0


@command.command("config-db")
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, file_okay=False), help="A new folder for the inventory."
)
@click.option("--fabric", default="", help="Name of the fabric. [default: the folder's name]")
@platform_option
@link_options
@verb
def config_db(
    settings: Settings,
    paths: tuple[Path, ...],
    output: Path | None,
    fabric: str,
    platform_files: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
) -> int:
    """Write an explicit inventory of the fabric that config_db.json files, or folders of them, are of.

    It renders the same rows; those that differ are told on standard error and stand in differences.csv. Without
    --output one self-contained file goes to standard output.
    """
    from fabricgen.adopt.adopt import FILE_NAME, adopt, fabric_name
    from fabricgen.platforms.catalog import layout_by_hwsku, load_switch_platform

    if output is not None and output.is_dir() and any(output.iterdir()):
        raise UsageError(f"{output} is not empty; import starts in a new folder")
    if output is None and platform_files:
        raise UsageError("an inventory with a platform of its own is a folder: name it with --output")
    platforms = [load_switch_platform(file) for file in platform_files]
    own = {layout.hwsku: (platform, layout) for platform in platforms for layout in platform.layouts}
    entries = {
        f"platforms/{platform.name}.yaml": file.read_text(encoding="utf-8")
        for platform, file in zip(platforms, platform_files, strict=True)
    }
    bundle = open_observed(paths, links, lldp)
    adopted = adopt(
        bundle,
        fabric or fabric_name(output.resolve().name if output else "imported"),
        lambda hwsku: own.get(hwsku) or layout_by_hwsku(hwsku),
        entries,
        single_file=output is None,
    )
    if not adopted.files:
        counts = Counts(devices=len(bundle.devices), links=len(bundle.links))
        print_result(settings, adopted.findings, counts, fmt="text", output=None)
        return 1
    _tell(settings, adopted.findings)
    if output is None:
        tell(adopted.files[FILE_NAME], nl=False)
        return 0
    with new_files(output, {**adopted.files, DIFFERENCES: _listed(adopted.differences)}):
        pass
    settings.say(
        f"wrote {output}: {len(bundle.devices)} switches, {len(bundle.links)} links; {len(adopted.differences)} rows "
        f"differ ({DIFFERENCES}). Next: fabricgen check {output}"
    )
    return 0


def _tell(settings: Settings, findings: Sequence[Finding]) -> None:
    tell(concise_report(in_order(findings), settings.paints(sys.stderr)), err=True, nl=False)


def _listed(differences: Mapping[tuple[str, str, str], str]) -> str:
    """device,table,key,reason: a line for each row, keys that are secrets not shown."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("device", "table", "key", "reason"))
    for (device, table, key), reason in differences.items():
        lines.writerow((device, table, shown_key(table, key), reason))
    return text.getvalue()
