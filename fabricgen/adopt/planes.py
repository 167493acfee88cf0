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
from fabricgen.joined import joined


def split_planes(source: Source, links: Sequence[WiredLink]) -> list[Source]:
    """The planes with their switches, whose `plane` is set, and links; lossless ones first."""
    pairs = ((link.a[0], link.b[0]) for link in links if link.a[0] in source.switches)
    by_settings: dict[tuple[bool, str], list[str]] = {}
    for names in joined(source.switches, pairs):
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


def _keep_a_leaf(planes: Sequence[Source]) -> None:
    """An explicit design has leaves; in a plane without any the lowest tier takes their place."""
    for plane in planes:
        roles = {switch.role for switch in plane.switches.values()}
        lowest = next(role for role in ("leaf", "spine", "core") if role in roles)
        for switch in plane.switches.values():
            switch.role = "leaf" if switch.role == lowest else switch.role
