"""The keys of a plane that all designs of the Clos family use, and checks of those that count nothing."""

from collections.abc import Iterator

from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import Tier
from fabricgen.vocabulary import Role

CLOS_KEYS = ("subplanes", "uplink_speed", "oversubscription", "appliances", "places")
JOINED_CLOS_KEYS = ("core", "tiers", "pod")  # where the leaves of different columns are joined
CLOS_TIER_KEYS = ("count", "spare_ports", "newer")


def check_clos(plane: Plane, *, joined: bool = True) -> Iterator[Finding]:
    """Keys of tiers that do not exist, or that have no effect. `joined`: spines join the leaves of all columns."""
    leaf, spine, core = (plane.tiers.get(role) for role in (Role.LEAF, Role.SPINE, Role.CORE))
    if leaf and leaf.count is not None:
        message = "units and rails determine the number of leaves, so 'count' has no effect"
        yield error("FG215", message, leaf, "count", hint="remove it; `count` is for spines and cores")
    if plane.tier_count == 2 and plane.pod_units:
        yield error("FG215", "two tiers have no pods", plane, "pod", hint="set `tiers: 3`, or remove `pod`")
    ratios = plane.node.part("oversubscription").mapping
    if Role.SPINE in ratios and core is None:
        message = "the plane has no `core:` tier, so its spines have no uplinks to oversubscribe"
        yield error("FG215", message, plane, "oversubscription", "spine", hint="add `core:`, or remove the ratio")
    for tier in (core, None if joined else spine):
        if tier and tier.newer:
            message = "these switches serve all units, so none of them belongs to a later unit"
            yield error("FG215", message, tier, "newer", hint="remove it")
    for tier in plane.tiers.values():
        yield from _check_newer(plane, tier)


def _check_newer(plane: Plane, tier: Tier) -> Iterator[Finding]:
    planned = plane.unit.planned if plane.unit else None
    units = [newer.from_unit for newer in tier.newer]
    for newer in tier.newer:
        if planned is not None and newer.from_unit >= planned:
            message = f"unit {newer.from_unit} is never built: `planned` has the units 0 to {planned - 1}"
            yield error(
                "FG105", message, newer, "from_unit", hint="increase `scalable_unit.planned`, or reduce `from_unit`"
            )
        if units.count(newer.from_unit) > 1:
            units.remove(newer.from_unit)
            yield error(
                "FG105",
                f"two platforms start at unit {newer.from_unit}",
                newer,
                "from_unit",
                hint="keep one, or change a `from_unit`",
            )
