"""Checks of every plane against its design: keys that are missing, and keys that would change nothing."""

from collections.abc import Iterator

from fabricgen.design.design import Design
from fabricgen.design.registry import designs
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane


def check_design(plane: Plane) -> Iterator[Finding]:
    """All findings of one plane about its design, which is known."""
    design = designs()[plane.design]
    yield from _check_needed(plane, design)
    yield from _check_unused(plane, design)
    yield from design.check(plane)


def _check_needed(plane: Plane, design: Design) -> Iterator[Finding]:
    for key in design.needs:
        if key not in plane.node.mapping and key not in plane.node.cut:
            hint = f"add `{key}:` to {plane.path}"
            yield error("FG106", f"the {design.name} design needs {key!r}", plane, hint=hint)
        elif key == "hosts" and not plane.hosts and key not in plane.node.cut:
            hint = "name a group of `hosts`"
            yield error("FG106", f"the {design.name} design needs hosts", plane, key, hint=hint)


def _check_unused(plane: Plane, design: Design) -> Iterator[Finding]:
    for key in dict.fromkeys(key for each in designs().values() for key in (*each.needs, *each.takes)):
        if key in plane.node.mapping and not design.uses(key):
            yield _unused(plane, key, plane, [each.name for each in designs().values() if each.uses(key)])
    for key in dict.fromkeys(key for each in designs().values() for key in each.tier_takes):
        users = [each.name for each in designs().values() if key in each.tier_takes]
        for tier in plane.tiers.values() if design.name not in users else ():
            if key in tier.node.mapping:
                yield _unused(plane, key, tier, users)
    for key in ("appliances", "places"):
        if plane.unit and key in plane.unit.node.mapping and not design.uses(key):
            yield _unused(plane, key, plane.unit, [each.name for each in designs().values() if each.uses(key)])


def _unused(plane: Plane, key: str, part: Part, users: list[str]) -> Finding:
    message = f"the {plane.design} design does not use {key!r}"
    return error("FG215", message, part, key, hint=f"remove it, or choose one of: {', '.join(users)}")
