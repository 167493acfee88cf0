"""Layers of an inventory: what a site file changes, where its values are, and what it cannot extend."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.findings import Finding, Location, Severity
from fabricgen.inventory.load import Layers, load_inventory
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.overlay import overlay, set_value
from fabricgen.inventory.read_yaml import read_yaml
from tests.conftest import Cli
from tests.inventories import explicit, rail_optimized, text_of, write

BASE = text_of(rail_optimized())


def node(text: str, file: str = "f.yaml") -> Node:
    return read_yaml(text, file)[0]


def laid_over(base: str, layer: str) -> Any:
    tree = node(base)
    overlay(tree, node(layer))
    return tree.plain()


def found(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(one.code, str(one.location), one.message) for one in findings if one.severity == "error"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """base.yaml, and a folder site-b for the site that extends it."""
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "site-b").mkdir()
    return tmp_path / "site-b" / "fabric.yaml"


@pytest.mark.parametrize(
    ("base", "layer", "result"),
    [
        ("{a: 1, b: 2}", "{b: 3}", {"a": 1, "b": 3}),
        ("{a: {b: 1, c: 2}}", "{a: {b: 3}}", {"a": {"b": 3, "c": 2}}),
        ("{a: {length: 40m, medium: smf}}", "{a: 60m}", {"a": "60m"}),
        ("{a: 1, b: 2}", "{a: null}", {"b": 2}),
        ("{a: [x, y]}", "{a: [z]}", {"a": ["z"]}),
        ("{a: [{m: 1}]}", "{a: [{m: 2}]}", {"a": [{"m": 1}, {"m": 2}]}),
        ("{a: [{name: x, r: 1}, {name: y}]}", "{a: [{name: y, r: 2}, {name: z}]}",
         {"a": [{"name": "x", "r": 1}, {"name": "y", "r": 2}, {"name": "z"}]}),
        ("{a: [[x, y]]}", "{a: [[z, w]]}", {"a": [["x", "y"], ["z", "w"]]}),
        ("{a: 10.0.0.0/8}", "{a: [10.0.0.0/8, fd00::/64]}", {"a": ["10.0.0.0/8", "fd00::/64"]}),
        ("{a: [{m: 1}]}", "{a: []}", {"a": []}),
    ],
)  # fmt: skip
def test_a_layer_changes_its_base(base: str, layer: str, result: object) -> None:
    assert laid_over(base, layer) == result


trees = st.recursive(
    st.integers(0, 9) | st.text("ab", max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3) | st.lists(st.integers(0, 3), max_size=2),
    max_leaves=8,
)
mappings = st.dictionaries(st.sampled_from("abc"), trees, max_size=3)


@given(mappings)
def test_an_inventory_over_itself_is_the_same(tree: dict[str, Any]) -> None:
    text = json.dumps(tree)
    assert laid_over(text, text) == tree == laid_over(text, "{}") == laid_over("{}", text)


@given(mappings, mappings)
def test_every_value_of_the_layer_is_in_the_result(base: dict[str, Any], layer: dict[str, Any]) -> None:
    def holds(result: Any, part: Any) -> bool:
        if isinstance(part, dict) and part:
            return all(key in result and holds(result[key], value) for key, value in part.items())
        return bool(result == part) or part == {}

    assert holds(laid_over(json.dumps(base), json.dumps(layer)), layer)


@pytest.mark.parametrize(
    ("path", "result", "problem"),
    [
        ("a.b", {"a": {"b": 7, "d.e": 2}, "l": [{"n": 1}]}, ""),
        ("a.d.e", {"a": {"b": 1, "d.e": 7}, "l": [{"n": 1}]}, ""),
        ("x.y", {"a": {"b": 1, "d.e": 2}, "l": [{"n": 1}], "x": {"y": 7}}, ""),
        ("l[0].n", {"a": {"b": 1, "d.e": 2}, "l": [{"n": 7}]}, ""),
        ("l[0]", {"a": {"b": 1, "d.e": 2}, "l": [7]}, ""),
        ("l[1].n", None, "the list has 1 item"),
        ("a[0]", None, "[0] is not an item of a list"),
        ("a.b.c", None, "the value before 'c' is not a mapping"),
        ("a..b", None, "a key of the path is empty"),
    ],
)
def test_a_value_is_set_at_its_path(path: str, result: object, problem: str) -> None:
    tree = node("{a: {b: 1, d.e: 2}, l: [{n: 1}]}")
    assert set_value(tree, path, Node(7, Location("x"))) == problem
    if not problem:
        assert tree.plain() == result


def test_values_have_the_place_where_they_are_written(site: Path) -> None:
    site.write_text("extends: ../base.yaml\nfabric: b\nplanes:\n  compute: {mtu: 9000}\n")
    inventory, findings = load_inventory(Layers((site,), ("planes.compute.roce_mtu=1024",)))
    plane = inventory.planes["compute"]
    assert (findings, inventory.fabric, plane.mtu_bytes, plane.roce_mtu_bytes) == ([], "b", 9000, 1024)
    assert plane.source("mtu") == "fabric.yaml#planes.compute.mtu" and plane.at("mtu").line == 4
    assert plane.source("speed") == "../base.yaml#planes.compute.speed"
    assert str(plane.at("roce_mtu")) == "--set planes.compute.roce_mtu=1024"


def test_a_changed_cable_has_the_place_of_the_layer(tmp_path: Path) -> None:
    write(tmp_path / "base", rail_optimized(cables={"leaf-spine": {"length": "40m", "medium": "smf"}}))
    (tmp_path / "site.yaml").write_text("extends: base\nplanes:\n  compute:\n    cables: {leaf-spine: {length: 60m}}\n")
    cable = load_inventory(tmp_path / "site.yaml")[0].planes["compute"].cables["leaf-spine"]  # type: ignore[index]
    assert (cable.length_m, cable.medium, str(cable.at())) == (60.0, "smf", "site.yaml:4:26")
    assert cable.source() == "site.yaml#planes.compute.cables.leaf-spine"
    assert str(cable.at("medium")).startswith("base/fabric.yaml")


def test_extends_and_positional_layers_are_the_same(site: Path, tmp_path: Path) -> None:
    site.write_text("extends: ../base.yaml\nfabric: b\n")
    other = tmp_path / "site-b" / "plain.yaml"
    other.write_text("fabric: b\n")
    one, two, three = (load_inventory(source)[0] for source in (
        site, Layers((tmp_path / "base.yaml", other)), Layers((tmp_path / "base.yaml", site))))  # fmt: skip
    assert one.digest == two.digest == three.digest


def test_a_layer_without_a_change_changes_no_digest(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "site.yaml").write_text("extends: base.yaml\n")
    assert load_inventory(tmp_path / "base.yaml")[0].digest == load_inventory(tmp_path / "site.yaml")[0].digest


def test_the_last_of_several_bases_wins(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "mtu.yaml").write_text("planes: {compute: {mtu: 4200, roce_mtu: 1024}}\n")
    (tmp_path / "site.yaml").write_text("extends: [base.yaml, mtu.yaml]\nplanes: {compute: {mtu: 5000}}\n")
    plane = load_inventory(tmp_path / "site.yaml")[0].planes["compute"]
    assert (plane.mtu_bytes, plane.roce_mtu_bytes) == (5000, 1024)


def test_paths_are_relative_to_the_file_that_contains_them(tmp_path: Path) -> None:
    tree = {**rail_optimized(), "platforms": ["switches/own.yaml"], "sonic": {"base": "tables/{name}.json"}}
    write(tmp_path / "base", tree)
    (tmp_path / "site").mkdir()
    (tmp_path / "site/fabric.yaml").write_text("extends: ../base\nplatforms: [more.yaml]\n")
    inventory, _ = load_inventory(tmp_path / "site")
    assert inventory.platform_files == ("more.yaml",) and inventory.sonic.base == "../base/tables/{name}.json"


@pytest.mark.parametrize(
    ("site_text", "code", "message"),
    [
        ("extends: ../none.yaml\n", "FG137", "extends: ../none.yaml does not exist"),
        ("extends: fabric.yaml\n", "FG137", "extends: fabric.yaml is this inventory itself"),
        ("extends: [../loop.yaml]\n", "FG137", "extends: site-b/fabric.yaml extends this inventory"),
        ("extends: 7\n", "FG104", "extends must be a path, or a list of paths, relative to this file"),
        ("extends: {a: b}\n", "FG104", "extends must be a path, or a list of paths, relative to this file"),
    ],
)
def test_a_wrong_base_is_an_error_at_its_line(site_text: str, code: str, message: str, site: Path) -> None:
    (site.parents[1] / "loop.yaml").write_text("extends: site-b/fabric.yaml\n")
    site.write_text(site_text)
    first = found(load_inventory(site)[1])[0]
    assert (first[0], first[2]) == (code, message) and ".yaml:1:" in first[1]


def test_a_folder_cannot_extend_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "site.yaml").write_text("extends: base.yaml\n")
    problems = found(load_inventory(tmp_path)[1])
    assert [(code, place) for code, place, _ in problems] == [("FG137", "site.yaml:1:10")]
    assert "is part of the folder" in problems[0][2]


def test_the_command_line_reports_files_lines_and_settings(site: Path, tmp_path: Path, cli: Cli) -> None:
    site.write_text("fabric: b\nplanes:\n  compute:\n    mtu: 900\n    speeed: 1G\n")
    outcome = cli("check", tmp_path / "base.yaml", site, "--set", "planes.compute.roce_mtu=77", "--format", "concise")
    assert outcome.code == 1
    assert f"{site}:4:10: error FG105 planes.compute.mtu: 900 is less than 1500" in outcome.out
    assert f"{site}:5:5: error FG101 unknown key 'speeed'" in outcome.out
    assert "--set planes.compute.roce_mtu=77: error FG105" in outcome.out


def test_one_setting_without_a_value_is_a_usage_error(tmp_path: Path, cli: Cli) -> None:
    write(tmp_path, rail_optimized())
    outcome = cli("check", tmp_path, "--set", "planes.compute.mtu")
    assert outcome.code == 2 and "write PATH=VALUE" in outcome.err
    outcome = cli("check", tmp_path, "--set", "hosts[3]=x", "--format", "concise")
    assert outcome.code == 1 and "--set hosts[3]=x: error FG137" in outcome.out
    outcome = cli("check", tmp_path, "--set", "hosts={}", "--format", "concise")
    assert outcome.code == 1 and "error FG137" in outcome.out and "hosts merges with {}" in outcome.out
    outcome = cli("check", tmp_path, "--set", "planes.compute.mtu=[1", "--format", "concise")
    assert outcome.code == 2 and "Traceback" not in outcome.err


def test_a_site_renders_with_its_own_lock_and_cables(site: Path, tmp_path: Path, cli: Cli) -> None:
    site.write_text("extends: ../base.yaml\nfabric: b\n")
    value = ("--set", "planes.compute.cables.leaf-spine=60m")
    assert cli("-q", "render", site, "--output", tmp_path / "out", *value).code == 0
    assert yaml.safe_load((site.parent / "allocations.lock.yaml").read_text())["fabric"] == "b"
    assert not (tmp_path / "allocations.lock.yaml").exists()
    wiring = json.loads((tmp_path / "out/fabric.json").read_text())
    cables = {link["cable"] for link in wiring["links"] if link["kind"] == "leaf-spine"}
    assert {cable["length_m"] for cable in wiring["cables"] if cable["id"] in cables} == {60.0}
    assert cli("render", site, "--output", tmp_path / "out", "--check", *value).code == 0
    assert cli("render", site, "--output", tmp_path / "out", "--check").code == 1
    assert cli("render", tmp_path / "base.yaml", site, "--output", tmp_path / "out", "--check", *value).code == 0


def test_capacity_shows_a_base_and_its_site_side_by_side(site: Path, tmp_path: Path, cli: Cli) -> None:
    site.write_text("extends: ../base.yaml\nhosts: {gpu: {count: 12}}\n")
    outcome = cli("capacity", tmp_path / "base.yaml", site, "--format", "json", "--set", "planes.compute.spine.count=4")
    first, second = json.loads(outcome.out)["capacity"]["inventories"]
    assert [one["planes"][0]["hosts"] for one in (first, second)] == [8, 12]
    assert [one["planes"][0]["switches"]["spine"] for one in (first, second)] == [4, 4]


def test_a_report_takes_layers_and_values(site: Path, tmp_path: Path, cli: Cli) -> None:
    site.write_text("fabric: b\nhosts: {gpu: {count: 4}}\n")
    page = tmp_path / "report.json"
    value = ("--set", "planes.compute.cables.leaf-spine=60m")
    given = ("--format", "json", "--output", page, "--fail-on", "never")
    outcome = cli("report", tmp_path / "base.yaml", site, *value, *given)
    assert outcome.code == 0, outcome.err
    shown = json.loads(page.read_text())["report"]
    assert shown["bill"]["hosts"] == 4
    assert [row["length_m"] for row in shown["bill"]["optics"] if row["kind"] == "leaf-spine"] == [60.0]
    assert cli("-q", "render", tmp_path / "base.yaml", site, "--output", tmp_path / "out").code == 0
    refused = cli("report", tmp_path / "out", *value, *given)
    assert refused.code == 2 and "out is not an inventory: it is reported alone, without --set" in refused.err


def test_addresses_are_imported_beside_the_last_layer(site: Path, tmp_path: Path, cli: Cli) -> None:
    site.write_text("planes: {compute: {addressing: {loopbacks: 10.9.0.0/16}}}\n")
    (tmp_path / "table.csv").write_text("device,loopback\ncompute-spine-00,10.9.7.7\n")
    refused = cli("import", "addresses", tmp_path / "table.csv", tmp_path / "base.yaml")
    assert refused.code == 1 and "10.9.7.7" in refused.out
    outcome = cli("import", "addresses", tmp_path / "table.csv", tmp_path / "base.yaml", site)
    assert outcome.code == 0 and f"fabricgen check {tmp_path / 'base.yaml'} {site}" in outcome.err, outcome.out
    lock = yaml.safe_load((site.parent / "allocations.lock.yaml").read_text())
    assert lock["loopbacks"]["compute/spine0"] == ["10.9.7.7"] and not (tmp_path / "allocations.lock.yaml").exists()


@pytest.mark.parametrize(
    ("base", "layer", "places"),
    [
        ("{a: {b: 1}}", "{a: {}}", {"a": (Severity.ERROR, 1, 5)}),
        ("{a: {b: {c: 1}}}", "a:\n  b: {}", {"a.b": (Severity.ERROR, 2, 6)}),
        ("{a: [{name: x, b: {c: 1}}]}", "{a: [{name: x, b: {}}]}", {"a[x].b": (Severity.ERROR, 1, 19)}),
        ("{a: 1}", "{b: null}", {"b": (Severity.WARNING, 1, 5)}),
        ("{a: {b: 1}}", "{a: {c: }}", {"a.c": (Severity.WARNING, 1, 9)}),
        ("{a: {}}", "{a: {}}", {}),
        ("{}", "{a: {}}", {}),
        ("{a: 1}", "{a: {}}", {}),
        ("{a: [1]}", "{a: []}", {}),
        ("{a: {b: 1}}", "{a: null}", {}),
        ("{a: {b: 1}}", "{a: {b: null}}", {}),
        ("{a: {b: 1}}", "{}", {}),
    ],
)
def test_what_a_layer_does_not_change_is_reported(
    base: str, layer: str, places: dict[str, tuple[Severity, int, int]]
) -> None:
    findings = overlay(node(base), node(layer))
    assert all(one.code == "FG137" and one.hint for one in findings)
    found = {one.path: (one.severity, one.location.line, one.location.column) for one in findings if one.location}
    assert found == places


def test_an_empty_mapping_of_a_site_is_reported_at_its_line(tmp_path: Path, cli: Cli) -> None:
    write(tmp_path / "base", explicit())
    (tmp_path / "site.yaml").write_text("extends: base\nplanes: {}\nsonic: null\n")
    outcome = cli("check", tmp_path / "site.yaml", "--format", "concise")
    assert outcome.code == 1
    assert "site.yaml:2:9: error FG137 planes merges with {}, which changes nothing" in outcome.out
    assert "site.yaml:3:8: warning FG137 sonic removes what no earlier layer sets" in outcome.out
