"""Patches that were given to the real updaters of 202505, 202511 and 202605: verdict, moves and seconds of each.

The patches are rebuilt from the examples: most from the change of a smaller switch that ran on daemons, those of all
ports by an edit. Runs of inventories that are not kept are not rebuilt.
"""

import copy
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from fabricgen.cli.main import run as run_command
from fabricgen.diff.changes import changes
from fabricgen.diff.lookup import profiles
from fabricgen.diff.patch import Route, route, worst
from fabricgen.diff.plan import make_plan
from fabricgen.diff.price import price
from fabricgen.diff.sorting import sorting
from tests.diff import measured
from tests.inventories import QUICKSTART
from tests.shared_material import shared

Config = dict[str, Any]
SLOWER_BY, FASTER_BY = 1.35, 0.75  # predicted seconds, as a share of those of the run
# Without effect while the daemons run, so no patch is made, though the updater takes it.
UNFOLLOWED = {"s-default-th", "wd-action"}
REBUILT = {
    "compute-su00-r0-leaf": (
        "cable-one", "cnp", "cordon", "dscp", "ecn", "fec", "hash", "neighbor-added", "pg-alpha", "port-admin",
        "profile-alpha", "queue-dis", "sched", "static", "links-pool", "mtu", "training", "wd-action", "wd-times",
    ),
    "compute-su01-r0-leaf": ("host-removed",),
    "compute-spine-00": ("links-pool", "mtu", "neighbor-shut", "wd-action", "wd-times"),
    "su00-rail0": (
        "s-alpha", "s-default-th", "s-ecn", "s-shared-headroom", "s-speed", "s-cable", "s-mtu", "s-wd-action",
    ),
}  # fmt: skip
PLANS = {
    ("queue-dis", "compute-su00-r0-leaf"), ("cable-one", "compute-su00-r0-leaf"),
    ("host-removed", "compute-su01-r0-leaf"), ("neighbor-added", "compute-su00-r0-leaf"),
}  # fmt: skip
# The updater refuses them whatever else they change.
REFUSED = {
    ("202505", "unnumbered", "compute-su00-r0-leaf"),
    ("202505", "cable-leaf-spine", "compute-spine-00"), ("202605", "cable-leaf-spine", "compute-spine-00"),
    ("202511", "cable-leaf-spine", "compute-spine-00"), ("202505", "lossless-none", "compute-su00-r0-leaf"),
}  # fmt: skip


def wd_times(config: Config) -> None:
    measured.every("PFC_WD", detection_time="400", restoration_time="400")(config)
    config["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = "100"


def training(config: Config) -> None:
    for port in measured.host_ports(config):
        config["PORT"][port]["link_training"] = "on"


def host_cables(config: Config) -> None:
    for row in config["CABLE_LENGTH"].values():
        row.update({port: "10m" for port, length in row.items() if length == "3m"})


def other_links(config: Config) -> None:
    sessions, interfaces = config["BGP_NEIGHBOR"], config["INTERFACE"]
    for key in [key for key in sessions if key.startswith("10.128.")]:
        row = sessions.pop(key)
        row["local_addr"] = row["local_addr"].replace("10.128.", "172.16.")
        sessions[key.replace("10.128.", "172.16.")] = row
    for key in [key for key in interfaces if "|10.128." in key]:
        interfaces[key.replace("|10.128.", "|172.16.")] = interfaces.pop(key)


EDITS: dict[str, measured.Edit] = {
    "mtu": measured.every("PORT", mtu="9216"),
    "s-mtu": measured.every("PORT", mtu="9216"),
    "wd-times": wd_times,
    "wd-action": measured.every("PFC_WD", action="forward"),
    "s-wd-action": measured.every("PFC_WD", action="forward"),
    "neighbor-shut": measured.every("BGP_NEIGHBOR", admin_status="down"),
    "training": training,
    "s-cable": host_cables,
    "links-pool": other_links,
}


@cache
def runs() -> list[dict[str, Any]]:
    return [run for run in all_runs() if run["kind"] == "patch"]


@cache
def all_runs() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared("data", "sonic", "updater_runs_2026_11.json").read_text())
    return found


