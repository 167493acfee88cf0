"""Which links share a cable, and which cables cannot be plugged."""

import json
from pathlib import Path

import pytest

from fabricgen.design.cables import Cable, tangles_of
from fabricgen.design.model import Fabric
from fabricgen.render.plans import design_only
from tests.conftest import Cli
from tests.inventories import Tree, rail_optimized, write


def fabric_of(tree: Tree, folder: Path) -> tuple[Fabric, list[str]]:
    fabric, findings = design_only(write(folder, tree))
    return fabric, [one.message for one in findings if one.code == "FG152"]


def at_hosts(fabric: Fabric) -> list[Cable]:
    return [cable for cable in fabric.cables if cable.kind == "host-leaf"]


def hosts_on(medium: str, model: str = "hgx-h100", **keys: object) -> Tree:
    cables = {"host-leaf": {"length": "3m", "medium": medium}}
    return rail_optimized(32, 32, 1, "nvidia-sn5600", model, cables=cables, **keys)


@pytest.mark.parametrize("medium", ["dac", "aec", "aoc"])
def test_two_hosts_at_a_split_cage_share_a_breakout_cable(medium: str, tmp_path: Path) -> None:
    fabric, mistakes = fabric_of(hosts_on(medium), tmp_path)
    assert mistakes == []
    assert {(len(cable.links), len(cable.legs), cable.pieces) for cable in at_hosts(fabric)} == {(2, 2, 1)}
    assert len(at_hosts(fabric)) == 32 * 8 // 2
    ends = {link.key: link for link in fabric.links}
    for cable in at_hosts(fabric):
        trunk = {(ends[name].b.key, ends[name].b.cage(ends[name].b_port)) for name in cable.links}
        assert len(trunk) == 1, "all legs begin in one cage"


def test_fibres_of_a_split_cage_are_cables_of_their_own(tmp_path: Path) -> None:
    fabric, mistakes = fabric_of(hosts_on("mmf"), tmp_path)
    assert mistakes == []
    assert {(len(cable.links), cable.legs) for cable in at_hosts(fabric)} == {(1, ())}


def test_a_nic_of_two_planes_has_a_fibre_to_each(tmp_path: Path) -> None:
    """The published count is one for each cage of a host; to buy are two fibres, each with two ends."""
    fabric, mistakes = fabric_of(hosts_on("mmf", "dgx-b300", subplanes=2), tmp_path)
    assert mistakes == []
    assert {(len(cable.links), len(cable.legs), cable.pieces) for cable in at_hosts(fabric)} == {(2, 2, 2)}
    assert sum(cable.pieces for cable in at_hosts(fabric)) == 32 * 8 * 2


@pytest.mark.parametrize("medium", ["dac", "aec", "aoc"])
def test_copper_cannot_join_cages_that_both_lead_elsewhere(medium: str, tmp_path: Path, cli: Cli) -> None:
    tree = hosts_on(medium, "dgx-b300", subplanes=2)
    fabric, [message] = fabric_of(tree, tmp_path)
    assert message.startswith(f"512 host-leaf links cannot be plugged with {medium}: a plug fills a cage, but cage ")
    assert tangles_of(fabric.links)
    bundle = tmp_path / "bundle"
    rendered = cli("render", tmp_path, "--output", bundle)
    assert rendered.code == 0 and "FG152" in rendered.err and "a plug fills a cage" in rendered.err
    report = cli("validate", bundle)
    assert report.code == 0 and "warning FG273" in report.out and "use fibre" in report.out


def test_straight_cables_in_the_place_of_a_breakout_cable_are_an_error(tmp_path: Path, cli: Cli) -> None:
    """As people plan them who count ports: a dac for each host."""
    bundle = tmp_path / "bundle"
    assert cli("render", write(tmp_path, hosts_on("dac")), "--output", bundle).code == 0
    file = bundle / "fabric.json"
    wiring = json.loads(file.read_text())
    wiring["cables"] = [
        {**cable, "id": name, "links": [name], "legs": []} for cable in wiring["cables"] for name in cable["links"]
    ]
    for link in wiring["links"]:
        link["cable"] = link["id"]
    file.write_text(json.dumps(wiring))
    report = cli("validate", bundle)
    assert report.code == 1 and "error FG273" in report.out and "these links need one breakout cable" in report.out


def test_without_a_medium_short_cables_are_copper_only_where_it_can_be_plugged(tmp_path: Path) -> None:
    for model, subplanes, medium in (("hgx-h100", 1, "dac"), ("dgx-b300", 2, "mmf")):
        tree = hosts_on("dac", model, subplanes=subplanes)
        tree["planes"]["compute"]["cables"] = {"host-leaf": "3m"}
        fabric, mistakes = fabric_of(tree, tmp_path / model)
        assert mistakes == []
        assert {cable.medium for cable in at_hosts(fabric)} == {medium}


def on_cables(cables: Tree, speed: str = "400G", **keys: object) -> Tree:
    """Two units on InfiniBand."""
    platform, model = ("nvidia-q3400", "dgx-b300-xdr") if speed == "800G" else ("nvidia-qm9700", "hgx-h100")
    tree = rail_optimized(8, 4, 2, platform, model, technology="infiniband", speed=speed, cables=cables, **keys)
    del tree["planes"]["compute"]["addressing"]
    return {key: part for key, part in tree.items() if key != "management"}


@pytest.mark.parametrize(
    ("speed", "medium", "length", "limit", "usual"),
    [
        ("400G", "dac", "30m", "the longest has 3m", "mmf"),
        ("400G", "aec", "6m", "the longest has 5m", "mmf"),
        ("400G", "mmf", "60m", "the longest has 50m", "smf"),
        ("400G", "aoc", "120m", "the longest has 100m", "smf"),
        ("800G", "mmf", "30m", "InfiniBand of 800G has none", "smf"),
        ("800G", "dac", "2m", "InfiniBand of 800G has none", "smf"),
    ],
)
def test_cables_that_are_not_made(speed: str, medium: str, length: str, limit: str, usual: str, tmp_path: Path) -> None:
    """The medium of the hint is made in this length."""
    cable = {"length": length, "medium": medium}
    _, findings = design_only(write(tmp_path, on_cables({"leaf-spine": cable}, speed)))
    [(message, hint)] = [
        (one.message, one.hint) for one in findings if one.code == "FG152" and "but " + limit in one.message
    ]
    assert f"leaf-spine links of {speed} on {medium} of {length}, but {limit}" in message
    assert hint == f"set `medium: {usual}` for the leaf-spine cables"
    _, mistakes = fabric_of(on_cables({"leaf-spine": {**cable, "medium": usual}}, speed), tmp_path / "again")
    assert mistakes == []


@pytest.mark.parametrize("speed", ["400G", "800G"])
def test_usual_cables_are_made(speed: str, tmp_path: Path) -> None:
    fabric, mistakes = fabric_of(
        on_cables({"host-leaf": {"length": "2m"}, "leaf-spine": {"length": "30m"}}, speed), tmp_path
    )
    assert mistakes == []
    assert {link.cable.medium for link in fabric.links} == ({"smf"} if speed == "800G" else {"dac", "mmf"})


def test_a_long_copper_cable_is_not_made_for_any_speed(tmp_path: Path) -> None:
    tree = hosts_on("dac")
    tree["planes"]["compute"]["cables"]["host-leaf"]["length"] = "30m"
    _, [message] = fabric_of(tree, tmp_path)
    assert message == "256 host-leaf links of 400G on dac of 30m, but the longest has 7m"
