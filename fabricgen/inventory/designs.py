"""What each design needs of a plane, and what it has no use for: a key that would change nothing is a mistake."""

from collections.abc import Iterator

from fabricgen.findings import Finding
from fabricgen.inventory.build_management import literal_secret
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.nodes import SecretReference
from fabricgen.inventory.plane import Plane, Tier, TorusSpec
from fabricgen.inventory.references import error

_NEEDED = {
    "rail-optimized": ("hosts", "scalable_unit", "leaf", "spine", "speed"),
    "rail-only": ("hosts", "scalable_unit", "leaf", "speed"),
    "fat-tree": ("hosts", "scalable_unit", "leaf", "spine", "speed"),
    "dual-tor": ("hosts", "scalable_unit", "leaf", "spine", "speed"),
    "dragonfly": ("hosts", "scalable_unit", "dragonfly", "leaf", "speed"),
    "dragonfly-plus": ("hosts", "scalable_unit", "dragonfly", "leaf", "spine", "speed"),
    "torus": ("hosts", "scalable_unit", "torus", "leaf", "speed"),
    "mesh": ("hosts", "scalable_unit", "torus", "leaf", "speed"),
    "explicit": ("leaves", "links", "leaf", "speed"),
}
_GROUP_COUNTS = {"dragonfly": ("switches",), "dragonfly-plus": ("leaves", "spines")}

_RAILS = ("rail-optimized", "rail-only", "dual-tor")
_JOINED = ("rail-optimized", "fat-tree", "dual-tor")
_CLOS = (*_JOINED, "rail-only")
# key of a plane -> the designs that use it
_USED_BY = {
    "scalable_unit": tuple(design for design in _NEEDED if design != "explicit"),
    "spine": (*_CLOS, "dragonfly-plus", "explicit"),
    "core": (*_JOINED, "explicit"),
    "tiers": _JOINED,
    "pod": _JOINED,
    "subplanes": _CLOS,
    "rails_per_leaf": _RAILS,
    "leaves_per_unit": ("fat-tree",),
    "uplink_speed": _CLOS,
    "oversubscription": _CLOS,
    "dragonfly": tuple(_GROUP_COUNTS),
    "torus": ("torus", "mesh"),
    **dict.fromkeys(("leaves", "spines", "cores", "links"), ("explicit",)),
}
_TIER_KEYS_OF_CLOS = ("count", "spare_ports", "newer")


def check_designs(inventory: Inventory) -> Iterator[Finding]:
    """Every plane against its design."""
    for plane in inventory.planes.values():
        yield from _check_needed(plane)
        yield from _check_unused(plane)
        yield from _check_dragonfly(plane)
        if plane.torus and plane.design in ("torus", "mesh"):
            yield from _check_torus(plane, plane.torus)


def _check_needed(plane: Plane) -> Iterator[Finding]:
    for key in _NEEDED[plane.design]:
        if key not in plane.node.mapping and key not in plane.node.cut:
            hint = f"add `{key}:` to {plane.path}"
            yield error("FG106", f"the {plane.design} design needs {key!r}", plane, hint=hint)
        elif key == "hosts" and not plane.hosts and key not in plane.node.cut:
            yield error("FG106", f"the {plane.design} design needs hosts", plane, key, hint="name a group of `hosts`")


def _check_unused(plane: Plane) -> Iterator[Finding]:
    message = f"the {plane.design} design has no use for"
    for key, designs in _USED_BY.items():
        if key in plane.node.mapping and plane.design not in designs:
            yield error("FG215", f"{message} {key!r}", plane, key, hint=f"leave it out, or: {', '.join(designs)}")
    for tier in plane.tiers.values() if plane.design not in _CLOS else ():
        for key in _TIER_KEYS_OF_CLOS:
            if key in tier.node.mapping:
                yield error("FG215", f"{message} {key!r}", tier, key, hint=f"leave it out, or: {', '.join(_CLOS)}")
    if plane.design in _CLOS:
        yield from _check_unused_of_clos(plane)
    if plane.unit and plane.unit.appliances and plane.design not in _CLOS:
        yield error("FG215", f"{message} 'appliances'", plane.unit, "appliances", hint=f"one of: {', '.join(_CLOS)}")
    m_key = plane.infiniband.m_key
    if m_key is not None and not isinstance(m_key, SecretReference):
        yield literal_secret(f"{plane.infiniband.path}.m_key", plane.infiniband.node.mapping["m_key"])
    for key in ("infiniband", "partitions"):
        if plane.technology == "roce" and key in plane.node.mapping:
            hint = "`technology: infiniband`, or without them"
            yield error("FG105", "a RoCE plane has no InfiniBand settings", plane, key, hint=hint)


