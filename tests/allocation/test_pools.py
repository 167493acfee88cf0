"""Laws of aligned runs, and of address pools without their reserved addresses."""

import ipaddress

import hypothesis.strategies as st
from hypothesis import given, settings
from netaddr import IPNetwork, IPSet

from fabricgen.allocation.pools import NumberPool, address_pool, block_size

_SIZES = st.lists(st.sampled_from([1, 2, 4, 8, 16]), max_size=40)
_RANGES = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 20)), max_size=12)


def lowest_free(free: set[int], size: int) -> int | None:
    """The same result as `Pool.give`, from a set of free numbers."""
    firsts = (first for first in sorted(free) if first % size == 0)
    return next((first for first in firsts if free.issuperset(range(first, first + size))), None)


def ranges(numbers: set[int]) -> list[tuple[int, int]]:
    """The numbers as maximal ranges."""
    firsts = sorted(number for number in numbers if number - 1 not in numbers)
    lasts = sorted(number for number in numbers if number + 1 not in numbers)
    return list(zip(firsts, lasts, strict=True))


@settings(deadline=None)
@given(st.sets(st.integers(0, 300), max_size=250), _RANGES, _SIZES)
def test_a_pool_gives_the_lowest_aligned_free_run(
    numbers: set[int], taken: list[tuple[int, int]], sizes: list[int]
) -> None:
    pool, free = NumberPool(ranges(numbers)), set(numbers)
    for first, more in taken:
        wanted = set(range(first, first + more + 1))
        assert pool.take(first, first + more) is (wanted <= free)
        if wanted <= free:
            free -= wanted
    for size in sizes:
        first_given = lowest_free(free, size)
        assert pool.give(size) == first_given
        if first_given is not None:
            free -= set(range(first_given, first_given + size))


@settings(deadline=None)
@given(_SIZES, _RANGES)
def test_numbers_can_be_taken_after_some_were_given(sizes: list[int], taken: list[tuple[int, int]]) -> None:
    pool, free = NumberPool([(0, 255)]), set(range(256))
    for size, (first, more) in zip(sizes, taken, strict=False):
        wanted = set(range(first, first + more + 1))
        assert pool.take(first, first + more) is (wanted <= free)
        free -= wanted if wanted <= free else set()
        first_given = pool.give(size)
        assert first_given == lowest_free(free, size)
        if first_given is not None:
            free -= set(range(first_given, first_given + size))


@settings(deadline=None)
@given(
    st.sampled_from(["10.1.2.0/25", "fd00:1::/121"]),
    st.lists(st.tuples(st.integers(0, 255), st.integers(0, 8)), max_size=6),
)
def test_reserved_addresses_are_never_given(prefix: str, reserved: list[tuple[int, int]]) -> None:
    network = ipaddress.ip_network(prefix)
    first = int(network.network_address)
    parts = [
        ipaddress.ip_network((first + offset, network.max_prefixlen - bits), strict=False) for offset, bits in reserved
    ]
    pool = address_pool(IPNetwork(prefix), IPSet(map(str, parts)))
    given_out = set()
    while (number := pool.give(1)) is not None:
        given_out.add(network.network_address + (number - first))
    assert given_out == {address for address in network if not any(address in part for part in parts)}


@given(st.integers(1, 5000))
def test_a_block_has_two_addresses_for_each_slot(slots: int) -> None:
    size = block_size(slots)
    assert size >= 2 * slots > size // 2
    assert size & (size - 1) == 0
