"""What the YANG models of each release have, and `validate --release`."""

import json
from pathlib import Path

import pytest

from fabricgen.api import Layers, render
from fabricgen.bundle.outside import read_speaker
from fabricgen.bundle.read import open_bundle
from fabricgen.inventory.schema import inventory_schema
from fabricgen.rules.schema.release import of_release
from fabricgen.sonic.release_models import (
    Image,
    absence,
    as_known_to,
    differences,
    images,
    known_release,
    release_number,
    release_word,
    releases_with,
)
from fabricgen.sonic.releases import MASTER
from fabricgen.sonic.schema import field_names, table_names
from tests.conftest import Cli
from tests.inventories import ARISTA, NVIDIA, explicit, write


def test_releases_are_those_of_the_public_branches() -> None:
    assert list(images()) == [202405, 202411, 202505, 202511, 202605, MASTER]
    assert all(0 < len(having) < len(images()) for having in differences().values())


def test_an_inventory_takes_each_release_and_no_other() -> None:
    """202305 and 202311 have no models here; the updater's tables know them."""
    taken = inventory_schema()["properties"]["sonic"]["properties"]["release"]["enum"]
    assert taken == [202305, 202311, *(release for release in images() if release != MASTER), "master"]


def test_what_came_and_went() -> None:
    assert min(releases_with("SWITCH_TRIMMING")) == 202505
    assert min(releases_with("SWITCH_TRIMMING", "GLOBAL", "size")) == 202505
    assert min(releases_with("BUFFER_PROFILE", "egress_lossy_profile", "packet_discard_action")) == 202505
    assert min(releases_with("BGP_DEVICE_GLOBAL", "STATE", "wcmp_enabled")) == 202411
    assert releases_with("DEVICE_METADATA", "localhost", "async_swss_rec") == {202605}
    assert releases_with("DEVICE_METADATA", "localhost", "hostname") == set(images())
    assert (known_release(202305), known_release(202506), release_number("master")) == (202405, 202505, MASTER)


def test_what_the_master_branch_has_is_in_the_schema() -> None:
    """The schema was read from the same commit by another program."""
    for path, having in differences().items():
        table, _, rest = path.partition("|")
        if MASTER in having:
            assert table in table_names(), path
            assert rest.count("|") == 0 or rest.rpartition("|")[2] in field_names(table), path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    content = {
        "DEVICE_METADATA": {
            "localhost": {"frr_mgmt_framework_config": "true", "docker_routing_config_mode": "separated"},
            "bmc": {"bmc_if_name": "bmc0"},
        },
        "SWITCH_TRIMMING": {"GLOBAL": {"size": "128"}},
        "PFC_WD": {"Ethernet0": {"action": "drop", "pfc_stat_history": "enable"}},
    }
    path = tmp_path / "config_db.json"
    path.write_text(json.dumps(content, indent=4))
    return path


BMC = ("FG450", "DEVICE_METADATA|bmc")


@pytest.mark.parametrize(
    ("release", "places"),
    {
        "202405": {BMC, ("FG450", "SWITCH_TRIMMING"), ("FG450", "PFC_WD|Ethernet0|pfc_stat_history")},
        "202505": {BMC, ("FG450", "PFC_WD|Ethernet0|pfc_stat_history")},
        "202511": {BMC},
        "202605": {("FG451", "DEVICE_METADATA|localhost|docker_routing_config_mode")},
        "master": {("FG451", "DEVICE_METADATA|localhost|docker_routing_config_mode")},
    }.items(),
)
def test_a_file_is_compared_with_a_release(file: Path, cli: Cli, release: str, places: set[tuple[str, str]]) -> None:
    found = cli("validate", str(file), "--release", release, "--select", "FG45", "--format", "json")
    assert {(one["code"], one["path"]) for one in json.loads(found.out)["findings"]} == places
    assert found.code == 0


def test_an_unknown_release_is_refused(file: Path, cli: Cli) -> None:
    refused = cli("validate", str(file), "--release", "202401")
    assert refused.code == 2 and "202405" in refused.err


