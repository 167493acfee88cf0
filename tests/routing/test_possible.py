"""The next hops that failures could bring about, against every path that the loop checks let through."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.routing import bits, possible
from fabricgen.routing.bgp import BgpPolicy, solve
from fabricgen.routing.network import Network
from fabricgen.routing.possible import possible_routes
from fabricgen.routing.survivors import without_links
from tests.routing.networks import Links, hops_of, network_of, per_switch, policy_of

# Two leaves (0, 1) under two spines (2, 3).
CLOS = network_of(4, [(0, 2), (0, 3), (1, 2), (1, 3)])


def possible_hops(network: Network, policy: BgpPolicy, switch: int, origin: int) -> set[int]:
    routes = possible_routes(network, policy, per_switch(*range(network.switches)))
    return hops_of(network, routes.nexthops, switch, origin)


def test_one_asn_for_the_spines_forbids_valleys() -> None:
    policy = policy_of(CLOS, [10, 11, 1, 1])
    assert possible_hops(CLOS, policy, 0, 1) == {2, 3}
    assert possible_hops(CLOS, policy, 2, 1) == {1}
    assert possible_hops(CLOS, policy, 2, 3) == set(), "every path leads over the ASN of both"


def test_distinct_spine_asns_allow_valleys() -> None:
    policy = policy_of(CLOS, [10, 11, 1, 2])
    assert possible_hops(CLOS, policy, 2, 1) == {0, 1}
    assert possible_hops(CLOS, policy, 2, 3) == {0, 1}
    assert possible_hops(CLOS, policy, 0, 1) == {2, 3}


def test_one_asn_of_ones_own_is_let_through() -> None:
    """A spine that takes its own ASN once accepts a path down and up again."""
    allowed = np.where(CLOS.source == 2, 1, 0)
    policy = policy_of(CLOS, [10, 11, 1, 1], allowas_in=allowed)
    assert possible_hops(CLOS, policy, 2, 1) == {0, 1}
    assert possible_hops(CLOS, policy, 3, 1) == {1}


def test_an_isolated_switch_announces_its_own_loopback_alone() -> None:
    isolated = np.array([False, False, True, False])
    policy = policy_of(CLOS, [10, 11, 1, 2], isolated=isolated)
    for loopback, own in ((False, set()), (True, {2})):
        routes = possible_routes(CLOS, policy, per_switch(0, 1, 2, 3, loopback=loopback))
        assert hops_of(CLOS, routes.nexthops, 0, 1) == {3}
        assert hops_of(CLOS, routes.nexthops, 0, 2) & {2} == own


@pytest.mark.parametrize(("hears", "four", "six"), [(0, set(), set()), (1, {2}, set()), (2, set(), {2}), (3, {2}, {2})])
def test_a_session_carries_its_families(hears: int, four: set[int], six: set[int]) -> None:
    network = network_of(3, [(0, 2), (1, 2)])
    policy = policy_of(network, [10, 11, 1], hears=np.where(network.source == 0, hears, 3).astype(np.uint8))
    for solved in (possible_routes, solve):
        routes = solved(network, policy, (*per_switch(1), *per_switch(1, family=6)))
        assert [hops_of(network, routes.nexthops, 0, column) for column in (0, 1)] == [four, six]
        assert hops_of(network, routes.nexthops, 2, 1) == {1}


def accepted_paths(network: Network, policy: BgpPolicy, origin: int) -> dict[int, set[int]]:
    """Per switch the neighbors through which some walk from the origin arrives that every switch on it accepts."""
    found: dict[int, set[int]] = {switch: set() for switch in range(network.switches)}
    asn, seen = policy.asn.tolist(), set()
    todo = [(origin, ())]
    while todo:
        here, path = todo.pop()
        for link in range(network.links):
            near, far = int(network.source[link]), int(network.target[link])
            offer = (asn[here], *path)
            if far != here or near == origin or offer.count(asn[near]) > policy.allowas_in[link]:
                continue
            found[near].add(here)
            if (near, offer) not in seen:
                seen.add((near, offer))
                todo.append((near, offer))
    return found


@st.composite
def fabrics(draw: st.DrawFn) -> tuple[int, Links, list[int], list[int]]:
    """Up to five switches of few ASNs: (switches, links, ASN, allowas-in by switch)."""
    switches = draw(st.integers(2, 5))
    asn = [draw(st.sampled_from([1, 2, 100 + number])) for number in range(switches)]
    pairs = [(a, b) for a in range(switches) for b in range(a) if asn[a] != asn[b]]
    links = draw(st.lists(st.sampled_from(pairs), max_size=6, unique=True)) if pairs else []
    return switches, links, asn, draw(st.lists(st.sampled_from([0, 0, 1]), min_size=switches, max_size=switches))


@given(fabrics())
def test_no_next_hop_of_an_accepted_path_is_left_out(fabric: tuple[int, Links, list[int], list[int]]) -> None:
    """A superset: a path may be counted that the loop check of a later switch refuses."""
    switches, links, asn, lenient = fabric
    network = network_of(switches, links)
    policy = policy_of(network, asn, allowas_in=np.array(lenient)[network.source])
    routes = possible_routes(network, policy, per_switch(*range(switches)))
    for origin in range(switches):
        for switch, neighbors in accepted_paths(network, policy, origin).items():
            assert neighbors <= hops_of(network, routes.nexthops, switch, origin)
            is_reached = switch == origin or bool(hops_of(network, routes.nexthops, switch, origin))
            assert bits.has(routes.reached, origin)[switch] == is_reached
            assert bits.has(routes.ambiguous, origin)[switch] == (is_reached and switch != origin)


@given(fabrics(), st.data())
def test_every_state_after_failures_is_covered(
    fabric: tuple[int, Links, list[int], list[int]], data: st.DataObject
) -> None:
    switches, links, asn, lenient = fabric
    network = network_of(switches, links)
    policy = policy_of(network, asn, allowas_in=np.array(lenient)[network.source])
    destinations = per_switch(*range(switches))
    routes = possible_routes(network, policy, destinations)
    failed = data.draw(st.sets(st.integers(0, len(links) - 1))) if links else set()
    left, after, kept = without_links(network, policy, np.flatnonzero(np.isin(network.order // 2, list(failed))))
    settled = solve(left, after, destinations)
    assert not (settled.nexthops & ~routes.nexthops[kept]).any()
    assert not (settled.reached & ~routes.reached).any()


def test_a_chain_of_shared_asns_is_exact() -> None:
    """ASNs 1 2 1 2 in a line: what lies behind an equal is refused."""
    line = network_of(4, [(0, 1), (1, 2), (2, 3)])
    routes = possible_routes(line, policy_of(line, [1, 2, 1, 2]), per_switch(0, 1, 2, 3))
    found = {(near, origin): hops_of(line, routes.nexthops, near, origin) for near in range(4) for origin in range(4)}
    assert {key: hops for key, hops in found.items() if hops} == {
        (0, 1): {1}, (1, 0): {0}, (1, 2): {2}, (2, 1): {1}, (2, 3): {3}, (3, 2): {2},
    }  # fmt: skip


def test_words_in_passes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """150 destinations are three words; one word at a time gives the same, and so does a fabric of more ASNs than are
    looked for one by one."""
    leaves = 150
    links = [(leaf, leaves + spine) for leaf in range(leaves) for spine in (0, 1)]
    network = network_of(leaves + 2, links)
    policy = policy_of(network, [*range(1000, 1000 + leaves), 7, 7])
    destinations = per_switch(*range(leaves))
    whole = possible_routes(network, policy, destinations)
    for leaf, other in ((0, 149), (63, 64), (128, 5)):
        assert hops_of(network, whole.nexthops, leaf, other) == {leaves, leaves + 1}
    assert hops_of(network, whole.nexthops, leaves, 130) == {130}
    widths: list[int] = []
    search = possible._Groups.search

    def counted(groups: possible._Groups, origin: bits.Words) -> tuple[bits.Words, bits.Words]:
        widths.append(origin.shape[1])
        return search(groups, origin)

    monkeypatch.setattr(possible, "_WORDS_AT_ONCE", 1)
    monkeypatch.setattr(possible, "_FEW_ASNS", 10)
    monkeypatch.setattr(possible._Groups, "search", counted)
    parts = possible_routes(network, policy, destinations)
    assert widths == [1, 1, 1]
    for one, other in ((whole.nexthops, parts.nexthops), (whole.reached, parts.reached)):
        assert (one == other).all()


@pytest.mark.parametrize(("few", "tracked"), [(3, [True] * 3), (2, [True, False, False])])
def test_asns_of_one_switch_are_not_tracked_if_there_are_many(
    few: int, tracked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ASNs 1 (of both spines), 10 and 11: a path can lead only over another switch of ASN 1."""
    monkeypatch.setattr(possible, "_FEW_ASNS", few)
    groups = possible._Groups.of(CLOS, policy_of(CLOS, [10, 11, 1, 1]), np.zeros(4, bool))
    assert (groups.tracked >= 0).tolist() == tracked
    assert len(groups.planes) == sum(tracked)
