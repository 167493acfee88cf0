"""Damaged or missing files of a bundle, and damaged links files, are reported with their location."""

import json
from pathlib import Path

import pytest

from fabricgen.cli.main import run
from tests.conftest import Cli
from tests.inventories import explicit, write
from tests.render.hosts.rendered import write_bundle


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rendered")
    with pytest.raises(SystemExit) as stop:
        run(["-q", "render", str(write(folder / "inventory", explicit())), "-o", str(folder / "b")])
    assert not stop.value.code
    return folder / "b"


@pytest.mark.parametrize("name", ["fabric.json", "sources.json"])
@pytest.mark.parametrize("text", ["", "[]", "5", "null", "{}", '"text"'])
def test_damaged_files_of_a_bundle_prevent_a_verdict(name: str, text: str, cli: Cli, bundle: Path) -> None:
    (bundle / name).unlink()
    (bundle / name).write_text(text)
    for command in (["validate", bundle], ["explain", bundle, "leaf1:PORT|Ethernet0|mtu"]):
        outcome = cli(*command)
        assert (outcome.code, outcome.out) == (2, "") and f"error: {bundle / name}: " in outcome.err
        assert "bug" not in outcome.err


def test_a_missing_file_of_the_manifest_is_reported(cli: Cli, bundle: Path) -> None:
    (bundle / "sonic/leaf1/config_db.json").unlink()
    outcome = cli("validate", bundle, "--format", "json")
    gone = [one for one in json.loads(outcome.out)["findings"] if one["code"] == "FG220"]
    assert outcome.code == 1 and [one["device"] for one in gone] == ["leaf1"]
    place = gone[0]["location"]
    line = (bundle / "manifest.json").read_text().splitlines()[place["line"] - 1]
    assert place["file"] == f"{bundle}/manifest.json" and '"sonic/leaf1/config_db.json"' in line


def test_missing_files_of_a_group_of_hosts_are_one_finding(cli: Cli, bundle: Path) -> None:
    for file in (bundle / "hosts").rglob("*"):
        if file.is_file():
            file.unlink()
    found = cli("validate", bundle, "--select", "FG220", "--format", "concise").out.splitlines()
    assert len(found) == 1 and "FG220 hosts/gpu" in found[0]


def found(cli: Cli, bundle: Path, *options: str) -> set[tuple[str, str, str, str]]:
    """(code, severity, device, path) of the findings about the files as such."""
    words = ("--select", "FG220,FG255,FG256,FG257,FG259,FG900", "--format", "json", "--expand", *options)
    findings = json.loads(cli("validate", bundle, *words).out)["findings"]
    return {(one["code"], one["severity"], one["device"], one["path"]) for one in findings if one["code"] != "FG900"}


def rewrite(file: Path, text: str) -> None:
    file.unlink()  # it may be a link to the rendered one
    file.write_text(text)


@pytest.mark.parametrize("name", ["fabricgen-roce", "fabricgen-roce@.service", "gpudirect-check"])
def test_each_missing_or_changed_file_is_reported(name: str, cli: Cli, tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "small")
    assert found(cli, bundle) == set() and found(cli, bundle, "--deploy") == set()
    file = bundle / "hosts" / "gpu" / name
    rewrite(file, file.read_text() + "# changed\n")
    assert found(cli, bundle) == {("FG255", "warning", "hosts/gpu", name)}
    assert {one[:2] for one in found(cli, bundle, "--deploy")} == {("FG255", "warning"), ("FG259", "error")}
    file.unlink()
    assert len(found(cli, bundle)) == (name == "gpudirect-check")  # FG900 reports the others
    assert ("FG259", "error") in {one[:2] for one in found(cli, bundle, "--deploy")}


def test_a_changed_file_that_rules_read_is_a_note(cli: Cli, bundle: Path) -> None:
    file = bundle / "sonic/leaf1/config_db.json"
    rewrite(file, file.read_text() + "\n")
    assert found(cli, bundle) == {("FG255", "note", "leaf1", "sonic/leaf1/config_db.json")}
    assert cli("validate", bundle).code == 0 and cli("validate", bundle, "--deploy").code == 1


def test_files_that_the_manifest_does_not_list(cli: Cli, bundle: Path) -> None:
    (bundle / "hosts/gpu/evil.service").write_text("[Unit]\n")
    (bundle / "hosts/gpu/README.md").write_text("notes\n")
    (bundle / "notes.txt").write_text("not in a folder of the bundle\n")
    assert found(cli, bundle) == {
        ("FG256", "warning", "hosts/gpu", "evil.service"),
        ("FG256", "note", "hosts/gpu", "README.md"),
    }


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"fabric": 1}', '{"files": [{"path": "/dev/zero", "sha256": ""}]}'])
def test_a_damaged_manifest_is_an_error(text: str, cli: Cli, bundle: Path) -> None:
    rewrite(bundle / "manifest.json", text)
    assert found(cli, bundle) == {("FG257", "error", "", "manifest.json")}
    assert cli("validate", bundle, "--deploy").code == 1


