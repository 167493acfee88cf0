"""The links that an explicit design can contain, in the order in which it lists them."""

from collections.abc import Sequence
from dataclasses import replace

from fabricgen.adopt.source import ImportSource, SourceSwitch
from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.design.model import ROLES
from fabricgen.inventory.values import NAME
from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import LinkKind


def usable_links(source: ImportSource) -> tuple[list[WiredLink], list[tuple[WiredLink, str]]]:
    """The links of the inventory, the lower end first, and the other links with the reason."""
    taken: set[Endpoint] = set()
    usable, refused = [], []
    for link in source.links:
        reason = _obstacle(source, link, taken)
        if reason:
            refused.append((link, reason))
            continue
        taken |= {link.a, link.b}
        usable.append(_ordered(source, link))
    shared = _with_shared_ports(source, usable)
    return sorted(usable, key=lambda link: _by_address(source, link, shared)), refused


def _obstacle(source: ImportSource, link: WiredLink, taken: set[Endpoint]) -> str:
    near, far = source.switches.get(link.b[0]), source.switches.get(link.a[0])
    if near is None:
        return "neither end has a file"
    if link.a[0] == link.b[0]:
        return "both ends are the same switch"
    for switch, port in ((near, link.b[1]), (far, link.a[1])):
        if switch is not None and port not in switch.layout.port_by_name:
            return f"{switch.layout.hwsku} has no port {port}"
    if not taken.isdisjoint((link.a, link.b)):
        return "another link uses one of its ports"
    if far is None:
        if link.kind != LinkKind.HOST_LEAF:
            return f"{link.a[0]} is a router without a file"
        if not NAME.fullmatch(link.a[0]) or not NAME.fullmatch(link.a[1]):
            return "the name or port of the host has characters other than letters, digits, - _ and ."
    elif near.layout.port_by_name[link.b[1]].speed_mbps != far.layout.port_by_name[link.a[1]].speed_mbps:
        return "the ports of the two SKUs have different speeds"
    return ""


def _ordered(source: ImportSource, link: WiredLink) -> WiredLink:
    """The lower tier first, and within a tier the end with the lower address."""
    low, high = source.switches.get(link.a[0]), source.switches[link.b[0]]
    if low is None:
        return link
    ranks = [ROLES.index(switch.role) for switch in (low, high)]
    if ranks[0] == ranks[1]:
        ranks = [_first_address(low, link.a[1]), _first_address(high, link.b[1])]
    return link if ranks[0] <= ranks[1] else replace(link, a=link.b, b=link.a)


def _with_shared_ports(source: ImportSource, links: Sequence[WiredLink]) -> set[str]:
    """The switches with a host port in a port channel or in a VLAN."""
    ends = {link.b for link in links if link.a[0] not in source.switches}
    return {
        name
        for name, switch in source.switches.items()
        for table in ("PORTCHANNEL_MEMBER", "VLAN_MEMBER")
        for key in switch.tables.get(table, ())
        if (name, key.partition("|")[2]) in ends
    }


def _by_address(source: ImportSource, link: WiredLink, shared: set[str]) -> tuple[bool, str, int, object]:
    """Host links last, those of a switch by address: the order in which the design allocates their subnets. On a switch
    in `shared` not every port has an address, so they are in the order of its ports."""
    if link.a[0] in source.switches:
        return False, "", 0, ()
    name, port = link.b
    if name in shared:
        return True, name, 0, natural_key(port)
    return True, name, _first_address(source.switches[name], port), ()


def _first_address(switch: SourceSwitch, port: str) -> int:
    return min((int(one.ip) for one in switch.addresses("INTERFACE", port) if one.version == 4), default=0)
