"""Inputs that the fuzzer found: each ended in a traceback once."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fuzz.seeds import build
from fabricgen.handoff import handoffs
from tests.conftest import Cli

NOTHING_TO_HAND_OVER = re.compile("is not an object with fields|no host of the bundle|no switch has a row of")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    build(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_row_that_is_not_an_object(folder: Path, cli: Cli) -> None:
    file = folder / "roce.bundle/sonic/spine2/config_db.json"
    config: Any = json.loads(file.read_text())
    config["STATIC_ROUTE"]["default|10.0.0.0/8"] = "up"
    file.write_text(json.dumps(config))
    assert cli("explain", "roce.bundle", "spine2:PORT|x|y").code == 2
    for name in handoffs():
        outcome = cli("handoff", name, "roce.bundle", "-o", name)
        assert outcome.code in (0, 1, 2), name
        assert outcome.code != 2 or NOTHING_TO_HAND_OVER.search(outcome.err), name


def test_numbers_of_thousands_of_digits(folder: Path, cli: Cli) -> None:
    device = "device/acme/x86_64-acme_box4-r0"
    for name in ("pg_profile_lookup.ini", "port_config.ini"):
        file = folder / device / "Acme-Box4-O8" / name
        file.write_text(file.read_text() + f"\n{'9' * 5000} 5m 1 1 1 1\nEthernet{'9' * 5000} 1,2 a 1 400000\n")
    assert cli("import", "sonic-device", device, "-o", "out.yaml").code in (0, 1, 2)


def test_a_cell_that_is_larger_than_the_reader_takes(folder: Path, cli: Cli) -> None:
    file = folder / "infiniband.bundle/cabling.csv"
    file.write_text(f"{'x' * 200_000},{file.read_text()}")
    outcome = cli("validate", "infiniband.bundle")
    assert outcome.code == 1 and "FG258" in outcome.out and "field larger than" in outcome.out


def test_a_flow_that_starts_seconds_after_the_others(folder: Path, cli: Cli) -> None:
    """The fluid model does not step through the time in which nothing is under way."""
    scenario: Any = json.loads(Path("scenario.json").read_text())
    for start_ns in (50_000, 10**12):
        scenario["flows"][0]["start_ns"] = start_ns
        Path("scenario.json").write_text(json.dumps(scenario))
        outcome = cli("simulate", "congestion", "--scenario", "scenario.json")
        assert (outcome.code, bool(re.search(r"slowest [56]\.\d+ us", outcome.out))) == (0, True)
