"""Orders and cycles of dependency graphs, by hand and against slow searches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.simulate.deadlock.core import peel as peel_module
from fabricgen.simulate.deadlock.core.peel import disjoint_cycles, peel, peel_along, shortest_cycle, shortest_through
from tests.simulate.deadlock.test_graph import Edges, digraphs, girth, graph_of


def is_order(order: list[int], channels: int, edges: Edges) -> bool:
    place = {channel: number for number, channel in enumerate(order)}
    return sorted(order) == list(range(channels)) and all(place[a] < place[b] for a, b in edges)


@given(digraphs(), st.randoms())
def test_peeling_along_an_order(drawn: tuple[int, Edges], chance: object) -> None:
    """Whatever order is proposed, the result is that of `peel`; a valid order comes back as it is."""
    channels, edges = drawn
    graph = graph_of(channels, edges)
    proposed = list(range(channels))
    chance.shuffle(proposed)  # type: ignore[attr-defined]
    found = peel_along(graph, np.array(proposed))
    if is_order(proposed, channels, edges):
        assert found.order.tolist() == proposed
    assert found.left.tolist() == peel(graph).left.tolist()
    assert len(found.left) or is_order(found.order.tolist(), channels, edges)


@pytest.mark.parametrize("per_pass", [1, 2, 3, 5])
def test_passes_find_every_wrong_pair(per_pass: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peel_module, "_CHANNELS_PER_PASS", per_pass)
    chain = {(number, number + 1) for number in range(6)}
    graph = graph_of(7, chain)
    assert peel_along(graph, np.arange(7)).order.tolist() == list(range(7))
    for wrong in range(6):
        order = list(range(7))
        order[wrong], order[wrong + 1] = order[wrong + 1], order[wrong]
        assert peel_along(graph, np.array(order)).order.tolist() == list(range(7)), "peeled again"


def test_a_channel_that_waits_for_itself_is_left() -> None:
    """No order is valid, also not the one that is proposed."""
    graph = graph_of(2, {(0, 1), (1, 1)})
    assert peel(graph).left.tolist() == [1]
    assert peel_along(graph, np.arange(2)).left.tolist() == [1]


def test_what_a_cycle_leads_to_is_left_with_it() -> None:
    """0 -> 1 <-> 2 -> 3: channel 0 is peeled, 3 lies behind the cycle."""
    peeled = peel(graph_of(4, {(0, 1), (1, 2), (2, 1), (2, 3)}))
    assert (peeled.order.tolist(), peeled.left.tolist()) == ([0], [1, 2, 3])


def test_peeling_of_wide_and_narrow_layers() -> None:
    """One channel before forty, before one: both ways of counting are taken."""
    edges = {(0, middle) for middle in range(1, 41)} | {(middle, 41) for middle in range(1, 41)} | {(41, 42), (42, 43)}
    peeled = peel(graph_of(44, edges))
    assert peeled.order.tolist() == list(range(44))
    assert not len(peeled.left)
    again = peel(graph_of(45, edges | {(43, 44), (44, 43)}))
    assert again.left.tolist() == [43, 44]


def ring(first: int, size: int) -> Edges:
    return {(first + number, first + (number + 1) % size) for number in range(size)}


@pytest.mark.parametrize("sizes", [(2, 5), (5, 2), (3, 7), (7, 3), (4, 3), (4, 4), (6, 5)])
def test_the_shorter_of_two_cycles(sizes: tuple[int, int]) -> None:
    one, other = sizes
    graph = graph_of(one + other, ring(0, one) | ring(one, other))
    found = shortest_cycle(graph, peel(graph).left)
    assert len(found) == min(sizes)
    assert set(found) <= (set(range(one)) if one <= other else set(range(one, one + other)))


def test_a_large_remainder_is_searched_from_some_of_its_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle of 60 with a chord that makes one of 4: every fourth channel as a start finds it."""
    monkeypatch.setattr(peel_module, "_STARTS", 20)
    graph = graph_of(60, ring(0, 60) | {(33, 30)})
    assert sorted(shortest_cycle(graph, peel(graph).left)) == [30, 31, 32, 33]


def test_no_cycle_is_no_channels() -> None:
    graph = graph_of(3, {(0, 1), (1, 2)})
    assert shortest_cycle(graph, peel(graph).left) == []
    assert list(disjoint_cycles(graph, peel(graph).left)) == []


def test_disjoint_cycles() -> None:
    """Two cycles over one channel: 0-1 and 0-2-3. They have no dependency in common, so both are found."""
    graph = graph_of(4, {(0, 1), (1, 0), (0, 2), (2, 3), (3, 0)})
    found = list(disjoint_cycles(graph, peel(graph).left))
    assert [sorted(one) for one in found] == [[0, 1], [0, 2, 3]]


@given(digraphs())
def test_disjoint_cycles_have_no_dependency_in_common(drawn: tuple[int, Edges]) -> None:
    channels, edges = drawn
    graph, used, left = graph_of(channels, edges), set(), set(edges)
    for cycle in disjoint_cycles(graph, peel(graph).left):
        pairs = list(zip(cycle, cycle[1:] + cycle[:1], strict=True))
        assert len(cycle) == girth(channels, left)
        assert set(pairs) <= left
        used |= set(pairs)
        left -= set(pairs)
    assert girth(channels, left) == 0


@given(digraphs(), st.data())
def test_shortest_through(drawn: tuple[int, Edges], data: st.DataObject) -> None:
    channels, edges = drawn
    starts = sorted(data.draw(st.sets(st.integers(0, channels - 1), max_size=3)))
    found = shortest_through(graph_of(channels, edges), np.array(starts, np.int64))
    after: dict[int, set[int]] = {}
    for a, b in edges:
        after.setdefault(a, set()).add(b)
    lengths = []
    for start in starts:
        layer = {start}
        for length in range(1, channels + 1):
            layer = {b for a in layer for b in after.get(a, ())}
            if start in layer:
                lengths.append(length)
                break
    assert len(found) == min(lengths, default=0)
    if found:
        assert set(found) & set(starts)
        assert all((a, b) in edges for a, b in zip(found, found[1:] + found[:1], strict=True))
