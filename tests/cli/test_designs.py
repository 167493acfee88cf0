"""Whole inventories of the designs beside the Clos: RoCE on them is refused or proved, InfiniBand is checked.

`tests/refused` and `tests/proved` hold inventories with `expected.json`: exit code, codes with severity, the verdict.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.bundle.read import open_bundle
from fabricgen.resources import resource
from fabricgen.routing.fabric import read_fabric
from tests.conftest import Cli, Golden
from tests.inventories import GENERIC, Tree, explicit, grid, grouped, rail_optimized, write

ROOT = Path(__file__).parents[1]
JUDGED = sorted(folder for kind in ("refused", "proved") for folder in (ROOT / kind).iterdir())


def checked(cli: Cli, inventory: Path) -> tuple[int, dict[str, Any]]:
    outcome = cli("check", inventory, "--format", "json")
    return outcome.code, json.loads(outcome.out)


def without_addressing(tree: Tree) -> Tree:
    return {key: value for key, value in tree.items() if key != "addressing"}


@pytest.mark.parametrize("folder", JUDGED, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_roce_is_refused_or_proved(folder: Path, cli: Cli, golden: Golden) -> None:
    code, shown = checked(cli, folder)
    deadlock = {key: shown["deadlock"][key] for key in ("verdict", "claim", "priorities")}
    codes = sorted({(finding["code"], finding["severity"]) for finding in shown["findings"]})
    found = {"exit_code": code, "findings": codes, "deadlock": deadlock}
    golden(folder / "expected.json", (json.dumps(found, indent=2) + "\n").encode())
    refused = folder.parent.name == "refused"
    assert code == int(refused) and deadlock["verdict"] == ("cyclic" if refused else "free")
    others = ("FG606", "FG7")  # hosts that a failure disconnects, and load, are other matters
    of_deadlock = [one for one in codes if one[1] != "note" and not one[0].startswith(others)]
    assert of_deadlock == ([("FG601", "error")] if refused else [])


@pytest.mark.parametrize("folder", JUDGED, ids=lambda folder: folder.name)
def test_every_leaf_reaches_the_hosts_of_the_other_leaves(folder: Path, cli: Cli, tmp_path: Path) -> None:
    """By the routes of the rendered files, through the ASNs that the design chose."""
    write(tmp_path / "i", yaml.safe_load((folder / "fabric.yaml").read_text()))
    assert cli("render", tmp_path / "i", "-o", tmp_path / "b", "-q").code == 0
    bundle = open_bundle([tmp_path / "b"], None)
    fabric = read_fabric(bundle, list(bundle.devices))
    leaves = {name for name, device in bundle.devices.items() if device.wired and device.wired.role == "leaf"}
    next_hops = fabric.next_hops()
    prefixes = {(name, prefix) for name, prefix in fabric.announced if name in leaves and not prefix.endswith("/32")}
    assert len(prefixes) == len(leaves) > 1
    for name, prefix in prefixes:
        assert all(prefix in next_hops[other] for other in leaves - {name})


def without_load(shown: dict[str, Any]) -> set[str]:
    """The codes of the findings, without those of congestion: fixed routes of a design can load some links twice."""
    return {code for finding in shown["findings"] if not (code := finding["code"]).startswith("FG70")}


@pytest.mark.usefixtures("few_failures")
def test_every_format_reports_infiniband(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path, grid("torus", [4, 3], 12, technology="infiniband"))
    text = cli("check", folder).out
    first, second, *_ = text.splitlines()
    assert first.startswith("passed: ")
    assert second.startswith("infiniband  plane compute: torus-2QoS, 2 VLs, qos TRUE (2D torus: torus-2QoS routes by ")
    assert "note FG888  plane compute: 12 switches and 96 adapters have placeholder GUIDs" in text
    (subnet,) = checked(cli, folder)[1]["infiniband"]
    (plane,) = json.loads(cli("capacity", folder, "--format", "json").out)["capacity"]["planes"]
    assert subnet == {"name": "compute", **plane["infiniband"]}
    assert (subnet["engine"], subnet["vls"], subnet["qos"], plane["lids"]) == ("torus-2QoS", 2, True, 96 + 12)
    for form in ("text", "markdown"):
        shown = cli("capacity", folder, "--format", form).out
        assert all(words in shown for words in ("torus-2QoS", "2 VLs, qos TRUE", "108 of 49151", "datelines at x=0"))


def test_capacity_of_roce_has_no_subnet(cli: Cli) -> None:
    (plane,) = json.loads(cli("capacity", resource("inventories", "quickstart"), "--format", "json").out)["capacity"][
        "planes"
    ]
    assert plane["infiniband"] is None and plane["lids"] is None


def mixed() -> Tree:
    """A RoCE plane of four switches, and an InfiniBand mesh with other hosts."""
    tree = explicit()
    other = grid("mesh", [2, 2], 4, technology="infiniband")["planes"]["compute"]
    tree["hosts"]["sim"] = {"model": "dgx-h100", "count": 4}
    tree["planes"]["ib"] = {**without_addressing(other), "hosts": ["sim"]}
    return tree


@pytest.mark.usefixtures("opensm")
def test_roce_planes_beside_infiniband_are_judged(cli: Cli, tmp_path: Path) -> None:
    code, shown = checked(cli, write(tmp_path, mixed()))
    assert code == 0 and without_load(shown) == {"FG387", "FG606", "FG888"}
    assert shown["deadlock"]["verdict"] == "free" and [one["name"] for one in shown["infiniband"]] == ["ib"]
    assert shown["summary"]["devices"] == 4 + 4 and shown["summary"]["rules"] > 90
    lines = cli("check", tmp_path).out.splitlines()
    assert lines[1].startswith("infiniband  plane ib: torus-2QoS, 2 VLs")
    assert lines[2].startswith("deadlock  plane compute")


def test_growth_of_an_infiniband_plane_changes_the_lock(cli: Cli, tmp_path: Path) -> None:
    for name in ("fabric.yaml", "allocations.lock.yaml"):
        text = resource("inventories", "dragonfly", name).read_text()
        (tmp_path / name).write_text(text.replace("count: 8}", "count: 9}"))
    code, shown = checked(cli, tmp_path)
    assert code == 0 and without_load(shown) == {"FG888", "FG382", "FG607"}
    assert shown["lock"]["added"]["names"] and shown["infiniband"]


def test_infiniband_is_rendered_beside_roce(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("render", write(tmp_path / "i", mixed()), "-o", tmp_path / "b")
    assert outcome.code == 0 and outcome.out.startswith("4 devices: 4 changed, 0 unchanged, 0 removed; 10 files for ")
    assert "4 config_db.json and 10 files for subnet managers into" in outcome.err
    judged = cli("validate", tmp_path / "b")
    assert judged.code == 0 and "8 devices by" in judged.err
    assert cli("simulate", "deadlock", tmp_path / "b").code == 0


@pytest.mark.parametrize(
    ("tree", "code", "message"),
    [
        (grouped("dragonfly", {"switches": 4, "global_links": 2}, 9, infiniband={"engine": "updn"}), "FG228",
         "updn cannot keep a dragonfly free of credit loops: measured on 72 endpoints: OpenSM falls back to minhop"),
        (grid("torus", [4, 4], infiniband={"engine": "dfsssp", "vls": 4}), "FG228",
         "dfsssp needs 8 VLs on a 2D torus, `vls` is 4"),
        (rail_optimized(2048, 32, 64, GENERIC, core={"platform": GENERIC}, infiniband={"lmc": 2}), "FG229",
         "16384 endpoints x 2^2 + 1280 switches = 66816 LIDs, a subnet has 49151"),
    ],
)  # fmt: skip
def test_settings_that_a_subnet_does_not_support_are_refused(
    tree: Tree, code: str, message: str, cli: Cli, tmp_path: Path
) -> None:
    tree["planes"]["compute"] |= {"technology": "infiniband"}
    for verb in ("check", "capacity"):
        outcome = cli(verb, write(tmp_path, tree), "--format", "json")
        (finding,) = [one for one in json.loads(outcome.out)["findings"] if one["severity"] == "error"]
        assert outcome.code == 1 and finding["code"] == code and message in finding["message"]
        assert finding["location"]["line"] > 1 and finding["hint"]


def test_roce_has_no_infiniband_settings(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("check", write(tmp_path, rail_optimized(infiniband={"vls": 4})))
    assert outcome.code == 1 and "error FG105  a RoCE plane has no InfiniBand settings" in outcome.out
