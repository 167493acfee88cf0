"""The devices that a handoff covers."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle, ObservedDevice

_NODE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")  # safe in paths, shell commands and expressions


def chosen_devices(bundle: "Bundle", only: str | None) -> list["ObservedDevice"]:
    """The switches whose names match `only`, shell patterns separated by commas; all switches without patterns.

    Raises UsageError if no switch matches, or for a name that other tools' files do not allow.
    """
    devices = [device for name, device in bundle.devices.items() if fits(name, only)]
    if not devices and only is None:
        raise UsageError(
            "the bundle has no switch with a config_db.json; copy the files of subnet managers as they are"
        )
    if not devices:
        raise UsageError(f"--only {only}: no device name of the bundle matches")
    refuse_strange_names((device.name for device in devices), "device name")
    return devices


def frr_file_of(device: "ObservedDevice") -> bytes | None:
    """frr.conf of a VTEP, whose FRR reads it; None for other switches. Raises UsageError where the bundle does not have
    it."""
    from fabricgen.sonic.image import has_translation

    if not has_translation(device.config):
        return None
    if device.frr_conf is None:
        raise UsageError(f"FRR of {device.name} reads frr.conf, which is not beside its file: run `fabricgen render`")
    return device.frr_conf.encode()


def fits(name: str, only: str | None) -> bool:
    """Whether a name matches one of the patterns. Without patterns, every name matches."""
    return only is None or any(fnmatchcase(name, pattern.strip()) for pattern in only.split(","))


def refuse_strange_names(names: Iterable[str], what: str) -> None:
    """Raises UsageError for a name with other characters than letters, digits, dots, underscores and dashes."""
    for name in names:
        if not _SAFE_NAME.fullmatch(name):
            raise UsageError(f"{what} {name!r} is not allowed in other tools' files: use letters, digits, . _ - only")


def refuse_node_names(names: Iterable[str]) -> None:
    """Raises UsageError for a name that a Kubernetes node cannot have as one DNS label."""
    for name in names:
        if not _NODE_NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not a valid name of a Kubernetes node: use lower-case letters, digits and -")


def object_name(text: str) -> str:
    """The text as the name of an object of Kubernetes: lower-case letters, digits and -."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
