"""Names in files that fabricgen did not write: they become parts of paths, commands and reports."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fabricgen.bundle.listing import Items
from fabricgen.visible import is_visible, visible

if TYPE_CHECKING:
    from fabricgen.bundle.wiring import Wiring

CONFIG_NAME = "config_db.json"

# As the inventory has them; a name of a host's NIC or of a device outside the fabric may also contain + and :.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+:-]*")


def is_file_name(text: str) -> bool:
    """Whether a text can be the name of a device: it is one part of a path, and has no control characters."""
    return text not in ("", ".", "..") and not set("/\\") & set(text) and is_visible(text)


def check_names(wiring: "Wiring") -> None:
    """Raises ValueError for a name of fabric.json that is not a plain name."""
    for kind, names in _names(wiring):
        for name in dict.fromkeys(names):
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is not allowed as the name of a {kind}: use letters, digits, . _ - only")


def refuse_hidden(raw: Mapping[str, Any], text: bytes) -> None:
    """Raises ValueError for a text of fabric.json with control characters."""
    for value in _texts(raw) if _may_hide(text) else ():
        if not is_visible(value):
            raise ValueError(f"control characters in {visible(value)!r}")


def _may_hide(text: bytes) -> bool:
    """Whether JSON may have a control or directional character: by an escape, or a raw byte of UTF-8 beyond ASCII."""
    return not text.isascii() or b"\\" in text or b"\x7f" in text


def _names(wiring: "Wiring") -> Iterator[tuple[str, Iterable[str]]]:
    """(what they are names of, names)."""
    yield "fabric", [wiring.fabric]
    yield "plane", (plane.name for plane in wiring.planes)
    yield "switch", (device.name for device in wiring.devices)
    yield "host", (host.name for host in wiring.hosts)
    yield "host group", (host.group for host in wiring.hosts)
    yield "NIC", (nic.name for host in wiring.hosts for nic in host.nics)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | Items):
        for item in value:
            yield from _texts(item)
