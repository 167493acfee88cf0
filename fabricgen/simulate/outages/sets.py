"""The sets of failures of a plane, judged one by one, one of each orbit, or as a sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabricgen.simulate.bandwidth.failures import FailureJudge, Part, dead_adapters
from fabricgen.simulate.bandwidth.times import EvenLoad
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, FailureSet, SetsOf
from fabricgen.simulate.outages.options import FEW_SETS, Options
from fabricgen.simulate.outages.symmetry import orbits_under


@dataclass(frozen=True)
class Judged:
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

    def __init__(self, judge: FailureJudge, ground: Ground, failures: Sequence[Failure], options: Options) -> None:
        self.judge, self.ground, self.failures, self.options = judge, ground, failures, options
        self.all = SetsOf(failures, options.depth)

    def judged(self) -> tuple[str, list[Judged]]:
        """How the sets were judged (each, orbits, sample), and the verdicts."""
        options = self.options
        if options.symmetry and self.all.count > FEW_SETS and (found := self._in_orbits()) is not None:
            return "orbits", found
        if self.all.count <= options.most_sets:
            return "each", [self._judge(one) for one in self.all.all()]
        return "sample", [self._judge(one) for one in self.all.sample(options.most_sets, options.seed)]

    def parts(self, members: FailureSet) -> list[Part]:
        """What fails, with the adapters below failed switches."""
        return [Part(one.name, one.links, self._below(one)) for one in members.failures]

    def _below(self, one: Failure) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.judge.plane.leaf == one.switch).tolist()) if one.switch >= 0 else ()

    def _judge(self, members: FailureSet, size: int = 1) -> Judged:
        parts = self.parts(members)
        dead = dead_adapters(self.judge.plane, parts)
        if dead.any() and self.judge.gpus.loses_all_ports(self.judge.messages, dead):
            return Judged(members, size, stops=True)
        found = self.judge.outcome(parts)
        return Judged(members, size, found.share, found.cut_off, moved=found.moved)

    def _in_orbits(self) -> list[Judged] | None:
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
