"""Whether hosts reach each other after switches or links have failed, where bonds end at two leaves (MCLAG).

A bond sends over each of its ports that is up, and the fabric sends to each leaf that announces the subnet. So each of
these leaves must deliver: to its own port of the host, or over the peer link to the other leaf.

Source: SONiC doc/mclag/Sonic-mclag-hld.md, 7.1 to 7.3.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.engine.derived import derived
from fabricgen.routing import bits
from fabricgen.routing.bgp import solve
from fabricgen.routing.endpoints import NOT_ANNOUNCED, is_active
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.routing.fallback import covering, forwarding
from fabricgen.routing.routes import Destination
from fabricgen.routing.survivors import without_links
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import rows
from fabricgen.sonic.mclag import MclagDomain, mclag_domain, mclag_peers
from fabricgen.sonic.tables import ConfigDb, channel_of, vlans_of

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Place:
    """A port of a host at a switch, and the interface there that its frames reach. `fault` is why they do not pass."""

    switch: int
    port: str
    interface: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Home:
    """An address of a host with its places: those of all ports of a bond."""

    host: str
    address: Address
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class HostClass:
    """Hosts with the same places, apart from the number of the port, and the same prefix. `column` is the destination
    of the prefix, NOT_ANNOUNCED without one."""

    hosts: tuple[str, ...]
    places: tuple[Place, ...]
    family: int
    column: int
    address: Address


@dataclass(frozen=True, slots=True)
class LostPair:
    """Hosts of one class that do not reach those of another. `place` is (switch, table, key) of the row to look at."""

    source: HostClass
    target: HostClass
    reason: str
    place: tuple[str, str, str]

    @property
    def count(self) -> int:
        """The number of ordered pairs of hosts."""
        same = self.source.hosts == self.target.hosts
        return len(self.source.hosts) * (len(self.target.hosts) - same)


class DualHoming:
    """The hosts of one plane, and what reaches them in any state of its switches and links."""

    def __init__(self, bundle: Bundle, fabric: RoutedFabric) -> None:
        self.bundle, self.fabric = bundle, fabric
        self.number = {name: index for index, name in enumerate(fabric.names)}
        configs = {name: bundle.devices[name].config for name in fabric.names}
        self.layers = {name: Layers(config) for name, config in configs.items()}
        found = {name: mclag_domain(config) for name, config in configs.items()}
        self.domains: dict[str, MclagDomain] = {name: one for name, one in found.items() if one}
        self.peers: Mapping[str, str] = mclag_peers(self.domains)

    @derived
    def homes(self) -> list[Home]:
        """Each address of a host with the ports that it is behind."""
        return list(self._homes())

    def _homes(self) -> Iterator[Home]:
        at = {link.a: link.b for link in self.bundle.host_links}
        for host in self.bundle.wiring.hosts if self.bundle.wiring else ():
            bond_of = {nic: bond.nics for bond in host.bonds for nic in bond.nics}
            for nic in host.nics:
                ports = [(host.name, one) for one in bond_of.get(nic.name, (nic.name,))]
                ends = [at[port] for port in ports if port in at and at[port] not in self.bundle.cordoned]
                ends = [end for end in ends if end[0] in self.number and is_active(self.bundle, end[0])]
                for address in filter(None, map(parse_address, nic.addresses)) if ends else ():
                    yield Home(host.name, address.host, tuple(self._places(ends, address.host)))

    def _places(self, ends: Sequence[Endpoint], address: Address) -> Iterator[Place]:
        names = {name for name, _ in ends}
        for name, port in ends:
            layers = self.layers[name]
            interface = layers.interface(port)
            own = self.fabric.spoken.speakers[name].addresses
            fault = ""
            if not any(one.interface == interface and one.network.covers(address) for one in own):
                fault = f"{port} is not in the subnet of {address.ip}"
            elif len(names) > 1 and (reason := self._split(name, names, layers.channel_of.get(port, ""))):
                fault = reason
            yield Place(self.number[name], port, interface, fault)

    def _split(self, name: str, names: Collection[str], channel: str) -> str:
        """Why the leaves of a bond are not one system for LACP; "" if they are."""
        peer = self.peers.get(name)
        if peer is None or {name, peer} != set(names):
            return f"{' and '.join(sorted(names))} are not the two leaves of an MCLAG domain"
        if not all(channel in self.domains[one].channels for one in (name, peer)):
            return f"{channel or 'the port'} is not in MCLAG_INTERFACE of both leaves"
        return ""

    @property
    def leaves(self) -> Sequence[str]:
        """The switches that have a peer."""
        return [name for name in self.fabric.names if name in self.peers]

    def classes(self, failed: Collection[int], dead: Collection[Endpoint]) -> list[HostClass]:
        """The hosts that still have a port, in classes."""
        classes = self._grouped(dead) if dead else self._in_service
        if not failed:
            return classes
        left = ((one, tuple(place for place in one.places if place.switch not in failed)) for one in classes)
        return [replace(one, places=places) for one, places in left if places]

    @derived
    def _in_service(self) -> list[HostClass]:
        return self._grouped(())

    def _grouped(self, dead: Collection[Endpoint]) -> list[HostClass]:
        found: dict[tuple[frozenset[tuple[int, str, str]], int, int], list[Home]] = {}
        for home in self.homes:
            places = tuple(one for one in home.places if (self._name(one), one.port) not in dead)
            if places:
                keys = frozenset((one.switch, one.interface, one.fault) for one in places)
                key = keys, self._column(home), home.address.version
                found.setdefault(key, []).append(Home(home.host, home.address, places))
        return [
            HostClass(tuple(one.host for one in each), each[0].places, family, column, each[0].address)
            for (_, column, family), each in found.items()
        ]

    def _name(self, place: Place) -> str:
        return self.fabric.names[place.switch]

    def _column(self, home: Home) -> int:
        for place in home.places:
            for prefix, column in self._announced.get(place.switch, ()):
                if prefix.covers(home.address):
                    return column
        return NOT_ANNOUNCED

    def connected(self, address: Address) -> frozenset[int]:
        """The switches with a subnet around an address."""
        lengths = (length for version, length in self._lengths if version == address.version)
        return frozenset().union(*(self._subnets.get(address.widened(length), ()) for length in lengths))

    @derived
    def _subnets(self) -> Mapping[Address, set[int]]:
        found: dict[Address, set[int]] = {}
        for name, switch in self.number.items():
            for one in self.fabric.spoken.speakers[name].addresses:
                if one.table != "LOOPBACK_INTERFACE":
                    found.setdefault(one.network, set()).add(switch)
        return found

    @derived
    def _lengths(self) -> set[tuple[int, int]]:
        return {(one.version, one.length) for one in self._subnets}

    @derived
    def around(self) -> Sequence[Sequence[int]]:
        """For each destination, those that packets fall back to."""
        return covering(self.fabric.destinations)

    @derived
    def _announced(self) -> Mapping[int, list[tuple[Address, int]]]:
        found: dict[int, list[tuple[Address, int]]] = {}
        for column, destination in enumerate(self.fabric.destinations):
            prefixes = [prefix for prefix in map(parse_address, destination.prefixes) if prefix and prefix.length]
            for switch in destination.origins:
                found.setdefault(switch, []).extend((prefix, column) for prefix in prefixes)
        for own in found.values():
            own.sort(key=lambda entry: -entry[0].length)
        return found

    def lost(self, switches: Collection[str] = (), ports: Collection[Endpoint] = ()) -> list[LostPair]:
        """The classes of hosts that do not reach each other after these switches, and the links at these ports, have
        failed. Hosts without a port that is left are not counted."""
        return _State(self, {self.number[name] for name in switches}, self._both_ends(ports)).lost()

    def after(self, leaf: str) -> list[LostPair]:
        """`lost` after the failure of one leaf, where nothing is lost before it. If the leaf is not a next hop to hosts
        of others, routes to them stay as they are, so only the hosts behind the leaf are judged."""
        number = self.number[leaf]
        return _State(self, {number}, set(), None if number in self._transit else number).lost()

    @derived
    def _transit(self) -> frozenset[int]:
        """The switches that are next hops to hosts of others."""
        state = _State(self, set(), set())
        hops, own = state.hops(), state.own()
        links = np.flatnonzero((hops & ~own[state.network.target]).any(axis=1))
        return frozenset(state.network.target[links].tolist())

    @derived
    def links_at(self) -> Mapping[Endpoint, list[int]]:
        """(switch, port) -> the directed links that leave there."""
        found: dict[Endpoint, list[int]] = {}
        for link, (switch, port) in enumerate(zip(self.fabric.network.source.tolist(), self.fabric.ports, strict=True)):
            found.setdefault((self.fabric.names[switch], port), []).append(link)
        return found

    def _both_ends(self, ports: Collection[Endpoint]) -> set[Endpoint]:
        found = set(ports)
        for end in ports:
            if link := self.bundle.link_at.get(end):
                found |= {link.a, link.b}
        return found


class Layers:
    """The port channels and VLANs of one switch."""

    def __init__(self, config: ConfigDb) -> None:
        self.channel_of = channel_of(rows(config, "PORTCHANNEL_MEMBER"))
        self.vlans = vlans_of(rows(config, "VLAN_MEMBER"))

    def interface(self, port: str) -> str:
        """The interface that frames without a tag reach at a port: its untagged VLAN, its port channel, or itself."""
        upper = self.channel_of.get(port, port)
        return next((vlan for vlan, mode in self.vlans.get(upper, {}).items() if mode == "untagged"), upper)

    def ports(self, interface: str) -> list[str]:
        """The ports of a port channel, or the port itself."""
        return [port for port, channel in self.channel_of.items() if channel == interface] or [interface]


class _State:
    """The plane after failures. `dead` are the ports of failed links, at both ends. With `origin` only packets to hosts
    whose subnet this switch announces are judged."""

    def __init__(self, of: DualHoming, failed: set[int], dead: set[Endpoint], origin: int | None = None) -> None:
        self.of, self.failed, self.dead = of, failed, dead
        self.classes = of.classes(failed, dead)
        fabric, network = of.fabric, of.fabric.network
        self.targets = [
            one
            for one in self.classes
            if origin is None or (one.column != NOT_ANNOUNCED and origin in fabric.destinations[one.column].origins)
        ]
        gone = [link for end in dead for link in of.links_at.get(end, ())]
        gone += [link for one in failed for link in range(int(network.offsets[one]), int(network.offsets[one + 1]))]
        links = np.union1d(np.array(gone, np.int64), network.reverse[gone].astype(np.int64))
        self.network, self.policy, _ = without_links(network, fabric.policy, links)

    def own(self) -> Flags:
        """Whether each switch has the subnet of each target (switches x targets)."""
        own = np.zeros((self.network.switches, len(self.targets)), bool)
        for column, one in enumerate(self.targets):
            own[list(self.of.connected(one.address) - self.failed), column] = True
        return own

    def lost(self) -> list[LostPair]:
        """The pairs of classes that are not connected."""
        if not self.targets:
            return []
        hops, own = self.hops(), self.own()
        lost = np.zeros_like(own)
        for switch, column in np.argwhere(own).tolist():
            lost[switch, column] = not self._delivers(switch, self.targets[column])
        has_hop = np.zeros_like(own)
        np.logical_or.at(has_hop, self.network.source, hops)
        lost |= ~own & ~has_hop
        while True:
            more = np.zeros_like(lost)
            np.logical_or.at(more, self.network.source, hops & lost[self.network.target])
            more &= ~own & ~lost
            if not more.any():
                break
            lost |= more
        return list(self._pairs(hops, own, lost))

    def _pairs(self, hops: Flags, own: Flags, lost: Flags) -> Iterator[LostPair]:
        for source in self.classes:
            is_faulty = any(place.fault for place in source.places)
            at_places = lost[[place.switch for place in source.places]].any(axis=0)
            for column in range(len(self.targets)) if is_faulty else np.flatnonzero(at_places).tolist():
                target = self.targets[column]
                if source.family != target.family or (source is target and len(source.hosts) == 1):
                    continue
                for place in source.places:
                    name = self.of.fabric.names[place.switch]
                    if place.fault:
                        yield LostPair(source, target, f"at {name}, {place.fault}", (name, "VLAN_MEMBER", ""))
                        break
                    if lost[place.switch, column]:
                        yield LostPair(source, target, *self._reason(place.switch, column, hops, own, lost))
                        break

    def _reason(
        self, switch: int, column: int, hops: Flags, own: Flags, lost: Flags
    ) -> tuple[str, tuple[str, str, str]]:
        target, network, names = self.targets[column], self.network, self.of.fabric.names
        while not own[switch, column]:
            out = range(int(network.offsets[switch]), int(network.offsets[switch + 1]))
            onward = [int(network.target[link]) for link in out if hops[link, column]]
            bad = next((other for other in onward if lost[other, column]), None)
            if bad is None:
                end = target.places[0]
                place = (names[end.switch], "VLAN_INTERFACE", end.interface)
                return f"{names[switch]} has no route to {target.address.ip}", place
            switch = bad
        name = names[switch]
        fault = next((place.fault for place in target.places if place.switch == switch and place.fault), "")
        if fault:
            return f"at {name}, {fault}", (name, "VLAN_MEMBER", "")
        reason = f"{name} has the subnet of {target.address.ip}, but no port to it, and no peer link leads there"
        return reason, (name, "VLAN_INTERFACE", "")

    def hops(self) -> Flags:
        """Whether each link is a next hop to each target (links x targets)."""
        fabric = self.of.fabric
        around = self.of.around
        number: dict[int, int] = {}
        pending = [one.column for one in self.targets if one.column != NOT_ANNOUNCED]
        while pending:
            column = pending.pop()
            if column not in number:
                number[column] = len(number)
                pending += around[column]
        destinations = tuple(self._left(fabric.destinations[column]) for column in number)
        hops = np.zeros((self.network.links, len(self.targets)), bool)
        if not number:
            return hops
        routes = solve(self.network, self.policy, destinations)
        words = forwarding(self.network, routes, fabric.discards)
        for place, one in enumerate(self.targets):
            if one.column != NOT_ANNOUNCED:
                hops[:, place] = bits.has(words, number[one.column])
        return hops

    def _left(self, one: Destination) -> Destination:
        origins = tuple(switch for switch in one.origins if switch not in self.failed)
        return Destination(one.prefixes, origins, one.family, one.loopback, one.barred)

    def _delivers(self, switch: int, one: HostClass) -> bool:
        """Whether a switch with the subnet delivers to the hosts of a class."""
        if any(place.switch == switch and not place.fault for place in one.places):
            return True
        name = self.of.fabric.names[switch]
        peer = self.of.peers.get(name)
        if peer is None or self.of.number[peer] in self.failed:
            return False
        there = [place.interface for place in one.places if self.of.fabric.names[place.switch] == peer]
        return any(self._crosses(name, peer, vlan) for vlan in there)

    def _crosses(self, name: str, peer: str, vlan: str) -> bool:
        """Whether the peer link carries a VLAN, over a link that is up."""
        ends = [(one, self.of.domains[one].peer_link) for one in (name, peer)]
        if not all(vlan in self.of.layers[one].vlans.get(interface, {}) for one, interface in ends):
            return False
        near, far = ({(one, port) for port in self.of.layers[one].ports(interface)} for one, interface in ends)
        for end in near - self.dead:
            link = self.of.bundle.link_at.get(end)
            if link and (link.b if link.a == end else link.a) in far:
                return True
        return False
