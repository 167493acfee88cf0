"""From inventory to fabric: each plane by the module of its design."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from fabricgen.design.cables import Tangle, tangles_of
from fabricgen.design.design import Design
from fabricgen.design.model import Fabric, Host, Link, PlaneDesign
from fabricgen.design.parts import PartsList
from fabricgen.design.registry import designs
from fabricgen.findings import Finding, Severity
from fabricgen.inventory.mistakes import error, suggest, warning
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import longest_m, medium_for
from fabricgen.units import counted, format_length, format_speed
from fabricgen.vocabulary import LinkKind, Medium, Technology


def expand(
    inventory: Inventory, root: Path, units: Mapping[str, Sequence[int]] | None = None
) -> tuple[Fabric, list[Finding]]:
    """The fabric of an inventory, and all findings. `root` is the folder that platform files are relative to.

    A plane that cannot be laid out is left out. `units` are the scalable units that groups of hosts (plane/group)
    already have; they keep them.
    """
    findings: list[Finding] = []
    planes = [_with_known_design(plane, findings) for plane in inventory.planes.values()]
    findings += [finding for plane in planes if plane.design in designs() for finding in check_design(plane)]
    parts = PartsList(inventory, root, findings, units or {})
    _ = parts.own_host_models  # also checks the models that no group uses
    for group in inventory.hosts:
        parts.host_model(group)
    laid_out = [_expand(plane, parts) for plane in planes]
    fabric = Fabric(inventory, tuple(design for design in laid_out if design))
    findings += [*_unused_buffers(fabric, parts), *_shared_nics(fabric), *_tangles(fabric), *_out_of_reach(fabric)]
    return fabric, list(dict.fromkeys(findings))


def _unused_buffers(fabric: Fabric, parts: PartsList) -> Iterator[Finding]:
    """Buffers of a hwsku that no platform of the inventory has, or that no switch uses."""
    known = sorted(parts.used_hwskus)
    used = {switch.layout.hwsku: switch.platform for switch in fabric.switches}
    for hwsku, stated in fabric.inventory.buffers.items():
        if hwsku not in known:
            message = f"no platform of the inventory has the hwsku {hwsku!r}"
            yield error("FG107", message, stated, hint=suggest(hwsku, known))
        elif used and hwsku not in used:
            siblings = [name for name, one in used.items() if any(layout.hwsku == hwsku for layout in one.layouts)]
            message = f"no switch of the fabric has the hwsku {hwsku}: these buffers are not used"
            hint = f"state them for {', '.join(siblings)}, or choose a `layout` with this hwsku"
            yield replace(error("FG455", message, stated, hint=hint), severity=Severity.WARNING)


def _with_known_design(plane: Plane, findings: list[Finding]) -> Plane:
    """The plane; one whose design is unknown, with a finding, as a plane of the design that it resembles."""
    if plane.design in designs():
        return plane
    message = f'{plane.path}.design: "{plane.design}" is not allowed'
    place, hint = plane.node.mapping["design"].location, suggest(plane.design, list(designs()))
    findings.append(Finding("FG105", Severity.ERROR, message, path=plane.path_of("design"), location=place, hint=hint))
    close = get_close_matches(plane.design, list(designs()), n=1)
    return replace(plane, design=close[0]) if close else plane


def _expand(plane: Plane, parts: PartsList) -> PlaneDesign | None:
    """The plane as laid out; of an unknown design, only its hosts and platforms are checked."""
    design = designs().get(plane.design)
    if design:
        laid_out = design.expand(plane, parts)
        return laid_out and _usual_media(laid_out)
    parts.hosts(plane, plane.hosts)
    for role in plane.tiers:
        parts.tier(plane, role)
    return None


def _usual_media(design: PlaneDesign) -> PlaneDesign:
    """With fibre where short cables are usually copper, but copper cannot be plugged, or is not made."""
    if design.plane.technology == Technology.INFINIBAND:
        design = replace(design, links=tuple(map(_of_infiniband, design.links)))
    tangled = {link.key for tangle in tangles_of(design.links) for link in tangle.links}
    changed = [
        replace(link, cable=replace(link.cable, medium=Medium.MMF))
        if link.key in tangled and not link.cable.states_medium
        else link
        for link in design.links
    ]
    return replace(design, links=tuple(changed)) if tangled else design


def _of_infiniband(link: Link) -> Link:
    usual = medium_for(link.cable.length_m, link.speed_mbps, infiniband=True)
    return link if link.cable.states_medium else replace(link, cable=replace(link.cable, medium=usual))


def _shared_nics(fabric: Fabric) -> Iterator[Finding]:
    """NICs that two planes use: one finding for each pair of planes and group of hosts."""
    taken: dict[tuple[str, str], str] = {}
    reported: set[tuple[str, str, str]] = set()
    for link in fabric.links:
        if not isinstance(link.a, Host):
            continue
        first = taken.setdefault((link.a.key, link.a_port), link.plane)
        clash = (first, link.plane, link.a.group)
        if first != link.plane and clash not in reported:
            reported.add(clash)
            message = f"NIC {link.a_port} of hosts {link.a.group} is on plane {first} and on plane {link.plane}"
            hint = "a NIC has one cable: give each plane different NICs"
            yield error("FG205", message, fabric.inventory.planes[link.plane], "hosts", hint=hint)


def _tangles(fabric: Fabric) -> Iterator[Finding]:
    """Copper and active cables that cannot be plugged: one finding for each plane and kind of link."""
    found: dict[tuple[str, LinkKind], list[Tangle]] = {}
    for tangle in tangles_of(fabric.links):
        first = tangle.links[0]
        found.setdefault((first.plane, first.kind), []).append(tangle)
    for (_, kind), tangles in found.items():
        spec = tangles[0].links[0].cable
        count = sum(len(tangle.links) for tangle in tangles)
        message = (
            f"{counted(count, kind + ' link')} cannot be plugged with {spec.medium}: "
            f"a plug fills a cage, but {tangles[0].example}"
        )
        hint = f"set `medium: mmf` or smf for the {kind} cables: each fibre has its own connector"
        yield warning("FG152", message, spec, hint=hint)


def _out_of_reach(fabric: Fabric) -> Iterator[Finding]:
    """Cables that are longer than their medium carries, or that are not made: one finding for each part of the
    inventory."""
    found: dict[str, list[tuple[Link, float]]] = {}
    for plane in fabric.planes:
        infiniband = plane.plane.technology == Technology.INFINIBAND
        for link in plane.links:
            limit_m = longest_m(link.cable.medium, link.speed_mbps, infiniband=infiniband)
            if limit_m is not None and link.cable.length_m > limit_m:
                found.setdefault(f"{link.cable.path} {link.kind} {link.speed_mbps}", []).append((link, limit_m))
    for links in found.values():
        link, limit_m = links[0]
        spec, speed = link.cable, format_speed(link.speed_mbps)
        infiniband = fabric.inventory.planes[link.plane].technology == Technology.INFINIBAND
        usual = medium_for(spec.length_m, link.speed_mbps, infiniband=infiniband)
        reach = f"the longest has {format_length(limit_m)}" if limit_m else f"InfiniBand of {speed} has none"
        cable = f"{spec.medium} of {format_length(spec.length_m)}"
        message = f"{counted(len(links), link.kind + ' link')} of {speed} on {cable}, but {reach}"
        yield warning("FG152", message, spec, hint=f"set `medium: {usual}` for the {link.kind} cables")


# Checks of every plane against its design: keys that are missing, and keys that would change nothing.


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
