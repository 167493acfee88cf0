"""Every example of `inventories/` is short, has its lock file, passes the check, and has the expected capacity."""

import json
import re
from pathlib import Path

import pytest

from fabricgen.api import check
from fabricgen.design.registry import designs
from fabricgen.findings import Severity
from fabricgen.inventory.load import load_inventory
from fabricgen.report.congestion import congestion_object
from fabricgen.report.deadlock import deadlock_object
from fabricgen.report.formats.json import as_json, json_object
from fabricgen.resources import resource
from fabricgen.results import Verdict
from fabricgen.simulate.deadlock.certificate import certificate_text, seals
from tests.conftest import Cli, Golden
from tests.schemas import require_schema
from tests.simulate.deadlock.test_certificate import checked

GOLDEN = Path(__file__).parents[1] / "golden"
EXAMPLES = sorted(folder.name for folder in resource("inventories").iterdir() if folder.is_dir())
CONGESTED = ("dragonfly",)  # a ring over all hosts loads its links between groups eight times
MOST_LINES = {"superpod": 60, "networks": 60, "infiniband": 65}  # several planes


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.usefixtures("few_failures")
def test_examples_pass(name: str, cli: Cli, golden: Golden, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = resource("inventories", name)
    found = check(folder, bundle=tmp_path / "checked")
    if found.subnets:
        request.getfixturevalue("opensm")  # a plane that is not tried on OpenSM has a warning
        notes = ("FG607", "FG70")  # only trees are judged without a sample, and without a link that is too full
        codes = [one.code for one in found.findings if not one.code.startswith(notes)]
        assert codes == ["FG888"] * len(found.subnets), "the lock file is up to date"
        assert cli("render", folder, "--output", tmp_path / "bundle", "--locked").code == 0
        lines = checked(json.loads(certificate_text(found.deadlock)), tmp_path / "bundle").splitlines()
        for line, plane in zip(lines, sorted(found.deadlock, key=lambda one: one.name), strict=True):
            found_counts = [int(number) for number in re.findall(r" (\d+) (?:channels|dependencies)", line)]
            counts = [plane.channels, plane.dependencies]
            assert found_counts == counts
            assert line.startswith(f"plane {plane.name}: ") and "holds for these tables; " in line
    else:
        assert found.counts.devices <= 300 and {plane.verdict for plane in found.deadlock} == {Verdict.FREE}
    own: dict[str, object] = {"deadlock": deadlock_object(found.deadlock, seals(found.deadlock))}
    own |= {"congestion": congestion_object(found.congestion), "infiniband": found.subnets}
    require_schema("check", json.loads(as_json(json_object("0", found.findings, found.counts, **own))))
    others = [one for one in found.findings if name not in CONGESTED or not one.code.startswith("FG70")]
    assert found.is_complete and {one.severity for one in others} <= {Severity.NOTE}
    assert len((folder / "fabric.yaml").read_text().splitlines()) <= MOST_LINES.get(name, 50)
    golden(GOLDEN / f"{name}-capacity.json", cli("capacity", folder, "--format", "json").out.encode())


def test_every_design_has_an_example() -> None:
    planes = [plane for name in EXAMPLES for plane in load_inventory(resource("inventories", name))[0].planes.values()]
    assert {plane.design for plane in planes} == set(designs())
