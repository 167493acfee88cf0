"""Longest-prefix match: which prefix a packet follows where its own is missing, and where a discard route ends it."""

from itertools import permutations

import numpy as np
import pytest

from fabricgen.routing.fallback import Fallbacks, covering, forwarding
from fabricgen.routing.routes import Destination, Routes
from fabricgen.sonic.addresses import Address, parse_address
from tests.routing.networks import hops_of, network_of


def address(text: str) -> Address:
    found = parse_address(text)
    assert found
    return found


def destinations(*prefixes: str) -> tuple[Destination, ...]:
    return tuple(Destination(tuple(one.split()), (0,), 6 if ":" in one else 4) for one in prefixes)


def test_the_next_shorter_prefix_covers() -> None:
    found = covering(destinations("10.1.2.0/24", "0.0.0.0/0", "10.1.0.0/16", "10.0.0.0/8", "fd00::/64", "11.0.0.0/24"))
    assert found == [[2], [], [3], [1], [], [1]]


def test_ipv6_is_covered_by_ipv6_alone() -> None:
    assert covering(destinations("::/0", "0.0.0.0/0", "fd00::/64", "10.0.0.0/8")) == [[], [], [0], [1]]


def test_a_class_of_prefixes_has_every_cover_once() -> None:
    """Two of three prefixes share a cover; one that covers its own class does not count."""
    found = covering(
        destinations("10.1.0.0/24 10.1.1.0/24 10.2.0.0/24", "10.1.0.0/16", "10.2.0.0/16", "12.0.0.0/8 12.0.1.0/24")
    )
    assert [sorted(one) for one in found] == [[1, 2], [], [], []]


# Switch 1 announces the short prefix, switch 2 the long one; both are neighbors of 0.
TRIANGLE = network_of(3, [(0, 1), (0, 2)])


def routed(known: bool, ambiguous: bool = False) -> Routes:
    """Switch 0 knows the /16 (column 1) through switch 1, and, if `known`, the /24 (column 0) through switch 2."""
    nexthops = np.zeros((TRIANGLE.links, 1), np.uint64)
    nexthops[0] = 0b10
    reached = np.array([[0b10], [0b10], [0b01]], np.uint64)
    if known:
        nexthops[1] = 0b01
        reached[0] = 0b11
    unsure = np.array([[0b01 if ambiguous else 0], [0], [0]], np.uint64)
    return Routes(destinations("10.1.2.0/24", "10.1.0.0/16"), nexthops, reached, unsure)


def test_a_packet_follows_the_shorter_prefix_where_its_own_is_missing() -> None:
    missing, known, unsure = routed(False), routed(True), routed(True, ambiguous=True)
    assert hops_of(TRIANGLE, forwarding(TRIANGLE, missing), 0, 0) == {1}
    assert hops_of(TRIANGLE, forwarding(TRIANGLE, known), 0, 0) == {2}
    assert hops_of(TRIANGLE, forwarding(TRIANGLE, unsure), 0, 0) == {1, 2}, "it may be missing"
    assert hops_of(TRIANGLE, forwarding(TRIANGLE, missing), 0, 1) == {1}
    assert hops_of(TRIANGLE, missing.nexthops, 0, 0) == set(), "the routes themselves stay as they are"


@pytest.mark.parametrize(
    ("discard", "falls_back"),
    [
        ("10.1.2.0/24", False), ("10.1.2.0/23", False), ("10.1.0.0/17", False), ("10.1.0.0/16", True),
        ("10.0.0.0/8", True), ("10.1.128.0/17", True), ("10.1.2.0/25", True),
    ],
)  # fmt: skip
def test_a_discard_route_between_the_two_drops_the_packet(discard: str, falls_back: bool) -> None:
    for switch, own in ((0, True), (1, False)):
        discards = [(address(discard),) if number == switch else () for number in range(3)]
        found = hops_of(TRIANGLE, forwarding(TRIANGLE, routed(False), discards), 0, 0)
        assert found == ({1} if falls_back or not own else set()), "only a discard route of the switch itself counts"


