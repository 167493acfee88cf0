"""What templates may use. These classes are the public interface of the templates: `docs/templates.md`.

Beside these, `plan` is the `LosslessPlan` of the switch. Slots are printed only; everything else may be tested, too.
All texts are CONFIG_DB texts already.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.lossless.plan import PortBuffers
from fabricgen.origin import Value
from fabricgen.render.context import Context
from fabricgen.render.forms import Slot
from fabricgen.sonic.release_models import absence


@dataclass(frozen=True, eq=False)
class SwitchContext(Context):
    """`switch`: one switch. The lists have an entry for each address family."""

    hostname: Slot
    asn: Slot | None  # None where the plane runs no BGP
    router_id: Slot | None  # set where BGP is unnumbered: the management framework takes nothing from Loopback0
    unnumbered: bool
    loopbacks: tuple["Prefix", ...]
    aggregates: tuple["Prefix", ...]  # host prefixes to announce
    discards: tuple["DiscardRoute", ...]
    statics: tuple["StaticRouteContext", ...]
    management: tuple["ManagementAddress", ...]
    mac: Slot | None  # None where the inventory has none: the switch uses its own
    type: Value
    hwsku: Value
    platform: Value
    buffer_model: Value
    ecmp_hash: tuple[Value, ...]  # empty unless the platform's entry says that the hash can be set
    weighted: Value | None  # wcmp_enabled; None for plain ECMP
    drained: Value | None  # None in service
    vtep: bool  # whether it sends and receives VXLAN packets, from the address of its router_id
    groups: tuple["SessionContext", ...]  # of its sessions with switches
    restart: Mapping[str, Value]  # fields of BGP_GLOBALS for graceful restart


@dataclass(frozen=True, eq=False)
class SessionContext(Context):
    """The sessions of a tier with the tier below: their peer group with unnumbered BGP."""

    name: str
    session: Mapping[str, Value]  # fields of each session, or of the peer group
    password: Value | None
    limits: Mapping[str, Value]  # fields of each family


@dataclass(frozen=True, eq=False)
class Prefix(Context):
    """An address with its length, or a prefix. `family` is SONiC's word: ipv4_unicast or ipv6_unicast."""

    text: Slot
    family: str


@dataclass(frozen=True, eq=False)
class DiscardRoute(Context):
    """A host pool. Packets without a longer route are dropped, so that none follows a default route."""

    prefix: Value


@dataclass(frozen=True, eq=False)
class StaticRouteContext(Context):
    """A static route. `next_hops`, `ports` and `advertise` are lists of one length, separated by commas, as
    frrcfgd and bgpcfgd expect."""

    prefix: Value
    family: str
    next_hops: Value
    ports: Value
    advertise: Value


@dataclass(frozen=True, eq=False)
class ManagementAddress(Context):
    """An address of eth0 and the gateway of its family."""

    address: Slot
    gateway: Value | None


@dataclass(frozen=True, eq=False)
class ManagementContext(Context):
    """`management`: the management network; None as a whole where the inventory has none."""

    vrf: bool
    ntp: tuple[Value, ...]
    ntp_key: "NtpKeyContext | None"
    syslog: tuple["SyslogContext", ...]
    dns: tuple[Value, ...]
    community: Value | None
    location: Value | None
    contact: Value | None
    allow: tuple["AllowedSource", ...]  # prefixes that may reach SSH, SNMP and gNMI; empty: all
    tacacs: tuple[Value, ...]
    tacacs_key: Value | None
    tacacs_timeout: Value | None
    authorization: Value | None  # login of AAA|authorization and of AAA|accounting; None where no row is needed
    accounting: Value | None
    radius: tuple[Value, ...]
    radius_fields: Mapping[str, Value]  # of RADIUS|global
    snmp_users: tuple["SnmpUserContext", ...]
    timezone: Value | None
    banner: Mapping[str, Value]  # fields of BANNER_MESSAGE|global, as those below; empty: the image's own
    ssh: Mapping[str, Value]  # of SSH_SERVER|POLICIES
    passwords: Mapping[str, Value]  # of PASSW_HARDENING|POLICIES
    kdump: Mapping[str, Value]  # of KDUMP|config
    sflow: Mapping[str, Value]  # of SFLOW|global
    collectors: tuple[Value, ...]
    collector_port: Value | None
    gnmi_port: Value | None
    gnmi_certificates: "CertificateFiles | None"


