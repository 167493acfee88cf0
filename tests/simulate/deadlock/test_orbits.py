"""Orbits by symmetry: counts equal to those of every set judged by itself, and wrong symmetries refused."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest

from fabricgen.report.deadlock import deadlock_lines, deadlock_object
from fabricgen.results import FailureSummary
from fabricgen.routing.routes import Destination
from fabricgen.simulate.deadlock import Failures, analyse_deadlock, deadlock_findings
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures import bounces as bounces_module
from fabricgen.simulate.deadlock.failures import judge as judge_module
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, SetsOf, switch_failure
from fabricgen.simulate.deadlock.failures.judge import FailureJudge
from fabricgen.simulate.deadlock.failures.orbits import Orbits, joined
from fabricgen.simulate.deadlock.failures.symmetry import Invariants
from fabricgen.simulate.deadlock.failures.verdict import DepthVerdict
from fabricgen.simulate.plane.steering import Turns
from fabricgen.sonic.addresses import parse_address
from fabricgen.vocabulary import Repair
from tests.bgp_fabric import open_configs
from tests.simulate.deadlock.brute_force import BruteForce, ends_of
from tests.simulate.deadlock.grounds import every_link, fat_tree, ground, leaf_spine
from tests.simulate.deadlock.test_fabrics import clos
from tests.simulate.deadlock.test_failures import distinct
from tests.simulate.deadlock.test_repair import of_fat_tree

MOST = 5_000


def distinct_spines(leaves: int, spines: int) -> Ground:
    full = leaf_spine(leaves, spines)
    return replace(full, policy=replace(full.policy, asn=65100 + np.arange(leaves + spines)))


def in_orbits(ground: Ground, failures: list[Failure], depth: int, repair: bool = False) -> DepthVerdict:
    judge = FailureJudge(ground.converged(), Failures(depth, repair=Repair.LOCAL if repair else Repair.NONE))
    found = judge.of_orbits(failures, FailureSummary(depth, SetsOf(failures, depth).count), has_spares=False)
    assert found is not None
    assert sum(one.sets for one in found.summary.orbits) == found.summary.sets
    return found


def one_by_one(ground: Ground, failures: list[Failure], depth: int, repair: bool) -> DepthVerdict:
    judge = FailureJudge(ground.converged(), Failures(depth, repair=Repair.LOCAL if repair else Repair.NONE))
    sets = SetsOf(failures, depth)
    return judge._judged(sets.all(), FailureSummary(depth, sets.count), "each")


def irregular_clos(chance: np.random.Generator) -> Ground:
    """A small Clos of two or three tiers with a few irregularities."""
    if chance.random() < 0.5:
        leaves, spines = int(chance.integers(3, 6)), int(chance.integers(2, 4))
        links = [(leaf, leaves + spine) for leaf in range(leaves) for spine in range(spines)]
        tier = np.repeat([0, 1], [leaves, spines])
    else:
        leaves, half = 4, 2
        links = [(leaf, leaves + leaf // 2 * half + agg) for leaf in range(leaves) for agg in range(half)]
        links += [(leaves + agg, 2 * leaves + agg % half) for agg in range(2 * half)] * 2
        tier = np.repeat([0, 1, 2], [leaves, 2 * half, half])
    for _ in range(int(chance.integers(0, 3))):
        links.pop(int(chance.integers(len(links))))
    size = len(tier)
    shared, own = 65000 + 10 * tier, 65100 + np.arange(size)
    asn = [np.where(tier > 0, shared, own), own, np.where(tier > 0, shared, 65100)][chance.integers(3)].copy()
    if chance.random() < 0.3:
        asn[chance.integers(size)] = asn[chance.integers(size)]
    made = ground(links, asn.tolist(), leaves)
    net, policy, lossless = made.network, made.policy, made.lossless
    chosen = int(chance.integers(net.links))
    kind = chance.integers(5)
    allowas_in = np.where(tier[net.source] == 0, int(chance.random() < 0.5), 0)
    mask, hears = lossless.mask.copy(), policy.hears.copy()
    isolated = policy.isolated.copy()
    if kind == 0:
        mask[[chosen, net.reverse[chosen]]] = 0
    elif kind == 1:
        hears[chosen] = 0
    elif kind == 2:
        isolated[chance.integers(size)] = True
    destinations, witness, discards = made.destinations, made.witness, made.discards
    if kind == 3:
        destinations = (*destinations, Destination(("0.0.0.0/0",), (leaves, size - 1), 4))
        witness = (*witness, "0.0.0.0/0")
        dropped = parse_address("10.0.0.0/16")
        assert dropped is not None
        discards = (*discards[:-1], (dropped,))
    policy = replace(policy, allowas_in=allowas_in, hears=hears, isolated=isolated)
    lossless = replace(lossless, mask=mask)
    return replace(
        made, policy=policy, lossless=lossless, destinations=destinations, witness=witness, discards=discards
    )


@pytest.mark.parametrize("seed", range(12))
def test_orbits_count_what_each_set_counts(seed: int) -> None:
    chance = np.random.default_rng(seed)
    made, repair = irregular_clos(chance), bool(seed % 2)
    failures = every_link(made.network)
    if seed % 5 == 0 and len(made.destinations) == made.host_columns:
        fabric = Switches(made)
        failures += [switch_failure(fabric, number) for number in range(made.network.switches)]  # type: ignore[arg-type]
    depth = 1 + int(len(failures) < 18)
    found, truth = in_orbits(made, failures, depth, repair), one_by_one(made, failures, depth, repair)
    assert replace(found.summary, orbits=()) == truth.summary
    assert found.first_cyclic == truth.first_cyclic
    assert found.first_disconnected == truth.first_disconnected
    assert found.ambiguous_sets == truth.ambiguous_sets


class Switches:
    """As much of a fabric as makes a switch a failure."""

    def __init__(self, ground: Ground) -> None:
        self.network, self.names = ground.network, [f"s{number}" for number in range(ground.network.switches)]


def by_hand(k: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Generators of the fat tree's symmetries, written down: two pods, two leaves of a pod, two groups of cores with
    the middle switches below, two cores of a group change places, or all of them turn."""
    half, edges = k // 2, k * k // 2
    pod, place = np.divmod(np.arange(edges), half)
    group, core = np.divmod(np.arange(half * half), half)

    def moved(pods: Callable[[int], int], leaves: list[int], groups: list[int], cores: list[int]) -> np.ndarray:
        low = [pods(p) * half + (leaves[i] if p == 0 else i) for p, i in zip(pod, place, strict=True)]
        middle = [edges + pods(p) * half + groups[j] for p, j in zip(pod, place, strict=True)]
        top = [2 * edges + groups[j] * half + (cores[c] if j == 0 else c) for j, c in zip(group, core, strict=True)]
        return np.array(low + middle + top)

    same = list(range(half))
    swap, turn = [1, 0, *same[2:]], [*same[1:], 0]
    still = [(same, same, same), (swap, same, same), (turn, same, same), (same, swap, same), (same, turn, same),
             (same, same, swap), (same, same, turn)]  # fmt: skip
    found = [moved(lambda p: p, *parts) for parts in still]
    found.append(moved(lambda p: {0: 1, 1: 0}.get(p, p), same, same, same))
    return [*found, moved(lambda p: (p + 1) % k, same, same, same)]


