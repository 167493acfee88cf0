"""GUIDs as OpenSM's files have them: 0x and 16 lower-case hex digits. Those of nodes and of ports are two types.

A partition names ports: a node GUID there is ignored without a word, so the two must never stand for each other.
Placeholders are what design work is given until the hardware is there: EUI-64s with the local bit set, under a prefix
of our own, which no maker's GUID can have.
"""

import re
from typing import NewType

NodeGuid = NewType("NodeGuid", str)
PortGuid = NewType("PortGuid", str)

PLACEHOLDER_PREFIX = "0x02fab0"  # the second bit of the first byte says: locally administered (IEEE EUI-64)
_SWITCHES, _ADAPTERS = 0x02FAB001_00000000, 0x02FAB002_00000000
PLACEHOLDERS = 1 << 32  # of each kind

_PORTS_OF_NODE = 8  # at most, of any adapter

_HEX = re.compile(r"(?:0x)?([0-9a-f]{16})")
_COLONS = re.compile(r"[0-9a-f]{4}(?::[0-9a-f]{4}){3}|[0-9a-f]{2}(?::[0-9a-f]{2}){7}")


def parse_guid(text: str) -> str:
    """A GUID as people and tools write it (0x…, bare, with colons) as 0x and 16 digits. Raises ValueError."""
    bare = text.strip().lower()
    match = _HEX.fullmatch(bare.replace(":", "") if _COLONS.fullmatch(bare) else bare)
    if match is None or not int(match[1], 16):
        raise ValueError(f"{text!r} is no GUID such as 0x0123456789abcdef")
    return f"0x{match[1]}"


def guid_text(number: int) -> str:
    """A GUID's number as OpenSM's files have it."""
    return f"0x{number:016x}"


def switch_placeholder(number: int) -> NodeGuid:
    """The placeholder of a switch."""
    return NodeGuid(guid_text(_SWITCHES + number))


def adapter_placeholder(number: int) -> tuple[NodeGuid, PortGuid]:
    """The placeholders of an adapter and of its port, which is one above, as ibsim has it."""
    node = _ADAPTERS + 2 * number
    return NodeGuid(guid_text(node)), PortGuid(guid_text(node + 1))


def looks_swapped(node: str, port: str) -> bool:
    """Whether a node and a port GUID stand in each other's place: makers number ports from their node's GUID up."""
    return 0 < int(node, 16) - int(port, 16) <= _PORTS_OF_NODE


def is_placeholder(guid: str) -> bool:
    """Whether a GUID was made up for design work."""
    return guid.startswith(PLACEHOLDER_PREFIX)
