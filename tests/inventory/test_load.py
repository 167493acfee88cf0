"""Reading an inventory: places of values, merges of folders, what is cut out, and what never shows."""

import json
from pathlib import Path

import pytest

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location
from fabricgen.inventory.load import load_inventory
from fabricgen.inventory.nodes import SecretReference
from fabricgen.sonic.secrets import masked
from tests.conftest import Cli
from tests.inventories import QUICKSTART, explicit, rail_optimized, write


def found(findings: list[Finding]) -> set[tuple[str, str]]:
    return {(finding.code, str(finding.location)) for finding in findings}


def test_quickstart_is_short_and_without_findings() -> None:
    inventory, findings = load_inventory(QUICKSTART)
    assert findings == []
    assert len((QUICKSTART / "fabric.yaml").read_text().splitlines()) <= 40
    assert inventory.planes["compute"].at("scalable_unit", "planned") == Location("fabric.yaml", 14, 32)


def test_every_value_knows_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("fabricgen: 1\nfabric: f\nplanes:\n  p:\n    design: explicit\n    mtu:  9000\n")
    plane = load_inventory(tmp_path)[0].planes["p"]
    assert plane.at("mtu") == Location("a.yaml", 6, 5)
    assert plane.at("speed") == plane.at() == Location("a.yaml", 5, 5)
    assert plane.source("mtu") == "a.yaml#planes.p.mtu"


@pytest.mark.parametrize(
    ("speed", "cable", "medium"),
    [
        ("1G", {}, "utp"),
        ("1G", {"host-leaf": "100m"}, "utp"),
        ("1G", {"host-leaf": "101m"}, "smf"),
        ("1G", {"host-leaf": {"length": "5m", "medium": "mmf"}}, "mmf"),
        ("10G", {}, "mmf"),
        ("400G", {"host-leaf": "3m"}, "dac"),
    ],
)
def test_the_medium_follows_speed_and_length(speed: str, cable: dict[str, object], medium: str, tmp_path: Path) -> None:
    tree = explicit(speed=speed, uplink_speed="100G", cables=cable)
    cables = load_inventory(write(tmp_path, tree))[0].planes["compute"].cables
    assert cables["host-leaf"].medium == medium
    assert cables["leaf-spine"].medium == "mmf"


def test_a_bundle_is_not_an_inventory(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match=r"the folder has no YAML file$"):
        load_inventory(tmp_path)
    (tmp_path / "sonic").mkdir()
    with pytest.raises(UnreadableInputError, match="it is a bundle: give the inventory"):
        load_inventory(tmp_path)


def test_a_folder_is_one_inventory(tmp_path: Path) -> None:
    whole = explicit()
    links = whole["planes"]["compute"].pop("links")
    leaves = whole["planes"]["compute"].pop("leaves")
    write(tmp_path / "split", whole, "1.yaml")
    write(
        tmp_path / "split", {"fabricgen": 1, "planes": {"compute": {"links": links[:2], "leaves": leaves[:1]}}}, "2.yml"
    )
    more = [{"name": "leaf1", "su": 7}, *leaves[1:]]
    write(tmp_path / "split", {"planes": {"compute": {"links": links[2:], "leaves": more}}}, "3.yaml")
    inventory, findings = load_inventory(tmp_path / "split")
    assert findings == []
    plane = inventory.planes["compute"]
    assert [link.ends for link in plane.links] == [tuple(link) for link in links]
    assert [(leaf.name, leaf.rail, leaf.su) for leaf in plane.switches["leaf"]] == [("leaf1", 0, 7), ("leaf2", 1, None)]


def test_digest_is_of_the_content_not_of_its_layout(tmp_path: Path) -> None:
    tree = rail_optimized()
    one = load_inventory(write(tmp_path / "one", tree))[0].digest
    write(tmp_path / "two", {key: tree[key] for key in ("management", "fabric", "planes")}, "a.yaml")
    write(tmp_path / "two", {"hosts": tree["hosts"], "fabricgen": 1}, "b.yaml")
    assert load_inventory(tmp_path / "two")[0].digest == one
    tree["hosts"]["gpu"]["count"] += 1
    assert load_inventory(write(tmp_path / "three", tree))[0].digest != one


