"""Imports of what other tools say: a fabric of ours, in their words, comes back with its links and numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.bundle.read import Bundle, open_bundle
from tests.adopt.expressed import Files, addresses, as_avd, as_hhfab, as_minigraphs, facts, write
from tests.conftest import Cli
from tests.inventories import ARISTA, MANAGEMENT, explicit
from tests.inventories import write as write_inventory

EXPRESSED: dict[str, Callable[[Bundle], Files]] = {
    "avd": as_avd,
    "hhfab": lambda bundle: as_hhfab(bundle, "arista-7060x6-64pe"),
    "minigraph": as_minigraphs,
}


# What the format cannot say: the layout of a model, and the gateway without which no management network is possible.
UNSAID = {"avd": ("hwsku",), "hhfab": ("hwsku", "management", "gateway"), "minigraph": ()}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Two leaves, two spines and a host; the management network is what the three formats can say."""
    from fabricgen.api.rendering import render

    folder = tmp_path_factory.mktemp("foreign")
    management = {key: MANAGEMENT[key] for key in ("addresses", "gateway")}
    tree = explicit(ARISTA) | {"management": management}
    render(write_inventory(folder / "source", tree), folder / "bundle")
    return open_bundle([folder / "bundle"])


def wires(bundle: Bundle) -> set[frozenset[Any]]:
    """Both ends of each link; hosts by their NICs alone, whose names the import may group anew."""
    return {frozenset((link.a, link.b)) for link in bundle.links}


@pytest.mark.parametrize("kind", EXPRESSED)
def test_a_fabric_of_ours_comes_back(kind: str, tiny: Bundle, cli: Cli, tmp_path: Path) -> None:
    files = write(EXPRESSED[kind](tiny), tmp_path / "files")
    outcome = cli("import", kind, files, "-o", tmp_path / "inventory")
    assert outcome.code == 0, outcome.err
    assert "FG868" not in outcome.err, outcome.err
    judged = cli("check", tmp_path / "inventory")
    assert judged.code == 0, judged.out
    assert cli("render", tmp_path / "inventory", "-o", tmp_path / "again", "-q", "--locked").code == 0
    again = open_bundle([tmp_path / "again"])
    assert wires(again) == wires(tiny)
    for name in tiny.devices:
        old, new = facts(tiny, name), facts(again, name)
        for key in UNSAID[kind]:
            del old[key], new[key]
        assert old == new
        for link in tiny.switch_links:
            for end in (link.a, link.b):
                assert addresses(again, *end) == addresses(tiny, *end)
