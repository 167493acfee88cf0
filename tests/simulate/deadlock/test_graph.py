"""Dependency graph, peel and shortest cycle against slow twins on small networks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.routing import bits
from fabricgen.routing.network import Network, build_network
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph, carried, link_dependencies
from fabricgen.simulate.deadlock.core.peel import peel, shortest_cycle

Edges = set[tuple[int, int]]


def graph_of(channels: int, edges: Edges) -> ChannelGraph:
    tails = np.array([a for a, _ in sorted(edges)], np.int64)
    counts = np.bincount(tails, minlength=channels)
    heads = np.array([b for _, b in sorted(edges)], np.int32)
    return ChannelGraph(np.concatenate(([0], np.cumsum(counts))), heads)


def girth(channels: int, edges: Edges) -> int:
    """Length of a shortest cycle, 0 for none, by trying every start."""
    after: dict[int, list[int]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
    best = 0
    for start in range(channels):
        layer, seen = {start}, set()
        for length in range(1, channels + 1):
            layer = {b for a in layer for b in after.get(a, [])} - seen
            if start in layer:
                best = min(best, length) if best else length
                break
            seen |= layer
    return best


@st.composite
def digraphs(draw: st.DrawFn) -> tuple[int, Edges]:
    channels = draw(st.integers(1, 9))
    pairs = [(a, b) for a in range(channels) for b in range(channels) if a != b]
    return channels, draw(st.sets(st.sampled_from(pairs), max_size=20)) if pairs else set()


@given(digraphs())
def test_peel_and_shortest_cycle(drawn: tuple[int, Edges]) -> None:
    channels, edges = drawn
    graph = graph_of(channels, edges)
    peeled, expected = peel(graph), girth(channels, edges)
    place = {int(channel): index for index, channel in enumerate(peeled.order)}
    assert all(place[a] < place[b] for a, b in edges if a in place and b in place)
    assert len(peeled.order) + len(peeled.left) == channels
    assert bool(len(peeled.left)) == bool(expected)
    cycle = shortest_cycle(graph, peeled.left) if len(peeled.left) else []
    assert len(cycle) == expected
    assert all((a, b) in edges for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True))


@st.composite
def forwarding(draw: st.DrawFn) -> tuple[Network, list[set[int]], list[int]]:
    """Any next hops at all: per link the destinations it is a next hop for; and the switches with hosts."""
    switches = draw(st.integers(2, 6))
    pairs = [(a, b) for a in range(switches) for b in range(a)]
    cables = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=8))
    network = build_network(switches, [a for a, _ in cables], [b for _, b in cables])
    destinations = st.sets(st.sampled_from([0, 1, 63, 64, 130]), max_size=3)
    taken = draw(st.lists(destinations, min_size=network.links, max_size=network.links))
    return network, taken, draw(st.lists(st.integers(0, switches - 1), max_size=3, unique=True))


@given(forwarding())
def test_dependencies_follow_packets(drawn: tuple[Network, list[set[int]], list[int]]) -> None:
    network, taken, hosts = drawn
    assert dependencies(network, taken, hosts) == slow_dependencies(network, taken, hosts)


def dependencies(network: Network, taken: list[set[int]], hosts: list[int]) -> Edges:
    pairs = [(link, column) for link, columns in enumerate(taken) for column in columns]
    row, column = np.array(pairs, np.int64).reshape(-1, 2).T
    nexthops = bits.set_bits(network.links, 131, row, column)
    sources = np.isin(np.arange(network.switches), hosts)
    graph = link_dependencies(network, nexthops, carried(network, nexthops, sources))
    return {
        (int(network.incoming[a]), int(network.incoming[b]))
        for a, b in zip(graph.tails().tolist(), graph.successors.tolist(), strict=True)
    }


def slow_dependencies(network: Network, taken: list[set[int]], hosts: list[int]) -> Edges:
    edges: Edges = set()
    for column in {column for columns in taken for column in columns}:
        links = [link for link, columns in enumerate(taken) if column in columns]
        active, todo = set(hosts), list(hosts)
        while todo:
            here = todo.pop()
            for link in links:
                far = int(network.target[link])
                if network.source[link] == here and far not in active:
                    active.add(far)
                    todo.append(far)
        used = [link for link in links if int(network.source[link]) in active]
        edges |= {(a, b) for a in used for b in links if network.target[a] == network.source[b]}
    return edges


@given(forwarding(), st.data())
def test_removing_next_hops_adds_no_dependency(
    drawn: tuple[Network, list[set[int]], list[int]], data: st.DataObject
) -> None:
    network, taken, hosts = drawn
    gone = st.sets(st.sampled_from([0, 1, 63, 64, 130]), max_size=3)
    fewer = [columns - data.draw(gone) for columns in taken]
    assert dependencies(network, fewer, hosts) <= dependencies(network, taken, hosts)