@dataclass(frozen=True, eq=False)
class SyslogContext(Context):
    """A syslog server; `fields` are port, protocol and severity where they are given."""

    server: Value
    fields: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class NtpKeyContext(Context):
    """The key of the NTP servers."""

    id: Value
    type: Value
    value: Value


@dataclass(frozen=True, eq=False)
class SnmpUserContext(Context):
    """A user of SNMPv3; `fields` are those of its row."""

    name: Value
    fields: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class CertificateFiles(Context):
    """Files on the switch that the gNMI server reads."""

    server_crt: Value
    server_key: Value
    ca_crt: Value | None


@dataclass(frozen=True, eq=False)
class AllowedSource(Context):
    """A prefix that may reach the switch, and the field of an ACL rule that matches its family."""

    prefix: Value
    field: str


@dataclass(frozen=True, eq=False)
class PortContext(Context):
    """`port`: one port of the layout, with a link or without."""

    name: Slot
    lanes: Slot
    alias: Slot
    index: Slot
    subport: Slot
    parent: Slot
    description: Slot | None  # None without a link
    speed: Value
    fec: Value | None
    mtu: Value
    admin_status: Value
    breakout_mode: Value | None
    link_training: Value | None  # on | off, where the cable has the setting


@dataclass(frozen=True, eq=False)
class LinkContext(Context):
    """`link`: the link of a port."""

    peer: Slot
    peer_port: Slot
    peer_type: Value
    peer_hwsku: Slot | None  # None for a host
    routed: bool  # False for a port in a VLAN or a port channel
    unnumbered: bool  # the session runs between the interfaces, without addresses
    group: "SessionContext"
    addresses: tuple["LinkAddress", ...]
    buffers: PortBuffers


@dataclass(frozen=True, eq=False)
class LinkAddress(Context):
    """One address family of a link; `asn` is None where no session runs."""

    local: Slot
    length: Value
    peer: Slot
    asn: Slot | None


@dataclass(frozen=True, eq=False)
class VlanContext(Context):
    """`vlan`: a VLAN of hosts on a switch. `members` are the untagged ports and port channels, `tagged` the others."""

    name: Value
    number: Value
    mtu: Value
    is_listed: bool  # whether BGP announces only the prefixes that are listed: with the management framework
    gateways: tuple["Gateway", ...]
    members: tuple[Value, ...]
    tagged: tuple[Value, ...]
    channels: tuple["ChannelContext", ...]
    dhcp_servers: tuple[Value, ...]  # IPv4 addresses; empty: the switch relays nothing


@dataclass(frozen=True, eq=False)
class Gateway(Context):
    """An address of the switch in a VLAN with its length, and the subnet. `family` as that of `Prefix`."""

    address: Slot
    subnet: Slot
    family: str


@dataclass(frozen=True, eq=False)
class ChannelContext(Context):
    """A port channel with its ports, one of `channels` of a VLAN, or `bond` in bond.json.j2: then it has addresses.
    `fallback` is None where all of its ports need LACP."""

    name: Value
    ports: tuple[Value, ...]
    fallback: Value | None
    mtu: Value
    addresses: tuple[Slot, ...]


@dataclass(frozen=True, eq=False)
class PairContext(Context):
    """`pair`: a leaf of a pair (MCLAG). `channel` with its `ports` is the peer link, which is in all `vlans`. `bonds`
    are the port channels that both leaves have."""

    domain: Value
    source: Slot
    peer: Slot
    channel: Value
    ports: tuple[Value, ...]
    mtu: Value
    vlans: tuple[Value, ...]
    bonds: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class HostSessionsContext(Context):
    """`sessions`: the sessions of a leaf with hosts, which open them. `policies` are what it accepts in each family;
    they are empty with numbered BGP, where bgpcfgd accepts all. It announces nothing to hosts."""

    name: Value
    asn: Value
    ranges: tuple["Prefix", ...]  # the subnets that sessions are accepted from
    source: Slot  # the address of Loopback0
    numbered: bool
    policies: tuple["Policy", ...]
    limits: Mapping[str, Value]  # fields of each family
    timers: Mapping[str, Value]
    most: Value | None  # sessions at the same time; None: the default of FRR


