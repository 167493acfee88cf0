"""The BGP configuration that the SONiC image derives from a config_db: neighbors, announced and accepted routes.

The image adds settings that no configuration file contains. Each of them has a comment with its source file in
sonic-buildimage @086b03bd70f9. `speaker` covers the default mode (bgpcfgd). With frr_mgmt_framework_config "true" the
rows have another meaning; `fabricgen.sonic.frr_framework` reads them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from fabricgen.sonic.addresses import Address, parse_address, read_address
from fabricgen.sonic.tables import ConfigDb, Row

# files/build_templates/constants.yml.j2: bgp.maximum_paths 514 for both families, bgp.multipath_relax enabled; no
# config_db field changes either in the default mode. FRR is built with --enable-multipath=514, the limit elsewhere.
MAXIMUM_PATHS = 514
MULTIPATH_RELAX = True

INTERFACE_TABLES = (
    "INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE", "VLAN_SUB_INTERFACE",
)  # fmt: skip


class InterfaceAddress(NamedTuple):
    """One prefix row of an interface table: the address with full length, and its subnet. `bound` is whether the
    interface has its base row, which it needs."""

    table: str
    key: str
    interface: str
    host: Address
    network: Address
    bound: bool
    vrf: str = ""


class Announcement(NamedTuple):
    """A prefix that the switch originates, and the (table, key) of the row that causes it."""

    prefix: str
    row: tuple[str, str]
    loopback: bool = False


class Terms(NamedTuple):
    """What a switch accepts from a neighbor and sends to it; the same for most of its neighbors.

    `allowas_in` is how often a path may contain its own ASN. `accepts` and `sends` are the address families (4, 6) of
    inbound and outbound routes. `defaults` are the families whose default route is accepted, `unfiltered` those whose
    routes are all accepted. `inbound` has the route maps of the other families; none in the default mode.
    """

    allowas_in: int
    accepts: frozenset[int]
    sends: frozenset[int]
    defaults: frozenset[int]
    unfiltered: frozenset[int]
    inbound: tuple[tuple[int, tuple[str, ...]], ...] = ()


class Neighbor(NamedTuple):
    """One BGP_NEIGHBOR row of the default VRF, in either mode.

    `peer` is None when the key is a port (`interface`, unnumbered) or not valid. `asn` is None for "external".
    `obstacle` is why the session cannot be established, from this file only; "" when nothing prevents it.
    """

    key: str
    peer: Address | None
    interface: str
    asn: int | None
    terms: Terms
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Speaker:
    """A switch as a BGP speaker. `asn` is None when the image does not start BGP. `isolated` is TSA: the switch
    announces only its loopbacks, and still receives routes and forwards packets."""

    asn: int | None
    router_id: str
    neighbors: tuple[Neighbor, ...]
    announcements: tuple[Announcement, ...]
    addresses: tuple[InterfaceAddress, ...]
    multipath_relax: bool = MULTIPATH_RELAX
    maximum_paths: int = MAXIMUM_PATHS
    isolated: bool = False
    discards: tuple[Address, ...] = ()  # the switch drops packets to these prefixes unless a longer one is known


def rows(config: ConfigDb, table: str) -> Mapping[str, Row]:
    """The rows of a table. Values that are not rows are left out; the schema check reports them."""
    found = config.get(table)
    return {key: row for key, row in found.items() if isinstance(row, dict)} if isinstance(found, dict) else {}


def text(row: Row, field: str) -> str:
    """The text of a field, "" when it is missing. A JSON number is converted to its digits, as sonic-cfggen does."""
    value: object = row.get(field, "")
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def metadata(config: ConfigDb) -> Row:
    """DEVICE_METADATA|localhost; empty when it is missing."""
    return rows(config, "DEVICE_METADATA").get("localhost", {})


def uses_frr_framework(config: ConfigDb) -> bool:
    """Whether frrcfgd runs in place of bgpcfgd (docker-fpm-frr/frr/supervisord/supervisord.conf.common.j2)."""
    return text(metadata(config), "frr_mgmt_framework_config") == "true"


@lru_cache(maxsize=1 << 16)
def parse_asn(value: str) -> int | None:
    """An AS number; None for other texts ("none" and "null" disable BGP: bgpd.main.conf.j2)."""
    return int(value) if value.isdecimal() and 0 < int(value) < 1 << 32 else None


def interface_addresses(config: ConfigDb) -> tuple[InterfaceAddress, ...]:
    """The addresses of all interface tables."""
    found = []
    for table in INTERFACE_TABLES:
        table_rows = rows(config, table)
        for key in table_rows:
            interface, separator, prefix = key.partition("|")
            address = read_address(prefix.partition("|")[0]) if separator else None
            if address is not None:
                base = table_rows.get(interface)
                vrf = (text(base, "vrf_name") or text(base, "vnet_name")) if base else ""
                bound = base is not None
                found.append(InterfaceAddress(table, key, interface, address.host, address.network, bound, vrf))
    return tuple(found)


def allowas_in(config: ConfigDb) -> int:
    """How often an accepted path may contain the switch's own ASN.

    dockers/docker-fpm-frr/frr/bgpd/templates/general/peer-group.conf.j2: 1 on a ToRRouter always, 1 on a LeafRouter
    when BGP_BBR|all.status is enabled (constants.yml.j2: default_state disabled), else 0.
    """
    kind = text(metadata(config), "type")
    bbr = text(rows(config, "BGP_BBR").get("all", {}), "status") == "enabled"
    return int(kind == "ToRRouter" or (kind == "LeafRouter" and bbr))


def announcements(config: ConfigDb, addresses: tuple[InterfaceAddress, ...]) -> Iterator[Announcement]:
    """The prefixes that the default mode announces (bgpd.main.conf.j2 and bgpcfgd/managers_static_rt.py).

    The first Loopback0 IPv4 as /32, the first IPv6 as its /64 unless bgp_adv_lo_prefix_as_128 is "true"; every
    VLAN_INTERFACE prefix outside a VNET; STATIC_ROUTE rows of the default VRF unless advertise is "false". No
    `redistribute connected` on a fixed switch, so prefixes of INTERFACE and PORTCHANNEL_INTERFACE are never announced.
    """
    long_v6 = text(metadata(config), "bgp_adv_lo_prefix_as_128") == "true"
    families = set()
    for entry in addresses:
        if entry.interface == "Loopback0" and (version := entry.host.version) not in families:
            families.add(version)
            length = 32 if version == 4 else 128 if long_v6 else 64
            yield Announcement(str(entry.host.widened(length)), (entry.table, entry.key), loopback=True)
        elif entry.table == "VLAN_INTERFACE" and not entry.vrf:
            yield Announcement(str(entry.network), (entry.table, entry.key))
    yield from static_routes(config)


def static_routes(config: ConfigDb) -> Iterator[Announcement]:
    """The STATIC_ROUTE rows that are redistributed. Routes with BFD, which staticroutebfd installs, count as up."""
    for key, row in rows(config, "STATIC_ROUTE").items():
        vrf, prefix = key.split("|", 1) if "|" in key else ("default", key)
        route = parse_address(prefix)
        if vrf == "default" and route is not None and text(row, "advertise") != "false":
            yield Announcement(str(route.network), ("STATIC_ROUTE", key))


def discards(config: ConfigDb) -> tuple[Address, ...]:
    """The prefixes of blackhole routes of the default VRF, announced or not. Their packets are dropped, even if a
    shorter prefix has a route. The administrative distance to a BGP route for the same prefix is not considered."""
    found = []
    for key, row in rows(config, "STATIC_ROUTE").items():
        vrf, prefix = key.split("|", 1) if "|" in key else ("default", key)
        route = parse_address(prefix)
        if vrf == "default" and route is not None and text(row, "blackhole") == "true":
            found.append(route.network)
    return tuple(found)


def speaker(config: ConfigDb) -> Speaker:
    """The BGP speaker that bgpcfgd configures (bgpcfgd/managers_bgp.py)."""
    localhost = metadata(config)
    addresses = interface_addresses(config)
    loopback = next((a.host.ip for a in addresses if a.interface == "Loopback0" and a.host.version == 4), "")
    router_id = text(localhost, "bgp_router_id") or loopback
    asn = parse_asn(text(localhost, "bgp_asn"))
    shared = _switch_obstacle(config, asn, router_id)
    isolation = rows(config, "BGP_DEVICE_GLOBAL").get("STATE", {})
    lenience, status = allowas_in(config), text(localhost, "default_bgp_status")
    local = _LocalAddresses([a for a in addresses if a.bound and not a.vrf])
    peers = rows(config, "BGP_NEIGHBOR").items()
    neighbors = [_neighbor(key, row, local, lenience, status, shared) for key, row in peers]
    return Speaker(
        asn=asn,
        router_id=router_id,
        neighbors=tuple([neighbor for neighbor in neighbors if neighbor is not None]),
        announcements=tuple(dict.fromkeys(announcements(config, addresses))),
        addresses=addresses,
        isolated=text(isolation, "tsa_enabled") == "true",  # bgpcfgd/managers_device_global.py, bgpd/tsa
        discards=discards(config),
    )


def _switch_obstacle(config: ConfigDb, asn: int | None, router_id: str) -> str:
    """Why no session of this switch can be established: the dependencies of BGPPeerMgrBase in managers_bgp.py."""
    if asn is None:
        return "DEVICE_METADATA|localhost has no bgp_asn: the image does not start BGP"
    if not text(metadata(config), "type"):
        return "DEVICE_METADATA|localhost has no type: bgpcfgd does not configure any neighbor"
    if "Loopback0" not in rows(config, "LOOPBACK_INTERFACE"):
        return "LOOPBACK_INTERFACE has no base row Loopback0: bgpcfgd does not configure any neighbor"
    if not router_id:
        return "no router ID: bgp_router_id and an IPv4 address on Loopback0 are missing"
    return ""


class _LocalAddresses:
    """The addresses of a switch's interfaces, as texts and parsed."""

    def __init__(self, addresses: list[InterfaceAddress]) -> None:
        self.addresses = addresses
        self.written = {one.key.split("|")[1].partition("/")[0] for one in addresses}

    @cached_property
    def parsed(self) -> set[Address]:
        """The parsed addresses, needed only for other spellings."""
        return {one.host for one in self.addresses}

    def contain(self, text: str) -> bool:
        """Whether an interface has this address, in any spelling."""
        return text in self.written or parse_address(text) in self.parsed