def test_each_release_has_its_frr() -> None:
    """rules/frr.mk and constants.yml of the commits."""
    assert [(image.frr, image.maximum_paths) for image in images().values()] == [
        ("8.5.4", 64), ("10.0.1", 514), ("10.3", 514), ("10.4.1", 514), ("10.5.4", 514), ("10.5.4", 514),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("version", "release", "paths"),
    [("", None, 514), ("", 202405, 64), ("", 202311, 64), ("", MASTER, 514), ("version_202405_01", 202605, 64)],
)
def test_the_default_routing_mode_uses_the_paths_of_its_release(version: str, release: int, paths: int) -> None:
    tables = {"DEVICE_METADATA": {"localhost": {"bgp_asn": "65000"}}, "VERSIONS": {"DATABASE": {"VERSION": version}}}
    assert read_speaker(tables, release).maximum_paths == paths


def test_what_a_release_knows_of_a_file(file: Path) -> None:
    tables = json.loads(file.read_text()) | {"FLEX_COUNTER_TABLE": {"WRED_ECN_PORT": {}, "PORT": {}}}
    old = as_known_to(tables, 202411)
    assert old["PFC_WD"] == {"Ethernet0": {"action": "drop"}}
    assert old["DEVICE_METADATA"].keys() == {"localhost"} and old["FLEX_COUNTER_TABLE"] == {"PORT": {}}
    assert as_known_to(tables, MASTER) == tables
    assert absence(202411, "FLEX_COUNTER_TABLE", "WRED_ECN_PORT") == "since release 202505"
    assert absence(MASTER, "DEVICE_METADATA", "localhost", "async_swss_rec") == "until release 202605"


def test_more_uplinks_than_equal_paths(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release with one path, in place of fabrics with 65 spines."""
    source = write(tmp_path / "inventory", explicit())
    assert cli("render", str(source), "-o", str(tmp_path / "build"), "--set", "sonic.release=master").code == 0
    assert json.loads((tmp_path / "build/manifest.json").read_text())["sonic_release"] == "master"
    assert open_bundle([tmp_path / "build"]).release == MASTER
    judged = ("validate", str(tmp_path / "build"), "--release", "202405", "--select", "FG452", "--format", "json")
    assert json.loads(cli(*judged).out)["findings"] == []
    monkeypatch.setattr("fabricgen.rules.schema.release.image_of", lambda _: Image("", "8.5.4", 1))
    found = json.loads(cli(*judged).out)["findings"]
    assert [(one["device"], one["path"]) for one in found] == [("leaf1", "BGP_NEIGHBOR")]
    assert found[0]["count"] == 2  # and leaf2
    assert "2 links upward" in found[0]["message"] and "release 202405 uses 1" in found[0]["message"]


def test_an_override_needs_its_release(tmp_path: Path, cli: Cli) -> None:
    gone = {"match": {"role": "leaf"}, "config_db": {"DEVICE_METADATA": {"localhost": {"async_swss_rec": "enable"}}}}
    source = write(tmp_path / "inventory", explicit() | {"overrides": [gone]})
    for release, said in (
        ("202511", "exists since release 202605"),
        ("master", "this fabric is for the master branch"),
    ):
        refused = cli("check", str(source), "--set", f"sonic.release={release}", "--format", "concise")
        assert refused.code == 1 and "FG112" in refused.out and said in refused.out
    assert cli("render", str(source), "-o", str(tmp_path / "b"), "--set", "sonic.release=202605").code == 0


@pytest.mark.parametrize("platform", [ARISTA, NVIDIA])
def test_what_is_rendered_for_a_release_is_known_to_it(platform: str, tmp_path: Path) -> None:
    source = write(tmp_path / "inventory", explicit(platform=platform))
    for release in images():
        bundle = tmp_path / str(release)
        assert render(Layers((source,), (f"sonic.release={release_word(release)}",)), bundle).is_written
        assert of_release(open_bundle([bundle]), release) == []
