"""Values of this room never change after they are made."""

import fabricgen.lossless
from tests.values import changeable_values


def test_values_are_frozen() -> None:
    assert changeable_values(fabricgen.lossless) == []
