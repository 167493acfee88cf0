"""Pictures of bundles: what they show, in three formats, and what cannot be drawn."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fabricgen.api.rendering import render
from fabricgen.bundle.read import open_bundle
from fabricgen.bundle.wiring import WiredDevice, WiredLink
from fabricgen.draw.dot import quoted, scene_dot
from fabricgen.draw.drawio import scene_drawio
from fabricgen.draw.equipment import cable_scene, panel_scene, rack_scene
from fabricgen.draw.layout import plane_scene
from fabricgen.draw.matrix import is_matrix, matrix_scene
from fabricgen.draw.picture import fabric_scenes
from fabricgen.draw.pods import overview_scene, pod_scene, pods_of
from fabricgen.draw.scene import Box, BoxKind, Line, Scene
from fabricgen.draw.svg import scene_svg
from fabricgen.draw.topology import Topology, read_topology, strides
from fabricgen.resources import resource
from fabricgen.vocabulary import LinkKind, Role
from tests.components import tool
from tests.conftest import Cli
from tests.hostile.payloads import PAYLOAD
from tests.rules.access import FIRST, PAIRED, SECOND

SVG = "{http://www.w3.org/2000/svg}"


def rendered_example(cli: Cli, name: str, folder: Path) -> Path:
    copy = shutil.copytree(resource("inventories", name), folder / name)
    assert cli("-q", "render", copy, "-o", folder / "bundle").code == 0
    return folder / "bundle"


def overlapping(scene: Scene) -> list[tuple[str, str]]:
    boxes = scene.boxes
    return [
        (a.name, b.name)
        for number, a in enumerate(boxes)
        for b in boxes[number + 1 :]
        if a.x < b.x + b.width - 0.1 and b.x < a.x + a.width - 0.1 and a.y < b.y + b.height and b.y < a.y + a.height
    ]


@pytest.mark.parametrize(
    "name", ["quickstart", "superpod", "torus", "dragonfly", "dragonfly-plus", "dual-tor", "rail-only"]
)
def test_every_switch_is_a_box_inside_the_picture(name: str, cli: Cli, tmp_path: Path) -> None:
    """No two boxes overlap, nothing is outside, and every pair of switches with links is a line that counts them."""
    bundle = open_bundle([rendered_example(cli, name, tmp_path)])
    topology = read_topology(bundle)
    links = 0
    for plane, scene in fabric_scenes(bundle).items():
        switches = [box.name for box in scene.boxes if box.kind is BoxKind.SWITCH]
        assert sorted(switches) == sorted(topology.switches[index].name for index in topology.planes[plane])
        assert overlapping(scene) == []
        for box in scene.boxes:
            assert box.x >= 0 and box.x + box.width <= scene.width and box.y >= 0 and box.y + box.height <= scene.height
        between = [line for line in scene.lines if scene.boxes[line.b].kind is BoxKind.SWITCH]
        links += sum(line.links for line in between)
        assert len(between) == len({(line.a, line.b) for line in between})
    assert bundle.wiring
    names = {switch.name for switch in topology.switches}
    assert links == sum(link.a[0] in names and link.b[0] in names for link in bundle.wiring.links)


def test_a_grid_is_found_by_its_links(cli: Cli, tmp_path: Path) -> None:
    """The torus of 4 x 4 x 4 is four cards of four columns."""
    topology = read_topology(open_bundle([rendered_example(cli, "torus", tmp_path)]))
    assert strides(topology, topology.planes["compute"]) == (1, 4, 16)
    scene = plane_scene(topology, "compute")
    assert len({box.y for box in scene.boxes}) == 4


def test_pods_count_their_links(cli: Cli, tmp_path: Path) -> None:
    """A large plane as pods, here of a small one: the numbers of the cards are those of the links."""
    topology = read_topology(open_bundle([rendered_example(cli, "quickstart", tmp_path)]))
    of_pods = Topology(
        tuple(switch if switch.role == "leaf" else type(switch)(**{name: getattr(switch, name) for name in
              switch.__slots__} | {"pod": index % 2}) for index, switch in enumerate(topology.switches)),
        topology.pairs, topology.hosts,
    )  # fmt: skip
    pods = pods_of(of_pods, "compute")
    assert set(pods) == {0, 1} and sum(map(len, pods.values())) == 20
    scene = overview_scene(of_pods, "compute")
    texts = [box.note for box in scene.boxes if box.kind is BoxKind.POD]
    assert sum(int(re.findall(r"([\d,]+) NICs", note)[0]) for note in texts) == 256
    assert overlapping(scene) == []
    one = pod_scene(of_pods, "compute", 0)
    assert {box.name for box in one.boxes} == {topology.switches[index].name for index in pods[0]} and not one.lines


@pytest.mark.parametrize("suffix", [".svg", ".drawio", ".dot"])
def test_formats(suffix: str, rendered: Path, cli: Cli, tmp_path: Path) -> None:
    """Each format has all switches and lines, the same twice."""
    files = [tmp_path / f"{number}{suffix}" for number in (1, 2)]
    for file in files:
        assert cli("draw", rendered, "-o", file).code == 0
    text = files[0].read_text()
    assert text == files[1].read_text()
    scene = fabric_scenes(open_bundle([rendered]))["compute"]
    if suffix == ".svg":
        root = ElementTree.fromstring(text)
        assert len(list(root.iter(f"{SVG}rect"))) == len(scene.boxes) + 1
        assert len(list(root.iter(f"{SVG}path"))) == len(scene.lines)
    elif suffix == ".drawio":
        cells = list(ElementTree.fromstring(text).iter("mxCell"))
        known = [cell.get("id") for cell in cells]
        assert len(set(known)) == len(known)
        edges = [cell for cell in cells if cell.get("edge")]
        assert len(edges) == len(scene.lines)
        assert all({edge.get("source"), edge.get("target")} <= set(known) for edge in edges)
        kinds = [bool(cell.get("edge")) for cell in cells[2:]]
        assert kinds == sorted(kinds, reverse=True), "lines are below boxes"
    else:
        assert text.count(" -- ") == len(scene.lines)
        assert text.count("rank=same") == 3


def test_graphviz_draws_the_curves_of_the_picture(rendered: Path, cli: Cli, tmp_path: Path) -> None:
    neato = tool("neato", "graphviz")
    assert cli("draw", rendered, "-o", tmp_path / "fabric.dot").code == 0
    done = subprocess.run(
        [neato, "-n2", "-Tplain", tmp_path / "fabric.dot"], check=True, timeout=60, capture_output=True
    )
    assert done.stderr == b""
    first = next(line.split() for line in done.stdout.decode().splitlines() if line.startswith("edge"))
    assert first[3] == "4", "the curve of the picture, not one of Graphviz"


def test_a_panel_shows_speeds_and_far_ends(rendered: Path, cli: Cli, tmp_path: Path) -> None:
    scene = panel_scene(open_bundle([rendered]), "compute-su00-r0-leaf")
    assert scene.caption == "arista-7060x6-64pe, 32 ports of 128 used"
    assert len(scene.boxes) == 64 and sum(box.kind is BoxKind.PORT for box in scene.boxes) == 16
    assert "Ethernet448 (cage 57): 400G compute-spine-00 Ethernet0" in [label.text for label in scene.labels]
    assert cli("draw", rendered, "--device", "compute-su00-r0-leaf", "-o", tmp_path / "panel.svg").code == 0


def test_a_panel_shows_port_channels_and_vlans(tmp_path: Path) -> None:
    text = PAIRED.replace("vlan: 110", "bond: bond0, vlan: 110, tagged: [120, 131, 132, 133, 134, 135, 136, 137]")
    (tmp_path / "fabric.yaml").write_text(text, encoding="utf-8")
    assert not render(tmp_path / "fabric.yaml", tmp_path / "bundle").has_errors
    listed = [label.text for label in panel_scene(open_bundle([tmp_path / "bundle"]), FIRST).labels]
    tagged = "tagged 120 131 132 133 134 135 and 2 more"
    assert f"Ethernet0 (cage 1): 400G gpu-000 inband0, PortChannel0, VLAN 110, {tagged}, MCLAG 1" in listed
    (peer,) = [text for text in listed if text.startswith("Ethernet496 ")]
    assert peer == (
        f"Ethernet496 (cage 63): 400G {SECOND} Ethernet496, PortChannel496, tagged 110 120 131 132 133 134 and 3 more"
    )
    assert not any("VLAN" in text or "PortChannel" in text for text in listed if "spine" in text)


def test_a_cable_shows_both_ends(rendered: Path) -> None:
    bundle = open_bundle([rendered])
    assert bundle.wiring
    cable = bundle.wiring.cables[0]
    scene = cable_scene(bundle, cable.id)
    assert [box.text for box in scene.boxes] == ["gpu-000", "compute-su00-r0-leaf"]
    assert scene.lines[0].text == "400G, mmf, 5 m"


def test_a_rack_shows_its_units(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    wiring = json.loads((bundle / "fabric.json").read_text())
    wiring["devices"][0] |= {"rack": "r1", "unit": "40"}
    wiring["devices"][1] |= {"rack": "r1", "unit": "41"}
    for number, unit in enumerate(("u1", "1", "U2", "")):
        wiring["hosts"][number] |= {"rack": "r1", "unit": unit}
    (bundle / "fabric.json").write_text(json.dumps(wiring))
    out = tmp_path / "rack.svg"
    assert cli("draw", bundle, "--rack", "r1", "-o", out).code == 0
    texts = [node.text for node in ElementTree.fromstring(out.read_text()).iter(f"{SVG}text")]
    assert texts[0] == "rack r1: 6 devices; hosts are one unit high here, as their height is not known"
    assert {"compute-su00-r0-leaf", "gpu-000, dgx-h100", "gpu-001, dgx-h100", "without a unit", "42"} <= set(texts)
    scene = rack_scene(open_bundle([bundle]), "r1")
    assert overlapping(scene) == [], "switches of two units, and hosts of one unit, are beside each other"
    found = {box.name.partition(",")[0]: box for box in scene.boxes if box.kind is not BoxKind.FREE}
    assert found["compute-su00-r0-leaf"].height == found["compute-su00-r1-leaf"].height == 42
    assert found["gpu-000"].y == found["gpu-001"].y > found["gpu-002"].y
    assert found["gpu-002"].width > 1.9 * found["gpu-001"].width
    assert max(box.y + box.height for box in scene.boxes) <= scene.height
    assert "it has r1" in cli("draw", bundle, "--rack", "r9", "-o", out).err


def test_groups_are_in_a_ring(cli: Cli, tmp_path: Path) -> None:
    """A dragonfly: links between groups are straight, and none runs through a box of a third group."""
    topology = read_topology(open_bundle([rendered_example(cli, "dragonfly", tmp_path)]))
    scene = plane_scene(topology, "compute")
    unit = [topology.switches[topology.index[box.name]].su for box in scene.boxes]
    assert [label.text for label in scene.labels] == [f"group {number}" for number in range(8)]
    through = [
        (line, box)
        for line in scene.lines
        for box, own in zip(scene.boxes, unit, strict=True)
        if unit[line.a] != unit[line.b] and own not in (unit[line.a], unit[line.b]) and crosses(line, box)
    ]
    assert through == []


def crosses(line: Line, box: Box) -> bool:
    points = [(line.x1 + (line.x2 - line.x1) * step / 200, line.y1 + (line.y2 - line.y1) * step / 200)
              for step in range(201)]  # fmt: skip
    return any(box.x < x < box.x + box.width and box.y < y < box.y + box.height for x, y in points)


def test_names_stay_text() -> None:
    scene = Scene(PAYLOAD, PAYLOAD, 60, (Box(PAYLOAD, BoxKind.SWITCH, 1, 1, 40, 20, PAYLOAD, PAYLOAD),))
    for text in (scene_svg(scene), scene_drawio(scene)):
        root = ElementTree.fromstring(text)
        assert not any("img" in node.tag for node in root.iter())
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028]", text)
    assert '\n"' not in scene_dot(scene) and quoted('a"b\\') == '"a\\"b\\\\"'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "x.png"), "the name must end with .svg, .drawio, .dot"),
        (("--device", "leaf9", "-o", "x.svg"), "the bundle has no switch 'leaf9'; it has compute-spine-00"),
        (("--rack", "r1", "-o", "x.svg"), "no device is in rack 'r1'; the inventory states no rack"),
        (("--cable", "c", "-o", "x.svg"), "the bundle has no cable 'c'; it has compute/"),
        (("--plane", "p", "-o", "x.svg"), "the bundle has no plane 'p'; it has compute"),
        (("--rack", "r1", "--cable", "c", "-o", "x.svg"), "--rack and --cable: choose one of them"),
    ],
)
def test_wrong_arguments(
    arguments: tuple[str, ...], message: str, rendered: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = cli("draw", rendered, *arguments)
    assert outcome.code == 2 and message in outcome.err
    assert list(tmp_path.glob("x.*")) == []


def rails(units: int, spines: int) -> Topology:
    """Eight rails of `units` leaves and `spines` spines, each leaf to the spines of its rail by two links."""

    def switch(name: str, role: Role, rail: int, su: int | None) -> WiredDevice:
        return WiredDevice(name, name, "compute", role, platform="", layout="", hwsku="", rail=rail, su=su)

    leaves = [switch(f"su{su}-r{rail}", Role.LEAF, rail, su) for su in range(units) for rail in range(8)]
    upper = [switch(f"r{rail}-s{n}", Role.SPINE, rail, None) for rail in range(8) for n in range(spines)]
    pairs = {}
    for above, spine in enumerate(upper, len(leaves)):
        for below, leaf in enumerate(leaves):
            if leaf.rail == spine.rail:
                ends = [((leaf.name, f"E{2 * above + n}"), (spine.name, f"E{2 * below + n}")) for n in range(2)]
                pairs[below, above] = tuple(
                    WiredLink("", "compute", LinkKind.LEAF_SPINE, *each, 400_000, "") for each in ends
                )
    return Topology((*leaves, *upper), pairs, {})


def test_a_large_tier_is_a_matrix_of_rails_by_units() -> None:
    """A cell for each switch: its row is its rail, its column its scalable unit; a bar for the links of each rail."""
    topology = rails(units=32, spines=16)
    members = topology.planes["compute"]
    assert is_matrix(topology, members) and not is_matrix(rails(7, 4), rails(7, 4).planes["compute"])
    scene = matrix_scene(topology, "compute", members)
    assert overlapping(scene) == [] and not scene.lines
    cells = {box.name: box for box in scene.boxes if box.kind is BoxKind.SWITCH}
    assert set(cells) == {one.name for one in topology.switches}
    assert len({cells[f"su{su}-r3"].y for su in range(32)}) == 1 == len({cells[f"su5-r{rail}"].x for rail in range(8)})
    bars = [box.text for box in scene.boxes if box.kind is BoxKind.BAND]
    assert bars == [f"rail {rail}: 1,024" for rail in range(8)]
    texts = [label.text for label in scene.labels]
    for text in (
        "256 leaves",
        "row: rail · column: scalable unit",
        "128 spines",
        "SU 0",
        "r7",
        "8,192 links",
        "of 400G",
    ):
        assert text in texts, text
    assert max(box.x + box.width for box in scene.boxes) <= scene.width
    assert max(box.y + box.height for box in scene.boxes) <= scene.height


def test_a_bar_counts_the_links_that_are_down(bundle: Path) -> None:
    """Those with a port that is shut, and those that are cordoned; one whose two ends are shut is one link."""
    wiring = json.loads((bundle / "fabric.json").read_text())
    up = [link for link in wiring["links"] if link["kind"] == "leaf-spine"]
    wiring["cordoned"] = [up[0]["id"]]
    (bundle / "fabric.json").write_text(json.dumps(wiring))
    for name, port in (up[1]["a"], up[1]["b"], up[2]["b"]):
        file = bundle / "sonic" / name / "config_db.json"
        tables = json.loads(file.read_text())
        tables["PORT"][port]["admin_status"] = "down"
        file.write_text(json.dumps(tables))
    opened = open_bundle([bundle])
    for states, number in ((False, 1), (True, 3)):
        topology = read_topology(opened, states=states)
        scene = matrix_scene(topology, "compute", topology.planes["compute"])
        bars = [box.text for box in scene.boxes if box.kind is BoxKind.BAND]
        assert sum(int(text.split(", ")[1].removesuffix(" down")) for text in bars if "down" in text) == number, bars


def test_routers_are_outside_the_fabric(cli: Cli, tmp_path: Path) -> None:
    """They are not hosts: each has a box, and lines to its switches."""
    topology = read_topology(open_bundle([rendered_example(cli, "border", tmp_path)]))
    assert topology.hosts_of(topology.planes["compute"]) == (8, 64)
    scene = plane_scene(topology, "compute")
    assert scene.caption == "10 switches, 8 hosts and 2 devices outside the fabric" and overlapping(scene) == []
    outside = {number: box.name for number, box in enumerate(scene.boxes) if box.kind is BoxKind.OUTSIDE}
    ends = {(outside[one.a], scene.boxes[one.b].name) for one in scene.lines if one.a in outside}
    assert ends == {("wan1", "compute-su00-r0-leaf"), ("wan2", "compute-su00-r4-leaf")}


def test_a_torus_is_slabs(cli: Cli, tmp_path: Path) -> None:
    topology = read_topology(open_bundle([rendered_example(cli, "torus", tmp_path)]))
    scene = matrix_scene(topology, "compute", topology.planes["compute"])
    assert [label.text for label in scene.labels] == [f"slab {number}" for number in range(4)]
    assert len(scene.boxes) == 64 and overlapping(scene) == []