def _check_unused_of_clos(plane: Plane) -> Iterator[Finding]:
    """Keys of tiers that there are not, or that count nothing."""
    leaf, spine, core = (plane.tiers.get(role) for role in ("leaf", "spine", "core"))
    if leaf and leaf.count is not None:
        message = "leaves are counted by units and rails, so 'count' would change nothing"
        yield error("FG215", message, leaf, "count", hint="leave it out; `count` is for spines and cores")
    if plane.tier_count == 2 and plane.pod_units:
        yield error("FG215", "two tiers have no pods", plane, "pod", hint="`tiers: 3`, or leave `pod` out")
    ratios = plane.node.part("oversubscription").mapping
    if "spine" in ratios and core is None:
        message = "there is no `core:` tier, so spines have no uplinks to be oversubscribed"
        yield error("FG215", message, plane, "oversubscription", "spine", hint="add `core:`, or leave it out")
    for tier in (core, spine if plane.design == "rail-only" else None):
        if tier and tier.newer:
            message = "these switches serve all units: none belongs to a later one"
            yield error("FG215", message, tier, "newer", hint="leave it out")
    for tier in plane.tiers.values():
        yield from _check_newer(plane, tier)


def _check_newer(plane: Plane, tier: Tier) -> Iterator[Finding]:
    planned = plane.unit.planned if plane.unit else None
    units = [newer.from_unit for newer in tier.newer]
    for newer in tier.newer:
        if planned is not None and newer.from_unit >= planned:
            message = f"unit {newer.from_unit} is never built: `planned` has the units 0 to {planned - 1}"
            yield error("FG105", message, newer, "from_unit")
        if units.count(newer.from_unit) > 1:
            units.remove(newer.from_unit)
            yield error("FG105", f"two platforms from unit {newer.from_unit} on", newer, "from_unit", hint="keep one")


def _check_dragonfly(plane: Plane) -> Iterator[Finding]:
    """A dragonfly counts switches of one kind, a dragonfly+ leaves and spines."""
    group = plane.node.mapping.get("dragonfly")
    if group is None or plane.design not in _GROUP_COUNTS:
        return
    own = _GROUP_COUNTS[plane.design]
    for key in (*own, "global_links"):
        if key not in group.mapping and key not in group.cut:
            hint = f"add `{key}:` to {plane.path}.dragonfly"
            yield error("FG106", f"the {plane.design} design needs {key!r}", plane, "dragonfly", hint=hint)
    for key in (key for counts in _GROUP_COUNTS.values() for key in counts):
        if key in group.mapping and key not in own:
            hint = f"its groups have {' and '.join(own)}"
            yield error("FG105", f"a group of a {plane.design} has no {key!r}", plane, "dragonfly", key, hint=hint)


def _check_torus(plane: Plane, torus: TorusSpec) -> Iterator[Finding]:
    """Lists are as long as the size, datelines lie on rings."""
    for key, values in (("links", torus.links), ("datelines", torus.datelines)):
        if len(values) != len(torus.size):
            message = f"{key} has {len(values)} entries, size has {len(torus.size)} dimensions"
            yield error("FG105", message, torus, key, hint="one for each dimension")
    if "datelines" in torus.node.mapping and plane.design == "mesh":
        yield error("FG105", "a mesh has no rings, so no datelines", torus, "datelines", hint="`design: torus`")
        return
    for index, (place, size) in enumerate(zip(torus.datelines, torus.size, strict=False)):
        if place >= size:
            message = f"dateline {place} lies outside: the dimension has the coordinates 0 to {size - 1}"
            yield error("FG105", message, torus, "datelines", index)
