"""Shortest paths that failures take, parts of a fabric that carry everything, and what reaches what."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.routing import bits
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures.bounces import AcyclicReach
from fabricgen.simulate.deadlock.failures.shortest_paths import ShortestPaths, links_of, lost_hops, spares
from tests.routing.networks import link_between
from tests.simulate.deadlock.grounds import every_link, fat_tree, ground, leaf_spine
from tests.simulate.deadlock.test_graph import Edges, digraphs, graph_of


def dead_of(made: Ground, *pairs: tuple[int, int]) -> np.ndarray:
    links = [link_between(made.network, *pair) for pair in pairs]
    return np.array(sorted({*links, *(int(made.network.reverse[link]) for link in links)}), np.int64)


def slowly_lost(made: Ground, dead: np.ndarray, gone: tuple[int, ...] = ()) -> bool:
    """Whether a switch with hosts has no old shortest path left to a destination that it had one to."""
    net, hops = made.network, made.converged().routes.nexthops
    for column, one in enumerate(made.destinations):
        origins = set(one.origins) - set(gone)
        if not origins:
            continue
        alive = set(origins)
        while True:
            more = {
                int(net.source[link])
                for link in range(net.links)
                if link not in dead and column in bits.columns_of(hops[link]) and int(net.target[link]) in alive
            } - alive
            if not more:
                break
            alive |= more
        before = made.converged().routes.reached
        for switch in np.flatnonzero(made.sources).tolist():
            if switch not in gone and switch not in alive and column in bits.columns_of(before[switch]):
                return True
    return False


@pytest.mark.parametrize("made", [leaf_spine(3, 2), fat_tree(4)])
def test_lost_paths_of_pairs(made: Ground) -> None:
    paths = ShortestPaths(made.converged())
    failures = every_link(made.network)
    for one, other in list(combinations(failures, 2))[:: 1 if len(failures) < 10 else 9]:
        dead = np.unique([*one.links, *other.links]).astype(np.int64)
        assert paths.lost(dead) == slowly_lost(made, dead)


def test_paths_lost_to_some_destinations() -> None:
    """Leaf 0 keeps spine 3, leaf 1 spine 4: only these two miss each other."""
    made = leaf_spine(3, 2)
    paths, dead = ShortestPaths(made.converged()), dead_of(made, (0, 4), (1, 3))
    assert paths.lost(dead)
    for columns, lost in (([0], True), ([1], True), ([2], False), ([0, 2], True)):
        assert paths.lost(dead, among=bits.row_of(np.array(columns), 3)) == lost


def test_a_failed_switch_is_neither_source_nor_destination() -> None:
    made = leaf_spine(3, 2)
    net, paths = made.network, ShortestPaths(made.converged())
    for switch, lost in ((0, False), (3, False)):
        out = np.arange(net.offsets[switch], net.offsets[switch + 1])
        dead = np.unique(np.concatenate((out, net.reverse[out]))).astype(np.int64)
        assert paths.lost(dead, gone=(switch,)) == lost
        assert paths.lost(dead) == (switch == 0), "as links alone it counts"
    both = np.unique(np.concatenate([np.arange(net.links)[net.source == 3], np.arange(net.links)[net.target == 3]]))
    with_one = np.unique(np.concatenate((both, dead_of(made, (0, 4))))).astype(np.int64)
    assert paths.lost(with_one, gone=(3,)), "leaf 0 has lost both spines"


def test_which_states_the_argument_holds_for() -> None:
    plain = ShortestPaths(leaf_spine(3, 2).converged())
    assert (plain.are_certain, plain.are_decisive) == (True, True)
    full = leaf_spine(4, 2)
    refused = full.after(dead_of(full, (0, 5), (1, 4)))[0]
    again = ShortestPaths(refused.converged())
    assert (again.are_certain, again.are_decisive) == (True, False), "a loop check has refused a path"
    strict = replace(full.policy, asn=100 + np.arange(6), multipath_relax=np.zeros(6, bool))
    ambiguous = ShortestPaths(replace(full, policy=strict).converged())
    assert (ambiguous.are_certain, ambiguous.are_decisive) == (False, False)


@pytest.mark.parametrize(("leaves", "spines"), [(3, 1), (3, 2), (4, 3)])
def test_every_spine_is_a_spare(leaves: int, spines: int) -> None:
    paths = ShortestPaths(leaf_spine(leaves, spines).converged())
    assert [spares(paths, enough) for enough in (1, spines, spines + 1)] == [1, spines, spines]


def test_spares_of_other_wirings() -> None:
    assert spares(ShortestPaths(fat_tree(4).converged()), 3) == 2
    full = leaf_spine(3, 3)
    broken = full.after(dead_of(full, (0, 3)))[0]
    assert spares(ShortestPaths(broken.converged()), 3) == 2, "one spine does not reach all leaves"
    flat = ground([(0, 1), (1, 2), (0, 2)], [1, 2, 3], 3)
    assert spares(ShortestPaths(flat.converged()), 2) == 0, "no switch without hosts"


def test_links_of_switches() -> None:
    net = leaf_spine(3, 2).network
    links, starts = links_of(net, np.array([3, 0], np.int64))
    assert net.source[links].tolist() == [3, 3, 3, 0, 0]
    assert starts.tolist() == [0, 3]


def test_lost_hops() -> None:
    """Destination 1 is lost with both of leaf 0's uplinks, not with one; links of other switches do not count."""
    made = leaf_spine(3, 2)
    net, hops = made.network, made.converged().hops
    own = np.arange(net.offsets[0], net.offsets[1])
    others = np.arange(net.offsets[1], net.offsets[3])
    assert bits.columns_of(lost_hops(net, hops, 0, own)) == [1, 2]
    assert bits.columns_of(lost_hops(net, hops, 0, own[:1])) == []
    assert bits.columns_of(lost_hops(net, hops, 0, others)) == []
    spine = dead_of(made, (3, 1))
    assert bits.columns_of(lost_hops(net, hops, 3, spine)) == [1]


@given(digraphs(), st.data())
def test_reach(drawn: tuple[int, Edges], data: st.DataObject) -> None:
    """In the graph without its edges backwards: what each channel leads to, over channels that are alive."""
    channels, edges = drawn
    edges = {(a, b) for a, b in edges if a < b}
    marks = data.draw(st.lists(st.sets(st.integers(0, 69), max_size=3), min_size=channels, max_size=channels))
    gone = data.draw(st.lists(st.sets(st.integers(0, 69), max_size=20), min_size=channels, max_size=channels))
    reach = AcyclicReach(graph_of(channels, edges))

    def words(rows: list[set[int]]) -> bits.Words:
        pairs = [(row, column) for row, columns in enumerate(rows) for column in columns]
        row, column = np.array(pairs, np.int64).reshape(-1, 2).T
        return bits.set_bits(channels, 70, row, column)

    found = reach.run(words(marks), ~words(gone))
    expected: list[set[int]] = [set() for _ in range(channels)]
    for channel in reversed(range(channels)):
        after = set().union(*(expected[b] for a, b in edges if a == channel))
        expected[channel] = (marks[channel] | after) - gone[channel]
    assert [set(bits.columns_of(row)) for row in found] == expected
    beyond = reach.beyond(found, np.arange(channels))
    onward = [set().union(*(expected[b] for a, b in edges if a == channel)) for channel in range(channels)]
    assert [set(bits.columns_of(row)) for row in beyond] == onward
