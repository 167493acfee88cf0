"""GUIDs as OpenSM's files write them: 0x and 16 lower-case hex digits. Node GUIDs and port GUIDs are two types.

A partition lists port GUIDs, and OpenSM silently ignores a node GUID there, so the two types must never be mixed.
Placeholders are the GUIDs of a design whose hardware is not installed yet: EUI-64s under our own prefix with the local
bit set, so no vendor's GUID can be equal.
"""

from typing import NewType

from netaddr import EUI, valid_eui64

NodeGuid = NewType("NodeGuid", str)
PortGuid = NewType("PortGuid", str)

PLACEHOLDER_PREFIX = "0x02fab0"  # the second lowest bit of the first byte: locally administered (IEEE EUI-64)
PLACEHOLDERS = 1 << 32  # of switches, and as many of adapters
_SWITCHES, _ADAPTERS = 0x02FAB001_00000000, 0x02FAB002_00000000

_DIGITS = 16
_PORTS_OF_NODE = 8  # at most, on any adapter


def parse_guid(text: str) -> str:
    """The GUID in 16 hex digits, with or without 0x or colons, as 0x and 16 digits. Raises ValueError."""
    digits = text.strip().lower().removeprefix("0x")
    is_whole = len(digits.replace(":", "")) == _DIGITS  # netaddr also accepts shorter words
    if not is_whole or not valid_eui64(digits) or not (number := int(EUI(digits, version=64))):
        raise ValueError(f"{text!r} is not a GUID, for example 0x0123456789abcdef")
    return guid_text(number)


def guid_text(number: int) -> str:
    """The number of a GUID as OpenSM's files write it. A file may contain a number of more than 64 bits."""
    return f"0x{number:016x}"


def switch_placeholder(number: int) -> NodeGuid:
    """The placeholder of a switch."""
    return NodeGuid(guid_text(_SWITCHES + number))


def adapter_placeholder(number: int) -> tuple[NodeGuid, PortGuid]:
    """The placeholders of an adapter and of its port, which follows it, as in ibsim."""
    node = _ADAPTERS + 2 * number
    return NodeGuid(guid_text(node)), PortGuid(guid_text(node + 1))


def looks_swapped(node: str, port: str) -> bool:
    """Whether a node GUID and a port GUID seem exchanged: vendors number ports upwards from the GUID of the node."""
    return 0 < int(node, 16) - int(port, 16) <= _PORTS_OF_NODE


def is_placeholder(guid: str) -> bool:
    """Whether a GUID is a placeholder of a design."""
    return guid.startswith(PLACEHOLDER_PREFIX)
