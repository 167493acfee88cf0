"""Which switches make a plane: those that links join, and with them all others of the same lossless settings.

An inventory gives one set of lossless classes to a plane. Switches without a link to each other may be the rails of one
plane as well as two planes; they are kept together unless their settings tell them apart.
"""

import json
from collections.abc import Sequence

from fabricgen.adopt.settings import lossless
from fabricgen.adopt.source import FIRST_PLANE, Source
from fabricgen.bundle.wiring import WiredLink
from fabricgen.inventory.profiles import NONE


def split_planes(source: Source, links: Sequence[WiredLink]) -> list[Source]:
    """The planes with their switches, whose `plane` is set, and links; lossless ones first."""
    joined = _joined(source, links)
    by_settings: dict[tuple[bool, str], list[str]] = {}
    for names in joined:
        part = Source({name: source.switches[name] for name in names}, (), {})
        settings = lossless(part)
        by_settings.setdefault((settings == NONE, json.dumps(settings)), []).extend(names)
    planes = []
    for index, key in enumerate(sorted(by_settings)):
        name = FIRST_PLANE if index == 0 else f"plane-{index + 1}"
        chosen = set(by_settings[key])
        switches = {one: switch for one, switch in source.switches.items() if one in chosen}
        for switch in switches.values():
            switch.plane = name
        planes.append(Source(switches, tuple(link for link in links if link.b[0] in chosen), source.changed, name))
    _keep_a_leaf(planes)
    return planes


def _joined(source: Source, links: Sequence[WiredLink]) -> list[list[str]]:
    """Switches that links join, directly or over others."""
    near: dict[str, set[str]] = {name: set() for name in source.switches}
    for link in links:
        if link.a[0] in near:
            near[link.a[0]].add(link.b[0])
            near[link.b[0]].add(link.a[0])
    seen: set[str] = set()
    found = []
    for name in near:
        edge = {name} - seen
        members: list[str] = []
        while edge:
            members += sorted(edge)
            seen |= edge
            edge = set[str]().union(*(near[one] for one in edge)) - seen
        if members:
            found.append(members)
    return found


def _keep_a_leaf(planes: Sequence[Source]) -> None:
    """An explicit design has leaves; in a plane without any the lowest tier takes their place."""
    for plane in planes:
        roles = {switch.role for switch in plane.switches.values()}
        lowest = next(role for role in ("leaf", "spine", "core") if role in roles)
        for switch in plane.switches.values():
            switch.role = "leaf" if switch.role == lowest else switch.role
