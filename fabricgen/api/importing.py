"""Numbers of an existing fabric into the lock file of an inventory, and files of other tools into an inventory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Finding, Location, has_errors
from fabricgen.inputs import TABLE_BYTES, read_text

if TYPE_CHECKING:
    from fabricgen.adopt.site import AdoptedSite
    from fabricgen.allocation.lock import Lock
    from fabricgen.dcim.system import System
    from fabricgen.inventory.read_files import InventorySource


@dataclass(frozen=True)
class ImportedAddresses:
    """The lock with the entries of the table, to be written unless a finding is an error. `entries` counts them."""

    lock: "Lock"
    findings: tuple[Finding, ...]
    entries: Mapping[str, int]
    devices: int
    links: int


def import_addresses(table: Path, inventory: "InventorySource") -> ImportedAddresses:
    """Read a CSV table of names, ASNs and addresses for the lock file of an inventory. Nothing is written.

    The errors of the inventory itself come first: without a correct design there is nothing to give numbers to. Raises
    UnreadableInputError for a table or inventory that cannot be read.
    """
    from fabricgen.allocation.imported import import_table
    from fabricgen.inventory.load import inventory_root
    from fabricgen.inventory.read_files import opened
    from fabricgen.render.plans import make_plans

    text = read_text(table, TABLE_BYTES)
    plans = make_plans(inventory)
    fabric = plans.fabric
    size = len(fabric.switches), len(fabric.links)
    own = [one for one in plans.findings if not one.code.startswith(_OF_LOCK)]
    if has_errors(own):
        return ImportedAddresses(plans.lock, tuple(own), {}, *size)
    found = import_table(fabric, plans.old_lock, str(table), text)
    root = inventory_root(inventory)

    def openable(place: Location) -> Location:
        return place if place.file == str(table) else opened(root, place)

    findings = tuple(
        replace(
            one,
            location=openable(one.location) if one.location else None,
            related=tuple(replace(each, location=openable(each.location)) for each in one.related),
        )
        for one in found.findings
    )
    return ImportedAddresses(found.lock, findings, found.entries, *size)


@dataclass(frozen=True)
class ImportedFabric:
    """The files of an inventory by path, empty after errors, and how much of the fabric it has."""

    files: Mapping[str, str]
    findings: tuple[Finding, ...]
    switches: int
    links: int


def import_foreign(
    kind: str, paths: Sequence[Path], fabric: str, hardware: Mapping[str, str], *, single_file: bool = False
) -> ImportedFabric:
    """An explicit inventory from files of another tool: avd, hhfab or minigraph. Nothing is written.

    `paths` are files and folders of them, `hardware` is model -> platform. With `single_file`, a platform entry beside
    the inventory is an error. Raises UnreadableInputError for a path that
    cannot be read, and UsageError for a platform or a name of the fabric that is not possible.
    """
    from fabricgen.adopt.foreign.avd import read_avd
    from fabricgen.adopt.foreign.explicit import explicit_inventory
    from fabricgen.adopt.foreign.hhfab import read_wiring
    from fabricgen.adopt.foreign.minigraph import read_minigraphs
    from fabricgen.adopt.written import fabric_name
    from fabricgen.platforms.catalog import switch_platform

    readers = {"avd": read_avd, "hhfab": read_wiring, "minigraph": read_minigraphs}
    for model, platform in hardware.items():
        found = switch_platform(platform)
        if found is None or not found.is_product:
            raise UsageError(f"--hardware {model}={platform}: not a name of `fabricgen list platforms`")
    endings = (".xml",) if kind == "minigraph" else (".yaml", ".yml")
    files = _files(paths, endings)
    described = readers[kind](files)
    first = Location(str(files[0]), 1, 1)
    adopted = explicit_inventory(described, fabric_name(fabric), kind, hardware, first, single_file=single_file)
    return ImportedFabric(adopted.files, tuple(adopted.findings), len(described.switches), adopted.links)


def _files(paths: Sequence[Path], endings: tuple[str, ...]) -> list[Path]:
    """The files of the paths, those of folders in order. Raises UnreadableInputError."""
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UnreadableInputError("no such file or folder", Location(str(path)))
        inside = sorted(file for file in path.rglob("*") if file.suffix in endings) if path.is_dir() else [path]
        if not inside:
            raise UnreadableInputError(f"contains no file that ends with {' or '.join(endings)}", Location(str(path)))
        found |= dict.fromkeys(inside)
    return list(found)


def import_site(system: "System", site: str, fabric: str = "", gateways: Sequence[str] = ()) -> "AdoptedSite":
    """The inventory of a site of NetBox or Nautobot. `fabric` is its name, by default that of the site.

    `system` comes from `fabricgen.dcim.connecting.connect`. `gateways` are those of the management network, one for
    each family. Raises UsageError for an unknown site, an invalid name or gateway, and what the server refuses.
    """
    from fabricgen.adopt.site import adopt_site
    from fabricgen.adopt.written import fabric_name
    from fabricgen.dcim.site import read_site
    from fabricgen.platforms.catalog import layout_by_hwsku

    if fabric and fabric != fabric_name(fabric):
        raise UsageError(
            f"--fabric {fabric!r}: a name has letters, digits, - _ . with a letter or digit first, at most 63"
        )
    for gateway in gateways:
        try:
            ip_address(gateway)
        except ValueError as error:
            raise UsageError(f"--gateway {gateway!r} is not an address") from error
    found = read_site(system, site)
    return adopt_site(found, system.name, fabric or fabric_name(site), layout_by_hwsku, gateways)


_OF_LOCK = ("FG384", "FG398", "FG399", "FG400")  # the table may correct what the lock file has
