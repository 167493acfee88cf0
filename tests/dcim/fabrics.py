"""Bundles of a small fabric, with racks, serials and management addresses, and variants of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fabricgen.api.rendering import render
from fabricgen.bundle.read import open_bundle
from fabricgen.dcim.planned import PlannedObjects
from tests.handoff.rendered import placed
from tests.inventories import MANAGEMENT, write

Edit = Callable[[dict[str, Any]], None]


def fabric() -> dict[str, Any]:
    """Two leaves, two spines and a host: six links."""
    return {**placed(), "management": MANAGEMENT}


def bundle(folder: Path, *edits: Edit) -> Path:
    """The bundle of the fabric after some edits of its inventory."""
    tree = fabric()
    for edit in edits:
        edit(tree)
    result = render(write(folder / "inventory", tree), folder / "bundle")
    assert not result.has_errors, result.findings
    return folder / "bundle"


def planned(path: Path, only: str = "") -> PlannedObjects:
    """The objects of a bundle."""
    opened = open_bundle([path])
    assert opened.wiring
    return PlannedObjects(opened, opened.wiring, "hall1", lambda name: only in name)
