"""Every form of one report: a small fabric with four mistakes, read by a person (golden/) and by schemas.

JUnit has no official schema; the test has the shape that Jenkins and Surefire read.
"""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator

from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.report.formats.github import github_report
from fabricgen.report.formats.gitlab import gitlab_list
from fabricgen.report.formats.json import as_json
from fabricgen.report.formats.junit import junit_report
from fabricgen.report.formats.sarif import sarif_object
from fabricgen.report.pages import pages
from fabricgen.report.run import Run
from fabricgen.resources import resource
from fabricgen.visible import visible
from tests.conftest import Cli, Golden
from tests.inventories import explicit, write
from tests.shared_material import shared

GOLDEN = Path(__file__).parent / "golden"
RULES = "FG243,FG244,FG512,FG513"
FILES = {
    "text": "report.txt", "concise": "concise.txt", "json": "report.json", "sarif": "report.sarif",
    "junit": "junit.xml", "github": "github.txt", "gitlab": "gitlab.json", "bmwg": "bmwg.md",
}  # fmt: skip


@pytest.fixture
def broken(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both leaves without PFC on priority 4, a link with two MTUs, a watchdog that somebody accepts, and a suppression
    of nothing."""
    monkeypatch.chdir(tmp_path)
    tree = explicit()
    tree["suppressions"] = [
        {"code": "FG512", "device": "spine2", "path": "PORT_QOS_MAP|*", "reason": "class 4 is watched by hand"},
        {"code": "FG244", "reason": "storage has its own MTU"},
    ]  # fmt: skip
    write(Path("inventory"), tree)
    assert cli("render", "inventory", "-o", "build", "-q").code == 0
    for leaf in ("leaf1", "leaf2"):
        edit(leaf, '"pfc_enable": "3,4"', '"pfc_enable": "3"')
    edit("spine1", '"mtu": "9100"', '"mtu": "9000"', 1)
    edit("spine2", '"pfcwd_sw_enable": "3,4"', '"pfcwd_sw_enable": "3"')
    return Path("build")


def edit(device: str, old: str, new: str, count: int = -1) -> None:
    file = Path(f"build/sonic/{device}/config_db.json")
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, count))


def report(cli: Cli, fmt: str) -> str:
    outcome = cli("validate", "build", "--select", RULES, "--format", fmt, "-q")
    assert outcome.code == 1 and outcome.err == ""
    return outcome.out


def found(cli: Cli, *arguments: object) -> list[dict[str, Any]]:
    """The findings of `validate` as JSON."""
    findings: list[dict[str, Any]] = json.loads(cli("validate", *arguments, "--format", "json", "-q").out)["findings"]
    return findings


@pytest.mark.parametrize("fmt", FILES)
def test_report(fmt: str, cli: Cli, broken: Path, golden: Golden) -> None:
    golden(GOLDEN / FILES[fmt], report(cli, fmt).encode())


def test_json_conforms(cli: Cli, broken: Path) -> None:
    found = json.loads(report(cli, "json"))
    Draft202012Validator(json.loads(resource("schemas", "findings.schema.json").read_text())).validate(found)
    assert found["summary"]["suppressed"] == 1 and "FG512" not in {one["code"] for one in found["findings"]}


def sarif_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(shared("data", "schemas", "sarif-2.1.0.schema.json").read_text())
    return schema


@pytest.mark.parametrize("verb", [["validate", "build"], ["simulate", "deadlock", "build"], ["check", "inventory"]])
def test_sarif_conforms(verb: list[str], cli: Cli, broken: Path) -> None:
    found = json.loads(cli(*verb, "--format", "sarif", "-q").out)
    Draft7Validator(sarif_schema()).validate(found)
    (run,) = found["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"]:
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            assert Path(uri).is_file(), uri


def test_sarif_shows_what_is_suppressed_and_the_inventory(cli: Cli, broken: Path) -> None:
    results = json.loads(report(cli, "sarif"))["runs"][0]["results"]
    by_code = {one["ruleId"]: one for one in results}
    assert by_code["FG512"]["suppressions"][0]["justification"] == "class 4 is watched by hand"
    assert all("suppressions" not in one for one in results if one["ruleId"] != "FG512")
    pfc = by_code["FG513"]
    assert pfc["properties"]["devices"] == ["leaf1", "leaf2"] and pfc["level"] == "error"
    related = {one["message"]["text"]: one["physicalLocation"] for one in pfc["relatedLocations"]}
    caused = related["caused by planes.compute.lossless.classes"]
    assert caused["artifactLocation"]["uri"] == "inventory/fabric.yaml" and caused["region"]["startLine"] > 0
    far = by_code["FG243"]["relatedLocations"][0]
    assert far["message"]["text"] == "the far end, leaf1"
    assert far["physicalLocation"]["artifactLocation"]["uri"] == "build/sonic/leaf1/config_db.json"


def test_junit_has_the_shape_that_jenkins_reads(cli: Cli, broken: Path) -> None:
    root = ElementTree.fromstring(report(cli, "junit"))
    assert root.tag == "testsuites" and [suite.tag for suite in root] == ["testsuite"]
    suite = root[0]
    assert {"name", "tests", "failures", "errors", "skipped", "time"} == suite.attrib.keys()
    assert [case.tag for case in suite] == ["testcase"] * int(suite.attrib["tests"])
    allowed = {"failure": {"message", "type"}, "skipped": {"message"}, "system-out": set()}
    order = list(allowed)
    for case in suite:
        assert case.attrib.keys() == {"classname", "name", "time"} and float(case.attrib["time"]) == 0
        assert all(each.attrib.keys() == allowed[each.tag] and len(each) == 0 for each in case)
        assert [each.tag for each in case] == sorted({each.tag for each in case}, key=order.index)
    assert len(suite.findall("testcase/failure")) == int(suite.attrib["failures"]) == 2
    assert [case.attrib["name"][:5] for case in suite if case.find("skipped") is not None] == ["FG512"]


def test_gitlab_has_unique_fingerprints_and_relative_paths(cli: Cli, broken: Path) -> None:
    issues = json.loads(report(cli, "gitlab"))
    assert len({one["fingerprint"] for one in issues}) == len(issues) >= 3
    for one in issues:
        assert one.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert one["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert Path(one["location"]["path"]).is_file() and one["location"]["lines"]["begin"] >= 1


@pytest.mark.parametrize("fmt", ["sarif", "github", "gitlab", "junit"])
def test_check_points_at_the_inventory(fmt: str, cli: Cli, broken: Path) -> None:
    """The judged files are deleted afterwards: CI can annotate only the inventory."""
    write(Path("inventory"), explicit(mtu=4000))
    lines = Path("inventory/fabric.yaml").read_text().splitlines()
    line = lines.index("    mtu: 4000") + 1
    out = cli("check", "inventory", "--format", fmt, "-q").out
    assert "fabricgen-check-" not in out and "FG244" in out
    wanted = {
        "github": f"file=inventory/fabric.yaml,line={line},", "gitlab": f'"begin": {line}\n',
        "sarif": f'"startLine":{line},', "junit": f"inventory/fabric.yaml:{line}:",
    }  # fmt: skip
    assert wanted[fmt] in out


ANY = st.text(st.characters(codec="utf-8"))


def run_of(message: str, name: str) -> Run:
    one = Finding("FG243", Severity.WARNING, message, name, f"PORT|{name}|mtu", Location(f"d/{name}.json", 2, 3))
    return Run("0", "validate", [one], [], codes=["FG243"], threshold=Severity.WARNING)


@given(ANY, ANY)
def test_github_commands_survive_any_text(message: str, name: str) -> None:
    (line,) = github_report(run_of(message, name)).removesuffix("\n").split("\n")
    match = re.fullmatch(r"::warning ([^\r]*?)::([^\r]*)", line)
    assert match
    properties = dict(part.split("=", 1) for part in match[1].split(","))
    assert list(properties) == ["file", "line", "col", "title"]
    assert plain(match[2]) == visible(message)
    assert plain(properties["title"]) == visible(" ".join(filter(None, ("FG243", name, f"PORT|{name}|mtu"))))


def plain(text: str) -> str:
    """As the runner of GitHub Actions reads it back."""
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


@given(ANY, ANY)
def test_junit_is_xml_for_any_message(message: str, name: str) -> None:
    root = ElementTree.fromstring(junit_report(run_of(message, name)).encode())
    (failure,) = root.iter("failure")
    words = "".join(filter(str.isalnum, visible(message)))
    assert failure.text and words in "".join(filter(str.isalnum, failure.text))


@given(ANY, ANY)
def test_gitlab_and_sarif_hold_any_text(message: str, name: str) -> None:
    (issue,) = json.loads(json.dumps(gitlab_list(run_of(message, name))))
    assert "\n" not in issue["description"] and " ".join(visible(message).split()) in issue["description"]
    (result,) = json.loads(json.dumps(sarif_object(run_of(message, name))))["runs"][0]["results"]
    assert result["message"]["text"] == visible(message)
    assert re.fullmatch(r"[!-~]*", result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def test_sarif_stays_small_whatever_the_number_of_codes() -> None:
    """A code without a finding has its title and address; all of them together are less than half a megabyte."""
    found = sarif_object(Run("1", "check", [], codes=pages()))
    rules = found["runs"][0]["tool"]["driver"]["rules"]
    assert len(rules) > 450 and not any("help" in rule for rule in rules) and all(rule["helpUri"] for rule in rules)
    assert len(as_json(found)) < 400_000


@pytest.mark.parametrize("switches", [1, 512, 2048])
def test_sarif_of_a_fabric_with_everything_wrong_alike(switches: int) -> None:
    """Each switch has a finding of each of 40 codes, on two ends, with the causes and the switches of all others."""
    names = tuple(f"compute-su{number // 8:03}-r{number % 8}-leaf" for number in range(switches))
    codes, causes = list(pages())[:40], tuple(f"{number:032}" for number in range(90))
    findings = [
        Finding(
            code, Severity.ERROR, f"{name} has a fault of {code}", name, "PORT|Ethernet0|mtu",
            Location(f"build/sonic/{name}/config_db.json", 9, 3), devices=names,
            related=(Related("the far end", Location("b", 1, 1)),),
            caused_by=causes,
        )
        for code in codes
        for name in names
    ]  # fmt: skip
    found = sarif_object(Run("1", "validate", findings, codes=list(pages()), threshold=Severity.ERROR))
    Draft7Validator(sarif_schema()).validate(found)
    run = found["runs"][0]
    notes = run["invocations"][0].get("toolExecutionNotifications", [])
    left = sum(int(note["message"]["text"].partition(" ")[0]) for note in notes)
    assert len(run["results"]) + left == len(findings) and {one["ruleId"] for one in run["results"]} == set(codes)
    assert [note["associatedRule"]["id"] for note in notes] == (codes if switches > 1 else [])
    assert len(json.dumps(found, separators=(",", ":"))) < 1_000_000
    assert all(one["properties"]["deviceCount"] == switches for one in run["results"])
