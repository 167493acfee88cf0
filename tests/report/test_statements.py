"""A verdict, its claim and what it covers are one value: text, JSON, page and comment print the same words of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.findings import Finding, Severity
from fabricgen.page.report import report_object
from fabricgen.page.verdict import Answer, JudgedResults, answer, verdict_object
from fabricgen.report.congestion import congestion_object, congestion_unjudged, traffic_statement
from fabricgen.report.deadlock import (
    deadlock_lines,
    deadlock_object,
    deadlock_statement,
    deadlock_unjudged,
    failures_statement,
)
from fabricgen.report.summary import Counts, summary_line
from fabricgen.results import (
    Claim,
    CongestionModel,
    CongestionResult,
    Covers,
    DeadlockResult,
    FailureOrbit,
    FailureSummary,
    FlowTime,
    RoutesModel,
    Spreading,
    Verdict,
)
from tests.conftest import Cli
from tests.hostile.payloads import edit

COUNTS = Counts(devices=20, links=4, rules=200)
LOSSY = "no link between switches is lossless, so no buffer waits for another"


def plane(**changes: Any) -> DeadlockResult:
    given: dict[str, Any] = {
        "verdict": Verdict.FREE, "claim": Claim.PROVED, "model": RoutesModel.BGP, "priorities": (3, 4), "channels": 8,
        "dependencies": 16, "failures": FailureSummary(1, 4),
    }  # fmt: skip
    return DeadlockResult(**(given | changes))


UNKNOWN = plane(verdict=Verdict.UNKNOWN, covers=Covers(sessions=8, left_out=8))
NOTHING_LOSSLESS = plane(priorities=(), channels=0, dependencies=0)
SAMPLE = plane(failures=FailureSummary(1, 384, sampled=16, cyclic_bound=0.1, unreachable_bound=0.1))
SYMMETRY = plane(failures=FailureSummary(1, 384, orbits=(FailureOrbit(("a",), 384, False, False),) * 16))


def cells(*planes: DeadlockResult, **given: Any) -> dict[str, dict[str, str]]:
    found = verdict_object(JudgedResults([], counts=COUNTS, deadlock=planes, **given), None)["evidence"]
    return {cell["name"]: cell for cell in found}


def shown(one: DeadlockResult) -> dict[str, Any]:
    """The plane as the panel of the page shows it."""
    content = report_object(JudgedResults([], counts=COUNTS, deadlock=[one]), None, None, None, "x")
    found: dict[str, Any] = content["deadlock"][0]
    return {"deadlock": found["statement"], "failures": found["failures"]["statement"]}


@pytest.mark.parametrize("one", [plane(), UNKNOWN, NOTHING_LOSSLESS, SAMPLE, SYMMETRY])
def test_each_output_has_the_same_words(one: DeadlockResult) -> None:
    base, after = deadlock_statement(one), failures_statement(one)
    assert after is not None
    lines, found, cell, panel = [*deadlock_lines([one])], deadlock_object([one]), cells(one), shown(one)
    assert lines[0] == f"deadlock  {base}" and found["statement"] == panel["deadlock"] == base.as_object()
    assert found["failures"]["statement"] == panel["failures"] == after.as_object()
    assert cell["Deadlock"]["value"].lower() == base.heading.lower() and base.covers in cell["Deadlock"]["detail"]
    assert cell["Failures"]["value"].lower() == after.heading.lower() and after.covers in cell["Failures"]["detail"]
    if one.verdict is not Verdict.UNKNOWN:
        assert lines[1] == f"deadlock  {after}"


@pytest.mark.parametrize(("one", "part"), [(SAMPLE, "16 of 384"), (SYMMETRY, "384 single failures (16 judged,")])
def test_judged_failure_sets_are_not_all_of_them(one: DeadlockResult, part: str) -> None:
    """16 of 384 sets were judged: the panel, the table, the cell, JSON and text say both numbers."""
    assert part in shown(one)["failures"]["text"] and part in cells(one)["Failures"]["detail"]
    assert part in [*deadlock_lines([one])][1]
    assert deadlock_object([one])["failures"]["judged"] == 16


def test_unknown_claims_nothing() -> None:
    """Not 'unknown, proved', and no failure is survived where the state without failures has no verdict."""
    found, cell = deadlock_object([UNKNOWN]), cells(UNKNOWN)
    assert (found["verdict"], found["claim"]) == ("unknown", None)
    assert cell["Deadlock"]["value"] == cell["Failures"]["value"] == "Not judged"
    assert [*deadlock_lines([UNKNOWN])] == ["deadlock  not judged: 8 of 8 sessions left out"]
    assert [*deadlock_unjudged([UNKNOWN])] == ["deadlock"]
    texts = json.dumps([found, cell, shown(UNKNOWN)])
    assert "proved" not in texts and "survive" not in texts


def test_nothing_lossless_is_one_statement() -> None:
    """Not 'none possible, proved over 0 dependencies' beside 'not judged'."""
    judged = JudgedResults([], counts=COUNTS, deadlock=[NOTHING_LOSSLESS])
    assert cells(NOTHING_LOSSLESS)["Deadlock"]["value"] == "Free, proved"
    assert LOSSY in cells(NOTHING_LOSSLESS)["Deadlock"]["detail"]
    assert not any("deadlock" in one for one in verdict_object(judged, None)["not_judged"])
    reason = "No errors and no warnings. Nothing is lossless, as planned, so no buffer waits for another."
    assert verdict_object(judged, None)["reasons"] == [reason]


def test_pfc_off_everywhere_is_not_safe(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    """The verdict on deadlock is true, and a plan with lossless priorities makes it a warning; files without a plan ask
    for a review."""

    def without_pfc(tables: dict[str, Any]) -> None:
        for row in tables["PORT_QOS_MAP"].values():
            row.pop("pfc_enable", None)

    for file in bundle.glob("sonic/*/config_db.json"):
        edit(file, without_pfc)
    text = cli("simulate", "deadlock", bundle).out
    assert text.startswith("passed: 1 warning; ") and f"free, proved: {LOSSY}" in text
    assert "warning FG604" in text and "lossless is 3,4 in fabric.json" in text
    outcome = cli("report", bundle, "--failures", "0", "--format", "json", "-o", tmp_path / "page.json")
    assert outcome.out.startswith("Do not merge: ")
    note = Finding("FG604", Severity.NOTE, "no link between switches has PFC", device="leaf1")
    judged = JudgedResults([note], counts=COUNTS, deadlock=[NOTHING_LOSSLESS])
    assert answer(judged) is Answer.REVIEW
    assert "PFC is missing" in verdict_object(judged, None)["reasons"][0]


def traffic(max_load: float, drawn: float | None = None, **more: Any) -> CongestionResult:
    flow = FlowTime("a", "b", 10, 10, 1.0, victim=False)
    given = {"pattern": "ring-all-reduce", "model": CongestionModel.FINITE, "flows": (flow,), **more}
    return CongestionResult(max_load=max_load, drawn_load=drawn, **given)


@pytest.mark.parametrize(
    ("result", "level", "heading"),
    [
        (traffic(4.0), "warning", "Max load 4.00"),
        (traffic(1.0, drawn=4.0), "warning", "Max load 1.00 (4.00 as drawn with seed 0)"),
        (traffic(1.0), "ok", "No victims"),
        (traffic(1.0, model=CongestionModel.IDLE), "ok", "No flow is delayed"),
        (traffic(4.0, model=CongestionModel.SKIPPED, reason="no routes"), "none", "Not judged"),
        (traffic(1.0, flows=(FlowTime("a", "b", 20, 10, 2.0, victim=True, count=3),)), "warning", "3 victims"),
        (traffic(1.0, unfinished=2), "warning", "2 not finished"),
    ],
)
def test_a_full_link_is_no_fair_share(result: CongestionResult, level: str, heading: str) -> None:
    """No 'all at fair share' beside a link at 4.0 times its capacity."""
    cell = cells(plane(), congestion=[result])["Traffic"]
    assert (cell["level"], cell["value"]) == (level, heading)
    statement = str(traffic_statement(result))
    assert congestion_object([result])["statement"]["text"] == statement
    assert statement.endswith(cell["detail"])


@pytest.mark.parametrize(
    ("by_hosts", "unjudged"),
    [
        (True, "how NICs of plane compute choose among lists of uSIDs"),
        (False, "the mode of load balancing of plane compute, which the files of its switches do not contain"),
    ],
)
def test_what_spreads_packets_is_a_value_and_not_the_begin_of_a_text(by_hosts: bool, unjudged: str) -> None:
    """A name that begins with uSIDs says nothing of who chooses."""
    spreading = Spreading("uSIDs: short", "what is left out", by_hosts)
    flow = FlowTime("a", "b", 1, 1, 1.0, victim=False)
    result = CongestionResult("ring", CongestionModel.IDLE, "compute", flows=(flow,), balance=spreading)
    assert list(congestion_unjudged([result])) == [unjudged]
    assert traffic_statement(result).verdict.startswith("uSIDs: short, max load")
    assert congestion_object([result])["load_balancing"] == "uSIDs: short: what is left out"


def test_simulators_count_no_rules() -> None:
    """Not 'Checked 20 devices, 4 links, 0 rules'."""
    line = summary_line([], Counts(devices=20, links=4))
    assert line == "Checked 20 devices, 4 links: 0 errors, 0 warnings, 0 notes, 0 suppressed."
    assert ", 200 rules: " in summary_line([], COUNTS)


def test_the_worst_plane_is_shown_and_the_others_are_counted() -> None:
    found = cells(plane(name="a"), plane(name="b", verdict=Verdict.UNKNOWN, covers=Covers(without_links=True)))
    assert found["Deadlock"]["value"] == "Not judged"
    assert found["Deadlock"]["detail"] == "plane b: no link is known; and 1 more below"
