"""Pairs of leaves at which the bonds of hosts end (MCLAG), and the links between the two leaves of a pair.

The two leaves of a pair are one system for LACP. They exchange MAC and ARP entries over an ICCP session between their
loopbacks, which the fabric routes, so neither the failure of the peer link nor that of an uplink ends it. The peer link
carries packets to a host whose link to one leaf has failed.

Source: SONiC doc/mclag/Sonic-mclag-hld.md, sections 5 and 7.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabricgen.design.model import Block, Host, Link, PeerLink, PlaneDesign, Switch
from fabricgen.findings import Finding
from fabricgen.inventory.access import AccessSpec, MclagSpec, PortAccess
from fabricgen.inventory.mistakes import error
from fabricgen.joined import joined
from fabricgen.platforms.model import PlatformPort
from fabricgen.sonic.canonical import natural_key
from fabricgen.units import counted, format_speed
from fabricgen.vocabulary import AccessKind, LinkKind


@dataclass(frozen=True)
class Pair:
    """Two leaves, the one with the lower identity first, and the links between them."""

    first: Switch
    second: Switch
    links: tuple[Link, ...]


def find_pairs(
    design: PlaneDesign, access: AccessSpec, spec: MclagSpec, bonded: Mapping[Host, Sequence[Link]]
) -> tuple[dict[str, Pair], list[Finding]]:
    """Leaf -> its pair, from the links of the hosts with bonds; or findings for bonds that cannot end at pairs."""
    findings = list(_setting_problems(design, access, spec, bonded))
    if findings:
        return {}, findings
    ends: dict[str, tuple[Switch, Switch]] = {}
    for leaves in _leaves_of(bonded).values():
        for leaf in leaves:
            other = ends.setdefault(leaf.key, leaves)
            if other != leaves:
                names = " and of ".join(" and ".join(one.key for one in each) for each in (other, leaves))
                message = f"{leaf.key} is a leaf of {names}: a leaf has one peer"
                findings.append(error("FG680", message, access, hint="set `leaves_per_unit: 2`"))
                return {}, findings
    pairs: dict[str, Pair] = {}
    for first, second in dict.fromkeys(ends.values()):
        links = _own_links(design, first, second) or _new_links(design, spec, first, second, findings)
        pairs |= dict.fromkeys((first.key, second.key), Pair(first, second, tuple(links)))
    findings += _unconnected(design, access, pairs)
    return ({}, findings) if findings else (pairs, findings)


def with_peer_links(links: Sequence[Link], spec: MclagSpec, pairs: Mapping[str, Pair]) -> list[Link]:
    """The links of a plane with those between the leaves of its pairs. The port channel of the peer link has the number
    of its first port at the first leaf."""
    own: dict[str, Link] = {}
    for pair in {pair.first.key: pair for pair in pairs.values()}.values():
        number = min(port_number(link.a_port) for link in pair.links)
        block = Block(f"{pair.first.key}/mclag", pair.links[0].plane, "none", len(pair.links), pair.first.key)
        peer_link = PeerLink(f"PortChannel{number}", spec)
        own |= {link.key: replace(link, block=block, peer_link=peer_link) for link in pair.links}
    return [link for link in links if link.key not in own] + list(own.values())


def port_number(port: str) -> int:
    """The number in the name of a switch port."""
    return int(port.removeprefix("Ethernet"))


def _leaves_of(bonded: Mapping[Host, Sequence[Link]]) -> dict[Host, tuple[Switch, Switch]]:
    """Host -> its leaves in the order of their identities; only the hosts with two."""
    found = {}
    for host, links in bonded.items():
        leaves = sorted({link.b.key: link.b for link in links}.values(), key=lambda leaf: natural_key(leaf.key))
        if len(leaves) == 2:
            found[host] = (leaves[0], leaves[1])
    return found


def _setting_problems(
    design: PlaneDesign, access: AccessSpec, spec: MclagSpec, bonded: Mapping[Host, Sequence[Link]]
) -> Iterator[Finding]:
    plane = design.plane
    specs = {name: access.of(name) for name in plane.host_groups}
    if not any(own.kind == AccessKind.BOND for own in specs.values()):
        hint = "set `kind: bond` for the hosts, or remove `mclag`"
        yield error("FG680", f"`mclag` is for bonds, and no hosts of plane {plane.name} have one", spec, hint=hint)
        return
    two = _leaves_of(bonded)
    groups: dict[str, Host] = {}
    for one in bonded:
        if one not in two:
            groups.setdefault(one.group, one)
    for group, host in sorted(groups.items()):
        count = counted(len({link.b.key for link in bonded[host]}), "leaf", "leaves")
        message = f"the bond of {host.key} ends at {count}: with `mclag` bonds of hosts {group} end at two"
        hint = "set `leaves_per_unit: 2`; a host needs an even number of NIC ports for the plane"
        yield error("FG680", message, access, hint=hint)
    vlans = {vlan for own in specs.values() if own.kind == AccessKind.BOND for vlan in (own.vlan, *own.tagged)}
    for name, own in specs.items():
        if own.kind == AccessKind.VLAN and (common := vlans & {own.vlan, *own.tagged}):
            message = f"VLAN {min(common)} of hosts {name} is also that of bonds, whose subnet two leaves share"
            hint = "give hosts without a bond another `vlan`: a leaf that fails disconnects them"
            yield error("FG680", message, own, hint=hint)
    yield from _relayed([access, *access.groups.values()])


def _relayed(specs: Iterable[PortAccess]) -> Iterator[Finding]:
    for own in specs:
        if own.kind != AccessKind.BOND:
            continue
        if own.dhcp:
            message = "SONiC has no DHCP relay for bonds at two leaves: the answer of a server may reach the other leaf"
            hint = "remove `dhcp`: netplan has the addresses; boot hosts from the network on another plane"
            yield error("FG681", message, own, "dhcp", hint=hint)
        if own.fallback:
            message = "without LACP a host uses one port, and the other leaf sends half of its packets to another port"
            yield error("FG681", message, own, "fallback", hint="remove `fallback`")


def _own_links(design: PlaneDesign, first: Switch, second: Switch) -> list[Link]:
    """The links between two leaves that the design has itself: an explicit design lists them."""
    ends = {first.key, second.key}
    found = [link for link in design.links if {link.a.key, link.b.key} == ends]
    return [link if link.a is first else _turned(link) for link in found]


def _turned(link: Link) -> Link:
    assert isinstance(link.a, Switch)
    return replace(link, a=link.b, a_port=link.b_port, b=link.a, b_port=link.a_port)


def _new_links(
    design: PlaneDesign, spec: MclagSpec, first: Switch, second: Switch, findings: list[Finding]
) -> Iterator[Link]:
    """The links between two leaves, on the last ports before their uplinks."""
    plane = design.plane
    ports = [_free_ports(design, leaf, spec.peer_links) for leaf in (first, second)]
    for leaf, own in zip((first, second), ports, strict=True):
        if not own:
            speed = format_speed(plane.uplink_mbps)
            message = f"{leaf.key} has fewer than {spec.peer_links} free ports of {speed} next to its uplinks"
            hint = "reduce `peer_links` or the hosts of a unit, or use a leaf with more ports"
            findings.append(error("FG680", message, spec, "peer_links", hint=hint))
            return
    block = Block(f"{first.key}/mclag", plane.name, "none", spec.peer_links, first.key)
    for slot, (near, far) in enumerate(zip(*ports, strict=True)):
        yield Link(
            f"{first.key}/mclag{slot}", plane.name, LinkKind.PEER, first, near.name, second, far.name,
            plane.uplink_mbps, plane.cables[LinkKind.PEER], block, slot,
        )  # fmt: skip


def _free_ports(design: PlaneDesign, leaf: Switch, count: int) -> Sequence[PlatformPort]:
    """The last ports of a leaf before its uplinks; none if hosts need one of them, now or in a full unit."""
    plane = design.plane
    own = [link for link in design.links if leaf in (link.a, link.b)]
    ports = leaf.layout.ports_at(plane.uplink_mbps)
    end = len(ports) - max((link.block.slots for link in own if link.a is leaf), default=0)
    taken = {link.a_port if link.a is leaf else link.b_port for link in own}
    slots = max((link.block.slots for link in own if isinstance(link.a, Host)), default=0)
    taken |= {port.name for port in leaf.layout.ports_at(plane.speed_mbps or 0)[:slots]}
    found = ports[max(end - count, 0) : end]
    return () if len(found) < count or any(port.name in taken for port in found) else found


def _unconnected(design: PlaneDesign, access: AccessSpec, pairs: Mapping[str, Pair]) -> Iterator[Finding]:
    """A finding for pairs whose leaves reach each other only over the peer link, which routes nothing."""
    peer_links = {link.key for pair in pairs.values() for link in pair.links}
    routed = [link for link in design.links if isinstance(link.a, Switch) and link.key not in peer_links]
    groups = joined((switch.key for switch in design.switches), ((link.a.key, link.b.key) for link in routed))
    part_of = {key: number for number, keys in enumerate(groups) for key in keys}
    for pair in pairs.values():
        if part_of[pair.first.key] != part_of[pair.second.key]:
            message = f"no links lead from {pair.first.key} to {pair.second.key}, apart from the peer link"
            hint = "connect both to a spine: the ICCP session runs between their loopbacks"
            yield error("FG680", message, access, hint=hint)
            return
