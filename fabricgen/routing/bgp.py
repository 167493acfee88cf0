"""eBGP as SONiC's FRR runs it: path-vector routing to next-hop sets, 64 destinations to a word.

Rules, each observed in FRR: a switch advertises its one best path to every peer, including the peer it learned it from.
Only the receiver checks for loops: it refuses a path with its own ASN more often than allowas-in. The shortest path
wins, and all accepted paths of that length are next hops. A switch prefers its own network to all learned paths.

Every hop adds one ASN, so best lengths are final layer by layer, as in a breadth-first search. A loop check can refuse
a path only if two switches of one ASN are reached in different layers. Therefore each chunk of destinations is solved
without loop checks first; ASNs that can matter are tracked in a second run (`AsnCounts`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import Indices, Words
from fabricgen.routing.multipath import narrow_choices
from fabricgen.routing.network import Network
from fabricgen.routing.routes import Destination, Routes

Flags = NDArray[np.bool_]
WORDS_PER_PASS = 8


@dataclass(frozen=True, slots=True)
class BgpPolicy:
    """The configuration that determines routes, other than the wiring. Per switch: ASN, TSA, multipath-relax and the
    largest next-hop set. Per directed link u to v: the families that u learns from v (bit 0: IPv4, bit 1: IPv6), the
    allowas-in of u on this session, and the number of the filter that v's routes pass (0: none); None without filters.
    """

    asn: NDArray[np.int64]
    isolated: Flags
    multipath_relax: Flags
    maximum_paths: NDArray[np.int64]
    hears: NDArray[np.uint8]
    allowas_in: NDArray[np.int64]
    filters: NDArray[np.int64] | None = None

    def filter_words(self, destinations: tuple[Destination, ...]) -> Words | None:
        """The destinations that each filter permits (filters x words); None without filters."""
        if self.filters is None:
            return None
        count = int(self.filters.max(initial=0)) + 1
        pairs = [(one, column) for column, each in enumerate(destinations) for one in each.barred if one < count]
        row, column = np.array(pairs, np.int64).reshape(-1, 2).T
        return ~bits.set_bits(count, len(destinations), row, column)


def solve(
    network: Network, policy: BgpPolicy, destinations: tuple[Destination, ...], words_per_pass: int = WORDS_PER_PASS
) -> Routes:
    """The converged routes of every switch to every destination. `words_per_pass` limits memory only."""
    solver = _Solver(network, policy, destinations)
    words = bits.word_count(len(destinations))
    plain = True
    routes = Routes(
        destinations,
        nexthops=np.zeros((network.links, words), np.uint64),
        reached=np.zeros((network.switches, words), np.uint64),
        ambiguous=np.zeros((network.switches, words), np.uint64),
    )
    for first in range(0, words, words_per_pass):
        pending = [(np.arange(first, min(first + words_per_pass, words)), np.empty(0, np.int64))]
        while pending:
            columns, tracked = pending.pop()
            layers = solver.layers(columns, tracked)
            plain = plain and not layers.has_refused
            # columns that are not final are written again, with more ASNs tracked
            part = columns if len(tracked) else slice(first, first + words_per_pass)
            routes.nexthops[:, part] = layers.nexthops
            routes.reached[:, part] = layers.reached
            routes.ambiguous[:, part] = layers.ambiguous
            settled = ~layers.suspects.any(axis=0)
            pending += _by_suspects(columns[~settled], layers.suspects[:, ~settled], tracked)
    return replace(routes, plain=plain)


def _by_suspects(columns: Indices, suspects: Flags, tracked: Indices) -> Iterator[tuple[Indices, Indices]]:
    """The word columns that are not final, grouped by the ASNs that must be tracked."""
    if not len(columns):
        return
    patterns, group = np.unique(suspects, axis=1, return_inverse=True)
    for number in range(patterns.shape[1]):
        yield columns[group.ravel() == number], np.union1d(tracked, np.flatnonzero(patterns[:, number]))


@dataclass(eq=False)
class _Layers:
    """The result of one run over some word columns. `suspects` (ASNs x columns) are the loop checks that were left out
    and can matter. `has_refused`: a loop check may have refused a path."""

    nexthops: Words
    reached: Words
    ambiguous: Words
    suspects: Flags
    has_refused: bool


class _Solver:
    """The arrays of the fabric, prepared once for all runs."""

    def __init__(self, network: Network, policy: BgpPolicy, destinations: tuple[Destination, ...]) -> None:
        self.network, self.policy = network, policy
        pairs = [(switch, column) for column, one in enumerate(destinations) for switch in one.origins]
        row, column = np.array(pairs, np.int64).reshape(-1, 2).T
        self.origins = bits.set_bits(network.switches, len(destinations), row, column)
        self.valid = bits.ones(len(destinations))
        self.families = self._family_words(destinations)
        self.permitted = policy.filter_words(destinations)
        loopback = np.array([one.loopback for one in destinations], bool)
        self.loopbacks = bits.row_of(loopback.nonzero()[0], len(destinations))
        self.asns, self.asn_index = np.unique(policy.asn, return_inverse=True)
        self.by_asn = np.argsort(self.asn_index, kind="stable")
        self.asn_starts = bits.segment_starts(self.asn_index[self.by_asn].astype(np.int32))
        self.choices = narrow_choices(network, policy.asn, policy.multipath_relax, policy.maximum_paths)

    def _family_words(self, destinations: tuple[Destination, ...]) -> Words | None:
        """The destinations that pass a link of each kind (none, IPv4, IPv6, both); None if every link passes all."""
        six: Flags = np.array([one.family == 6 for one in destinations], bool)
        needed = int((~six).any()) | int(six.any()) << 1
        if bool(np.all(self.policy.hears & needed == needed)):
            return None
        columns = len(destinations)
        words = np.zeros((4, bits.word_count(columns)), np.uint64)
        for kind in (1, 2, 3):
            passing = np.flatnonzero((~six & bool(kind & 1)) | (six & bool(kind & 2)))
            words[kind] = bits.row_of(passing, columns)
        return words

    def layers(self, columns: Indices, tracked: Indices) -> _Layers:
        """Breadth-first search over the given word columns, with loop checks for the ASNs numbered `tracked`."""
        net = self.network
        run = _Run(self, columns, tracked)
        while run.front.any():
            front = self._advertised(run.front, columns)
            unsettled = ~run.sure & self.valid[columns]
            listening: Flags = np.any(unsettled, axis=1)
            speaking: Flags = np.any(front, axis=1)
            candidates = (speaking[net.target] & listening[net.source]).nonzero()[0]
            if not len(candidates):
                break
            offer = front[net.target[candidates]]
            offer &= unsettled[net.source[candidates]]
            if self.families is not None:
                offer &= self.families[:, columns][self.policy.hears[candidates]]
            if self.permitted is not None and self.policy.filters is not None:
                offer &= self.permitted[:, columns][self.policy.filters[candidates]]
            if not run.advance(candidates, offer):
                break
        run.suspects[tracked] = False
        if self.choices is not None:
            run.ambiguous |= self.choices.undecided(run.nexthops, net.switches)
        has_refused = run.counts is not None and run.counts.has_refused
        return _Layers(run.nexthops, run.possible, run.ambiguous, run.suspects, has_refused)

    def _advertised(self, front: Words, columns: Indices) -> Words:
        """The part of `front` that is advertised: under TSA only the switch's own loopbacks."""
        silent = self.policy.isolated.nonzero()[0]
        if len(silent):
            front = front.copy()
            front[silent] &= self.origins[np.ix_(silent, columns)] & self.loopbacks[columns]
        return front

    def per_asn(self, rows: Words) -> Words:
        """OR over the switches of each ASN (ASNs x words)."""
        return np.bitwise_or.reduceat(rows[self.by_asn], self.asn_starts)


