"""docs/pitfalls-infiniband.md is complete: each pitfall has codes and a bad case that they find, or a reason."""

import re
from pathlib import Path

from fabricgen.report.pages import pages
from tests.rules.opensm.cases import CASES, GOOD
from tests.shared_material import shared

PAGE = Path(__file__).parents[3] / "docs" / "pitfalls-infiniband.md"
NOT_SHOWN = {5, 37, 42, 50}


def rows() -> dict[int, str]:
    """Number of the pitfall -> the last column."""
    found = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", PAGE.read_text(), re.MULTILINE)
    return {int(number): text for number, text in found}


def promised(number: int) -> set[str]:
    """The codes of rules that the page has for a pitfall."""
    return set(re.findall(r"FG8[123]\d", rows()[number]))


def test_all_fifty_are_there() -> None:
    assert sorted(rows()) == list(range(1, 51))


def test_only_codes_that_exist() -> None:
    named = set(re.findall(r"FG\d{3}", PAGE.read_text()))
    assert named <= set(pages())


def test_each_has_cases_of_all_its_codes_or_a_reason() -> None:
    cases = {number: {case.code for case in CASES if number in case.pitfalls} for number in range(1, 51)}
    assert {number for number, codes in cases.items() if not codes} == NOT_SHOWN
    good = {case.code for case in GOOD}
    for number in set(range(1, 51)) - NOT_SHOWN:
        assert cases[number] == promised(number), number
        assert promised(number) <= good, number


def test_they_are_those_that_were_collected() -> None:
    text = shared("facts", "pitfalls_infiniband.md").read_text()
    assert len(re.findall(r"^\| \d+ \| [EWI] \|", text, re.MULTILINE)) == len(rows())
