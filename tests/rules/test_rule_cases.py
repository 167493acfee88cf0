"""Every rule: silent on a clean fabric, speaks at the right place of a broken one, and has a whole doc page."""

import importlib
import re
from pathlib import Path

import pytest

from fabricgen.findings import Severity
from fabricgen.rules.registry import all_rules, chosen_rules, explain_text
from tests.rules.cases import Case
from tests.rules.clean import PLATFORMS, clean_fabric
from tests.rules.host_cases import HOST_CASES
from tests.rules.opensm.cases import BAD as SUBNET_CASES

CASES: list[Case] = [
    case
    for file in sorted(Path(__file__).parent.glob("cases_*.py"))
    for case in importlib.import_module(f"tests.rules.{file.stem}").CASES
]


@pytest.mark.parametrize("model", PLATFORMS)
def test_clean_fabric_has_no_finding(model: str) -> None:
    assert clean_fabric(model).judge() == []


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case.code}" for n, case in enumerate(CASES)])
def test_one_change_gives_one_finding_at_its_place(case: Case) -> None:
    fabric = clean_fabric(case.model)
    if case.plug:
        case.plug(fabric)
    device, _, path = case.change(fabric.configs).partition(":")
    findings = fabric.judge()
    there = [finding for finding in findings if finding.code == case.code and finding.device == device]
    assert [finding.path for finding in there] == [case.path or path], findings
    location = there[0].location
    assert location and location.line >= 1 and location.file.endswith(f"{device}/config_db.json")
    others = [one for one in findings if one not in there and one.code not in case.also]
    if not case.lenient:
        assert [(one.code, one.device) for one in others] == [(case.code, other) for other in case.also_at], others


def test_every_rule_has_a_bad_case() -> None:
    files_gone = {"FG220"}  # a change of no file: tests/cli/test_broken_files.py
    cases = {case.code for case in (*CASES, *HOST_CASES, *SUBNET_CASES)}
    assert {rule.code for rule in all_rules()} == cases | files_gone


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_rule_has_a_whole_doc_page(rule) -> None:  # type: ignore[no-untyped-def]
    page = explain_text(rule.code.lower())
    assert page and rule.title in page and re.fullmatch(r"FG[2-9]\d\d", rule.code)
    sections = re.findall(r"^(What|Why|Example|Fix|Source): \S", page, re.MULTILINE)
    assert sections == ["What", "Why", "Example", "Fix", "Source"]


def test_rules_are_chosen_by_code_prefix() -> None:
    codes = {rule.code for rule in chosen_rules(["FG51", "fg52"], ["FG512"])}
    assert "FG511" in codes and "FG512" not in codes
    assert all(code.startswith(("FG51", "FG52")) for code in codes)
    assert explain_text("FG000") is None


def test_equal_defects_of_a_switch_are_one_finding_with_a_count() -> None:
    fabric = clean_fabric()
    for port, row in fabric.configs["leaf1"]["PORT_QOS_MAP"].items():
        if port != "global":
            row["pfcwd_sw_enable"] = "3"
    (finding,) = fabric.judge("FG512")
    assert (finding.count, finding.severity) == (5, Severity.ERROR)
