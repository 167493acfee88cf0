"""Limits of memory, the numbers of standards, and the defaults of routes."""

from fabricgen.routing import bgp, bits, endpoints, infiniband, possible, reachability
from fabricgen.routing.routes import Destination
from fabricgen.routing.spoken import AbsentSession, SpokenFabric
from fabricgen.routing.spoken_rows import AddressColumns

MIB = 2**20


def test_memory_stays_small() -> None:
    """Words have 8 bytes and 64 bits."""
    assert (bgp.WORDS_PER_PASS * 64, bits._ROWS_AT_ONCE) == (512, 1024)
    assert possible._WORDS_AT_ONCE * 8 == 256 * MIB
    assert possible._FEW_ASNS == 256
    assert infiniband._PACKETS_PER_PASS == 32 * 1024


def test_numbers_of_standards() -> None:
    """FRR gives routes of eBGP distance 20. A word is 64 bits; columns are never negative."""
    assert reachability._EBGP_DISTANCE == 20
    assert int(bits.ALL) == 2**64 - 1
    assert endpoints.NOT_ANNOUNCED < 0


def test_defaults() -> None:
    assert not Destination(("10.0.0.0/24",), (0,), 4).loopback
    one = AbsentSession("leaf", "10.0.0.1", "no row", inside=True)
    assert (one.follows, one.far, one.cause, one.session) == (False, "", ("", ()), frozenset())
    assert SpokenFabric({}, AddressColumns(), (), (one,), {}).down == frozenset()


def test_absent_sessions_are_equal_if_their_rows_and_reasons_are() -> None:
    """What explains the row is not compared."""
    plain = AbsentSession("leaf", "10.0.0.1", "no row", inside=True)
    more = AbsentSession(
        "leaf", "10.0.0.1", "no row", True, far="spine", cause=("spine", ("T",)), session=frozenset("x")
    )
    assert plain == more
    assert plain != AbsentSession("leaf", "10.0.0.1", "no row", inside=False)
