"""The commands against recorded answers of NetBox, and what they say without a server."""

from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import orjson
import pytest
import yaml

from tests.components import package
from tests.conftest import Cli
from tests.dcim.fabrics import bundle
from tests.dcim.tape import RECORDS, TOKEN, URL, taped


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle(tmp_path_factory.mktemp("small"))


def test_netbox(small: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan, its application, a second one, a serial that someone edits, and the import of the site."""
    package("pynetbox", "netbox")
    out = tmp_path / "out"
    with taped(monkeypatch) as tape:

        def handoff(mode: str) -> dict[str, Any]:
            outcome = cli("handoff", "netbox", small, "-o", out, mode, "--format", "json", "--fail-on", "never")
            assert outcome.code == 0, outcome.out + outcome.err
            return dict(orjson.loads(outcome.out))

        assert {each["code"] for each in handoff("--plan")["findings"]} == {"FG985"}
        assert handoff("--apply")["source_of_truth"]["applied"]
        assert handoff("--plan")["findings"] == []
        if RECORDS:
            _edit_serial()
        (found,) = handoff("--plan")["findings"]
        assert (found["code"], found["device"]) == ("FG986", "leaf1")
        assert found["message"] == "device leaf1 in NetBox: serial is SN-edited, expected SN0"
        imported = cli("import", "netbox", "--site", "tiny", "-o", tmp_path / "taken-over")
        assert imported.code == 0, imported.out + imported.err
    inventory = yaml.safe_load((tmp_path / "taken-over" / "fabric.yaml").read_text())
    assert {"name": "leaf1", "rack": "R0", "unit": "40", "serial": "SN-edited"} in inventory["devices"]
    assert inventory["hosts"] == {"gpu": {"model": "dgx-h100", "count": 1}}
    assert "the management addresses of 4 switches" in imported.err
    assert len(tape.tokens) == 1 and tape.tokens.pop().endswith(TOKEN)
    for file in out.iterdir():
        assert TOKEN.encode() not in file.read_bytes()


def _edit_serial() -> None:
    """Without requests, whose answers are recorded."""
    headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
    found = orjson.loads(urlopen(Request(f"{URL}/api/dcim/devices/?name=leaf1", headers=headers)).read())
    body = orjson.dumps({"serial": "SN-edited"})
    urlopen(Request(found["results"][0]["url"], body, headers, method="PATCH")).close()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the URL of NetBox is missing: set NETBOX_URL"),
        ({"NETBOX_URL": "netbox.example"}, "'netbox.example' is not the URL of NetBox: set NETBOX_URL"),
        ({"NETBOX_URL": "http://127.0.0.1:9"}, "the token of NetBox is missing: set NETBOX_TOKEN in the environment"),
    ],
)
def test_the_environment_is_named(
    small: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], message: str
) -> None:
    for name in ("NETBOX_URL", "NETBOX_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    for arguments in (["handoff", "netbox", small, "--plan"], ["import", "netbox", "--site", "hall1"]):
        outcome = cli(*arguments, "-o", tmp_path / "out")
        assert outcome.code == 2 and message in outcome.err
        assert not (tmp_path / "out").exists()


def test_an_error_of_the_connection_does_not_show_the_token(
    small: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package("pynetbox", "netbox")
    monkeypatch.setenv("NETBOX_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("NETBOX_TOKEN", "very-secret")
    outcome = cli("handoff", "netbox", small, "-o", tmp_path / "out", "--apply", "-v")
    assert outcome.code == 2 and "NetBox, connecting to http://127.0.0.1:9" in outcome.err
    assert "very-secret" not in outcome.out + outcome.err


def test_a_missing_library_is_named(small: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pynetbox", None)
    monkeypatch.setenv("NETBOX_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("NETBOX_TOKEN", "t")
    outcome = cli("handoff", "netbox", small, "-o", tmp_path / "out", "--plan")
    assert outcome.code == 2 and "is not installed: pip install 'fabricgen[netbox]'" in outcome.err


def test_the_objects_as_files(small: Path, cli: Cli, tmp_path: Path) -> None:
    outcome = cli("handoff", "netbox", small, "-o", tmp_path / "out")
    assert outcome.code == 0, outcome.err
    rows = {
        file.stem: [orjson.loads(line) for line in file.read_bytes().splitlines()]
        for file in (tmp_path / "out").glob("*.jsonl")
    }
    assert {name: len(found) for name, found in rows.items()} == {
        "site": 1, "manufacturer": 2, "device-type": 2, "role": 3, "rack": 2, "device": 5, "interface": 20,
        "prefix": 12, "address": 20, "primary-address": 4, "cable": 6,
    }  # fmt: skip
    assert rows["device"][0] == {
        "identity": "tiny:compute/leaf/leaf1", "name": "leaf1", "site": "tiny",
        "device_type": "Arista-7060X6-64PE-O128S2", "role": "leaf", "status": "active",
        "serial": "SN0", "rack": "R0", "position": 40,
    }  # fmt: skip
    chosen = cli("handoff", "netbox", small, "-o", tmp_path / "some", "--only", "leaf*")
    assert chosen.code == 0 and not (tmp_path / "some" / "cable.jsonl").exists()
    assert cli("handoff", "netbox", small, "-o", tmp_path / "none", "--only", "none").code == 2
