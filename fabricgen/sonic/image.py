"""The BGP configuration that the SONiC image derives from a config_db: neighbors, announced and accepted routes.

The image adds settings that no configuration file contains. Each of them has a comment with its source file in
sonic-buildimage @086b03bd70f9. `fabricgen.sonic.bgpcfgd` reads the default mode. With frr_mgmt_framework_config "true"
the rows have another meaning; `fabricgen.sonic.frr_framework` reads them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from fabricgen.sonic.addresses import Address, parse_address, read_address
from fabricgen.sonic.policy import Policies, RouteFilter
from fabricgen.sonic.tables import ConfigDb, Row
from fabricgen.units import whole_number

# files/build_templates/constants.yml.j2: bgp.multipath_relax enabled, and bgp.maximum_paths, which differs by release
# (release_models); no config_db field changes either in the default mode. FRR is built with --enable-multipath=514, the
# limit elsewhere.
MAXIMUM_PATHS = 514
MULTIPATH_RELAX = True

_ROW = {dict}

ROUTING_MODE = "docker_routing_config_mode"
SESSION_TABLES = ("BGP_NEIGHBOR", "BGP_PEER_RANGE", "BGP_INTERNAL_NEIGHBOR")  # of bgpcfgd

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


class StaticPath(NamedTuple):
    """A static route: its prefix, its key, whether it drops packets, and its administrative distance (0: the default,
    which is better than that of BGP)."""

    prefix: Address
    key: str
    is_blackhole: bool
    distance: int


class Terms(NamedTuple):
    """What a switch accepts from a neighbor and sends to it; the same for most of its neighbors.

    `allowas_in` is how often a path may contain its own ASN. `accepts` and `sends` are the address families (4, 6) of
    inbound and outbound routes. `defaults` are the families whose default route is accepted, `unfiltered` those whose
    routes are all accepted. `inbound` has the route maps of the other families; none in the default mode. `filters_in`
    and `filters_out` are the filters of the families whose routes do not all pass. `waits` is whether the switch only
    waits for a connection, `checks_ttl` whether it drops packets with a low TTL, which a neighbor without the check
    sends.
    """

    allowas_in: int
    accepts: frozenset[int]
    sends: frozenset[int]
    defaults: frozenset[int]
    unfiltered: frozenset[int]
    inbound: tuple[tuple[int, tuple[str, ...]], ...] = ()
    filters_in: tuple[tuple[int, RouteFilter], ...] = ()
    filters_out: tuple[tuple[int, RouteFilter], ...] = ()
    waits: bool = False
    checks_ttl: bool = False


class Obstacle(NamedTuple):
    """Why no session of a switch, or one of its sessions, can be established, and the (table, key, field) of the
    cause."""

    reason: str
    place: tuple[str, ...]


class Neighbor(NamedTuple):
    """One BGP_NEIGHBOR row of the default VRF, in either mode.

    `peer` is None when the key is a port (`interface`, unnumbered) or not valid. `asn` is None for "external".
    `obstacle` is why the session cannot be established, from this file only; "" when nothing prevents it. `cause` is
    the (table, key, field) of the obstacle.
    """

    key: str
    peer: Address | None
    interface: str
    asn: int | None
    terms: Terms
    obstacle: str = ""
    cause: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Speaker:
    """A switch as a BGP speaker. `asn` is None when the image does not start BGP; `obstacle` is why no session of the
    switch can be established. `isolated` is the field of BGP_DEVICE_GLOBAL|STATE, if any, because of which the switch
    announces only its loopbacks: it still receives routes and forwards packets. `listens` are the subnets of dynamic
    neighbors with their rows."""

    asn: int | None
    router_id: str
    neighbors: Sequence[Neighbor]
    announcements: tuple[Announcement, ...]
    addresses: Sequence[InterfaceAddress]
    multipath_relax: bool = MULTIPATH_RELAX
    maximum_paths: int = MAXIMUM_PATHS
    isolated: str = ""
    discards: tuple[Address, ...] = ()  # the switch drops packets to these prefixes unless a longer one is known
    statics: tuple[StaticPath, ...] = ()
    obstacle: Obstacle | None = None
    listens: tuple[tuple[Address, tuple[str, str]], ...] = ()
    policies: Policies | None = None  # of the management framework


def rows(config: ConfigDb, table: str) -> Mapping[str, Row]:
    """The rows of a table. Values that are not rows are left out; the schema check reports them."""
    found = config.get(table)
    if not isinstance(found, dict):
        return {}
    if {*map(type, found.values())} <= _ROW:
        return found
    return {key: row for key, row in found.items() if isinstance(row, dict)}


def text(row: Row, field: str) -> str:
    """The text of a field, "" when it is missing. A JSON number is converted to its digits, as sonic-cfggen does."""
    value: object = row.get(field, "")
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) else ""


def metadata(config: ConfigDb) -> Row:
    """DEVICE_METADATA|localhost; empty when it is missing."""
    return rows(config, "DEVICE_METADATA").get("localhost", {})


def uses_frr_framework(config: ConfigDb) -> bool:
    """Whether frrcfgd runs in place of bgpcfgd (docker-fpm-frr/frr/supervisord/supervisord.conf.common.j2)."""
    return text(metadata(config), "frr_mgmt_framework_config") == "true"


@lru_cache(maxsize=1 << 16)
def parse_asn(value: str) -> int | None:
    """An AS number; None for other texts ("none" and "null" disable BGP: bgpd.main.conf.j2)."""
    number = whole_number(value)
    return number if number is not None and 0 < number < 1 << 32 else None


def interface_addresses(config: ConfigDb) -> tuple[InterfaceAddress, ...]:
    """The addresses of all interface tables."""
    found = []
    for table in INTERFACE_TABLES:
        table_rows = rows(config, table)
        for key in table_rows:
            if "|" not in key:
                continue
            interface, prefix, *_ = key.split("|", 2)
            address = read_address(prefix)
            if address is not None:
                base = table_rows.get(interface)
                vrf = (text(base, "vrf_name") or text(base, "vnet_name")) if base else ""
                interface = intern(interface)  # many switches have ports of one name
                found.append(InterfaceAddress(table, key, interface, *address.host_and_network, base is not None, vrf))
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


def static_paths(config: ConfigDb) -> Iterator[StaticPath]:
    """The static routes of the default VRF that staticd can install, announced or not."""
    for key, row in rows(config, "STATIC_ROUTE").items():
        vrf, prefix = key.split("|", 1) if "|" in key else ("default", key)
        route = parse_address(prefix)
        is_blackhole = text(row, "blackhole") == "true"
        if vrf == "default" and route is not None and (is_blackhole or row.get("nexthop") or row.get("ifname")):
            yield StaticPath(route.network, key, is_blackhole, whole_number(text(row, "distance")) or 0)


def discards(config: ConfigDb) -> tuple[Address, ...]:
    """The prefixes of blackhole routes of the default VRF, announced or not. Their packets are dropped, even if a
    shorter prefix has a route."""
    return tuple(one.prefix for one in static_paths(config) if one.is_blackhole)


def daemon_obstacle(config: ConfigDb) -> Obstacle | None:
    """Why the BGP container ignores the tables of this file, in either mode.

    FEATURE|bgp starts the container. With docker_routing_config_mode split or split-unified, docker_init.sh of
    docker-fpm-frr renders nothing from CONFIG_DB: FRR reads files that somebody wrote on the switch.
    """
    if text(rows(config, "FEATURE").get("bgp", {}), "state") in ("disabled", "always_disabled"):
        return Obstacle("FEATURE|bgp is disabled: no BGP runs", ("FEATURE", "bgp", "state"))
    if is_split(config):
        reason = (
            f"{ROUTING_MODE} is {text(metadata(config), ROUTING_MODE)}: FRR does not read the BGP tables of this file"
        )
        return Obstacle(reason, ("DEVICE_METADATA", "localhost", ROUTING_MODE))
    return None


def has_frr_files(config: ConfigDb) -> bool:
    """Whether FRR reads files on the switch (docker_routing_config_mode split or split-unified)."""
    return text(metadata(config), ROUTING_MODE).startswith("split")


def is_split(config: ConfigDb) -> bool:
    """Whether FRR reads separate files, and nothing of CONFIG_DB. A VTEP whose tables are those of frrcfgd has a
    frr.conf that is their translation; FG656 compares them."""
    return has_frr_files(config) and not has_translation(config)


def has_translation(config: ConfigDb) -> bool:
    """Whether frr.conf beside the file must have what its tables say, and the statements of EVPN that no field has."""
    is_integrated = text(metadata(config), ROUTING_MODE) == "split-unified"
    return is_integrated and uses_frr_framework(config) and bool(rows(config, "VXLAN_EVPN_NVO"))


def runs_bgpcfgd(config: ConfigDb) -> bool:
    """Whether bgpcfgd makes FRR's configuration of this file, so that its conditions hold: a type, a Loopback0."""
    return not uses_frr_framework(config) and daemon_obstacle(config) is None
