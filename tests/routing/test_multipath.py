"""Switches that do not use every equally short path: the limit of maximum-paths, and paths of one neighbor AS."""

import numpy as np
import pytest

from fabricgen.routing.bgp import solve
from fabricgen.routing.multipath import narrow_choices
from tests.routing.networks import hops_of, network_of, per_switch, policy_of

# Leaf 0 has three uplinks to spines 1, 2 and 3; leaf 4 is below all of them.
NETWORK = network_of(5, [(0, 1), (0, 2), (0, 3), (4, 1), (4, 2), (4, 3)])


@pytest.mark.parametrize(("most", "is_open"), [(2, True), (3, False), (4, False)])
def test_more_sessions_than_maximum_paths_leave_the_choice_open(most: int, is_open: bool) -> None:
    limits = np.array([most, 514, 514, 514, 514])
    routes = solve(NETWORK, policy_of(NETWORK, [10, 1, 1, 1, 20], maximum_paths=limits), per_switch(0, 4))
    assert hops_of(NETWORK, routes.nexthops, 0, 1) == {1, 2, 3}
    assert routes.ambiguous.tolist() == [[0b10 if is_open else 0], [0], [0], [0], [0]]


@pytest.mark.parametrize(
    ("spines", "is_open"), [((1, 1, 1), False), ((1, 1, 2), True), ((1, 2, 3), True), ((1, 2, 1), True)]
)
def test_without_multipath_relax_only_one_neighbor_as_is_used(spines: tuple[int, int, int], is_open: bool) -> None:
    strict = np.array([False, True, True, True, True])
    routes = solve(NETWORK, policy_of(NETWORK, [10, *spines, 20], multipath_relax=strict), per_switch(0, 4))
    assert bool(routes.ambiguous[0, 0]) == is_open
    assert not routes.ambiguous[1:].any()


def test_every_switch_that_uses_all_paths_has_no_groups() -> None:
    everywhere, most = np.ones(5, bool), np.full(5, 3)
    assert narrow_choices(NETWORK, np.array([10, 1, 1, 1, 20]), everywhere, most) is None


def test_groups_of_links() -> None:
    """Without relax a group for each neighbor AS; above the limit one for each link, whatever its AS."""
    asn = np.array([10, 1, 2, 1, 20])
    relax = np.array([False, True, True, True, True])
    found = narrow_choices(NETWORK, asn, relax, np.array([3, 514, 514, 514, 2]))
    assert found is not None
    groups = np.split(found.links, found.starts[1:])
    neighbors = [NETWORK.target[group].tolist() for group in groups]
    by_switch = {
        switch: sorted(one for one, of in zip(neighbors, found.switch.tolist(), strict=True) if of == switch)
        for switch in (0, 4)
    }
    assert by_switch == {0: [[1, 3], [2]], 4: [[1], [2], [3]]}
    assert found.rank.tolist() == [0, 1, 0, 1, 2]
    nexthops = np.zeros((NETWORK.links, 1), np.uint64)
    nexthops[found.links[0]] = 0b011
    nexthops[found.links[1]] = 0b001
    nexthops[found.links[2]] = 0b010
    assert found.undecided(nexthops, 5).tolist() == [[0b010], [0], [0], [0], [0]]


def test_choices_at_many_destinations_are_told_apart_by_bit() -> None:
    """Towards its neighbors a leaf has one way; only towards the other leaf it has a choice."""
    limits = np.array([1, 514, 514, 514, 514])
    routes = solve(NETWORK, policy_of(NETWORK, [10, 1, 2, 3, 20], maximum_paths=limits), per_switch(1, 2, 3, 4))
    assert routes.ambiguous[0].tolist() == [0b1000]
