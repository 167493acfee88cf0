"""`Fabric`: the devices and links to build. Devices have identities here; allocation adds names and addresses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fabricgen.design.cables import Cable, cables_of
from fabricgen.inventory.access import MclagSpec, PortAccess
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import CableSpec
from fabricgen.platforms import catalog
from fabricgen.platforms.model import HostModel, HostNic, Layout, SwitchPlatform
from fabricgen.sonic.device_types import buffer_role
from fabricgen.sonic.tables import vlan_name
from fabricgen.vocabulary import LinkKind, Role

ROLES = (Role.LEAF, Role.SPINE, Role.CORE)


@dataclass(frozen=True, slots=True)
class Identity:
    """The position of a switch in its design, independent of its name and of the size of the fabric.

    `label` replaces the numbers in an explicit design.
    """

    plane: str
    role: Role
    number: int = 0
    pod: int | None = None
    su: int | None = None
    rail: int | None = None
    subplane: int | None = None  # of several copies that share no switch; each NIC has a port in every copy
    label: str | None = None

    def __str__(self) -> str:
        if self.label is not None:
            return f"{self.plane}/{self.role}/{self.label}"
        fields = {"sub": self.subplane, "pod": self.pod, "su": self.su, "rail": self.rail}
        parts = [f"{name}{value}" for name, value in fields.items() if value is not None]
        return "/".join([self.plane, *parts, f"{self.role}{self.number}"])


@dataclass(frozen=True, eq=False)
class Switch:
    """One switch. `asn_owner` is the owner of its ASN: itself, or a tier that shares one (RFC 7938)."""

    identity: Identity
    platform: SwitchPlatform
    layout: Layout
    device_type: str  # DEVICE_METADATA type
    asn_owner: str
    spec: Part = field(repr=False)

    @property
    def role(self) -> Role:
        """Leaf, spine or core."""
        return self.identity.role

    @property
    def buffer_role(self) -> str:
        """The role whose buffers of the SKU it has: SONiC selects them by the type."""
        return buffer_role(self.device_type, self.role)

    @cached_property
    def key(self) -> str:
        """The identity as text."""
        return str(self.identity)

    def cage(self, port: str) -> str:
        """The cage of a port, which holds one transceiver or one plug of copper."""
        return str(self.layout.port_by_name[port].index)

    def connector(self, port: str) -> str:
        """The connector of fibres at a port: a cage has one, a twin-port cage two."""
        return self.layout.port_by_name[port].parent


@dataclass(frozen=True, eq=False)
class Host:
    """One host of a group; `number` counts from 0 within the group."""

    group: str
    number: int
    model: HostModel

    @cached_property
    def key(self) -> str:
        """The identity as text."""
        return f"{self.group}/{self.number}"

    def cage(self, port: str) -> str:
        """The cage of a NIC port, which NICs of a twin-port cage share, and the ports of a NIC with one cage."""
        return catalog.nic_cage(self.model, port)

    def connector(self, port: str) -> str:
        """The end of a cable at a NIC port. The ports of a NIC with one cage share a breakout cable."""
        return catalog.nic_connector(self.model, port)


@dataclass(frozen=True, slots=True)
class PeerLink:
    """A link between the two leaves of a pair (MCLAG), without an address. It is in port channel `channel` of both."""

    channel: str
    spec: MclagSpec = field(repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """A range of point-to-point subnets that are allocated together: a leaf's host ports, a switch's uplinks. That of a
    `tenant` with its own addresses is allocated from them."""

    key: str
    plane: str
    pool: str  # links | hosts | none: without addresses
    slots: int
    owner: str  # identity of the switch it belongs to
    tenant: str = ""
    is_shared: bool = False  # one subnet with an address for each slot: that of a VLAN


@dataclass(frozen=True, slots=True)
class TaggedVlan:
    """A VLAN of a host port whose frames have a tag. The address of the host is that of its slot in `block`."""

    number: int
    block: Block


@dataclass(frozen=True, slots=True)
class HostAccess:
    """How the port of a host is connected, other than by a routed link. `vlan` is the native VLAN, `None` for a routed
    bond. `bond` is the name of the bond on the host, and `channel` that of the port channel of its switch; both are ""
    for a port by itself. `slot` is that of the first port of the bond, whose addresses the bond has. A bond `is_dual`
    if it ends at both leaves of a pair."""

    vlan: int | None
    slot: int
    spec: PortAccess = field(repr=False)
    bond: str = ""
    channel: str = ""
    tagged: tuple[TaggedVlan, ...] = ()
    is_dual: bool = False

    @property
    def interface(self) -> str:
        """The interface of the switch that has its address, as SONiC names it."""
        return self.channel if self.vlan is None else vlan_name(self.vlan)


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A logical link; `a` is the lower end. Its subnet is slot `slot` of `block`."""

    key: str
    plane: str
    kind: LinkKind  # host-leaf | leaf-spine | spine-core | peer | global
    a: "Switch | Host"
    a_port: str
    b: Switch
    b_port: str
    speed_mbps: int
    cable: CableSpec
    block: Block
    slot: int
    rail: int | None = None
    nic: HostNic | None = None
    access: HostAccess | None = None  # of a link to a host; None: routed
    peer_link: PeerLink | None = None  # of a link between switches; None: routed

    @property
    def is_routed(self) -> bool:
        """Whether its ports have addresses, or a session without them."""
        return self.access is None and self.peer_link is None

    @property
    def pool_is_links(self) -> bool:
        """Whether its addresses are of the pool for links between switches."""
        return self.block.pool == "links"

    @property
    def vlan(self) -> int | None:
        """The native VLAN of a host port; None for a link whose two ends have a subnet."""
        return self.access.vlan if self.access else None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Its own block, and those of the tagged VLANs of a host."""
        return (self.block, *(one.block for one in self.access.tagged)) if self.access else (self.block,)


@dataclass(frozen=True)
class PlaneDesign:
    """A plane as laid out. `planned` counts the switches of the full layout, by role; `units` has each group's units.

    `bisection_gbps` is the bandwidth from one half of the hosts to the other; None: the tiers determine it.
    """

    plane: Plane
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]
    hosts: tuple[Host, ...]
    planned: Mapping[Role, int]
    units: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    bisection_gbps: int | None = None


@dataclass(frozen=True)
class Fabric:
    """All planes of an inventory."""

    inventory: Inventory
    planes: tuple[PlaneDesign, ...]

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """All switches, plane by plane."""
        return tuple(switch for plane in self.planes for switch in plane.switches)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All links, plane by plane."""
        return tuple(link for plane in self.planes for link in plane.links)

    @cached_property
    def hosts(self) -> tuple[Host, ...]:
        """All hosts of all planes, once each."""
        return tuple({host.key: host for plane in self.planes for host in plane.hosts}.values())

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All address blocks that links use."""
        return tuple({block.key: block for link in self.links for block in link.blocks}.values())

    @cached_property
    def cables(self) -> tuple[Cable, ...]:
        """All cables, in the order of their first links."""
        return cables_of(self.links)
