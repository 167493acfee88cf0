"""The order in which the switches of a fabric are changed: stage by stage, and in a stage one by one.

A stage is one rail, or one role of the tiers above: planes, their subplanes, rails, then spines and cores. While one
switch changes, all others are in service, so a change never takes two spines, or two rails of a host, at a time.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import Role

if TYPE_CHECKING:
    from fabricgen.bundle.read import ObservedDevice

TIERS: Mapping[str, int] = {Role.LEAF: 1, Role.SPINE: 2, Role.CORE: 3}

Label = tuple[str | int, ...]  # what the members of a stage have in common: ("plane", "compute", "rail", 3)


def stage_label(device: "ObservedDevice") -> Label:
    """The stage of a switch: its rail; above the rails, its role."""
    wired = device.wired
    if wired is None:
        return ("unplaced",)
    subplane = () if wired.subplane is None else ("subplane", wired.subplane)
    return ("plane", wired.plane, *subplane, *(("rail", wired.rail) if wired.rail is not None else (wired.role,)))


def staged(devices: Iterable["ObservedDevice"]) -> dict[Label, list["ObservedDevice"]]:
    """The devices by stage, in the order of the roll-out."""
    members: dict[Label, list[ObservedDevice]] = {}
    for device in devices:
        members.setdefault(stage_label(device), []).append(device)
    return {label: members[label] for label in sorted(members, key=lambda label: _rank(members[label][0]))}


def title(label: Label) -> str:
    """The label in words: 'plane compute rail 3'."""
    return " ".join(map(str, label))


def _rank(device: "ObservedDevice") -> tuple[object, ...]:
    wired = device.wired
    if wired is None:
        return (1,)
    tier = TIERS.get(wired.role, 0)
    return (0, natural_key(wired.plane), wired.subplane or 0, wired.rail is None, wired.rail or 0, tier, wired.role)
