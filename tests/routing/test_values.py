"""Values of this room never change after they are made."""

import fabricgen.routing
from tests.values import changeable_values, compared_by_identity, values_without_slots


def test_values_are_frozen_and_have_slots() -> None:
    assert changeable_values(fabricgen.routing) == set()
    assert values_without_slots(fabricgen.routing) == set()


def test_the_state_of_a_run_is_compared_by_identity() -> None:
    assert compared_by_identity(fabricgen.routing) == {"Answers", "_Layers"}
