"""The sets of failures of a plane, judged one by one, one of each orbit, or as a sample."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.routing.bits import Indices
from fabricgen.routing.network import build_network
from fabricgen.simulate.bandwidth.failures import BandwidthJudge, FailingPart, dead_adapters
from fabricgen.simulate.bandwidth.times import EvenLoad
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, FailureSet, SetsOf
from fabricgen.simulate.deadlock.failures.orbits import Orbits
from fabricgen.simulate.deadlock.failures.symmetry import numbered
from fabricgen.simulate.outages.options import FEW_SETS, OutageOptions
from fabricgen.simulate.plane.lossless import LosslessLinks
from fabricgen.simulate.plane.ports import Floats


@dataclass(frozen=True)
class JudgedSet:
    """`size` sets that cost the same, of which `members` was judged. `stops`: a GPU has no port left. `moved`: a
    message takes other ports than before, or has no path."""

    members: FailureSet
    size: int
    share: float = 0.0
    cut_off: int = 0
    stops: bool = False
    moved: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what fails."""
        return self.members.names


class Sets:
    """All sets of `options.depth` of the failures."""

    def __init__(
        self, judge: BandwidthJudge, ground: Ground, failures: Sequence[Failure], options: OutageOptions
    ) -> None:
        self.judge, self.ground, self.failures, self.options = judge, ground, failures, options
        self.all = SetsOf(failures, options.depth)

    def judged(self) -> tuple[str, list[JudgedSet]]:
        """How the sets were judged (each, orbits, sample), and the verdicts."""
        options = self.options
        if options.symmetry and self.all.count > FEW_SETS and (found := self._in_orbits()) is not None:
            return "orbits", found
        if self.all.count <= options.most_sets:
            return "each", [self._judge(one) for one in self.all.all()]
        return "sample", [self._judge(one) for one in self.all.sample(options.most_sets, options.seed)]

    def parts(self, members: FailureSet) -> list[FailingPart]:
        """What fails, with the adapters below failed switches."""
        return [FailingPart(one.name, one.links, self._below(one)) for one in members.failures]

    def _below(self, one: Failure) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.judge.plane.leaf == one.switch).tolist()) if one.switch >= 0 else ()

    def _judge(self, members: FailureSet, size: int = 1) -> JudgedSet:
        parts = self.parts(members)
        dead = dead_adapters(self.judge.plane, parts)
        if dead.any() and self.judge.gpus.loses_all_ports(self.judge.messages, dead):
            return JudgedSet(members, size, stops=True)
        found = self.judge.outcome(parts)
        return JudgedSet(members, size, found.share, found.cut_off, moved=found.moved)

    def _in_orbits(self) -> list[JudgedSet] | None:
        """One set of each orbit; None with too little symmetry. Symmetries keep the demand between switches, not the
        ports of GPUs: where messages change ports, and below a failed leaf, every single failure is judged."""
        leaves = [one for one in self.failures if self._below(one)]
        if leaves and self.options.depth > 1:
            return None
        if self.judge.plane.announces is not None and not self.judge.plane.announces.all():
            return None  # symmetries do not know which switches announce bandwidths
        plane, failures = self.judge.plane, [one for one in self.failures if not self._below(one)]
        demand = EvenLoad(plane).demand(self.judge.messages)
        most = self.options.most_sets
        known = orbits_under(self.ground, plane.ports.bytes_per_ns, demand, failures, most)
        orbits = None if known is None else known.singles() if self.options.depth == 1 else known.pairs()
        if known is None or orbits is None:
            return None
        several = self.judge.gpus.ports.shape[1] > 1  # else a message without a path is lost, by symmetry in each set
        found = []
        for orbit in orbits:
            one = self._judge(FailureSet(tuple(failures[number] for number in orbit.members)), orbit.size)
            if not one.moved or orbit.size == 1 or not several:
                found.append(one)
                continue
            if self.options.depth > 1 or len(found) + orbit.size > most:
                return None
            own = np.flatnonzero(known.label == orbit.members[0]).tolist()
            found += [self._judge(FailureSet((failures[number],))) for number in own]
        below = [self._judge(FailureSet((one,))) for one in leaves[:most]]
        return found + below if len(leaves) <= most else None