@pytest.mark.parametrize("k", [4, 6, 8])
def test_orbits_of_pairs_are_those_of_symmetries_written_down(k: int) -> None:
    """The orbits of all pairs of links, by generators by hand acting on each pair: the same sizes and first members."""
    tree = fat_tree(k)
    failures = every_link(tree.network)
    ends = {tuple(sorted(ends_of(tree.converged(), one))[0]): number for number, one in enumerate(failures)}
    size = len(failures)
    pairs = np.array(list(combinations(range(size), 2)))
    code = np.full((size, size), -1)
    code[pairs[:, 0], pairs[:, 1]] = code[pairs[:, 1], pairs[:, 0]] = np.arange(len(pairs))
    moves = []
    for switch in by_hand(k):
        link = np.array([ends[int(min(switch[a], switch[b])), int(max(switch[a], switch[b]))] for a, b in ends])
        moves.append((np.arange(len(pairs)), code[link[pairs[:, 0]], link[pairs[:, 1]]]))
    truth = Counter(joined(len(pairs), moves).tolist())
    found = Orbits(tree, failures, MOST).pairs()
    assert found is not None
    assert {int(code[one.members]): one.size for one in found} == truth
    assert len(found) == 14


def test_every_orbit_of_a_fat_tree_of_8_by_brute_force() -> None:
    """One pair of each orbit by sets and dicts: together the closed form. All pairs: `brute_force`."""
    tree = fat_tree(8)
    base, failures = tree.converged(), every_link(tree.network)
    brute = BruteForce(base)
    orbits = Orbits(tree, failures, MOST).pairs()
    assert orbits is not None
    cyclic = [
        one for one in orbits if brute.is_cyclic(set.union(*(ends_of(base, failures[each]) for each in one.members)))
    ]
    assert sum(one.size for one in cyclic) == of_fat_tree(8) == 7680
    found = in_orbits(tree, failures, 2, repair=True)
    assert [one.sets for one in found.summary.orbits if one.is_cyclic] == [one.size for one in cyclic]


