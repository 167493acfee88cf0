"""Laws of giving out aligned runs."""

import hypothesis.strategies as st
from hypothesis import given, settings

from fabricgen.allocation.pools import Run, block_size

_SIZES = st.lists(st.sampled_from([1, 2, 4, 8, 16]), max_size=40)


def free_of(run: Run, taken: list[tuple[int, int]], size: int) -> int | None:
    """The slow twin: the first aligned run that nothing touches."""
    for first in range(run.first + -run.first % size, run.last - size + 2, size):
        if all(last < first or low > first + size - 1 for low, last in taken):
            return first
    return None


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(1, 200), _SIZES, st.lists(st.tuples(st.integers(0, 500), st.integers(0, 20))))
def test_runs_never_overlap_are_aligned_and_the_first_that_is_free(
    first: int, length: int, sizes: list[int], held: list[tuple[int, int]]
) -> None:
    run = Run(first, first + length - 1)
    taken: list[tuple[int, int]] = []
    for low, more in held:
        fits = run.first <= low and low + more <= run.last
        free = all(last < low or other > low + more for other, last in taken)
        assert run.take(low, low + more) is (fits and free)
        if fits and free:
            taken.append((low, low + more))
    for size in sizes:
        expected = free_of(run, taken, size)
        given_first = run.give(size)
        assert given_first == expected
        if given_first is None:
            continue
        assert given_first % size == 0
        taken.append((given_first, given_first + size - 1))


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=8), st.sampled_from([1, 2, 4]))
def test_what_is_kept_back_is_never_given(blocks: list[tuple[int, int]], size: int) -> None:
    run = Run(0, 63)
    for low, more in blocks:
        run.block(low, min(63, low + more))
    while (first := run.give(size)) is not None:
        assert all(first > low + more or first + size - 1 < low for low, more in blocks)


@given(st.integers(1, 5000))
def test_a_block_has_two_addresses_for_each_slot(slots: int) -> None:
    size = block_size(slots)
    assert size >= 2 * slots > size // 2
    assert size & (size - 1) == 0
