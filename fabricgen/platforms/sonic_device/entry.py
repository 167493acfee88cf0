"""A device folder to a `SwitchPlatform`. Options give what the folder does not state; the rest stays unknown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricgen.findings import Finding, Severity
from fabricgen.platforms.hash_support import HASH_FIELDS
from fabricgen.platforms.model import Layout, PlatformPort, SwitchPlatform
from fabricgen.platforms.sonic_device import headroom, ports
from fabricgen.platforms.sonic_device.buffers import read_buffers
from fabricgen.platforms.sonic_device.headroom import read_headroom
from fabricgen.platforms.sonic_device.ports import read_platform_cages, read_ports
from fabricgen.platforms.sonic_device.tree import DeviceFolder, DeviceTree, open_tree
from fabricgen.units import format_speed

_ASIC_VENDORS = {"mellanox": "nvidia", "nvidia": "nvidia", "broadcom": "broadcom", "marvell": "marvell"}
_CHIPS = {"th": "Tomahawk", "td": "Trident"}
_CHIP_IN_NAME = re.compile(r"(?:^|[-_.])(th|td)(\d)(?=[-_.])", re.IGNORECASE)  # th5-a7060x6-64pe.config.bcm
_ONIE_NAME = re.compile(r"(?:x86_64|arm64|aarch64|armhf)-([a-z0-9]+)_(.+?)(?:-r[\d.]+)?")

# sonic-swss@e6b0c5b5d2ab orchagent/pfcwdorch.cpp: cisco-8000 refuses forward; elsewhere it takes all three.
_WATCHDOG_ACTIONS = ("drop", "forward", "alert")
_WATCHDOG_SOURCE = (
    "sonic-swss@e6b0c5b5d2ab:orchagent/pfcwdorch.cpp takes all three and refuses forward on cisco-8000 only"
)
_HASH_SOURCES = {
    "nvidia": "sonic-mgmt@c4c1b2b711f1:tests/hash/generic_hash_helper.py MELLANOX_ECMP_HASH_FIELDS",
    "cisco": "sonic-mgmt@056a8260:tests/hash/generic_hash_helper.py, the fields of cisco-8000",
}
_PFC_TO_PG_VENDORS = ("nvidia", "barefoot")
_PFC_TO_PG_SOURCE = "files/build_templates/qos_config.j2 pfc_to_pg_map_supported_asics (mellanox, barefoot)"
_DYNAMIC_FILE = "buffers_dynamic.json.j2"
_NOT_USED = "; in the dynamic model the switch computes its own"


@dataclass(frozen=True)
class DeviceFacts:
    """Facts of the device that its folder does not state. Empty or None: unknown."""

    name: str = ""
    onie_platform: str = ""
    asic: str = ""
    asic_vendor: str = ""
    mmu_bytes: int | None = None
    cell_bytes: int | None = None
    source: str = ""  # name of the tree, e.g. sonic-buildimage@086b03bd70f9


def import_device(
    folder: Path, hwsku: str = "", facts: DeviceFacts = DeviceFacts()
) -> tuple[SwitchPlatform | None, list[Finding]]:
    """The entry of a platform folder with all its SKUs, or of one SKU; None where no SKU has a port that can be used.

    `hwsku` picks one SKU of a platform folder; for a SKU's own folder it says how the SKU is called.
    """
    tree = open_tree(folder, facts.source)
    device = DeviceFolder(tree, folder.resolve())
    if is_refused(tree, device):
        return None, tree.findings
    skus = device.skus
    if len(skus) == 1 and device.folder in skus.values():
        skus = {hwsku or next(iter(skus)): device.folder}
    elif hwsku:
        skus = {name: place for name, place in skus.items() if name == hwsku}
    return _Import(tree, device, facts).entry(skus), tree.findings


class _Import:
    def __init__(self, tree: DeviceTree, device: DeviceFolder, facts: DeviceFacts) -> None:
        self.tree, self.device, self.facts = tree, device, facts

    def entry(self, skus: Mapping[str, Path]) -> SwitchPlatform | None:
        asic_vendor = self._asic_vendor(skus)
        dynamic = asic_vendor == "nvidia" and any(self._dynamic(sku) for sku in skus.values())
        layouts: list[Layout] = []
        for hwsku, sku in skus.items():
            if dynamic != (asic_vendor == "nvidia" and self._dynamic(sku)):
                message = f"{hwsku} has no {_DYNAMIC_FILE} as its siblings have: left out, import it by itself"
                self.tree.report("FG121", Severity.WARNING, message, sku)
            elif layout := self._layout(hwsku, sku, {layout.name for layout in layouts}, dynamic=dynamic):
                layouts.append(layout)
        if not layouts:
            known = ", ".join(self.device.skus)
            message = "no SKU has a port that can be used"
            if not skus:
                message = f"this SKU does not exist; known: {known}" if known else "no folder in it has ports"
            message, hint = f"nothing to import: {message}", "a SKU's folder holds port_config.ini or hwsku.json"
            self.tree.report("FG120", Severity.ERROR, message, self.device.folder, hint=hint)
            return None
        onie = self._onie_platform()
        match = _ONIE_NAME.fullmatch(onie)
        sources = {"layouts": self.tree.named(self.device.folder)}
        asic = self._asic(skus)
        unknown = [
            f"{what} ({option})"
            for what, option, known in (
                ("ASIC", "--asic", asic),
                ("vendor of the ASIC", "--asic-vendor", asic_vendor),
                ("cell size", "--cell-bytes", self.facts.cell_bytes),
                ("memory of the chip", "--mmu-bytes", self.facts.mmu_bytes),
            )
            if not known
        ]
        if unknown:
            self.tree.note("FG126", f"the folder does not state: {', '.join(unknown)}", self.device.platform)
        for key in ("asic", "asic_vendor", "mmu_bytes", "cell_bytes"):
            if getattr(self.facts, key):
                sources[key] = "given at import"
        if asic_vendor:
            sources |= {"watchdog_actions": _WATCHDOG_SOURCE, "pfc_to_pg_map": self._of_tree(_PFC_TO_PG_SOURCE)}
        if asic_vendor in _HASH_SOURCES:
            sources["ecmp_hash_fields"] = _HASH_SOURCES[asic_vendor]
        cages = read_platform_cages(self.tree, self.device.platform)
        if cages:
            sources["cages"] = self._source(self.device.platform / "platform.json")
        return SwitchPlatform(
            name=self.facts.name or self._name(onie),
            vendor=match[1] if match else "unknown",
            asic=asic or None,
            asic_vendor=asic_vendor or None,
            onie_platform=onie,
            buffer_model="dynamic" if dynamic else "traditional",
            mmu_bytes=self.facts.mmu_bytes,
            cell_bytes=self.facts.cell_bytes,
            capabilities=_capabilities(asic_vendor),
            layouts=tuple(layouts),
            sources=sources,
            cages=cages,
        )

    def _name(self, onie: str) -> str:
        match = _ONIE_NAME.fullmatch(onie)
        part = "" if self.device.asic is None else f"-asic{self.device.asic}"
        return (f"{match[1]}-{match[2]}" if match else onie).lower().replace("_", "-") + part

    def _layout(self, hwsku: str, sku: Path, taken: set[str], *, dynamic: bool) -> Layout | None:
        found = read_ports(self.tree, sku, self.device.platform)
        if not found:
            self.tree.report("FG121", Severity.WARNING, f"{hwsku} has no port that can be used: left out", sku)
            return None
        rows = read_headroom(self.tree, sku)
        buffers, sources = read_buffers(self.tree, sku, found, dynamic=dynamic)
        if not rows and not dynamic:
            message = f"{hwsku} has no headroom rows: listed, and refused for lossless planes"
            self.tree.report("FG123", Severity.WARNING, message, sku, hint="choose a SKU with a pg_profile_lookup.ini")
        own = {"ports": self._source(sku / ports.FILE, sku / "hwsku.json", self.device.platform / "platform.json")}
        if rows:
            own["headroom"] = self._source(sku / headroom.FILE) + (_NOT_USED if dynamic else "")
        elif not dynamic:
            own["headroom"] = f"{self.tree.named(sku.resolve())}: it has no {headroom.FILE} with rows"
        if not sources:
            own["buffers"] = f"{self.tree.named(sku.resolve())}: it has no buffers_defaults_*.j2"
        name = _layout_name(found)
        return Layout(
            name=hwsku if name in taken else name,
            hwsku=hwsku,
            ports=found,
            headroom=rows,
            buffers=buffers,
            sources=own | {f"buffers.{role}": source for role, source in sources.items()},
        )

    def _source(self, *files: Path) -> str:
        return ", ".join(self.tree.named(file.resolve()) for file in files if file.exists())

    def _of_tree(self, place: str) -> str:
        return f"{self.facts.source}:{place}" if self.facts.source else f"sonic-buildimage {place}"

    def _dynamic(self, sku: Path) -> bool:
        return self.tree.text(sku / _DYNAMIC_FILE) is not None

    def _asic_vendor(self, skus: Mapping[str, Path]) -> str:
        """The option; else platform_asic; else the vendor whose SAI alone reads some of the files."""
        word = self.facts.asic_vendor or (self.tree.text(self.device.platform / "platform_asic") or "").strip()
        if not word and any(file.suffix == ".bcm" for sku in skus.values() for file in sku.iterdir()):
            word = "broadcom"
        return _ASIC_VENDORS.get(word.partition("-")[0], word)

    def _asic(self, skus: Mapping[str, Path]) -> str:
        """The option; else the chip in the names of the SKUs' chip files, if they agree."""
        names = [
            file.name for sku in skus.values() for file in sku.iterdir() if file.suffix in (".bcm", ".yml", ".xml")
        ]
        stated = {_CHIPS[match[1].lower()] + match[2] for name in names if (match := _CHIP_IN_NAME.search(name))}
        return self.facts.asic or (stated.pop() if len(stated) == 1 else "")

    def _onie_platform(self) -> str:
        name = self.facts.onie_platform or self.device.platform.name
        if not self.facts.onie_platform and not _ONIE_NAME.fullmatch(name):
            message = (
                f"the platform's folder is called {name}, which is not an ONIE platform such as x86_64-vendor_model-r0"
            )
            hint = "name it with --onie-platform: DEVICE_METADATA takes it"
            self.tree.report("FG126", Severity.WARNING, message, self.device.platform, hint=hint)
        return name