@dataclass(frozen=True, eq=False)
class OutsideContext(Context):
    """`link` in outside.json.j2: a router or another device that is not configured here."""

    peer: Value
    peer_port: Value
    peer_type: Value
    sessions: tuple["OutsideSession", ...]

    @property
    def policies(self) -> tuple["Policy", ...]:
        """Those of all sessions."""
        return tuple(policy for session in self.sessions for policy in session.policies)


@dataclass(frozen=True, eq=False)
class OutsideSession(Context):
    """One address family of such a link. `asn` is None where no session runs; `policies` is empty with
    numbered BGP: bgpcfgd has no policies for a single neighbour."""

    local: Value
    length: Value
    peer: Value
    asn: Value | None
    family: str
    policies: tuple["Policy", ...]


@dataclass(frozen=True, eq=False)
class Policy(Context):
    """Which prefixes pass. `field` is that of BGP_NEIGHBOR_AF, `mode` is SONiC's word for the family: IPv4 or IPv6."""

    name: Value
    field: str
    mode: str
    refused: tuple["PrefixRange", ...]
    permitted: tuple["PrefixRange", ...]


@dataclass(frozen=True, eq=False)
class PrefixRange(Context):
    """A prefix, and the prefix lengths that it matches: `exact` or a range such as `10..32`."""

    prefix: Value
    lengths: str


@dataclass(frozen=True, eq=False)
class TenantContext(Context):
    """`tenant`: the ACL table of one tenant and address family on a switch. `type` is L3 or L3V6, and `field` that of
    its rules with the address that a packet goes to."""

    table: Value
    description: Value
    type: str
    field: str
    ports: tuple[Value, ...]
    permitted: tuple[Value, ...]  # the subnets of the tenant, and of those that it exchanges packets with
    refused: tuple[Value, ...]  # the pools of all hosts of the plane


@dataclass(frozen=True, eq=False)
class LeakedRouteContext(Context):
    """A route of a VRF to the subnet of a host in the VRF `vrf` of the same switch."""

    prefix: Value
    next_hop: Value
    port: Value
    vrf: Value


@dataclass(frozen=True, eq=False)
class VrfContext(Context):
    """`vrf`: the VRF of one tenant on a switch. `vni`, `vlan`, `asn` and `router_id` are `None` where the VRF ends at
    the switch. `families` are `ipv4` and `ipv6`, of which its hosts have addresses."""

    name: Value
    vni: Value | None
    vlan: Value | None
    asn: Slot | None
    router_id: Slot | None
    families: tuple[str, ...]
    ports: tuple[Value, ...]
    leaks: tuple[LeakedRouteContext, ...]


@dataclass(frozen=True, eq=False)
class LocatorContext(Context):
    """A locator of a switch, its address, and its SID uN."""

    name: Slot
    prefix: Slot
    sid: Slot


@dataclass(frozen=True, eq=False)
class UsidRouteContext(Context):
    """The static route of a uSID, over one link."""

    prefix: Slot
    next_hop: Slot
    port: Slot


@dataclass(frozen=True, eq=False)
class Srv6Context(Context):
    """`srv6`: the uSIDs of a switch, and its routes to those of its neighbors and to hosts. `counters` is the status of
    the counters of SIDs."""

    locators: tuple[LocatorContext, ...]
    routes: tuple[UsidRouteContext, ...]
    decap_dscp_mode: Value
    counters: Value


@dataclass(frozen=True, eq=False)
class PlaneContext(Context):
    """`plane`: what all switches and ports of a plane have in common."""

    session: Mapping[str, Value]  # fields of every BGP session, as far as no tier has its own
    evpn: bool  # whether sessions of the fabric carry EVPN routes


@dataclass(frozen=True, eq=False)
class SonicContext(Context):
    """`sonic`: the target."""

    release: int

    def has(self, table: str, key: str = "") -> bool:
        """Whether the target release has a table or row, and its service."""
        return not absence(self.release, table, key)
