"""What a switch, a NIC and a host are, as the catalog describes them. Facts only: no decision is taken here."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabricgen.sonic.releases import branch_of
from fabricgen.units import whole_number
from fabricgen.vocabulary import Recovery, Technology

IMPORTED = "imported"  # the vendor of an entry that an import made of the files themselves
UNKNOWN_HWSKU = "Unknown"  # the hwsku of such an entry where the files do not have one


@dataclass(frozen=True, slots=True)
class PlatformPort:
    """One front-panel port of a layout, as the SKU's port_config.ini has it; an InfiniBand port by its number.

    A cage may have several connectors. Both ports of a twin-port OSFP cage have their own fibre, so each is its own
    `parent`; the halves of a split port share theirs, and with it a cable.
    """

    name: str  # EthernetN; of an InfiniBand switch the port number as the subnet manager counts it, from 1
    lanes: tuple[int, ...]  # () of an InfiniBand switch
    alias: str  # "" where no public source has the label
    index: int  # number of the cage; breakout siblings share it
    subport: int  # 0 where the cage has one port, else 1..n
    parent: str  # the port of the connector; the key of the cage's BREAKOUT_CFG row
    speed_mbps: int
    kind: str  # fabric | service
    fec: str  # rs | fc | none | auto, "" where the platform leaves it to its own default
    breakout_mode: str  # of the parent cage, e.g. 2x400G


@dataclass(frozen=True, slots=True)
class Cage:
    """One front-panel cage of a SONiC switch, as the platform's platform.json has it."""

    parent: str  # key of its BREAKOUT_CFG row
    indexes: tuple[int, ...]  # one for all lanes, or one for each
    lanes: tuple[int, ...]
    modes: Mapping[str, tuple[str, ...]]  # breakout mode -> alias of each port


@dataclass(frozen=True, slots=True)
class HeadroomRow:
    """One row of the SKU's pg_profile_lookup.ini."""

    speed_mbps: int
    cable_m: int
    size_bytes: int
    xon_bytes: int
    xoff_bytes: int
    dynamic_th: int
    xon_offset_bytes: int | None