def _layout_name(found: tuple[PlatformPort, ...]) -> str:
    """'64x400g', '32x800g+64x400g'."""
    speeds = sorted({port.speed_mbps for port in found if port.kind == "fabric"}, reverse=True)
    counts = [(sum(p.kind == "fabric" and p.speed_mbps == speed for p in found), speed) for speed in speeds]
    return "+".join(f"{count}x{format_speed(speed).lower()}" for count, speed in counts)


def _capabilities(asic_vendor: str) -> Mapping[str, tuple[str, ...]]:
    if not asic_vendor:
        return {}
    actions = tuple(a for a in _WATCHDOG_ACTIONS if a != "forward" or asic_vendor != "cisco")
    pfc_to_pg = "yes" if asic_vendor in _PFC_TO_PG_VENDORS else "no"
    hashing = {"ecmp_hash_fields": HASH_FIELDS[asic_vendor]} if asic_vendor in _HASH_SOURCES else {}
    return {"watchdog_actions": actions, "pfc_to_pg_map": (pfc_to_pg,), **hashing}


# Folders that are not a switch by themselves: supervisors and line cards of a chassis, and devices of several ASICs.
#
# SONiC runs one instance with its own config_db.json for each ASIC of such a device. Sources, in sonic-buildimage
# @086b03bd70f9: src/sonic-py-common sonic_py_common/device_info.py (is_supervisor) and multi_asic.py (NUM_ASIC),
# files/scripts and rules for chassisdb.conf (start_chassis_db).

