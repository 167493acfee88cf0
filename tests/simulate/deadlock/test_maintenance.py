"""What an inventory asks of `check`: deeper failures, and maintenance sets, on the way through the bundle."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.cli.main import run
from fabricgen.simulate.deadlock import Failures, analyse_deadlock, deadlock_findings
from fabricgen.simulate.deadlock.analysis import maintenance_sets
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, FailureSet

ROOT = Path(__file__).parents[3]

CHECKS = """
checks:
  failures: 2
  maintenance:
  - {name: all spines, switches: ["spine*"]}
  - {name: one spine, switches: [spine1]}
  - {name: a cable, links: ["cable *"]}
  - {name: nothing, switches: [core7]}
"""


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    folder = tmp_path / "inventory"
    shutil.copytree(ROOT / "inventories" / "explicit", folder)
    (folder / "checks.yaml").write_text(CHECKS)
    return folder


def fabricgen(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        run(list(words))
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_sets_travel_in_the_bundle(inventory: Path, tmp_path: Path) -> None:
    assert fabricgen("render", str(inventory), "--output", str(tmp_path / "build")) == 0
    bundle = open_bundle([tmp_path / "build"])
    assert bundle.wiring
    assert bundle.wiring.checks.failures == 2
    results = analyse_deadlock(bundle, failures=Failures(1))
    found = [(one.code, one.message.partition(":")[0]) for one in deadlock_findings(bundle, results)]
    assert ("FG606", "maintenance all spines") in found
    assert ("FG609", "maintenance nothing") in found
    assert ("FG606", "maintenance one spine") not in found
    assert results[0].failures.depth == 1, "the command line says how deep"


def test_check_goes_as_deep_as_the_inventory_says(inventory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fabricgen("check", str(inventory), "--format", "json")
    report = orjson.loads(capsys.readouterr().out)
    assert report["deadlock"]["failures"]["depth"] == 2


def test_a_bundle_without_checks_says_nothing_of_them(tmp_path: Path) -> None:
    fabricgen("render", str(ROOT / "inventories" / "explicit"), "--output", str(tmp_path / "build"))
    assert b"checks" not in (tmp_path / "build" / "fabric.json").read_bytes()


def test_patterns_of_links_do_not_match_switches() -> None:
    """A name can be that of a switch and match a pattern for links."""
    wanted = SimpleNamespace(name="all links", switches=(), links=("*",))
    bundle: Any = SimpleNamespace(wiring=SimpleNamespace(checks=SimpleNamespace(maintenance=[wanted])))
    fabric: Any = SimpleNamespace(names=("l0", "l1"))
    link = Failure("l0--l1", (0, 1))
    failures = [Failure("l0", (0, 1), 0), Failure("l1", (0, 1), 1), link]
    assert list(maintenance_sets(bundle, fabric, failures)) == [("maintenance all links", FailureSet((link,)))]
