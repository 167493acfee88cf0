"""Bundles of two platforms with faults: a packet run finds the fault, and nothing else.

Arista's files state every size; NVIDIA's leave headroom to the switch, which computes it from CABLE_LENGTH.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli
from tests.inventories import ARISTA, NVIDIA
from tests.simulate.packets.running import Change, edit, prepare, result, star

prepare(print)

from fabricgen.simulate.packets.findings import packet_findings  # noqa: E402 (compiled code comes after its cache)

Row = dict[str, Any]


def codes(cli: Cli, *arguments: str) -> list[str]:
    outcome = cli("-q", "simulate", "packets", *arguments, "--format", "json")
    findings = json.loads(outcome.out)["findings"]
    assert outcome.code == int(any(one["severity"] == "error" for one in findings))
    assert all(one["confidence"] == "observed" for one in findings)
    return [one["code"] for one in findings]


def set_to(**fields: str) -> Change:
    return lambda _, row: row.update(fields)


def smaller_xoff(_: str, row: Row) -> None:
    if "xoff" in row:
        row["xoff"] = str(int(row["xoff"]) // 16)


def smaller_alpha(key: str, row: Row) -> None:
    if key.startswith("pg_lossless"):
        row["dynamic_th"] = "-8"


def shorter_cables(_: str, row: Row) -> None:
    row.update(dict.fromkeys(row, "0m"))


ALIKE = {
    "late marks": ("WRED_PROFILE", set_to(green_min_threshold="20000000", green_max_threshold="40000000"), "FG753"),
    "no marks": ("WRED_PROFILE", set_to(ecn="ecn_none"), "FG753"),
    "slow watchdog": ("PFC_WD", set_to(detection_time="5000"), "FG756"),
    "watchdog that only alerts": ("PFC_WD", set_to(action="alert"), "FG756"),
    "watchdog off": ("PFC_WD", set_to(detection_time="0"), "FG756"),
}
OWN = {
    ARISTA: {
        "small alpha": ("BUFFER_PROFILE", smaller_alpha, "FG754"),
        "small headroom": ("BUFFER_PROFILE", smaller_xoff, "FG755"),
    },
    NVIDIA: {
        "small alpha": ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", set_to(default_dynamic_th="-8"), "FG754"),
        "small headroom": ("CABLE_LENGTH", shorter_cables, "FG755"),
    },
}
BESIDE = {"FG754": {"FG752"}}  # a low limit can be below Kmin
WORSENED = [(platform, name, *case) for platform in OWN for name, case in {**ALIKE, **OWN[platform]}.items()]


@pytest.mark.parametrize("small", [ARISTA, NVIDIA], indirect=True)
def test_correct_files_have_no_findings(cli: Cli, small: Path) -> None:
    assert codes(cli, str(small), "--pattern", "incast") == []


@pytest.mark.parametrize(
    ("small", "table", "change", "code"),
    [pytest.param(platform, *case, id=f"{platform}-{name}") for platform, name, *case in WORSENED],
    indirect=["small"],
)
def test_the_fault_is_found(cli: Cli, own: Path, table: str, change: Change, code: str) -> None:
    edit(own, table, change)
    found = set(codes(cli, str(own), "--pattern", "incast"))
    assert code in found
    assert found <= {code, "FG760", *BESIDE.get(code, ())}  # pauses make victims


def scenario(folder: Path, tree: dict[str, Any]) -> str:
    file = folder / "scenario.json"
    file.write_text(json.dumps(tree))
    return str(file)


def test_a_watchdog_that_acted_is_reported(cli: Cli, tmp_path: Path) -> None:
    watchdog = {"detection_ns": 2_000_000, "restoration_ns": 2_000_000, "poll_ns": 1_000_000}
    tree = star(1, 1_000_000, switch_defaults={"watchdog": watchdog}, stop_ns=14_000_000)
    tree["storms"] = [{"host": "h1", "at_ns": 0, "until_ns": 15_000_000}]
    found = codes(cli, "--scenario", scenario(tmp_path, tree))
    assert "FG641" in found
    assert "FG750" not in found  # it drops on purpose


def test_a_host_that_pauses_its_switch_is_reported(cli: Cli, tmp_path: Path) -> None:
    tree = star(2, 1_000_000)
    assert "FG761" not in codes(cli, "--scenario", scenario(tmp_path, tree))
    tree["nodes"][2]["drain_gbps"] = 10
    assert "FG761" in codes(cli, "--scenario", scenario(tmp_path, tree))
    [slow] = [one for one in packet_findings(result(tree)) if one.code == "FG761"]
    assert slow.message.startswith("host h2 pauses s for ")
