"""The settings of a plane with which most rows render as in the files: classes, MTU, cables, BGP addressing."""

from collections.abc import Sequence
from typing import Any

from fabricgen.adopt.source import ImportSource
from fabricgen.bundle.wiring import WiredLink
from fabricgen.inventory.profiles import NONE
from fabricgen.inventory.traffic import DEFAULT_CNP_DSCP
from fabricgen.physics import DEFAULT_MTU_BYTES
from fabricgen.sonic.tables import parse_priorities
from fabricgen.units import format_length, parse_length_m, whole_number
from fabricgen.vocabulary import LinkKind, Role

_KINDS = {(Role.LEAF, Role.SPINE): LinkKind.LEAF_SPINE, (Role.SPINE, Role.CORE): LinkKind.SPINE_CORE}
_MTU_BYTES = range(1500, 9217)
_KEEPALIVE_S, _HOLD_S = range(1, 201), range(3, 601)  # that the inventory takes
_MAX_CLASSES = 4


def link_kind(source: ImportSource, link: WiredLink) -> LinkKind:
    """The kind of a link, which selects its cable setting."""
    if link.a[0] not in source.switches:
        return LinkKind.HOST_LEAF
    roles = source.switches[link.a[0]].role, source.switches[link.b[0]].role
    return _KINDS.get(roles, LinkKind.PEER)


def is_unnumbered(source: ImportSource) -> bool:
    """Whether most sessions are on interfaces: rows of the management framework, default|EthernetN."""
    keys = [key for switch in source.switches.values() for key in switch.tables.get("BGP_NEIGHBOR", {})]
    return 2 * sum("|Ethernet" in key for key in keys) > len(keys)


def bgp_sessions(source: ImportSource) -> dict[str, object]:
    """`bgp_timers` and `bfd` of most sessions, or of their peer groups if most sessions are on interfaces."""
    table = "BGP_PEER_GROUP" if is_unnumbered(source) else "BGP_NEIGHBOR"
    rows = [row for switch in source.switches.values() for row in switch.tables.get(table, {}).values()]
    keepalive_s, hold_s = map(
        whole_number, source.most((str(row.get("keepalive")), str(row.get("holdtime"))) for row in rows) or (None, None)
    )
    found: dict[str, object] = {}
    if keepalive_s in _KEEPALIVE_S and hold_s in _HOLD_S:
        found["bgp_timers"] = {"keepalive_s": keepalive_s, "hold_s": hold_s}
    if table == "BGP_PEER_GROUP" and source.most(str(row.get("bfd", "false")) for row in rows) == "true":
        found["bfd"] = True
    return found


def mtu_bytes(source: ImportSource) -> int:
    """The MTU of most ports."""
    texts = (row.get("mtu") for switch in source.switches.values() for row in switch.tables.get("PORT", {}).values())
    found = whole_number(source.most(text for text in texts if isinstance(text, str)))
    return found if found is not None and found in _MTU_BYTES else DEFAULT_MTU_BYTES


def cables(source: ImportSource, links: Sequence[WiredLink]) -> tuple[dict[str, object], dict[str, object]]:
    """Kind of link -> its usual cable, and link id -> its cable if it differs."""
    found: dict[LinkKind, dict[str, tuple[str, str]]] = {}
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


def _cable(source: ImportSource, link: WiredLink) -> tuple[str, str]:
    """(length, link training) of the upper end, each empty if the file has no valid value."""
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


def lossless(source: ImportSource) -> object:
    """`lossless` of the plane: the PFC priorities of most ports, with the DSCP values that map to them."""
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
    dscps: dict[str, list[int]] = {}  # traffic class -> DSCP values
    for dscp, tc in entries or ():
        number = whole_number(dscp)
        if number is not None and number < 64:
            dscps.setdefault(tc, []).append(number)
    classes = {priority: {"dscp": sorted(dscps[str(priority)])} for priority in priorities if dscps.get(str(priority))}
    if not classes or len(classes) > _MAX_CLASSES or max(classes) > 6:
        return NONE
    return {"classes": classes, "cnp": {"dscp": _cnp_dscp(dscps, set(classes))}}


def _cnp_dscp(dscps: dict[str, list[int]], classes: set[int]) -> int:
    """The DSCP of class 6, which the maps of SONiC and fabricgen use for CNPs, else one outside lossless classes."""
    taken = {dscp for priority in classes for dscp in dscps[str(priority)]}
    candidates: list[int] = [*(dscps.get("6", []) if 6 not in classes else ()), DEFAULT_CNP_DSCP, *range(63, -1, -1)]
    return next(dscp for dscp in candidates if dscp not in taken)


def usual_types(source: ImportSource) -> dict[Role, Any]:
    """Role -> (hardware, device type) of most of its switches; the hardware as `SourceSwitch.hardware` has it."""
    return {
        role: source.most(
            (switch.hardware, switch.text("DEVICE_METADATA", "localhost", "type"))
            for switch in source.switches.values()
            if switch.role == role
        )
        for role in (Role.LEAF, Role.SPINE, Role.CORE)
    }
