"""The formats: the JSON validates against its schema, text shows the source line, secrets never show."""

import json
from pathlib import Path

import jsonschema
import pytest

from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.report.formats.concise import concise_report
from fabricgen.report.formats.json import json_object
from fabricgen.report.formats.text import text_report
from fabricgen.report.phrases import by_place
from fabricgen.report.summary import Counts, headline, summary_line
from fabricgen.resources import resource

COUNTS = Counts(devices=2, links=1, rules=40)


@pytest.fixture
def findings(tmp_path: Path) -> list[Finding]:
    file = tmp_path / "config_db.json"
    file.write_text('{\n    "PORT": {\n        "mtu": "1500",\n        "passkey": "hunter2"\n    }\n}')
    return [
        Finding(
            "FG243", Severity.ERROR, "mtu 1500, the far end has 9100", "leaf1", "PORT|Ethernet0|mtu",
            Location(str(file), 3, 9), (Related("the far end", Location("spine1.json", 7)),),
            "set mtu to 9100", count=2,
        ),
        Finding(
            "FG403", Severity.WARNING, "passkey is too long", "leaf1", "TACPLUS_SERVER|10.0.0.1|passkey",
            Location(str(file), 4, 9),
        ),
    ]  # fmt: skip


def test_json_is_valid_against_the_shipped_schema(findings: list[Finding]) -> None:
    schema = json.loads(resource("schemas", "findings.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    shown = json_object("0.1.0", reversed(findings), COUNTS, deadlock={"verdict": "free"})
    jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(shown)))
    assert shown["summary"] == {
        "errors": 1, "warnings": 1, "notes": 0, "suppressed": 0, "devices": 2, "links": 1, "rules": 40,
    }  # fmt: skip
    assert [finding["code"] for finding in shown["findings"]] == ["FG243", "FG403"]
    assert shown["deadlock"] == {"verdict": "free"}


@pytest.mark.parametrize("temporary", ["/dev/shm/check-a/bundle/", "/tmp/check-b/bundle/"])
def test_the_place_of_temporary_files_does_not_change_the_order(temporary: str) -> None:
    """The name of the temporary folder sorts before that of the inventory, or after it."""
    places = {"FG387": "/home/a/fabric.yaml", "FG243": f"{temporary}sonic/leaf1/config_db.json"}
    found = [Finding(code, Severity.ERROR, code, location=Location(file, 1, 1)) for code, file in places.items()]
    assert [one.code for one in by_place(found, temporary)] == ["FG387", "FG243"]
    for text in (text_report(found, COUNTS, folder=temporary), concise_report(found, folder=temporary)):
        assert text.index("FG387") < text.index("FG243")


def test_text_shows_line_caret_related_and_help(findings: list[Finding]) -> None:
    lines = text_report(findings, COUNTS).splitlines()
    assert lines[0].endswith("config_db.json:3:9  error FG243  mtu 1500, the far end has 9100 (2 places)")
    assert lines[1:6] == [
        "   in leaf1 PORT|Ethernet0|mtu",
        '   3 |         "mtu": "1500",',
        "     |         ^^^^^",
        "   see spine1.json:7: the far end",
        "   help: set mtu to 9100",
    ]
    assert lines[-1] == "Checked 2 devices, 1 link, 40 rules: 1 error, 1 warning, 0 notes, 0 suppressed."


def test_a_line_that_may_hold_a_secret_is_not_shown(findings: list[Finding]) -> None:
    text = text_report(findings, COUNTS) + concise_report(findings) + json.dumps(json_object("0", findings, COUNTS))
    assert "hunter2" not in text and "passkey is too long" in text


def test_concise_is_one_line_a_finding(findings: list[Finding]) -> None:
    lines = concise_report(findings).splitlines()
    assert len(lines) == 2
    assert lines[0].endswith("config_db.json:3:9: error FG243 leaf1 mtu 1500, the far end has 9100 (2 places)")


def test_colour_only_on_request(findings: list[Finding]) -> None:
    assert "\x1b[31merror" in text_report(findings, COUNTS, color=True)
    assert "\x1b" not in text_report(findings, COUNTS) + concise_report(findings)


def test_a_finding_without_place_is_reported() -> None:
    finding = Finding("FG226", Severity.NOTE, "nothing known of hwsku X")
    assert text_report([finding], COUNTS).startswith("note FG226  nothing known of hwsku X\n")
    assert summary_line([finding], Counts()).endswith("0 errors, 0 warnings, 1 note, 0 suppressed.")


def test_the_headline_has_the_verdict_and_what_was_judged(findings: list[Finding]) -> None:
    assert headline(findings, COUNTS, ["deadlock"], failed=True) == (
        "failed: 1 error, 1 warning; judged: 2 devices, 1 link, 40 rules, deadlock"
    )
    assert headline(findings, COUNTS, [], failed=False).startswith("failed: 1 error"), "an error that --fail-on ignores"
    assert headline(findings[1:], Counts(), [], failed=False) == "passed: 1 warning", "nothing was judged"


def test_findings_for_people_are_in_the_order_of_their_places() -> None:
    places = [Location("leaf10.json", 1), Location("leaf9.json", 20), Location("leaf9.json", 3, 7), None]
    severities = [Severity.ERROR, Severity.ERROR, Severity.NOTE, Severity.WARNING]
    found = [
        Finding(f"FG90{number}", severity, "message", location=place)
        for number, (place, severity) in enumerate(zip(places, severities, strict=True))
    ]
    ordered = [None, Location("leaf9.json", 3, 7), Location("leaf9.json", 20), Location("leaf10.json", 1)]
    assert [one.location for one in by_place(found)] == ordered
    grouped = text_report(found, COUNTS, width=80).splitlines()
    assert [line for line in grouped if "json" in line] == ["leaf9.json", "leaf10.json"]
    assert "  3:7  note FG902  message" in grouped


def test_a_source_line_is_cropped_around_the_token(tmp_path: Path) -> None:
    file = tmp_path / "long.yaml"
    file.write_text(f"{'x' * 100} token: {'y' * 100}\n")
    finding = Finding("FG105", Severity.ERROR, "no", location=Location(str(file), 1, 102))
    lines = text_report([finding], COUNTS, width=60).splitlines()
    (source,), (caret,) = ([line for line in lines if mark in line] for mark in ("| xxx", "^^^"))
    assert max(len(source), len(caret)) <= 60
    assert source[caret.index("^") : caret.rindex("^") + 1] == "token"
