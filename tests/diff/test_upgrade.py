"""`fabricgen diff --release FROM TO`: what an upgrade of SONiC changes in the files."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli
from tests.diff.fabrics import Config, edited
from tests.inventories import explicit, write

UNIFIED = {"frr_mgmt_framework_config": "true", "docker_routing_config_mode": "separated"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("upgrade") / "inventory", explicit())


@pytest.fixture(scope="module")
def bundle(source: Path) -> Path:
    """The bundle of the inventory, with a field that only 202605 has on one switch."""
    from fabricgen.api import render

    render(source, source.parent / "rendered")

    def change(device: str, config: Config) -> None:
        if device == "spine1":
            config["DEVICE_METADATA"]["localhost"] |= {"async_swss_rec": "enable"} | UNIFIED

    return edited(source.parent / "rendered", "bundle", change)


def ops(found: dict[str, Any]) -> set[tuple[str, str, str, tuple[str, ...]]]:
    return {(one["op"], one["table"], one["key"], tuple(one["devices"])) for one in found["changes"]}


ALL = ("leaf1", "leaf2", "spine1", "spine2")
# staticroutebfd before 202505 ends at a blackhole without a next hop (FG286).
NEXT_HOPS = {("STATIC_ROUTE", f"default|10.64.0.{2 * n}/31", (f"leaf{n + 1}",)) for n in range(2)}
COUNTERS = {("FLEX_COUNTER_TABLE", "WRED_ECN_PORT", ALL), ("FLEX_COUNTER_TABLE", "WRED_ECN_QUEUE", ALL)}


def test_an_inventory_is_rendered_for_both_releases(source: Path, cli: Cli) -> None:
    before = sorted(source.iterdir())
    found = cli("diff", str(source), "--release", "202411", "master", "--format", "json", "--exit-code")
    assert found.code == 4
    result = json.loads(found.out)
    added = {("add", *row) for row in (*COUNTERS, *NEXT_HOPS)}  # `advertise`, which the old models do not have
    removed = {("remove", *row) for row in NEXT_HOPS}
    assert result["releases"] == [{"release": "202411", "frr": "10.0.1"}, {"release": "master", "frr": "10.5.4"}]
    assert ops(result) == ops(result["after"]) == added | removed
    assert result["before"]["changes"] == result["findings"] == []
    assert sorted(source.iterdir()) == before  # no lock file


def test_the_way_back_removes_before_the_switch_boots(source: Path, cli: Cli) -> None:
    result = json.loads(cli("diff", str(source), "--release", "202505", "202411", "--format", "json").out)
    removed = {("remove", *row) for row in (*COUNTERS, *NEXT_HOPS)}
    assert ops(result) == removed | {("add", *row) for row in NEXT_HOPS}
    assert ops(result["before"]) >= {("remove", *row) for row in COUNTERS}


def test_equal_releases_change_nothing(source: Path, cli: Cli) -> None:
    found = cli("diff", str(source), "--release", "202505", "202511", "--exit-code")
    assert found.code == 0
    assert found.out.splitlines()[0] == "SONiC 202505 → 202511, FRR 10.3 → 10.4.1"
    assert "No differences." in found.out


def test_a_bundle_loses_what_the_new_release_does_not_know(bundle: Path, cli: Cli) -> None:
    result = json.loads(cli("diff", str(bundle), "--release", "202605", "master", "--format", "json").out)
    [change] = result["changes"]
    assert (change["op"], change["key"], change["field"]) == ("remove", "localhost", "async_swss_rec")
    assert result["before"]["changes"] == [change]
    assert {(one["code"], one["device"]) for one in result["findings"]} == {("FG450", "spine1"), ("FG451", "spine1")}
    assert all("bundle/sonic/spine1/config_db.json" in one["location"]["file"] for one in result["findings"])


@pytest.mark.parametrize("fmt", ["text", "markdown"])
def test_people_read_when_to_apply_the_changes(fmt: str, bundle: Path, cli: Cli) -> None:
    found = cli("diff", str(bundle), "--release", "202411", "202605", "--format", fmt)
    assert found.code == 0
    assert "after the upgrade, by the new release: 8 rows added, 1 field added." in found.out
    assert "before the upgrade" not in found.out
    assert "FG451" in found.err and "one frr.conf" in found.err


def test_patches_of_each_phase(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    command = ("diff", str(bundle), "--release", "202605", "master")
    result = json.loads(cli(*command, "--format", "jsonpatch").out)
    wanted = [{"op": "remove", "path": "/DEVICE_METADATA/localhost/async_swss_rec"}]
    assert {name: one["patch"] for name, one in result["before"]["devices"].items()} == {"spine1": wanted}
    assert result["before"]["devices"]["spine1"]["release"] == 202605 and result["after"]["devices"] == {}
    assert cli(*command, "--format", "jsonpatch", "--output", str(tmp_path / "out")).code == 0
    assert json.loads((tmp_path / "out/before/spine1.json").read_text()) == wanted
    assert not list((tmp_path / "out").glob("after/*"))


def test_plans_of_each_phase(bundle: Path, cli: Cli) -> None:
    found = cli("diff", str(bundle), "--release", "202411", "202605", "--format", "plan")
    result = json.loads(found.out)
    assert list(result["after"]["devices"]) == list(ALL) and result["before"]["devices"] == {}
    assert "release 202605" in found.err and "release 202411" not in found.err


def test_what_a_release_refuses_is_a_finding(cli: Cli, tmp_path: Path) -> None:
    wanted = {"match": {"role": "leaf"}, "config_db": {"SWITCH_TRIMMING": {"GLOBAL": {"size": "128"}}}}
    source = write(tmp_path / "inventory", explicit() | {"overrides": [wanted]})
    refused = cli("diff", str(source), "--release", "202411", "202505")
    assert refused.code == 1 and refused.out == ""
    assert "FG112" in refused.err and "exists since release 202505" in refused.err
    assert cli("diff", str(source), "--release", "202505", "202411", "--format", "json").code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["build"], "give --release FROM TO without NEW"),
        (["build", "next", "--release", "202505", "202511"], "give --release FROM TO without NEW"),
        (["nowhere", "--release", "202505", "202511"], "nowhere: no such file or folder"),
        (["build", "--release", "202505", "202512"], "202512"),
        (["build", "--release", "202505", "202511", "--safe"], "--format plan"),
    ],
)
def test_what_cannot_be_asked(
    arguments: list[str], said: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("build", "next"):
        (tmp_path / folder).mkdir()
    refused = cli("diff", *arguments)
    assert refused.code == 2 and said in refused.err
