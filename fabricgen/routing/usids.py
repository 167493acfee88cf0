"""Where lists of SRv6 uSIDs lead, from the tables of switches: SRV6_MY_LOCATORS, SRV6_MY_SIDS and STATIC_ROUTE.

A switch removes the first uSID of a list if it has its SID uN, and looks the rest up again. Otherwise the longest
static route inside the block decides. Other prefixes do not count: FG748 reports those that are inside a block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.engine.derived import derived
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import rows
from fabricgen.sonic.srv6 import (
    BLOCK_BITS,
    LOCATORS,
    USID_BITS,
    UsidRoute,
    block_of,
    first_usid,
    is_taken,
    list_address,
    routes_within,
    shifted,
    sids_of,
    usid_prefix,
)
from fabricgen.vocabulary import LinkKind, Role

_RANK = {Role.LEAF: 0, Role.SPINE: 1, Role.CORE: 2}


@dataclass(frozen=True, slots=True)
class Walk:
    """The way of a packet: the switch ports that send it, the last device, and why it ends at a switch ("" at a
    host)."""

    hops: tuple[Endpoint, ...]
    last: str
    reason: str


@dataclass(frozen=True, slots=True)
class UsidList:
    """A path as a list: the ports that send the packet, in order, the NIC at its end, and the outer destination
    address. `destination` is None where a hop has no uSID: `missing` is its port."""

    hops: tuple[Endpoint, ...]
    nic: Endpoint
    destination: Address | None
    missing: Endpoint | None = None


class UsidSwitch:
    """The uSIDs of one switch: the prefixes of its SIDs uN, and its routes inside its blocks."""

    def __init__(self, device: ObservedDevice) -> None:
        found, release = rows(device.config, LOCATORS), device.release
        by_locator = {name: block for name, row in found.items() if (block := block_of(row))}
        self.blocks = tuple(dict.fromkeys(by_locator.values()))
        self.own = {
            sid.prefix.network: sid.key
            for sid in sids_of(device.config)
            if sid.action == "uN" and is_taken(sid, by_locator.get(sid.locator), release)
        }
        self.routes: dict[Address, UsidRoute] = {one.prefix: one for one in routes_within(device.config, self.blocks)}
        self.lengths = sorted({prefix.length for prefix in (*self.own, *self.routes)}, reverse=True)
        single = BLOCK_BITS + USID_BITS
        found_longer = (one for one in (*self.own, *self.routes) if one.length > single)
        self.divided = {one.widened(single) for one in found_longer}  # uSIDs that also a longer prefix decides on

    def lookup(self, destination: Address) -> tuple[Address, UsidRoute | None] | None:
        """The longest prefix that covers a list, and its route: None for a SID of the switch. None if no prefix
        matches."""
        for length in self.lengths:
            prefix = destination.widened(length)
            if prefix in self.own:
                return prefix, None
            if prefix in self.routes:
                return prefix, self.routes[prefix]
        return None


class UsidPlane:
    """The switches of a plane that have uSIDs, and the links between them."""

    def __init__(self, bundle: Bundle, switches: Sequence[str]) -> None:
        self.bundle = bundle
        self.switches = {name: UsidSwitch(bundle.devices[name]) for name in switches}
        self._counts: dict[tuple[str, str], int] = {}
        self._ports: dict[tuple[str, str], tuple[str, str]] = {}  # (switch, key of a route) -> its port

    @derived
    def block(self) -> Address | None:
        """The first block of the plane; None if no switch has a locator."""
        return next((block for one in self.switches.values() for block in one.blocks), None)

    @derived
    def _addresses(self) -> dict[Endpoint, frozenset[Address]]:
        """NIC -> its addresses, where fabric.json has them."""
        hosts = self.bundle.wiring.hosts if self.bundle.wiring else ()
        return {
            (host.name, nic.name): frozenset(
                found.host for text in nic.addresses if (found := parse_address(text)) is not None
            )
            for host in hosts
            for nic in host.nics
        }

    def far(self, switch: str, port: str) -> Endpoint | None:
        """The other end of the link of a port; None without a link."""
        link = self.bundle.link_at.get((switch, port))
        return None if link is None else link.b if link.a == (switch, port) else link.a

    def port_of(self, switch: str, route: UsidRoute) -> tuple[str, str]:
        """(the port that a route leads over, why it has no port): one next hop, which is an address at the far end."""
        known = self._ports.get((switch, route.key))
        if known is None:
            known = self._ports[switch, route.key] = self._port_of(switch, route)
        return known

    def _port_of(self, switch: str, route: UsidRoute) -> tuple[str, str]:
        if len(route.next_hops) != 1 or len(route.ports) > 1:
            count = max(len(route.next_hops), len(route.ports))
            return (
                "",
                f"the route has {count} next hops, so the switch hashes" if count else "the route has no next hop",
            )
        hop = parse_address(route.next_hops[0])
        port = route.ports[0] if route.ports else self._port_towards(switch, hop)
        far = self.far(switch, port)
        if far is None:
            return "", f"{port or 'no interface'} has no link to the next hop {route.next_hops[0]}"
        held = self._held(far)
        if hop is not None and held and hop.host not in held:
            return "", f"{route.next_hops[0]} is not an address of {far[0]} {far[1]}, to which {port} leads"
        return port, ""

    def _held(self, end: Endpoint) -> frozenset[Address]:
        device = self.bundle.devices.get(end[0])
        if device is None:
            return self._addresses.get(end, frozenset())
        return frozenset(
            found.host
            for key in device.table("INTERFACE")
            if key.startswith(f"{end[1]}|") and (found := parse_address(key.partition("|")[2]))
        )

    def _port_towards(self, switch: str, hop: Address | None) -> str:
        for key in self.bundle.devices[switch].table("INTERFACE"):
            port, _, text = key.partition("|")
            found = parse_address(text) if text else None
            if hop and found and found.network.covers(hop.host):
                return port
        return ""

    def _step(self, switch: str, destination: Address) -> tuple[Address | None, str, str]:
        """(the list as the switch sends it, the port, why it stops); the list is None where it stops."""
        found = self.switches[switch].lookup(destination)
        if found is not None and found[1] is None:
            rest = shifted(destination)
            if not first_usid(rest):
                return None, "", f"the list ends at {switch}"
            again = self.switches[switch].lookup(rest)
            if again is not None and again[1] is None:
                return None, "", f"two uSIDs in a row are of {switch}"
            destination, found = rest, again
        if found is None or found[1] is None:
            return None, "", f"{switch} has no route to {destination.ip}"
        port, reason = self.port_of(switch, found[1])
        return (destination, port, "") if port else (None, "", f"{switch}: {reason}")

    def walk(self, switch: str, destination: Address) -> Walk:
        """The way of a packet to the outer address `destination` that enters at a switch."""
        hops: list[Endpoint] = []
        while True:
            left, port, reason = self._step(switch, destination)
            if left is None:
                return Walk(tuple(hops), switch, reason)
            hops.append((switch, port))
            far = self.far(switch, port)
            assert far is not None, "port_of gives ports with a link"
            if far[0] not in self.switches:
                return Walk(tuple(hops), far[0], "")
            if len(hops) > len(self.switches):
                return Walk(tuple(hops), far[0], "the list never ends")
            switch, destination = far[0], left

    # The paths that the wiring has, and the lists that name them.

    @derived
    def nics(self) -> tuple[WiredLink, ...]:
        """The links of hosts to the switches of the plane."""
        return tuple(link for link in self.bundle.host_links if link.b[0] in self.switches)

    @derived
    def usid_over(self) -> dict[Endpoint, int]:
        """Switch port -> the uSID whose route leads over this port alone, of the neighbor's SIDs or of the NIC
        there."""
        found: dict[Endpoint, int] = {}
        for name, one in self.switches.items():
            for prefix, route in one.routes.items():
                port, _ = self.port_of(name, route)
                far = self.far(name, port) if port else None
                if far is None or (far[0] in self.switches) != (prefix in self._own(far[0])):
                    continue
                found.setdefault((name, port), first_usid(prefix))
        return found

    def _own(self, switch: str) -> dict[Address, str]:
        return self.switches[switch].own if switch in self.switches else {}

    @derived
    def unsure(self) -> frozenset[Endpoint]:
        """The ports of the paths over which no uSID leads for certain. A list that names no such port takes its path:
        at each hop one prefix decides, whose route leads over the port to the switch that removes the uSID."""
        ends = [end for links in self.up.values() for link in links for end in (link.a, link.b)]
        return frozenset(end for end in (*ends, *(link.b for link in self.nics)) if not self._is_sure(end))

    def _is_sure(self, end: Endpoint) -> bool:
        usid, far = self.usid_over.get(end), self.far(*end)
        if usid is None or far is None or self.block is None:
            return False
        prefix, near = usid_prefix(self.block, usid), self.switches[end[0]]
        found = near.lookup(prefix)
        if found is None or found[1] is None or self.port_of(end[0], found[1])[0] != end[1]:
            return False
        if far[0] not in self.switches:
            return prefix not in near.divided
        other = self.switches[far[0]]
        return prefix in other.own and prefix not in near.divided | other.divided

    @derived
    def _tier(self) -> dict[str, int]:
        """The tier of each switch: by its role, or in files without fabric.json by its distance from hosts."""
        roles = {name: one.role for name in self.switches if (one := self.bundle.devices[name].wired)}
        if roles:
            return {name: _RANK.get(roles[name], 3) if name in roles else 3 for name in self.switches}
        near: dict[str, list[str]] = {name: [] for name in self.switches}
        for link in self._between:
            near[link.a[0]].append(link.b[0])
            near[link.b[0]].append(link.a[0])
        found = dict.fromkeys((link.b[0] for link in self.nics), 0)
        for name in (waiting := list(found)):
            for other in near[name]:
                if other not in found:
                    found[other] = found[name] + 1
                    waiting.append(other)
        return found

    @derived
    def _between(self) -> list[WiredLink]:
        """The links between the switches that a path may have."""
        kinds = (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE, LinkKind.PEER)
        links = (link for link in self.bundle.switch_links if link.kind in kinds)
        return [link for link in links if link.a[0] in self.switches and link.b[0] in self.switches]

    @derived
    def up(self) -> dict[str, list[WiredLink]]:
        """Switch -> its links upwards, from it, in the order of the bundle."""
        found: dict[str, list[WiredLink]] = {name: [] for name in self.switches}
        tier = self._tier
        for link in self._between:
            a, b = (tier.get(end[0], 0) for end in (link.a, link.b))
            if a != b:
                upwards = link if a < b else replace(link, a=link.b, b=link.a)
                found[upwards.a[0]].append(upwards)
        return found

    @derived
    def _down(self) -> dict[str, dict[str, list[WiredLink]]]:
        """Switch -> neighbor below -> the links to it."""
        found: dict[str, dict[str, list[WiredLink]]] = {name: {} for name in self.switches}
        for links in self.up.values():
            for link in links:
                found[link.b[0]].setdefault(link.a[0], []).append(link)
        return found

    @derived
    def below(self) -> dict[str, frozenset[str]]:
        """Switch -> the leaves that it reaches downwards, itself if it is one."""
        found: dict[str, frozenset[str]] = {}
        for name in sorted(self.switches, key=lambda name: self._tier.get(name, 0)):
            reached = {name} if not self._down[name] else set[str]()
            found[name] = frozenset(reached.union(*(found.get(lower, ()) for lower in self._down[name])))
        return found

    def lists(self, source: str, nic: WiredLink) -> Iterator[UsidList]:
        """The paths from a leaf to a NIC: over each link upwards to the lowest tier where the leaf of the NIC is below,
        and down. Between the same two switches the way down has the place of the way up."""
        target = nic.b[0]
        if source == target:
            yield self._named((nic.b,), nic)
            return
        for hops in self._rising(source, target, (), 0):
            yield self._named((*hops, nic.b), nic)

    def path_count(self, source: str, target: str) -> int:
        """How many lists `lists` gives from a leaf to one NIC of another leaf."""
        known = self._counts.get((source, target))
        if known is None:
            if source == target:
                known = 1
            elif target in self.below[source]:
                lowers = (lower for lower in self._down[source] if target in self.below[lower])
                known = sum(self.path_count(lower, target) for lower in lowers)
            else:
                known = sum(self.path_count(link.b[0], target) for link in self.up[source])
            self._counts[source, target] = known
        return known

    def _rising(self, switch: str, target: str, hops: tuple[Endpoint, ...], way: int) -> Iterator[tuple[Endpoint, ...]]:
        if target in self.below[switch]:
            yield from self._falling(switch, target, hops, way)
            return
        seen: dict[str, int] = {}
        for link in self.up[switch]:
            place = seen[link.b[0]] = seen.get(link.b[0], -1) + 1
            yield from self._rising(link.b[0], target, (*hops, link.a), place)

    def _falling(
        self, switch: str, target: str, hops: tuple[Endpoint, ...], way: int
    ) -> Iterator[tuple[Endpoint, ...]]:
        if switch == target:
            yield hops
            return
        for lower, links in self._down[switch].items():
            if target in self.below[lower]:
                link = links[way % len(links)]
                yield from self._falling(lower, target, (*hops, link.b), way)

    def as_hosts_name(self, one: UsidList) -> Address | None:
        """The list that hosts have of a path. Where no uSID leads over a port alone, it has that of a route over the
        port, or of the switch there; None if neither exists."""
        if one.destination is not None or self.block is None:
            return one.destination
        usids = [self.usid_over.get(hop) or self._usid_towards(hop) for hop in one.hops]
        return list_address(self.block, [usid for usid in usids if usid]) if all(usids) else None

    def _usid_towards(self, end: Endpoint) -> int | None:
        far = self.far(*end)
        over = (prefix for prefix, route in self.switches[end[0]].routes.items() if route.ports == (end[1],))
        return next((first_usid(prefix) for prefix in (*over, *(self._own(far[0]) if far else ()))), None)

    def problem(self, source: str, one: UsidList, walk: Walk | None) -> tuple[Endpoint, str] | None:
        """(where, why) a list does not take its path; None if it does. `walk` is its way, None if it has no
        address."""
        if one.destination is None or walk is None:
            return one.missing or (source, ""), "no uSID leads over this link alone"
        for planned, taken in zip(one.hops, walk.hops, strict=False):
            if planned != taken:
                return taken, f"the list leaves over {taken[1]}, expected {planned[1]}"
        if walk.reason:
            return (walk.last, ""), walk.reason
        if len(walk.hops) != len(one.hops):
            return walk.hops[-1], f"the list ends at {walk.last}, expected {one.nic[0]}"
        return None

    def _named(self, hops: tuple[Endpoint, ...], nic: WiredLink) -> UsidList:
        missing = next((hop for hop in hops if hop not in self.usid_over), None)
        if missing is not None or self.block is None:
            return UsidList(hops, nic.a, None, missing)
        return UsidList(hops, nic.a, list_address(self.block, [self.usid_over[hop] for hop in hops]))


def usid_planes(bundle: Bundle, plane: str | None = None) -> Iterator[tuple[str, UsidPlane]]:
    """(plane, its uSIDs) of each plane, or of `plane`, in which a switch has a locator. Loose files are one plane
    ""."""
    groups: dict[str, list[str]] = {}
    for name, device in bundle.devices.items():
        groups.setdefault(device.wired.plane if device.wired else "", []).append(name)
    for name, switches in groups.items():
        if plane in (None, name) and any(rows(bundle.devices[one].config, LOCATORS) for one in switches):
            yield name, UsidPlane(bundle, switches)
