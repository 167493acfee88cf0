"""The pairs of leaves at which bonds of hosts end (MCLAG): what each of the two has for the other."""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.control_plane.vlans import VlanPlan
from fabricgen.design.model import Fabric
from fabricgen.inventory.access import MclagSpec
from fabricgen.inventory.plane import Plane
from fabricgen.sonic.canonical import natural_key


@dataclass(frozen=True)
class PairPlan:
    """One leaf of a pair. `source` and `peer` are the addresses of the ICCP session: its loopback and that of the other
    leaf. `channel` with its `ports` is the peer link, which carries `vlans`; `bonds` are the port channels of hosts
    that both leaves have."""

    source: str
    peer: str
    channel: str
    ports: tuple[str, ...]
    vlans: tuple[str, ...]
    bonds: tuple[str, ...]
    plane: Plane
    spec: MclagSpec


def plan_pairs(
    fabric: Fabric, loopbacks: Mapping[str, str], vlans: Mapping[str, tuple[VlanPlan, ...]]
) -> Mapping[str, PairPlan]:
    """Switch -> its part in a pair. `loopbacks` are the IPv4 addresses of Loopback0."""
    ports: dict[str, list[str]] = {}
    peers: dict[str, tuple[str, str, str, MclagSpec]] = {}
    for link in fabric.links:
        if link.peer_link:
            own = link.peer_link
            for near, port, far in ((link.a.key, link.a_port, link.b.key), (link.b.key, link.b_port, link.a.key)):
                ports.setdefault(near, []).append(port)
                peers[near] = (far, own.channel, link.plane, own.spec)
    found = {}
    for switch, (peer, channel, plane, spec) in peers.items():
        if switch not in loopbacks or peer not in loopbacks:
            continue  # allocation has reported why
        own_vlans = vlans.get(switch, ())
        bonds = sorted({one.name for vlan in own_vlans for one in vlan.channels if one.is_dual}, key=natural_key)
        dual = [vlan for vlan in own_vlans if not set(bonds).isdisjoint((*vlan.members, *vlan.tagged))]
        found[switch] = PairPlan(
            loopbacks[switch], loopbacks[peer], channel, tuple(sorted(ports[switch], key=natural_key)),
            tuple(vlan.name for vlan in dual), tuple(bonds), fabric.inventory.planes[plane], spec,
        )  # fmt: skip
    return found