class _Run:
    """State of one search. Per switch and destination:

    `sure`: it has a path of at most this length after any history; `fresh`: since this layer; `exact`: of exactly this
    length. `possible`: it can have such a path; `front`: one of exactly this length. They differ only if a loop check
    depends on which of several paths was advertised.
    """

    def __init__(self, solver: _Solver, columns: Indices, tracked: Indices) -> None:
        self.solver, self.net = solver, solver.network
        origin = np.ascontiguousarray(solver.origins[:, columns])
        policy = solver.policy
        asns = solver.asns[tracked]
        self.counts = AsnCounts(self.net, policy.asn, policy.allowas_in, asns, origin) if len(asns) else None
        self.sure, self.possible = origin.copy(), origin.copy()
        self.front = self.fresh = self.exact = origin
        self.nexthops = np.zeros((self.net.links, len(columns)), np.uint64)
        self.ambiguous = np.zeros_like(origin)
        self.asn_seen = solver.per_asn(origin)
        self.suspects = np.zeros((len(solver.asns), len(columns)), bool)

    def advance(self, candidates: Indices, offer: Words) -> bool:
        """One layer: `offer` (candidates x words) is what each candidate link offers to its source. False at the
        end."""
        starts = bits.segment_starts(self.net.source[candidates])
        added_to: Words = offer
        certain = offer
        if self.counts is not None:
            accepted = self.counts.check(candidates, offer)
            target = self.net.target[candidates]
            certain = accepted & self.fresh[target]
            self._gather(self.ambiguous, offer & ~(accepted & self.exact[target]), candidates, starts)
            added_to = offer & ~self.nexthops[candidates]
        new = self._gather(np.zeros_like(self.sure), offer, candidates, starts)
        added = new if self.counts is None else self._gather(np.zeros_like(new), added_to, candidates, starts)
        self.fresh = new if self.counts is None else self._gather(np.zeros_like(new), certain, candidates, starts)
        changed = self.counts is not None and self.counts.extend(candidates, offer, starts, new, self.possible)
        self.nexthops[candidates] |= offer
        heard = self.solver.per_asn(added)
        self.suspects |= (heard & self.asn_seen) != 0
        self.asn_seen |= heard
        self.exact = self.fresh & ~self.possible
        self.sure |= self.fresh
        self.possible |= new
        if self.fresh.any():
            self.front = new
            return True
        # Only possible paths are left. They stay until nothing changes, which gives a superset of all outcomes.
        front = (new | self.front) & ~self.sure
        ended = not changed and not added.any() and bool((front == self.front).all())
        self.front = front
        return not ended

    def _gather(self, into: Words, offer: Words, candidates: Indices, starts: Indices) -> Words:
        """ORs the rows of `offer` into the rows of the switches that receive them."""
        rows = self.net.source[candidates[starts]]
        into[rows] |= np.bitwise_or.reduceat(offer, starts)
        return into


