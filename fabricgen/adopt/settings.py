"""What a plane's settings must be for most rows to come out as they are: classes, MTU, cables, kind of BGP."""

from collections.abc import Sequence
from typing import Any

from fabricgen.adopt.source import Source
from fabricgen.bundle.wiring import WiredLink
from fabricgen.inventory.build_plane import DEFAULT_CNP_DSCP
from fabricgen.inventory.profiles import NONE
from fabricgen.physics import DEFAULT_MTU_BYTES
from fabricgen.sonic.tables import parse_priorities
from fabricgen.units import format_length, parse_length_m

_KINDS = {("leaf", "spine"): "leaf-spine", ("spine", "core"): "spine-core"}
_MTU_BYTES = range(1500, 9217)
_MOST_CLASSES = 4


def link_kind(source: Source, link: WiredLink) -> str:
    """host-leaf | leaf-spine | spine-core | peer: whose cable setting a link has."""
    if link.a[0] not in source.switches:
        return "host-leaf"
    roles = source.switches[link.a[0]].role, source.switches[link.b[0]].role
    return _KINDS.get(roles, "peer")


def is_unnumbered(source: Source) -> bool:
    """Whether sessions run between interfaces: rows of the management framework, default|EthernetN."""
    keys = [key for switch in source.switches.values() for key in switch.tables.get("BGP_NEIGHBOR", {})]
    return 2 * sum("|Ethernet" in key for key in keys) > len(keys)


def mtu_bytes(source: Source) -> int:
    """The MTU that most ports have."""
    texts = (row.get("mtu") for switch in source.switches.values() for row in switch.tables.get("PORT", {}).values())
    found = str(source.most(text for text in texts if isinstance(text, str)))
    return int(found) if found.isdecimal() and int(found) in _MTU_BYTES else DEFAULT_MTU_BYTES


def cables(source: Source, links: Sequence[WiredLink]) -> tuple[dict[str, object], dict[str, object]]:
    """Kind of link -> its usual cable; link id -> its own where that is another."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for link in links:
        found.setdefault(link_kind(source, link), {})[link.id] = _cable(source, link)
    usual: dict[str, object] = {}
    own: dict[str, object] = {}
    for kind, of in sorted(found.items()):
        common = source.most(cable for cable in of.values() if cable[0])
        if common is None:
            continue
        usual[kind] = _written(common)
        own |= {link: _written(cable) for link, cable in of.items() if cable[0] and cable != common}
    return usual, own


def _cable(source: Source, link: WiredLink) -> tuple[str, str]:
    """(length, link training) as the upper end has them; "" where it says nothing of use."""
    switch = source.switches[link.b[0]]
    texts = (row.get(link.b[1]) for row in switch.tables.get("CABLE_LENGTH", {}).values())
    length = next((text for text in texts if isinstance(text, str)), "")
    try:
        metres = parse_length_m(length)
    except ValueError:
        metres = 0.0
    return format_length(metres) if metres else "", switch.text("PORT", link.b[1], "link_training")


def _written(cable: tuple[str, str]) -> object:
    length, training = cable
    return {"length": length, "link_training": training == "on"} if training in ("on", "off") else length


def lossless(source: Source) -> object:
    """`lossless` of the plane: the priorities that most ports have PFC on, with the DSCPs that lead there."""
    enabled = source.most(
        row.get("pfc_enable")
        for switch in source.switches.values()
        for row in switch.tables.get("PORT_QOS_MAP", {}).values()
    )
    entries = source.most(
        tuple(sorted((dscp, tc) for dscp, tc in row.items() if isinstance(tc, str)))
        for switch in source.switches.values()
        for row in switch.tables.get("DSCP_TO_TC_MAP", {}).values()
    )
    priorities = sorted(parse_priorities(enabled)) if isinstance(enabled, str) else []
    led: dict[str, list[int]] = {}
    for dscp, tc in entries or ():
        if dscp.isdecimal() and int(dscp) < 64:
            led.setdefault(tc, []).append(int(dscp))
    classes = {priority: {"dscp": sorted(led[str(priority)])} for priority in priorities if led.get(str(priority))}
    if not classes or len(classes) > _MOST_CLASSES or max(classes) > 6:
        return NONE
    return {"classes": classes, "cnp": {"dscp": _cnp_dscp(led, set(classes))}}


def _cnp_dscp(led: dict[str, list[int]], classes: set[int]) -> int:
    """The DSCP of class 6, where SONiC's own map and ours have CNPs; else one that is in no lossless class."""
    taken = {dscp for priority in classes for dscp in led[str(priority)]}
    candidates: list[int] = [*(led.get("6", []) if 6 not in classes else ()), DEFAULT_CNP_DSCP, *range(63, -1, -1)]
    return next(dscp for dscp in candidates if dscp not in taken)


def usual_types(source: Source) -> dict[str, Any]:
    """Role -> (platform, layout, device type) of most of its switches."""
    return {
        role: source.most(
            (switch.platform.name, switch.layout.name, switch.text("DEVICE_METADATA", "localhost", "type"))
            for switch in source.switches.values()
            if switch.role == role
        )
        for role in ("leaf", "spine", "core")
    }
