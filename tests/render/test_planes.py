"""Planes together: one inventory, one bundle; no plane changes the files of another; PFC is only where requested."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricgen.platforms.catalog import switch_platform
from fabricgen.resources import resource
from fabricgen.sonic.schema import check
from tests.conftest import Cli
from tests.examples import examples
from tests.inventories import ARISTA, DELL, NVIDIA, Tree, dual_homed_planes, planes_together, write

PLANES = ["compute", "in-band", "out-of-band", "storage"]
WITHOUT_PFC = ["in-band", "out-of-band"]
ONE_SPINE = ("--ignore", "FG285")  # the small planes have one spine each


def configs(bundle: Path) -> dict[str, bytes]:
    """device -> bytes of its file."""
    return {file.parent.name: file.read_bytes() for file in bundle.glob("sonic/*/config_db.json")}


def render(cli: Cli, inventory: Path, bundle: Path) -> dict[str, bytes]:
    outcome = cli("render", inventory, "--output", bundle, "-q")
    assert outcome.code == 0, outcome.out
    return configs(bundle)


@pytest.mark.parametrize("platform", [ARISTA, NVIDIA, DELL])
def test_render_validate_and_check_four_planes(platform: str, cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "i", planes_together(NVIDIA, platform))
    render(cli, inventory, tmp_path / "b")
    outcome = cli("validate", tmp_path / "b", *ONE_SPINE)
    assert (
        outcome.code == 0 and "18 devices, 46 links" in outcome.out and "0 errors, 0 warnings, 0 notes" in outcome.out
    )
    outcome = cli("check", inventory, "--format", "json", *ONE_SPINE)
    report = json.loads(outcome.out)
    notes = {(one["code"], one["severity"]) for one in report["findings"]}
    assert outcome.code == 0 and notes == {("FG606", "warning")}  # each leaf hangs on one cable
    deadlock = report["deadlock"]
    assert (deadlock["verdict"], deadlock["claim"], deadlock["priorities"]) == ("free", "proved", [3, 4])
    by_plane = {plane["name"]: plane for plane in deadlock["planes"]}
    assert list(by_plane) == ["compute", "storage", "in-band", "out-of-band"]
    for name in WITHOUT_PFC:
        plane = by_plane[name]
        assert (plane["verdict"], plane["claim"], plane["priorities"]) == ("free", "proved", [])
        assert plane["channels"] == plane["dependencies"] == 0 and plane["cycles"] == []
    wiring = json.loads((tmp_path / "b" / "fabric.json").read_text())
    assert {plane["name"]: (plane["purpose"], plane["lossless"]) for plane in wiring["planes"]} == {
        "compute": ("compute", [3, 4]),
        "in-band": ("in-band", []),
        "out-of-band": ("out-of-band", []),
        "storage": ("storage", [3, 4]),
    }


@pytest.mark.parametrize("small", [ARISTA, NVIDIA, DELL])
def test_hosts_are_dual_homed_on_every_small_plane(small: str, cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "i", dual_homed_planes(small=small))
    files = render(cli, inventory, tmp_path / "b")
    outcome = cli("check", inventory, "--format", "json", *ONE_SPINE)
    report = json.loads(outcome.out)
    assert outcome.code == 0 and report["findings"] == []
    assert [plane["priorities"] for plane in report["deadlock"]["planes"]] == [[3, 4], [3, 4], []]
    wiring = json.loads((tmp_path / "b" / "fabric.json").read_text())
    for host in wiring["hosts"]:
        leaves = {link["b"][0] for link in wiring["links"] if link["a"][0] == host["name"]}
        assert sum(leaf.startswith("in-band") for leaf in leaves) == 2
        assert sum(leaf.startswith("storage") for leaf in leaves) == 2
    before = {name: content for name, content in files.items() if not name.startswith("compute")}
    grown = dual_homed_planes(small=small)
    grown["planes"]["compute"]["scalable_unit"] = {"hosts": 4, "planned": 3}
    after = render(cli, write(tmp_path / "i", grown), tmp_path / "b")
    assert {name: after[name] for name in before} == before


def test_the_example_of_planes_together(cli: Cli) -> None:
    inventory = resource("inventories", "superpod")
    lines = (inventory / "fabric.yaml").read_text().splitlines()
    assert len(lines) <= 60
    outcome = cli("check", inventory, "--format", "json", *ONE_SPINE)
    report = json.loads(outcome.out)
    assert outcome.code == 0 and report["findings"] == []
    assert {plane["name"]: plane["priorities"] for plane in report["deadlock"]["planes"]} == {
        "compute": [3, 4],
        "storage": [3],
        "in-band": [],
        "out-of-band": [],
    }
    planes = json.loads(cli("capacity", inventory, "--format", "json").out)["capacity"]["planes"]
    counted = {
        plane["name"]: (plane["switches"]["leaf"], plane["switches"]["spine"], plane["endpoints"]) for plane in planes
    }
    assert counted == {"compute": (8, 8, 256), "in-band": (2, 2, 64), "out-of-band": (1, 1, 32), "storage": (2, 2, 64)}


def test_the_verdict_says_plainly_that_nothing_is_lossless(cli: Cli, tmp_path: Path) -> None:
    render(cli, write(tmp_path / "i", planes_together()), tmp_path / "b")
    text = cli("simulate", "deadlock", tmp_path / "b").out
    assert "plane in-band: free, proved: no link between switches is lossless, so no buffer waits for another\n" in text
    assert "FG604" not in text
    alone = json.loads(cli("simulate", "deadlock", tmp_path / "b", "--plane", "in-band", "--format", "json").out)
    assert (alone["deadlock"]["verdict"], alone["deadlock"]["claim"], alone["deadlock"]["priorities"]) == (
        "free",
        "proved",
        [],
    )


def test_files_of_a_plane_without_pfc_are_clean_without_fabric_json(cli: Cli, tmp_path: Path) -> None:
    render(cli, write(tmp_path / "i", planes_together()), tmp_path / "b")
    assert "0 errors, 0 warnings" in cli("validate", tmp_path / "b" / "sonic", *ONE_SPINE).out
    for device in ("in-band-leaf1", "out-of-band-spine"):
        outcome = cli("validate", tmp_path / "b" / "sonic" / device / "config_db.json", *ONE_SPINE)
        assert outcome.code == 0 and "0 errors, 0 warnings" in outcome.out


def test_one_switch_makes_a_plane(cli: Cli, tmp_path: Path) -> None:
    """Nothing but hosts on it: no link between switches to prove anything about."""
    tree = planes_together()
    plane = tree["planes"]["in-band"]
    del plane["spines"], plane["spine"]
    plane["leaves"] = plane["leaves"][:1]
    plane["links"] = [link for link in plane["links"] if link[1].startswith("in-band-leaf1:") and "inband" in link[0]]
    outcome = cli("check", write(tmp_path / "i", tree), *ONE_SPINE)
    assert outcome.code == 0 and "plane in-band: free, proved: no link between switches is lossless" in outcome.out


def lossless_words(config: dict[str, Any]) -> set[str]:
    """Tables and fields that make anything lossless."""
    found = {table for table in ("PFC_WD", "WRED_PROFILE", "LOSSLESS_TRAFFIC_PATTERN") if table in config}
    found |= {table for table in ("MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP") if table in config}
    found |= {name for row in config["PORT_QOS_MAP"].values() for name in row if "pfc" in name}
    for table in ("BUFFER_PG", "BUFFER_QUEUE"):
        found |= {f"{table} {row['profile']}" for row in config.get(table, {}).values()
                  if "lossless" in row["profile"] or row["profile"] == "NULL"}  # fmt: skip
    found |= {length for row in config["CABLE_LENGTH"].values() for length in row.values() if length != "0m"}
    return found | {f"wred of {key}" for key, row in config["QUEUE"].items() if "wred_profile" in row}


@pytest.mark.parametrize("platform", [ARISTA, NVIDIA, DELL])
def test_a_plane_without_pfc_has_its_classes_and_the_skus_pools_alone(platform: str, cli: Cli, tmp_path: Path) -> None:
    files = render(cli, write(tmp_path / "i", planes_together(ARISTA, platform)), tmp_path / "b")
    config = json.loads(files["in-band-leaf1"])
    assert check(config) == [] and lossless_words(config) == set()
    assert lossless_words(json.loads(files["storage-leaf1"])) > {"pfc_enable", "PFC_WD"}
    switch = switch_platform(platform)
    assert switch
    defaults = switch.layouts[0].buffers["leaf"]
    assert config["BUFFER_POOL"] == defaults.pools
    listed = {name for names in defaults.port_profile_lists.values() for name in names.split(",")}
    unused = {defaults.lossless_queue_profile} - listed
    assert config["BUFFER_PROFILE"].keys() == defaults.profiles.keys() - unused
    wired = config["DEVICE_NEIGHBOR"].keys()
    assert {key: row["profile"] for key, row in config["BUFFER_PG"].items()} == {
        f"{port}|0": defaults.lossy_pg_profile for port in wired
    }
    assert {key: row["profile"] for key, row in config["BUFFER_QUEUE"].items()} == {
        f"{port}|0-7": defaults.lossy_queue_profile for port in wired
    }
    classes = config["DSCP_TO_TC_MAP"]["AZURE"]
    assert {dscp: tc for dscp, tc in classes.items() if tc != "0"} == {"48": "6", "56": "7"}
    kinds = {key.split("|")[1]: config["SCHEDULER"][row["scheduler"]]["type"] for key, row in config["QUEUE"].items()}
    assert kinds == {str(queue): "STRICT" if queue > 5 else "DWRR" for queue in range(8)}


def test_without_buffer_facts_no_buffer_table_is_rendered_and_a_note_says_so(cli: Cli, tmp_path: Path) -> None:
    tree = planes_together()
    tier = {"platform": ARISTA, "layout": "64x800g"}
    tree["planes"]["out-of-band"].update(leaf=tier, spine=tier, speed="800G")
    inventory = write(tmp_path / "i", tree)
    render(cli, inventory, tmp_path / "b")
    outcome = cli("check", inventory, *ONE_SPINE)
    assert outcome.code == 0 and outcome.out.count("note FG598") == 2
    config = json.loads(configs(tmp_path / "b")["out-of-band-leaf1"])
    assert check(config) == [] and not {table for table in config if table.startswith("BUFFER_")}
    assert lossless_words(config) == set() and config["PORT_QOS_MAP"] and config["QUEUE"]
    outcome = cli("validate", tmp_path / "b", *ONE_SPINE)
    assert outcome.code == 0 and "0 errors, 0 warnings" in outcome.out
    tree["planes"]["out-of-band"]["purpose"] = "storage"
    assert "FG580" in cli("check", write(tmp_path / "lossless", tree), *ONE_SPINE).out


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(PLANES))
def test_adding_a_plane_changes_no_byte_of_the_others(order: list[str], cli: Cli, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("planes")
    whole = planes_together()
    tree: Tree = {**whole, "planes": {}}
    before: dict[str, bytes] = {}
    for name in order:
        tree["planes"][name] = whole["planes"][name]
        after = render(cli, write(folder / "i", tree), folder / "b")
        assert {device: after.get(device) for device in before} == before
        new = after.keys() - before.keys()
        assert new and all(device.startswith(name) for device in new)
        before = after


def broken_bundle(cli: Cli, folder: Path) -> Path:
    render(cli, write(folder / "i", planes_together()), folder / "b")
    return folder / "b"


def edit(bundle: Path, device: str, table: str, key: str, row: dict[str, str]) -> None:
    file = bundle / "sonic" / device / "config_db.json"
    config = json.loads(file.read_text())
    config.setdefault(table, {}).setdefault(key, {}).update(row)
    file.write_text(json.dumps(config, indent=4))


@pytest.mark.parametrize(
    ("code", "device", "table", "key", "row"),
    [
        ("FG595", "in-band-leaf1", "PORT_QOS_MAP", "Ethernet0", {"pfc_enable": "3,4"}),
        ("FG595", "out-of-band-spine", "BUFFER_QUEUE", "Ethernet0|3", {"profile": "egress_lossless_profile"}),
        (
            "FG596",
            "storage-spine",
            "DEVICE_NEIGHBOR",
            "Ethernet64",
            {"name": "compute-spine-00", "port": "Ethernet508"},
        ),
        ("FG328", "storage-leaf1", "STATIC_ROUTE", "default|10.0.64.0/20", {"blackhole": "true"}),
        ("FG329", "storage-leaf1", "INTERFACE", "Ethernet0|10.2.64.1/30", {}),
    ],
)
def test_planes_are_checked_together(
    code: str, device: str, table: str, key: str, row: dict[str, str], cli: Cli, tmp_path: Path
) -> None:
    bundle = broken_bundle(cli, tmp_path)
    edit(bundle, device, table, key, row)
    outcome = cli("validate", bundle, "--select", code, "--format", "json", *ONE_SPINE)
    found = json.loads(outcome.out)["findings"]
    assert outcome.code == 1 and {(one["code"], one["device"]) for one in found} == {(code, device)}
    assert all(one["path"].startswith(f"{table}|{key}") and one["location"]["line"] > 1 for one in found)


def test_pools_of_two_planes_that_overlap_are_refused(cli: Cli, tmp_path: Path) -> None:
    tree = planes_together()
    tree["planes"]["storage"]["addressing"]["hosts"] = "10.2.64.0/18"
    outcome = cli("check", write(tmp_path / "i", tree), *ONE_SPINE)
    assert outcome.code == 1 and "FG383" in outcome.out and "of plane in-band" in outcome.out