def test_the_same_scalar_in_two_files_is_a_finding_with_both_places(tmp_path: Path) -> None:
    write(tmp_path, rail_optimized(), "a.yaml")
    (tmp_path / "b.yaml").write_text("fabric: small\n")
    (finding,) = load_inventory(tmp_path)[1]
    assert finding.code == "FG103" and finding.location == Location("b.yaml", 1, 9)
    assert [str(each.location) for each in finding.related] == ["a.yaml:2:9"]


def test_keys_given_twice_are_found_at_any_depth(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text("fabricgen: 1\nfabric: f\nplanes: {p: {design: explicit, mtu: 9000, mtu: 9100}}\nfabric: g\n")
    inventory, findings = load_inventory(file)
    assert {("FG102", "f.yaml:3:43"), ("FG102", "f.yaml:4:1")} <= found(findings)
    assert inventory.fabric == "f" and inventory.planes["p"].mtu_bytes == 9000


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(
        "fabricgen: 1\nfabric: f\nplanes:\n  p: &base {design: explicit, mtu: 9000, roce_mtu: 2048}\n"
        "  q: {<<: *base, mtu: 9100}\n"
    )
    planes = load_inventory(file)[0].planes
    assert (planes["q"].mtu_bytes, planes["q"].roce_mtu_bytes) == (9100, 2048)


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("a: [1, 2\nb: 3\n", "2:2", "not YAML"),
        ("a: 'x\n", "2:1", "not YAML"),
        ("a: &x [*x]\n", "1:4", "contains itself"),
        ("a: !vault hunter2\n", "1:4", "!vault"),
        ("a: !!int hunter2\n", "1:4", "int"),
        ("? [a]\n: 1\n", "1:3", "cannot be a key"),
        ("- a\n", "1:1", "not a mapping"),
        ("a: \x00\n", "", "not YAML"),
    ],
)
def test_what_is_no_yaml_stops_with_its_line(text: str, place: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(text)
    with pytest.raises(UnreadableInputError, match=problem) as stop:
        load_inventory(tmp_path)
    assert str(stop.value.location).startswith(f"{file}:{place}".rstrip(":"))
    assert "hunter2" not in str(stop.value)


def test_one_wrong_key_takes_nothing_else_with_it(tmp_path: Path) -> None:
    tree = rail_optimized(lossless={"classes": {"3": {"dscp": [26]}, "9": {"dscp": [1]}}})
    tree["hosts"]["bad name"] = {"model": "dgx-h100", "count": 1}
    inventory, findings = load_inventory(write(tmp_path, tree))
    assert sorted(finding.path for finding in findings) == ["hosts.bad name", "planes.compute.lossless.classes.9"]
    assert list(inventory.hosts) == ["gpu"] and inventory.planes["compute"].lossless.classes == {3: (26,)}


def test_a_missing_top_key_hides_no_other_mistake(tmp_path: Path) -> None:
    tree = rail_optimized()
    del tree["fabricgen"], tree["fabric"]
    tree["planes"]["compute"]["hosts"] = ["gpus"]
    findings = load_inventory(write(tmp_path, tree))[1]
    assert sorted(finding.code for finding in findings) == ["FG106", "FG106", "FG107"]


@pytest.mark.parametrize("fmt", ["text", "concise", "json"])
@pytest.mark.parametrize(
    "snmp",
    [
        "{community: hunter2}",
        "{comunity: hunter2}",
        "{community: [hunter2]}",
        "{community: hunter2, community: hunter2}",
        '{"community": "hun\\"ter2, hunter2", loction: x}',
        "\n    contact: [x]\n    community:\n      hunter2",
    ],
)
def test_a_secret_never_shows(snmp: str, fmt: str, cli: Cli, tmp_path: Path) -> None:
    tree = rail_optimized()
    del tree["management"]
    file = write(tmp_path, tree) / "fabric.yaml"
    file.write_text(f"{file.read_text()}management:\n  addresses: 10.255.0.0/20\n  gateway: x\n  snmp: {snmp}\n")
    outcome = cli("check", tmp_path, "--format", fmt)
    assert outcome.code == 1
    assert "hunter2" not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  snmp: {community: !secret snmp/read}", "  snmp: {community: !secret snmp/read}"),
        ("  snmp: {comunity: abc, location: x}", "  snmp: {comunity: ***, location: x}"),
        ('            "passkey": "a,b}c",', '            "passkey": *******,'),
        ('            "passkey": "${secret:tacacs}"', '            "passkey": "${secret:tacacs}"'),
        ("SNMP_COMMUNITY: {ab: {TYPE: RO}}", "SNMP_COMMUNITY: {**: {****: **}}"),
        ("name: leaf1", "name: leaf1"),
    ],
)
def test_masked_line(line: str, shown: str) -> None:
    assert masked(line) == shown and len(masked(line)) == len(line)


