"""Every example of `inventories/`: short, with its lock file, without a fault, with the counts known of it."""

import json
from pathlib import Path

import pytest

from fabricgen.design.expand import DESIGNS
from fabricgen.inventory.load import load_inventory
from fabricgen.resources import resource
from tests.conftest import Cli, Golden

GOLDEN = Path(__file__).parents[1] / "golden"
EXAMPLES = sorted(folder.name for folder in resource("inventories").iterdir() if folder.is_dir())
MOST_LINES = {"superpod": 60, "infiniband": 65}  # several planes


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_pass(name: str, cli: Cli, golden: Golden, request: pytest.FixtureRequest) -> None:
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
    else:
        assert summary["devices"] <= 300 and shown["deadlock"]["verdict"] == "free"
    assert len((folder / "fabric.yaml").read_text().splitlines()) <= MOST_LINES.get(name, 50)
    golden(GOLDEN / f"{name}-capacity.json", cli("capacity", folder, "--format", "json").out.encode())


def test_every_design_has_an_example() -> None:
    planes = [plane for name in EXAMPLES for plane in load_inventory(resource("inventories", name))[0].planes.values()]
    assert {plane.design for plane in planes} == set(DESIGNS)
