"""The config_db files of one plane to the arrays from which routes are computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from fabricgen.bundle.outside import default_routes
from fabricgen.bundle.read import Bundle
from fabricgen.engine.derived import derived, kept
from fabricgen.routing.bgp import BgpPolicy, solve
from fabricgen.routing.filters import LinkFilters
from fabricgen.routing.network import Network, build_network
from fabricgen.routing.routes import Destination, Routes
from fabricgen.routing.sessions import find_sessions
from fabricgen.routing.spoken import Session, SpokenFabric
from fabricgen.sonic.addresses import Address


@dataclass(frozen=True)
class RoutedFabric:
    """One plane, ready for `solve`. `names[u]` is switch u. `sessions[p]` makes the pair of directed links that
    `network.order` numbers 2p and 2p + 1. Of two sessions between the same interfaces (IPv4 and IPv6) it is the first,
    because both share the buffers of one link. `announced` maps (switch, prefix) to its (table, key)."""

    names: tuple[str, ...]
    spoken: SpokenFabric
    sessions: tuple[Session, ...]
    network: Network
    policy: BgpPolicy
    destinations: tuple[Destination, ...]
    announced: Mapping[tuple[str, str], tuple[str, str]]

    @derived
    def ports(self) -> tuple[str, ...]:
        """For each link, the egress interface of its source."""
        ends = [interface for session in self.sessions for _, interface, *_ in session]
        return tuple([ends[place] for place in self.network.order.tolist()])

    def port(self, link: int) -> str:
        """The egress interface of the source of a link."""
        return self.ports[link]

    def row(self, link: int) -> str:
        """The BGP_NEIGHBOR key of the session at the source of a link."""
        pair, backwards = divmod(int(self.network.order[link]), 2)
        session = self.sessions[pair]
        return (session.b if backwards else session.a).key

    @property
    def discards(self) -> tuple[tuple[Address, ...], ...]:
        """The prefixes that each switch drops if it has no longer prefix."""
        return tuple(self.spoken.speakers[name].discards for name in self.names)

    @derived
    def vrfs(self) -> Mapping[tuple[str, str], tuple[str, str]]:
        """(switch, interface) -> (interface, VRF) of the interfaces outside the default VRF."""
        columns = self.spoken.addresses
        found = ((self.names[columns.switch_of(row)], columns.interface[row], vrf) for row, vrf in columns.vrf.items())
        return {(name, interface): (interface, vrf) for name, interface, vrf in found}

    def vtep(self, switch: str, interface: str) -> Address | None:
        """The address that packets to the hosts of an interface go to over VXLAN; None if it has no L3 VNI."""
        return self.spoken.vteps.get((switch, self.vrfs.get((switch, interface), ("", ""))[1]))

    def routes(self) -> Routes:
        """The next hops of every switch to every destination."""
        return solve(self.network, self.policy, self.destinations)

    def next_hops(self) -> dict[str, dict[str, list[str]]]:
        """{switch: {prefix: [next-hop switches]}}."""
        return self.routes().by_switch(self.network, self.names)


def read_fabric(bundle: Bundle, switches: list[str]) -> RoutedFabric:
    """The routing model of `switches` of a bundle, which keeps it. Raises UnreadableInputError."""
    return kept(partial(_read, bundle, switches), _read, *switches, memo=bundle.models)


def _read(bundle: Bundle, switches: list[str]) -> RoutedFabric:
    spoken = find_sessions(bundle, switches)
    names = tuple(switches)
    number = {name: index for index, name in enumerate(names)}
    sessions, cable = _by_cable(spoken.sessions)
    filters = LinkFilters(spoken, cable, len(sessions))
    network = build_network(
        len(names), [number[a.switch] for a, _ in sessions], [number[b.switch] for _, b in sessions]
    )
    destinations, announced = _destinations(bundle, spoken, number, filters)
    policy = _policy(spoken, cable, names, network)
    if filters.exist:
        policy = replace(policy, filters=filters.numbers[network.order])
    return RoutedFabric(names, spoken, sessions, network, policy, destinations, announced)


def _by_cable(sessions: Sequence[Session]) -> tuple[tuple[Session, ...], list[int]]:
    """The first session of each pair of interfaces, and for every session the number of its pair."""
    known: dict[tuple[str, ...], int] = {}
    first: list[Session] = []
    cable: list[int] = []
    for session in sessions:
        (a, a_port, *_), (b, b_port, *_) = session
        place = known.setdefault((a, a_port, b, b_port), len(first))
        if place == len(first):
            first.append(session)
        cable.append(place)
    return tuple(first), cable


def _policy(spoken: SpokenFabric, cable: Sequence[int], names: tuple[str, ...], network: Network) -> BgpPolicy:
    terms = [(a.terms, b.terms) for a, b in spoken.sessions]
    heard = [(_families(a.accepts, b.sends), _families(b.accepts, a.sends)) for a, b in terms]
    lenience = [(a.allowas_in, b.allowas_in) for a, b in terms]
    hears = np.zeros(network.links, np.uint8).reshape(-1, 2)
    allowed = np.zeros(network.links, np.int64).reshape(-1, 2)
    if terms:
        np.bitwise_or.at(hears, cable, np.array(heard, np.uint8))
        np.maximum.at(allowed, cable, np.array(lenience, np.int64))
    speakers = [spoken.speakers[name] for name in names]
    # A switch without BGP has no sessions. It gets a unique ASN so that no other switch shares it.
    return BgpPolicy(
        asn=np.array([-index - 1 if one.asn is None else one.asn for index, one in enumerate(speakers)], np.int64),
        isolated=np.array([bool(one.isolated) for one in speakers]),
        multipath_relax=np.array([one.multipath_relax for one in speakers], bool),
        maximum_paths=np.array([one.maximum_paths for one in speakers], np.int64),
        hears=hears.ravel()[network.order],
        allowas_in=allowed.ravel()[network.order],
    )


@cache
def _families(accepted: frozenset[int], sent: frozenset[int]) -> int:
    """Bit 0: IPv4 passes, bit 1: IPv6."""
    return int(4 in accepted & sent) | int(6 in accepted & sent) << 1


def _destinations(
    bundle: Bundle, spoken: SpokenFabric, number: Mapping[str, int], filters: LinkFilters
) -> tuple[tuple[Destination, ...], dict[tuple[str, str], tuple[str, str]]]:
    """Announced prefixes in classes of equal origins, which pass the same filters. Loopbacks have their own classes
    only where TSA treats them differently.

    The origins of a default route from outside are the border switches: the path begins there, one AS longer.
    """
    announced: dict[tuple[str, str], tuple[str, str]] = {}
    origins: dict[str, dict[int, bool]] = {}
    for name, one in spoken.speakers.items():
        if one.asn is None:
            continue
        for entry in (*one.announcements, *default_routes(bundle, name, one)):
            announced.setdefault((name, entry.prefix), entry.row)
            origins.setdefault(entry.prefix, {}).setdefault(number[name], entry.loopback and bool(one.isolated))
    classes: dict[tuple[tuple[int, ...], int, bool, frozenset[int]], list[str]] = {}
    for prefix, by_switch in origins.items():
        origin, family = tuple(sorted(by_switch)), 6 if ":" in prefix else 4
        key = (origin, family, any(by_switch.values()), filters.barring(prefix))
        classes.setdefault(key, []).append(prefix)
    found = (Destination(tuple(prefixes), *key) for key, prefixes in classes.items())
    return tuple(found), announced
