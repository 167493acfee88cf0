"""`fabricgen import`: the files of an existing site as an inventory."""

from collections.abc import Mapping
from pathlib import Path

import click

from fabricgen.cli.import_others import COMMANDS
from fabricgen.cli.imported import print_notes, refuse_full
from fabricgen.cli.options import layers_of, link_options, planned_inventory, platform_option
from fabricgen.cli.output import EXIT_FINDINGS, print_findings
from fabricgen.cli.settings import FullGroup, Settings, verb
from fabricgen.cli.streams import as_words, write
from fabricgen.errors import UsageError
from fabricgen.findings import has_errors, in_order
from fabricgen.inputs import YAML_BYTES, read_text
from fabricgen.units import counted

DIFFERENCES = "differences.csv"


@click.group("import", cls=FullGroup)
def command() -> None:
    """Convert the files of an existing site into an inventory or a platform entry.

    \b
    Examples:
      fabricgen import config-db running --output my-fabric
      fabricgen import avd intended/structured_configs --output my-fabric
      fabricgen import netbox --site hall1 --output my-fabric
      fabricgen import addresses addresses.csv my-fabric
      fabricgen import sonic-device x86_64-vendor_model-r0 --output model.yaml
    """


@command.command("sonic-device")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--hwsku", default="", help="Import only this SKU of a platform folder. For the folder of one SKU: its name."
)
@click.option("--name", default="", help="Name of the platform in inventories.  [default: vendor-model]")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the entry to this file instead of standard output.",
)
@click.option(
    "--onie-platform",
    default="",
    help="ONIE platform, for example x86_64-vendor_model-r0.  [default: name of the folder]",
)
@click.option("--asic", default="", help="Name of the ASIC, for example Tomahawk5.")
@click.option("--asic-vendor", default="", help="Vendor of the ASIC, for example broadcom, nvidia or marvell.")
@click.option("--cell-bytes", type=click.IntRange(1), help="Size of a buffer cell of the ASIC, in bytes.")
@click.option("--mmu-bytes", type=click.IntRange(1), help="Packet memory of the ASIC, in bytes.")
@click.option("--source", default="", help="Source of the folder, for example sonic-buildimage@086b03bd70f9.")
@verb
def sonic_device(settings: Settings, folder: Path, hwsku: str, output: Path | None, **facts: object) -> int:
    """Convert DIR, a folder of a platform or of a SKU below device/ of sonic-buildimage, into a platform entry.

    The entry is printed to standard output, and notes to standard error. To use it, name its file under `platforms:` of
    an inventory, and the platform under `platform:` of a tier.

    \b
    Examples:
      fabricgen import sonic-device x86_64-vendor_model-r0 --output model.yaml
      fabricgen import sonic-device x86_64-vendor_model-r0 --hwsku Model-C64
    """
    from fabricgen.atomic import write_atomically
    from fabricgen.platforms.entry_text import switch_entry_text
    from fabricgen.platforms.sonic_device.entry import DeviceFacts, import_device

    platform, findings = import_device(folder, hwsku, DeviceFacts(**facts))  # type: ignore[arg-type]
    print_notes(settings, findings)
    if platform is None:
        return 1
    text = switch_entry_text(platform)
    if output is None:
        write(text, nl=False)
        return 0
    write_atomically(output, text.encode())
    kept = ", ".join(layout.name for layout in platform.layouts)
    settings.say(f"wrote {output}: platform {platform.name}, layouts {kept}")
    return 0


@command.command("addresses")
@click.argument("table", metavar="TABLE", type=click.Path(path_type=Path, dir_okay=False))
@planned_inventory()
@click.option(
    "--output",
    "-o",
    "lock",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the lock file here.  [default: beside the inventory]",
)
@verb
def addresses(
    settings: Settings, table: Path, inventories: tuple[Path, ...], values: tuple[str, ...], lock: Path | None
) -> int:
    """Write the ASNs and addresses of TABLE, a CSV file, into the lock file of INVENTORY, which keeps them.

    Several inventories are layers: each one changes those before it. The lock file is beside the last one.

    Columns: device (name or identity of a switch), identity (to give it that name), asn, loopback, management, and for
    a row about a link port and address. Two addresses of a cell are separated by a space.

    \b
    Examples:
      fabricgen import addresses addresses.csv my-fabric
      fabricgen import addresses addresses.csv my-fabric --output new.lock.yaml
    """
    from fabricgen.allocation.lock import write_lock
    from fabricgen.api.importing import import_addresses
    from fabricgen.inventory.load import LOCK_NAME, inventory_root
    from fabricgen.report.summary import Counts

    inventory = layers_of(inventories, values)
    found = import_addresses(table, inventory)
    if has_errors(found.findings):
        print_findings(settings, in_order(found.findings), Counts(devices=found.devices, links=found.links))
        return EXIT_FINDINGS
    print_notes(settings, found.findings)
    file = lock or inventory_root(inventory) / LOCK_NAME
    write_lock(file, found.lock)
    kept = ", ".join(f"{count} {section}" for section, count in found.entries.items())
    settings.say(f"wrote {file}: {kept} of {table}. Next: fabricgen check {as_words(*inventories)}")
    return 0