@pytest.mark.parametrize("k", [16, 32])
def test_closed_forms_of_larger_fat_trees(k: int) -> None:
    tree = fat_tree(k)
    found = in_orbits(tree, every_link(tree.network), 2, repair=True)
    assert found.summary.cyclic_sets == of_fat_tree(k)
    assert len(found.summary.orbits) == 14


@pytest.mark.parametrize(("leaves", "spines"), [(8, 4), (64, 16)])
def test_leaf_spine_under_local_repair(leaves: int, spines: int) -> None:
    made = leaf_spine(leaves, spines)
    found = in_orbits(made, every_link(made.network), 2, repair=True)
    assert found.summary.cyclic_sets == comb(leaves * spines, 2) - spines * comb(leaves, 2)
    assert {one.is_cyclic: one.sets for one in found.summary.orbits}[False] == spines * comb(leaves, 2)


def test_distinct_spine_asns_where_pairs_are_too_many_to_judge_each() -> None:
    """Two spines: a pair at different spines and leaves is cyclic, both uplinks of a leaf cut it off."""
    made = distinct_spines(200, 2)
    verdict = FailureJudge(made.converged(), Failures(2)).of_depth(every_link(made.network), 2)
    assert (verdict.how, verdict.summary.sets) == ("orbits", comb(400, 2))
    assert (verdict.summary.cyclic_sets, verdict.summary.unreachable_sets) == (200 * 199, 200)


