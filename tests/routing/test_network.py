"""Networks as arrays: every field by its definition, and what is left after links fail."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.routing.network import Network
from fabricgen.routing.routes import Routes
from fabricgen.routing.survivors import without_links
from tests.routing.networks import link_between, network_of, per_switch, policy_of


@st.composite
def networks(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """Up to seven switches, parallel links among them; some switches have no link."""
    switches = draw(st.integers(2, 7))
    pairs = [(a, b) for a in range(switches) for b in range(switches) if a != b]
    return switches, draw(st.lists(st.sampled_from(pairs), max_size=12))


def assert_consistent(network: Network) -> None:
    ends = list(zip(network.source.tolist(), network.target.tolist(), strict=True))
    assert ends == sorted(ends)
    for switch in range(network.switches):
        out = range(network.offsets[switch], network.offsets[switch + 1])
        assert list(out) == [link for link, (near, _) in enumerate(ends) if near == switch]
        into = network.incoming[network.incoming_offsets[switch] : network.incoming_offsets[switch + 1]]
        assert sorted(into.tolist()) == [link for link, (_, far) in enumerate(ends) if far == switch]
    assert network.offsets[-1] == network.incoming_offsets[-1] == network.links
    for link, (near, far) in enumerate(ends):
        back = int(network.reverse[link])
        assert ends[back] == (far, near)
        assert network.reverse[back] == link
        assert network.incoming[network.place[link]] == link


@given(networks())
def test_every_field(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    switches, pairs = drawn
    network = network_of(switches, pairs)
    assert (network.switches, network.links) == (switches, 2 * len(pairs))
    assert_consistent(network)
    for link, number in enumerate(network.order.tolist()):
        near, far = pairs[number // 2]
        expected = (near, far) if number % 2 == 0 else (far, near)
        assert (int(network.source[link]), int(network.target[link])) == expected


@given(networks(), st.data())
def test_survivors_are_the_network_of_the_links_left(
    drawn: tuple[int, list[tuple[int, int]]], data: st.DataObject
) -> None:
    switches, pairs = drawn
    network = network_of(switches, pairs)
    policy = policy_of(
        network, [*range(switches)], hears=np.arange(network.links) % 4, allowas_in=np.arange(network.links)
    )
    failed = data.draw(st.sets(st.integers(0, max(0, len(pairs) - 1)), max_size=4)) if pairs else set()
    dead = np.flatnonzero(np.isin(network.order // 2, list(failed)))
    left, remaining, kept = without_links(network, policy, dead)
    assert_consistent(left)
    assert kept.tolist() == [link for link in range(network.links) if link not in dead]
    assert (left.source == network.source[kept]).all()
    assert (left.target == network.target[kept]).all()
    assert (left.order == network.order[kept]).all()
    assert (remaining.hears == policy.hears[kept]).all()
    assert remaining.allowas_in.tolist() == kept.tolist()
    assert (remaining.asn == policy.asn).all()


def test_next_hops_by_name() -> None:
    """Both parallel links count as one next hop; a switch has no row for its own prefix."""
    network = network_of(3, [(0, 2), (0, 2), (1, 2)])
    nexthops = np.zeros((network.links, 1), np.uint64)
    nexthops[[link for link in range(network.links) if network.source[link] == 0]] = 0b10
    nexthops[link_between(network, 2, 1)] = 0b10
    nexthops[link_between(network, 1, 2)] = 0b01
    ambiguous = np.array([[0b10], [0b01], [0b00]], np.uint64)
    routes = Routes(per_switch(0, 1), nexthops, np.zeros((3, 1), np.uint64), ambiguous)
    assert routes.by_switch(network, ("a", "b", "c")) == {
        "a": {"10.0.1.0/24": ["c"]},
        "b": {"10.0.0.0/24": ["c"]},
        "c": {"10.0.1.0/24": ["b"]},
    }
    assert routes.ambiguous_sets == 2
