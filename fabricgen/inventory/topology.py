"""What a plane consists of: units of hosts, tiers of switches, cables, the switches and links of an explicit design."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import (
    Notation,
    Part,
    key,
    list_of,
    map_of,
    part_notation,
)
from fabricgen.inventory.values import (
    Ends,
    Length,
    Name,
    Ports,
    Speed,
    one_or_more,
)
from fabricgen.vocabulary import (
    LinkKind,
    Medium,
)

DEFAULT_CABLE_M: Mapping[LinkKind, float] = {
    LinkKind.HOST_LEAF: 5.0, LinkKind.LEAF_SPINE: 40.0, LinkKind.SPINE_CORE: 40.0, LinkKind.GLOBAL: 100.0
}  # fmt: skip

_TWISTED_PAIR_MBPS, _TWISTED_PAIR_M = 1000, 100  # 1000BASE-T: the RJ45 ports of out-of-band networks
NDR_MBPS, XDR_MBPS = 400_000, 800_000
# Longest cable in metres of each medium, whatever its speed; the copper is that of 10G. NVIDIA Cable Management FAQ.
_LONGEST_M: Mapping[Medium, float] = {Medium.DAC: 7, Medium.AEC: 7, Medium.AOC: 100, Medium.UTP: 100}
# NVIDIA LinkX 100G-PAM4 Product Line Overview: NDR; active copper has the reach of LACC.
_LONGEST_NDR_M: Mapping[Medium, float] = {**_LONGEST_M, Medium.DAC: 3, Medium.AEC: 5, Medium.MMF: 50}
# NVIDIA 800Gb/s XDR Transceivers and Fiber Part Numbers: neither DAC, AOC nor multi-mode.
_LONGEST_XDR_M: Mapping[Medium, float] = {**_LONGEST_NDR_M, Medium.DAC: 0, Medium.AOC: 0, Medium.MMF: 0}


def longest_m(medium: Medium, speed_mbps: int, *, infiniband: bool) -> float | None:
    """The longest cable of a medium; 0 if it is not made, None if no limit is known."""
    table = _LONGEST_M
    if infiniband and speed_mbps >= NDR_MBPS:
        table = _LONGEST_XDR_M if speed_mbps >= XDR_MBPS else _LONGEST_NDR_M
    return table.get(medium)


def medium_for(length_m: float, speed_mbps: int | None = None, *, infiniband: bool = False) -> Medium:
    """Copper to 3 m, multi-mode to 50 m, then single mode: the reach of 400G optics. Twisted pair to 100 m at 1G.
    InfiniBand of 800G (XDR) has single mode only, beside active copper."""
    if infiniband and (speed_mbps or 0) >= XDR_MBPS:
        return Medium.SMF
    if speed_mbps is not None and speed_mbps <= _TWISTED_PAIR_MBPS and length_m <= _TWISTED_PAIR_M:
        return Medium.UTP
    return Medium.DAC if length_m <= 3 else Medium.MMF if length_m <= 50 else Medium.SMF


@dataclass(frozen=True, kw_only=True)
class ScalableUnit(Part):
    """The number of hosts in a full unit, and of units in the layout (None: as many as the hosts need)."""

    hosts: Annotated[int, key("Number of hosts in a full scalable unit.", required=True, minimum=1)]
    planned: Annotated[int | None, key("Number of units in the layout, including later growth.", minimum=1)]
    appliances: Annotated[
        tuple[str, ...], key("Host groups, for example subnet managers, in the last places of unit 0.")
    ]
    places: Annotated[
        Mapping[str, int],
        key(
            "Host groups that share units, with the places of each in every unit.",
            notation=map_of(Notation({"type": "integer", "minimum": 1})),
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class NewerTier(Part):
    """The platform of a tier from a unit on."""

    from_unit: Annotated[
        int, key("The first scalable unit with this model. Units count from 0.", required=True, minimum=1)
    ]
    platform: Annotated[str, key(required=True)]
    layout: Annotated[str | None, key()]
    ports: Annotated[Ports, key()]


@dataclass(frozen=True, kw_only=True)
class Tier(Part, definition="tier"):
    """The switches of one role. `newer` are the platforms of later units, the lowest unit first."""

    platform: Annotated[str, key("A switch model of the catalog.", required=True)]
    layout: Annotated[str | None, key("Layout of the model. By default the speed of the plane decides.")] = None
    count: Annotated[
        int | None,
        key("Number of spines (in each pod) or cores. The default is the smallest possible number.", minimum=1),
    ] = None
    type: Annotated[str | None, key("DEVICE_METADATA type, if it differs from the default of the role.")] = None
    ports: Annotated[Ports, key()]
    spare_ports: Annotated[int, key("Unused ports on each switch.", minimum=0)] = 0
    newer: Annotated[
        tuple["Tier", ...],
        key(
            "Switch models of later units. Switches in service do not change.",
            notation=list_of(part_notation(NewerTier)),
        ),
    ] = ()
    from_unit: int = 0

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        newer = sorted(found.get("newer", ()), key=lambda one: one.from_unit)
        spare_ports = found.get("spare_ports", 0)
        found["newer"] = tuple(cls(**{**vars(one), "spare_ports": spare_ports}) for one in newer)
        return found


@dataclass(frozen=True, kw_only=True)
class CableWhere(Part):
    """Cables of another length or medium: those at a rack, a device, or a link. All that is given must fit."""

    rack: Annotated[str | None, key("A rack of `devices`, or a shell pattern: one end is in it.")]
    device: Annotated[str | None, key("Name or identity of a switch or host, or a shell pattern: one end is it.")]
    link: Annotated[str | None, key("A link of fabric.json, or a shell pattern.")]
    length_m: Annotated[Length, key(name="length", required=True)]
    medium: Annotated[Medium | None, key(usual="the usual one of the length and speed")]

    def medium_at(self, speed_mbps: int, *, infiniband: bool) -> Medium:
        """The medium of a cable at this speed."""
        return self.medium or medium_for(self.length_m, speed_mbps, infiniband=infiniband)


@dataclass(frozen=True, kw_only=True)
class CableSpec(Part, definition="cable", short="length", meaning="For example 40m, or {length: 40m, medium: smf}."):
    """Length and medium of the cables of one kind."""

    length_m: Annotated[Length, key(name="length", required=True)]
    medium: Annotated[Medium, key()]
    link_training: Annotated[bool | None, key("Link training at both ends, only for copper (dac).")] = None
    where: Annotated[
        tuple[CableWhere, ...],
        key("Cables of another length: in a rack, at a device, or of a link. The first entry that fits counts."),
    ] = ()

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        return {**found, "medium": found["medium"] or medium_for(found["length_m"])}

    @property
    def states_medium(self) -> bool:
        """Whether the inventory gives the medium; else it is the usual one."""
        return "medium" in self.node.mapping

    def at_speed(self, speed_mbps: int | None) -> Self:
        """With the usual medium at this speed, if the inventory gives none."""
        if self.states_medium:
            return self
        return replace(self, medium=medium_for(self.length_m, speed_mbps))


@dataclass(frozen=True, kw_only=True)
class SwitchSpec(Part):
    """A switch of an explicit design."""

    name: Annotated[Name, key(required=True)]
    platform: Annotated[str | None, key()]
    layout: Annotated[str | None, key()]
    ports: Annotated[Ports, key()]
    pod: Annotated[int | None, key(minimum=0)]
    su: Annotated[int | None, key(minimum=0)]
    rail: Annotated[int | None, key(minimum=0)]


@dataclass(frozen=True, kw_only=True)
class LinkSpec(Part, definition="link", short="ends", meaning="Two ends, each written device:port."):
    """A link of an explicit design. `ends` are written device:port."""

    ends: Annotated[Ends, key(required=True)]
    cable: Annotated[CableSpec | None, key()]
    speed_mbps: Annotated[Speed | None, key(name="speed")]


class Arrangement(enum.StrEnum):
    """How the global links of a dragonfly are distributed among the switches of a group."""

    ABSOLUTE = "absolute"
    RELATIVE = "relative"
    CIRCULANT = "circulant"


@dataclass(frozen=True, kw_only=True)
class DragonflySpec(Part):
    """A group of a dragonfly. `leaves` are the switches with hosts; only a dragonfly+ has `spines`.

    `global_links` is the number of each switch, in a dragonfly+ of each spine.
    """

    switches: Annotated[int | None, key("Number of switches in a group of a dragonfly.", minimum=1)]
    leaves: Annotated[int, key("Number of leaves in a group of a dragonfly+.", minimum=1)]
    spines: Annotated[int, key("Number of spines in a group of a dragonfly+.", minimum=1)]
    global_links: Annotated[
        int, key("Number of links to other groups of each switch, in a dragonfly+ of each spine.", minimum=1)
    ]
    local_links: Annotated[
        int, key("Number of parallel links between two connected switches of a group.", minimum=1)
    ] = 1
    arrangement: Annotated[Arrangement, key("The group to which each global link connects.")] = Arrangement.ABSOLUTE

    def of_design(self, design: str) -> Self | None:
        """With the counts of the design; None if one that it needs is missing, which other checks report."""
        if design != "dragonfly-plus":
            return replace(self, leaves=self.switches, spines=0) if self.switches and self.global_links else None
        return self if self.leaves and self.spines and self.global_links else None


@dataclass(frozen=True, kw_only=True)
class TorusSpec(Part):
    """For each dimension: the number of switches, the parallel links of a hop, and the coordinate of the dateline."""

    size: Annotated[
        tuple[int, ...],
        key(
            "Number of switches in each dimension, at least two, for one to three dimensions.",
            required=True,
            notation=list_of(Notation({"type": "integer", "minimum": 2}), minItems=1, maxItems=3),
        ),
    ]
    links: Annotated[
        tuple[int, ...],
        key(
            "Number of parallel links of a hop, or a list with the number for each dimension.",
            notation=one_or_more(Notation({"type": "integer", "minimum": 1}), minItems=1, maxItems=3),
            default=1,
        ),
    ]
    datelines: Annotated[
        tuple[int, ...],
        key(
            "For each dimension, the coordinate before which the dateline cuts its rings. The default is 0.",
            notation=list_of(Notation({"type": "integer", "minimum": 0}), minItems=1, maxItems=3),
        ),
    ]

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        count = len(found["size"])
        links = found["links"] or (1,)
        if not node.part("links").items:
            links *= count
        return {**found, "links": links, "datelines": found["datelines"] or (0,) * count}