@dataclass(frozen=True, slots=True)
class BufferDefaults:
    """What the SKU's own buffers_defaults template says for one role; rows are CONFIG_DB rows, verbatim.

    pools and profiles: row key -> fields. The profile names are those of the profiles for lossless and lossy queues and
    priority groups; port_profile_lists is empty where the platform's templates have none (Broadcom).
    """

    pools: Mapping[str, Mapping[str, str]]
    profiles: Mapping[str, Mapping[str, str]]
    lossless_queue_profile: str
    lossy_queue_profile: str
    lossy_pg_profile: str
    port_profile_lists: Mapping[str, str]  # ingress | egress -> comma list


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """What the branches of some SONiC releases say of a SKU otherwise than the commit of the catalog. An empty table is
    the same; `lacks` names what the branches do not have: sku (the whole folder), headroom, buffers."""

    releases: tuple[int, ...]
    lacks: tuple[str, ...] = ()
    headroom: tuple[HeadroomRow, ...] = ()
    buffers: Mapping[str, BufferDefaults] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """One hwsku of a switch model: its ports, and what its folder says about buffers. Of an InfiniBand switch: one way
    to split its ports."""

    name: str
    hwsku: str  # "" of an InfiniBand switch
    ports: tuple[PlatformPort, ...]
    headroom: tuple[HeadroomRow, ...]
    buffers: Mapping[str, BufferDefaults]  # leaf | spine | core; empty where the SKU ships none
    sources: Mapping[str, str]  # block -> where it was read
    by_release: tuple[ReleaseFacts, ...] = ()

    def at(self, release: int) -> "Layout":
        """The layout with the pools, profiles and headroom of a release, YYYYMM, where its branch has others."""
        facts = self.facts_of(release)
        if facts is None or not (facts.headroom or facts.buffers):
            return self
        return self._at.setdefault(
            facts.releases,
            replace(
                self,
                headroom=facts.headroom or self.headroom,
                buffers=facts.buffers or self.buffers,
                sources={**self.sources, **facts.sources},
                by_release=tuple(one for one in self.by_release if one.lacks),
            ),
        )

    def facts_of(self, release: int) -> ReleaseFacts | None:
        """What the branch of a release has otherwise; None if nothing."""
        branch = branch_of(release)
        return next((one for one in self.by_release if branch in one.releases), None)

    @cached_property
    def _at(self) -> dict[tuple[int, ...], "Layout"]:
        return {}

    @cached_property
    def fabric_ports(self) -> tuple[PlatformPort, ...]:
        """The ports that count as radix, in front-panel order."""
        return tuple(port for port in self.ports if port.kind == "fabric")

    @cached_property
    def port_by_name(self) -> Mapping[str, PlatformPort]:
        """EthernetN -> port."""
        return {port.name: port for port in self.ports}

    @cached_property
    def breakout_modes(self) -> Mapping[str, str]:
        """Cage -> its mode, as in BREAKOUT_CFG; cages whose mode no source states are left out."""
        return {port.parent: port.breakout_mode for port in self.ports if port.breakout_mode}

    @cached_property
    def port_numbers(self) -> Mapping[str, int]:
        """Fabric port -> its number as a subnet manager counts: an InfiniBand port's name, else its place from 1."""
        ports = enumerate(self.fabric_ports, 1)
        return {port.name: whole_number(port.name) or place for place, port in ports}

    @cached_property
    def speeds_mbps(self) -> tuple[int, ...]:
        """The speeds of the fabric ports, fastest first."""
        return tuple(sorted({port.speed_mbps for port in self.fabric_ports}, reverse=True))

    @property
    def speed_mbps(self) -> int:
        """The fastest of them: what the inventory's `speed` selects a layout by first."""
        return self.speeds_mbps[0]

    def ports_at(self, speed_mbps: int) -> tuple[PlatformPort, ...]:
        """The fabric ports of one speed, in front-panel order."""
        return self._ports_by_speed.get(speed_mbps, ())

    @cached_property
    def _ports_by_speed(self) -> Mapping[int, tuple[PlatformPort, ...]]:
        return {
            speed: tuple(port for port in self.fabric_ports if port.speed_mbps == speed) for speed in self.speeds_mbps
        }

    @cached_property
    def headroom_by_key(self) -> Mapping[tuple[int, int], HeadroomRow]:
        """(speed_mbps, cable_m) -> row."""
        return {(row.speed_mbps, row.cable_m): row for row in self.headroom}


@dataclass(frozen=True)
class PowerDraw:
    """What a switch draws, in watts, by its data sheet; None for an unknown figure."""

    typical: int | None
    maximum: int | None


@dataclass(frozen=True, kw_only=True)
class SwitchPlatform:
    """One switch model with all its layouts."""

    name: str
    vendor: str
    technology: Technology = Technology.ETHERNET  # any: a switch that is not a product
    asic: str | None  # None where an imported folder does not state it
    asic_vendor: str | None  # broadcom | nvidia | marvell | …: what SONiC's templates and Lua files branch on
    onie_platform: str = ""  # of an Ethernet switch only, as are the three below
    buffer_model: str = ""  # traditional | dynamic
    mmu_bytes: int | None = None  # None where no public source states it
    cell_bytes: int | None = None
    acl_tables: int | None = None  # of ingress that can be bound to ports, and the rules of all of them together; None
    acl_rules: int | None = None  # where no public source states it
    power_watts: PowerDraw | None = None  # None where no public source states it
    rack_units: int | None = None  # None where no public source states it
    capabilities: Mapping[
        str, tuple[str, ...]
    ]  # watchdog_actions, pfc_to_pg_map, ecmp_hash_fields; InfiniBand: managed
    layouts: tuple[Layout, ...]
    sources: Mapping[str, str]
    cages: tuple[Cage, ...] = ()  # () where platform.json lists none: only the modes of the layouts are known
    file: str = field(default="", compare=False)  # catalog file, for explanations

    @property
    def is_product(self) -> bool:
        """Whether such a switch exists; the generic ones are radices to count with."""
        return self.vendor != "generic"

    def at(self, release: int) -> "SwitchPlatform":
        """The platform with the facts of a release in its layouts."""
        if release not in self._at:
            layouts = tuple(layout.at(release) for layout in self.layouts)
            self._at[release] = self if layouts == self.layouts else replace(self, layouts=layouts)
        return self._at[release]

    @cached_property
    def _at(self) -> dict[int, "SwitchPlatform"]:
        return {}

    def layout_for(self, speeds: Collection[int]) -> Layout | None:
        """The first layout with fabric ports of these speeds (Mb/s) and none faster; else the first that has them."""
        having = [layout for layout in self.layouts if all(layout.ports_at(speed) for speed in speeds)]
        return next((layout for layout in having if layout.speed_mbps == max(speeds)), having[0] if having else None)

    def serves(self, technology: Technology) -> bool:
        """Whether it is a switch for such a network: ethernet | infiniband."""
        return self.technology in (technology, Technology.ANY)


