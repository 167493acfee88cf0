"""What the schema cannot see: names that refer to nothing, names given twice, parts that a design needs."""

import ipaddress
import string
from collections.abc import Iterator
from difflib import get_close_matches

from fabricgen.findings import Finding, Related, Severity
from fabricgen.inventory.build import name_twice
from fabricgen.inventory.model import Inventory, Part, Plane, PoolSpec, SwitchSpec

NAME_FIELDS = ("fabric", "plane", "role", "pod", "su", "rail", "number", "group")

_NEEDED = {
    "rail-optimized": ("hosts", "scalable_unit", "leaf", "spine", "speed"),
    "explicit": ("leaves", "links", "leaf", "speed"),
}


def check_references(inventory: Inventory) -> Iterator[Finding]:
    """Every such mistake of an inventory that conforms to the schema."""
    for plane in inventory.planes.values():
        yield from _check_plane(inventory, plane)
    if inventory.management:
        yield from _check_pool(inventory.management.addresses)
        yield from _check_address(inventory.management, "gateway", inventory.management.gateway)
    for role, pattern in inventory.names.items():
        yield from _check_name_pattern(inventory, role, pattern)


def _check_plane(inventory: Inventory, plane: Plane) -> Iterator[Finding]:
    for key in _NEEDED[plane.design]:
        if key not in plane.node.mapping and key not in plane.node.cut:
            yield error("FG106", f"a {plane.design} design needs {key!r}", plane, hint=f"add `{key}:` to {plane.path}")
    if plane.technology == "roce" and not {"addressing"} & (plane.node.mapping.keys() | plane.node.cut):
        yield error("FG106", "a RoCE plane needs 'addressing'", plane, hint="add pools for loopbacks, links and hosts")
    for index, name in enumerate(plane.hosts):
        if name not in inventory.hosts:
            known = sorted(inventory.hosts)
            yield error("FG107", f"no host group is called {name!r}", plane, "hosts", index, hint=suggest(name, known))
    if plane.addressing:
        for pool in (plane.addressing.loopbacks, plane.addressing.links, plane.addressing.hosts):
            yield from _check_pool(pool)
    first: dict[str, SwitchSpec] = {}
    for switch in (switch for role in plane.switches.values() for switch in role):
        if switch.name in first:
            yield name_twice(switch.name, switch, first[switch.name])
        first.setdefault(switch.name, switch)
    yield from _check_classes(plane)


def _check_classes(plane: Plane) -> Iterator[Finding]:
    owner: dict[int, int] = {}
    lossless = plane.lossless
    for priority, values in lossless.classes.items():
        for dscp in values:
            if dscp in owner:
                message = f"DSCP {dscp} belongs to priority {owner[dscp]} already"
                yield error("FG110", message, lossless, "classes", priority, hint="each DSCP value has one class")
            owner[dscp] = priority
    if lossless.cnp_dscp in owner:
        message = f"CNPs use DSCP {lossless.cnp_dscp}, which is lossless priority {owner[lossless.cnp_dscp]}"
        hint = "a congestion notification must not wait behind a paused queue: give it a DSCP of its own, e.g. 48"
        yield error("FG110", message, lossless, "cnp", "dscp", hint=hint)


def _check_pool(pool: PoolSpec) -> Iterator[Finding]:
    families = set()
    for text in pool.prefixes:
        try:
            network = ipaddress.ip_network(text)
        except ValueError as problem:
            yield error("FG105", f"{text!r} is no prefix: {problem}", pool)
            continue
        if network.version in families:
            yield error("FG105", f"a second IPv{network.version} prefix", pool, hint="one prefix of each family")
        families.add(network.version)
    for index, text in enumerate(pool.reserve):
        try:
            ipaddress.ip_network(text)
        except ValueError as problem:
            yield error("FG105", f"{text!r} is no prefix: {problem}", pool, "reserve", index)


def _check_address(part: Part, key: str, text: str) -> Iterator[Finding]:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        yield error("FG105", f"{text!r} is no address", part, key)


def _check_name_pattern(inventory: Inventory, role: str, pattern: str) -> Iterator[Finding]:
    try:
        fields = [name for _, name, _, _ in string.Formatter().parse(pattern) if name is not None]
    except ValueError as problem:
        yield error("FG105", f"the name pattern {pattern!r} cannot be read: {problem}", inventory, "names", role)
        return
    for name in fields:
        if name not in NAME_FIELDS:
            hint = "known: " + ", ".join(f"{{{field}}}" for field in NAME_FIELDS)
            yield error("FG105", f"the name pattern {pattern!r} uses {{{name}}}", inventory, "names", role, hint=hint)


def error(
    code: str, message: str, part: Part, *steps: str | int, hint: str = "", related: tuple[Related, ...] = ()
) -> Finding:
    """A finding at a value of the inventory."""
    return Finding(
        code, Severity.ERROR, message, path=part.path_of(*steps), location=part.at(*steps), hint=hint, related=related
    )


def note(code: str, message: str, part: Part, *steps: str | int, hint: str = "") -> Finding:
    """A remark at a value of the inventory."""
    return Finding(code, Severity.NOTE, message, path=part.path_of(*steps), location=part.at(*steps), hint=hint)


def suggest(word: str, known: list[str]) -> str:
    """'did you mean …', or what there is."""
    close = get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known) or 'none'}"
