"""Write fabricgen/platforms/catalog/switches: the SKUs of sonic-buildimage whose chip is built for AI fabrics.

    git clone https://github.com/sonic-net/sonic-buildimage
    python -m scripts.make_catalog sonic-buildimage

The layouts of an entry are imported as `fabricgen import sonic-device` does it, at the commit below, so that the same
clone gives the same bytes. What the branches of SONiC's releases say otherwise of pools, profiles and headroom is
in `by_release` of the layouts. If an entry exists, its head (names, chip, cell size, sources) and the order of its
layouts are kept: people complete them. A SKU that two folders have is taken from the first one. A SKU whose ports
cannot all be used, or share an alias or a lane, and a switch whose chip is not stated, are left out.
"""

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fabricgen.platforms.catalog_index import INDEX, index_text, lossy_roles
from fabricgen.platforms.entries import load_switch_platform
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import Layout, ReleaseFacts, SwitchPlatform
from fabricgen.platforms.sonic_device.entry import DeviceFacts, import_device
from fabricgen.sonic.release_models import images
from fabricgen.sonic.releases import MASTER
from fabricgen.sonic.updater.validators import asic_of
from scripts.sonic_clone import extract, shown

COMMIT = "086b03bd70f9e211aaaf5f6aefe0790b508d2a94"
BRANCHES = {  # those of the models, and two older ones
    202305: "9c5760cf1a6165a16b6ea03c8ae4ba57009e5ccf",
    202311: "e5cd212fec5c47e88be1afbaac079005c45f6db4",
    **{release: image.commit for release, image in images().items() if release != MASTER},
}
SOURCE = f"sonic-buildimage@{COMMIT[:12]}"
CATALOG = INDEX.parent / "switches"
_ASIC_TABLE = "platform/mellanox/asic_table.j2"

# Models of the simulator, SKUs of test beds, and the SmartSwitch, some of whose ports lead to its own DPUs.
_NOT_FOR_FABRICS = re.compile(r"simx|[-_]lab$|-FANOUT$|pure-pd|sn4280", re.IGNORECASE)
_CHIPS = ("Tomahawk3", "Tomahawk4", "Tomahawk5", "Tomahawk6", "Teralynx", *(f"Spectrum-{n}" for n in range(2, 7)))
_NUMBERS = {
    "56980": "Tomahawk3",
    "56990": "Tomahawk4",
    "78900": "Tomahawk5",
    "78910": "Tomahawk6",
    "78914": "Tomahawk6",
}
_NUMBER = re.compile(rf"BCM({'|'.join(_NUMBERS)})", re.IGNORECASE)
_CELL_BYTES = {
    "Tomahawk5": (254, "sonic-mgmt@b4ba9de3c9bb:tests/qos/files/qos_params.th5.yaml"),
    "Tomahawk3": (254, "sonic-mgmt@b4ba9de3c9bb:tests/qos/files/qos_params.th3.yaml"),
    "Tomahawk6": (420, "sonic-buildimage issue 28657"),
    "Spectrum-2": (144, f"{SOURCE}:{_ASIC_TABLE} MELLANOX-SPECTRUM-2"),
    "Spectrum-3": (144, f"{SOURCE}:{_ASIC_TABLE} MELLANOX-SPECTRUM-3"),
    "Spectrum-4": (192, f"{SOURCE}:{_ASIC_TABLE} MELLANOX-SPECTRUM-4"),
    "Spectrum-5": (192, f"{SOURCE}:{_ASIC_TABLE} MELLANOX-SPECTRUM-5"),
    "Spectrum-6": (256, f"{SOURCE}:{_ASIC_TABLE} MELLANOX-SPECTRUM-6"),
}
_CHIP_FILES = (".bcm", ".yml", ".ini", ".j2")
_MIN_FABRIC_MBPS = 100_000
_LEFT_OUT = "left out: "  # of findings about ports


def main(clone: Path) -> None:
    """Import all folders of all branches, and write the entries."""
    import_main(clone)
    add_releases(clone)
    INDEX.write_text(index_text(CATALOG), encoding="utf-8")


def add_releases(clone: Path) -> None:
    """Write what the branches say otherwise into the entries."""
    entries = [entry for entry in map(load_switch_platform, sorted(CATALOG.glob("*.yaml"))) if entry.onie_platform]
    facts = dict(release_facts(clone, entries))
    for entry in entries:
        layouts = tuple(replace(one, by_release=joined(facts.get(one.hwsku, []))) for one in entry.layouts)
        text = switch_entry_text(replace(entry, layouts=layouts))
        (CATALOG / f"{entry.name}.yaml").write_text(text, encoding="utf-8")


