"""Every example of `inventories/`: short, with its lock file, without a fault, with the counts known of it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fabricgen.cli import check
from fabricgen.design.registry import designs
from fabricgen.inventory.load import load_inventory
from fabricgen.resources import resource
from fabricgen.results import DeadlockResult
from fabricgen.simulate.deadlock.certificate import certificate_text
from tests.conftest import Cli, Golden
from tests.simulate.deadlock.test_certificate import checked

GOLDEN = Path(__file__).parents[1] / "golden"
EXAMPLES = sorted(folder.name for folder in resource("inventories").iterdir() if folder.is_dir())
MOST_LINES = {"superpod": 60, "infiniband": 65}  # several planes


@dataclass
class Heard:
    """What `check` found about deadlock, and the certificate of it while its files were there."""

    results: list[DeadlockResult]
    certificate: str = ""


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    """Listens without changing anything."""
    found, simulate = Heard([]), check.simulate_deadlock

    def listened(*arguments: Any, **more: Any) -> list[DeadlockResult]:
        found.results = simulate(*arguments, **more)
        found.certificate = certificate_text(found.results)
        return found.results

    monkeypatch.setattr(check, "simulate_deadlock", listened)
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_pass(
    name: str, cli: Cli, golden: Golden, tmp_path: Path, heard: Heard, request: pytest.FixtureRequest
) -> None:
    folder = resource("inventories", name)
    outcome = cli("check", folder, "--format", "json")
    shown = json.loads(outcome.out)
    if "infiniband" in shown:
        request.getfixturevalue("opensm")  # what is not tried on it is a warning
    summary = shown["summary"]
    assert (outcome.code, summary["errors"], summary["warnings"]) == (0, 0, 0)
    if "infiniband" in shown:
        codes = [finding["code"] for finding in shown["findings"]]
        assert codes == ["FG888"] * len(shown["infiniband"]), "the lock file is up to date"
        assert cli("render", folder, "--output", tmp_path / "bundle", "--locked").code == 0
        told = checked(json.loads(heard.certificate), tmp_path / "bundle")
        planes = sorted(heard.results, key=lambda one: one.name)
        for line, plane in zip(told.splitlines(), planes, strict=True):
            counts = f"{plane.channels} channels are in order, {plane.dependencies} dependencies checked"
            assert line.startswith(f"plane {plane.name}: {counts}") and line.endswith("holds for these tables, proved")
    else:
        assert summary["devices"] <= 300 and shown["deadlock"]["verdict"] == "free"
    assert len((folder / "fabric.yaml").read_text().splitlines()) <= MOST_LINES.get(name, 50)
    golden(GOLDEN / f"{name}-capacity.json", cli("capacity", folder, "--format", "json").out.encode())


def test_every_design_has_an_example() -> None:
    planes = [plane for name in EXAMPLES for plane in load_inventory(resource("inventories", name))[0].planes.values()]
    assert {plane.design for plane in planes} == set(designs())
