"""`buffers`: rows that a person states make the same files as those of the SKU, and are checked."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabricgen.platforms.catalog import switch_platform
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.render.plans import make_plans
from fabricgen.units import format_speed
from tests.conftest import Cli
from tests.inventories import ARISTA, Tree, rail_optimized, write

SKU = "Arista-7060X6-64PE-O128S2"


def platform_of(name: str) -> SwitchPlatform:
    platform = switch_platform(name)
    assert platform
    return platform


def by_hand(layout: Layout) -> Tree:
    """The buffers of a layout as a person writes them."""
    rows = [
        {"speed": format_speed(row.speed_mbps), "cable": f"{row.cable_m}m", "size": row.size_bytes,
         "xon": row.xon_bytes, "xoff": row.xoff_bytes, "dynamic_th": row.dynamic_th}
        | ({} if row.xon_offset_bytes is None else {"xon_offset": row.xon_offset_bytes})
        for row in layout.headroom
    ]  # fmt: skip
    tables = [
        {"roles": [role], "pools": {key: dict(row) for key, row in each.pools.items()},
         "profiles": {key: dict(row) for key, row in each.profiles.items()},
         "lossless_queue_profile": each.lossless_queue_profile, "lossy_queue_profile": each.lossy_queue_profile,
         "lossy_pg_profile": each.lossy_pg_profile, "port_profile_lists": dict(each.port_profile_lists)}
        for role, each in layout.buffers.items()
    ]  # fmt: skip
    return {"source": "the data sheet of the vendor", "headroom": rows, "tables": tables}


def without_buffers(platform: SwitchPlatform) -> str:
    layouts = tuple(
        replace(layout, headroom=(), buffers={}, sources={"ports": layout.sources["ports"]})
        for layout in platform.layouts
    )
    return switch_entry_text(replace(platform, layouts=layouts))


def bare(folder: Path, name: str, speed: str) -> Tree:
    """An inventory whose platform has no buffers."""
    tree = rail_optimized(2, 2, 2, name, "node", speed=speed)
    nic = {"name": "rail{rail}", "model": "ConnectX-7", "speed": speed, "plane": "compute", "rails": 2}
    tree["host_models"] = {"node": {"gpus": 2, "nics": [nic]}}
    (folder / "platforms").mkdir(parents=True)
    (folder / "platforms" / "bare.yaml").write_text(without_buffers(platform_of(name)))
    return {**tree, "platforms": ["platforms/bare.yaml"]}


@pytest.mark.parametrize(("name", "speed"), [(ARISTA, "400G"), ("nvidia-sn4700", "200G")])
def test_the_same_bytes(name: str, speed: str, tmp_path: Path, cli: Cli) -> None:
    tree = bare(tmp_path / "hand", name, speed)
    own = {key: value for key, value in tree.items() if key != "platforms"}
    assert cli("render", write(tmp_path / "sku", own), "-o", tmp_path / "a").code == 0
    tree["buffers"] = {layout.hwsku: by_hand(layout) for layout in platform_of(name).layouts if layout.buffers}
    assert cli("render", write(tmp_path / "hand", tree), "-o", tmp_path / "b").code == 0
    configs = [
        {file.parent.name: file.read_bytes() for file in (tmp_path / folder).glob("sonic/*/config_db.json")}
        for folder in "ab"
    ]
    assert configs[0] and configs[0] == configs[1]
    assert (tmp_path / "b" / "platforms" / f"{name}.yaml").is_file()
    assert not (tmp_path / "a" / "platforms").exists()
    outcome = cli("validate", tmp_path / "b", "--format", "json", "--ignore", "FG285")  # one spine
    assert json.loads(outcome.out)["findings"] == [], "the bundle carries the entry"
    source = (tmp_path / "b" / "sources.json").read_text()
    assert "the data sheet of the vendor" in source


def test_the_lines_to_write(tmp_path: Path) -> None:
    plans = make_plans(write(tmp_path, bare(tmp_path, ARISTA, "400G")))
    (leaf, spine) = [one for one in plans.findings if one.code == "FG580"]
    assert (
        f"buffers: {{{SKU}: {{source:" in leaf.hint and "roles: [leaf]" in leaf.hint and "lossless: none" in leaf.hint
    )
    assert "headroom: [{speed: 400G, cable: 5m, size: BYTES," in leaf.hint and "roles: [spine]" in spine.hint


def test_lossless_none_and_back(tmp_path: Path) -> None:
    tree = bare(tmp_path, ARISTA, "400G")
    tree["planes"]["compute"]["lossless"] = "none"
    assert "FG580" not in {one.code for one in make_plans(write(tmp_path, tree)).findings}
    del tree["planes"]["compute"]["lossless"]
    tree["buffers"] = {SKU: by_hand(platform_of(ARISTA).layouts[0])}
    assert [one for one in make_plans(write(tmp_path, tree)).findings if one.severity == "error"] == []


def stated(folder: Path, **change: Any) -> list[tuple[str, str, str, str]]:
    """Findings of an inventory whose stated buffers are changed: code, severity, path, message."""
    hand = by_hand(platform_of(ARISTA).layouts[0])
    hand["headroom"] = [row | change.get("row", {}) for row in hand["headroom"]]
    hand["tables"][0] |= change.get("table", {})
    tree = rail_optimized(2, 2, 2, ARISTA)
    tree["buffers"] = {change.get("hwsku", SKU): hand}
    found = make_plans(write(folder, tree)).findings
    return [(one.code, one.severity, one.path, one.message) for one in found if one.severity != "note"]


def test_what_is_checked(tmp_path: Path) -> None:
    assert stated(tmp_path) == []
    found = stated(tmp_path, row={"xoff": 1000})
    assert {each[:2] for each in found} == {("FG549", "warning")}
    assert "but 400G over 5m need at least" in found[0][3]
    found = stated(tmp_path, row={"xoff": 20_000_000})
    assert ("FG549", "warning") in {each[:2] for each in found} and "other SKUs of Tomahawk5 have" in found[0][3]
    assert stated(tmp_path, table={"lossy_pg_profile": "nothing"})[0] == (
        "FG549", "error", f"buffers.{SKU}.tables[0].lossy_pg_profile",
        "lossy_pg_profile is nothing, which `profiles` does not have",
    )  # fmt: skip
    found = stated(tmp_path, table={"pools": {"egress_lossy_pool": {"type": "egress", "mode": "dynamic"}}})
    assert found[0][3] == "`pools` has no ingress_lossless_pool"
    assert stated(tmp_path, hwsku="Arista-7060X6-64PE-O127")[0][0] == "FG107"


def test_the_source_must_be_stated(tmp_path: Path, cli: Cli) -> None:
    tree = {**rail_optimized(2, 2, 2, ARISTA), "buffers": {SKU: {"headroom": []}}}
    outcome = cli("check", write(tmp_path, tree), "--format", "json")
    first, *_ = json.loads(outcome.out)["findings"]
    assert (first["code"], first["path"]) == ("FG106", f"buffers.{SKU}")


def test_the_type_selects_the_tables(tmp_path: Path) -> None:
    """A SKU whose t0 template is lossy: as LeafRouter a leaf has the tables of t1, as SONiC gives it."""
    tree = bare(tmp_path, ARISTA, "400G")
    hand = by_hand(platform_of(ARISTA).layouts[0])
    hand["tables"] = [table for table in hand["tables"] if table["roles"] == ["spine"]]
    tree["buffers"] = {SKU: hand}
    (found,) = [one for one in make_plans(write(tmp_path, tree)).findings if one.severity == "error"]
    assert found.code == "FG580" and found.hint.startswith("the SKU has buffers for `type: LeafRouter`: set it")
    tree["planes"]["compute"]["leaf"] |= {"type": "LeafRouter"}
    plans = make_plans(write(tmp_path, tree))
    assert [one for one in plans.findings if one.severity == "error"] == []
    leaf = next(switch for switch in plans.fabric.switches if switch.role == "leaf")
    plan = plans.planner.plan(leaf)
    assert plan and dict(plan.pools["ingress_lossless_pool"]) == hand["tables"][0]["pools"]["ingress_lossless_pool"]


def test_buffers_of_a_layout_that_no_switch_has(tmp_path: Path) -> None:
    platform = platform_of(ARISTA)
    used, other = (by_hand(layout) for layout in platform.layouts[:2])
    names = [layout.hwsku for layout in platform.layouts[:2]]
    tree = rail_optimized() | {"buffers": dict(zip(names, (used, other), strict=True))}
    findings = [one for one in make_plans(write(tmp_path / "inventory", tree)).findings if one.code == "FG455"]
    assert [(one.severity, one.path) for one in findings] == [("warning", f"buffers.{names[1]}")]
    assert names[1] in findings[0].message and names[0] in findings[0].hint
    assert findings[0].location and findings[0].location.line > 0
    tree["planes"]["compute"]["spine"]["layout"] = platform.layouts[1].name
    later = make_plans(write(tmp_path / "second", tree)).findings
    assert not [one for one in later if one.code == "FG455"]
