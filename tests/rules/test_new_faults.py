"""Each fault that was run on the daemons of 202505 is an error where they lose something, in a bundle and in a file."""

import csv
import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.findings import Finding, Severity
from fabricgen.rules.run import run
from tests.rules.clean import clean_fabric, with_tables
from tests.rules.new_faults import AGAIN, NEW, SILENT
from tests.shared_material import shared

RELEASE, SWITCH = 202505, "leaf1"
EDITS = {**NEW, **AGAIN}
HARMLESS = "no difference on the chip"
# The chip gets another value, and an operator can mean it.
VALID = {
    "wred_minmaxeq": "marking as a step: all packets above one threshold",
    "qos_global_missing": "DSCP of packets that the switch itself makes",
    "tcpg_key8": "SONiC's own templates have TC 8, for tunnels between ToR switches (SN4700-V64 qos.json.j2)",
    "queue7_missing": "a queue without traffic in this file",
    "wred_red_enable_none": "no packet is red without a meter",
}
# A file alone does not say that its release is too old for a field, or which DSCP its hosts give to CNPs.
OF_BUNDLE = {"wd_history_on", "cnp_lossless"}
# No difference to the daemons that ran; the value is wrong for others, so both an error and none are right.
ELSEWHERE = {
    "alias_missing", "index_missing", "index_dup", "lanes_space", "lanes_order", "lanes_short", "intf_overlap",
    "hwsku_other", "static_route_noif", "portchannel_l3", "pg_null_T", "hash_lag_dup", "ilist_T", "wd_unused",
    "autoneg_dac", "lo_24",
}  # fmt: skip


EACH = pytest.mark.parametrize("everywhere", [False, True], ids=["one", "all"])


@cache
def measured() -> list[dict[str, str]]:
    with shared("data", "sonic", "new_faults_202505.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["kind"] != "clean"]


@cache
def silent() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared("data", "sonic", "silent_faults_202505.json").read_text())
    return found


@cache
def clean(model: str) -> Bundle:
    bundle = clean_fabric(model).bundle()
    devices = {name: dataclasses.replace(device, bundle_release=RELEASE) for name, device in bundle.devices.items()}
    return dataclasses.replace(bundle, devices=devices)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" in metafunc.fixturenames:
        rows = measured()
        metafunc.parametrize("fault", rows, ids=[f"{row['kind']}-{row['model']}" for row in rows])
    if "quiet" in metafunc.fixturenames:
        metafunc.parametrize("quiet", silent(), ids=[row["fault"] for row in silent()])
    if "index" in metafunc.fixturenames:
        with shared("data", "sonic", "key_index_faults_202505.csv").open() as file:
            rows = list(csv.DictReader(file))
        names = [(row["table"], row["key index of Ethernet0 (extra row)"]) for row in rows]
        metafunc.parametrize("index", names, ids=[f"{table}-{index}" for table, index in names])


def findings(model: str, change: Any, everywhere: bool, folder: Path) -> tuple[list[Finding], list[Finding]]:
    """Those of the bundle with the fault, on one port of a switch or on all of all, and those of the one file."""
    bundle = clean(model)
    devices = dict(bundle.devices)
    for name in devices if everywhere else (SWITCH,):
        config = orjson.loads(devices[name].text)
        ports = [port for port in config["PORT_QOS_MAP"] if port != "global"]
        change(config, ports if everywhere else ports[:1])
        devices[name] = with_tables(devices[name], config)
    file = folder / "config_db.json"
    file.write_bytes(devices[SWITCH].text)
    return run(dataclasses.replace(bundle, devices=devices)), run(open_bundle([file]))


def assert_judged(
    model: str, change: Any, needs_error: bool | None, folder: Path, everywhere: bool, *, alone: bool = True
) -> None:
    for where, found in zip(("bundle", "file"), findings(model, change, everywhere, folder), strict=True):
        if where == "file" and not alone:
            continue
        errors = {one.code for one in found if one.severity is Severity.ERROR}
        shown = (where, everywhere, sorted({f"{one.severity} {one.code}" for one in found}))
        if needs_error:
            assert errors, shown
        elif needs_error is False:
            assert not errors, shown


@EACH
def test_new_faults(fault: dict[str, str], everywhere: bool, tmp_path: Path) -> None:
    kind, outcome = fault["kind"], fault["daemons of 202505"]
    refused = fault["YANG 202505"] != "ok"
    needs_error: bool | None = refused or outcome != HARMLESS
    if kind in VALID or (not needs_error and kind in ELSEWHERE):
        needs_error = None
    assert_judged(fault["model"], EDITS[kind], needs_error, tmp_path, everywhere, alone=kind not in OF_BUNDLE)


@EACH
def test_silent_faults(quiet: dict[str, Any], everywhere: bool, tmp_path: Path) -> None:
    harms = bool(quiet["died"] or quiet["differences"])
    needs_error = (harms and quiet["fault"] not in VALID) or None
    assert_judged(quiet["model"], SILENT[quiet["fault"]], needs_error, tmp_path, everywhere)


@EACH
def test_indices_of_keys(index: tuple[str, str], everywhere: bool, tmp_path: Path) -> None:
    table, numbers = index

    def change(config: Any, ports: list[str]) -> None:
        for port in ports:
            like = "3" if table == "QUEUE" else "3-4"
            config[table][f"{port}|{numbers}"] = dict(config[table][f"{port}|{like}"])

    assert_judged("traditional", change, True, tmp_path, everywhere)
