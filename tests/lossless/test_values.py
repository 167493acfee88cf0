"""Values of this room never change after they are made."""

import fabricgen.lossless
from tests.values import changeable_values, compared_by_identity, values_without_slots


def test_values_are_frozen_and_have_slots() -> None:
    assert changeable_values(fabricgen.lossless) == set()
    assert values_without_slots(fabricgen.lossless) == set()


def test_plans_of_many_ports_are_compared_by_identity() -> None:
    assert compared_by_identity(fabricgen.lossless) == {"LosslessPlan", "PortBuffers"}
