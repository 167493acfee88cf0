"""fabric.json read back: its words are enums, and a word that is not known does not stop a verdict."""

import json
import pickle
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from fabricgen.bundle.fabric_file import dump_wiring, load_wiring
from fabricgen.resources import resource
from fabricgen.vocabulary import DeviceState, LinkKind, Medium, Purpose, Role, Technology
from tests.conftest import Cli
from tests.inventories import explicit, write


@pytest.fixture
def bundle(cli: Cli, tmp_path: Path) -> Path:
    assert cli("render", write(tmp_path / "inventory", explicit()), "-o", tmp_path / "b", "-q").code == 0
    return tmp_path / "b"


def edit(bundle: Path, members: str, **words: object) -> None:
    """Change members of the first item of a list of fabric.json."""
    file = bundle / "fabric.json"
    content = json.loads(file.read_text())
    content[members][0] |= words
    file.write_text(json.dumps(content))


def test_words_are_enums(bundle: Path) -> None:
    text = (bundle / "fabric.json").read_bytes()
    wiring = load_wiring(text)
    assert {device.role for device in wiring.devices} == {Role.LEAF, Role.SPINE}
    assert all(type(device.role) is Role and device.state is DeviceState.ACTIVE for device in wiring.devices)
    assert all(type(link.kind) is LinkKind for link in wiring.links)
    assert all(type(cable.medium) is Medium for cable in wiring.cables)
    assert [(plane.technology, plane.purpose) for plane in wiring.planes] == [(Technology.ROCE, Purpose.COMPUTE)]
    assert dump_wiring(wiring) == text


def test_an_unknown_word_keeps_its_text(bundle: Path, cli: Cli) -> None:
    edit(bundle, "devices", role="rack-leaf", state="lent")
    edit(bundle, "links", kind="back-to-back")
    edit(bundle, "cables", medium="string")
    wiring = load_wiring((bundle / "fabric.json").read_bytes())
    role = wiring.devices[0].role
    assert type(role) is Role and role == "rack-leaf" and role not in list(Role)
    assert pickle.loads(pickle.dumps(role)) is role
    assert b'"rack-leaf"' in dump_wiring(wiring) and b'"string"' in dump_wiring(wiring)
    assert cli("validate", bundle).code in (0, 1)
    assert cli("simulate", "deadlock", bundle).code == 0


def test_a_word_that_is_not_text_is_refused(bundle: Path, cli: Cli) -> None:
    edit(bundle, "devices", role=5)
    outcome = cli("validate", bundle)
    assert outcome.code == 2 and "not a fabric.json that this version reads: devices[0]: 5 is not a Role" in outcome.err


@pytest.mark.parametrize("members", ["planes", "devices"])
def test_an_unknown_technology_is_refused(members: str, bundle: Path, cli: Cli) -> None:
    """No rule would judge it, and `validate` passed."""
    edit(bundle, members, technology="ethernet")
    outcome = cli("validate", bundle)
    assert outcome.code == 2
    assert "technology is 'ethernet', expected one of roce, infiniband" in outcome.err


def test_a_cable_of_an_unknown_link_is_refused(bundle: Path, cli: Cli) -> None:
    edit(bundle, "cables", links=["compute/nowhere"])
    for command in (("validate", bundle), ("handoff", "cabling", bundle, "-o", "out")):
        outcome = cli(*command)
        assert outcome.code == 2 and "'compute/nowhere' is not a link of the fabric" in outcome.err


def coordinates_of(bundle: Path) -> dict[str, tuple[int, ...]]:
    return {device.name: device.coordinates for device in load_wiring((bundle / "fabric.json").read_bytes()).devices}


def test_neighbors_of_a_torus_differ_in_one_coordinate(cli: Cli, tmp_path: Path) -> None:
    """By one step, or around the ring."""
    inventory = shutil.copytree(resource("inventories", "torus"), tmp_path / "torus")
    assert cli("-q", "render", inventory, "-o", tmp_path / "b").code == 0
    at = coordinates_of(tmp_path / "b")
    size = tuple(max(each) + 1 for each in zip(*at.values(), strict=True))
    assert sorted(at.values()) == sorted(product(*map(range, size)))
    links = [link for link in load_wiring((tmp_path / "b/fabric.json").read_bytes()).links if link.a[0] in at]
    for link in links:
        steps = [(a - b) % n for a, b, n in zip(at[link.a[0]], at[link.b[0]], size, strict=True)]
        moved = [(step, n) for step, n in zip(steps, size, strict=True) if step]
        assert len(moved) == 1 and moved[0][0] in (1, moved[0][1] - 1)


def test_a_dragonfly_has_groups_and_a_leaf_the_pod_of_its_spines(cli: Cli, tmp_path: Path) -> None:
    for name in ("dragonfly", "fat-tree"):
        copy = shutil.copytree(resource("inventories", name), tmp_path / name)
        assert cli("-q", "render", copy, "-o", tmp_path / f"{name}-b").code == 0
    groups = coordinates_of(tmp_path / "dragonfly-b")
    assert all(len(at) == 2 for at in groups.values()) and len(set(groups.values())) == len(groups)
    wiring = load_wiring((tmp_path / "dragonfly-b/fabric.json").read_bytes())
    for link in wiring.links:
        if link.a[0] in groups:
            assert (groups[link.a[0]][0] == groups[link.b[0]][0]) is (link.kind is LinkKind.PEER)
    wiring = load_wiring((tmp_path / "fat-tree-b/fabric.json").read_bytes())
    pods = {device.name: device.pod for device in wiring.devices}
    between = [link for link in wiring.links if link.kind is LinkKind.LEAF_SPINE]
    assert between and all(pods[link.a[0]] == pods[link.b[0]] is not None for link in between)


def test_cordoned_links_come_back(bundle: Path) -> None:
    wiring = load_wiring((bundle / "fabric.json").read_bytes())
    cordoned = replace(wiring, cordoned=(wiring.links[0].id,))
    assert load_wiring(dump_wiring(cordoned)) == cordoned
