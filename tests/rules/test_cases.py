"""Every rule finds its bad cases, completely described, and nothing else; on what is clean no rule finds anything."""

import importlib
import re
from pathlib import Path

import pytest

from fabricgen.findings import Finding, Severity
from fabricgen.rules.registry import all_rules, chosen_rules
from fabricgen.rules.run import run
from tests.rules.case import Case, GoodCase, Switches
from tests.rules.changes import put
from tests.rules.clean import PLATFORMS, clean_fabric

# The name in the message is that of a switch that the row had better name, or of one that only bears the prefix or ASN.
_NO_PLACE_THERE = {"FG245", "FG246", "FG334", "FG336", "FG389", "FG392", "FG596"}
JUDGED_BY_ALL = 24  # one case in so many; test_coverage.py judges each of them by all rules
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


IDS = [f"{case.code}-{number}" for number, case in enumerate(CASES)]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_bad_case_gives_its_finding(case: Case, tmp_path: Path) -> None:
    findings = case.findings(tmp_path, (case.code,))
    assert_found(case, findings)
    if isinstance(case.clean, Switches) and case.code not in _NO_PLACE_THERE and not case.lenient:
        for finding in findings:
            assert_others_are_shown(finding, tmp_path / "sonic")


@pytest.mark.parametrize("case", CASES[::JUDGED_BY_ALL], ids=IDS[::JUDGED_BY_ALL])
def test_no_other_rule_reports_it(case: Case, tmp_path: Path) -> None:
    assert_only_its_findings(case, case.findings(tmp_path))


def assert_found(case: Case, findings: list[Finding]) -> Finding:
    """The finding of a case is as the case describes it, at its place in the file."""
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
    if isinstance(case.clean, Switches):
        assert found.location.line >= 1
    return found


def assert_others_are_shown(finding: Finding, folder: Path) -> None:
    """A finding whose message names other switches, which have files in the folder, shows a place in each of them."""
    switches = [one.name for one in folder.iterdir()]
    named = {name for name in switches if re.search(rf"\b{name}\b", finding.message)} - {finding.device}
    assert named <= {Path(related.location.file).parent.name for related in finding.related}, finding.message


def assert_only_its_findings(case: Case, findings: list[Finding]) -> None:
    """All rules together report the fault of a case as the case describes it, and nothing else."""
    found = assert_found(case, findings)
    others = [one for one in findings if one is not found and one.code not in case.also]
    if not isinstance(case.clean, Switches):
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


def test_the_definition_that_a_reference_names_is_shown() -> None:
    fabric = clean_fabric()
    put("scheduler.1", "leaf1", "QUEUE", "Ethernet256|1", "scheduler")(fabric.configs)
    (finding,) = [one for one in fabric.judge() if one.path == "QUEUE|Ethernet256|1|scheduler"]
    defined = {one.message: one.location.line for one in finding.related}["scheduler.1 is defined here"]
    text = fabric.bundle().devices["leaf1"].text.decode().splitlines()
    assert text[defined - 1].strip() == '"scheduler.1": {'
