"""A finding that speaks of two switches shows both; one about a reference shows what it refers to."""

import re

import pytest

from tests.rules.cases import Case, put
from tests.rules.clean import clean_fabric
from tests.rules.test_rule_cases import CASES

# The name in the message is that of a switch that the row had better name, or of one that only bears the prefix or ASN.
_NO_PLACE_THERE = {"FG245", "FG246", "FG334", "FG336", "FG389", "FG392", "FG596"}


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.code not in _NO_PLACE_THERE and not case.lenient],
    ids=lambda case: case.code,
)
def test_the_other_switch_is_shown(case: Case) -> None:
    fabric = clean_fabric(case.model)
    if case.plug:
        case.plug(fabric)
    case.change(fabric.configs)
    for finding in fabric.judge(case.code):
        named = {name for name in fabric.configs if re.search(rf"\b{name}\b", finding.message)} - {finding.device}
        shown = {related.location.file.split("/")[1] for related in finding.related}
        assert named <= shown, finding.message


def test_a_definition_is_shown() -> None:
    fabric = clean_fabric()
    put("scheduler.0", "leaf1", "QUEUE", "Ethernet0|3", "scheduler")(fabric.configs)
    (finding,) = [one for one in fabric.judge() if one.path == "QUEUE|Ethernet0|3|scheduler"]
    defined = {one.message: one.location.line for one in finding.related}["scheduler.0 is defined here"]
    text = fabric.bundle().devices["leaf1"].text.decode().splitlines()
    assert text[defined - 1].strip() == '"scheduler.0": {'
