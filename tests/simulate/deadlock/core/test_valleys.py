"""Levels and ASNs that exclude valleys: known answers by hand, and the definition in plain Python."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.routing.routes import Destination
from fabricgen.simulate.deadlock.core.valleys import levels_without_valleys
from tests.examples import examples
from tests.routing.networks import Links, network_of, policy_of

Origins = Sequence[tuple[int, ...]]
LEAF_SPINE = [(leaf, spine) for leaf in (0, 1, 2) for spine in (3, 4)]
THREE_TIERS = [(0, 2), (1, 3), (2, 4), (2, 5), (3, 4), (3, 5)]  # leaves 0 and 1, middle 2 and 3, cores 4 and 5


def levels(
    links: Links, asn: Sequence[int], origins: Origins, hosts: Sequence[int], lenient: Sequence[int] = ()
) -> list[int] | None:
    """The levels, or None. One prefix for each of `origins`; the switches `lenient` accept paths with their ASN."""
    network = network_of(len(asn), links)
    allowas_in = np.isin(network.source, lenient).astype(np.int64)
    destinations = [Destination((f"10.0.{number}.0/24",), each, 4) for number, each in enumerate(origins)]
    fabric = SimpleNamespace(
        network=network, policy=policy_of(network, asn, allowas_in=allowas_in), destinations=destinations
    )
    sources = np.isin(np.arange(len(asn)), hosts)
    found = levels_without_valleys(fabric, SimpleNamespace(sources=sources, columns=list(range(len(origins)))))  # type: ignore[arg-type]
    return None if found is None else found.tolist()


ONE_SPINE_ASN = [101, 102, 103, 65000, 65000]
ONE_ASN_PER_TIER = [101, 102, 7, 8, 9, 9]


@pytest.mark.parametrize(
    ("asn", "origins", "expected"),
    [
        (ONE_SPINE_ASN, [(0,), (1,), (2,)], [0, 0, 0, 1, 1]),
        (ONE_SPINE_ASN, [(0,), (1, 2)], [0, 0, 0, 1, 1]),
        (ONE_SPINE_ASN, [(0, 1, 2)], [0, 0, 0, 1, 1]),
        (ONE_SPINE_ASN, [(0, 3)], None),
        ([101, 101, 101, 65000, 65000], [(0,), (1,), (2,)], [0, 0, 0, 1, 1]),
        ([101, 102, 103, 65000, 65001], [(0,), (1,), (2,)], None),
        ([101, 102, 103, 65000, 65001], [(0,)], None),
    ],
)
def test_leaf_spine(asn: list[int], origins: Origins, expected: list[int] | None) -> None:
    assert levels(LEAF_SPINE, asn, origins, (0, 1, 2)) == expected


@pytest.mark.parametrize(
    ("asn", "origins", "expected"),
    [
        (ONE_ASN_PER_TIER, [(0,), (1,)], [0, 0, 1, 1, 2, 2]),
        ([101, 102, 7, 8, 9, 10], [(0,), (1,)], None),
        ([101, 102, 7, 7, 9, 9], [(0, 1)], [0, 0, 1, 1, 2, 2]),
        (ONE_ASN_PER_TIER, [(0, 1)], None),
        (ONE_ASN_PER_TIER, [(2,), (3,)], [0, 0, 1, 1, 2, 2]),
        (ONE_ASN_PER_TIER, [(4, 5)], [0, 0, 1, 1, 2, 2]),
        (ONE_ASN_PER_TIER, [(2, 3)], [0, 0, 1, 1, 2, 2]),
    ],
)
def test_three_tiers(asn: list[int], origins: Origins, expected: list[int] | None) -> None:
    """Each prefix needs one ASN per tier above its own origins; a prefix of two pods needs one for both."""
    assert levels(THREE_TIERS, asn, origins, (0, 1)) == expected


def test_fabrics_without_levels() -> None:
    assert levels([(0, 2), (1, 2), (0, 1)], [1, 2, 3], [(0,)], (0, 1)) is None, "a link between leaves"
    assert levels([(0, 1)], [1, 2, 3], [(0,)], (0,)) is None, "switch 2 cannot be reached"
    assert levels([(0, 1), (1, 2), (2, 3), (3, 0)], [1, 2, 3, 2], [(0,)], (0,)) == [0, 1, 2, 1]
    assert levels([(0, 1), (1, 2), (2, 0)], [1, 2, 3], [(0,)], (0,)) is None, "a link between two of level 1"
    assert levels([(0, 1)], [1, 2], [(0,)], ()) is None, "no hosts"


def test_only_leaves_may_accept_their_own_asn() -> None:
    origins = [(0,), (1,), (2,)]
    assert levels(LEAF_SPINE, ONE_SPINE_ASN, origins, (0, 1, 2), lenient=(0, 1, 2)) == [0, 0, 0, 1, 1]
    assert levels(LEAF_SPINE, ONE_SPINE_ASN, origins, (0, 1, 2), lenient=(4,)) is None


def plain(links: Links, asn: Sequence[int], origins: Origins, hosts: Sequence[int]) -> list[int] | None:
    """The definition: adjacent levels, and one ASN on each level above any switch and any prefix."""
    near = {one: {a + b - one for a, b in links if one in (a, b)} for one in range(len(asn))}
    level, front = dict.fromkeys(hosts, 0), set(hosts)
    while front:
        front = {far for one in front for far in near[one]} - level.keys()
        level |= dict.fromkeys(front, 1 + max(level.values(), default=0))
    if len(level) < len(asn) or any(abs(level[a] - level[b]) != 1 for a, b in links):
        return None
    for group in [*((one,) for one in range(len(asn))), *origins]:
        if len({level[one] for one in group}) > 1:
            return None
        above = set(group)
        while above:
            above = {far for one in above for far in near[one] if level[far] > level[one]}
            if len({asn[one] for one in above}) > 1:
                return None
    return [level[one] for one in range(len(asn))]


@st.composite
def tiers(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[int], list[tuple[int, ...]], list[int]]:
    """Up to three tiers with most links, few ASNs for each tier, prefixes of one or two switches."""
    low, middle, top = (draw(st.integers(least, 3)) for least in (1, 1, 0))
    size = low + middle + top
    possible = [(a, low + b) for a in range(low) for b in range(middle)]
    possible += [(low + a, low + middle + b) for a in range(middle) for b in range(top)]
    missing = draw(st.sets(st.sampled_from(possible), max_size=2))
    asn = [100 + one for one in range(low)]
    asn += [200 + draw(st.integers(0, 3)) // 3 for _ in range(middle)]
    asn += [300 + draw(st.integers(0, 3)) // 3 for _ in range(top)]
    pairs = st.sets(st.integers(0, size - 1), min_size=1, max_size=2).map(lambda one: tuple(sorted(one)))
    return [one for one in possible if one not in missing], asn, draw(st.lists(pairs, max_size=3)), list(range(low))


@settings(max_examples=examples(200))
@given(tiers())
def test_levels_are_those_of_the_definition(
    drawn: tuple[list[tuple[int, int]], list[int], list[tuple[int, ...]], list[int]],
) -> None:
    assert levels(*drawn) == plain(*drawn)
