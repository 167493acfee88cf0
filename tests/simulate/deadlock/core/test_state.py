"""Grounds and states: tiers, priorities, what is left after failures, and who cannot reach whom."""

from dataclasses import replace

import numpy as np
import pytest

from fabricgen.routing import bits
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph
from fabricgen.simulate.deadlock.core.priorities import priority_graphs
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.core.tiers import tiers, upward_first
from fabricgen.simulate.plane.lossless import LosslessLinks
from tests.routing.networks import link_between, network_of
from tests.simulate.deadlock.grounds import fat_tree, leaf_spine


def test_tiers_count_links_to_the_nearest_hosts() -> None:
    """0 has hosts, 1 and 2 above it, 3 above both, 4 alone."""
    network = network_of(5, [(0, 1), (0, 2), (1, 3), (2, 3)])
    sources = np.array([True, False, False, False, False])
    assert tiers(network, sources).tolist() == [0, 1, 1, 2, 5]


def test_links_up_come_before_links_down() -> None:
    tree = fat_tree(4)
    net, level = tree.network, tiers(tree.network, tree.sources)
    when = upward_first(net, tree.sources)
    up = level[net.target] > level[net.source]
    assert when[up].tolist() == level[net.source][up].tolist()
    assert when[up].max() < when[~up].min()
    for link in np.flatnonzero(~up).tolist():
        assert when[link] == 2 * net.switches - level[net.source[link]], "down from the top first"


def without(full: Ground, *pairs: tuple[int, int]) -> Ground:
    links = [link_between(full.network, *pair) for pair in pairs]
    dead = sorted({*links, *(int(full.network.reverse[link]) for link in links)})
    return full.after(np.array(dead, np.int64))[0]


def test_a_clos_is_free_and_connected() -> None:
    state = leaf_spine(4, 2).converged()
    assert not state.buffers.is_cyclic
    assert not state.is_disconnected
    assert list(state.buffers.cycles()) == list(state.buffers.disjoint_cycles()) == []


def test_hosts_that_cannot_reach_each_other() -> None:
    """Leaf 0 keeps spine 4, leaf 1 keeps spine 5: under one spine ASN there is no path between them."""
    state = without(leaf_spine(4, 2), (0, 5), (1, 4)).converged()
    assert state.is_disconnected
    assert not state.buffers.is_cyclic


def test_only_what_was_reached_before_is_expected() -> None:
    """Leaf 0 has no uplink from the start: that another failure changes nothing for it is not counted."""
    lonely = without(leaf_spine(3, 2), (0, 3), (0, 4))
    before = lonely.converged()
    assert before.is_disconnected
    expecting = lonely.expecting(before.routes.reached)
    assert not expecting.converged().is_disconnected
    assert not without(expecting, (1, 3)).converged().is_disconnected
    assert without(expecting, (1, 3), (1, 4)).converged().is_disconnected


def test_what_switches_without_hosts_reach_is_not_expected() -> None:
    full = leaf_spine(3, 2)
    expecting = full.expecting(full.converged().routes.reached)
    assert expecting.expected is not None
    assert [bits.columns_of(row) for row in expecting.expected] == [[0, 1, 2]] * 3 + [[], []]


def test_one_switch_with_hosts_is_connected() -> None:
    alone = replace(leaf_spine(2, 1), sources=np.array([True, False, False]), complete=False)
    assert not alone.converged().is_disconnected


def test_a_host_subnet_that_is_not_announced_is_not_reached() -> None:
    assert replace(leaf_spine(2, 1), complete=False).converged().is_disconnected


def test_a_failed_switch_takes_its_hosts_and_prefixes_along() -> None:
    full = leaf_spine(3, 2)
    net = full.network
    out = np.arange(net.offsets[1], net.offsets[2])
    left, kept = full.expecting(full.converged().routes.reached).after(
        np.concatenate((out, net.reverse[out])), gone=(1,)
    )
    assert left.sources.tolist() == [True, False, True, False, False]
    assert [one.origins for one in left.destinations] == [(0,), (2,)]
    assert left.witness == ("10.0.0.0/24", "10.0.2.0/24")
    assert left.host_columns == 2
    assert left.expected is not None
    assert [bits.columns_of(row) for row in left.expected][::2] == [[0, 1], [0, 1], []]
    assert len(kept) == left.network.links == len(left.lossless.mask) == 8
    assert not left.converged().is_disconnected
    assert left.converged().hops.shape == (8, 1)


def test_a_prefix_of_two_switches_stays_while_one_of_them_does() -> None:
    full = leaf_spine(3, 1)
    shared = replace(full.destinations[0], origins=(0, 1))
    both = replace(full, destinations=(shared, *full.destinations[1:]), host_columns=2)
    net = both.network
    for number, kept in ((0, [(0, 1), (1,), (2,)]), (1, [(0, 1), (2,)])):
        out = np.arange(net.offsets[number], net.offsets[number + 1])
        left, _ = both.after(np.concatenate((out, net.reverse[out])), gone=(number,))
        assert [one.origins for one in left.destinations] == kept
        assert left.host_columns == len(kept) - 1


