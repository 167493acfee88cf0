"""Local repair: closed forms for leaf-spine and fat trees, brute force, and Tagger's two tags."""

from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest

from fabricgen.routing import bits
from fabricgen.simulate.deadlock import Failures, analyse_deadlock
from fabricgen.simulate.deadlock.core.state import Ground, State
from fabricgen.simulate.deadlock.failures.bounces import bounces
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, FailureSet
from fabricgen.simulate.deadlock.failures.judge import FailureJudge
from fabricgen.simulate.deadlock.failures.repair import Repaired, repaired_witnesses
from fabricgen.vocabulary import Repair
from tests.bgp_fabric import ConfigDbs, open_configs
from tests.simulate.deadlock.brute_force import BruteForce
from tests.simulate.deadlock.grounds import every_link, fat_tree, ground, leaf_spine
from tests.simulate.deadlock.test_fabrics import clos


def repaired_is_cyclic(base: State, *failures: Failure) -> bool:
    """Whether the state under local repair, computed as a whole, has a cycle."""
    return Repaired.of(base, FailureSet(failures).dead).buffers.is_cyclic


def of_leaf_spine(leaves: int, spines: int) -> int:
    """Pairs of links at different spines."""
    return comb(leaves * spines, 2) - spines * comb(leaves, 2)


def of_fat_tree(k: int) -> int:
    """Below: different middle switches of any pods; above: same group, different cores. From k = 6 on."""
    half = k // 2
    return comb(k * half**2, 2) - half * comb(k * half, 2) + half * (comb(half * k, 2) - half * comb(k, 2))


def pairs_of(ground: Ground) -> tuple[State, list[Failure], int]:
    """The state, what can fail, and how many pairs are cyclic."""
    base = ground.converged()
    failures = every_link(ground.network)
    summary = FailureJudge(base, Failures(depth=2, repair=Repair.LOCAL)).of_depth(failures, 2).summary
    assert summary.sets == comb(len(failures), 2)
    assert summary.sampled is None
    return base, failures, summary.cyclic_sets


@pytest.mark.parametrize(("leaves", "spines"), [(4, 2), (8, 2), (8, 4), (12, 6)])
def test_leaf_spine(leaves: int, spines: int) -> None:
    base, failures, cyclic = pairs_of(leaf_spine(leaves, spines))
    assert cyclic == of_leaf_spine(leaves, spines)
    assert not any(repaired_is_cyclic(base, one) for one in failures)


def test_leaf_spine_8x4_is_384_of_496() -> None:
    assert (of_leaf_spine(8, 4), comb(32, 2)) == (384, 496)


def test_fat_tree_of_4_against_brute_force() -> None:
    """In so small a tree two failures meet in each other's detours: the closed form says 96, and 80 are true."""
    base, failures, cyclic = pairs_of(fat_tree(4))
    slow, net = BruteForce(base), base.ground.network
    ends = [{(int(net.source[link]), int(net.target[link])) for link in one.links} for one in failures]
    truth = [slow.is_cyclic(one | other) for one, other in combinations(ends, 2)]
    assert (cyclic, sum(truth)) == (80, 80)
    fast = [repaired_is_cyclic(base, *pair) for pair in combinations(failures, 2)]
    assert fast == truth
    assert not any(map(slow.is_cyclic, ends))


def test_fat_tree_of_8() -> None:
    """All pairs by sweeps, equal to the closed form; a sample of them by brute force."""
    base, failures, cyclic = pairs_of(fat_tree(8))
    assert cyclic == of_fat_tree(8) == 7680
    around = bounces(base, failures)
    assert around is not None
    pairs = around.pairs()
    assert pairs is not None
    assert not len(pairs.undecided)
    slow, net = BruteForce(base), base.ground.network
    chance = np.random.default_rng(8)
    for first, second in np.sort(chance.choice(len(failures), (6, 2)), axis=1).tolist():
        links = [*failures[first].links, *failures[second].links]
        dead = {(int(net.source[link]), int(net.target[link])) for link in links}
        assert slow.is_cyclic(dead) == (second in bits.columns_of(pairs.cyclic[first]))


def test_fat_tree_of_16() -> None:
    """Two million pairs in seconds, none of them left to be judged one by one."""
    assert pairs_of(fat_tree(16))[2] == of_fat_tree(16) == 516_096


