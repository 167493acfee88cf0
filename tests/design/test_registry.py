"""Designs are looked up by name: the modules of the room, and the designs of installed packages."""

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fabricgen.design.explicit import DESIGN as EXPLICIT
from fabricgen.design.graph import Graph
from fabricgen.design.registry import designs, graph_of, schema_for_editors
from fabricgen.errors import UsageError
from fabricgen.render.plans import make_plans
from tests.inventories import Tree, explicit, rail_optimized, write


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """Entry points of the group fabricgen.designs."""
    found: dict[str, object] = {}

    def extensions(group: str) -> Mapping[str, object]:
        return found if group == "fabricgen.designs" else {}

    monkeypatch.setattr("fabricgen.extensions.extensions", extensions)
    designs.cache_clear()
    yield found
    designs.cache_clear()


def codes(folder: Path, tree: Tree) -> list[tuple[str, str]]:
    return [(finding.code, finding.path) for finding in make_plans(write(folder, tree)).findings]


def test_every_module_with_a_design_is_found() -> None:
    clos = {"rail-optimized", "rail-only", "fat-tree", "dual-tor"}
    assert clos | {"dragonfly", "dragonfly-plus", "torus", "mesh", "explicit"} <= designs().keys()
    for name, design in designs().items():
        assert design.name == name and design.summary and not design.summary.endswith(".")
        assert {"leaf", "speed"} <= set(design.needs)


def test_an_installed_design_is_laid_out_and_completed(installed: dict[str, object], tmp_path: Path) -> None:
    installed["site"] = dataclasses.replace(EXPLICIT, name="site-design")
    assert "site-design" in schema_for_editors()["$defs"]["plane"]["properties"]["design"]["enum"]
    plans = make_plans(write(tmp_path, explicit(design="site-design")))
    assert plans.findings == [] and len(plans.fabric.switches) == 4
    (plane,) = plans.fabric.planes
    assert graph_of(plane) is Graph.TREE


def test_what_is_not_a_design_is_refused(installed: dict[str, object]) -> None:
    installed["site"] = "site-design"
    with pytest.raises(UsageError, match=r"site of fabricgen\.designs is not a Design"):
        designs()
    installed["site"] = EXPLICIT
    with pytest.raises(UsageError, match="repeats the name 'explicit'"):
        designs()


def test_an_unknown_design_is_one_finding_with_the_nearest_name(tmp_path: Path) -> None:
    plans = make_plans(write(tmp_path, rail_optimized(design="rail-optimised")))
    (finding,) = plans.findings
    assert (finding.code, finding.path) == ("FG105", "planes.compute.design")
    assert finding.hint == "did you mean 'rail-optimized'?"
    assert finding.location and finding.location.line == 9
    assert [plane.plane.design for plane in plans.fabric.planes] == ["rail-optimized"]  # laid out to check its keys


@pytest.mark.parametrize("name", designs())
def test_keys_that_a_design_needs_and_does_not_use(name: str, tmp_path: Path) -> None:
    """A plane with only the name and the keys of another kind of design."""
    design = designs()[name]
    foreign = {"torus": {"size": [3, 3]}} if "torus" not in design.needs else {"links": []}
    tree = {
        "fabricgen": 1,
        "fabric": "f",
        "planes": {"p": {"design": name, "technology": "infiniband", **foreign}},
    }
    found = make_plans(write(tmp_path, tree)).findings
    missing = [finding.message.split("'")[1] for finding in found if finding.code == "FG106"]
    assert missing == [key for key in design.needs if key not in foreign]
    unused = [finding.path for finding in found if finding.code == "FG215"]
    assert unused == [f"planes.p.{key}" for key in foreign]
