"""How often an ASN is in a path, hop by hop, on a line of switches."""

import numpy as np

from fabricgen.routing import bits
from fabricgen.routing.bgp import AsnCounts
from tests.routing.networks import link_between, network_of

LINE = network_of(4, [(0, 1), (1, 2), (2, 3)])
ASN = np.array([1, 20, 1, 30])


def words(*switches: int) -> bits.Words:
    """One destination, with a bit for these switches."""
    return np.array([[np.uint64(switch in switches)] for switch in range(4)])


def counts(allowed: int, tracked: tuple[int, ...] = (1,)) -> AsnCounts:
    """Switch 0 announces the destination."""
    return AsnCounts(LINE, ASN, np.full(LINE.links, allowed), np.array(tracked), words(0))


def extended(known: AsnCounts, near: int, far: int, before: tuple[int, ...]) -> bool:
    """Whether anything changes when `near` hears the path of `far`."""
    link = np.array([link_between(LINE, near, far)])
    return known.extend(link, np.ones((1, 1), np.uint64), np.array([0]), words(near), words(*before))


def holders(plane: bits.Words) -> set[int]:
    return set(np.flatnonzero(plane[:, 0]).tolist())


def test_planes_grow_along_a_path() -> None:
    """The path of switch 2 has ASN 1 twice: once from switch 0 and once its own."""
    known = counts(allowed=1)
    assert [len(known.may[0]), len(known.must[0])] == [2, 2]
    assert extended(known, 1, 0, before=(0,))
    assert extended(known, 2, 1, before=(0, 1))
    assert extended(known, 3, 2, before=(0, 1, 2))
    for planes in (known.may[0], known.must[0]):
        assert holders(planes[0]) == {0, 1, 2, 3}
        assert holders(planes[1]) == {2, 3}


def test_a_path_that_is_known_changes_nothing() -> None:
    known = counts(allowed=0)
    assert extended(known, 1, 0, before=(0,))
    assert not extended(known, 1, 0, before=(0, 1))
    assert not known.extend(np.empty(0, np.int64), np.empty((0, 1), np.uint64), np.array([]), words(), words(0))


def test_a_change_of_the_first_asn_is_remembered() -> None:
    """ASN 30 is on no path from switch 0 to switch 1."""
    known = counts(allowed=0, tracked=(1, 30))
    assert extended(known, 1, 0, before=(0,))
    assert (holders(known.may[0][0]), holders(known.may[1][0])) == ({0, 1}, set())


def test_a_receiver_refuses_its_own_asn() -> None:
    """Switch 2 hears of switch 0 over switch 1: ASN 1 once, which is one time too often."""
    for allowed, accepted in ((0, False), (1, True)):
        known = counts(allowed)
        extended(known, 1, 0, before=(0,))
        offer = np.ones((1, 1), np.uint64)
        certain = known.check(np.array([link_between(LINE, 2, 1)]), offer)
        assert bool(certain.any()) is bool(offer.any()) is accepted
        assert known.has_refused is not accepted
