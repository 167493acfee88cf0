"""One plane of an inventory and its parts, typed and immutable."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

from fabricgen.bundle.wiring import MANAGEMENT_PURPOSES
from fabricgen.inventory.infiniband import InfinibandSpec, PartitionSpec
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import (
    Form,
    Part,
    any_of,
    form_of,
    key,
    list_of,
    map_of,
    part_form,
    record_of,
    wrapped,
)
from fabricgen.inventory.profiles import DEFAULT, NONE, with_profile
from fabricgen.inventory.values import (
    TEXT,
    Bytes,
    Ends,
    Length,
    Name,
    Pair,
    Ports,
    Ratio,
    Speed,
    Texts,
    one_of,
    one_or_more,
)
from fabricgen.physics import DEFAULT_MTU_BYTES, DEFAULT_ROCE_MTU_BYTES
from fabricgen.vocabulary import (
    BalanceMode,
    BalanceUnit,
    BgpAddressing,
    LinkKind,
    Medium,
    Purpose,
    Role,
    Technology,
    WatchdogAction,
)

DEFAULT_CNP_DSCP = 48
DEFAULT_CABLE_M: Mapping[LinkKind, float] = {
    LinkKind.HOST_LEAF: 5.0, LinkKind.LEAF_SPINE: 40.0, LinkKind.SPINE_CORE: 40.0, LinkKind.GLOBAL: 100.0
}  # fmt: skip
# Adaptive routing of NVIDIA's switches selects per packet; flowlets are what Broadcom's dynamic load balancing adds.
UNIT_OF_MODE: Mapping[BalanceMode, BalanceUnit] = {
    BalanceMode.FLOWLET: BalanceUnit.FLOWLET, BalanceMode.ADAPTIVE: BalanceUnit.PACKET,
    BalanceMode.SPRAY: BalanceUnit.PACKET,
}  # fmt: skip
OUTSIDE_CABLE_M = 40.0
OUTSIDE_PORT = "outside"  # the port of an external device that names none
ALL = "all"  # instead of a list of prefixes
MOST_ASN = 2**32 - 2  # RFC 7300: the last one is reserved

# The default purpose of a plane, by its name.
PURPOSE_OF_NAME: Mapping[str, Purpose] = {**{word.value: word for word in Purpose}, "management": Purpose.IN_BAND}

_TWISTED_PAIR_MBPS, _TWISTED_PAIR_M = 1000, 100  # 1000BASE-T: the RJ45 ports of out-of-band networks
_DSCP = Form({"type": "integer", "minimum": 0, "maximum": 63})
_PREFIXES = one_or_more(TEXT, minItems=1, maxItems=2)
_MTUS = one_of(256, 512, 1024, 2048, 4096)


def medium_for(length_m: float, speed_mbps: int | None = None) -> Medium:
    """Copper to 3 m, multi-mode to 50 m, then single mode: the reach of 400G optics. Twisted pair to 100 m at 1G."""
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
            form=map_of(Form({"type": "integer", "minimum": 1})),
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
        key("Switch models of later units. Switches in service do not change.", form=list_of(part_form(NewerTier))),
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
class CableSpec(Part, definition="cable", short="length", meaning="For example 40m, or {length: 40m, medium: smf}."):
    """Length and medium of the cables of one kind."""

    length_m: Annotated[Length, key(name="length", required=True)]
    medium: Annotated[Medium, key()]
    link_training: Annotated[bool | None, key("Link training at both ends, only for copper (dac).")] = None

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        return {**found, "medium": found["medium"] or medium_for(found["length_m"])}

    def at_speed(self, speed_mbps: int | None) -> Self:
        """With the usual medium at this speed, if the inventory gives none."""
        if "medium" in self.node.mapping:
            return self
        return replace(self, medium=medium_for(self.length_m, speed_mbps))


@dataclass(frozen=True, kw_only=True)
class EcnSpec(Part):
    """Marking thresholds of a 400G port, from which those of other speeds are scaled."""

    min_bytes: Annotated[Bytes | None, key(name="min")]
    max_bytes: Annotated[Bytes | None, key(name="max")]
    probability_percent: Annotated[int | None, key(name="probability", minimum=1, maximum=100)]


@dataclass(frozen=True, kw_only=True)
class WatchdogSpec(Part):
    """PFC watchdog settings. None: the lossless plan decides."""

    action: Annotated[WatchdogAction | None, key()]
    detection_ms: Annotated[int | None, key(minimum=100, maximum=5000)]
    restoration_ms: Annotated[int | None, key(minimum=100, maximum=60000)]
    poll_ms: Annotated[int | None, key(minimum=100, maximum=1000)]


@dataclass(frozen=True, kw_only=True)
class LosslessSpec(Part, definition="lossless"):
    """The lossless traffic. `classes` is priority -> DSCP values, empty on a plane without PFC."""

    profile: Annotated[
        str | None,
        key(
            "The base profile, which the other keys change: roce-lossless, roce-lossless-two-class, or one of "
            "`profiles`.",
            default=DEFAULT,
        ),
    ] = None
    classes: Annotated[
        Mapping[int, tuple[int, ...]],
        key(
            "Priority -> DSCP values of its traffic.",
            form=map_of(
                wrapped("dscp", list_of(_DSCP, minItems=1), required=["dscp"]),
                Form(
                    {"pattern": "^[0-6]$", "description": "A priority from 0 to 6. Priority 7 is for control traffic."}
                ),
                word=int,
                minProperties=1,
                maxProperties=4,
            ).then(lambda classes: dict(sorted(classes.items()))),
        ),
    ]
    cnp_dscp: Annotated[int, key(name="cnp", form=wrapped("dscp", _DSCP.but(default=DEFAULT_CNP_DSCP)))]
    ecn: Annotated[EcnSpec, key("Marking thresholds of a 400G port. Those of other speeds are scaled.")]
    shared_headroom: Annotated[
        int | None,
        key(
            "Oversubscription ratio of the shared headroom pool, for switches with dynamic buffers.",
            minimum=2,
            maximum=64,
        ),
    ]
    watchdog: Annotated[WatchdogSpec, key()]

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        cnp = found["cnp_dscp"]
        return {**found, "cnp_dscp": DEFAULT_CNP_DSCP if cnp is None else cnp}


@dataclass(frozen=True, kw_only=True)
class TrimmingSpec(Part):
    """Packet trimming of a plane without PFC: the DSCP of trimmed packets, and their size."""

    dscp: Annotated[int, key("A DSCP that nothing else uses.", required=True, minimum=1, maximum=63)]
    # the default is the least size of Spectrum-4: headers of RoCE v2 over IPv6 fit
    size_bytes: Annotated[int, key("Bytes of a trimmed packet.", "size", minimum=64, maximum=9216)] = 256


_MODE = (
    form_of(BalanceMode)
    .but(
        default=BalanceMode.ECMP.value,
        description="One path for each flow, for each flowlet, by queue depth, or for each packet.",
    )
    .named("balance_mode")
)


@dataclass(frozen=True, kw_only=True)
class BalanceSpec(Part, short="mode"):
    """How switches spread packets over equal paths. `weighted`: in proportion to the paths behind each next hop.

    Modes other than ECMP are not part of CONFIG_DB: `by_platform` states that they are configured otherwise.
    """

    mode: Annotated[BalanceMode, key(form=_MODE)] = BalanceMode.ECMP
    unit: Annotated[  # in the modes other than ECMP
        BalanceUnit | None, key("Of adaptive: what keeps its path.", "per", default=BalanceUnit.PACKET.value)
    ] = None
    flowlet_gap_us: Annotated[  # with flowlets; SONiC HLD doc/ARS: flowlet_idle_time of ARS_OBJECT
        int | None,
        key("Idle microseconds after which a flow may change its path.", minimum=2, maximum=2047, default=256),
    ] = None
    weighted: Annotated[bool, key("Weighted ECMP: BGP announces the number of paths behind each next hop.", "wcmp")] = (
        False
    )
    by_platform: Annotated[
        bool,
        key(
            "The mode is configured outside of CONFIG_DB, by means of the platform's vendor.",
            "configured_by",
            form=one_of("platform").then(bool),
            default=None,
        ),
    ] = False

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        mode = found.get("mode", BalanceMode.ECMP)
        unit = UNIT_OF_MODE.get(mode)
        if mode == BalanceMode.ADAPTIVE:
            unit = found.get("unit", unit)
        gap_us = found.get("flowlet_gap_us", 256) if unit == BalanceUnit.FLOWLET else None
        return {**found, "unit": unit, "flowlet_gap_us": gap_us}


@dataclass(frozen=True, kw_only=True)
class BgpTimers(Part):
    """The timers of all BGP sessions of a plane, at both ends. frrcfgd reads neither of them without the other."""

    keepalive_s: Annotated[int, key("Seconds between two keepalive messages.", required=True, minimum=1, maximum=200)]
    hold_s: Annotated[
        int,
        key(
            "Seconds without a message after which a session ends, at least three times `keepalive_s`.",
            required=True,
            minimum=3,
            maximum=600,
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class PoolSpec(
    Part, definition="pool", short="prefixes", meaning="One prefix, one prefix of each family, or {prefixes, reserve}."
):
    """The prefixes of an address pool, at most one of each family, and its reserved addresses and prefixes."""

    prefixes: Annotated[tuple[str, ...], key(required=True, form=_PREFIXES)]
    reserve: Annotated[tuple[str, ...], key("Addresses and prefixes that are never given to devices.")] = ()


@dataclass(frozen=True, kw_only=True)
class AsnRange(Part):
    """The ASNs of a plane, by default the private 4-byte range of RFC 7938 section 5.2.1 (RFC 6996)."""

    first: Annotated[int, key(required=True, default=None, minimum=1, maximum=MOST_ASN)] = 4_200_000_000
    last: Annotated[int, key(required=True, default=None, minimum=1, maximum=MOST_ASN)] = 4_294_967_294


@dataclass(frozen=True, kw_only=True)
class Addressing(Part):
    """The pools of a plane and the range of its ASNs."""

    loopbacks: Annotated[PoolSpec, key(required=True)]
    links: Annotated[PoolSpec | None, key()]  # None if links are unnumbered
    hosts: Annotated[PoolSpec, key(required=True)]
    asns: Annotated[
        AsnRange,
        key(
            "rfc7938 numbers from 4200000000, or a range {first, last}.",
            "asn",
            form=any_of(Form({"const": "rfc7938"}), part_form(AsnRange), read=AsnRange.read, missing=AsnRange.read),
        ),
    ]

    @property
    def pools(self) -> Mapping[str, PoolSpec]:
        """Purpose -> pool."""
        named = {"loopbacks": self.loopbacks, "links": self.links, "hosts": self.hosts}
        return {name: pool for name, pool in named.items() if pool is not None}


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


_SWITCHES = list_of(part_form(SwitchSpec)).named("switches")


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
            form=list_of(Form({"type": "integer", "minimum": 2}), minItems=1, maxItems=3),
        ),
    ]
    links: Annotated[
        tuple[int, ...],
        key(
            "Number of parallel links of a hop, or a list with the number for each dimension.",
            form=one_or_more(Form({"type": "integer", "minimum": 1}), minItems=1, maxItems=3),
            default=1,
        ),
    ]
    datelines: Annotated[
        tuple[int, ...],
        key(
            "For each dimension, the coordinate before which the dateline cuts its rings. The default is 0.",
            form=list_of(Form({"type": "integer", "minimum": 0}), minItems=1, maxItems=3),
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


def _filter(texts: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if texts == (ALL,) else texts


@dataclass(frozen=True, kw_only=True)
class OutsideDevice(Part, definition="external"):
    """A device outside the fabric that is connected to a switch. It has a BGP session if it has an `asn`.

    `accepts` and `announces` are prefixes (None: all). `peers` may omit a family whose subnet has only two addresses.
    """

    name: Annotated[Name, key(required=True)]
    asn: Annotated[int | None, key(required=True, minimum=1, maximum=MOST_ASN)]
    switch: Annotated[str, key("The border switch, by name or identity.", required=True)]
    port: Annotated[str, key("The port of the switch, for example Ethernet508.", required=True)]
    addresses: Annotated[
        Pair,
        key("Address of the port with prefix length, at most one of each family.", "address", required=True),
    ]
    peers: Annotated[
        Pair,
        key("Addresses of the far router. Required for prefixes with more than two addresses.", "peer"),
    ]
    peer_port: Annotated[str, key("The port of the far router.", default=None, minLength=1)] = OUTSIDE_PORT
    accepts: Annotated[
        tuple[str, ...] | None,
        key(
            "Prefixes that are accepted from the router, or all.",
            "in",
            required=True,
            form=form_of(Texts).then(_filter),
        ),
    ]
    announces: Annotated[
        tuple[str, ...] | None,
        key(
            "Prefixes that are announced to the router, or all.",
            "out",
            required=True,
            form=form_of(Texts).then(_filter),
        ),
    ]
    cable: Annotated[CableSpec, key(form=form_of(CableSpec | None))]
    speed_mbps: Annotated[Speed | None, key(name="speed")]

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        return {**found, "cable": found["cable"] or _outside_cable(node, path)}


def _outside_cable(node: Node, path: str) -> CableSpec:
    return CableSpec(node=node, path=path, length_m=OUTSIDE_CABLE_M, medium=medium_for(OUTSIDE_CABLE_M))


@dataclass(frozen=True, kw_only=True)
class StaticSpec(Part, definition="static"):
    """Prefixes behind the NIC of a host (`via`), or behind the device that the other keys describe."""

    prefixes: Annotated[Texts, key("Prefixes behind the next hop.", "prefix", required=True)]
    via: Annotated[str | None, key("The NIC of a host, for example storage/0:port0.")]
    name: Annotated[Name | None, key()]
    switch: Annotated[str | None, key("The switch, by name or identity.")]
    port: Annotated[str | None, key("The port of the switch, for example Ethernet500.")]
    addresses: Annotated[Pair, key("Address of the port with prefix length, at most one of each family.", "address")]
    next_hops: Annotated[Pair, key("The next hop. Required for prefixes with more than two addresses.", "next_hop")]
    cable: Annotated[CableSpec | None, key()]
    speed_mbps: Annotated[Speed | None, key(name="speed")]

    @property
    def device(self) -> OutsideDevice | None:
        """The device without a BGP session; None if its keys are not complete."""
        if not (self.name and self.switch and self.port and self.addresses):
            return None
        return OutsideDevice(
            node=self.node,
            path=self.path,
            name=self.name,
            asn=None,
            switch=self.switch,
            port=self.port,
            addresses=self.addresses,
            peers=self.next_hops,
            accepts=(),
            announces=(),
            cable=self.cable or _outside_cable(self.node, self.path),
            speed_mbps=self.speed_mbps,
        )


_CABLE_KINDS = (*list(DEFAULT_CABLE_M)[:3], LinkKind.PEER, LinkKind.GLOBAL)
_CABLES = record_of({kind: part_form(CableSpec) for kind in _CABLE_KINDS})
_RATIOS = record_of({role: form_of(Ratio) for role in (Role.LEAF, Role.SPINE)})
_OVERSUBSCRIPTION = any_of(
    form_of(Ratio),
    _RATIOS,
    # a single number applies to the leaves
    read=lambda node, path: _RATIOS.read(node, path) if node.mapping else {Role.LEAF: float(str(node.value))},
)
_LOSSLESS = any_of(TEXT, part_form(LosslessSpec)).reading(lambda *_: None)  # a plane reads it with its profile
_DEVICES = list_of(part_form(OutsideDevice))


@dataclass(frozen=True, kw_only=True)
class Plane(Part, definition="plane"):
    """One network."""

    name: str
    technology: Annotated[
        Technology, key(form=one_of(Technology.ROCE.value, Technology.INFINIBAND.value).then(Technology))
    ] = Technology.ROCE
    purpose: Annotated[
        Purpose,
        key(
            "The purpose of the plane, which selects the NICs of a host. The default is the name of the plane if it is "
            "one of these (management: in-band), else compute.",
        ),
    ]
    design: Annotated[str, key("The name of a design, which defines the layout of switches and links.", required=True)]
    hosts: Annotated[tuple[str, ...], key("Host groups, in the order of their scalable units.")]
    unit: Annotated[ScalableUnit | None, key(name="scalable_unit")]
    tier_count: Annotated[
        int | None,
        key(
            "Number of tiers of a Clos. The default is the smallest number that connects all leaves.",
            "tiers",
            form=one_of(2, 3),
        ),
    ]
    subplanes: Annotated[
        int | None,
        key(
            "Number of copies of the plane without common switches. Port p of each NIC connects to copy p. Dual-tor "
            "has one for each port.",
            minimum=1,
            maximum=4,
        ),
    ]
    rails_per_leaf: Annotated[int, key("Number of rails that share a leaf.", minimum=1)] = 1
    leaves_per_unit: Annotated[
        int,
        key("Number of leaves in a unit of a fat tree. The NICs of a host are divided among them.", minimum=1),
    ] = 1
    pod_units: Annotated[
        int | None,
        key(
            "Pods of a three-tier Clos.",
            "pod",
            form=wrapped(
                "units",
                Form(
                    {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Number of scalable units in a pod. The default is the largest possible number.",
                    }
                ),
                required=["units"],
            ),
        ),
    ]
    leaf: Annotated[Tier | None, key()]
    spine: Annotated[Tier | None, key()]
    core: Annotated[Tier | None, key()]
    speed_mbps: Annotated[Speed | None, key(name="speed")]
    uplink_speed_mbps: Annotated[
        Speed | None, key("Speed of links between switches, if it differs from `speed`.", "uplink_speed")
    ]
    oversubscription: Annotated[  # by role: leaf and spine
        Mapping[Role, float],
        key(
            "Ratio of the bandwidth towards hosts to that of the uplinks of a leaf, 0.1 to 64; {leaf, spine} sets it "
            "for each tier.",
            form=_OVERSUBSCRIPTION,
        ),
    ]
    cables: Annotated[Mapping[LinkKind, CableSpec], key(form=_CABLES)]
    mtu_bytes: Annotated[int, key("Port MTU in bytes.", "mtu", minimum=1500, maximum=9216)] = DEFAULT_MTU_BYTES
    roce_mtu_bytes: Annotated[int, key("RDMA path MTU in bytes.", "roce_mtu", form=_MTUS)] = DEFAULT_ROCE_MTU_BYTES
    queue_pairs: Annotated[  # None: the default of NCCL
        int | None,
        key(
            "Queue pairs of a connection of NCCL (NCCL_IB_QPS_PER_CONNECTION), each of which is hashed by itself.",
            minimum=1,
            maximum=128,
        ),
    ]
    lossless: Annotated[
        LosslessSpec,
        key(
            "The name of a profile, or values that differ from it; none for a plane without PFC.",
            form=_LOSSLESS,
        ),
    ]
    trimming: Annotated[
        TrimmingSpec | None,
        key("On a plane without PFC: full bulk queues trim packets to this size and mark them with this DSCP."),
    ]
    balance: Annotated[
        BalanceSpec,
        key(
            "How switches spread packets over equal paths. CONFIG_DB has ecmp only, with or without weights.",
            "load_balancing",
        ),
    ]
    bgp: Annotated[
        BgpAddressing,
        key(
            "numbered: sessions between link addresses (SONiC's bgpcfgd). unnumbered: sessions on interfaces (its "
            "management framework)."
        ),
    ] = BgpAddressing.NUMBERED
    bgp_timers: Annotated[
        BgpTimers | None, key("Timers of the BGP sessions. The default is that of SONiC: 60 s and 180 s.")
    ]
    addressing: Annotated[Addressing | None, key()]
    leaves: Annotated[tuple[SwitchSpec, ...], key(form=_SWITCHES)]
    spines: Annotated[tuple[SwitchSpec, ...], key(form=_SWITCHES)]
    cores: Annotated[tuple[SwitchSpec, ...], key(form=_SWITCHES)]
    links: Annotated[tuple[LinkSpec, ...], key()]
    dragonfly: Annotated[DragonflySpec | None, key("A group of a dragonfly or dragonfly+.")]
    torus: Annotated[TorusSpec | None, key("A torus or mesh of one to three dimensions.")]
    infiniband: Annotated[InfinibandSpec, key("The subnet of an InfiniBand plane.")]
    partitions: Annotated[tuple[PartitionSpec, ...], key("Tenants of an InfiniBand plane, each with a P_Key.")]
    external: Annotated[tuple[OutsideDevice, ...], key("BGP sessions with routers outside the fabric.")]
    static: Annotated[tuple[StaticSpec, ...], key("Prefixes behind a host, or behind a device without BGP.")]

    @classmethod
    def in_inventory(cls, name: str, node: Node, profiles: Mapping[str, Node]) -> Self:
        """A plane with its name and with the `profiles` of the inventory."""
        path = f"planes.{name}"
        found = cls.values(node, path)
        purpose = found["purpose"] or PURPOSE_OF_NAME.get(name, Purpose.COMPUTE)
        profile = NONE if purpose in MANAGEMENT_PURPOSES else DEFAULT
        lossless = LosslessSpec.read(with_profile(node.part("lossless"), profiles, profile), f"{path}.lossless")
        dragonfly = found["dragonfly"] and found["dragonfly"].of_design(found["design"])
        torus = found["torus"] if found["torus"] and found["torus"].size else None
        ratios = {Role.LEAF: 1.0, Role.SPINE: 1.0, **(found["oversubscription"] or {})}
        below, above = found["speed_mbps"], found["uplink_speed_mbps"] or found["speed_mbps"]
        cables = _all_cables(node.part("cables"), path, found["cables"], below, above)
        depending = {"purpose": purpose, "lossless": lossless, "dragonfly": dragonfly, "torus": torus}
        return cls(
            **{**found, **depending, "oversubscription": ratios, "cables": cables}, node=node, path=path, name=name
        )

    @property
    def tiers(self) -> Mapping[Role, Tier]:
        """Role -> the switches of that role, where the inventory gives them."""
        given = {Role.LEAF: self.leaf, Role.SPINE: self.spine, Role.CORE: self.core}
        return {role: tier for role, tier in given.items() if tier}

    @property
    def switches(self) -> Mapping[Role, tuple[SwitchSpec, ...]]:
        """Role -> the switches of an explicit design."""
        listed = {Role.LEAF: self.leaves, Role.SPINE: self.spines, Role.CORE: self.cores}
        keys = {Role.LEAF: "leaves", Role.SPINE: "spines", Role.CORE: "cores"}
        return {role: listed[role] for role, key in keys.items() if key in self.node.mapping}

    @property
    def outside(self) -> tuple[OutsideDevice, ...]:
        """All devices outside the fabric."""
        return (*self.external, *(one.device for one in self.static if one.device))

    @property
    def uplink_mbps(self) -> int:
        """The speed of links between switches."""
        return self.uplink_speed_mbps or self.speed_mbps or 0

    @property
    def is_management(self) -> bool:
        """Whether the plane carries management traffic, which is never lossless."""
        return self.purpose in MANAGEMENT_PURPOSES


def _all_cables(
    node: Node, path: str, given: Mapping[LinkKind, CableSpec], below_mbps: int | None, above_mbps: int | None
) -> dict[LinkKind, CableSpec]:
    """The cables of all kinds: those that are given, and the usual ones."""
    cables = {}
    for kind, length_m in DEFAULT_CABLE_M.items():
        mbps = below_mbps if kind == LinkKind.HOST_LEAF else above_mbps
        usual = CableSpec(node=node, path=f"{path}.cables", length_m=length_m, medium=medium_for(length_m, mbps))
        cables[kind] = given[kind].at_speed(mbps) if kind in given else usual
    return {**cables, LinkKind.PEER: given.get(LinkKind.PEER, cables[LinkKind.LEAF_SPINE])}
