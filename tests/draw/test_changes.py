"""The picture of a change: what is new, changed and removed, in every format, and no picture without a change."""

import json
import shutil
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fabricgen.api.against import compare_with
from fabricgen.bundle.cable_changes import CableChanges
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.bundle.wiring import WiredDevice
from fabricgen.draw.changes import joined, marks_of, with_marks
from fabricgen.draw.picture import change_scenes
from fabricgen.draw.pods import overview_scene
from fabricgen.draw.scene import BoxKind, ChangeState, Scene
from fabricgen.draw.topology import Topology
from fabricgen.report.house_style import ERROR
from fabricgen.vocabulary import Role
from tests.conftest import Cli

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def grown(rendered: Path, cli: Cli, tmp_path: Path) -> Path:
    """The bundle of the quickstart with another scalable unit."""
    copy = shutil.copytree(rendered.parent / "inventory", tmp_path / "fabric")
    file = copy / "fabric.yaml"
    file.write_text(file.read_text().replace("count: 32", "count: 48"))
    assert cli("-q", "render", copy, "-o", tmp_path / "grown").code == 0
    return tmp_path / "grown"


def change(old: Path, new: Path) -> Scene:
    opened: Bundle = open_bundle([new])
    found = compare_with(old, new, opened)
    changed = [device.name for device in found.difference.changed]
    (scene,) = change_scenes(opened, open_bundle([old]), changed, found.cables).values()
    return scene


def test_growth_and_its_way_back(rendered: Path, grown: Path) -> None:
    """Eight leaves with their links and hosts are new; on the way back they are removed. The spines change."""
    for old, new, state, words in (
        (rendered, grown, ChangeState.ADDED, "switches: 8 new, 4 changed; cables: 192 new"),
        (grown, rendered, ChangeState.REMOVED, "switches: 4 changed, 8 removed; cables: 192 removed"),
    ):
        scene = change(old, new)
        boxes = Counter(box.state for box in scene.boxes if box.kind is BoxKind.SWITCH)
        assert boxes == {state: 8, ChangeState.CHANGED: 4, ChangeState.SAME: 16}
        between = Counter(line.state for line in scene.lines if scene.boxes[line.b].kind is BoxKind.SWITCH)
        assert between == {state: 32, ChangeState.SAME: 64}
        assert scene.caption.endswith(words)


def test_every_format_has_the_change(rendered: Path, grown: Path, cli: Cli, tmp_path: Path) -> None:
    """Removed parts are dashed, so that colour is not needed. Without a change there is no picture."""
    for suffix in (".svg", ".drawio", ".dot"):
        file = tmp_path / f"change{suffix}"
        assert cli("draw", rendered, "--against", grown, "-o", file).code == 0
        assert file.read_text().count(ERROR) >= 40
    root = ElementTree.parse(tmp_path / "change.svg").getroot()
    dashed = [path for path in root.iter(f"{SVG}path") if path.get("stroke-dasharray")]
    assert len(dashed) == 32 and {path.get("stroke") for path in dashed} == {ERROR}
    same = cli("draw", rendered, "--against", rendered, "-o", tmp_path / "same.svg")
    assert (same.code, same.out) == (0, "no switch and no cable changes: no picture is written\n")
    assert not (tmp_path / "same.svg").exists()
    refused = cli("draw", rendered, "--against", grown, "--device", "compute-spine-00", "-o", tmp_path / "x.svg")
    assert refused.code == 2 and "--against is for planes" in refused.err


def test_a_removed_host_cable_marks_its_leaf(rendered: Path, bundle: Path) -> None:
    """The host of the cable is in no new box; the line of its leaf shows the change."""
    file = bundle / "fabric.json"
    content = json.loads(file.read_text())
    gone = content["hosts"].pop()["name"]
    lost = {link["id"] for link in content["links"] if link["a"][0] == gone}
    content["links"] = [link for link in content["links"] if link["id"] not in lost]
    content["cables"] = [cable for cable in content["cables"] if not lost.intersection(cable["links"])]
    file.write_text(json.dumps(content))
    scene = change(rendered, bundle)
    assert Counter(line.state for line in scene.lines if line.state) == {ChangeState.REMOVED: 8}
    assert scene.caption.endswith("cables: 8 removed")


def test_pods_count_their_changes() -> None:
    """A pod of which some switches are new has changed; one of which all are new is new."""

    def topology(pods: dict[int, int]) -> Topology:
        names = [(f"p{pod}-l{number}", pod) for pod, leaves in pods.items() for number in range(leaves)]
        return Topology(
            tuple(WiredDevice(name, name, "compute", Role.LEAF, "", "", "", pod=pod) for name, pod in names), {}, {}
        )

    old, new = topology({0: 4, 1: 4}), topology({0: 4, 1: 6, 2: 4})
    whole = joined(new, old)
    scene = with_marks(overview_scene(whole, "compute"), whole, marks_of(new, old, [], CableChanges((), (), (), 0)))
    states = {box.name: (box.state, box.note.split("\n")[-1]) for box in scene.boxes}
    assert states["pod 1"] == (ChangeState.CHANGED, "switches: 2 new")
    assert states["pod 2"] == (ChangeState.ADDED, "switches: 4 new")
    assert states["pod 0"][0] is ChangeState.SAME
