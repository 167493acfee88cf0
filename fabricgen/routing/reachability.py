"""Whether every host of a plane reaches every other one, over the routes that the files give.

A switch delivers the packets to a host if it has a next hop and each of its next hops delivers them: ECMP sends a flow
over any of them. All hosts that the planned links connect must reach each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.engine.derived import derived
from fabricgen.joined import joined
from fabricgen.routing import bits
from fabricgen.routing.bgp import solve
from fabricgen.routing.bits import Words
from fabricgen.routing.endpoints import NOT_ANNOUNCED, Target, find_targets, is_active
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.routing.fallback import covering, forwarding
from fabricgen.routing.network import Network
from fabricgen.sonic.image import ROUTING_MODE, StaticPath
from fabricgen.vocabulary import LinkKind

_EBGP_DISTANCE = 20
_WORDS_PER_PASS = 4  # limits memory: the next hops of all links to 256 targets

Dropped = dict[tuple[int, int], StaticPath]  # (switch, number of the target) -> the route that drops its packets


@dataclass(frozen=True)
class Reachability:
    """`lost[u]` (switches x words) has a bit for each target that the hosts of switch u must reach but do not. `bad[u]`
    has one for each target whose packets switch u loses, for all switches, and `hopless[u]` for each that it has no
    next hop to. `dropped` are the blackhole routes that lose packets. `neighbors` are the pairs of switches that
    planned links or sessions connect, both ways."""

    fabric: RoutedFabric
    targets: tuple[Target, ...]
    lost: Words
    bad: Words
    hopless: Words
    dropped: Dropped
    neighbors: NDArray[np.int64]

    @derived
    def weights(self) -> NDArray[np.int64]:
        """The number of addresses of each target."""
        return np.array([len(one.addresses) for one in self.targets], np.int64)

    def pairs(self, lost: Words) -> int:
        """The number of ordered pairs of addresses (of one family) in `lost` (switches x words)."""
        count = 0
        for switch in np.flatnonzero(lost.any(axis=1)).tolist():
            columns = bits.columns_of(lost[switch])
            for family in (4, 6):
                own = self.senders(switch, family)
                count += own * sum(int(self.weights[one]) for one in columns if self.targets[one].family == family)
        return count

    def senders(self, switch: int, family: int) -> int:
        """The number of addresses of a family behind a switch."""
        return self._senders.get((switch, family), 0)

    @derived
    def _senders(self) -> dict[tuple[int, int], int]:
        found: dict[tuple[int, int], int] = {}
        for one in self.targets:
            found[one.switch, one.family] = found.get((one.switch, one.family), 0) + len(one.addresses)
        return found


def reachability(bundle: Bundle, fabric: RoutedFabric) -> Reachability | None:
    """The pairs that cannot reach each other in the base state; None if fewer than two switches have hosts."""
    targets = tuple(find_targets(bundle, fabric))
    if len({one.switch for one in targets}) < 2:
        return None
    neighbors, part = _neighbors(bundle, fabric)
    bad, hopless, dropped = _lost_packets(bundle, fabric, targets)
    expected = _expected(fabric, targets, part)
    return Reachability(fabric, targets, bad & expected, bad, hopless, dropped, neighbors)


def _neighbors(bundle: Bundle, fabric: RoutedFabric) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of neighboring switches, and the number of the connected part of each switch."""
    number = {name: index for index, name in enumerate(fabric.names)}
    size = len(number)
    names = [(link.a[0], link.b[0]) for link in bundle.switch_links if link.kind != LinkKind.EXTERNAL]
    names += [(one.switch, one.far) for one in fabric.spoken.absent]
    near = np.concatenate([np.array([number.get(one, -1) for one, _ in names], np.int64), fabric.network.source])
    far = np.concatenate([np.array([number.get(one, -1) for _, one in names], np.int64), fabric.network.target])
    known = (near >= 0) & (far >= 0) & (near != far)
    codes = np.unique((np.minimum(near, far) * size + np.maximum(near, far))[known])
    low, high = np.divmod(codes, size)
    both = np.concatenate([np.stack([low, high], axis=1), np.stack([high, low], axis=1)])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    active = {name for name in fabric.names if is_active(bundle, name)}
    pairs = [(fabric.names[a], fabric.names[b]) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    part = np.full(size, -1)
    for index, members in enumerate(joined(sorted(active), (one for one in pairs if active.issuperset(one)))):
        part[[number[name] for name in members]] = index
    return both, part


def _expected(fabric: RoutedFabric, targets: tuple[Target, ...], part: NDArray[np.int64]) -> Words:
    """The targets that each switch with hosts must reach."""
    size = len(fabric.names)
    has = {(one.switch, one.family) for one in targets}
    expected = np.zeros((size, bits.word_count(len(targets))), np.uint64)
    columns_of: dict[tuple[int, int], list[int]] = {}
    for column, one in enumerate(targets):
        columns_of.setdefault((int(part[one.switch]), one.family), []).append(column)
    rows = {key: bits.row_of(np.array(columns), len(targets)) for key, columns in columns_of.items()}
    for switch, family in has:
        expected[switch] |= rows[int(part[switch]), family]
    return expected


def _lost_packets(bundle: Bundle, fabric: RoutedFabric, targets: tuple[Target, ...]) -> tuple[Words, Words, Dropped]:
    network, size = fabric.network, len(targets)
    own = bits.set_bits(network.switches, size, np.array([one.switch for one in targets]), np.arange(size))
    good = own | _origins(fabric, targets) | _unknown(bundle, fabric, targets)
    bad = ~good & bits.ones(size)
    outside_vrf = bits.row_of(np.flatnonzero([bool(one.vrf[1]) for one in targets]), size)
    dropped = _dropped(fabric, targets)
    drops = bits.set_bits(network.switches, size, *np.array(sorted(dropped), np.int64).reshape(-1, 2).T)
    hopless = np.empty_like(bad)
    around = covering(fabric.destinations)
    for first in range(0, bad.shape[1], _WORDS_PER_PASS):  # targets do not depend on each other
        part = slice(first, first + _WORDS_PER_PASS)
        next_hops = _next_hops(fabric, targets[first * 64 : (first + _WORDS_PER_PASS) * 64], around)
        hopless[:, part] = ~bits.any_by_key(next_hops, network.source, network.switches)
        bad[:, part] = (bad[:, part] & hopless[:, part]) | drops[:, part] | outside_vrf[part]
        _spread(network, next_hops, bad[:, part])
    return bad & ~own, hopless, dropped


def _next_hops(fabric: RoutedFabric, targets: Sequence[Target], around: Sequence[Sequence[int]]) -> Words:
    """The next hops to each target (links x words). `around` are the destinations to which each one falls back."""
    # In the order of the targets, so that the bits of the first ones are where they must be.
    order = list(dict.fromkeys(one.column for one in targets if one.column != NOT_ANNOUNCED))
    number = {column: place for place, column in enumerate(order)}
    for column in order:  # the list grows here
        for wider in around[column]:
            if number.setdefault(wider, len(order)) == len(order):
                order.append(wider)
    destinations = tuple(fabric.destinations[column] for column in order)
    routes = solve(fabric.network, fabric.policy, destinations, max(_WORDS_PER_PASS, bits.word_count(len(order))))
    known = [place for place, one in enumerate(targets) if one.column != NOT_ANNOUNCED]
    if not known:
        return np.zeros((fabric.network.links, bits.word_count(len(targets))), np.uint64)
    columns = np.array([number.get(one.column, 0) for one in targets])
    hops = bits.take_columns(forwarding(fabric.network, routes, fabric.discards), columns)
    hops &= bits.row_of(np.array(known), len(targets))
    return hops


def _spread(network: Network, next_hops: Words, bad: Words) -> None:
    """Add to `bad` each switch that has a next hop to one that loses the packets, until nothing changes."""
    while bad.any():
        more = bits.any_by_key(next_hops & bad[network.target], network.source, network.switches) & ~bad
        if not more.any():
            return
        bad |= more


def _origins(fabric: RoutedFabric, targets: tuple[Target, ...]) -> Words:
    """The switches that announce the prefix of a target themselves: hosts of one subnet can be behind two switches."""
    pairs = [
        (switch, number)
        for number, one in enumerate(targets)
        if one.column != NOT_ANNOUNCED
        for switch in fabric.destinations[one.column].origins
    ]
    row, column = np.array(pairs, np.int64).reshape(-1, 2).T
    return bits.set_bits(len(fabric.names), len(targets), row, column)


def _unknown(bundle: Bundle, fabric: RoutedFabric, targets: tuple[Target, ...]) -> Words:
    """What switches may reach in ways that the files do not show: over a static route with a next hop, or, in loose
    files, over a session with a switch whose file is missing."""
    size = len(targets)
    found = np.zeros((len(fabric.names), bits.word_count(size)), np.uint64)
    open_ends = set()
    for switch, name in enumerate(fabric.names):
        for one in fabric.spoken.speakers[name].statics:
            if not one.is_blackhole and one.prefix.length:
                covered = [n for n, target in enumerate(targets) if one.prefix.covers(target.addresses[0])]
                found[switch] |= bits.row_of(np.array(covered, np.int64), size)
    if not bundle.wiring:
        spoken = fabric.spoken.speakers.items()
        rows = {(name, one.key) for name, each in spoken for one in each.neighbors if one.obstacle}
        absent = fabric.spoken.absent
        open_ends = {one.switch for one in absent if not one.inside and (one.switch, one.key) not in rows}
        open_ends |= {name for name, each in spoken if each.obstacle and each.obstacle.place[-1] == ROUTING_MODE}
        near = {one.switch for one in absent if one.far in open_ends}
        open_ends |= near
    if open_ends:
        pairs = [(a.switch, b.switch) for a, b in fabric.spoken.sessions]
        reached = {name for names in joined(fabric.names, pairs) if open_ends & set(names) for name in names}
        found[[name in reached for name in fabric.names]] = bits.ALL
    return found


def _dropped(fabric: RoutedFabric, targets: tuple[Target, ...]) -> Dropped:
    """The blackhole routes that win over the route to a target, or over the port of the host."""
    at: dict[object, list[int]] = {}
    lengths = set()
    for number, one in enumerate(targets):
        if one.prefix is not None:
            at.setdefault(one.prefix, []).append(number)
            lengths.add((one.family, one.prefix.length))
    found: Dropped = {}
    for switch, name in enumerate(fabric.names):
        speaker = fabric.spoken.speakers[name]
        for path in speaker.statics:
            if not path.is_blackhole:
                continue
            drop = path.prefix
            wider = (length for family, length in lengths if family == drop.version and length <= drop.length)
            for number in (n for length in wider for n in at.get(drop.widened(length), ())):
                target = targets[number]
                assert target.prefix is not None
                if not any(drop.covers(address) for address in target.addresses):
                    continue
                if target.switch == switch:  # the subnet of the port wins, unless the route is longer
                    longest = fabric.spoken.addresses.longest_around(switch, target.addresses[0])
                    wins = 0 <= longest < drop.length
                else:
                    wins = drop.length > target.prefix.length or path.distance < _EBGP_DISTANCE
                if wins:
                    found[switch, number] = path
    return found
