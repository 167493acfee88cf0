"""Which NICs of a host a plane takes, by its name and purpose, and what planes are for."""

import dataclasses
from pathlib import Path

import pytest

from fabricgen.design.model import Host
from fabricgen.design.parts import plane_nics
from fabricgen.inventory.load import load_inventory
from fabricgen.inventory.plane import Plane
from fabricgen.platforms.catalog import host_model
from fabricgen.render.plans import capacity_table, design_only
from fabricgen.report.capacity import capacity_markdown, capacity_text
from tests.inventories import Tree, planes_together, rail_optimized, write

RAILS = [f"rail{rail}" for rail in range(8)]


def plane_of(folder: Path, name: str, **keys: str) -> Plane:
    tree: Tree = rail_optimized()
    tree["planes"] = {name: {**tree["planes"]["compute"], **keys}}
    inventory, findings = load_inventory(write(folder, tree))
    assert findings == []
    return inventory.planes[name]


@pytest.mark.parametrize(
    ("name", "keys", "purpose", "model", "nics"),
    [
        ("compute", {}, "compute", "dgx-h100", RAILS),
        ("east", {}, "compute", "dgx-h100", RAILS),
        ("storage", {}, "storage", "dgx-h100", ["storage0", "storage1"]),
        ("san", {"purpose": "storage"}, "storage", "dgx-h100", ["storage0", "storage1"]),
        ("san", {"purpose": "storage"}, "storage", "mi300x", []),
        ("storage", {"purpose": "compute"}, "compute", "dgx-h100", ["storage0", "storage1"]),
        ("storage", {"purpose": "compute"}, "compute", "mi300x", RAILS),
        ("in-band", {}, "in-band", "dgx-h100", ["inband0", "inband1"]),
        ("management", {}, "in-band", "dgx-h100", ["inband0", "inband1"]),
        ("frontend", {"purpose": "in-band"}, "in-band", "dgx-h100", ["inband0", "inband1"]),
        ("in-band", {}, "in-band", "mi300x", []),
        ("out-of-band", {}, "out-of-band", "mi300x", []),
        ("out-of-band", {}, "out-of-band", "dgx-h100", ["bmc"]),
        ("compute-b", {}, "compute", "dgx-h100", RAILS),
    ],
)
def test_nics_of_a_plane(
    name: str, keys: dict[str, str], purpose: str, model: str, nics: list[str], tmp_path: Path
) -> None:
    plane, host = plane_of(tmp_path, name, **keys), host_model(model)
    assert host and plane.purpose == purpose
    assert [nic.name for nic in plane_nics(host, plane)] == nics


@pytest.mark.parametrize(
    ("name", "lossless", "priorities"),
    [
        ("compute", None, [3, 4]),
        ("storage", None, [3, 4]),
        ("storage", "roce-lossless", [3]),
        ("storage", "none", []),
        ("compute", "none", []),
        ("compute", {"profile": "none"}, []),
        ("in-band", None, []),
        ("out-of-band", None, []),
        ("in-band", "none", []),
    ],
)
def test_lossless_where_it_is_asked_for(name: str, lossless: str | None, priorities: list[int], tmp_path: Path) -> None:
    plane = plane_of(tmp_path, name, **({"lossless": lossless} if lossless else {}))
    assert list(plane.lossless.classes) == priorities


def test_hosts_have_the_right_nic_on_each_plane(tmp_path: Path) -> None:
    fabric, findings = design_only(write(tmp_path, planes_together()))
    assert findings == []
    plugged: dict[str, set[str]] = {}
    for link in fabric.links:
        if isinstance(link.a, Host) and link.nic:
            plugged.setdefault(link.plane, set()).add(link.nic.name)
    assert plugged == {
        "compute": set(RAILS),
        "storage": {"storage0", "storage1"},
        "in-band": {"inband0", "inband1"},
    }
    ends = [(link.a.key, link.a_port) for link in fabric.links if isinstance(link.a, Host)]
    assert len(ends) == len(set(ends)) == 2 * 12
    assert len(fabric.hosts) == 2


def test_nics_that_name_the_plane_go_first(tmp_path: Path) -> None:
    host = host_model("dgx-h100")
    assert host
    nics = [dataclasses.replace(nic, plane="east") if nic.name == "rail7" else nic for nic in host.nics]
    own = dataclasses.replace(host, nics=tuple(nics))
    assert [nic.name for nic in plane_nics(own, plane_of(tmp_path / "east", "east"))] == ["rail7"]
    assert [nic.name for nic in plane_nics(own, plane_of(tmp_path / "west", "west"))] == RAILS[:7]


def test_capacity_shows_the_purpose(tmp_path: Path) -> None:
    tree = planes_together()
    tree["planes"]["san"] = {**tree["planes"].pop("storage"), "purpose": "storage"}
    fabric, findings = design_only(write(tmp_path, tree))
    assert findings == []
    table = capacity_table(fabric)
    assert {plane["name"]: plane["purpose"] for plane in table["planes"]} == {
        "compute": "compute",
        "in-band": "in-band",
        "out-of-band": "out-of-band",
        "san": "storage",
    }
    assert "plane compute (roce)\n" in capacity_text(table)
    assert "plane out-of-band (ethernet)\n" in capacity_text(table), "copper at 1 Gb/s carries no RoCE"
    assert "plane san (roce, for storage)\n" in capacity_text(table)
    assert capacity_markdown(table).startswith("| | compute | in-band | out-of-band | san for storage |")


def test_a_nic_on_two_planes_is_refused(tmp_path: Path) -> None:
    tree = planes_together()
    twin = {**tree["planes"]["storage"], "purpose": "storage"}
    for key in ("leaves", "spines"):
        twin[key] = [{"name": each["name"].replace("storage", "twin")} for each in twin[key]]
    twin["links"] = [[end.replace("storage-", "twin-") for end in link] for link in twin["links"]]
    twin["addressing"] = {"loopbacks": "10.9.0.0/24", "links": "10.9.16.0/20", "hosts": "10.9.64.0/20"}
    tree["planes"]["twin"] = twin
    _, findings = design_only(write(tmp_path, tree))
    assert {finding.code for finding in findings} == {"FG205"}
