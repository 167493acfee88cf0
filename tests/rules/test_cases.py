"""Every rule finds its bad cases, completely described, and nothing else; on what is clean no rule finds anything."""

import importlib
from pathlib import Path

import pytest

from fabricgen.findings import Severity
from fabricgen.rules.registry import all_rules, chosen_rules
from fabricgen.rules.run import run
from tests.rules.case import Case, GoodCase, Switches
from tests.rules.clean import PLATFORMS, clean_fabric

FILES_GONE = {"FG220", "FG255", "FG256", "FG257"}  # a change of no file: tests/rules/bundle/test_broken_files.py


def all_cases() -> list[Case]:
    """The cases of all folders beside this file."""
    folders = sorted(file.parent.name for file in Path(__file__).parent.glob("*/cases.py"))
    return [case for folder in folders for case in importlib.import_module(f"tests.rules.{folder}.cases").CASES]


def all_good_cases() -> list[GoodCase]:
    """The good cases of all folders but opensm, which has its own test."""
    folders = sorted(file.parent.name for file in Path(__file__).parent.glob("*/cases.py"))
    modules = (importlib.import_module(f"tests.rules.{folder}.cases") for folder in folders if folder != "opensm")
    return [case for module in modules for case in getattr(module, "GOOD", [])]


CASES, GOOD = all_cases(), all_good_cases()


@pytest.mark.parametrize("model", PLATFORMS)
def test_a_clean_fabric_has_no_finding(model: str) -> None:
    assert clean_fabric(model).judge() == []


@pytest.mark.parametrize("case", CASES, ids=[f"{case.code}-{number}" for number, case in enumerate(CASES)])
def test_a_bad_case_gives_its_finding(case: Case, tmp_path: Path) -> None:
    findings = case.findings(tmp_path)
    found = case.found(findings)
    assert (found.severity, found.message, found.hint) == (case.severity, case.message, case.hint)
    assert found.location and Path(found.location.file).name
    if case.at:
        lines = Path(found.location.file).read_text(errors="replace").splitlines()
        assert case.at.strip() in lines[found.location.line - 1]
    if case.related:
        shown = [each.location for each in found.related if each.location.file.endswith("config_db.json")]
        lines = Path(shown[0].file).read_text().splitlines()
        assert f'{case.related.rpartition("|")[2]}"' in lines[shown[0].line - 1]
    others = [one for one in findings if one is not found and one.code not in case.also]
    if isinstance(case.clean, Switches):
        assert found.location.line >= 1
    else:
        # The small fabric of these hosts has one spine.
        others = [one for one in others if one.severity is not Severity.NOTE and one.code != "FG285"]
    if not case.lenient:
        assert [(one.code, one.device) for one in others] == [(case.code, name) for name in case.also_at], others


@pytest.mark.parametrize("case", GOOD, ids=[f"{case.code}-{number}" for number, case in enumerate(GOOD)])
def test_a_good_case_gives_no_finding(case: GoodCase, tmp_path: Path) -> None:
    found = run(case.clean.broken(case.change, tmp_path))
    assert {one.code for one in found} <= set(case.also), found


def test_every_rule_has_a_bad_case() -> None:
    assert {rule.code for rule in all_rules()} == {case.code for case in CASES} | FILES_GONE


def test_a_case_is_in_the_folder_of_its_rule() -> None:
    subject = {rule.code: rule.check.__module__.split(".")[2] for rule in all_rules()}
    for file in Path(__file__).parent.glob("*/cases.py"):
        cases = importlib.import_module(f"tests.rules.{file.parent.name}.cases").CASES
        assert {subject[case.code] for case in cases} == {file.parent.name}


def test_rules_are_chosen_by_code_prefix() -> None:
    codes = {rule.code for rule in chosen_rules(["FG51", "fg52"], ["FG512"])}
    assert "FG511" in codes and "FG512" not in codes
    assert all(code.startswith(("FG51", "FG52")) for code in codes)


def test_equal_defects_of_a_switch_are_one_finding_with_a_count() -> None:
    fabric = clean_fabric()
    for port, row in fabric.configs["leaf1"]["PORT_QOS_MAP"].items():
        if port != "global":
            row["pfcwd_sw_enable"] = "3"
    (finding,) = fabric.judge("FG512")
    assert (finding.count, finding.severity) == (5, Severity.ERROR)
