"""The files of one inventory, a YAML file or a folder of YAML files and tables, merged into one tree."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location
from fabricgen.inputs import TABLE_BYTES, YAML_BYTES, read_text
from fabricgen.inventory.merge import merge
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.read_yaml import read_yaml
from fabricgen.inventory.tables import TABLES, read_table

LOCK_NAME = "allocations.lock.yaml"
SETTING = "--set "  # begins the name of the file of a value that is set on the command line


@dataclass(frozen=True)
class Layers:
    """Everything that is rendered: inventories that change each other, the base first, values set on top of them, each
    PATH=VALUE, and a folder whose templates replace those of fabricgen."""

    inventories: tuple[Path, ...]
    settings: tuple[str, ...] = ()
    templates: Path | None = None


InventorySource = Path | Layers  # one YAML file or folder, or several layers


def inventory_layers(source: InventorySource) -> Layers:
    """A source as layers."""
    return source if isinstance(source, Layers) else Layers((source,))


def inventory_path(source: InventorySource) -> Path:
    """The inventory itself; of several layers the last one, which describes the fabric."""
    return source.inventories[-1] if isinstance(source, Layers) else source


def inventory_root(source: InventorySource) -> Path:
    """The folder of an inventory. Its paths are relative to it, and it contains the lock file."""
    path = inventory_path(source)
    return path if path.is_dir() else path.parent


def inventory_files(source: InventorySource) -> list[Path]:
    """The YAML files of an inventory, in the order in which they are merged; of several layers those of the last one.

    Raises UnreadableInputError for a path that is neither a file nor a folder with a YAML file.
    """
    path = inventory_path(source)
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UnreadableInputError("no such inventory", Location(str(path)))
    files = sorted(file for file in path.iterdir() if file.suffix in (".yaml", ".yml") and file.name != LOCK_NAME)
    if not files:
        raise UnreadableInputError("the folder has no YAML file", Location(str(path)))
    return files


def read_files(path: Path, root: Path, findings: list[Finding]) -> tuple[Node, dict[str, str]]:
    """The tree of an inventory, and the texts of its YAML files by name. Names are relative to `root`.

    Raises UnreadableInputError for a missing path, and for a file that is not YAML.
    """
    files = inventory_files(path)
    texts = {name_in(root, file): read_text(file, YAML_BYTES) for file in files}
    tree = Node({}, Location(name_in(root, files[0]), 1, 1))
    for file in files:
        findings += merge(tree, _read(file, name_in(root, file), texts[name_in(root, file)], findings))
    for table in (file for name in TABLES if path.is_dir() and (file := path / name).is_file()):
        planes = sorted(tree.find(("planes",)).mapping) if "planes" in tree.mapping else []
        findings += merge(tree, _read_table(table, name_in(root, table), planes, findings))
    return tree, texts


def name_in(root: Path, file: Path) -> str:
    """The path of a file relative to the folder of the inventory, also of a file outside of it."""
    return file.name if file.parent == root else os.path.relpath(file, root)


def opened(root: Path, place: Location) -> Location:
    """A place of an inventory with a path that can be opened from the working directory."""
    if Path(place.file).is_absolute() or place.file.startswith(SETTING):
        return place
    file = root / place.file
    return replace(place, file=os.path.normpath(file) if ".." in file.parts else str(file))


def _read(file: Path, name: str, text: str, findings: list[Finding]) -> Node:
    try:
        node, twice = read_yaml(text, name)
    except UnreadableInputError as error:
        raise UnreadableInputError(error.problem, replace(error.location, file=str(file))) from error
    if not isinstance(node.value, dict):
        raise UnreadableInputError("the file is not a mapping of inventory keys", Location(str(file), 1, 1))
    findings += twice
    return node


def _read_table(file: Path, name: str, planes: list[str], findings: list[Finding]) -> Node:
    try:
        return read_table(name, read_text(file, TABLE_BYTES), planes, findings)
    except UnreadableInputError as error:
        raise UnreadableInputError(error.problem, replace(error.location, file=str(file))) from error