def test_fallbacks_go_on_to_ever_shorter_prefixes() -> None:
    """/24 to /16 to /0: whoever knows only the default sends the /24's packets there, too."""
    found = destinations("10.1.2.0/24", "0.0.0.0/0", "10.1.0.0/16")
    nexthops = np.zeros((TRIANGLE.links, 1), np.uint64)
    nexthops[0] = 0b010
    reached = np.array([[0b010], [0b010], [0b101]], np.uint64)
    routes = Routes(found, nexthops, reached, np.zeros((3, 1), np.uint64))
    hops = forwarding(TRIANGLE, routes)
    assert [hops_of(TRIANGLE, hops, 0, column) for column in range(3)] == [{1}, {1}, {1}]


def test_a_class_is_dropped_only_where_every_prefix_is() -> None:
    found = destinations("10.1.2.0/24 10.2.2.0/24", "10.0.0.0/8")
    nexthops = np.zeros((TRIANGLE.links, 1), np.uint64)
    nexthops[0] = 0b10
    reached = np.array([[0b10], [0b10], [0b01]], np.uint64)
    routes = Routes(found, nexthops, reached, np.zeros((3, 1), np.uint64))
    one, both = (address("10.1.0.0/16"),), (address("10.1.0.0/16"), address("10.2.0.0/16"))
    assert hops_of(TRIANGLE, forwarding(TRIANGLE, routes, [one, (), ()]), 0, 0) == {1}
    assert hops_of(TRIANGLE, forwarding(TRIANGLE, routes, [both, (), ()]), 0, 0) == set()


def kept(prefixes: tuple[Destination, ...], discards: dict[int, str], switch: list[int], column: list[int]) -> bool:
    dropped = [(address(discards[number]),) if number in discards else () for number in range(len(switch))]
    return Fallbacks(prefixes, dropped, len(switch)).keep(np.array(switch), np.array(column))


def test_permutations_that_keep_all_fallbacks() -> None:
    """Two /24 below two /16; switches 0 and 1 discard the one and the other /16's part."""
    prefixes = destinations("10.1.1.0/24", "10.2.1.0/24", "10.1.0.0/16", "10.2.0.0/16")
    plain = [order for order in permutations(range(4)) if kept(prefixes, {}, [0, 1, 2], list(order))]
    assert plain == [(0, 1, 2, 3), (1, 0, 3, 2)]
    both = {0: "10.1.0.0/20", 1: "10.2.0.0/20"}
    assert kept(prefixes, both, [1, 0, 2], [1, 0, 3, 2])
    assert not kept(prefixes, both, [0, 1, 2], [1, 0, 3, 2])
    assert not kept(prefixes, both, [1, 0, 2], [0, 1, 2, 3])
    assert not kept(prefixes, {0: "10.1.0.0/20"}, [1, 0, 2], [1, 0, 3, 2])
    assert kept(prefixes, {0: "10.1.0.0/20"}, [0, 2, 1], [0, 1, 2, 3])


def test_lengths_that_overlap_are_never_kept() -> None:
    """With classes of several lengths the order of fallbacks counts, which `keep` does not follow."""
    prefixes = destinations("10.1.1.0/24 11.0.0.0/8", "10.1.0.0/16")
    assert not kept(prefixes, {}, [0, 1], [0, 1])
    fallbacks = Fallbacks(prefixes, [(), ()], 2)
    assert fallbacks.shortest.tolist() == [8, 16]


def test_without_fallbacks_every_permutation_is_kept() -> None:
    prefixes = destinations("10.1.1.0/24", "10.2.1.0/24")
    assert all(kept(prefixes, {0: "10.1.0.0/16"}, list(order), [1, 0]) for order in permutations(range(3)))
    assert Fallbacks(prefixes, [()], 1).shortest.tolist() == [0, 0]


def test_shortest_lengths() -> None:
    found = Fallbacks(destinations("10.1.1.0/24 10.2.0.0/20", "0.0.0.0/0", "fd00::/64", "10.0.0.0/8"), [(), ()], 2)
    assert found.shortest.tolist() == [20, 0, 64, 8]
    assert sorted(zip(found.column.tolist(), found.other.tolist(), strict=True)) == [(0, 3), (3, 1)]
