"""Routes and virtual channels of the literature: tori by dimension order, dragonflies on minimal paths."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from fabricgen.routing import bits
from fabricgen.routing.network import Network, build_network
from fabricgen.simulate.deadlock.core.dependencies import carried, link_dependencies
from fabricgen.simulate.deadlock.core.peel import peel
from fabricgen.simulate.deadlock.core.priorities import priority_graphs
from fabricgen.simulate.plane.lossless import LosslessLinks

Move = tuple[int, int, int]  # switch, next switch, destination


def is_cyclic(network: Network, moves: Iterator[Move], kind: list[int], onward: np.ndarray) -> bool:
    """`kind[l]` numbers the maps at both ends of link l; onward[kind in, kind out, class] is a mask of classes."""
    number = {(int(a), int(b)): link for link, (a, b) in enumerate(zip(network.source, network.target, strict=True))}
    rows, columns = np.array([(number[a, b], c) for a, b, c in moves], np.int64).T
    hops = bits.set_bits(network.links, network.switches, rows, columns)
    links = link_dependencies(network, hops, carried(network, hops, np.ones(network.switches, bool)))
    classes = tuple(range(onward.shape[2]))
    mask = np.full(network.links, (1 << len(classes)) - 1, np.uint8)
    padded = np.zeros((*onward.shape[:2], 8), np.uint8)
    padded[..., : len(classes)] = onward
    kinds = np.array(kind)
    graphs = priority_graphs(links, network.incoming, LosslessLinks(mask, kinds, kinds, padded, classes))
    return any(len(peel(one.graph).left) for one in graphs)


def torus(size: int) -> tuple[Network, list[tuple[int, int]]]:
    """A square torus, and per link its dimension and whether it crosses the dateline between the last and the first."""
    ends = [(x + size * y, (x + 1) % size + size * y) for x, y in product(range(size), repeat=2)]
    ends += [(x + size * y, x + size * ((y + 1) % size)) for x, y in product(range(size), repeat=2)]
    network = build_network(size * size, [a for a, _ in ends], [b for _, b in ends])
    kind = []
    for a, b in zip(network.source.tolist(), network.target.tolist(), strict=True):
        step = 0 if a // size == b // size else 1
        here, there = (a % size, b % size) if step == 0 else (a // size, b // size)
        kind.append((step, int(abs(here - there) > 1)))
    return network, kind


def by_dimension(size: int) -> Iterator[Move]:
    for here, there in product(range(size * size), repeat=2):
        for scale in (1, size):
            a, b = here // scale % size, there // scale % size
            if a != b:
                way = 1 if (b - a) % size <= size // 2 else -1
                yield here, here + scale * ((a + way) % size - a), there
                break


@pytest.mark.parametrize(("classes", "cyclic"), [(1, True), (2, False)])
@pytest.mark.parametrize("size", [4, 5, 6])
def test_torus_needs_a_dateline(size: int, classes: int, cyclic: bool) -> None:
    """Past the dateline of a ring packets ride on the second class; in the next dimension on the first again."""
    network, kind = torus(size)
    onward = np.zeros((4, 4, classes), np.uint8)
    for (come, _), (go, crosses), ride in product(product((0, 1), repeat=2), product((0, 1), repeat=2), range(classes)):
        leaves_on = 1 if classes == 2 and (crosses or (ride and come == go)) else 0
        if not (crosses and ride and come == go):  # no packet goes around twice
            for before in (0, 1):
                onward[2 * come + before, 2 * go + crosses, ride] = 1 << leaves_on
    assert is_cyclic(network, by_dimension(size), [2 * step + crosses for step, crosses in kind], onward) == cyclic


def dragonfly(half: int) -> tuple[Network, list[int], dict[tuple[int, int], tuple[int, int]]]:
    """Groups of 2h routers with h links each to other groups, one between any two groups; per link 0 for a local and 1
    for a global one; per pair of groups the routers at both ends of their link."""
    size = 2 * half
    groups = size * half + 1
    ends = [(g * size + i, g * size + j) for g in range(groups) for i in range(size) for j in range(i)]
    gate = {}
    for group in range(groups):
        for index in range(size * half):
            other = (group + index + 1) % groups
            gate[group, other] = (group * size + index // half, other * size + (groups - 2 - index) // half)
    ends += [ends_of for (a, b), ends_of in gate.items() if a < b]
    network = build_network(groups * size, [a for a, _ in ends], [b for _, b in ends])
    kind = [int(a // size != b // size) for a, b in zip(network.source, network.target, strict=True)]
    return network, kind, gate


def minimal(half: int, gate: dict[tuple[int, int], tuple[int, int]]) -> Iterator[Move]:
    size = 2 * half
    for here, there in product(range(size * (size * half + 1)), repeat=2):
        if here == there:
            continue
        if here // size == there // size:
            yield here, there, there
        else:
            near, far = gate[here // size, there // size]
            yield (here, far if here == near else near, there)


@pytest.mark.parametrize(("classes", "cyclic"), [(1, True), (2, False)])
def test_dragonfly_needs_a_class_after_the_global_hop(classes: int, cyclic: bool) -> None:
    network, kind, gate = dragonfly(2)
    onward = np.zeros((2, 2, classes), np.uint8)
    for come, go, ride in product((0, 1), (0, 1), range(classes)):
        if classes == 1 or (go == 1 and ride == 0):
            onward[come, go, ride] = 1
        elif go == 0:  # the second class is for the path after the global hop; no path has two global hops
            onward[come, go, ride] = 1 << int(come == 1 or ride == 1)
    assert is_cyclic(network, minimal(2, gate), kind, onward) == cyclic
