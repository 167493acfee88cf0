"""Local repair by brute force, and all pairs of failures of a whole fat tree by it.

    python -m tests.simulate.deadlock.brute_force [K]        all pairs of the fat tree of K ports (8: some minutes)

compares sets and dicts for every pair with the product's verdict on each, and with one pair of each orbit times the
orbit's size. Tests take K = 4, and K = 8 orbit by orbit.
"""

import sys
from collections.abc import Iterable
from itertools import combinations
from time import process_time

import numpy as np

from fabricgen.routing import bits
from fabricgen.simulate.deadlock.core.state import State
from fabricgen.simulate.deadlock.failures.bounces import bounces
from fabricgen.simulate.deadlock.failures.failure_sets import Failure
from fabricgen.simulate.deadlock.failures.judge import FailureJudge
from fabricgen.simulate.deadlock.failures.orbits import Orbits
from fabricgen.simulate.deadlock.failures.verdict import Failures
from fabricgen.vocabulary import Repair
from tests.simulate.deadlock.grounds import every_link, fat_tree

Link = tuple[int, int]


class BruteForce:
    """Local repair in sets and dicts, straight from its definition."""

    def __init__(self, base: State) -> None:
        net = base.ground.network
        self.links = [(int(a), int(b)) for a, b in zip(net.source, net.target, strict=True)]
        self.hops: dict[tuple[int, int], set[int]] = {}
        for number, (near, far) in enumerate(self.links):
            for column in bits.columns_of(base.hops[number]):
                self.hops.setdefault((near, column), set()).add(far)
        self.columns = range(len(base.ground.destinations))
        self.sources = np.flatnonzero(base.ground.sources).tolist()
        self.before = set(self.turns(dict(self.hops), self.columns))

    def turns(self, hops: dict[tuple[int, int], set[int]], columns: Iterable[int]) -> Iterable[tuple[Link, Link]]:
        for column in columns:
            todo = [(source, far) for source in self.sources for far in hops.get((source, column), ())]
            seen = set(todo)
            while todo:
                near, here = todo.pop()
                for far in hops.get((here, column), set()) - {near}:
                    yield (near, here), (here, far)
                    if (here, far) not in seen:
                        seen.add((here, far))
                        todo.append((here, far))

    def is_cyclic(self, dead: set[Link]) -> bool:
        live = {key: {far for far in fars if (key[0], far) not in dead} for key, fars in self.hops.items()}
        hops = dict(live)
        repaired = set()  # of the others packets take fewer turns than before, and none that are new
        for (near, column), fars in live.items():
            if not fars:
                repaired.add(column)
                around = {far for a, far in self.links if a == near and (near, far) not in dead}
                hops[near, column] = {far for far in around if live.get((far, column), set()) - {near}}
        edges = {(a, b) for a, b in self.before | set(self.turns(hops, repaired)) if a not in dead and b not in dead}
        after: dict[Link, set[Link]] = {}
        for a, b in edges:
            after.setdefault(a, set()).add(b)
        while ends := [a for a, following in after.items() if not following & after.keys()]:
            for a in ends:
                del after[a]
        return bool(after)


def ends_of(base: State, failure: Failure) -> set[Link]:
    """The links of a failure, each as its two ends."""
    net = base.ground.network
    return {(int(net.source[link]), int(net.target[link])) for link in failure.links}


def main(k: int) -> None:
    """Every pair of links of the fat tree of k ports."""
    base = fat_tree(k).converged()
    failures = every_link(base.ground.network)
    ends = [ends_of(base, one) for one in failures]
    around = bounces(base, failures)
    pairs = around.pairs() if around else None
    assert pairs is not None
    judged = {(a, b) for a in range(len(failures)) for b in bits.columns_of(pairs.cyclic[a])}
    unsure = set(map(tuple, pairs.undecided.tolist()))
    brute = BruteForce(base)
    started = process_time()
    truth = {(a, b) for a, b in combinations(range(len(ends)), 2) if brute.is_cyclic(ends[a] | ends[b])}
    spent = process_time() - started
    orbits = Orbits(base.ground, failures, 1000).pairs() or []
    by_orbits = sum(one.size for one in orbits if one.members in truth)
    verdict = FailureJudge(base, Failures(2, repair=Repair.LOCAL)).of_depth(failures, 2).summary.cyclic_sets
    differing = len((judged ^ truth) - unsure)
    sys.stdout.write(
        f"k = {k}: {len(ends) * (len(ends) - 1) // 2} pairs, by brute force {len(truth)} cyclic, {spent:.0f} s of CPU\n"
        f"verdict: {verdict}; {len(orbits)} orbits: {by_orbits}; {differing} pairs differ\n"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
