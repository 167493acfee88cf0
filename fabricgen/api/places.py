"""The lines of the inventory that a bundle is rendered from. Judges know the paths of its values only."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.bundle.manifest import read_manifest
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import YAML_BYTES, read_bytes

if TYPE_CHECKING:
    from fabricgen.inventory.nodes import Node
    from fabricgen.inventory.read_files import InventorySource

_INVENTORY = (".yaml", ".yml", ".csv")
_BELOW = ("", "*", "inventories/*")  # of the parent of the bundle and of the working directory


class InventoryPlaces:
    """The location of an inventory value, file#dotted.path.

    The inventory is the given one, else one near the bundle or below the working directory whose digest the manifest of
    the bundle contains. Without an inventory a location is the file as a whole.
    """

    def __init__(
        self, bundle: Path | None, inventory: "InventorySource | None" = None, node: "Node | None" = None
    ) -> None:
        self._bundle, self._inventory, self._node = bundle, inventory, node
        self._first = ""

    def __call__(self, place: str) -> Location:
        """Line and column of a value, in a file relative to the working directory; line 0 if they are unknown."""
        file, _, path = place.partition("#")
        if Path(file).suffix not in _INVENTORY:
            return Location(file)
        self._first = self._first or file
        if self._found is None:
            return Location(file)
        from fabricgen.inventory.nodes import place_of
        from fabricgen.inventory.read_files import opened

        folder, node = self._found
        found = place_of(node, path)
        return opened(folder, found if found.file == file else Location(file))

    @cached_property
    def _found(self) -> "tuple[Path, Node] | None":
        from fabricgen.inventory.load import inventory_files, inventory_root, load_inventory

        if self._inventory is not None:
            return inventory_root(self._inventory), self._node or load_inventory(self._inventory)[0].node
        manifest = read_manifest(self._bundle) if self._bundle else None
        if manifest is None:
            return None
        name = manifest.fabric.encode()
        for path in self._near():
            try:
                if not any(name in read_bytes(file, YAML_BYTES) for file in inventory_files(path)):
                    continue  # another fabric: a folder can have many, and to load one takes 20 ms
                inventory, _ = load_inventory(path)
            except UnreadableInputError:
                continue
            if inventory.digest == manifest.inventory_digest:
                return inventory_root(path), inventory.node
        return None

    def _near(self) -> Iterator[Path]:
        """Folders that contain the first file that was looked up, and that file itself."""
        assert self._bundle is not None
        for base in dict.fromkeys((self._bundle.resolve().parent, Path.cwd())):
            for pattern in _BELOW:
                for folder in sorted(base.glob(pattern)) if pattern else [base]:
                    if (folder / self._first).is_file():
                        yield from (_shortest(folder), _shortest(folder / self._first))


def _shortest(path: Path) -> Path:
    """The path relative to the working directory, if it is below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
