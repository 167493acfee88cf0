"""eBGP as in RFC 7938: sessions on every link between switches, one for each address family, or unnumbered.

SONiC (bgpcfgd) announces only Loopback0, VLAN subnets and marked static routes, so each leaf announces the prefix of
its host ports as a static blackhole route. The connected /31s in it are more specific.

Hosts with BGP open sessions, which their leaf accepts from the subnets of its hosts. It announces nothing to them: they
have static routes to what the plane and its hosts announce. So a host that loses its session still reaches others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from netaddr import IPNetwork

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.outside import OutsideLink, OutsidePlan
from fabricgen.control_plane.pairs import PairPlan, plan_pairs
from fabricgen.control_plane.vlans import ChannelPlan, VlanPlan, plan_routed_bonds, plan_vlans
from fabricgen.design.model import Fabric, Host, Link, Switch
from fabricgen.inventory.access import HostBgp
from fabricgen.inventory.plane import Plane
from fabricgen.sonic.tables import vlan_name


class SessionAddress(NamedTuple):
    """One family of one end of a link. `peer` is the far address; without a session `peer_asn` is None."""

    local: str
    length: int
    peer: str
    peer_asn: int | None


class LinkEnd(NamedTuple):
    """A connected switch port and its far end."""

    link: Link | OutsideLink
    port: str
    peer: str  # name of the switch, host or external device
    peer_port: str
    peer_switch: Switch | None  # None if the peer is not a switch of the fabric
    addresses: tuple[SessionAddress, ...]


HOSTS = "HOSTS"  # the peer group of hosts on routed ports


@dataclass
class HostSessions:
    """The sessions of one leaf with the hosts of its routed ports, or of one VLAN. `name` is that of the peer group."""

    name: str
    plane: Plane
    spec: HostBgp
    ranges: list[IPNetwork] = field(default_factory=list)  # the subnets that they come from


@dataclass(frozen=True)
class ControlPlane:
    """The routing of all switches. All keys are switch identities."""

    asns: Mapping[str, int]
    ends: Mapping[str, Mapping[str, LinkEnd]]  # port -> end
    router_ids: Mapping[str, str]  # the IPv4 address of Loopback0
    host_aggregates: Mapping[str, tuple[str, ...]]  # prefixes that a leaf announces for its hosts
    outside: OutsidePlan
    vlans: Mapping[str, tuple[VlanPlan, ...]]
    routed_bonds: Mapping[str, tuple[ChannelPlan, ...]]
    pairs: Mapping[str, PairPlan]
    host_sessions: Mapping[str, tuple[HostSessions, ...]]


def plan_control_plane(fabric: Fabric, allocation: Allocation, outside: OutsidePlan) -> ControlPlane:
    """The sessions and announcements of all switches of an allocated fabric."""
    asns = {
        switch.key: allocation.asns[switch.asn_owner]
        for switch in fabric.switches
        if switch.asn_owner in allocation.asns
    }
    ends: dict[str, dict[str, LinkEnd]] = {switch.key: {} for switch in fabric.switches}
    aggregates: dict[str, dict[str, None]] = {}
    in_vrfs = {name for name, plane in fabric.inventory.planes.items() if plane.isolates_by_vrf}
    for link in fabric.links:
        addresses = allocation.link_addresses(link) if link.is_routed else []
        lower, upper = link.a, link.b
        lower_name = allocation.names[lower.key] if isinstance(lower, Switch) else allocation.host_names[lower.key]
        lower_asn = asns.get(lower.key) if isinstance(lower, Switch) else None
        ends[upper.key][link.b_port] = LinkEnd(
            link, link.b_port, lower_name, link.a_port, lower if isinstance(lower, Switch) else None,
            tuple(SessionAddress(b, length, a, lower_asn) for a, b, length in addresses),
        )  # fmt: skip
        if isinstance(lower, Switch):
            ends[lower.key][link.a_port] = LinkEnd(
                link, link.a_port, allocation.names[upper.key], link.b_port, upper,
                tuple(SessionAddress(a, length, b, asns.get(upper.key)) for a, b, length in addresses),
            )  # fmt: skip
        elif link.vlan is None and link.peer_link is None and link.block.plane not in in_vrfs:
            for network in allocation.blocks.get(link.block.key, ()):
                aggregates.setdefault(upper.key, {})[str(network)] = None
    for beyond in outside.links:
        device = beyond.device
        ends[beyond.switch.key][beyond.port] = LinkEnd(
            beyond, beyond.port, device.name, device.peer_port, None,
            tuple(SessionAddress(*pair, device.asn) for pair in beyond.addresses),
        )  # fmt: skip
    loopbacks = {key: [text for text in texts if ":" not in text] for key, texts in allocation.loopbacks.items()}
    router_ids = {key: texts[0] for key, texts in loopbacks.items() if texts}
    announced = {key: tuple(prefixes) for key, prefixes in aggregates.items()}
    vlans, bonds = plan_vlans(fabric, allocation), plan_routed_bonds(fabric, allocation)
    pairs = plan_pairs(fabric, router_ids, vlans)
    sessions = _host_sessions(fabric, allocation)
    return ControlPlane(asns, ends, router_ids, announced, outside, vlans, bonds, pairs, sessions)


def _host_sessions(fabric: Fabric, allocation: Allocation) -> Mapping[str, tuple[HostSessions, ...]]:
    """Switch -> its sessions with hosts, by the name of their peer groups."""
    found: dict[str, dict[str, HostSessions]] = {}
    for link in fabric.links:
        plane = fabric.inventory.planes[link.plane]
        spec = plane.access.of(link.a.group).bgp if plane.access and isinstance(link.a, Host) else None
        if spec is None:
            continue
        name = HOSTS if link.vlan is None else f"{HOSTS}-{vlan_name(link.vlan)}"
        sessions = found.setdefault(link.b.key, {}).setdefault(name, HostSessions(name, plane, spec))
        sessions.ranges += [one for one in allocation.blocks.get(link.block.key, ()) if one not in sessions.ranges]
    return {key: tuple(own[name] for name in sorted(own)) for key, own in found.items()}
