"""The planned wiring, as in fabric.json: devices, ports, links, cables with true lengths, hosts, planes."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricgen.vocabulary import (
    BalanceMode,
    BalanceUnit,
    DeviceState,
    Isolation,
    LinkKind,
    LinkState,
    Medium,
    NicSettings,
    Purpose,
    RdmaNames,
    Repair,
    Role,
    Technology,
)

# Management traffic must never pause or be paused.
MANAGEMENT_PURPOSES = (Purpose.IN_BAND, Purpose.OUT_OF_BAND)

Endpoint = tuple[str, str]  # (switch, EthernetN) or (host, NIC)


@dataclass(frozen=True, slots=True)
class WiredDevice:
    """A switch. `identity` does not change when the switch is renamed or replaced."""

    name: str
    identity: str
    plane: str
    role: Role
    platform: str
    layout: str
    hwsku: str
    technology: Technology = Technology.ROCE
    subplane: int | None = None  # one of several copies of a plane without a common switch
    pod: int | None = None
    su: int | None = None
    rail: int | None = None
    rack: str = ""
    unit: str = ""
    serial: str = ""
    state: DeviceState = DeviceState.ACTIVE
    loopbacks: tuple[str, ...] = ()  # addresses of Loopback0
    management: tuple[str, ...] = ()  # addresses of eth0, with prefix length
    node_guid: str = ""  # of an InfiniBand switch, 0x and 16 hex digits
    mmu_bytes: int | None = None  # the memory of the ASIC where the platform states it
    coordinates: tuple[int, ...] = ()  # of a torus or mesh x, y, z; of a dragonfly the group, and the place in it


@dataclass(frozen=True, slots=True)
class WiredLink:
    """A logical link. `a` is the lower end: the host of a host link, the outside device of an external link, else the
    switch nearer to the hosts."""

    id: str
    plane: str
    kind: LinkKind
    a: Endpoint
    b: Endpoint
    speed_mbps: int
    cable: str
    rail: int | None = None


@dataclass(frozen=True, slots=True)
class WiredCable:
    """A physical cable and the links it carries. A breakout cable has one plug at its trunk and one at each leg: `legs`
    are the links of each leg. Without legs, a cable has two ends."""

    id: str
    length_m: float
    medium: Medium
    links: tuple[str, ...]
    legs: tuple[tuple[str, ...], ...] = ()

    @property
    def arms(self) -> tuple[tuple[str, ...], ...]:
        """The links of each leg, or all links."""
        return self.legs or (self.links,)


@dataclass(frozen=True, slots=True)
class WiredNic:
    """One NIC port of a host. The link that names it has the switch port at its far end."""

    name: str
    plane: str
    rail: int | None
    speed_mbps: int
    addresses: tuple[str, ...] = ()
    node_guid: str = ""  # of an InfiniBand adapter, like `port_guid`
    port_guid: str = ""


@dataclass(frozen=True, slots=True)
class WiredBond:
    """An LACP bond of a host. The first of its NIC ports has its addresses."""

    name: str
    nics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WiredVlan:
    """A tagged VLAN of a host. `name` is its interface, `link` the NIC or bond below it."""

    name: str
    link: str
    number: int
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WiredHost:
    """A host with its NICs. Hosts of one `nvlink_domain` share NVLink; it is "" where NVLink joins one host only."""

    name: str
    group: str
    model: str
    nics: tuple[WiredNic, ...]
    rack: str = ""
    unit: str = ""
    serial: str = ""
    nvlink_domain: str = ""
    nic_settings: NicSettings = NicSettings.SCRIPT
    rdma_names: RdmaNames = RdmaNames.DRIVER
    bonds: tuple[WiredBond, ...] = ()
    vlans: tuple[WiredVlan, ...] = ()


@dataclass(frozen=True, slots=True)
class WiredAdapter:
    """One NIC port of a host model. `pci` and `rdma` are "" if they differ between machines. `rdma` is the name of the
    driver; `adapters_of` in nic_kinds has those of a host."""

    name: str
    model: str
    pci: str
    rdma: str
    gpu: int | None


@dataclass(frozen=True, slots=True)
class WiredModel:
    """A host model: the properties that all its hosts share."""

    name: str
    vendor: str
    gpus: int
    nics: tuple[WiredAdapter, ...]


@dataclass(frozen=True, slots=True)
class WiredExternal:
    """One port of a device outside the fabric. `asn` is None if no session runs; `addresses` are its own."""

    name: str
    port: str
    plane: str
    asn: int | None
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WiredSpeaker:
    """BGP of a group of hosts with its leaves on one plane. A host may announce longer prefixes in `prefixes`; leaves
    enforce this if it is `filtered`."""

    group: str
    plane: str
    asn: int
    prefixes: tuple[str, ...]
    filtered: bool = True


@dataclass(frozen=True, slots=True)
class WiredBalance:
    """How switches spread packets, by other means than CONFIG_DB. `flowlet_gap_ns` with flowlets."""

    mode: BalanceMode
    per: BalanceUnit
    flowlet_gap_ns: int | None = None


@dataclass(frozen=True, slots=True)
class WiredPlane:
    """A plane with its lossless priorities and the DSCP values of the RoCE classes and of CNPs."""

    name: str
    technology: Technology
    design: str
    lossless: tuple[int, ...] = ()
    roce_dscp: Mapping[str, tuple[int, ...]] | None = None  # priority -> DSCP values
    cnp_dscp: int | None = None
    roce_mtu: int | None = None
    purpose: Purpose | None = None  # None if the file does not say
    host_prefixes: tuple[str, ...] = ()  # the pools of the addresses of its hosts
    load_balancing: WiredBalance | None = None  # None: ECMP
    isolation: Isolation | None = None  # how its tenants are separated; None: it has no tenants

    @property
    def is_spread_by_packet(self) -> bool:
        """Whether its switches select a path for each packet, so that packets of a flow overtake each other."""
        return self.load_balancing is not None and self.load_balancing.per == BalanceUnit.PACKET

    @property
    def is_management(self) -> bool:
        """Whether the plane carries management traffic."""
        return self.purpose in MANAGEMENT_PURPOSES


@dataclass(frozen=True, slots=True)
class WiredTenant:
    """A tenant: its NIC ports, (host, NIC), which reach each other and those of the tenants in `shared_with`. Both
    tenants have the name of the other there."""

    name: str
    nics: tuple[Endpoint, ...]
    shared_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WiredPlaceholders:
    """The numbers of placeholder GUIDs of an InfiniBand plane, which cannot be deployed with them."""

    plane: str
    switches: int
    adapters: int


@dataclass(frozen=True, slots=True)
class MaintenanceSet:
    """Switches and links, by shell patterns of their names, that are out of service at the same time."""

    name: str
    switches: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checks:
    """The failures that `check` simulates: how many at a time, whether switches fail too, and how switches repair.
    `min_busbw_after_failure` is the least share of the bus bandwidth after any single one; None: not judged."""

    failures: int = 1
    switch_failures: bool = False
    repair: Repair = Repair.NONE
    maintenance: tuple[MaintenanceSet, ...] = ()
    min_busbw_after_failure: float | None = None


@dataclass(frozen=True)
class Wiring:
    """The content of fabric.json."""

    fabric: str
    planes: tuple[WiredPlane, ...]
    devices: tuple[WiredDevice, ...]
    hosts: tuple[WiredHost, ...]
    links: tuple[WiredLink, ...]
    cables: tuple[WiredCable, ...]
    externals: tuple[WiredExternal, ...] = ()
    host_models: tuple[WiredModel, ...] = ()
    placeholders: tuple[WiredPlaceholders, ...] = ()
    checks: Checks = Checks()
    tenants: tuple[WiredTenant, ...] = ()
    speakers: tuple[WiredSpeaker, ...] = ()
    cordoned: tuple[str, ...] = ()  # ids of the links that are out of service on purpose

    @cached_property
    def infiniband_planes(self) -> frozenset[str]:
        """The names of the planes that subnet managers run: their switches do not have a config_db.json."""
        return frozenset(plane.name for plane in self.planes if plane.technology == Technology.INFINIBAND)

    @cached_property
    def tenant_of(self) -> Mapping[Endpoint, str]:
        """NIC -> the name of its tenant, for those that have one."""
        return {nic: tenant.name for tenant in self.tenants for nic in tenant.nics}


def link_state(links: Iterable[WiredLink], cordoned: Collection[str]) -> LinkState:
    """The state of a cable or of an arm of it: cordoned if any of its links is."""
    return LinkState.CORDONED if cordoned and any(link.id in cordoned for link in links) else LinkState.ACTIVE
