"""The files of one inventory, a YAML file or a folder of YAML files and tables, merged into one tree."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.inputs import TABLE_BYTES, YAML_BYTES, read_text
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
        is_bundle = (path / "fabric.json").is_file() or (path / "sonic").is_dir()
        advice = "; it is a bundle: give the inventory that it is rendered from, or use `fabricgen validate`"
        problem = f"the folder has no YAML file{advice if is_bundle else ''}"
        raise UnreadableInputError(problem, Location(str(path)))
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


def merge(base: Node, other: Node, path: str = "") -> list[Finding]:
    """Merge `other` (a later file) into `base`. The findings report values that both files set.

    Mappings merge. Lists of named items merge by name; other lists are concatenated. A scalar in two files is a
    mistake, even if the values are equal.
    """
    if isinstance(base.value, dict) and isinstance(other.value, dict):
        findings: list[Finding] = []
        for key, child in other.value.items():
            if key in base.value:
                findings += merge(base.value[key], child, f"{path}.{key}" if path else key)
            else:
                base.value[key], base.keys[key] = child, other.keys[key]
        return findings
    if isinstance(base.value, list) and isinstance(other.value, list):
        return _merge_lists(base.value, other.value, path)
    if path == "fabricgen" and base.value == other.value:
        return []  # each file of a folder may state the format version
    return [
        Finding(
            "FG103", Severity.ERROR, f"{path} is set in two files", location=other.location, path=path,
            related=(Related("the other file", base.location),), hint="keep it in one of them",
        )
    ]  # fmt: skip


def _merge_lists(base: list[Node], other: list[Node], path: str) -> list[Finding]:
    findings: list[Finding] = []
    named = {name: item for item in base if (name := _name_of(item)) is not None}
    for item in other:
        name = _name_of(item)
        twin = named.get(name) if name is not None else None
        if twin is None:
            base.append(item)
            continue
        for key, child in item.mapping.items():
            if key == "name":
                continue
            if key in twin.mapping:
                findings += merge(twin.mapping[key], child, f"{path}[{name}].{key}")
            else:
                twin.mapping[key], twin.keys[key] = child, item.keys[key]
    return findings


def _name_of(item: Node) -> str | None:
    name = item.mapping["name"].value if "name" in item.mapping else None
    return name if isinstance(name, str) else None
