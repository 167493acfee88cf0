"""The forms of a result, and where it goes."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fabricgen.cli.settings import Settings
from fabricgen.report.formats import formats
from fabricgen.resources import resource
from tests.conftest import Cli
from tests.inventories import explicit, write


@pytest.fixture
def bundle(cli: Cli, tmp_path: Path) -> Path:
    """A bundle with one mistake."""
    assert cli("render", write(tmp_path / "inventory", explicit()), "-o", tmp_path / "b", "-q").code == 0
    file = tmp_path / "b/sonic/leaf1/config_db.json"
    file.write_text(file.read_text().replace('"pfc_enable": "3,4"', '"pfc_enable": "3"'))
    return tmp_path / "b"


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    return write(tmp_path / "wrong", explicit(mtu="large", adressing={}))


def judged(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    schema = json.loads(resource("schemas", "findings.schema.json").read_text())
    Draft202012Validator(schema).validate(found)
    return found


def test_json_of_every_judging_verb(cli: Cli, bundle: Path, small: Path, wrong: Path) -> None:
    validated = judged(cli("validate", bundle, "--format", "json").out)
    assert validated["summary"]["errors"] >= 1 and validated["summary"]["devices"] == 4
    assert validated["summary"]["links"] == 6 and validated["summary"]["rules"] >= 15
    finding = next(each for each in validated["findings"] if each["code"].startswith("FG5"))
    assert finding["device"] == "leaf1" and finding["path"].startswith("PORT_QOS_MAP|Ethernet")
    line = (bundle / "sonic/leaf1/config_db.json").read_text().splitlines()[finding["location"]["line"] - 1]
    assert "pfc_enable" in line and len(finding["fingerprint"]) == 32
    deadlock = judged(cli("simulate", "deadlock", bundle, "--format", "json").out)["deadlock"]
    assert (deadlock["verdict"], deadlock["claim"], deadlock["model"]) == ("free", "proved", "bgp")
    checked = judged(cli("check", small / "inventory", "--format", "json").out)
    assert checked["findings"] == [] and checked["deadlock"]["priorities"] == [3, 4]
    refused = judged(cli("check", wrong, "--format", "json").out)
    assert [each["code"] for each in refused["findings"]] == ["FG101", "FG104"]
    line = (wrong / "fabric.yaml").read_text().splitlines().index("    adressing: {}") + 1
    assert refused["findings"][0]["location"] == {"file": f"{wrong}/fabric.yaml", "line": line, "column": 5}


def test_locations_of_an_inventory_are_relative_to_the_working_directory(
    cli: Cli, wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(wrong.parent)
    for line in cli("check", "wrong", "--format", "concise").out.splitlines():
        file, row, column, *_ = line.split(":")
        assert Path(file).is_file() and int(row) > 0 and int(column) > 0


def test_text_shows_the_line_and_ends_with_counts(cli: Cli, wrong: Path) -> None:
    out = cli("check", wrong).out
    assert "| " in out and "^^^" in out and "help: did you mean 'addressing'?" in out
    assert out.splitlines()[-1].startswith("Checked 4 devices, 6 links: 2 errors, 0 warnings")


def test_files_of_the_temporary_bundle_are_named_as_in_a_bundle(cli: Cli, tmp_path: Path) -> None:
    tree = explicit()
    tree["overrides"] = [{"match": {"name": "leaf1"}, "config_db": {"PORT": {"Ethernet0": {"mtu": "1"}}}}]
    for fmt in formats():
        out = cli("check", write(tmp_path / "i", tree), "--format", fmt).out
        assert "fabricgen-check-" not in out
        assert "sonic/leaf1/config_db.json" in out or fmt in ("github", "gitlab")  # they name the inventory only


@pytest.mark.parametrize("fmt", formats())
def test_output_goes_to_a_file(fmt: str, cli: Cli, bundle: Path, tmp_path: Path) -> None:
    outcome = cli("validate", bundle, "--format", fmt, "--output", tmp_path / "result")
    assert outcome.code == 1 and outcome.out == ""
    assert "FG5" in (tmp_path / "result").read_text()


@pytest.mark.parametrize(("choice", "painted"), [("always", True), ("never", False), ("auto", False)])
def test_color(choice: str, painted: bool, cli: Cli, wrong: Path) -> None:
    assert ("\x1b[31m" in cli("check", wrong, "--color", choice).out) is painted


def test_quiet_prints_the_result_only(cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "i", explicit())
    loud = cli("render", inventory, "-o", tmp_path / "b")
    assert "planned" in loud.err and len(loud.out.splitlines()) == 1
    quiet = cli("render", inventory, "-o", tmp_path / "b", "--quiet")
    assert quiet.err == "" and "0 changed" in quiet.out


def test_select_and_ignore(cli: Cli, bundle: Path) -> None:
    def found(*more: str) -> set[str]:
        return {each["code"] for each in judged(cli("validate", bundle, "--format", "json", *more).out)["findings"]}

    everything = found()
    assert any(code.startswith("FG5") for code in everything)
    assert all(code.startswith("FG5") for code in found("--select", "FG5"))
    assert found("--select", "fg5") == found("--select", "FG5")
    assert not any(code.startswith("FG5") for code in found("--ignore", "FG5"))
    assert found("--select", "FG4,FG5", "--ignore", "FG5") == {code for code in everything if code.startswith("FG4")}


@pytest.mark.parametrize(
    "choice",
    [
        ("--select", "FG5", "--ignore", "FG5"),
        ("--ignore", "FG1,FG2,FG3,FG4,FG5,FG6,FG7,FG8,FG9"),
        ("--select", "FG701"),
    ],
    ids=" ".join,
)
def test_a_choice_without_a_rule_is_refused(choice: tuple[str, ...], cli: Cli, bundle: Path) -> None:
    outcome = cli("validate", bundle, *choice)
    assert (outcome.code, outcome.out) == (2, "") and "no rule is left to check" in outcome.err
    assert cli("validate", bundle, "--select", "FG45", "--release", "202605").code == 0


@pytest.mark.parametrize("fmt", formats())
def test_secrets_of_a_judged_file_are_not_shown(fmt: str, cli: Cli, bundle: Path) -> None:
    file = bundle / "sonic/leaf1/config_db.json"
    config = json.loads(file.read_text())
    config["SNMP_COMMUNITY"] = {"hunter2": {"TYPE": "XX", "bogus": "1"}}
    config["TACPLUS"] = {"global": {"passkey": ["hunter2"]}}
    config["NTP_KEY"] = {"1": {"value": "hunter2", "type": "zz"}}
    next(iter(config["BGP_NEIGHBOR"].values()))["auth_password"] = "hunter2"
    file.write_text(json.dumps(config, indent=4))
    outcome = cli("validate", bundle, "--format", fmt)
    assert outcome.code == 1 and "FG407" in outcome.out
    assert "hunter2" not in outcome.out + outcome.err
    explained = cli("explain", bundle, "leaf1:TACPLUS|global|passkey")
    assert "not shown" in explained.out and "hunter2" not in explained.out


@pytest.mark.parametrize(
    ("set_to", "painted"),
    [({}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)],
)
def test_a_terminal_has_colors_if_it_supports_and_allows_them(
    set_to: dict[str, str], painted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in set_to.items():
        monkeypatch.setenv(name, value)
    assert Settings().paints(Terminal()) is painted
    assert not Settings().paints(None)