def test_a_secret_may_be_a_key(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(
        "fabricgen: 1\nfabric: f\nplanes: {p: {design: explicit}}\noverrides:\n"
        "  - {match: {role: leaf}, config_db: {SNMP_COMMUNITY: {!secret snmp/ro: {TYPE: RO}}}}\n"
    )
    (override,) = load_inventory(tmp_path)[0].overrides
    (key,) = override.config_db["SNMP_COMMUNITY"]
    assert isinstance(key, SecretReference)


def test_devices_csv_and_the_devices_list_are_one(tmp_path: Path) -> None:
    tree = rail_optimized()
    tree["devices"] = [{"name": "compute-spine-00", "rack": "A1"}]
    write(tmp_path, tree)
    (tmp_path / "devices.csv").write_text("name,serial,unit\ncompute-spine-00,X1,7\ncompute-su00-r0-leaf,X2,8\n")
    inventory, findings = load_inventory(tmp_path)
    assert findings == []
    assert [(each.name, each.rack, each.serial, each.unit) for each in inventory.devices] == [
        ("compute-spine-00", "A1", "X1", "7"),
        ("compute-su00-r0-leaf", "", "X2", "8"),
    ]


def test_the_schema_is_a_legal_one_and_every_example_conforms() -> None:
    from jsonschema import Draft202012Validator

    from fabricgen.resources import resource

    for name in ("inventory", "findings"):
        schema = json.loads(resource("schemas", f"{name}.schema.json").read_text())
        Draft202012Validator.check_schema(schema)


def test_lists_merge_by_name_only_where_there_is_one(tmp_path: Path) -> None:
    write(tmp_path, {**rail_optimized(), "devices": [{"name": ["x"]}]}, "a.yaml")
    write(tmp_path, {"devices": [{"name": ["x"]}, {"rack": "A"}]}, "b.yaml")
    assert [finding.code for finding in load_inventory(tmp_path)[1]] == ["FG104", "FG104", "FG106"]


def test_text_that_yaml_reads_as_something_else(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text("fabricgen: 1\nfabric: 2025-01-01\nplanes: {on: {design: explicit}}\n")
    findings = load_inventory(tmp_path)[1]
    assert ("FG104", "f.yaml:2:9") in found(findings)
    assert "2025-01-01" in findings[0].message


@pytest.mark.parametrize(
    "text",
    [
        "x: " + "[" * 50_000,
        "x: " + "[" * 1_500 + "]" * 1_500,
        "- " * 5_000 + "x",
        "\n".join(" " * level + f"k{level}:" for level in range(1_500)),
    ],
    ids=["open lists", "lists", "lists in one line", "mappings"],
)
def test_deep_nesting_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "fabric.yaml").write_text(text)
    with pytest.raises(UnreadableInputError, match="more than 200 levels"):
        load_inventory(tmp_path)


def test_aliases_do_not_grow_without_bound(tmp_path: Path) -> None:
    lines = ["k0: &k0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 9)}]" for n in range(1, 12)]
    (tmp_path / "fabric.yaml").write_text("\n".join(lines))
    with pytest.raises(UnreadableInputError, match="aliases expand the file to more than 100 times"):
        load_inventory(tmp_path)
