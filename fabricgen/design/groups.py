"""Dragonfly and dragonfly+: links within each group, and equal links between every pair of groups.

A group is a scalable unit. Of G planned groups:

- Dragonfly: a group is `switches` (a) leaves, each linked to every other by `local_links`; each has `global_links` (h)
  to other groups. A switch needs p endpoints + (a - 1) x local_links + h ports.
- Dragonfly+: a group is `leaves` x `spines`, each leaf linked to every spine by `local_links`; each spine has
  `global_links` (h). A leaf needs p + spines x local_links ports, a spine leaves x local_links + h.
- A group has K = a x h (spines x h) global links, so G is at most K + 1. Each pair of groups has floor(K / (G - 1))
  links, the rest is spare; `arrangement` determines their ports. Links to groups that are not built do not exist.

Ports: endpoints first, then local links by the number of the far switch; global links are the last h ports.

ASNs: each leaf has its own. The spines of a dragonfly+ group share one, as a tier in RFC 7938: a path from spine to
leaf to another spine of the group contains that ASN twice and is rejected, so no leaf becomes transit. All leaves still
reach each other by leaf, spine, spine, leaf, because every leaf has links to all spines of its group and every pair of
groups has a link. Such a path goes up, then between groups, then down: no cycle of buffer dependencies while every pair
has a link. A pair that loses its last link is disconnected, or uses spines of a third group. With an ASN for each spine
it would use leaves instead, where traffic turns upwards again. So lossless planes should have two links for each pair.

Sources: Kim, Dally, Scott, Abts, Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008); Shpiner et al.,
Dragonfly+: Low Cost Topology for Scaling Datacenters (HiPINEB 2017); RFC 7938 section 5.2.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil

from fabricgen.design.endpoints import Endpoints, half_of_hosts_gbps, host_links, place_endpoints
from fabricgen.design.model import Block, Identity, Link, PlaneDesign, Switch
from fabricgen.design.parts import PartsList, TierParts, make_switch
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import DragonflySpec
from fabricgen.vocabulary import LinkKind, Role


def expand_groups(plane: Plane, parts: PartsList, roles: Sequence[Role]) -> PlaneDesign | None:
    """The plane with groups of leaves, or of leaves and spines; None, with findings, when it cannot be laid out."""
    group, unit = plane.dragonfly, plane.unit
    tiers = {role: tier for role in roles if (tier := parts.tier(plane, role))}
    if unit is None or group is None or plane.speed_mbps is None or len(tiers) < len(roles):
        return None  # a finding exists for what is missing
    endpoints = place_endpoints(plane, unit, group.leaves, parts)
    if endpoints is None:
        return None
    groups = unit.planned or endpoints.used[-1] + 1
    if endpoints.used[-1] >= groups:
        made = f"{len(endpoints.hosts)} hosts, {unit.hosts} in a group, make {endpoints.used[-1] + 1} groups"
        hint = f"set `planned: {endpoints.used[-1] + 1}` or more; a change moves global links, so plan ahead"
        parts.findings.append(error("FG207", f"{made}, `planned` is {groups}", unit, "planned", hint=hint))
        return None
    ports = {role: len(tier.layout.ports_at(plane.speed_mbps)) for role, tier in tiers.items()}
    fits = [_groups_can_be_joined(group, groups, parts), _ports_suffice(plane, group, endpoints, ports, parts)]
    if not all(fits):
        return None
    return _Build(plane, group, endpoints, groups, tiers).design()


def _groups_can_be_joined(group: DragonflySpec, groups: int, parts: PartsList) -> bool:
    carriers = group.spines or group.leaves
    most = carriers * group.global_links + 1
    if groups > most:
        message = (
            f"{groups} groups need {groups - 1} global links from each; a group has {carriers} x "
            f"{group.global_links} = {most - 1}"
        )
        hint = f"use at most {most} groups, or set `global_links: {ceil((groups - 1) / carriers)}`"
        parts.findings.append(error("FG201", message, group, "global_links", hint=hint))
    return groups <= most


def _ports_suffice(
    plane: Plane, group: DragonflySpec, endpoints: Endpoints, radixes: dict[Role, int], parts: PartsList
) -> bool:
    """Whether each tier's platform has the ports; a finding, with the count by purpose, if not."""
    own, local, far = endpoints.per_switch, group.local_links, group.global_links
    others = group.leaves - 1
    if group.spines:
        needed = {
            Role.LEAF: (own + group.spines * local, f"{own} endpoints + {group.spines} spines x {local}"),
            Role.SPINE: (group.leaves * local + far, f"{group.leaves} leaves x {local} + {far} global links"),
        }
    else:
        counted = f"{own} endpoints + {others} switches x {local} + {far} global links"
        needed = {Role.LEAF: (own + others * local + far, counted)}
    fits = True
    for role, (ports, counted) in needed.items():
        if ports > radixes[role]:
            message = f"a {role} needs {ports} ports ({counted}), its platform has {radixes[role]}"
            hint = "reduce `dragonfly.switches` (`leaves`, `spines`), `scalable_unit.hosts` or `dragonfly.global_links`"
            parts.findings.append(error("FG201", message, plane.tiers[role], "platform", hint=hint))
            fits = False
    return fits


