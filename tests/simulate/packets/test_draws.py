"""The random numbers of ns-3: MRG32k3a, a stream for each draw."""

from typing import Any

import numpy as np
import pytest

from tests.simulate.packets.running import finished, star

from fabricgen.simulate.compilation import compiled  # isort: skip
from fabricgen.simulate.packets.draws import STREAM_BITS, SUBSTREAM_BITS, draw, first_stream, jump  # isort: skip

M1, M2 = 4294967087, 4294944443


@compiled
def draw_all(run: Any, into: Any) -> None:
    for place in range(len(into)):
        into[place] = draw(run, 0, 0)


def step(state: list[int]) -> list[int]:
    """The next state of the generator, as published."""
    low = (1403580 * state[1] - 810728 * state[0]) % M1
    high = (527612 * state[5] - 1370589 * state[3]) % M2
    return [state[1], state[2], low, state[4], state[5], high]


def number(state: list[int]) -> float:
    """The number of a state that was just made."""
    return ((state[2] - state[5]) % M1 or M1) / (M1 + 1)


def jumped(state: list[int], steps: int) -> list[int]:
    """The state after many steps."""
    low, high = (jump(one, steps) @ state[3 * one : 3 * one + 3] for one in range(2))
    return [*(low % M1).tolist(), *(high % M2).tolist()]


def test_first_number_is_the_published_one() -> None:
    """The output of the authors' example program, whose seed is 12345."""
    assert number(step([12345] * 6)) == pytest.approx(0.127011122046577, abs=1e-15)


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 1000])
def test_a_jump_is_that_many_steps(steps: int) -> None:
    state = [11, 22, 33, 44, 55, 66]
    expected = state
    for _ in range(steps):
        expected = step(expected)
    assert jumped(state, steps) == expected


def test_each_draw_is_the_first_number_of_the_next_stream() -> None:
    nodes, seed = 3, 5
    run = finished(star(1, 1000, compat="hpcc")).network.run._replace(streams=first_stream(seed, nodes))
    state = jumped([1] * 6, ((6 * nodes + 2) << STREAM_BITS) + (seed << SUBSTREAM_BITS))
    drawn = np.zeros(50)
    draw_all(run, drawn)
    for found in drawn.tolist():
        assert found == pytest.approx(number(step(state)), abs=1e-15)
        state = jumped(state, 1 << STREAM_BITS)


def test_runs_differ_by_their_seed() -> None:
    assert first_stream(1, 10).tolist() != first_stream(2, 10).tolist()
