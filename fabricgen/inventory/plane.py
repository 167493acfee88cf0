"""One plane of an inventory and its parts, typed and immutable."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricgen.bundle.wiring import MANAGEMENT_PURPOSES
from fabricgen.inventory.infiniband import InfinibandSpec, PartitionSpec
from fabricgen.inventory.part import Part
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


@dataclass(frozen=True)
class ScalableUnit(Part):
    """The number of hosts in a full unit, and of units in the layout (None: as many as the hosts need)."""

    hosts: int
    planned: int | None
    appliances: tuple[str, ...] = ()  # groups of hosts in the last places of unit 0
    places: Mapping[str, int] = field(default_factory=dict)  # groups that share units -> places of each in a unit


@dataclass(frozen=True)
class Tier(Part):
    """The switches of one role. `newer` are the platforms of later units, the lowest unit first."""

    platform: str
    layout: str | None = None
    count: int | None = None
    type: str | None = None
    spare_ports: int = 0  # unused on each switch
    from_unit: int = 0
    newer: tuple["Tier", ...] = ()
    ports: Mapping[str, str] = field(default_factory=dict)  # cages such as 1-32 -> breakout mode


@dataclass(frozen=True)
class CableSpec(Part):
    """Length and medium of the cables of one kind."""

    length_m: float
    medium: Medium
    link_training: bool | None = None  # None: the default of SONiC


@dataclass(frozen=True)
class EcnSpec(Part):
    """Marking thresholds of a 400G port, from which those of other speeds are scaled."""

    min_bytes: int | None
    max_bytes: int | None
    probability_percent: int | None


@dataclass(frozen=True)
class WatchdogSpec(Part):
    """PFC watchdog settings. None: the lossless plan decides."""

    action: WatchdogAction | None
    detection_ms: int | None
    restoration_ms: int | None
    poll_ms: int | None


@dataclass(frozen=True)
class LosslessSpec(Part):
    """The lossless traffic. `classes` is priority -> DSCP values, empty on a plane without PFC."""

    classes: Mapping[int, tuple[int, ...]]
    cnp_dscp: int
    shared_headroom: int | None  # over-subscription ratio
    ecn: EcnSpec
    watchdog: WatchdogSpec


@dataclass(frozen=True)
class TrimmingSpec(Part):
    """Packet trimming of a plane without PFC: the DSCP of trimmed packets, and their size."""

    dscp: int
    size_bytes: int


@dataclass(frozen=True)
class BalanceSpec(Part):
    """How switches spread packets over equal paths. `weighted`: in proportion to the paths behind each next hop.

    Modes other than ECMP are not part of CONFIG_DB: `by_platform` states that they are configured otherwise.
    """

    mode: BalanceMode = BalanceMode.ECMP
    unit: BalanceUnit | None = None  # what keeps its path, in the modes other than ECMP
    flowlet_gap_us: int | None = None  # with flowlets
    weighted: bool = False
    by_platform: bool = False


@dataclass(frozen=True)
class PoolSpec(Part):
    """The prefixes of an address pool, at most one of each family, and its reserved addresses and prefixes."""

    prefixes: tuple[str, ...]
    reserve: tuple[str, ...] = ()


@dataclass(frozen=True)
class Addressing(Part):
    """The pools of a plane and the range of its ASNs."""

    loopbacks: PoolSpec
    links: PoolSpec | None  # None if links are unnumbered
    hosts: PoolSpec
    asn_first: int
    asn_last: int

    @property
    def pools(self) -> Mapping[str, PoolSpec]:
        """Purpose -> pool."""
        named = {"loopbacks": self.loopbacks, "links": self.links, "hosts": self.hosts}
        return {name: pool for name, pool in named.items() if pool is not None}


@dataclass(frozen=True)
class SwitchSpec(Part):
    """A switch of an explicit design."""

    name: str
    platform: str | None
    layout: str | None
    pod: int | None
    su: int | None
    rail: int | None
    ports: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LinkSpec(Part):
    """A link of an explicit design. `ends` are written device:port."""

    ends: tuple[str, str]
    cable: CableSpec | None
    speed_mbps: int | None


class Arrangement(enum.StrEnum):
    """How the global links of a dragonfly are distributed among the switches of a group."""

    ABSOLUTE = "absolute"
    RELATIVE = "relative"
    CIRCULANT = "circulant"


@dataclass(frozen=True)
class DragonflySpec(Part):
    """A group of a dragonfly. `leaves` are the switches with hosts; only a dragonfly+ has `spines`.

    `global_links` is the number of each switch, in a dragonfly+ of each spine.
    """

    leaves: int
    spines: int
    global_links: int
    local_links: int  # parallel links of each connected pair of switches in a group
    arrangement: Arrangement


@dataclass(frozen=True)
class TorusSpec(Part):
    """For each dimension: the number of switches, the parallel links of a hop, and the coordinate of the dateline."""

    size: tuple[int, ...]
    links: tuple[int, ...]
    datelines: tuple[int, ...]


@dataclass(frozen=True)
class OutsideDevice(Part):
    """A device outside the fabric that is connected to a switch. It has a BGP session if it has an `asn`.

    `accepts` and `announces` are prefixes (None: all). `peers` may omit a family whose subnet has only two addresses.
    """

    name: str
    asn: int | None
    switch: str  # name or identity
    port: str
    peer_port: str
    addresses: tuple[str, ...]
    peers: tuple[str, ...]
    accepts: tuple[str, ...] | None
    announces: tuple[str, ...] | None
    cable: CableSpec
    speed_mbps: int | None


@dataclass(frozen=True)
class StaticSpec(Part):
    """Prefixes behind the NIC of a host (`via`), or behind a device."""

    prefixes: tuple[str, ...]
    via: str | None
    device: OutsideDevice | None


@dataclass(frozen=True)
class Plane(Part):
    """One network."""

    name: str
    technology: Technology
    purpose: Purpose
    design: str
    hosts: tuple[str, ...]
    unit: ScalableUnit | None
    tier_count: int | None
    subplanes: int | None
    rails_per_leaf: int
    leaves_per_unit: int  # of a fat tree
    pod_units: int | None
    tiers: Mapping[Role, Tier]  # by role
    speed_mbps: int | None
    uplink_speed_mbps: int | None  # between switches; None: the same as `speed_mbps`
    oversubscription: Mapping[Role, float]  # by role: leaf and spine
    cables: Mapping[LinkKind, CableSpec]  # by kind of link
    mtu_bytes: int
    roce_mtu_bytes: int
    lossless: LosslessSpec
    balance: BalanceSpec
    bgp: BgpAddressing
    addressing: Addressing | None
    switches: Mapping[Role, tuple[SwitchSpec, ...]]  # by role, of an explicit design
    links: tuple[LinkSpec, ...]
    dragonfly: DragonflySpec | None
    torus: TorusSpec | None
    infiniband: InfinibandSpec
    partitions: tuple[PartitionSpec, ...] = ()
    trimming: TrimmingSpec | None = None
    queue_pairs: int | None = None  # of a connection of NCCL; None: the default of NCCL
    external: tuple[OutsideDevice, ...] = ()
    static: tuple[StaticSpec, ...] = ()

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
