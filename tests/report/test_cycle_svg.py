"""Pictures of cycles: what is in them, and that they are the same every time."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from fabricgen.bundle.read import Bundle
from fabricgen.report.cycle_svg import cycle_pictures, draw
from fabricgen.simulate.deadlock import PlaneDeadlock, analyse_deadlock
from tests.bgp_fabric import open_configs
from tests.conftest import Cli
from tests.simulate.deadlock.test_certificate import _without
from tests.simulate.deadlock.test_fabrics import clos, ring

_FAILED = ("l0:Ethernet0--s0:Ethernet0", "l1:Ethernet4--s1:Ethernet4")


def bounced(folder: Path, failed: tuple[str, ...] = _FAILED) -> tuple[Bundle, PlaneDeadlock]:
    """Four leaves, two spines with different ASNs, and two missing links, reported as failures of the whole fabric."""
    fabric = _without(clos(4, 2, lambda spine: 65000 + spine), ("l0", "s0"), ("l1", "s1"))
    bundle = open_configs(fabric.configs(), folder)
    [found] = analyse_deadlock(bundle)
    cycles = tuple(replace(cycle, failed_links=failed) for cycle in found.cycles)
    return bundle, replace(found, cycles=cycles)


def test_tiers_are_rows_and_failed_links_are_crossed(tmp_path: Path) -> None:
    bundle, result = bounced(tmp_path)
    picture = draw(bundle, result, result.cycles)
    height = {box.name: box.y for box in picture.switches}
    assert height.keys() == {"s0", "s1", "l0", "l1", "l2", "l3"}
    assert height["s0"] == height["s1"] < height["l0"] == height["l1"] == height["l2"] == height["l3"]
    assert [row.label for row in picture.rows] == ["switches with hosts", "tier 2"]
    assert {box.name for box in picture.switches if box.is_waiting} == {"s0", "s1", "l2", "l3"}
    assert len(picture.hops) == 4
    assert len(picture.failed) == 2
    assert [note.text for note in picture.legend if note.is_failure] == [
        "failed: l0 Ethernet0 to s0 Ethernet0",
        "failed: l1 Ethernet4 to s1 Ethernet4",
    ]
    assert "priorities 3, 4" in picture.title
    no_two_share = {(box.x, box.y) for box in picture.switches}
    assert len(no_two_share) == len(picture.switches)


def test_failed_switch_is_drawn(tmp_path: Path) -> None:
    bundle, result = bounced(tmp_path, ("switch l1",))
    picture = draw(bundle, result, result.cycles)
    assert [box.name for box in picture.switches if box.has_failed] == ["l1"]
    assert picture.legend[-1].text == "failed: switch l1"


def test_one_tier_is_a_ring_and_svg_is_well_formed(tmp_path: Path) -> None:
    bundle = open_configs(ring(5, 1).configs(), tmp_path)
    results = analyse_deadlock(bundle)
    found = cycle_pictures(bundle, results)
    assert list(found) == ["fabric-cycle-1.svg"]
    root = ElementTree.fromstring(found["fabric-cycle-1.svg"])
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {f"r{number}" for number in range(5)} <= set(texts)
    assert found == cycle_pictures(bundle, analyse_deadlock(bundle))


def test_svg_option_writes_one_file_for_each_cycle(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "configs"
    folder.mkdir()
    open_configs(ring(5, 1).configs(), folder)
    assert cli("simulate", "deadlock", folder, "--svg", tmp_path / "pictures").code == 1
    assert {file.name for file in (tmp_path / "pictures").iterdir()} == {"fabric-cycle-1.svg", "index.html"}


def test_failures_are_drawn(cli: Cli, tmp_path: Path) -> None:
    """Two failures close the cycle; the links of the picture are those that the verdict names."""
    folder = tmp_path / "configs"
    folder.mkdir()
    open_configs(clos(4, 2, lambda spine: 65000 + spine).configs(), folder)
    run = cli("simulate", "deadlock", folder, "--failures", 2, "--svg", tmp_path / "pictures", "--format", "json")
    assert run.code == 1
    [cycle, *_] = json.loads(run.out)["deadlock"]["cycles"]
    text = (tmp_path / "pictures" / "fabric-cycle-1.svg").read_text()
    assert len(cycle["failed_links"]) == 2
    assert text.count("failed: ") == 2
    assert text.count("stroke-dasharray") == 2
