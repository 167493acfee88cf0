"""One inventory, from a YAML file or a folder of them, with every mistake that can be found in it."""

import csv
from dataclasses import replace
from io import StringIO
from pathlib import Path

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location, Severity
from fabricgen.inventory.build import build_inventory
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.nodes import Node, merge, read_yaml
from fabricgen.inventory.outside import check_outside
from fabricgen.inventory.references import check_name_patterns, check_references
from fabricgen.inventory.schema import prune_invalid

LOCK_NAME = "allocations.lock.yaml"
_DEVICE_COLUMNS = ("name", "identity", "rack", "unit", "serial", "mac", "management", "state")


def load_inventory(path: Path) -> tuple[Inventory, list[Finding]]:
    """The inventory and its findings. Parts that are wrong are reported and left out, so that later rooms can go on.

    Raises UnreadableInputError for a path that is missing, or a file that is no YAML.
    """
    files = inventory_files(path)
    root = Node({}, Location(files[0].name, 1, 1))
    findings: list[Finding] = []
    for file in files:
        findings += merge(root, _read(file, findings))
    table = inventory_root(path) / "devices.csv"
    if path.is_dir() and table.is_file():
        findings += merge(root, _read_devices(table, findings))
    findings += prune_invalid(root)
    inventory = build_inventory(root, findings)
    unusable = check_name_patterns(inventory)
    findings += [*unusable.values(), *check_references(inventory), *check_outside(inventory)]
    sound = {role: pattern for role, pattern in inventory.names.items() if role not in unusable}
    return replace(inventory, names=sound), findings


def inventory_root(path: Path) -> Path:
    """The folder of an inventory: what its places are relative to, and where its lock file lies."""
    return path if path.is_dir() else path.parent


def inventory_files(path: Path) -> list[Path]:
    """The YAML files of an inventory in the order in which they are merged."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UnreadableInputError("no such inventory", Location(str(path)))
    files = sorted(file for file in path.iterdir() if file.suffix in (".yaml", ".yml") and file.name != LOCK_NAME)
    if not files:
        raise UnreadableInputError("holds no YAML file", Location(str(path)))
    return files


def _read(file: Path, findings: list[Finding]) -> Node:
    try:
        node, twice = read_yaml(_text(file), file.name)
    except UnreadableInputError as error:
        raise UnreadableInputError(error.problem, replace(error.location, file=str(file))) from error
    if not isinstance(node.value, dict):
        raise UnreadableInputError("not a mapping of inventory keys", Location(str(file), 1, 1))
    findings += twice
    return node


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise UnreadableInputError(f"cannot read: {reason}", Location(str(file))) from error


def _read_devices(file: Path, findings: list[Finding]) -> Node:
    """devices.csv as `devices`: a header line with some of the known columns, then a line for each device."""
    rows = csv.DictReader(StringIO(_text(file)))
    devices = []
    for column in rows.fieldnames or ():
        if column not in _DEVICE_COLUMNS:
            hint = f"known: {', '.join(_DEVICE_COLUMNS)}"
            place = Location(file.name, 1)
            findings.append(Finding("FG101", Severity.ERROR, f"unknown column {column!r}", location=place, hint=hint))
    for row in rows:
        fields = {key: value for key, value in row.items() if key in _DEVICE_COLUMNS and value}
        place = Location(file.name, rows.line_num, 1)
        if not fields.get("name"):
            findings.append(Finding("FG106", Severity.ERROR, "a device without a name", location=place))
            continue
        members = {key: Node(value, place) for key, value in fields.items()}
        devices.append(Node(members, place, dict.fromkeys(members, place)))
    top = Location(file.name, 1, 1)
    return Node({"devices": Node(devices, top)}, top, {"devices": top})