# Symmetries that keep the traffic of a pattern as well as the routes.
#
# The demand between two leaves is drawn as one more link between them, of a kind with the bytes each way. A symmetry of
# that graph maps the demand, the rates of the links and the routes onto themselves, so a failure and its image cost the
# same.

_STEPS = 1 << 20  # equal demands are sums of equal terms in another order
_MOST_PAIRS = 1 << 16


def orbits_under(
    ground: Ground, rates: Floats, demand: Floats, failures: Sequence[Failure], most: int
) -> Orbits | None:
    """The orbits of failures under `demand` (switches x columns, bytes) over links with `rates`; None if the demand is
    between too many pairs of leaves, or if a switch has several prefixes of hosts."""
    network, policy = ground.network, ground.policy
    leaf, column = np.nonzero(demand)
    origin = _origins(ground, np.unique(column))
    if origin is None:
        return None
    bytes_of = np.zeros((network.switches, network.switches), np.int64)
    bytes_of[leaf, origin[column]] = np.rint(demand[leaf, column] / demand.max(initial=1.0) * _STEPS)
    a, b = np.nonzero(np.triu(bytes_of + bytes_of.T, 1))
    if len(a) > _MOST_PAIRS:
        return None
    near = np.flatnonzero(np.arange(network.links) < network.reverse)
    far = network.reverse[near]
    wider = build_network(
        network.switches,
        np.concatenate([network.source[near], a]).astype(np.int32),
        np.concatenate([network.target[near], b]).astype(np.int32),
    )
    place = np.empty(wider.links, np.int64)
    place[wider.order] = np.arange(wider.links)
    own = np.full(network.links, -1)
    own[near], own[far] = place[: 2 * len(near) : 2], place[1 : 2 * len(near) : 2]
    pairs = place[2 * len(near) :]

    def of_links(values: Indices) -> Indices:
        found = np.zeros(wider.links, np.int64)
        found[own] = values
        return found

    carried = np.zeros(wider.links, np.int64)
    carried[pairs] = bytes_of[wider.source[pairs], wider.target[pairs]] + 1  # 0: a link of the network
    speed = of_links(np.rint(rates[: network.links] * 1e3).astype(np.int64))
    filters = None if policy.filters is None else of_links(policy.filters)
    nothing = np.zeros(wider.links, np.int64)
    drawn = replace(
        ground,
        network=wider,
        policy=replace(
            policy,
            hears=of_links(policy.hears.astype(np.int64)).astype(np.uint8),
            allowas_in=of_links(policy.allowas_in),
            filters=filters,
        ),
        lossless=LosslessLinks(nothing.astype(np.uint8), nothing, nothing, np.zeros((1, 1, 8), np.uint8), ()),
        expected=None,
    )
    moved = [replace(one, links=tuple(sorted(own[list(one.links)].tolist()))) for one in failures]
    return Orbits(drawn, moved, most, numbered(carried, speed))


def _origins(ground: Ground, columns: Indices) -> Indices | None:
    """The switch of each of these destinations, -1 for others; None unless each is the only one of its switch."""
    known = ground.destinations[: ground.host_columns]
    wanted = [ground.destinations[column] for column in columns.tolist()]
    families = {one.family for one in wanted}
    same = [origin for one in known if one.family in families for origin in one.origins]
    if len(families) > 1 or len(set(same)) < len(same) or any(len(one.origins) != 1 for one in wanted):
        return None
    found = np.full(len(ground.destinations), -1)
    found[columns] = [one.origins[0] for one in wanted]
    return found
