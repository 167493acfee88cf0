"""Values of this room never change after they are made."""

import fabricgen.rules
from tests.values import changeable_values, compared_by_identity, values_without_slots

VIEWS = {
    "QosTables",
    "PortClass",
    "Switch",
    "End",
    "NicPorts",
    "HostFiles",
    "Interface",
    "ManagerFile",
    "ManagedSubnet",
}


def test_values_are_frozen_and_have_slots() -> None:
    assert changeable_values(fabricgen.rules) == set()
    assert values_without_slots(fabricgen.rules) == set()


def test_views_of_files_are_compared_by_identity() -> None:
    assert compared_by_identity(fabricgen.rules) == VIEWS
