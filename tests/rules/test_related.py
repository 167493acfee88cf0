"""A finding that speaks of two switches shows both; one about a reference shows what it refers to."""

import re
from pathlib import Path

import pytest

from tests.rules.case import Case, Switches
from tests.rules.changes import put
from tests.rules.clean import clean_fabric
from tests.rules.test_cases import CASES

# The name in the message is that of a switch that the row had better name, or of one that only bears the prefix or ASN.
_NO_PLACE_THERE = {"FG245", "FG246", "FG334", "FG336", "FG389", "FG392", "FG596"}


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if isinstance(case.clean, Switches) and case.code not in _NO_PLACE_THERE and not case.lenient
    ],
    ids=lambda case: case.code,
)
def test_the_other_switch_is_shown(case: Case, tmp_path: Path) -> None:
    for finding in case.findings(tmp_path, (case.code,)):
        switches = [folder.name for folder in (tmp_path / "sonic").iterdir()]
        named = {name for name in switches if re.search(rf"\b{name}\b", finding.message)} - {finding.device}
        shown = {Path(related.location.file).parent.name for related in finding.related}
        assert named <= shown, finding.message


def test_a_definition_is_shown() -> None:
    fabric = clean_fabric()
    put("scheduler.1", "leaf1", "QUEUE", "Ethernet256|1", "scheduler")(fabric.configs)
    (finding,) = [one for one in fabric.judge() if one.path == "QUEUE|Ethernet256|1|scheduler"]
    defined = {one.message: one.location.line for one in finding.related}["scheduler.1 is defined here"]
    text = fabric.bundle().devices["leaf1"].text.decode().splitlines()
    assert text[defined - 1].strip() == '"scheduler.1": {'