def test_a_manifest_names_files_of_the_bundle_only(cli: Cli, bundle: Path) -> None:
    text = (bundle / "manifest.json").read_text()
    for path in ("/dev/zero", "../other"):
        rewrite(bundle / "manifest.json", text.replace("cabling.csv", path))
        assert ("FG257", "error", "", "manifest.json") in found(cli, bundle)


def test_a_bundle_without_a_manifest_is_not_deployed(cli: Cli, bundle: Path) -> None:
    (bundle / "manifest.json").unlink()
    assert found(cli, bundle) == set()
    assert ("FG259", "error") in {one[:2] for one in found(cli, bundle, "--deploy")}


def test_a_bundle_without_its_wiring_is_not_loose_files(cli: Cli, bundle: Path) -> None:
    (bundle / "fabric.json").unlink()
    assert ("FG220", "error", "", "fabric.json") in found(cli, bundle)


def test_a_bundle_of_selected_switches_is_complete(cli: Cli, rendered: Path, tmp_path: Path) -> None:
    assert cli("render", rendered.parent / "inventory", "-o", tmp_path / "part", "--only", "leaf1").code == 0
    assert cli("validate", tmp_path / "part", "--select", "FG220").code == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "it is not a list"),
        ("[[1, 2]]", "[1,2] is not a pair"),
        ("[]", "the file has no links, and it replaces those of fabric.json"),
        ('[["leaf1|Ethernet0", "spine1|Ethernet0", "x"]]', "is not a pair"),
        ('[["leaf1", "spine1"]]', "'leaf1' is not DEVICE|PORT"),
        ('[["laef1|Ethernet0", "spnie1|Ethernet0"]]', "none of its links has an end at one of the given switches"),
    ],
)
def test_damaged_links_files_prevent_a_verdict(text: str, problem: str, cli: Cli, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "links.json").write_text(text)
    outcome = cli("simulate", "deadlock", bundle, "--links", tmp_path / "links.json")
    assert outcome.code == 2 and problem in outcome.err


def test_links_of_other_switches_are_counted_in_a_warning(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    links = [["leaf1|Ethernet256", "spine1|Ethernet0"], ["leaf8|Ethernet256", "spine8|Ethernet0"]]
    (tmp_path / "links.json").write_text(json.dumps(links))
    outcome = cli("simulate", "deadlock", bundle, "--links", tmp_path / "links.json")
    assert outcome.code == 0 and "1 of 2 links do not have an end at one of the given switches" in outcome.err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"lldp": {"interface": "x"}}', "an LLDP dump of an unknown format; known formats are lldpctl"),
        ('{"LLDP_ENTRY_TABLE": {"Ethernet0": 5}}', "an LLDP dump of an unknown format; known formats are lldpctl"),
        ('{"lldp": {"interface": []}}', "the LLDP dumps have no judged switch"),
    ],
)
def test_lldp_without_neighbors_prevents_a_verdict(
    text: str, problem: str, cli: Cli, bundle: Path, tmp_path: Path
) -> None:
    (tmp_path / "leaf9.json").write_text(text)
    outcome = cli("validate", bundle, "--lldp", tmp_path / "leaf9.json")
    assert outcome.code == 2 and problem in outcome.err and "Error(" not in outcome.err


def test_a_lock_file_that_is_a_folder_is_an_error(cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    (inventory / "allocations.lock.yaml").mkdir()
    outcome = cli("check", inventory)
    assert outcome.code == 2 and "allocations.lock.yaml: cannot read: Is a directory" in outcome.err


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("leaf1:PORT|Ethernet0", "PORT|Ethernet0 has fields such as admin_status"),
        ("leaf1:PORT", "PORT has rows such as Ethernet0"),
        ("leaf1:PROT|Ethernet0|mtu", "table 'PROT' does not exist"),
    ],
)
def test_an_incomplete_path_is_answered_with_its_members(value: str, hint: str, cli: Cli, bundle: Path) -> None:
    outcome = cli("explain", bundle, value)
    assert outcome.code == 2 and hint in outcome.err


def test_switches_without_a_mac_are_noted_before_they_are_deployed(cli: Cli, bundle: Path) -> None:
    """`config reload` adds the MAC address; a file that is copied before a boot stays without it."""
    (note,) = json.loads(cli("validate", bundle, "--deploy", "--select", "FG262", "--format", "json").out)["findings"]
    config = json.loads((bundle / "sonic/leaf1/config_db.json").read_text())
    without = len(list((bundle / "sonic").iterdir()))
    assert (note["severity"], note["count"], "mac" in config["DEVICE_METADATA"]["localhost"]) == (
        "note",
        without,
        False,
    )
    for number, file in enumerate((bundle / "sonic").glob("*/config_db.json")):
        config = json.loads(file.read_text())
        config["DEVICE_METADATA"]["localhost"]["mac"] = f"02:00:00:00:00:{number:02x}"
        rewrite(file, json.dumps(config))
    assert (
        json.loads(cli("validate", bundle, "--deploy", "--select", "FG262", "--format", "json").out)["findings"] == []
    )
