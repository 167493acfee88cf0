"""A whole inventory, typed and immutable: hosts, planes, management, devices, overrides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fabricgen.bundle.wiring import Checks
from fabricgen.inventory.buffers import BuffersSpec
from fabricgen.inventory.nodes import SecretReference
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane, PoolSpec
from fabricgen.inventory.readings import Reading
from fabricgen.suppressions import Suppression
from fabricgen.vocabulary import DeviceState, LinkState


@dataclass(frozen=True)
class HostGroup(Part):
    """A group of equal hosts."""

    name: str
    model: str
    count: int


class MadeNic(NamedTuple):
    """One NIC port of a host. A text that is not given is empty."""

    name: str
    rail: int | None
    port: int
    gpu: int | None
    pci: str
    rdma: str


@dataclass(frozen=True)
class OwnNic(Part):
    """One row of a host model in the inventory, and the NIC ports that it defines."""

    model: str
    speed_mbps: int
    plane: str
    made: tuple[MadeNic, ...]


@dataclass(frozen=True)
class OwnHostModel(Part):
    """A host model in the inventory. A model that is not `sound` has findings, and no host can use it."""

    name: str
    vendor: str
    gpus: int
    nvlink_domain: int
    nics: tuple[OwnNic, ...]
    sound: bool = True


@dataclass(frozen=True)
class Snmp(Part):
    """SNMP read access."""

    community: SecretReference | None
    location: str | None
    contact: str | None


@dataclass(frozen=True)
class Tacacs(Part):
    """TACACS+ servers, the first choice first."""

    servers: tuple[str, ...]
    key: SecretReference | None


@dataclass(frozen=True)
class Gnmi(Part):
    """The gNMI server of a switch."""

    port: int
    certificates: "Certificates | None"  # None: the server has no TLS


@dataclass(frozen=True)
class Certificates(Part):
    """Files on a switch: the certificate of a server and its key, and the CA of the clients if they need one."""

    server_crt: str
    server_key: str
    ca_crt: str | None


@dataclass(frozen=True)
class Management(Part):
    """The management network of the switches."""

    addresses: PoolSpec
    gateways: tuple[str, ...]  # one for each family of the addresses
    vrf: bool
    ntp: tuple[str, ...]
    syslog: tuple[str, ...]
    dns: tuple[str, ...]
    snmp: Snmp | None
    allow: tuple[str, ...]  # prefixes that may reach SSH, SNMP and gNMI; empty: all
    tacacs: Tacacs | None
    gnmi: Gnmi | None


@dataclass(frozen=True)
class DeviceNote(Part):
    """The facts of one switch that no plan can derive."""

    name: str
    identity: str | None = None
    rack: str = ""
    unit: str = ""
    serial: str = ""
    mac: str = ""
    management: str | None = None
    state: DeviceState = DeviceState.ACTIVE
    guid: str = ""  # node GUID of an InfiniBand switch, as written
    ports: Mapping[str, str] = field(default_factory=dict)  # cages such as 1-32 -> breakout mode


@dataclass(frozen=True)
class LinkNote(Part):
    """The state of one link by its ends, each device:port, or of all links of a cable. Exactly one of both is given."""

    ends: tuple[str, ...]
    cable: str | None
    state: LinkState


@dataclass(frozen=True)
class AdapterNote(Part):
    """The GUIDs of one NIC port of a host, as written."""

    host: str
    nic: str
    node_guid: str
    port_guid: str


@dataclass(frozen=True)
class Override(Part):
    """Rows to merge into the rendered tables of matching switches."""

    match: Mapping[str, object]
    config_db: Mapping[str, object]


@dataclass(frozen=True)
class SonicTarget(Part):
    """The SONiC release of the switches, and the tables that fabricgen owns (empty: all that it renders)."""

    release: int
    base: str | None
    owned_tables: tuple[str, ...]


@dataclass(frozen=True)
class Inventory(Part):
    """A whole inventory. `digest` covers its content, but not its layout and comments."""

    fabric: str
    sonic: SonicTarget
    platform_files: tuple[str, ...]
    host_models: Mapping[str, OwnHostModel]
    hosts: Mapping[str, HostGroup]
    planes: Mapping[str, Plane]
    management: Management | None
    names: Mapping[str, str]
    devices: tuple[DeviceNote, ...]
    guids: tuple[AdapterNote, ...]
    overrides: tuple[Override, ...]
    digest: str
    suppressions: tuple[Suppression, ...] = ()
    readings: Mapping[str, tuple[Reading, ...]] = field(default_factory=dict)  # by plane
    buffers: Mapping[str, BuffersSpec] = field(default_factory=dict)  # by hwsku
    checks: Checks = field(default_factory=Checks)
    links: tuple[LinkNote, ...] = ()

    @property
    def pools(self) -> list[tuple[str, PoolSpec]]:
        """(purpose, pool) of all address pools."""
        pools = [
            (f"{name} of plane {plane.name}", pool)
            for plane in self.planes.values()
            if plane.addressing
            for name, pool in plane.addressing.pools.items()
        ]
        return [*pools, *([("management", self.management.addresses)] if self.management else [])]
