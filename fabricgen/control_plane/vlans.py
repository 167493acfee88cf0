"""The VLANs and port channels of hosts: the gateway, the ports and the port channels of each on every switch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from netaddr import IPNetwork

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.model import Fabric, HostAccess, Link
from fabricgen.inventory.access import PortAccess
from fabricgen.inventory.plane import Plane
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import vlan_name


@dataclass(frozen=True)
class VlanPlan:
    """A VLAN of one switch. `members` are untagged; `channels` has the port channels among them, each with its
    ports."""

    name: str
    plane: Plane
    gateways: tuple[IPNetwork, ...]  # the address of the switch in each subnet
    members: tuple[str, ...]
    tagged: tuple[str, ...]
    channels: tuple["ChannelPlan", ...]
    dhcp: tuple[str, ...]
    spec: PortAccess


@dataclass(frozen=True)
class ChannelPlan:
    """A port channel to a bond of one host. `addresses` are those of the switch in the subnets of a routed bond."""

    name: str
    ports: tuple[str, ...]
    falls_back: bool
    spec: PortAccess
    plane: Plane
    addresses: tuple[IPNetwork, ...] = ()
    is_dual: bool = False  # the bond also ends at the other leaf of a pair


@dataclass
class _Members:
    """The links of hosts with one VLAN of a switch."""

    gateways: tuple[IPNetwork, ...]
    native: list[tuple[Link, HostAccess]] = field(default_factory=list)
    tagged: list[tuple[Link, HostAccess]] = field(default_factory=list)


def plan_vlans(fabric: Fabric, allocation: Allocation) -> Mapping[str, tuple[VlanPlan, ...]]:
    """Switch -> its VLANs, by number."""
    found: dict[tuple[str, int], _Members] = {}
    for link in fabric.links:
        access = link.access
        if access is None or access.vlan is None:
            continue
        for number, block in ((access.vlan, link.block), *((one.number, one.block) for one in access.tagged)):
            key = link.b.key, number
            if key not in found:
                pairs = allocation.vlan_addresses(block, access.slot)
                found[key] = _Members(tuple(IPNetwork(f"{gateway}/{length}") for _, gateway, length in pairs))
            (found[key].native if number == access.vlan else found[key].tagged).append((link, access))
    plans: dict[str, list[VlanPlan]] = {}
    for (switch, number), members in sorted(found.items(), key=lambda one: (one[0][0], one[0][1])):
        first, access = (*members.native, *members.tagged)[0]
        plane = fabric.inventory.planes[first.plane]
        plans.setdefault(switch, []).append(
            VlanPlan(
                vlan_name(number),
                plane,
                members.gateways,
                _names(members.native),
                _names(members.tagged),
                tuple(_channels(members.native, plane)),
                plane.access.servers(number) if plane.access else (),
                access.spec,
            )
        )
    return {switch: tuple(own) for switch, own in plans.items()}


def plan_routed_bonds(fabric: Fabric, allocation: Allocation) -> Mapping[str, tuple[ChannelPlan, ...]]:
    """Switch -> the port channels with addresses, in natural order."""
    links: dict[tuple[str, str], list[tuple[Link, HostAccess]]] = {}
    for link in fabric.links:
        if link.access and link.access.vlan is None:
            links.setdefault((link.b.key, link.access.channel), []).append((link, link.access))
    plans: dict[str, list[ChannelPlan]] = {}
    for (switch, _), own in sorted(links.items(), key=lambda one: (one[0][0], natural_key(one[0][1]))):
        first = own[0][0]
        addresses = tuple(IPNetwork(f"{near}/{length}") for _, near, length in allocation.link_addresses(first))
        plans.setdefault(switch, []).extend(_channels(own, fabric.inventory.planes[first.plane], addresses))
    return {switch: tuple(own) for switch, own in plans.items()}


def _names(members: Sequence[tuple[Link, HostAccess]]) -> tuple[str, ...]:
    """The ports and port channels of these links, in natural order."""
    return tuple(sorted({access.channel or link.b_port for link, access in members}, key=natural_key))


def _channels(
    members: Sequence[tuple[Link, HostAccess]], plane: Plane, addresses: tuple[IPNetwork, ...] = ()
) -> Iterator[ChannelPlan]:
    """The port channels of these links, in natural order."""
    ports: dict[str, list[str]] = {}
    kinds: dict[str, HostAccess] = {}
    for link, access in members:
        if access.channel:
            ports.setdefault(access.channel, []).append(link.b_port)
            kinds[access.channel] = access
    for name, own in sorted(ports.items(), key=lambda one: natural_key(one[0])):
        spec, names = kinds[name].spec, tuple(sorted(own, key=natural_key))
        yield ChannelPlan(name, names, spec.falls_back, spec, plane, addresses, kinds[name].is_dual)
