"""The VLANs of hosts: the gateway, the ports and the port channels of each on every switch."""

from collections.abc import Mapping
from dataclasses import dataclass

from netaddr import IPNetwork

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.model import Fabric, HostAccess, Link
from fabricgen.inventory.access import PortAccess
from fabricgen.inventory.plane import Plane
from fabricgen.sonic.canonical import natural_key


@dataclass(frozen=True)
class VlanPlan:
    """A VLAN of one switch. `channels` has the port channels among its `members`, each with its ports."""

    name: str
    plane: Plane
    gateways: tuple[IPNetwork, ...]  # the address of the switch in each subnet
    members: tuple[str, ...]
    channels: tuple["ChannelPlan", ...]
    spec: PortAccess


@dataclass(frozen=True)
class ChannelPlan:
    """A port channel to a bond of one host."""

    name: str
    ports: tuple[str, ...]
    falls_back: bool
    spec: PortAccess


def plan_vlans(fabric: Fabric, allocation: Allocation) -> Mapping[str, tuple[VlanPlan, ...]]:
    """Switch -> its VLANs, by number."""
    links: dict[tuple[str, str], list[tuple[Link, HostAccess]]] = {}
    for link in fabric.links:
        if link.access:
            links.setdefault((link.b.key, link.access.vlan_name), []).append((link, link.access))
    found: dict[str, list[VlanPlan]] = {}
    for (switch, name), own in sorted(links.items(), key=lambda one: (one[0][0], natural_key(one[0][1]))):
        first, access = own[0]
        gateways = tuple(IPNetwork(f"{gateway}/{length}") for _, gateway, length in allocation.link_addresses(first))
        ports: dict[str, list[str]] = {}
        specs: dict[str, PortAccess] = {}
        for link, one in own:
            if one.channel:
                ports.setdefault(one.channel, []).append(link.b_port)
                specs[one.channel] = one.spec
        channels = tuple(
            ChannelPlan(channel, tuple(sorted(those, key=natural_key)), specs[channel].falls_back, specs[channel])
            for channel, those in sorted(ports.items(), key=lambda one: natural_key(one[0]))
        )
        alone = [link.b_port for link, one in own if not one.channel]
        members = tuple(sorted([*alone, *ports], key=natural_key))
        plane = fabric.inventory.planes[first.plane]
        found.setdefault(switch, []).append(VlanPlan(name, plane, gateways, members, channels, access.spec))
    return {switch: tuple(plans) for switch, plans in found.items()}