def _neighbor(
    key: str, row: Row, local: _LocalAddresses, lenience: int, default_status: str, shared: str
) -> Neighbor | None:
    vrf, separator, name = key.rpartition("|")
    if separator and vrf != "default":
        return None
    peer = read_address(name)
    near = text(row, "local_addr").partition("/")[0]
    asn = parse_asn(text(row, "asn"))
    obstacle = shared
    if peer is None:
        obstacle = obstacle or f"{name} is not an IP address: bgpcfgd does not support unnumbered neighbors"
    if not obstacle and near and not local.contain(near):
        obstacle = f"no interface with a base row has local_addr {near}: bgpcfgd does not configure the neighbor"
    # instance.conf.j2: the row's admin_status counts, else default_bgp_status
    if not obstacle and (text(row, "admin_status") or default_status) == "down":
        obstacle = "the neighbor is shut down"
    if not obstacle and asn is None:
        obstacle = "the row has no asn"
    return Neighbor(key, peer, "", asn, _terms(lenience, peer.version if peer else 0), obstacle)


@cache
def _terms(lenience: int, version: int) -> Terms:
    """The terms of bgpcfgd. policies.conf.j2: FROM_BGP_PEER permits all routes, also a default route."""
    family = frozenset({version} if version else ())
    return Terms(lenience, family, family, family, family)
