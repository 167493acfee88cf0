"""One inventory from a YAML file, or from a folder of YAML files and tables, with all of its findings."""

import hashlib
from dataclasses import replace
from itertools import chain
from pathlib import Path

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location
from fabricgen.inputs import DUMP_BYTES, TABLE_BYTES, YAML_BYTES, read_bytes, read_text
from fabricgen.inventory.build import build_inventory
from fabricgen.inventory.control_characters import refuse_control_characters
from fabricgen.inventory.host_checks import check_host_models
from fabricgen.inventory.infiniband_checks import check_infiniband
from fabricgen.inventory.merge import merge
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.outside import check_outside
from fabricgen.inventory.read_yaml import read_yaml
from fabricgen.inventory.readings import Reading, read_reading
from fabricgen.inventory.references import check_name_patterns, check_references, error
from fabricgen.inventory.schema import prune_invalid
from fabricgen.inventory.suppressions import read_suppressions
from fabricgen.inventory.tables import TABLES, read_table

LOCK_NAME = "allocations.lock.yaml"


def load_inventory(path: Path, *, needs_addresses: bool = True) -> tuple[Inventory, list[Finding]]:
    """The inventory and its findings. Wrong parts are reported and removed, so that the other parts can be planned.

    Without `needs_addresses` the pools of a plane may be missing, which is enough to count switches and links.
    Raises UnreadableInputError for a missing path, and for a file that is not YAML.
    """
    files = inventory_files(path)
    root = Node({}, Location(files[0].name, 1, 1))
    findings: list[Finding] = []
    texts = {file.name: read_text(file, YAML_BYTES) for file in files}
    for file in files:
        findings += merge(root, _read(file, texts[file.name], findings))
    for table in _tables(path):
        planes = sorted(root.find(("planes",)).mapping) if "planes" in root.mapping else []
        findings += merge(root, _read_table(table, planes, findings))
    suppressions = read_suppressions(root, texts, findings)
    findings += refuse_control_characters(root)
    findings += prune_invalid(root)
    inventory = replace(build_inventory(root, findings), suppressions=suppressions)
    inventory = _with_readings(inventory, inventory_root(path), findings)
    unusable = check_name_patterns(inventory)
    wrong = check_host_models(inventory)
    findings += [*unusable.values(), *check_references(inventory, needs_addresses), *check_infiniband(inventory)]
    findings += [*check_outside(inventory), *chain.from_iterable(wrong.values())]
    sound = {role: pattern for role, pattern in inventory.names.items() if role not in unusable}
    models = {name: replace(model, sound=name not in wrong) for name, model in inventory.host_models.items()}
    return replace(inventory, names=sound, host_models=models), findings


def _with_readings(inventory: Inventory, root: Path, findings: list[Finding]) -> Inventory:
    """The inventory with the readings of its fabric, which are part of its content."""
    readings: dict[str, list[Reading]] = {}
    digest = [inventory.digest]
    for plane in inventory.planes.values():
        for index, name in enumerate(plane.infiniband.discovered):
            spec = plane.infiniband
            place = spec.node.part("discovered").items[index]
            try:
                readings.setdefault(plane.name, []).append(
                    read_reading(root, name, spec.path_of("discovered", index), place)
                )
                digest.append(hashlib.sha256(read_bytes(root / name, DUMP_BYTES)).hexdigest())
            except UnreadableInputError as problem:
                message = f"the reading {problem.location} cannot be used: {problem.problem}"
                findings.append(error("FG892", message, spec, "discovered", index))
    if len(digest) == 1:
        return inventory
    known = {name: tuple(listed) for name, listed in readings.items()}
    return replace(inventory, readings=known, digest=hashlib.sha256("".join(digest).encode()).hexdigest())


def inventory_root(path: Path) -> Path:
    """The folder of an inventory. Its paths are relative to it, and it contains the lock file."""
    return path if path.is_dir() else path.parent


def inventory_files(path: Path) -> list[Path]:
    """The YAML files of an inventory, in the order in which they are merged."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UnreadableInputError("no such inventory", Location(str(path)))
    files = sorted(file for file in path.iterdir() if file.suffix in (".yaml", ".yml") and file.name != LOCK_NAME)
    if not files:
        raise UnreadableInputError("the folder has no YAML file", Location(str(path)))
    return files


def _tables(path: Path) -> list[Path]:
    """The tables in the folder of an inventory."""
    return [file for name in TABLES if path.is_dir() and (file := path / name).is_file()]


def _read(file: Path, text: str, findings: list[Finding]) -> Node:
    try:
        node, twice = read_yaml(text, file.name)
    except UnreadableInputError as error:
        raise UnreadableInputError(error.problem, replace(error.location, file=str(file))) from error
    if not isinstance(node.value, dict):
        raise UnreadableInputError("the file is not a mapping of inventory keys", Location(str(file), 1, 1))
    findings += twice
    return node


def _read_table(file: Path, planes: list[str], findings: list[Finding]) -> Node:
    try:
        return read_table(file.name, read_text(file, TABLE_BYTES), planes, findings)
    except UnreadableInputError as error:
        raise UnreadableInputError(error.problem, replace(error.location, file=str(file))) from error