@pytest.fixture(scope="module")
def switches(rendered: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Config]:
    """The switches of the quickstart and of the example `spectrum`."""
    spectrum = tmp_path_factory.mktemp("spectrum")
    with pytest.raises(SystemExit):
        run_command(["-q", "render", str(QUICKSTART.parent / "spectrum"), "--output", str(spectrum / "bundle")])
    files = [
        *(rendered / "sonic").glob("*/config_db.json"),
        *(spectrum / "bundle" / "sonic").glob("su00-rail0/config_db.json"),
    ]
    return {file.parent.name: orjson.loads(file.read_bytes()) for file in files}


def changed(config: Config, change: str, device: str) -> Config:
    """The configuration after a change: an edit of all ports, or the differences of the smaller switch."""
    new = copy.deepcopy(config)
    if change in EDITS:
        EDITS[change](new)
        return new
    file = shared("data", "sonic", "live_inputs", f"{change}__{device}.json.gz")
    small = json.loads(gzip.decompress(file.read_bytes()))
    before, after = small["old"], small["new"]
    for table in sorted(before.keys() | after.keys()):
        rows, others = before.get(table, {}), after.get(table, {})
        for key in sorted(rows.keys() | others.keys()):
            if key not in others:
                new[table].pop(key, None)
            elif key not in rows:
                new.setdefault(table, {})[key] = others[key]
            else:
                row = new[table].setdefault(key, {})
                for field in rows[key].keys() | others[key].keys():
                    if rows[key].get(field) != others[key].get(field):
                        row.pop(field, None)
                        row |= {field: others[key][field]} if field in others[key] else {}
    return {table: rows for table, rows in new.items() if rows}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "run" in metafunc.fixturenames:
        chosen = [run for run in runs() if run["change"] in REBUILT.get(run["dev"], ())]
        metafunc.parametrize("run", chosen, ids=[f"{run['rel']}-{run['change']}-{run['dev']}" for run in chosen])


def test_verdict_moves_and_seconds(run: dict[str, Any], switches: dict[str, Config]) -> None:
    old, release = switches[run["dev"]], int(run["rel"])
    new = changed(old, run["change"], run["dev"])
    found = changes(old, new, release)
    way = route(worst({change.verdict.cost for change in found}))
    cost = sorting(found, old, new, release)
    if run["real"] == "refused":
        assert way is Route.RELOAD
        return
    is_reload = run["change"] in UNFOLLOWED
    assert run["real"] == "ok" and not cost.problem
    assert way is (Route.RELOAD if is_reload else Route.APPLY_PATCH)
    assert [cost.changes] == run["real_changes"]
    share = sum(price(cost).seconds) / sum(run["est_s"])
    assert FASTER_BY <= share <= SLOWER_BY, (price(cost).seconds, run["est_s"])


@pytest.mark.parametrize(("release", "change", "device"), sorted(REFUSED))
def test_what_the_updater_refuses(release: str, change: str, device: str, switches: dict[str, Config]) -> None:
    assert (release, change, device, "refused") in {
        (run["rel"], run["change"], run["dev"], run["real"]) for run in runs()
    }
    old = switches[device]
    found = changes(old, changed(old, change, device), int(release))
    assert route(worst({one.verdict.cost for one in found})) is Route.RELOAD


def test_moves_and_seconds_of_plans(switches: dict[str, Config]) -> None:
    """The patches of a plan together. Before 202605 the priority group of a host that leaves goes last, in a separate
    patch; before 202511 a cable length goes with its port."""
    judged = 0
    for run in all_runs():
        places = (run["change"], run["dev"])
        if run["kind"] != "plan" or places not in PLANS or (places[0] == "cable-one" and run["rel"] == "202505"):
            continue
        old = switches[run["dev"]]
        plan = make_plan(old, changed(old, *places), int(run["rel"]), lookup=profiles(old))
        moves = [step.price.changes for step in plan.steps]
        is_split = places[0] == "host-removed" and run["rel"] != "202605"
        assert sum(moves) == sum(run["real_changes"]) and len(moves) == len(run["real_changes"]) + is_split, run
        seconds = sum(plan.price.seconds) - 20 * is_split  # the start of the patch, in both sums
        assert FASTER_BY <= seconds / sum(run["est_s"]) <= SLOWER_BY, run
        judged += 1
    assert judged >= 5


def test_enough_runs_are_rebuilt() -> None:
    assert sum(run["change"] in REBUILT.get(run["dev"], ()) for run in runs()) > 70
