"""One inventory from a YAML file, from a folder of YAML files and tables, or from several layers, with its findings."""

import hashlib
from dataclasses import replace
from itertools import chain
from pathlib import Path

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding
from fabricgen.inputs import DUMP_BYTES, read_bytes
from fabricgen.inventory.build import build_inventory
from fabricgen.inventory.control_characters import refuse_control_characters
from fabricgen.inventory.host_checks import check_host_models
from fabricgen.inventory.layers import read_layers
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.outside import check_outside
from fabricgen.inventory.plane_checks import check_planes
from fabricgen.inventory.read_files import LOCK_NAME, InventorySource, Layers, inventory_files, inventory_root
from fabricgen.inventory.readings import Reading, read_reading
from fabricgen.inventory.references import check_name_patterns, check_references
from fabricgen.inventory.schema import prune_invalid
from fabricgen.inventory.suppressions import read_suppressions
from fabricgen.inventory.tenants import check_tenants

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
    unusable = check_name_patterns(inventory)
    wrong = check_host_models(inventory)
    findings += [*unusable.values(), *check_references(inventory, needs_addresses), *check_planes(inventory)]
    findings += [*check_tenants(inventory.tenants, inventory.planes), *check_outside(inventory)]
    findings += chain.from_iterable(wrong.values())
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
