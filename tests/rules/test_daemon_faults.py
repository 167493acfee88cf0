"""Each fault that was run on SONiC's own daemons has the severity of what they did, in a bundle and in a lone file."""

import csv
import dataclasses
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import orjson
import pytest

from fabricgen.bundle.read import Bundle, ObservedDevice, open_bundle
from fabricgen.findings import Finding, Severity
from fabricgen.rules.run import run
from tests.rules.clean import clean_fabric, with_tables
from tests.rules.daemon_faults import FAULTS, OF_THE_CHIP, Fault
from tests.shared_material import shared

MODELS = ("traditional", "dynamic")
RUNS = [(fault, model) for fault in FAULTS for model in MODELS if fault.outcome(model)]
IDS = [f"{fault.kind}-{model}" for fault, model in RUNS]
SWITCH = "leaf1"


@cache
def clean_bundle(model: str) -> Bundle:
    return clean_fabric(model).bundle()


def faulty(fault: Fault, device: ObservedDevice, everywhere: bool) -> ObservedDevice:
    """A switch with the fault on one of its ports, or on all."""
    config = orjson.loads(device.text)
    ports = [port for port in config["PORT_QOS_MAP"] if port != "global"]
    fault.change(config, ports if everywhere else ports[:1])
    assert config != device.config or device.name != SWITCH
    return with_tables(device, config)


def findings_of_file(text: bytes, folder: Path) -> list[Finding]:
    file = folder / "config_db.json"
    file.write_bytes(text)
    return run(open_bundle([file]))


def shown(findings: Iterable[Finding]) -> list[str]:
    return [f"{one.severity} {one.code} {one.path}: {one.message}" for one in findings]


def assert_severity(fault: Fault, model: str, findings: list[Finding]) -> None:
    outcome = fault.outcome(model)
    found = [one for one in findings if one.severity is Severity.ERROR]
    assert outcome
    if outcome.needs_error:
        assert found, shown(findings)
    if outcome.forbids_error:
        assert not found, shown(found)


@pytest.mark.parametrize("model", MODELS)
def test_without_a_fault_there_is_no_error(model: str, tmp_path: Path) -> None:
    assert not run(clean_bundle(model))
    found = findings_of_file(clean_bundle(model).devices[SWITCH].text, tmp_path)
    assert not [one for one in found if one.severity is Severity.ERROR], shown(found)


@pytest.mark.parametrize("everywhere", [False, True], ids=["one", "all"])
@pytest.mark.parametrize(("fault", "model"), RUNS, ids=IDS)
def test_in_a_bundle(fault: Fault, model: str, everywhere: bool) -> None:
    clean = clean_bundle(model)
    chosen = clean.devices if everywhere else {SWITCH: clean.devices[SWITCH]}
    devices = {name: faulty(fault, device, everywhere) for name, device in chosen.items()}
    bundle = dataclasses.replace(clean, devices={**clean.devices, **devices})
    assert_severity(fault, model, run(bundle))


@pytest.mark.parametrize("everywhere", [False, True], ids=["one", "all"])
@pytest.mark.parametrize(("fault", "model"), RUNS, ids=IDS)
def test_in_a_lone_file(fault: Fault, model: str, everywhere: bool, tmp_path: Path) -> None:
    device = faulty(fault, clean_bundle(model).devices[SWITCH], everywhere)
    assert_severity(fault, model, findings_of_file(device.text, tmp_path))


def test_the_table_has_every_run() -> None:
    with shared("data", "sonic", "daemon_faults.csv").open() as file:
        measured = {(row["kind"], row["model"]) for row in csv.DictReader(file) if row["kind"] not in OF_THE_CHIP}
    assert measured == {(fault.kind, model) for fault, model in RUNS}
