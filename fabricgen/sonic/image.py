"""What the SONiC image makes of a config_db for BGP: who speaks, to whom, what it announces and what it accepts.

Much of it stands in no configuration file: the image adds it. Every such fact is given here with the file of
sonic-buildimage @086b03bd70f9 it was read in. `speaker` covers the default mode (bgpcfgd); with
frr_mgmt_framework_config "true" the rows mean something else and `fabricgen.sonic.frr_framework` reads them.
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
    """One prefix row of an interface table: the address alone, and its subnet. `bound` tells whether the interface has
    the base row it needs."""

    table: str
    key: str
    interface: str
    host: Address
    network: Address
    bound: bool
    vrf: str = ""


class Announcement(NamedTuple):
    """A prefix that the switch originates, and the (table, key) that makes it do so."""

    prefix: str
    row: tuple[str, str]
    loopback: bool = False


class Terms(NamedTuple):
    """What a switch takes from a neighbor and gives to it, the same for most of its neighbors.

    `allowas_in` is how often its own ASN may stand in a path. `accepts` and `sends` are the address families (4, 6) for
    which routes come in and go out. `defaults` are the families whose default route would be taken, `unfiltered` those
    of which everything would. `inbound` has the route maps that filter the rest, by family; none in the default mode.
    """

    allowas_in: int
    accepts: frozenset[int]
    sends: frozenset[int]
    defaults: frozenset[int]
    unfiltered: frozenset[int]
    inbound: tuple[tuple[int, tuple[str, ...]], ...] = ()


class Neighbor(NamedTuple):
    """One BGP_NEIGHBOR row of the default VRF, in either mode.

    `peer` is None when the row names a port (`interface`, unnumbered) or nothing sensible. `asn` is None for
    "external". `obstacle` says why the session can never come up as far as this file alone tells; "" when nothing in
    it stands in the way.
    """

    key: str
    peer: Address | None
    interface: str
    asn: int | None
    terms: Terms
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Speaker:
    """A switch as a BGP speaker. `asn` is None when the image starts no BGP. `isolated` is TSA: it announces only its
    loopbacks, and still receives and forwards."""

    asn: int | None
    router_id: str
    neighbors: tuple[Neighbor, ...]
    announcements: tuple[Announcement, ...]
    addresses: tuple[InterfaceAddress, ...]
    multipath_relax: bool = MULTIPATH_RELAX
    maximum_paths: int = MAXIMUM_PATHS
    isolated: bool = False
    discards: tuple[Address, ...] = ()  # prefixes whose packets are dropped where nothing longer is known


def rows(config: ConfigDb, table: str) -> Mapping[str, Row]:
    """The rows of a table that are rows; what has another shape is the schema check's to report."""
    found = config.get(table)
    return {key: row for key, row in found.items() if isinstance(row, dict)} if isinstance(found, dict) else {}


def text(row: Row, field: str) -> str:
    """A field's text, "" when absent; a bare JSON number reads as its digits, as sonic-cfggen loads it."""
    value: object = row.get(field, "")
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def metadata(config: ConfigDb) -> Row:
    """DEVICE_METADATA|localhost; empty when absent."""
    return rows(config, "DEVICE_METADATA").get("localhost", {})


def uses_frr_framework(config: ConfigDb) -> bool:
    """dockers/docker-fpm-frr/frr/supervisord/supervisord.conf.common.j2: "true" starts frrcfgd, all else bgpcfgd."""
    return text(metadata(config), "frr_mgmt_framework_config") == "true"


@lru_cache(maxsize=1 << 16)
def parse_asn(value: str) -> int | None:
    """An AS number; None for anything else ("none" and "null" mean no BGP: bgpd.main.conf.j2)."""
    return int(value) if value.isdecimal() and 0 < int(value) < 1 << 32 else None


