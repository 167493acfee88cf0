"""One plane of an inventory, typed and immutable, and the parts that it has."""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.bundle.wiring import MANAGEMENT_PURPOSES
from fabricgen.inventory.part import Part


@dataclass(frozen=True)
class ScalableUnit(Part):
    """How many hosts a full unit has, and how many units the fabric is laid out for (None: those that are there)."""

    hosts: int
    planned: int | None
    appliances: tuple[str, ...] = ()  # groups of hosts that take the last places of unit 0


@dataclass(frozen=True)
class Tier(Part):
    """The switches of one role. `newer` has what switches of later units are, from the lowest unit up."""

    platform: str
    layout: str | None = None
    count: int | None = None
    type: str | None = None
    spare_ports: int = 0  # kept free on each switch
    from_unit: int = 0
    newer: tuple["Tier", ...] = ()


@dataclass(frozen=True)
class CableSpec(Part):
    """Length and medium of the cables of one kind."""

    length_m: float
    medium: str
    link_training: bool | None = None  # None: left to SONiC's default


@dataclass(frozen=True)
class EcnSpec(Part):
    """Marking thresholds as they would be on a 400G port."""

    min_bytes: int | None
    max_bytes: int | None
    probability_percent: int | None


@dataclass(frozen=True)
class WatchdogSpec(Part):
    """PFC watchdog settings; None is left to the plan."""

    action: str | None
    detection_ms: int | None
    restoration_ms: int | None
    poll_ms: int | None


@dataclass(frozen=True)
class LosslessSpec(Part):
    """What traffic must never be dropped. classes: priority -> DSCP values; none on a plane without PFC."""

    classes: Mapping[int, tuple[int, ...]]
    cnp_dscp: int
    shared_headroom: int | None  # over-subscription ratio
    ecn: EcnSpec
    watchdog: WatchdogSpec


@dataclass(frozen=True)
class PoolSpec(Part):
    """Prefixes to give addresses out of, at most one of each family, and the parts kept back."""

    prefixes: tuple[str, ...]
    reserve: tuple[str, ...] = ()


@dataclass(frozen=True)
class Addressing(Part):
    """The pools of a plane and the range of its ASNs."""

    loopbacks: PoolSpec
    links: PoolSpec | None  # None where links are unnumbered
    hosts: PoolSpec
    asn_first: int
    asn_last: int

    @property
    def pools(self) -> Mapping[str, PoolSpec]:
        """The pools that there are, by purpose."""
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


@dataclass(frozen=True)
class LinkSpec(Part):
    """A link of an explicit design; ends are device:port texts."""

    ends: tuple[str, str]
    cable: CableSpec | None
    speed_mbps: int | None


@dataclass(frozen=True)
class DragonflySpec(Part):
    """A group of a dragonfly. `leaves` are the switches with hosts; `spines` is 0 but in a dragonfly+.

    `global_links` are those of each switch that has any: of every one, in a dragonfly+ of every spine.
    """

    leaves: int
    spines: int
    global_links: int
    local_links: int  # parallel links of each pair of joined switches of a group
    arrangement: str  # absolute | relative | circulant


@dataclass(frozen=True)
class TorusSpec(Part):
    """Switches of each dimension, parallel links of a hop in each, and the coordinate at which each dateline lies."""

    size: tuple[int, ...]
    links: tuple[int, ...]
    datelines: tuple[int, ...]


@dataclass(frozen=True)
class MemberSpec(Part):
    """Who belongs to a partition: ALL, a group, hosts, a NIC, a rail or a port GUID, and how: full | limited | both."""

    name: str
    membership: str


@dataclass(frozen=True)
class PartitionSpec(Part):
    """A tenant of a subnet. `pkey` as it was written (None: not at all), `membership` None where it is left open."""

    name: str
    pkey: int | None
    members: tuple[MemberSpec, ...]
    membership: str | None
    ipoib: bool | None
    mtu_bytes: int | None
    rate_mbps: int | None


@dataclass(frozen=True)
class PrefixRoute(Part):
    """Which router leads to a subnet prefix; None is any."""

    prefix: int | None
    guid: int | None


@dataclass(frozen=True)
class MlnxSmSpec(Part):
    """The second set of files, for NVIDIA's own subnet manager in UFM."""

    adaptive_routing: bool
    shield: bool
    config_dir: str


@dataclass(frozen=True)
class InfinibandSpec(Part):
    """What a subnet runs: data VLs of its ports, the routing engine (None: chosen), bits of LIDs of an endpoint.

    `config_dir` is where the subnet managers keep their files, `managers` the hosts that they run on, master first.
    """

    vls: int
    engine: str | None
    lmc: int
    config_dir: str
    subnet_prefix: int | None
    managers: tuple[str, ...]
    m_key: str | None  # the reference to a secret
    default_partition: PartitionSpec
    prefix_routes: tuple[PrefixRoute, ...]
    mlnx_sm: MlnxSmSpec | None = None
    discovered: tuple[str, ...] = ()  # files of readings


@dataclass(frozen=True)
class OutsideDevice(Part):
    """A device that is plugged into a switch and not configured here. Prefixes of None are all; no `asn`, no session.

    `peers` may lack a family whose address is one of a pair."""

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
    """Prefixes behind the NIC of a host (`via`) or behind a device."""

    prefixes: tuple[str, ...]
    via: str | None
    device: OutsideDevice | None


@dataclass(frozen=True)
class Plane(Part):
    """One network."""

    name: str
    technology: str
    purpose: str  # compute | storage | in-band | out-of-band
    design: str
    hosts: tuple[str, ...]
    unit: ScalableUnit | None
    tier_count: int | None
    subplanes: int | None
    rails_per_leaf: int
    leaves_per_unit: int  # of a fat tree
    pod_units: int | None
    tiers: Mapping[str, Tier]  # leaf | spine | core
    speed_mbps: int | None
    uplink_speed_mbps: int | None  # between switches; None: as `speed_mbps`
    oversubscription: Mapping[str, float]  # leaf | spine
    cables: Mapping[str, CableSpec]  # host-leaf | leaf-spine | spine-core | peer | global
    mtu_bytes: int
    roce_mtu_bytes: int
    lossless: LosslessSpec
    bgp: str  # numbered | unnumbered
    addressing: Addressing | None
    switches: Mapping[str, tuple[SwitchSpec, ...]]  # leaf | spine | core, of an explicit design
    links: tuple[LinkSpec, ...]
    dragonfly: DragonflySpec | None
    torus: TorusSpec | None
    infiniband: InfinibandSpec
    partitions: tuple[PartitionSpec, ...] = ()
    external: tuple[OutsideDevice, ...] = ()
    static: tuple[StaticSpec, ...] = ()

    @property
    def outside(self) -> tuple[OutsideDevice, ...]:
        """Every device outside the fabric."""
        return (*self.external, *(one.device for one in self.static if one.device))

    @property
    def uplink_mbps(self) -> int:
        """Speed of the links between switches."""
        return self.uplink_speed_mbps or self.speed_mbps or 0

    @property
    def is_management(self) -> bool:
        """Whether the plane is for management traffic, which must never pause or be paused."""
        return self.purpose in MANAGEMENT_PURPOSES