@command.command("config-db")
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="New folder for the inventory. By default, one self-contained file is printed to standard output.",
)
@click.option("--fabric", default="", help="Name of the fabric.  [default: name of the folder]")
@click.option("--hwsku", default="", help="The SKU of switches whose own is missing or unknown, as in the catalog.")
@platform_option
@link_options
@verb
def config_db(
    settings: Settings,
    paths: tuple[Path, ...],
    output: Path | None,
    fabric: str,
    hwsku: str,
    platform_files: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
) -> int:
    """Convert config_db.json files, or folders of them, into an explicit inventory of their fabric.

    The inventory renders the same rows. Rows that differ are reported on standard error and listed in differences.csv.

    \b
    Examples:
      fabricgen import config-db running --output my-fabric
      fabricgen import config-db running --fabric east > east.yaml
    """
    from fabricgen.adopt.adopt import adopt
    from fabricgen.adopt.written import FILE_NAME, fabric_name
    from fabricgen.api.judgement import open_observed
    from fabricgen.atomic.folder import create_files
    from fabricgen.platforms.catalog import layout_by_hwsku
    from fabricgen.platforms.entries import load_switch_platform
    from fabricgen.report.summary import Counts

    if output is not None:
        refuse_full(output)
    if output is None and platform_files:
        raise UsageError("--platform needs --output: an inventory with a platform entry is a folder")
    if fabric and fabric != fabric_name(fabric):
        raise UsageError(
            f"--fabric {fabric!r}: a name has letters, digits, - _ . with a letter or digit first, at most 63"
        )
    platforms = [load_switch_platform(file) for file in platform_files]
    own = {layout.hwsku: (platform, layout) for platform in platforms for layout in platform.layouts}
    entries = {
        f"platforms/{platform.name}.yaml": read_text(file, YAML_BYTES)
        for platform, file in zip(platforms, platform_files, strict=True)
    }
    if hwsku and not (own.get(hwsku) or layout_by_hwsku(hwsku)):
        raise UsageError(f"--hwsku {hwsku!r}: neither the catalog nor an entry of --platform has it")
    bundle = open_observed(paths, links, lldp)
    adopted = adopt(
        bundle,
        fabric or fabric_name(output.resolve().name if output else "imported"),
        lambda sku: own.get(sku) or layout_by_hwsku(sku),
        entries,
        hwsku=hwsku,
        single_file=output is None,
    )
    if not adopted.files:
        counts = Counts(devices=len(bundle.devices), links=len(bundle.links))
        print_findings(settings, adopted.findings, counts)
        return EXIT_FINDINGS
    print_notes(settings, adopted.findings)
    if output is None:
        write(adopted.files[FILE_NAME], nl=False)
        return 0
    files = {**adopted.files, DIFFERENCES: _listed(adopted.differences)}
    create_files(output, {path: text.encode() for path, text in files.items()})
    missing = len(bundle.links) - adopted.links
    left = f" (not in the inventory: {missing}, FG142)" if missing else ""
    settings.say(
        f"wrote {output}: {counted(len(bundle.devices), 'switch')}, {counted(adopted.links, 'link')}{left}; rows that "
        f"differ: {len(adopted.differences)} ({DIFFERENCES}). Next: fabricgen check {as_words(output)}"
    )
    return 0


def _listed(differences: Mapping[tuple[str, str, str], str]) -> str:
    """CSV with device, table, key and reason of each row; a key that is a secret is masked."""
    import csv
    import io

    from fabricgen.sonic.secrets import shown_key
    from fabricgen.visible import cell

    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("device", "table", "key", "reason"))
    for (device, table, key), reason in differences.items():
        lines.writerow(map(cell, (device, table, shown_key(table, key), reason)))
    return text.getvalue()


for each in COMMANDS:
    command.add_command(each)