@dataclass(frozen=True, slots=True)
class Reordering:
    """What a NIC does with RoCE packets that arrive out of order. `needs` is what a host must set for it at each boot.
    A source that begins with "assumed" states that no public source was found: then it is go-back-N."""

    recovery: Recovery
    source: str
    needs: str = ""

    @property
    def is_assumed(self) -> bool:
        """Whether no public source states it."""
        return self.source.startswith("assumed")


@dataclass(frozen=True, slots=True)
class NicModel:
    """One NIC model."""

    name: str
    vendor: str
    ethernet_speeds_mbps: tuple[int, ...]
    ports: int | None  # at most; None if no public source states it
    lossless_priorities: int | None  # that may be lossless at the same time; None where no public source states it
    sources: Mapping[str, str]
    infiniband_speeds_mbps: tuple[int, ...] = ()
    ports_per_cage: int = 1  # ports that one cable serves
    driver: str = ""  # of Linux; "" where no interface of it is set up from files of the bundle
    reordering: Reordering | None = None  # None where no file states it, and for an adapter without RDMA
    pci_id: str = ""  # vendor:device, "" where no public source that was read states it
    lanes: int | None = None  # of a port; None where no public source states it
    lane_mbps: int | None = None  # the fastest that its lanes run

    def speeds_of(self, technology: Technology) -> tuple[int, ...]:
        """The speeds of its ports in a technology; none if it does not support it."""
        return self.infiniband_speeds_mbps if technology == Technology.INFINIBAND else self.ethernet_speeds_mbps

    @property
    def speeds_mbps(self) -> tuple[int, ...]:
        """The speeds of its ports in either technology, slowest first."""
        return tuple(sorted({*self.ethernet_speeds_mbps, *self.infiniband_speeds_mbps}))


@dataclass(frozen=True, slots=True)
class HostNic:
    """One NIC port of a host, as its fabric sees it."""

    name: str
    model: str  # a NicModel's name
    pci: str  # "" where it differs by machine
    ports: int
    speed_mbps: int
    rail: int | None  # None for a NIC that is on no rail (storage, management)
    plane: str  # compute | storage | management | out-of-band: the network it is built for
    gpu: int | None
    rdma: str = ""  # RDMA device as the vendor's own system image names it, e.g. mlx5_3
    port: int = 0  # of the NIC's cage, from 0: a NIC of two planes has port 0 on one and port 1 on the other


@dataclass(frozen=True)
class HostModel:
    """One host model: its GPUs and NICs. A host is what one operating system runs on, in a rack-scale system a tray."""

    name: str
    vendor: str
    gpus: int
    nvlink_domain: int  # GPUs that share NVLink, or the maker's equal of it; more than `gpus` where it spans hosts
    nics: tuple[HostNic, ...]
    sources: Mapping[str, str]
    cages: tuple[tuple[str, ...], ...] = ()  # NICs of one port that share a twin-port cage, by name

    @cached_property
    def cage_by_nic(self) -> Mapping[str, str]:
        """NIC -> its cage, named after the first of its NICs; only NICs of shared cages."""
        return {nic: cage[0] for cage in self.cages for nic in cage}

    @cached_property
    def nic_by_name(self) -> Mapping[str, HostNic]:
        """Name -> NIC."""
        return {nic.name: nic for nic in self.nics}

    @property
    def hosts_per_domain(self) -> int:
        """How many hosts share one NVLink domain: the trays of a rack-scale system, else 1."""
        return max(1, self.nvlink_domain // self.gpus) if self.gpus else 1
