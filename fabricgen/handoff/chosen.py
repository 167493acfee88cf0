"""Which devices of a bundle a handoff is for."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.errors import UsageError

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")  # what is no path, no shell word and no expression


def chosen_devices(bundle: Bundle, only: str | None) -> list[ObservedDevice]:
    """The switches with a file whose names fit `only`, shell patterns with commas between; all without any.

    Raises UsageError when there is none, or for a name that cannot stand in other tools' files.
    """
    devices = [device for name, device in bundle.devices.items() if fits(name, only)]
    if not devices and only is None:
        raise UsageError("the bundle has no switch with a config_db.json; subnet managers take their files as they are")
    if not devices:
        raise UsageError(f"--only {only}: no device of the bundle has such a name")
    refuse_strange_names((device.name for device in devices), "device name")
    return devices


def fits(name: str, only: str | None) -> bool:
    """Whether a name fits one of the patterns; every name without any."""
    return only is None or any(fnmatchcase(name, pattern.strip()) for pattern in only.split(","))


def refuse_strange_names(names: Iterable[str], what: str) -> None:
    """Raises UsageError for a name with anything but letters, digits, dots, underscores and dashes."""
    for name in names:
        if not _SAFE_NAME.fullmatch(name):
            raise UsageError(f"{what} {name!r} cannot stand in other tools' files: letters, digits, . _ - only")
