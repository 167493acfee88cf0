"""`fabricgen import`: what a site has already, as parts of an inventory."""

import sys
from pathlib import Path

import click

from fabricgen.cli.settings import Settings, verb
from fabricgen.findings import in_order
from fabricgen.report.concise import concise_report


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
    click.echo(concise_report(in_order(findings), settings.paints(sys.stderr)), err=True, nl=False)
    if platform is None:
        return 1
    text = switch_entry_text(platform)
    if output is None:
        click.echo(text, nl=False)
        return 0
    output.write_text(text, encoding="utf-8")
    kept = ", ".join(layout.name for layout in platform.layouts)
    settings.say(f"wrote {output}: platform {platform.name}, layouts {kept}")
    return 0