def release_facts(clone: Path, entries: Sequence[SwitchPlatform]) -> Iterator[tuple[str, list[ReleaseFacts]]]:
    """hwsku -> what each branch says otherwise than the entry, oldest first."""
    found: dict[str, list[ReleaseFacts]] = {layout.hwsku: [] for entry in entries for layout in entry.layouts}
    for release, commit in BRANCHES.items():
        with tempfile.TemporaryDirectory() as aside:
            _extract_devices(clone, commit, Path(aside))
            folders = {one.name: one for one in sorted((Path(aside) / "device").glob("*/*-*")) if not one.is_symlink()}
            for entry in entries:
                folder = folders.get(entry.onie_platform)
                source = DeviceFacts(source=f"sonic-buildimage@{commit[:12]}", asic=entry.asic or "")
                imported = import_device(folder, facts=source)[0] if folder else None
                layouts = {layout.hwsku: layout for layout in imported.layouts} if imported else {}
                for layout in entry.layouts:
                    own = _differing(release, layout, layouts.get(layout.hwsku))
                    found[layout.hwsku] += [own] if own else []
    yield from found.items()


def _differing(release: int, known: Layout, own: Layout | None) -> ReleaseFacts | None:
    """What a branch says otherwise of a layout; tables that it does not have are those of the entry."""
    if own is None:
        return ReleaseFacts((release,), lacks=("sku",))
    lacks = tuple(name for name in ("headroom", "buffers") if getattr(known, name) and not getattr(own, name))
    headroom = () if own.headroom == known.headroom else own.headroom
    buffers = {} if own.buffers == known.buffers else own.buffers
    sources = {key: text for key, text in own.sources.items() if key == "headroom" and headroom}
    sources |= {key: own.sources[key] for key in (f"buffers.{role}" for role in buffers)}
    return ReleaseFacts((release,), lacks, headroom, buffers, sources) if lacks or headroom or buffers else None


def joined(facts: Sequence[ReleaseFacts]) -> tuple[ReleaseFacts, ...]:
    """Releases with equal facts together, with the source of the newest one."""
    joined: list[ReleaseFacts] = []
    for one in facts:
        last = joined[-1] if joined else None
        if last and (last.lacks, last.headroom, last.buffers) == (one.lacks, one.headroom, one.buffers):
            joined[-1] = replace(one, releases=(*last.releases, *one.releases))
        else:
            joined.append(one)
    return tuple(joined)


def _extract_devices(clone: Path, commit: str, folder: Path) -> None:
    firmware = (f":(exclude,glob)device/**/*.{suffix}" for suffix in ("bin", "img"))
    extract(clone, commit, ["device", *firmware], folder)


def import_main(clone: Path) -> None:
    """Import the layouts of the catalog's commit, without `by_release`."""
    existing = {entry.onie_platform: entry for entry in map(load_switch_platform, CATALOG.glob("*.yaml"))}
    taken = {layout.hwsku for entry in existing.values() for layout in entry.layouts}
    asic_table = shown(clone, COMMIT, _ASIC_TABLE)
    with tempfile.TemporaryDirectory() as aside:
        _extract_devices(clone, COMMIT, Path(aside))
        for folder in sorted((Path(aside) / "device").glob("*/*-*")):
            if not folder.is_dir() or folder.is_symlink() or _NOT_FOR_FABRICS.search(folder.name):
                continue
            known = existing.get(folder.name)
            if known and known.asic not in _CHIPS:
                continue  # made by hand
            entry = _entry(folder, asic_table, known)
            if entry is None:
                continue
            own = {layout.hwsku for layout in known.layouts} if known else set()
            layouts = tuple(layout for layout in entry.layouts if layout.hwsku in own or layout.hwsku not in taken)
            if layouts:
                taken |= {layout.hwsku for layout in layouts}
                entry = replace(entry, layouts=layouts)
                (CATALOG / f"{entry.name}.yaml").write_text(switch_entry_text(entry), encoding="utf-8")