@pytest.mark.parametrize(("most", "how"), [(1 << 20, "each"), (0, "orbits")])
def test_symmetries_keep_the_turns_of_lists(most: int, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists turn at leaves 2 and 3, which closes a cycle over four links. Only their failures open it, though without
    lists all links have one orbit."""
    made = leaf_spine(6, 2)
    net = made.network
    number = {ends: link for link, ends in enumerate(zip(net.source.tolist(), net.target.tolist(), strict=True))}
    turns = [(number[6, 2], number[2, 7]), (number[7, 3], number[3, 6])]
    made = replace(made, turns=Turns(*np.array(turns).T, ("fcbb:bbbb:1::", "fcbb:bbbb:2::")))
    monkeypatch.setattr(judge_module, "MOST_CONVERGED_WORK", most)
    verdict = FailureJudge(made.converged(), Failures(1)).of_depth(every_link(net), 1)
    assert (verdict.how, verdict.summary.sets, verdict.summary.cyclic_sets) == (how, 12, 8)


def test_a_fabric_without_symmetry_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_module, "MOST_SETS", 100)
    monkeypatch.setattr(judge_module, "MOST_ORBITS", 20)
    monkeypatch.setattr(judge_module, "SAMPLE", 50)
    made = leaf_spine(8, 2)
    made = replace(made, policy=replace(made.policy, maximum_paths=514 + np.arange(10)))  # all switches differ
    verdict = FailureJudge(made.converged(), Failures(2)).of_depth(every_link(made.network), 2)
    assert (verdict.how, verdict.summary.sampled, verdict.summary.orbits) == ("sample", 50, ())


def swapped(size: int, one: int, other: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    found = np.arange(size)
    found[[one, other]] = other, one
    return found


@pytest.mark.parametrize("what", ["nothing", "asn", "pfc", "link", "hosts", "map", "allowas_in", "family", "discard"])
def test_what_is_not_alike_does_not_change_places(what: str) -> None:
    """Leaves 0 and 1 of four may change places, unless one of them differs in what a verdict is worked out from."""
    made = leaf_spine(4, 2)
    net, policy, lossless = made.network, made.policy, made.lossless
    first = np.arange(net.links) == 0  # leaf 0 to its first spine
    if what == "asn":  # leaf 0 shares one with leaf 2, leaf 1 with no switch
        made = replace(made, policy=replace(policy, asn=np.where(np.arange(6) == 0, policy.asn[2], policy.asn)))
    elif what == "pfc":
        made = replace(made, lossless=replace(lossless, mask=np.where(first, 0, lossless.mask).astype(np.uint8)))
    elif what == "map":
        made = replace(made, lossless=replace(lossless, arrival=first.astype(np.int64)))
    elif what == "link":
        made = made.after(np.array([0, int(net.reverse[0])]))[0]
    elif what == "hosts":
        made = replace(made, sources=made.sources & (np.arange(6) != 0))
    elif what == "allowas_in":
        made = replace(made, policy=replace(policy, allowas_in=first.astype(np.int64)))
    elif what == "family":
        made = replace(made, policy=replace(policy, hears=np.where(first, 1, policy.hears).astype(np.uint8)))
    elif what == "discard":
        default = Destination(("0.0.0.0/0",), (5,), 4)
        pool = parse_address("10.0.0.0/16")
        assert pool is not None
        made = replace(
            made, destinations=(*made.destinations, default), witness=(*made.witness, "0.0.0.0/0"),
            discards=((pool,), *made.discards[1:]),
        )  # fmt: skip
    mark = np.zeros(made.network.links, np.int64)
    found = Invariants(made).symmetry(swapped(6, 0, 1), mark, np.random.default_rng(0))
    assert (found is not None) == (what == "nothing")
    assert Invariants(made).symmetry(swapped(6, 0, 4), mark, np.random.default_rng(0)) is None, "a leaf and a spine"


def test_a_pair_says_what_it_stands_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In text, JSON and findings; whether all pairs were judged or one of each orbit."""
    bundle = open_configs(clos(5, 2, distinct).configs(), tmp_path)
    every = analyse_deadlock(bundle, failures=Failures(2))
    monkeypatch.setattr(judge_module, "MOST_SETS", 10)
    by_orbits = analyse_deadlock(bundle, failures=Failures(2))
    both = [deadlock_object(one) for one in (every, by_orbits)]
    assert [one["failures"].pop("judged") for one in both] == [45, 3]
    statements = [one["failures"].pop("statement")["covers"] for one in both]
    assert statements == ["45 double failures", "45 double failures (3 judged, the others are equal by symmetry)"]
    assert both[0] == both[1]
    assert [one.how for one in every[0].evidence.failures] == ["spares", "each"]
    assert [one.how for one in by_orbits[0].evidence.failures] == ["spares", "orbits"]
    found = deadlock_object(by_orbits)
    assert [one["stands_for"] for one in found["failures"]["orbits"]] == [5, 20, 20]
    assert [one["stands_for"] for one in found["cycles"]] == [20, 20]
    lines = "\n".join(deadlock_lines(by_orbits))
    assert "l0:Ethernet0--s0:Ethernet0 and l1:Ethernet4--s1:Ethernet4: cyclic; this pair represents 20" in lines
    messages = {one.code: one.message for one in deadlock_findings(bundle, by_orbits)}
    assert "20 of 45 double failures cause a cycle; this pair stands for 20" in messages["FG605"]
    assert messages["FG606"].endswith("this pair stands for 5")


def test_repair_without_sweeps_over_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many links for tables of all pairs: orbits, with the same count."""
    tree = fat_tree(8)
    monkeypatch.setattr(bounces_module, "_MOST_FAILURES", 20)
    monkeypatch.setattr(judge_module, "MOST_SETS", 100)
    verdict = FailureJudge(tree.converged(), Failures(2, repair=Repair.LOCAL)).of_depth(every_link(tree.network), 2)
    assert (verdict.how, verdict.summary.cyclic_sets) == ("orbits", 7680)
