"""One inventory from a YAML file, from a folder of YAML files and tables, or from several layers, with its findings."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location, Severity
from fabricgen.inputs import DUMP_BYTES, read_bytes
from fabricgen.inventory.host_bgp import check_host_bgp
from fabricgen.inventory.host_checks import check_host_models
from fabricgen.inventory.layers import read_layers
from fabricgen.inventory.mistakes import error, name_twice
from fabricgen.inventory.model import DeviceNote, Inventory, LinkNote
from fabricgen.inventory.nodes import Node, SecretReference
from fabricgen.inventory.outside import check_outside
from fabricgen.inventory.part import Part, declared
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.plane_checks import check_planes
from fabricgen.inventory.read_files import LOCK_NAME, InventorySource, Layers, inventory_files, inventory_root
from fabricgen.inventory.readings import Reading, read_reading
from fabricgen.inventory.references import check_name_patterns, check_references
from fabricgen.inventory.schema import prune_invalid
from fabricgen.inventory.suppressions import read_suppressions
from fabricgen.inventory.tenants import check_tenants
from fabricgen.sonic.secrets import SECRET_TABLES
from fabricgen.visible import is_visible, visible

__all__ = ["LOCK_NAME", "InventorySource", "Layers", "inventory_files", "inventory_root", "load_inventory"]


def load_inventory(source: InventorySource, *, needs_addresses: bool = True) -> tuple[Inventory, list[Finding]]:
    """The inventory and its findings. Wrong parts are reported and removed, so that the other parts can be planned.

    Without `needs_addresses` the pools of a plane may be missing, which is enough to count switches and links.
    Raises UnreadableInputError for a missing path, and for a file that is not YAML.
    """
    findings: list[Finding] = []
    root, texts = read_layers(source, findings)
    suppressions = read_suppressions(root, texts, findings)
    findings += refuse_control_characters(root)
    findings += prune_invalid(root)
    inventory = replace(build_inventory(root, findings), suppressions=suppressions)
    inventory = _with_readings(inventory, inventory_root(source), findings)
    named: list[Inventory | Plane] = [inventory, *inventory.planes.values()]
    unusable = {part.path: check_name_patterns(part) for part in named}
    wrong = check_host_models(inventory)
    findings += [finding for found in unusable.values() for finding in found.values()]
    findings += [*check_references(inventory, needs_addresses), *check_planes(inventory)]
    findings += [
        *check_tenants(inventory.tenants, inventory.planes),
        *check_outside(inventory),
        *check_host_bgp(inventory),
    ]
    findings += chain.from_iterable(wrong.values())

    def sound(part: Inventory | Plane) -> dict[str, str]:
        return {role: pattern for role, pattern in part.names.items() if role not in unusable[part.path]}

    planes = {
        name: replace(plane, names=sound(plane)) if unusable[plane.path] else plane
        for name, plane in inventory.planes.items()
    }
    models = {name: replace(model, sound=name not in wrong) for name, model in inventory.host_models.items()}
    return replace(inventory, names=sound(inventory), planes=planes, host_models=models), findings


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


# A tree that conforms to the schema, as the typed model. Mistakes that the schema cannot detect are reported here.


def build_inventory(root: Node, findings: list[Finding]) -> Inventory:
    """The model of a valid tree. Names given twice, literal secrets and unclear links are added to `findings`."""
    inventory = Inventory.read(root, "")
    findings += literal_secrets(inventory)
    return replace(
        inventory,
        devices=_unique(inventory.devices, findings),
        links=tuple(_clear(inventory.links, findings)),
        digest=hashlib.sha256(json.dumps(root.plain(), sort_keys=True, default=str).encode()).hexdigest(),
    )


def _clear(notes: Iterable[LinkNote], findings: list[Finding]) -> Iterator[LinkNote]:
    """The entries of `links`; one that names no link, or names it in two ways, is reported."""
    for note in notes:
        given = note.node.mapping.keys() & {"ends", "cable"}
        if len(given) == 1:
            yield note
        elif not {"ends", "cable"} & note.node.cut:
            code, message = ("FG105", "a link has `ends` or `cable`, not both") if given else (
                "FG106", "the link has neither `ends` nor `cable`")  # fmt: skip
            hint = "give `ends: [device:port, device:port]`, or `cable:` with a name of cabling.csv"
            findings.append(
                Finding(code, Severity.ERROR, message, path=note.path, location=note.node.location, hint=hint)
            )


def _unique(notes: Iterable[DeviceNote], findings: list[Finding]) -> tuple[DeviceNote, ...]:
    kept: dict[str, DeviceNote] = {}
    for note in notes:
        key = note.name or note.identity or ""
        if not key and {"name", "identity"} & note.node.cut:
            continue  # reported with the schema
        if not key:
            hint = "give the `name` of a switch or host, or the `identity` of a switch"
            findings.append(error("FG106", "the entry has neither `name` nor `identity`", note, hint=hint))
            continue
        if key in kept:
            findings.append(name_twice(key, note, kept[key]))
        kept.setdefault(key, note)
    return tuple(kept.values())


def literal_secrets(part: Part) -> Iterator[Finding]:
    """Findings about secrets of a part, and of the parts in it, that are not references. None shows the secret."""
    for one in declared(type(part)):
        given = part.node.mapping.get(one.name)
        if given and one.notation.schema.get("writeOnly") and not isinstance(given.value, SecretReference):
            path = part.path_of(one.name)
            yield Finding(
                "FG108", Severity.ERROR, f"{path} contains a literal secret", path=path, location=given.location,
                hint=f"write `{one.name}: !secret path/of/the/secret`, and change the secret",
            )  # fmt: skip
        value = getattr(part, one.field)
        for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else [value]:
            if isinstance(inner, Part):
                yield from literal_secrets(inner)


# Control characters in an inventory: a newline in a name would begin another line in the files of hosts.

_HINT = "remove it; quote texts on one line, because a block of YAML ends in a newline"


def refuse_control_characters(root: Node) -> list[Finding]:
    """Report keys and texts with control characters, and remove them from `root`.

    Texts of people (`reason`, `description`) and the values of CONFIG_DB can have several lines.
    """
    return list(_refused(root, ()))


def _refused(node: Node, path: tuple[str, ...]) -> Iterator[Finding]:
    for key, child in list(node.mapping.items()):
        steps = (*path, key)
        if not is_visible(key):
            yield _finding(steps, node.keys.get(key, child.location))
            del node.mapping[key]
        elif _is_wrong(child, steps):
            yield _finding(steps, child.location)
            del node.mapping[key]
            node.cut.add(key)
        else:
            yield from _refused(child, steps)
    for item in list(node.items):
        if _is_wrong(item, path):
            yield _finding(path, item.location)
            node.items.remove(item)
        else:
            yield from _refused(item, path)


def _is_wrong(node: Node, path: tuple[str, ...]) -> bool:
    text = node.value
    if not isinstance(text, str) or "config_db" in path:
        return False
    return not is_visible(text.replace("\n", "") if path[-1:] in (("reason",), ("description",)) else text)


def _finding(path: tuple[str, ...], place: Location) -> Finding:
    steps = [
        "***" if before in SECRET_TABLES else visible(step) for before, step in zip(("", *path), path, strict=False)
    ]
    name = ".".join(steps)
    return Finding("FG105", Severity.ERROR, f"{name} has a control character", path=name, location=place, hint=_HINT)
