"""The bit-parallel solver against its slow twin, on random small fabrics with random ASN plans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.routing import bgp, bits
from fabricgen.routing.bgp import BgpPolicy, solve
from fabricgen.routing.network import Network, build_network
from fabricgen.routing.routes import Destination, Routes
from tests.routing.networks import hops_of, network_of, per_switch, policy_of
from tests.routing.path_vector import SmallFabric

HISTORIES = 6


def solved(fabric: SmallFabric, loopbacks: bool = False) -> tuple[Network, Routes]:
    switches = len(fabric.asn)
    network = build_network(switches, [a for a, _ in fabric.links], [b for _, b in fabric.links])
    policy = BgpPolicy(
        asn=np.array(fabric.asn, np.int64),
        isolated=np.array([u in fabric.isolated for u in range(switches)]),
        multipath_relax=np.array([fabric.relax.get(u, True) for u in range(switches)]),
        maximum_paths=np.full(switches, 514),
        hears=np.ones(network.links, np.uint8),
        allowas_in=np.array(fabric.allowas_in, np.int64)[network.source],
    )
    destinations = tuple(Destination((f"10.0.{u}.0/24",), (u,), 4, loopbacks) for u in range(switches))
    return network, solve(network, policy, destinations)


def sets_of(network: Network, routes: Routes, switch: int, column: int) -> frozenset[int]:
    links = range(network.offsets[switch], network.offsets[switch + 1])
    return frozenset(int(network.target[link]) for link in links if column in bits.columns_of(routes.nexthops[link]))


@st.composite
def fabrics(draw: st.DrawFn) -> SmallFabric:
    switches = draw(st.integers(2, 8))
    asn = [draw(st.sampled_from([1, 2, 3, 100 + u, 100 + u])) for u in range(switches)]
    pairs = [(a, b) for a in range(switches) for b in range(a) if asn[a] != asn[b]]
    links = draw(st.lists(st.sampled_from(pairs), max_size=16)) if pairs else []
    lenient = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=switches, max_size=switches))
    isolated = frozenset(draw(st.lists(st.integers(0, switches - 1), max_size=1)))
    strict = draw(st.lists(st.integers(0, switches - 1), max_size=1))
    return SmallFabric(asn, links, lenient, isolated, dict.fromkeys(strict, False))


@given(fabrics(), st.booleans())
def test_solver_agrees_with_its_twin(fabric: SmallFabric, loopbacks: bool) -> None:
    network, routes = solved(fabric, loopbacks)
    for origin in range(len(fabric.asn)):
        histories = [fabric.settle(origin, seed, loopbacks) for seed in range(HISTORIES)]
        for switch in range(len(fabric.asn)):
            ours = sets_of(network, routes, switch, origin)
            unsure = origin in bits.columns_of(routes.ambiguous[switch])
            for sets in histories:
                theirs = sets.get(switch, frozenset())
                assert theirs <= ours if unsure else theirs == ours


@given(st.integers(2, 6), st.integers(1, 4), st.booleans(), st.integers(0, 3))
def test_leaf_spine_is_never_ambiguous(leaves: int, spines: int, shared: bool, broken: int) -> None:
    """Where a tier shares one ASN or each switch has its own, tie-breaking cannot matter."""
    asn = [*range(100, 100 + leaves), *([1] * spines if shared else range(1, 1 + spines))]
    links = [(leaf, leaves + spine) for leaf in range(leaves) for spine in range(spines)][broken:]
    _, routes = solved(SmallFabric(asn, links, [0] * len(asn)))
    assert routes.ambiguous_sets == 0


def test_more_than_one_word_of_destinations() -> None:
    """200 leaves under two spines: four words, and every leaf reaches every other over both spines."""
    leaves = 200
    links = [(leaf, leaves + spine) for leaf in range(leaves) for spine in (0, 1)]
    fabric = SmallFabric([*range(1000, 1000 + leaves), 7, 7], links, [0] * (leaves + 2))
    network, routes = solved(fabric)
    for leaf, other in ((0, 199), (63, 64), (128, 5)):
        assert sets_of(network, routes, leaf, other) == {leaves, leaves + 1}
    assert sets_of(network, routes, leaves, leaves + 1) == frozenset()


def test_words_per_pass_change_nothing() -> None:
    fabric = SmallFabric([*range(1000, 1150), 7, 7, 8], [(u, 150 + s) for u in range(150) for s in range(3)], [0] * 153)
    network, whole = solved(fabric)
    policy = BgpPolicy(
        np.array(fabric.asn, np.int64), np.zeros(153, bool), np.ones(153, bool), np.full(153, 514),
        np.ones(network.links, np.uint8), np.zeros(network.links, np.int64),
    )  # fmt: skip
    narrow = solve(network, policy, whole.destinations, words_per_pass=1)
    assert (narrow.nexthops == whole.nexthops).all()
    assert (narrow.ambiguous == whole.ambiguous).all()


def shortest_hops(fabric: SmallFabric, origin: int) -> dict[int, frozenset[int]]:
    """Next hops of shortest paths by the wiring alone."""
    peers: dict[int, set[int]] = {switch: set() for switch in range(len(fabric.asn))}
    for a, b in fabric.links:
        peers[a].add(b)
        peers[b].add(a)
    length = {origin: 0}
    layer = [origin]
    for switch in layer:
        for far in sorted(peers[switch] - length.keys()):
            length[far] = length[switch] + 1
            layer.append(far)
    return {u: frozenset(v for v in peers[u] if length.get(v) == length[u] - 1) for u in layer if u != origin}


@given(fabrics())
def test_without_a_refused_path_routes_are_the_shortest_ones(fabric: SmallFabric) -> None:
    plain = SmallFabric(fabric.asn, fabric.links, fabric.allowas_in)
    network, routes = solved(plain)
    if routes.plain:
        for origin in range(len(fabric.asn)):
            expected = shortest_hops(plain, origin)
            for switch in range(len(fabric.asn)):
                assert sets_of(network, routes, switch, origin) == expected.get(switch, frozenset())


def test_a_refused_path_is_noticed() -> None:
    """Leaf 0 at spine 2 and leaf 1 at spine 3, leaf 4 at both: the spines share an ASN, so 2 refuses the way to 1."""
    links = [(0, 2), (1, 3), (4, 2), (4, 3)]
    asn = [10, 11, 1, 1, 12]
    network, routes = solved(SmallFabric(asn, links, [0] * 5))
    assert not routes.plain
    assert sets_of(network, routes, 0, 1) == frozenset()
    assert sets_of(network, routes, 2, 1) == frozenset()
    distinct, free = solved(SmallFabric([10, 11, 1, 2, 12], links, [0] * 5))
    assert free.plain
    assert sets_of(distinct, free, 0, 1) == {2}
    lenient, allowed = solved(SmallFabric(asn, links, [0, 0, 1, 0, 0]))
    assert sets_of(lenient, allowed, 2, 1) == {4}
    assert sets_of(lenient, allowed, 0, 1) == {2}


def test_own_asn_is_allowed_as_often_as_configured() -> None:
    """A line in which every other switch has ASN 1: the n-th of them needs allowas-in n to hear the first switch."""
    asn = [9, 1, 20, 1, 21, 1, 22, 1]
    links = [(number, number + 1) for number in range(len(asn) - 1)]
    for allowed in range(4):
        network, routes = solved(SmallFabric(asn, links, [allowed] * len(asn)))
        heard = [switch for switch in range(1, len(asn)) if sets_of(network, routes, switch, 0)]
        assert heard == list(range(1, min(len(asn), 2 * allowed + 3)))


def test_a_choice_of_history_spreads_and_ends() -> None:
    """Switch 3 has two equal paths and advertises one of them; whether 4 accepts it depends on which."""
    links = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)]
    asn = [10, 1, 2, 30, 1, 50]
    network, routes = solved(SmallFabric(asn, links, [0] * 6))
    unsure = [switch for switch in range(6) if 0 in bits.columns_of(routes.ambiguous[switch])]
    assert unsure == [4, 5]
    assert sets_of(network, routes, 4, 0) == {3}
    assert sets_of(network, routes, 3, 0) == {1, 2}
    assert bits.has(routes.reached, 0).all()


def test_what_may_be_reached_is_followed_to_the_end() -> None:
    """One destination, and five switches behind the one that may refuse the path: nothing is certain any more."""
    links = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), *((number, number + 1) for number in range(4, 9))]
    network = network_of(10, links)
    policy = policy_of(network, [10, 1, 2, 30, 1, 50, 51, 52, 53, 54])
    routes = solve(network, policy, per_switch(0))
    assert bits.has(routes.reached, 0).all()
    assert np.flatnonzero(bits.has(routes.ambiguous, 0)).tolist() == [4, 5, 6, 7, 8, 9]
    assert [hops_of(network, routes.nexthops, switch, 0) for switch in (3, 4, 8, 9)] == [{1, 2}, {3}, {7}, {8}]


def test_isolated_switches_announce_their_own_loopbacks() -> None:
    links = [(0, 1), (1, 2)]
    for loopbacks in (False, True):
        network, routes = solved(SmallFabric([1, 2, 3], links, [0] * 3, frozenset({1})), loopbacks)
        assert sets_of(network, routes, 0, 2) == frozenset(), "nothing passes an isolated switch"
        assert sets_of(network, routes, 1, 2) == {2}
        assert sets_of(network, routes, 0, 1) == (frozenset({1}) if loopbacks else frozenset())


def test_a_loop_check_that_matters_only_after_another() -> None:
    """Switches 1 and 3 share an ASN, so 3 refuses the path to 0. Only then 4 hears of 0 over 8, which has its ASN."""
    asn = [10, 1, 20, 1, 2, 21, 22, 23, 2, 24]
    links = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 4)]
    fabric = SmallFabric(asn, links, [0] * len(asn))
    network, routes = solved(fabric)
    expected = fabric.settle(0, seed=1)
    assert {3, 4}.isdisjoint(expected)
    for switch in range(len(asn)):
        assert sets_of(network, routes, switch, 0) == expected.get(switch, frozenset())


@pytest.mark.parametrize(("spine_asns", "runs"), [((1, 2), 1), ((1, 1), 2)])
def test_loop_checks_are_computed_only_where_they_can_matter(
    spine_asns: tuple[int, int], runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two spines of one ASN reach each other over the leaves; with distinct ASNs one run is enough."""
    tracked: list[int] = []
    layers = bgp._Solver.layers

    def counted(solver: bgp._Solver, columns: bits.Indices, asns: bits.Indices) -> bgp._Layers:
        tracked.append(len(asns))
        return layers(solver, columns, asns)

    monkeypatch.setattr(bgp._Solver, "layers", counted)
    solved(SmallFabric([10, 11, *spine_asns], [(0, 2), (0, 3), (1, 2), (1, 3)], [0] * 4))
    assert tracked == [0, 1][:runs]