def bounced() -> Ground:
    """Distinct spine ASNs; leaf 0 has lost spine 5, leaf 1 spine 4: leaves 2 and 3 carry their traffic."""
    full = leaf_spine(4, 2)
    return without(replace(full, policy=replace(full.policy, asn=100 + np.arange(6))), (0, 5), (1, 4))


def test_a_cycle_and_its_witnesses() -> None:
    made = bounced()
    state = made.converged()
    [(priority, links)] = state.buffers.cycles()
    assert (priority, len(links)) == (3, 4)
    net = made.network
    ends = [(int(net.source[link]), int(net.target[link])) for link in links]
    assert all(a[1] == b[0] for a, b in zip(ends, ends[1:] + ends[:1], strict=True))
    for link, after, prefix in zip(links, links[1:] + links[:1], state.witnesses(links), strict=True):
        column = made.witness.index(prefix)
        assert bits.has(state.hops, column)[[link, after]].all()
        assert column in bits.columns_of(state.shared(int(net.place[link]), after))


def test_priorities_with_equal_graphs_have_one() -> None:
    full = bounced()
    onward = np.zeros((1, 1, 8), np.uint8)
    onward[0, 0, [3, 4]] = 1 << 3, 1 << 4
    size = full.network.links
    mask = np.full(size, 0b11000, np.uint8)
    both = LosslessLinks(mask, full.lossless.arrival, full.lossless.departure, onward, (3, 4))
    found = replace(full, lossless=both).converged().buffers
    assert [(one.stands_for, one.copies) for one in found.graphs] == [((3, 4), 2)]
    assert [priority for priority, _ in found.cycles()] == [3, 4]
    assert len(list(found.disjoint_cycles())) == len({links for _, links in found.disjoint_cycles()})
    mask[0] = mask[full.network.reverse[0]] = 0b01000
    apart = replace(full, lossless=replace(both, mask=mask)).converged().buffers
    assert [one.stands_for for one in apart.graphs] == [(3,), (4,)]
    assert [one.graph.channels for one in apart.graphs] == [size, size - 2]


def line_graph() -> ChannelGraph:
    """Three links, each waits for the next."""
    return ChannelGraph(np.array([0, 1, 2, 2]), np.array([1, 2], np.int32))


def of_three(mask: list[int], onward: np.ndarray, priorities: tuple[int, ...]) -> LosslessLinks:
    zero = np.zeros(3, np.int64)
    return LosslessLinks(np.array(mask, np.uint8), zero, zero, onward, priorities)


def test_links_that_are_not_lossless_drop_out() -> None:
    onward = np.zeros((1, 1, 8), np.uint8)
    onward[0, 0, 3] = 1 << 3
    [found] = priority_graphs(line_graph(), np.arange(3, dtype=np.int32), of_three([8, 8, 0], onward, (3,)))
    assert (found.graph.offsets.tolist(), found.graph.successors.tolist()) == ([0, 1, 1], [1])
    assert (found.link.tolist(), found.priority.tolist(), found.stands_for) == ([0, 1], [3, 3], (3,))
    [cut] = priority_graphs(line_graph(), np.arange(3, dtype=np.int32), of_three([8, 0, 8], onward, (3,)))
    assert (cut.graph.channels, cut.graph.successors.tolist(), cut.link.tolist()) == (2, [], [0, 2])


def test_maps_that_move_packets_join_priorities() -> None:
    """What arrives on 3 is held by 4, what arrives on 4 by none: 0 on 3 waits for 1 on 4, 1 on 3 for 2 on 4."""
    onward = np.zeros((1, 1, 8), np.uint8)
    onward[0, 0, 3] = 1 << 4
    [found] = priority_graphs(line_graph(), np.arange(3, dtype=np.int32), of_three([24, 24, 24], onward, (3, 4)))
    assert (found.stands_for, found.copies) == ((), 1)
    channels = list(zip(found.link.tolist(), found.priority.tolist(), strict=True))
    assert channels == [(0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4)]
    edges = {
        (channels[a], channels[b])
        for a, b in zip(found.graph.tails().tolist(), found.graph.successors.tolist(), strict=True)
    }
    assert edges == {((0, 3), (1, 4)), ((1, 3), (2, 4))}


@pytest.mark.parametrize("mask", [[24, 8, 24], [24, 24, 8]])
def test_a_priority_that_a_link_does_not_carry_is_not_waited_for(mask: list[int]) -> None:
    onward = np.zeros((1, 1, 8), np.uint8)
    onward[0, 0, 3] = 1 << 4
    [found] = priority_graphs(line_graph(), np.arange(3, dtype=np.int32), of_three(mask, onward, (3, 4)))
    channels = list(zip(found.link.tolist(), found.priority.tolist(), strict=True))
    edges = {
        (channels[a], channels[b])
        for a, b in zip(found.graph.tails().tolist(), found.graph.successors.tolist(), strict=True)
    }
    expected = {((0, 3), (1, 4)), ((1, 3), (2, 4))}
    assert edges == {(a, b) for a, b in expected if mask[b[0]] >> b[1] & 1}


def test_nothing_lossless_has_no_graph() -> None:
    full = leaf_spine(2, 1)
    none = replace(full.lossless, mask=np.zeros_like(full.lossless.mask), priorities=())
    assert replace(full, lossless=none).converged().buffers.graphs == []
