"""SRv6 uSIDs of a plane: locators, SIDs and static routes, so that a host names the links of a path in an address.

The uSIDs of a switch have its number in the lower bits, the offset of its loopback address in the pool of the plane,
which the lock file keeps. The upper bits are the way: with several links between two switches, the first one leads to
way 0 of the neighbor, the second one to way 1. So each uSID leads over one link, and no switch hashes. A port of a host
has a uSID that only its leaf knows, 0xe000 and the number of the port.

Source: sonic-mgmt pull request 25703 (rows of locators and SIDs); draft-filsfils-srv6ops-srv6-ai-backend; RFC 9800.
"""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_interface, ip_network
from typing import NamedTuple

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.model import Fabric, Link, PlaneDesign, Switch
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.routing import Srv6Spec
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.srv6 import CHIPS_WITHOUT_SIDS, FIRST_LOCAL, usid_prefix
from fabricgen.vocabulary import LinkKind

_NAME = "MAIN"
_KINDS = (LinkKind.HOST_LEAF, LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE)


class UsidHop(NamedTuple):
    """A static route of a uSID: its prefix, the address of the next hop, and the port."""

    prefix: str
    next_hop: str
    port: str


class Srv6Switch(NamedTuple):
    """The SRv6 of a switch: (locator, its prefix, its SID), and the routes to neighbors and hosts."""

    locators: tuple[tuple[str, str, str], ...]
    hops: tuple[UsidHop, ...]


def plan_srv6(fabric: Fabric, allocation: Allocation) -> tuple[Mapping[str, Srv6Switch], list[Finding]]:
    """Switch identity -> its SRv6, and findings for planes that cannot have uSIDs."""
    found: dict[str, Srv6Switch] = {}
    findings: list[Finding] = []
    for design in fabric.planes:
        plane = design.plane
        block = parse_address(plane.srv6.block) if plane.srv6 else None
        if plane.srv6 is None or block is None:
            continue  # the inventory has reported a block that is not one
        refused = [*_refusals(plane, plane.srv6, design, allocation)]
        findings += refused
        if not refused:
            found |= _of_plane(design, plane.srv6, allocation, block)
    return found, findings


def _of_plane(
    design: PlaneDesign, spec: Srv6Spec, allocation: Allocation, block: Address
) -> Iterator[tuple[str, Srv6Switch]]:
    nodes = _nodes(design, allocation)
    hops: dict[str, list[UsidHop]] = {switch.key: [] for switch in design.switches}
    ways = dict.fromkeys(hops, 1)
    for pair, links in _parallel(design.links).items():
        for way, link in enumerate(links):
            for near, near_port, far, place in ((link.a, link.a_port, link.b, 1), (link.b, link.b_port, link.a, 0)):
                hops[near.key].append(
                    _hop(allocation, link, block, way << spec.node_bits | nodes[far.key], place, near_port)
                )
        for key in pair:
            ways[key] = max(ways[key], len(links))
    for link in design.links:
        if link.kind == LinkKind.HOST_LEAF:
            usid = FIRST_LOCAL + _port_number(link.b_port)
            hops[link.b.key].append(_hop(allocation, link, block, usid, 0, link.b_port))
    for key, routes in hops.items():
        locators = []
        for way in range(ways[key]):
            prefix = usid_prefix(block, way << spec.node_bits | nodes[key])
            locators.append((f"{_NAME}{way}" if way else _NAME, prefix.ip, str(prefix)))
        yield key, Srv6Switch(tuple(locators), tuple(sorted(routes, key=lambda hop: natural_key(hop.port))))


def _hop(allocation: Allocation, link: Link, block: Address, usid: int, place: int, port: str) -> UsidHop:
    """`place` is that of the next hop in the addresses of the link: 0 the lower end, 1 the upper end."""
    ends = [(lower, upper) for lower, upper, _ in allocation.link_addresses(link) if ":" in lower]
    address = ends[0][place]
    return UsidHop(str(usid_prefix(block, usid)), address, port)


def _port_number(port: str) -> int:
    return int(port.removeprefix("Ethernet"))


def _nodes(design: PlaneDesign, allocation: Allocation) -> dict[str, int]:
    """Switch identity -> the offset of its loopback in its pool."""
    pools = design.plane.addressing
    networks = [ip_network(text) for text in pools.loopbacks.prefixes] if pools else []
    found = {}
    for switch in design.switches:
        for text in allocation.loopbacks.get(switch.key, ())[::-1]:  # IPv6 first
            address = ip_interface(text).ip
            pool = next((one for one in networks if one.version == address.version and address in one), None)
            if pool is not None:
                found[switch.key] = int(address) - int(pool.network_address)
                break
    return found


def _parallel(links: Sequence[Link]) -> dict[tuple[str, str], list[Link]]:
    """(lower switch, upper switch) -> the links between them, by port."""
    found: dict[tuple[str, str], list[Link]] = {}
    for link in sorted(links, key=lambda link: natural_key(link.a_port)):
        if link.kind != LinkKind.HOST_LEAF:
            found.setdefault((link.a.key, link.b.key), []).append(link)
    return found


def _refusals(plane: Plane, spec: Srv6Spec, design: PlaneDesign, allocation: Allocation) -> Iterator[Finding]:
    """Why a plane cannot have uSIDs, the first reason of each kind."""
    if other := next((link for link in design.links if link.kind not in _KINDS), None):
        message = f"plane {plane.name} has links of kind {other.kind}, whose paths are not those of a Clos"
        yield error("FG746", message, spec, hint="use a design with leaves and spines, or remove `srv6`")
    if link := next((one for one in design.links if one.access), None):
        message = f"the port {link.b_port} of {link.b.key} is in a VLAN or a bond, and a uSID leads to a routed port"
        yield error("FG746", message, plane, "access", hint="remove `access`, or `srv6`")
    chips: dict[str, Switch] = {one.platform.asic or "": one for one in reversed(design.switches)}
    for chip in CHIPS_WITHOUT_SIDS:
        if chip in chips:
            message = f"{chips[chip].platform.name} has the chip {chip}, which does not take SIDs"
            hint = "use a platform with a chip that has SRv6, or remove `srv6`"
            yield error("FG746", message, chips[chip].spec, "platform", hint=hint)
    nodes = _nodes(design, allocation)
    most_nodes, most_ways = (1 << spec.node_bits) - 1, FIRST_LOCAL >> spec.node_bits
    wrong = [one for one in design.switches if not 0 < nodes.get(one.key, 0) <= most_nodes]
    if wrong:
        message = (
            f"the uSID of {wrong[0].key} is the offset of its loopback in its pool, from 1 to {most_nodes}: "
            f"{nodes.get(wrong[0].key, 'it has none')}"
        )
        hint = "set `node_bits` to 13 or 14, or use loopbacks within the first addresses of the pool of the plane"
        yield error("FG746", message, spec, hint=hint)
    most = max(_parallel(design.links).items(), key=lambda item: len(item[1]), default=(("", ""), []))
    if len(most[1]) > most_ways:
        message = f"{most[0][0]} and {most[0][1]} have {len(most[1])} links, and a switch has {most_ways} uSIDs at most"
        yield error("FG746", message, spec, hint="use more spines with fewer links to each")
    if port := next((one.b_port for one in design.links if not one.b_port.removeprefix("Ethernet").isdecimal()), None):
        yield error("FG746", f"the port {port} has no number for a uSID", spec, hint="remove `srv6`")
