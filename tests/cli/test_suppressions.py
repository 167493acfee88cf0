"""Suppressions from end to end: in the inventory, in the bundle, in the settings file; severities beside them."""

import json
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli
from tests.inventories import explicit, text_of

SMALL_MTU = "    mtu: 4000"
Write = Callable[..., None]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def inventory(comment: str = "", above: str = "", more: str = "") -> None:
    """An inventory whose ports are too small for RoCE (FG244)."""
    Path("i").mkdir(exist_ok=True)
    text = text_of(explicit(mtu=4000))
    assert SMALL_MTU in text
    Path("i/fabric.yaml").write_text(text.replace(SMALL_MTU, f"{above}{SMALL_MTU}{comment}") + more)


def judge(cli: Cli, *arguments: str) -> dict[str, Any]:
    outcome = cli(*arguments, "--format", "json", "-q")
    report: dict[str, Any] = json.loads(outcome.out)
    return {**report, "exit": outcome.code}


def codes(report: dict[str, Any]) -> list[str]:
    return [one["code"] for one in report["findings"]]


def check_and_validate(cli: Cli) -> list[dict[str, Any]]:
    """`check` of the inventory, and `validate` of its bundle, whose inventory is out of sight."""
    assert cli("render", "i", "-o", "b", "-q").code == 0
    checked = judge(cli, "check", "i")
    shutil.move("i", "../gone")
    try:
        return [checked, judge(cli, "validate", "b")]
    finally:
        shutil.move("../gone", "i")


@pytest.mark.parametrize(
    "accepted",
    [
        {},
        {"comment": "  # fabricgen: ignore[FG244] no RDMA yet"},
        {"above": "    # fabricgen: ignore[FG100,FG244] no RDMA yet\n"},
        {"more": "suppressions:\n- {code: FG244, reason: no RDMA yet, expires: 2999-12-31}\n"},
        {"more": "suppressions:\n- {code: FG244, device: '*', path: 'PORT|*|mtu', reason: no RDMA yet}\n"},
    ],
)
def test_the_bundle_contains_the_suppressions_of_the_inventory(accepted: dict[str, str], cli: Cli) -> None:
    inventory(**accepted)
    for report in check_and_validate(cli):
        assert ("FG244" in codes(report)) is not bool(accepted)
        assert report["exit"] == int(not accepted) and report["summary"]["suppressed"] == int(bool(accepted))


def test_a_comment_covers_only_findings_that_its_value_causes(cli: Cli) -> None:
    inventory(comment="  # fabricgen: ignore[FG244] no RDMA yet")
    assert cli("render", "i", "-o", "b", "-q").code == 0
    file = Path("b/sonic/leaf1/config_db.json")
    text = file.read_text().replace('"mtu": "4000"', '"mtu": "1500"')
    file.write_text(text.replace('"pfc_enable": "3,4"', '"pfc_enable": "3"'))
    report = judge(cli, "validate", "b")
    assert "FG513" in codes(report) and "FG244" not in codes(report)


def test_listed_suppressions_cover_their_devices_and_paths(cli: Cli) -> None:
    inventory(more="suppressions:\n- {code: FG244, device: 'leaf*', path: 'PORT|Ethernet0|*', reason: no RDMA yet}\n")
    report = judge(cli, "check", "i")
    (left,) = [one for one in report["findings"] if one["code"] == "FG244"]
    assert left["devices"] == ["leaf1", "leaf2", "spine1", "spine2"]
    assert left["count"] == 8 and report["summary"]["suppressed"] == 1  # of twelve ends, hosts included, less two


def test_an_expired_suppression(cli: Cli) -> None:
    yesterday = date.today() - timedelta(days=1)  # noqa: DTZ011
    inventory(comment=f"  # fabricgen: ignore[FG244 until {yesterday}] no RDMA yet")
    for report in check_and_validate(cli):
        assert codes(report)[0] == "FG244" and report["exit"] == 1 and report["summary"]["suppressed"] == 0
        (note,) = [one for one in report["findings"] if one["code"] == "FG130"]
        assert str(yesterday) in note["message"] and "no RDMA yet" in note["message"]
    inventory(comment=f"  # fabricgen: ignore[FG244 until {date.today()}] no RDMA yet")  # noqa: DTZ011
    assert codes(judge(cli, "check", "i")) in ([], ["FG387"])