@pytest.mark.parametrize("seed", range(1, 9))
def test_irregular_fabrics_pair_by_pair(seed: int) -> None:
    """Fabrics that miss links, failures of one link or of two: every verdict equals the state computed anew."""
    chance = np.random.default_rng(seed)
    full = [fat_tree(4), leaf_spine(6, 3), leaf_spine(5, 5)][seed % 3]
    links = every_link(full.network)
    ends = [(int(full.network.source[one.links[0]]), int(full.network.target[one.links[0]])) for one in links]
    kept = np.sort(chance.choice(len(ends), len(ends) * 9 // 10, replace=False)).tolist()
    thinned = ground([ends[link] for link in kept], full.policy.asn.tolist(), int(full.sources.sum()))
    base, failures = thinned.converged(), every_link(thinned.network)
    if seed > 5:
        failures = [
            Failure(f"{one.name} {other.name}", (*one.links, *other.links))
            for one, other in zip(failures[::2], failures[1::2], strict=False)
        ]
    around = bounces(base, failures)
    assert around is not None
    pairs = around.pairs()
    assert pairs is not None
    alone = [repaired_is_cyclic(base, one) for one in failures]
    assert around.singles().tolist() == alone
    left_out = {tuple(pair) for pair in pairs.undecided.tolist()}
    cyclic = {(row, other) for row in range(len(failures)) for other in bits.columns_of(pairs.cyclic[row])}
    numbers = [pair for pair in combinations(range(len(failures)), 2) if pair not in left_out]
    truth = {
        (a, b) for a, b in numbers if Repaired.of(base, FailureSet((failures[a], failures[b])).dead).buffers.is_cyclic
    }
    assert cyclic == truth
    assert truth


def tagger(configs: ConfigDbs) -> None:
    """A leaf sends what came down on 3 up again on 4, and what came down on 4 up again without PFC."""
    for name, config in configs.items():
        if name.startswith("l"):
            config["DSCP_TO_TC_MAP"] = {"AZURE": {str(d): {26: "4", 34: "5"}.get(d, "0") for d in range(64)}}
            config["TC_TO_PRIORITY_GROUP_MAP"] = {"AZURE": {str(tc): {4: "3", 5: "4"}.get(tc, "0") for tc in range(8)}}
            config["TC_TO_QUEUE_MAP"] = {"AZURE": {str(tc): {4: "4"}.get(tc, "0") for tc in range(8)}}


def test_two_tags_of_tagger_free_every_single_bounce(tmp_path: Path) -> None:
    configs = clos(4, 2).configs()
    options = Failures(depth=2, repair=Repair.LOCAL)
    [plain] = analyse_deadlock(open_configs(configs, tmp_path), failures=options)
    assert plain.failures.cyclic_sets == of_leaf_spine(4, 2) == 16
    tagger(configs)
    [tagged] = analyse_deadlock(open_configs(configs, tmp_path), failures=options)
    assert (tagged.verdict, tagged.failures.cyclic_sets) == ("free", 0)
    assert tagged.priorities == (3, 4)


def test_bounces_close_a_cycle_that_is_shown(tmp_path: Path) -> None:
    [result] = analyse_deadlock(open_configs(clos(4, 2).configs(), tmp_path), failures=Failures(2, repair=Repair.LOCAL))
    cycle = result.cycles[0]
    assert len(cycle.failed_links) == 2
    assert len(cycle.hops) == len(cycle.witnesses) == 4


@pytest.mark.parametrize("made", [leaf_spine(4, 2), fat_tree(4)])
def test_the_cycle_found_among_detours_is_a_shortest_one_of_the_whole_graph(made: Ground) -> None:
    base, failures = made.converged(), every_link(made.network)
    for pair in list(combinations(failures, 2))[::7]:
        dead = FailureSet(pair).dead
        state = Repaired.of(base, dead)
        around = bounces(base, [Failure("both", tuple(dead.tolist()))])
        assert around is not None
        links = around.shortest_cycle(0)
        assert bool(links) == state.buffers.is_cyclic
        if links:
            assert len(links) == len(state.buffers.cycles()[0][1])
            place = {int(link): number for number, link in enumerate(made.network.incoming)}
            graph = state.buffers.links
            for link, after in zip(links, [*links[1:], links[0]], strict=True):
                waits = graph.successors[graph.offsets[place[link]] : graph.offsets[place[link] + 1]]
                assert place[after] in waits
            prefixes = repaired_witnesses(base, dead, links)
            for link, after, prefix in zip(links, [*links[1:], links[0]], prefixes, strict=True):
                now, before = (bits.columns_of(one.shared(place[link], after)) for one in (state.now, base))
                assert prefix == made.witness[(now or before)[0]]
