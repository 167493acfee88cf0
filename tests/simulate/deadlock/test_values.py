"""Values of this room never change after they are made."""

import fabricgen.simulate.deadlock
from tests.values import changeable_values, compared_by_identity, values_without_slots

OF_ARRAYS = {"Ground", "State", "BufferDependencies", "Repaired", "SetJudge", "Symmetry", "_Graph", "_Merge"}


def test_values_are_frozen_and_have_slots() -> None:
    assert changeable_values(fabricgen.simulate.deadlock) == set()
    assert values_without_slots(fabricgen.simulate.deadlock) == set()


def test_states_of_arrays_are_compared_by_identity() -> None:
    assert compared_by_identity(fabricgen.simulate.deadlock) == OF_ARRAYS
