"""The files of FRR beside a config_db.json."""

from pathlib import Path

from fabricgen.bundle.names import CONFIG_NAME
from fabricgen.inputs import TABLE_BYTES, read_text
from fabricgen.sonic.frr_conf import FrrConfig, read_frr

# /etc/sonic/frr/ of a switch: one file, or with docker_routing_config_mode split one for each daemon.
_INTEGRATED, _OF_DAEMONS = "frr.conf", ("zebra.conf", "bgpd.conf", "staticd.conf")


def frr_beside(config: Path) -> FrrConfig | None:
    """The content of the files of FRR beside a config_db.json; None without one. Raises UnreadableInputError."""
    text = frr_text_beside(config)
    return None if text is None else read_frr(text)


def frr_text_beside(config: Path) -> str | None:
    """The text of frr.conf or bgpd.conf in the folder of a config_db.json or in frr/ of it, or of DEVICE.frr.conf or
    DEVICE_frr.conf beside a DEVICE.json; None without one. The only JSON file of a folder is like a config_db.json.
    Raises UnreadableInputError."""
    if config.name != CONFIG_NAME:
        named = (config.with_name(f"{config.stem}{mark}frr.conf") for mark in "._-")
        if files := [file for file in named if file.is_file()][:1]:
            return read_text(files[0], TABLE_BYTES)
        if len([*config.parent.glob("*.json")]) > 1:
            return None
    for folder in (config.parent, config.parent / "frr"):
        names = (_INTEGRATED,) if (folder / _INTEGRATED).is_file() else _OF_DAEMONS
        if files := [folder / name for name in names if (folder / name).is_file()]:
            return "\n".join(read_text(file, TABLE_BYTES) for file in files)
    return None
