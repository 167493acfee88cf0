"""Folders that are not a switch by themselves: supervisors and line cards of a chassis, and devices of several ASICs.

SONiC runs one instance with its own config_db.json for each ASIC of such a device. Sources, in sonic-buildimage
@086b03bd70f9: src/sonic-py-common sonic_py_common/device_info.py (is_supervisor) and multi_asic.py (NUM_ASIC),
files/scripts and rules for chassisdb.conf (start_chassis_db).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from fabricgen.findings import Severity
from fabricgen.platforms.sonic_device.tree import DeviceFolder, DeviceTree

NOT_A_SWITCH, PART = "FG453", "FG454"
_SETTING = re.compile(r"^(\w+)=(\S*)", re.MULTILINE)
_LACKS = "SONiC also needs SYSTEM_PORT and the database of the chassis, which fabricgen does not render"
_COUNT = "use the entry to count ports and to judge buffers, not to render the configuration of this device"


@dataclass(frozen=True)
class Device:
    """What a platform folder is for, by its asic.conf, platform_env.conf and chassisdb.conf."""

    is_supervisor: bool
    asics: int
    is_line_card: bool


def read_device(tree: DeviceTree, platform: Path) -> Device:
    """The facts of a platform folder."""
    asics = _settings(tree, platform / "asic.conf").get("NUM_ASIC", "")
    chassis = _settings(tree, platform / "chassisdb.conf")
    return Device(
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