def interface_addresses(config: ConfigDb) -> tuple[InterfaceAddress, ...]:
    """Every address that some interface table gives the switch."""
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
    """How often the switch's own ASN may stand in a path that it still accepts.

    dockers/docker-fpm-frr/frr/bgpd/templates/general/peer-group.conf.j2: 1 on a ToRRouter always, 1 on a LeafRouter
    when BGP_BBR|all.status is enabled (constants.yml.j2: default_state disabled), else 0.
    """
    kind = text(metadata(config), "type")
    bbr = text(rows(config, "BGP_BBR").get("all", {}), "status") == "enabled"
    return int(kind == "ToRRouter" or (kind == "LeafRouter" and bbr))


def announcements(config: ConfigDb, addresses: tuple[InterfaceAddress, ...]) -> Iterator[Announcement]:
    """What the default mode announces: bgpd.main.conf.j2 and bgpcfgd/managers_static_rt.py.

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
    """The STATIC_ROUTE rows that are redistributed; BFD-tracked ones, which staticroutebfd installs, count as up."""
    for key, row in rows(config, "STATIC_ROUTE").items():
        vrf, prefix = key.split("|", 1) if "|" in key else ("default", key)
        route = parse_address(prefix)
        if vrf == "default" and route is not None and text(row, "advertise") != "false":
            yield Announcement(str(route.network), ("STATIC_ROUTE", key))


def discards(config: ConfigDb) -> tuple[Address, ...]:
    """The prefixes of blackhole routes of the default VRF, announced or not: what is dropped rather than sent by a
    shorter prefix. Whether one hides a BGP route for the same prefix, by its distance, is not asked here."""
    found = []
    for key, row in rows(config, "STATIC_ROUTE").items():
        vrf, prefix = key.split("|", 1) if "|" in key else ("default", key)
        route = parse_address(prefix)
        if vrf == "default" and route is not None and text(row, "blackhole") == "true":
            found.append(route.network)
    return tuple(found)


def speaker(config: ConfigDb) -> Speaker:
    """The switch as bgpcfgd configures it (bgpcfgd/managers_bgp.py)."""
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
    """Why no neighbor of this switch ever comes up: the dependencies of BGPPeerMgrBase in managers_bgp.py."""
    if asn is None:
        return "DEVICE_METADATA|localhost has no bgp_asn: the image starts no BGP"
    if not text(metadata(config), "type"):
        return "DEVICE_METADATA|localhost has no type: bgpcfgd keeps every neighbor waiting"
    if "Loopback0" not in rows(config, "LOOPBACK_INTERFACE"):
        return "LOOPBACK_INTERFACE has no base row Loopback0: bgpcfgd keeps every neighbor waiting"
    if not router_id:
        return "no router id: neither bgp_router_id nor an IPv4 address on Loopback0"
    return ""


class _LocalAddresses:
    """What the interfaces of a switch hold, as written, and as addresses."""

    def __init__(self, addresses: list[InterfaceAddress]) -> None:
        self.addresses = addresses
        self.written = {one.key.split("|")[1].partition("/")[0] for one in addresses}

    @cached_property
    def parsed(self) -> set[Address]:
        """Asked for only where a spelling differs."""
        return {one.host for one in self.addresses}

    def hold(self, text: str) -> bool:
        """Whether an interface has this address, however it is written."""
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
        obstacle = obstacle or f"{name} is no IP address: bgpcfgd knows no unnumbered neighbors"
    if not obstacle and near and not local.hold(near):
        obstacle = f"no interface with a base row holds local_addr {near}: bgpcfgd keeps the neighbor waiting"
    # instance.conf.j2: the row's admin_status counts, else default_bgp_status
    if not obstacle and (text(row, "admin_status") or default_status) == "down":
        obstacle = "the neighbor is shut down"
    if not obstacle and asn is None:
        obstacle = "the row has no asn"
    return Neighbor(key, peer, "", asn, _terms(lenience, peer.version if peer else 0), obstacle)


@cache
def _terms(lenience: int, version: int) -> Terms:
    """Those of bgpcfgd. policies.conf.j2: FROM_BGP_PEER lets everything pass, a default route, too."""
    family = frozenset({version} if version else ())
    return Terms(lenience, family, family, family, family)
