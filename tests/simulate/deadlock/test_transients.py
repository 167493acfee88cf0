"""Paths of a neighbor around the switch that has lost its link."""

from types import SimpleNamespace
from typing import Any

import pytest

from fabricgen.routing.bgp import solve
from fabricgen.simulate.deadlock.transients import _has_path_around
from tests.routing.networks import network_of, per_switch, policy_of

# Switch 0 reaches switch 4 over 1 and 2, and 3 is behind 2: 0-1-4, 0-2-4 and 2-3.
LINKS = [(0, 1), (0, 2), (1, 4), (2, 4), (2, 3)]


@pytest.mark.parametrize(
    ("asn", "start", "struck", "around"),
    [
        ([10, 1, 2, 3, 4], 0, 1, True),
        ([10, 1, 1, 3, 4], 0, 1, False),
        ([10, 1, 2, 3, 4], 3, 1, True),
        ([10, 1, 2, 3, 4], 3, 2, False),
        ([10, 1, 2, 3, 4], 4, 1, True),
    ],
    ids=["over the other", "both have one ASN", "two hops", "no other way", "the origin itself"],
)
def test_a_path_without_the_asn_of_the_struck_switch(asn: list[int], start: int, struck: int, around: bool) -> None:
    network = network_of(5, LINKS)
    policy = policy_of(network, asn)
    routes = solve(network, policy, per_switch(4))
    evidence: Any = SimpleNamespace(fabric=SimpleNamespace(network=network, policy=policy), routes=routes)
    assert _has_path_around(evidence, routes.nexthops, start, struck, 0) is around
