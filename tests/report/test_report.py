"""The formats: the JSON validates against its schema, text shows the source line, secrets never show."""

import json
from pathlib import Path

import jsonschema
import pytest

from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.report.formats.concise import concise_report
from fabricgen.report.formats.json import json_object
from fabricgen.report.formats.text import text_report
from fabricgen.report.summary import Counts, summary_line
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
