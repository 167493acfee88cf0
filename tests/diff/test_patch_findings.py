"""`validate --patch`: each finding on a patch that has the fault, and none on one that does not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonpatch
import orjson
import pytest

from fabricgen.diff.patch_findings import CODES, patch_findings
from fabricgen.diff.patched import PatchError, patched
from fabricgen.findings import Severity
from tests.conftest import Cli
from tests.diff import measured

Config = dict[str, Any]
LEAF = "compute-su00-r0-leaf"


@pytest.fixture(scope="module")
def leaf(rendered: Path) -> Config:
    return measured.leaf(rendered)


def found(config: Config, patch: list[Any], release: int = 202605) -> dict[str, Any]:
    return {finding.code: finding for finding in patch_findings("leaf", config, patch, release)[0]}


def patch_to(edit: measured.Edit) -> Callable[[Config], list[Any]]:
    return lambda config: list(jsonpatch.make_patch(config, measured.edited(config, edit)))


def replaced_range(config: Config) -> None:
    rows = config["BUFFER_PG"]
    rows["Ethernet0|3"] = rows.pop("Ethernet0|3-4")


def removed_range(config: Config) -> None:
    del config["BUFFER_PG"]["Ethernet0|3-4"]


def priorities(config: Config) -> None:
    config["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3"


def priorities_and_watchdog(config: Config) -> None:
    priorities(config)
    del config["PFC_WD"]["Ethernet0"]


def one_session(config: Config) -> None:
    next(iter(config["BGP_NEIGHBOR"].values()))["asn"] = "65000"


def cable_alone(config: Config) -> None:
    config["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "40m"


def cable_and_group(config: Config) -> None:
    cable_alone(config)
    config["BUFFER_PG"]["Ethernet0|3-4"]["profile"] = "pg_lossless_400000_40m_profile"


def removed_without_group(config: Config) -> None:
    group = {key: row for key, row in config["BUFFER_PG"].items() if key.endswith("|3-4")}
    measured.remove_host(config)
    config["BUFFER_PG"] |= group


Patch = Callable[[Config], list[Any]]
CASES: list[tuple[str, Patch, Patch, str]] = [
    (
        "FG940",
        lambda config: [{"op": "replace", "path": "/PORT/Ethernet9/mtu", "value": "9000"}],
        lambda config: [{"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9000"}],
        "Ethernet9 does not exist",
    ),
    (
        "FG941",
        lambda config: [{"op": "replace", "path": "/BUFFER_POOL/ingress_lossless_pool/size", "value": "1"}],
        patch_to(measured.ecn),
        "the pools of a switch add up only together",
    ),
    (
        "FG941",
        lambda config: [{"op": "remove", "path": "/SYSLOG_SERVER/10.255.15.3"}],
        lambda config: [{"op": "remove", "path": "/SYSLOG_SERVER"}],
        "leaves SYSLOG_SERVER without rows",
    ),
    ("FG942", patch_to(measured.classes({}, None)), patch_to(measured.cable(8)), "does not find an order"),
    ("FG943", patch_to(replaced_range), patch_to(removed_range), "clears the profiles of both"),
    ("FG944", patch_to(priorities), patch_to(priorities_and_watchdog), "only a new row of PFC_WD"),
    ("FG932", patch_to(cable_alone), patch_to(cable_and_group), "Ethernet0 keeps the headroom of the old cable"),
    ("FG932", patch_to(measured.remove_host), patch_to(removed_without_group), "writes BUFFER_PG|"),
    ("FG945", patch_to(measured.asn), patch_to(one_session), "removes 16 sessions"),
]


@pytest.fixture(scope="module")
def one_class(tmp_path_factory: pytest.TempPathFactory) -> Config:
    lossless = {"lossless": {"classes": {3: {"dscp": [26, 34]}}, "cnp": {"dscp": 48}}}
    return measured.render_leaf(tmp_path_factory.mktemp("one"), "arista-7060x6-64pe", 16, **lossless)


@pytest.mark.parametrize(("code", "bad", "good", "text"), CASES)
def test_each_code(code: str, bad: Patch, good: Patch, text: str, leaf: Config, one_class: Config) -> None:
    if code == "FG942":
        bad = patch_to(measured.classes(one_class))
    release = 202505 if code == "FG932" else 202605
    finding = found(leaf, bad(leaf), release)[code]
    assert text in finding.message and finding.hint
    assert finding.severity is (Severity.WARNING if code == "FG945" else Severity.ERROR)
    assert code not in found(leaf, good(leaf), release)


def test_every_code_has_a_case() -> None:
    assert {case[0] for case in CASES} | {"FG946"} == CODES


def test_the_price_is_a_note(leaf: Config) -> None:
    note = found(leaf, patch_to(measured.every("PORT", mtu="9000"))(leaf), 202505)["FG946"]
    assert note.severity is Severity.NOTE and note.message.startswith("130 changes, ") and "202505" in note.message
    assert "FG946" not in found(leaf, [])


def test_the_release_decides(leaf: Config) -> None:
    patch = patch_to(measured.ecn)(leaf)
    assert "FG941" not in found(leaf, patch, 202511)
    assert "wred_profile_config_update_validator" in found(leaf, patch, 202505)["FG941"].message
    assert "FG932" in found(leaf, patch_to(cable_alone)(leaf), 202505)
    assert "FG932" not in found(leaf, patch_to(cable_alone)(leaf), 202511)


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        ({"path": "/PORT"}, "is not an operation"),
        ({"op": "add", "path": "/PORT/Ethernet0/mtu"}, "add without a value"),
        ({"op": "test", "path": "/PORT/Ethernet0/mtu", "value": "1"}, "expected '1'"),
        ({"op": "remove", "path": "PORT"}, "is not a JSON pointer"),
        ({"op": "move", "path": "/PORT/x", "from": "/PORT/y"}, "y does not exist"),
        ({"op": "add", "path": "/ACL_TABLE/A/ports/9", "value": "x"}, "not a position"),
        ("remove", "not an object"),
    ],
)
def test_operations_that_cannot_be_applied(operation: Any, text: str) -> None:
    config = {"PORT": {"Ethernet0": {"mtu": "9100"}}, "ACL_TABLE": {"A": {"ports": ["Ethernet0"]}}}
    with pytest.raises(PatchError, match=text):
        patched(config, [operation])


def test_all_operations_are_those_of_the_updater_s_library() -> None:
    config = {"A~B": {"x/y": {"f": "1", "list": ["a", "b"]}}, "C": {"k": {"f": "2"}}}
    patch = [
        {"op": "test", "path": "/C/k/f", "value": "2"},
        {"op": "copy", "from": "/C/k", "path": "/C/l"},
        {"op": "move", "from": "/C/k", "path": "/C/m"},
        {"op": "replace", "path": "/A~0B/x~1y/f", "value": "3"},
        {"op": "add", "path": "/A~0B/x~1y/list/-", "value": "c"},
        {"op": "add", "path": "/A~0B/x~1y/list/0", "value": "z"},
        {"op": "remove", "path": "/A~0B/x~1y/list/1"},
    ]
    before = orjson.dumps(config)
    assert patched(config, patch) == jsonpatch.apply_patch(config, patch) and orjson.dumps(config) == before
    assert patched({}, [{"op": "add", "path": "/T/k", "value": {}}]) == {"T": {"k": {}}}  # as SONiC opens tables


def test_the_command(bundle: Path, tmp_path: Path, cli: Cli, leaf: Config) -> None:
    file = tmp_path / f"{LEAF}.json"
    file.write_text(json.dumps(patch_to(replaced_range)(leaf), indent=2))
    outcome = cli("validate", bundle, "--patch", file, "--format", "json")
    (finding,) = [one for one in json.loads(outcome.out)["findings"] if one["code"] == "FG943"]
    line = file.read_text().splitlines()[finding["location"]["line"] - 1]
    assert outcome.code == 1 and finding["location"]["file"] == str(file) and "/BUFFER_PG/Ethernet0|3" in line
    assert cli("validate", bundle, "--patch", file, "--ignore", "FG94").code == 0
    other = file.rename(tmp_path / "other.json")
    assert cli("validate", bundle, "--patch", other).code == 2
    assert cli("validate", bundle / f"sonic/{LEAF}/config_db.json", "--patch", other).code == 1
    other.write_text("{")
    assert cli("validate", bundle, "--patch", other).code == 2
    other.write_text('{"devices": {"unknown": {"patch": []}}}')
    assert cli("validate", bundle, "--patch", other).code == 2
    other.write_text("{}")
    assert cli("validate", bundle, "--patch", other).code == 2


@pytest.mark.parametrize("fmt", ["plan", "jsonpatch"])
def test_what_diff_writes_is_accepted(fmt: str, bundle: Path, tmp_path: Path, cli: Cli) -> None:
    old = tmp_path / "old"
    bundle.rename(old)
    file = tmp_path / "new" / "sonic" / LEAF / "config_db.json"
    file.parent.mkdir(parents=True)
    config = measured.leaf(old)
    edit = measured.cable(2) if fmt == "jsonpatch" else priorities
    file.write_bytes(orjson.dumps(measured.edited(config, edit)))
    found = tmp_path / "patches.json"
    found.write_text(cli("diff", old / "sonic" / LEAF / "config_db.json", file, "--format", fmt).out)
    outcome = cli("validate", old, "--patch", found, "--format", "json")
    assert outcome.code == 0, outcome.out
    assert {one["code"] for one in json.loads(outcome.out)["findings"]} == {"FG946"}