def test_a_suppression_without_a_reason_is_refused(cli: Cli) -> None:
    inventory(comment="  # fabricgen: ignore[FG244]")
    outcome = cli("check", "i", "--format", "concise")
    assert outcome.code == 1 and "error FG128 a suppression needs a reason" in outcome.out
    inventory(more="suppressions:\n- {code: FG244}\n")
    outcome = cli("render", "i", "-o", "b")
    assert outcome.code == 1 and "'reason' is missing in suppressions[0]" in outcome.out and not Path("b").exists()


def test_an_unused_suppression(cli: Cli) -> None:
    inventory(
        more="suppressions:\n- {code: FG513, reason: r}\n- {code: FG777, reason: r}\n- {code: FG601, reason: r}\n"
    )
    for report in check_and_validate(cli):
        messages = [one["message"] for one in report["findings"] if one["code"] == "FG129"]
        assert "the suppression of FG513 covers no finding" in messages
        assert "no finding has the code FG777" in messages
        assert any("FG601" in each for each in messages) is ("deadlock" in report)  # only where it was looked for
    chosen = [one["message"] for one in judge(cli, "validate", "b", "--select", "FG244")["findings"]]
    assert not any("FG513" in each for each in chosen)


def test_findings_about_the_inventory_itself(cli: Cli) -> None:
    override = (
        "overrides:\n- match: {name: nobody}  # fabricgen: ignore[FG111] comes with the next rack\n"
        "  config_db: {PORT: {Ethernet0: {mtu: 1}}}\n"
    )
    inventory(comment="  # fabricgen: ignore[FG244] no RDMA yet", more=override)
    report = judge(cli, "check", "i", "--fail-on", "warning")
    assert (report["exit"], report["summary"]["suppressed"]) == (0, 2)
    rendered = cli("render", "i", "-o", "b")
    assert rendered.code == 0 and "FG111" not in rendered.err


def test_an_error_of_the_inventory_cannot_be_suppressed(cli: Cli) -> None:
    inventory(more="colour: blue  # fabricgen: ignore[FG101] I like it\n")
    Path("fabricgen.toml").write_text('[severity]\nFG101 = "off"\n')
    assert codes(judge(cli, "check", "i"))[0] == "FG101"
    assert cli("render", "i", "-o", "b").code == 1


def test_an_override_is_the_cause(cli: Cli) -> None:
    lines = ["overrides:", "- match: {name: leaf1}", "  config_db:", "    PORT:", "      Ethernet0:"]
    inventory(more="\n".join([*lines, "        mtu: 1500  # fabricgen: ignore[FG244] console port"]) + "\n")
    report = judge(cli, "check", "i", "--expand")
    (leaf1,) = [one for one in report["findings"] if one["code"] == "FG244" and one["device"] == "leaf1"]
    assert not any("overrides" in each["message"] for each in leaf1["related"]) and report["summary"]["suppressed"] == 1