def _entry(folder: Path, asic_table: str, known: SwitchPlatform | None) -> SwitchPlatform | None:
    """The entry of a folder; None where its chip is not known or of another kind. A known entry's head is kept."""
    chip, source = (known.asic or "", "") if known else _chip(folder, asic_table)
    if not known and chip not in _CHIPS:
        return None
    cell_bytes, cell_source = _CELL_BYTES.get(chip, (None, "no public source states it"))
    facts = DeviceFacts(name=known.name if known else _name(folder), asic=chip, cell_bytes=cell_bytes, source=SOURCE)
    imported, findings = import_device(folder, facts=facts)
    partly = {
        Path(at.file).parent.name for one in findings if (at := one.location) and one.message.startswith(_LEFT_OUT)
    }
    layouts = [one for one in imported.layouts if one.hwsku not in partly and _is_usable(one)] if imported else []
    if not imported or not layouts:
        return None
    head = known or replace(
        imported,
        sources={
            **imported.sources,
            "asic": source,
            "buffer_model": f"{imported.sources['layouts']}: "
            + (
                "its SKUs have buffers_dynamic.json.j2" if imported.buffer_model == "dynamic" else "no dynamic template"
            ),
            "cell_bytes": cell_source,
            "mmu_bytes": "no public source states the total",
        },
    )
    return replace(
        head, cages=imported.cages or head.cages, layouts=tuple(_named(_ordered(layouts, imported, known), known))
    )


def _name(folder: Path) -> str:
    """vendor-model, without the vendor's second name in the model: nvidia-sn4700, micas-w6940-64oc."""
    vendor = folder.parent.name
    model = re.sub(r"-r\d+$", "", folder.name.removeprefix("x86_64-"))
    model = re.sub(r"^mlnx_m|^[a-z]+_(m2-)?", "", model)
    return f"{'nvidia' if vendor == 'mellanox' else vendor}-{model}".lower().replace("_", "-")


def _chip(folder: Path, asic_table: str) -> tuple[str, str]:
    """(chip, source): NVIDIA's table, the names of chip files, their content, Marvell's platform_asic, or the HwSKUs of
    the updater's validators; empty where none of them states it."""
    place = f"{SOURCE}:device/{folder.parent.name}/{folder.name}"
    if match := re.search(rf"'{re.escape(folder.name)}':'MELLANOX-SPECTRUM(-\d)?'", asic_table):
        return f"Spectrum{match[1] or ''}", f"{SOURCE}:{_ASIC_TABLE} platform2asic"
    imported, _ = import_device(folder)
    if imported is None:
        return "", ""
    is_marvell = imported.asic_vendor == "marvell"
    if imported.asic and not is_marvell:
        return imported.asic, f"{place}: names of its chip files"
    folders = [folder, *(folder / layout.hwsku for layout in imported.layouts)]
    for file in (file for one in folders for file in sorted(one.glob("*.*")) if file.suffix in _CHIP_FILES):
        if match := _NUMBER.search(file.read_text(errors="replace")):
            return _NUMBERS[match[1]], f"{place}/{file.relative_to(folder)} states BCM{match[1]}"
    if is_marvell and not imported.asic and "teralynx" in (folder / "platform_asic").read_text():
        return "Teralynx", f"{place}/platform_asic"
    named = {asic_of(layout.hwsku, MASTER) for layout in imported.layouts} - {""}
    if len(named) == 1 and (short := named.pop()).startswith("th"):
        source = "generic_config_updater/gcu_field_operation_validators.conf.json"
        return f"Tomahawk{short[2:]}", f"sonic-utilities@691b1bbc4fd2:{source}"
    return "", ""


def _is_usable(layout: Layout) -> bool:
    is_wanted = not _NOT_FOR_FABRICS.search(layout.hwsku) and layout.speed_mbps >= _MIN_FABRIC_MBPS
    aliases = [port.alias for port in layout.ports]
    lanes = [lane for port in layout.ports for lane in port.lanes]
    return is_wanted and len(set(aliases)) == len(aliases) and len(set(lanes)) == len(lanes)


def _ordered(layouts: list[Layout], imported: SwitchPlatform, known: SwitchPlatform | None) -> list[Layout]:
    """Those of the known entry in its order; then those that are lossless in more roles, in the import's order."""
    places = {layout.hwsku: place for place, layout in enumerate(known.layouts)} if known else {}
    return sorted(layouts, key=lambda one: (places.get(one.hwsku, len(places)), len(lossy_roles(imported, one))))


def _named(layouts: list[Layout], known: SwitchPlatform | None) -> Iterator[Layout]:
    """Layouts by their radix; where that is taken, by their hwsku."""
    names = {layout.hwsku: layout.name for layout in known.layouts} if known else {}
    used = set(names.values())
    for layout in layouts:
        radix = "+".join(f"{len(layout.ports_at(s))}x{s // 1000}g" for s in layout.speeds_mbps)
        name = names.get(layout.hwsku) or (layout.hwsku if radix in used else radix)
        used.add(name)
        yield replace(layout, name=name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