# How often a tracked ASN is in the path that a switch advertises, for loop checks.


class AsnCounts:
    """Bit planes per tracked ASN: plane k is set if the ASN is more than k times in the advertised path.

    Which of several equally long paths is advertised depends on history, so each plane has two versions: `may` (on some
    possible path) and `must` (on every path). The last plane is that of the largest allowas-in.
    """

    def __init__(
        self, network: Network, asn: NDArray[np.int64], allowas_in: NDArray[np.int64], tracked: NDArray[np.int64],
        origin: Words,
    ) -> None:  # fmt: skip
        self.network, self.allowas_in = network, allowas_in
        self.has_refused = False  # a receiver may refuse a path
        self.members = [asn == number for number in tracked]
        self.may: list[Words] = []
        for member in self.members:
            listening = member[network.source]
            planes = int(allowas_in[listening].max(initial=0)) + 1
            may = np.zeros((planes, *origin.shape), np.uint64)
            may[0, member] = origin[member]
            self.may.append(may)
        self.must = [may.copy() for may in self.may]

    def check(self, candidates: Indices, offer: Words) -> Words:
        """Removes from `offer` (candidates x words) the paths that the receiver must refuse; returns those it must
        accept."""
        source, target = self.network.source[candidates], self.network.target[candidates]
        accepted = offer.copy()
        for member, may, must in zip(self.members, self.may, self.must, strict=True):
            checking = member[source].nonzero()[0]
            limit, sender = self.allowas_in[candidates[checking]], target[checking]
            self.has_refused = self.has_refused or bool((accepted[checking] & may[limit, sender]).any())
            offer[checking] &= ~must[limit, sender]
            accepted[checking] &= ~may[limit, sender]
        return accepted & offer

    def extend(self, candidates: Indices, offer: Words, starts: Indices, new: Words, possible: Words) -> bool:
        """Moves the planes one hop along `offer` to the switches with `new` bits; True if any plane changed.

        `starts` are the runs of `candidates` with one receiver. `possible` are the paths that each switch can have had
        before. Most ASNs are in the paths of a few switches only: no other receiver is looked at.
        """
        if not len(candidates):
            return False
        target = self.network.target[candidates]
        receivers = self.network.source[candidates[starts]]
        run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(candidates)))
        changed = False
        for member, may, must in zip(self.members, self.may, self.must, strict=True):
            holds = may[0].any(axis=1)
            matters = member[receivers] | holds[receivers]
            matters[run[holds[target]]] = True
            those = matters[run].nonzero()[0]
            if not len(those):
                continue
            rows, sent, sender = receivers[matters], offer[those], target[those]
            fresh, earlier, first = new[rows], possible[rows], bits.segment_starts(run[those])
            some = np.stack([np.bitwise_or.reduceat(plane[sender] & sent, first) for plane in may])
            every = np.stack([np.bitwise_and.reduceat(plane[sender] | ~sent, first) for plane in must])
            own = member[rows]  # they add the ASN to the path
            for planes in (some, every):
                planes[1:, own] = planes[:-1, own]
                planes[0, own] = fresh[own]
            wider = may[:, rows] | (some & fresh)
            surer = (must[:, rows] & ~fresh) | (every & fresh & (must[:, rows] | ~earlier))
            changed = changed or bool((wider != may[:, rows]).any() or (surer != must[:, rows]).any())
            may[:, rows], must[:, rows] = wider, surer
        return changed
