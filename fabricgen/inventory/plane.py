"""One plane of an inventory and its parts, typed and immutable."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

from fabricgen.bundle.wiring import MANAGEMENT_PURPOSES
from fabricgen.inventory.access import AccessSpec
from fabricgen.inventory.infiniband import InfinibandSpec, PartitionSpec
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import (
    Notation,
    Part,
    any_of,
    key,
    list_of,
    notation_of,
    part_notation,
    record_of,
    wrapped,
)
from fabricgen.inventory.profiles import DEFAULT, NONE, with_profile
from fabricgen.inventory.routing import (
    Addressing,
    BgpTier,
    BgpTimers,
    GracefulRestart,
    MaxPrefixes,
    OutsideDevice,
    Srv6Spec,
    StaticSpec,
)
from fabricgen.inventory.topology import (
    DEFAULT_CABLE_M,
    CableSpec,
    DragonflySpec,
    LinkSpec,
    ScalableUnit,
    SwitchSpec,
    Tier,
    TorusSpec,
    medium_for,
)
from fabricgen.inventory.traffic import BalanceSpec, LosslessSpec, TrimmingSpec
from fabricgen.inventory.values import (
    TEXT,
    Ratio,
    Secret,
    Speed,
    one_of,
)
from fabricgen.physics import DEFAULT_MTU_BYTES, DEFAULT_ROCE_MTU_BYTES
from fabricgen.sonic.evpn import WIRE_BYTES
from fabricgen.sonic.srv6 import OUTER_BYTES
from fabricgen.vocabulary import (
    BgpAddressing,
    Isolation,
    LinkKind,
    Purpose,
    Role,
    Technology,
)

# The default purpose of a plane, by its name.
PURPOSE_OF_NAME: Mapping[str, Purpose] = {**{word.value: word for word in Purpose}, "management": Purpose.IN_BAND}

_MTUS = one_of(256, 512, 1024, 2048, 4096)

_SWITCHES = list_of(part_notation(SwitchSpec)).named("switches")

_CABLE_KINDS = (*list(DEFAULT_CABLE_M)[:3], LinkKind.PEER, LinkKind.GLOBAL)

_CABLES = record_of({kind: part_notation(CableSpec) for kind in _CABLE_KINDS})

_RATIOS = record_of({role: notation_of(Ratio) for role in (Role.LEAF, Role.SPINE)})

_OVERSUBSCRIPTION = any_of(
    notation_of(Ratio),
    _RATIOS,
    # a single number applies to the leaves
    read=lambda node, path: _RATIOS.read(node, path) if node.mapping else {Role.LEAF: float(str(node.value))},
)

_LOSSLESS = any_of(TEXT, part_notation(LosslessSpec)).reading(lambda *_: None)  # a plane reads it with its profile

_DEVICES = list_of(part_notation(OutsideDevice))


@dataclass(frozen=True, kw_only=True)
class Plane(Part, definition="plane"):
    """One network."""

    name: str
    technology: Annotated[
        Technology,
        key(
            notation=one_of(Technology.ROCE.value, Technology.INFINIBAND.value).then(Technology),
            page="InfiniBand planes are rendered as files of [subnet managers](infiniband.md)",
        ),
    ] = Technology.ROCE
    purpose: Annotated[
        Purpose,
        key(
            "The purpose of the plane, which selects the NICs of a host. The default is the name of the plane if it is "
            "one of these (management: in-band), else compute.",
            usual="by the plane's name, else `compute`",
            page="[the purpose of the plane](#planes-together)",
        ),
    ]
    design: Annotated[
        str,
        key(
            "The name of a design, which defines the layout of switches and links.",
            required=True,
            page="how switches and links are made, one of the [designs](designs.md): `rail-optimized`, `rail-only`, "
            "`fat-tree`, `dual-tor`, `dragonfly`, `dragonfly-plus`, `torus`, `mesh`, `explicit`",
        ),
    ]
    hosts: Annotated[
        tuple[str, ...],
        key(
            "Host groups, in the order of their scalable units.",
            page="each group fills its own scalable units, which the lock file keeps; groups of "
            "`scalable_unit.places` share theirs",
        ),
    ]
    unit: Annotated[
        ScalableUnit | None,
        key(
            name="scalable_unit",
            usual="`planned`: the units in use",
            page="hosts of a full unit; number of units in the layout; [appliances](designs.md#growth); `places`: "
            "group: "
            "places in each unit, for groups that [share units](designs.md#growth)",
        ),
    ]
    tier_count: Annotated[
        int | None,
        key(
            "Number of tiers of a Clos. The default is the smallest number that connects all leaves.",
            "tiers",
            notation=one_of(2, 3),
            usual="the minimum that connects the leaves",
            page="forces the number of tiers",
        ),
    ]
    subplanes: Annotated[
        int | None,
        key(
            "Number of copies of the plane without common switches. Port p of each NIC connects to copy p. Dual-tor "
            "has one for each port.",
            minimum=1,
            maximum=8,
            usual="`1`; one for each NIC port in `dual-tor`",
            page="copies of the plane without common switches, one for each port of a NIC",
        ),
    ]
    rails_per_leaf: Annotated[
        int, key("Number of rails that share a leaf.", minimum=1, page="rails that share a leaf")
    ] = 1
    leaves_per_unit: Annotated[
        int,
        key(
            "Number of leaves in a unit of a fat tree. The NICs of a host are divided among them.",
            minimum=1,
            page="leaves of a fat tree's unit; the NICs of a host are distributed over them",
        ),
    ] = 1
    pod_units: Annotated[
        int | None,
        key(
            "Pods of a three-tier Clos.",
            "pod",
            notation=wrapped(
                "units",
                Notation(
                    {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Number of scalable units in a pod. The default is the largest possible number.",
                    }
                ),
                required=["units"],
            ),
            usual="the maximum",
            page="scalable units of a pod, with three tiers",
        ),
    ]
    leaf: Annotated[
        Tier | None, key(usual="required by most designs", page="the leaves: a [tier](#tiers-cables-and-addresses)")
    ]
    spine: Annotated[
        Tier | None, key(usual="required by most designs", page="the spines: a [tier](#tiers-cables-and-addresses)")
    ]
    core: Annotated[Tier | None, key(page="the cores of three tiers: a [tier](#tiers-cables-and-addresses)")]
    speed_mbps: Annotated[
        Speed | None,
        key(
            name="speed",
            usual="required",
            page="selects the layout of the platforms; NICs must have the same speed",
        ),
    ]
    uplink_speed_mbps: Annotated[
        Speed | None,
        key(
            "Speed of links between switches, if it differs from `speed`.",
            "uplink_speed",
            usual="`speed`",
            page="speed of links between switches",
        ),
    ]
    oversubscription: Annotated[  # by role: leaf and spine
        Mapping[Role, float],
        key(
            "Ratio of the bandwidth towards hosts to that of the uplinks of a leaf, 0.1 to 64; {leaf, spine} sets it "
            "for each tier.",
            notation=_OVERSUBSCRIPTION,
            usual="`1`",
            page="ratio of the bandwidth below a leaf (a spine) to the bandwidth above it",
        ),
    ]
    cables: Annotated[
        Mapping[LinkKind, CableSpec],
        key(
            notation=_CABLES, usual="see below", page="length and medium by [kind of link](#tiers-cables-and-addresses)"
        ),
    ]
    mtu_bytes: Annotated[
        int, key("Port MTU in bytes.", "mtu", minimum=1500, maximum=9216, page="MTU of every port, in bytes")
    ] = DEFAULT_MTU_BYTES
    roce_mtu_bytes: Annotated[
        int, key("RDMA path MTU in bytes.", "roce_mtu", notation=_MTUS, page="RDMA path MTU, in bytes")
    ] = DEFAULT_ROCE_MTU_BYTES
    queue_pairs: Annotated[  # None: the default of NCCL
        int | None,
        key(
            "Queue pairs of a connection of NCCL (NCCL_IB_QPS_PER_CONNECTION), each of which is hashed by itself.",
            minimum=1,
            maximum=128,
            usual="that of NCCL, 1",
            page="[queue pairs of a connection of NCCL](hosts.md#nccl-rccl-and-ucx), for a compute plane",
        ),
    ]
    lossless: Annotated[
        LosslessSpec,
        key(
            "The name of a profile, or values that differ from it; none for a plane without PFC.",
            notation=_LOSSLESS,
            usual="`roce-lossless-two-class`; `none` for management",
            page="classes, marking, watchdog",
        ),
    ]
    trimming: Annotated[
        TrimmingSpec | None,
        key(
            "On a plane without PFC: full bulk queues trim packets to this size and mark them with this DSCP.",
            page="[packet trimming](qos.md#packet-trimming) of a plane without PFC; `size` 256",
        ),
    ]
    balance: Annotated[
        BalanceSpec,
        key(
            "How switches spread packets over equal paths. CONFIG_DB has ecmp only, with or without weights.",
            "load_balancing",
            usual="`ecmp`",
            page="[how switches spread packets](#load-balancing) over equal paths",
        ),
    ]
    bgp: Annotated[
        BgpAddressing,
        key(
            "numbered: sessions between link addresses (SONiC's bgpcfgd). unnumbered: sessions on interfaces (its "
            "management framework).",
            page="sessions between link addresses, or on interfaces without addresses",
        ),
    ] = BgpAddressing.NUMBERED
    bgp_timers: Annotated[
        BgpTimers | None,
        key(
            "Timers of the BGP sessions. The default is that of SONiC: 60 s and 180 s.",
            usual="60 and 180",
            page="seconds between keepalive messages, and without one until a session ends, for all BGP sessions of "
            "the plane, also those with external routers; FG355 judges them",
        ),
    ]
    bfd: Annotated[
        bool,
        key(
            "BFD on every BGP session of the plane, with unnumbered BGP.",
            page="BFD on every BGP session, also with external routers; only with `bgp: unnumbered` (FG151)",
        ),
    ] = False
    bgp_password: Annotated[
        Secret | None,
        key(
            "The password of all BGP sessions between switches of the plane, with unnumbered BGP.",
            page="password of the sessions between switches (a secret reference, TCP MD5); only with `bgp: unnumbered`",
        ),
    ]
    max_prefixes: Annotated[
        MaxPrefixes | None,
        key(
            "The largest number of prefixes of a session, with unnumbered BGP.",
            page="prefixes that a session between switches may announce; FG420 compares it with those of the "
            "plane; only with `bgp: unnumbered`",
        ),
    ]
    graceful_restart: Annotated[
        GracefulRestart | None,
        key(
            "Graceful restart of BGP, with unnumbered BGP. With numbered BGP images have it on leaves.",
            usual="off; with numbered BGP that of the image",
            page="how long neighbors forward to a switch whose BGP restarts; only with `bgp: unnumbered`",
        ),
    ]
    bgp_tiers: Annotated[
        Mapping[str, BgpTier],
        key(
            "The five settings of BGP above, where a tier differs from the plane.",
            notation=record_of({role.value: part_notation(BgpTier) for role in (Role.LEAF, Role.SPINE, Role.CORE)}),
            page="the five settings above where [a tier](#bgp-by-tier) differs from the plane",
        ),
    ]
    srv6: Annotated[
        Srv6Spec | None,
        key(
            usual="none",
            page="[SRv6 uSIDs](srv6.md), with which hosts choose the links of a path: a `block`, or {`block`, "
            "`decap_dscp_mode`, `counters`, `node_bits`}",
        ),
    ]
    names: Annotated[
        Mapping[str, str],
        key(
            "Name patterns of the switches of this plane, by role. They have priority over `names` of the inventory.",
            notation=record_of({role.value: TEXT for role in (Role.LEAF, Role.SPINE, Role.CORE)}),
            page="[name patterns](#names) of the switches of this plane, by role",
        ),
    ]
    access: Annotated[
        AccessSpec | None,
        key(
            "How hosts are connected to their switches.",
            usual="`routed`",
            page="how [hosts are connected](access.md): `routed`, `vlan`, `bond` or `routed-bond`, for all or by group",
        ),
    ]
    addressing: Annotated[
        Addressing | None, key(usual="required for RoCE", page="[address pools and ASNs](#tiers-cables-and-addresses)")
    ]
    leaves: Annotated[
        tuple[SwitchSpec, ...], key(notation=_SWITCHES, page="the leaves of an [explicit](designs.md) design")
    ]
    spines: Annotated[tuple[SwitchSpec, ...], key(notation=_SWITCHES, page="its spines")]
    cores: Annotated[tuple[SwitchSpec, ...], key(notation=_SWITCHES, page="its cores")]
    links: Annotated[tuple[LinkSpec, ...], key(page="its links")]
    dragonfly: Annotated[
        DragonflySpec | None,
        key(
            "A group of a dragonfly or dragonfly+.",
            page="a group of a [dragonfly](designs.md#dragonfly-dragonfly-plus)",
        ),
    ]
    torus: Annotated[
        TorusSpec | None,
        key("A torus or mesh of one to three dimensions.", page="the grid of a [torus or mesh](designs.md#torus-mesh)"),
    ]
    infiniband: Annotated[
        InfinibandSpec,
        key("The subnet of an InfiniBand plane.", page="settings of an [InfiniBand](designs.md#infiniband) subnet"),
    ]
    partitions: Annotated[
        tuple[PartitionSpec, ...],
        key(
            "Tenants of an InfiniBand plane, each with a P_Key.",
            page="[tenants](designs.md#tenants-and-guids) of an InfiniBand plane",
        ),
    ]
    isolation: Annotated[
        Isolation | None,
        key(
            "How the tenants of the fabric are separated on this plane. acl: ingress ACLs on the ports of hosts. vrf: "
            "a VRF of each tenant on each leaf, where no links connect the leaves. evpn: VRFs across the plane, over "
            "VXLAN.",
            usual="none",
            page="how [tenants](tenants.md) are separated on a RoCE plane: `acl`, `vrf` or `evpn`",
        ),
    ]
    external: Annotated[
        tuple[OutsideDevice, ...],
        key("BGP sessions with routers outside the fabric.", page="[BGP sessions with external routers](outside.md)"),
    ]
    static: Annotated[
        tuple[StaticSpec, ...],
        key(
            "Prefixes behind a host, or behind a device without BGP.",
            page="[prefixes behind a host, or behind a device without BGP](outside.md)",
        ),
    ]

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

    def bgp_of(self, setting: str, role: str) -> "Self | BgpTier":
        """The part that has a setting of BGP for a tier: the tier itself, or the plane."""
        tier = self.bgp_tiers.get(role)
        return tier if tier and setting in tier.node.mapping else self

    @property
    def announced_by_hosts(self) -> tuple[str, ...]:
        """The prefixes that its hosts may announce by BGP."""
        speakers = self.access.speakers if self.access else ()
        return tuple(dict.fromkeys(prefix for _, spec in speakers for prefix in spec.prefixes))

    @property
    def host_groups(self) -> tuple[str, ...]:
        """All groups of its hosts."""
        return (*self.hosts, *(self.unit.appliances if self.unit else ()))

    @property
    def outside(self) -> tuple[OutsideDevice, ...]:
        """All devices outside the fabric."""
        return (*self.external, *(one.device for one in self.static if one.device))

    @property
    def uplink_mbps(self) -> int:
        """The speed of links between switches."""
        return self.uplink_speed_mbps or self.speed_mbps or 0

    @property
    def host_mtu_bytes(self) -> int:
        """The MTU of its NICs: packets between VTEPs are larger by the headers of VXLAN, those of SRv6 by one of
        IPv6."""
        outer = WIRE_BYTES if self.isolation == Isolation.EVPN else OUTER_BYTES if self.srv6 else 0
        return self.mtu_bytes - outer

    @property
    def isolates_by_vrf(self) -> bool:
        """Whether the ports of hosts that have a tenant are in VRFs."""
        return self.isolation not in (None, Isolation.ACL)

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
