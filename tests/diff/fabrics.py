"""A small rendered bundle, copies of it with other values, and what runs on its switches."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fabricgen.sonic.dump import dump

Config = dict[str, Any]
Edit = Callable[[str, Config], None]


def edited(bundle: Path, name: str, edit: Edit) -> Path:
    """A copy of the bundle beside it, each switch's tables changed by `edit(device, tables)`."""
    copy = bundle.with_name(name)
    shutil.copytree(bundle, copy)
    for file in sorted((copy / "sonic").glob("*/config_db.json")):
        config = json.loads(file.read_bytes())
        edit(file.parent.name, config)
        file.write_bytes(dump(config))
    return copy


# What an image adds by itself, in little.
IMAGE_TABLES: Config = {
    "CRM": {"Config": {"polling_interval": "300"}},
    "FEATURE": {name: {"state": "enabled", "auto_restart": "enabled"} for name in ("bgp", "lldp", "swss")},
    "KDUMP": {"config": {"enabled": "false"}},
    "VERSIONS": {"DATABASE": {"VERSION": "version_202605_01"}},
}
COMMUNITY = "kept-in-the-vault"


def running(bundle: Path, name: str, edit: Edit = lambda device, config: None) -> Path:
    """A folder of DEVICE.json as the switches would have saved them: with the image's rows, and secrets in place."""
    folder = bundle.with_name(name)
    folder.mkdir()
    for file in sorted((bundle / "sonic").glob("*/config_db.json")):
        config = json.loads(file.read_bytes())
        edit(file.parent.name, config)
        config.update(IMAGE_TABLES)
        config["DEVICE_METADATA"]["localhost"] |= {"mac": "02:00:00:00:00:01", "timezone": "UTC"}
        config["FLEX_COUNTER_TABLE"]["ACL"] = {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "10000"}
        (row,) = config["SNMP_COMMUNITY"].values()
        config["SNMP_COMMUNITY"] = {COMMUNITY: row}
        (folder / f"{file.parent.name}.json").write_bytes(dump(config))
    return folder