NOT_A_SWITCH, PART = "FG453", "FG454"
_SETTING = re.compile(r"^(\w+)=(\S*)", re.MULTILINE)
_LACKS = "SONiC also needs SYSTEM_PORT and the database of the chassis, which fabricgen does not render"
_COUNT = "use the entry to count ports and to judge buffers, not to render the configuration of this device"


@dataclass(frozen=True)
class FolderKind:
    """What a platform folder is for, by its asic.conf, platform_env.conf and chassisdb.conf."""

    is_supervisor: bool
    asics: int
    is_line_card: bool


def read_device(tree: DeviceTree, platform: Path) -> FolderKind:
    """The facts of a platform folder."""
    asics = _settings(tree, platform / "asic.conf").get("NUM_ASIC", "")
    chassis = _settings(tree, platform / "chassisdb.conf")
    return FolderKind(
        is_supervisor=_settings(tree, platform / "platform_env.conf").get("supervisor") == "1",
        asics=int(asics) if asics.isdecimal() else 1,
        is_line_card="chassis_db_address" in chassis and chassis.get("start_chassis_db") != "1",
    )


def is_refused(tree: DeviceTree, folder: DeviceFolder) -> bool:
    """Whether a folder is neither a switch nor one part of a device; reported, as is a part, which is imported."""
    platform = folder.platform
    device = read_device(tree, platform)
    if device.is_supervisor:
        message = (
            f"this is the supervisor of a chassis: {device.asics} ASICs that join its line cards, no port for a fabric"
        )
        hint = "import the folders of the line cards"
        tree.report(NOT_A_SWITCH, Severity.ERROR, message, platform / "platform_env.conf", hint=hint)
        return True
    if device.asics > 1 and folder.asic is None:
        message = f"this device has {device.asics} ASICs, each with its own config_db.json"
        skus = sorted(platform.iterdir()) if folder.folder == platform else [folder.folder]
        parts = [part for sku in skus if (part := sku / "0").is_dir()]
        hint = f"import the ports and buffers of one ASIC: {parts[0]}" if parts else "no SKU has a folder for each ASIC"
        tree.report(NOT_A_SWITCH, Severity.ERROR, message, platform / "asic.conf", hint=hint)
        return True
    if folder.asic is not None or device.is_line_card:
        what = f"one of {device.asics} ASICs" if folder.asic is not None else "a line card"
        of = f"{what} of a line card" if folder.asic is not None and device.is_line_card else what
        file = platform / ("chassisdb.conf" if device.is_line_card else "asic.conf")
        tree.report(PART, Severity.WARNING, f"this is {of}, not a switch: {_LACKS}", file, hint=_COUNT)
    return False


def _settings(tree: DeviceTree, file: Path) -> dict[str, str]:
    return dict(_SETTING.findall(tree.text(file) or ""))
