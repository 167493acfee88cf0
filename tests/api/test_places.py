"""Where a value of an inventory is written, for a bundle that names its inventory by a digest."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.api.places import InventoryPlaces
from fabricgen.api.rendering import render
from fabricgen.inventory import load
from tests.inventories import explicit, write


def test_inventories_of_other_fabrics_are_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inventory of the bundle is found among others of its folder."""
    for name in ("first", "second"):
        write(tmp_path / name, explicit() | {"fabric": name})
    render(tmp_path / "second", tmp_path / "build")
    loaded: list[Any] = []
    own = load.load_inventory
    monkeypatch.setattr(load, "load_inventory", lambda path: (loaded.append(path), own(path))[1])
    found = InventoryPlaces(tmp_path / "build")("fabric.yaml#planes.compute.speed")
    assert (
        found.file.endswith("second/fabric.yaml")
        and "speed" in Path("/", found.file).read_text().split("\n")[found.line - 1]
    )
    assert loaded == [tmp_path / "second"]
