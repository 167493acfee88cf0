"""The planes of an imported fabric: connected switches, and all others with the same lossless settings.

A plane has one set of lossless classes. Switches that are not connected may be rails of one plane, or separate planes.
They are one plane if their settings are equal.
"""

import json
from collections.abc import Sequence

from fabricgen.adopt.settings import lossless
from fabricgen.adopt.source import FIRST_PLANE, Source
from fabricgen.bundle.wiring import WiredLink
from fabricgen.inventory.profiles import NONE
from fabricgen.joined import joined
from fabricgen.vocabulary import Role


def split_planes(source: Source, links: Sequence[WiredLink]) -> list[Source]:
    """The planes with their switches and links, lossless planes first. Sets the `plane` of each switch."""
    pairs = ((link.a[0], link.b[0]) for link in links if link.a[0] in source.switches)
    by_settings: dict[tuple[bool, str], list[str]] = {}
    for names in joined(source.switches, pairs):
        component = Source({name: source.switches[name] for name in names}, (), {})
        settings = lossless(component)
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
    """An explicit design needs leaves: in a plane without leaves, the lowest tier becomes leaves."""
    for plane in planes:
        roles = {switch.role for switch in plane.switches.values()}
        lowest = next(role for role in (Role.LEAF, Role.SPINE, Role.CORE) if role in roles)
        for switch in plane.switches.values():
            switch.role = Role.LEAF if switch.role is lowest else switch.role
