"""Lines of the inventory that a bundle was made from. Judges know its paths only; the command line may look them up."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from fabricgen.bundle.manifest import read_manifest
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inventory.load import inventory_root, load_inventory
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.places import place_of

_INVENTORY = (".yaml", ".yml", ".csv")
_BELOW = ("", "*", "inventories/*")  # of the bundle's parent and of the working directory


class InventoryPlaces:
    """The lines of inventory values, file#dotted.path, as `Reporter.place_of` wants them.

    The inventory is the one that was named, else one near the bundle (or here) whose content is what the bundle's
    manifest was made from; without it a place is the file as a whole.
    """

    def __init__(self, bundle: Path | None, inventory: Path | None = None, node: Node | None = None) -> None:
        self._bundle, self._inventory, self._node = bundle, inventory, node
        self._first = ""

    def __call__(self, place: str) -> Location:
        """Line and column of a value, in a file that can be opened from here; line 0 where nobody knows."""
        file, _, path = place.partition("#")
        if Path(file).suffix not in _INVENTORY:
            return Location(file)
        self._first = self._first or file
        if self._found is None:
            return Location(file)
        folder, node = self._found
        found = place_of(node, path)
        return replace(found if found.file == file else Location(file), file=str(folder / file))

    @cached_property
    def _found(self) -> tuple[Path, Node] | None:
        if self._inventory is not None:
            return inventory_root(self._inventory), self._node or load_inventory(self._inventory)[0].node
        manifest = read_manifest(self._bundle) if self._bundle else None
        for path in self._near() if manifest else ():
            try:
                inventory, _ = load_inventory(path)
            except UnreadableInputError:
                continue
            if manifest and inventory.digest == manifest.inventory_digest:
                return inventory_root(path), inventory.node
        return None

    def _near(self) -> Iterator[Path]:
        """Folders that hold the first file that was asked for, and that file by itself."""
        assert self._bundle is not None
        for base in dict.fromkeys((self._bundle.resolve().parent, Path.cwd())):
            for pattern in _BELOW:
                for folder in sorted(base.glob(pattern)) if pattern else [base]:
                    if (folder / self._first).is_file():
                        yield from (_shortest(folder), _shortest(folder / self._first))


def _shortest(path: Path) -> Path:
    """Relative to the working directory where it lies below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