class _Build:
    """Switches and links of one plane."""

    def __init__(
        self, plane: Plane, group: DragonflySpec, endpoints: Endpoints, groups: int, tiers: dict[Role, TierParts]
    ) -> None:
        self.plane, self.group, self.endpoints, self.groups = plane, group, endpoints, groups
        self.leaves = {
            (unit, number): make_switch(Identity(plane.name, Role.LEAF, number, su=unit), tiers[Role.LEAF])
            for unit in endpoints.used
            for number in range(group.leaves)
        }
        self.spines = {
            (unit, number): make_switch(
                Identity(plane.name, Role.SPINE, number, su=unit), tiers[Role.SPINE], f"{plane.name}/su{unit}/spine"
            )
            for unit in endpoints.used
            for number in range(group.spines)
        }

    def design(self) -> PlaneDesign:
        """The plane."""
        hosts = host_links(self.plane, self.endpoints, lambda unit, number: self.leaves[unit, number])
        links = (*hosts, *(self.leaf_spine() if self.spines else self.peers()), *self.between_groups())
        planned = {
            Role.LEAF: self.groups * self.group.leaves,
            Role.SPINE: self.groups * self.group.spines,
            Role.CORE: 0,
        }
        switches = (*self.leaves.values(), *self.spines.values())
        bisection = min(
            half_of_hosts_gbps(self.plane, self.endpoints), self._cut() * (self.plane.speed_mbps or 0) // 1000
        )
        return PlaneDesign(
            self.plane, switches, links, self.endpoints.hosts, planned, self.endpoints.units, bisection_gbps=bisection
        )

    def _cut(self) -> int:
        """Links between two halves of the built groups; of a single group, between two halves of it."""
        built, group = len(self.endpoints.used), self.group
        if built > 1:
            ports = (group.spines or group.leaves) * group.global_links
            return (built // 2) * (built - built // 2) * links_per_pair(self.groups, ports)
        if group.spines:
            return group.leaves * group.spines * group.local_links // 2
        return (group.leaves // 2) * (group.leaves - group.leaves // 2) * group.local_links

    def peers(self) -> Iterator[Link]:
        """The links of every pair of switches of a group; the lower number is the lower end."""
        parallel, first = self.group.local_links, self.endpoints.per_switch
        for (unit, number), low in self.leaves.items():
            above = range(number + 1, self.group.leaves)
            block = Block(f"{low.key}/peers", self.plane.name, "links", len(above) * parallel, low.key)
            for slot in range(len(above) * parallel):
                far, lane = above[slot // parallel], slot % parallel
                near_port = first + (far - 1) * parallel + lane
                far_port = first + number * parallel + lane
                high = self.leaves[unit, far]
                yield self._link(f"{low.key}/peer{slot}", LinkKind.PEER, low, near_port, high, far_port, block, slot)

    def leaf_spine(self) -> Iterator[Link]:
        """The links of every leaf to every spine of its group."""
        parallel, first = self.group.local_links, self.endpoints.per_switch
        count = self.group.spines * parallel
        for (unit, number), leaf in self.leaves.items():
            block = Block(f"{leaf.key}/uplinks", self.plane.name, "links", count, leaf.key)
            for slot in range(count):
                spine, far_port = self.spines[unit, slot // parallel], number * parallel + slot % parallel
                yield self._link(
                    f"{leaf.key}/up{slot}", LinkKind.LEAF_SPINE, leaf, first + slot, spine, far_port, block, slot
                )

    def between_groups(self) -> Iterator[Link]:
        """Every global link between built groups; the lower group has the lower end."""
        each, carriers = self.group.global_links, self.spines or self.leaves
        ports = each * (self.group.spines or self.group.leaves)
        built = set(self.endpoints.used)
        for unit, port, far_unit, far in global_links(self.group.arrangement, self.groups, ports):
            if unit in built and far_unit in built:
                low, high = carriers[unit, port // each], carriers[far_unit, far // each]
                slot = port % each
                block = Block(f"{low.key}/global", self.plane.name, "links", each, low.key)
                name = f"{low.key}/global{slot}"
                yield self._link(name, LinkKind.GLOBAL, low, slot - each, high, far % each - each, block, slot)

    def _link(
        self, name: str, kind: LinkKind, low: Switch, port: int, high: Switch, far_port: int, block: Block, slot: int
    ) -> Link:
        near, far = (
            switch.layout.ports_at(self.plane.speed_mbps or 0)[number]
            for switch, number in ((low, port), (high, far_port))
        )
        return Link(
            name, self.plane.name, kind, low, near.name, high, far.name, near.speed_mbps, self.plane.cables[kind],
            block, slot,
        )  # fmt: skip


# The far group of each global link of a dragonfly.
#
# All pairs of the G planned groups have equal links: a group numbers its global ports, and each round of G - 1 of them
# reaches each other group once. Ports beyond the last whole round are spare. Within a round, port k of group g:
#
# - absolute: to group k, or k + 1 from g on.
# - relative: to group g + k + 1 (mod G). Also called palm tree.
# - circulant: to group g + k/2 + 1 for an even k, g - (k+1)/2 for an odd one (mod G).
#
# This depends only on the planned groups, so a further group changes no link of the others. The rounds put
# parallel links of two groups on distant ports, mostly of different switches.
#
# Sources: Camarero, Vallejo, Beivide, Topological Characterization of Hamming and Dragonfly Networks (2014);
# Hastings et al., Comparing Global Link Arrangements for Dragonfly Networks (2015).

# (groups, group, port of a round) -> (group at the far end, its port of the same round)
_FAR_ENDS: Mapping[str, Callable[[int, int, int], tuple[int, int]]] = {
    "absolute": lambda _, group, port: (port, group - 1) if port < group else (port + 1, group),
    "relative": lambda groups, group, port: ((group + port + 1) % groups, groups - 2 - port),
    "circulant": lambda groups, group, port: _circulant(groups, group, port),
}


def links_per_pair(groups: int, ports: int) -> int:
    """Parallel links between any two of `groups` groups with `ports` global ports each; 0 if that is too few."""
    return ports // (groups - 1) if groups > 1 else 0


def global_links(arrangement: str, groups: int, ports: int) -> Iterator[tuple[int, int, int, int]]:
    """(group, port, far group, far port) of every global link, once each, from the lower group to the higher."""
    far_end = _FAR_ENDS[arrangement]
    for number in range(links_per_pair(groups, ports)):
        first = number * (groups - 1)  # port of the round
        for group in range(groups):
            for port in range(groups - 1):
                far, far_port = far_end(groups, group, port)
                if group < far:
                    yield group, first + port, far, first + far_port


def _circulant(groups: int, group: int, port: int) -> tuple[int, int]:
    if port == groups - 2 and groups % 2 == 0:  # half of the ring: both ends have the last port
        return (group + groups // 2) % groups, port
    step = port // 2 + 1
    return ((group + step) % groups, port + 1) if port % 2 == 0 else ((group - step) % groups, port - 1)