class TestSettings:
    """fabricgen.toml and pyproject.toml."""

    @pytest.mark.parametrize(("name", "prefix"), [("fabricgen.toml", ""), ("pyproject.toml", "tool.fabricgen.")])
    def test_suppressions_of_brownfield(self, name: str, prefix: str, cli: Cli) -> None:
        inventory()
        assert cli("render", "i", "-o", "b", "-q").code == 0
        Path("loose").mkdir()
        for device in ("leaf1", "leaf2", "spine1", "spine2"):
            shutil.copy(f"b/sonic/{device}/config_db.json", f"loose/{device}.json")
        edited = Path("loose/spine1.json").read_text().replace('"pfc_enable": "3,4"', '"pfc_enable": "4"', 1)
        Path("loose/spine1.json").write_text(edited)
        before = judge(cli, "validate", "loose")
        code = next(one["code"] for one in before["findings"] if one["device"] == "spine1")
        Path(name).write_text(
            f'[[{prefix}suppressions]]\ncode = "{code}"\ndevice = "spine1"\nreason = "in a maintenance window"\n'
            "expires = 2999-01-31\n"
        )
        after = judge(cli, "validate", "loose")
        assert (code, "spine1") not in [(one["code"], one["device"]) for one in after["findings"]]
        assert after["summary"]["suppressed"] >= 1
        Path(name).write_text(f'[[{prefix}suppressions]]\ncode = "FG513"\ndevice = "leaf9"\nreason = "r"\n')
        (unused,) = [one for one in judge(cli, "validate", "loose")["findings"] if one["code"] == "FG129"]
        assert unused["location"]["file"] == name

    @pytest.mark.parametrize(
        ("level", "exit_code", "key"), [("note", 0, "notes"), ("warning", 0, "warnings"), ("off", 0, "")]
    )
    def test_severities(self, level: str, exit_code: int, key: str, cli: Cli) -> None:
        inventory()
        Path("fabricgen.toml").write_text(f'[severity]\nFG244 = "{level}"\n')
        for report in check_and_validate(cli):
            assert report["exit"] == exit_code and report["summary"]["errors"] == 0
            assert ("FG244" in codes(report)) is bool(key) and report["summary"]["suppressed"] == 0
            assert not key or report["summary"][key] >= 1

    def test_a_note_can_become_an_error(self, cli: Cli) -> None:
        inventory(
            comment="  # fabricgen: ignore[FG244] no RDMA yet", more="suppressions:\n- {code: FG513, reason: r}\n"
        )
        Path("fabricgen.toml").write_text('[severity]\nFG129 = "error"\n')
        assert judge(cli, "check", "i")["exit"] == 1

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("severity = 3\n", "severity must be a table"),
            ('[severity]\nFG244 = "fatal"\n', "it must be one of error, warning, note, off"),
            ('[severity]\nFG777 = "off"\n', "no finding has the code 'FG777'"),
            ('suppressions = "all"\n', "a list of tables"),
            ('[[suppressions]]\ncode = "FG244"\n', "has no reason"),
            ('[[suppressions]]\ncode = "FG2"\nreason = "r"\n', "no finding has the code"),
            ('[[suppressions]]\ncode = "FG244"\nreason = "r"\nexpires = "soon"\n', "write a date"),
            ('[[suppressions]]\ncode = "FG244"\nreason = "r"\nhost = "x"\n', "host = 'x'"),
            ('fromat = "json"\n', "'fromat' is neither an option nor a verb; did you mean 'format'?"),
            ("[valdate]\nexpand = true\n", "did you mean 'validate'?"),
            ("[severty]\n", "did you mean 'severity'?"),
        ],
    )
    def test_mistakes(self, text: str, problem: str, cli: Cli) -> None:
        inventory()
        Path("fabricgen.toml").write_text(text)
        outcome = cli("check", "i")
        assert outcome.code == 2 and problem in outcome.err, outcome.err

    def test_keys_of_other_verbs_are_known(self, cli: Cli) -> None:
        inventory(comment="  # fabricgen: ignore[FG244] no RDMA yet")
        Path("fabricgen.toml").write_text('failures = 0\nfail_on = "never"\nexpand = true\n[render]\njobs = 1\n')
        assert cli("check", "i").code == 0


def test_select_and_ignore_at_the_gate(cli: Cli) -> None:
    inventory()
    assert "FG244" not in codes(judge(cli, "check", "i", "--ignore", "FG24"))
    assert codes(judge(cli, "check", "i", "--select", "FG51")) in ([], ["FG387"])


def test_the_inventory_is_found_by_its_content(cli: Cli) -> None:
    inventory()
    assert cli("render", "i", "-o", "out/b", "-q").code == 0

    def cause(*more: str) -> dict[str, Any]:
        finding = judge(cli, "validate", "out/b", "--select", "FG244", *more)["findings"][0]
        (related,) = [one for one in finding["related"] if one["message"] == "caused by planes.compute.mtu"]
        place: dict[str, Any] = related["location"]
        return place

    line = Path("i/fabric.yaml").read_text().splitlines().index(SMALL_MTU) + 1
    assert cause() == {"file": "i/fabric.yaml", "line": line, "column": 5}
    Path("i/fabric.yaml").write_text("# a comment moves it\n" + Path("i/fabric.yaml").read_text())
    assert cause()["line"] == line + 1
    Path("i/fabric.yaml").write_text(Path("i/fabric.yaml").read_text().replace("mtu: 4000", "mtu: 4001"))
    assert cause() == {"file": "fabric.yaml", "line": 0, "column": 0}  # another inventory by now
    assert cause("--inventory", "i") == {"file": "i/fabric.yaml", "line": line + 1, "column": 5}
