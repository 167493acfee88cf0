"""BGP with frr_mgmt_framework_config "true". The image adds nothing: the configuration must contain every setting.

Source: sonic-buildimage @086b03bd70f9, src/sonic-frr-mgmt-framework/{templates/bgpd/*.j2, frrcfgd/frrcfgd.py}. Route
maps and prefix lists are evaluated for each prefix (`policy`). A policy must exist in each direction: without a policy
FRR's ebgp-requires-policy, which no field can disable, permits no prefix. Not modelled:
confederations, route servers, per-neighbor local AS, remove-private-AS, VRFs other than default.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from fabricgen.same import Same
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import (
    MAXIMUM_PATHS,
    Announcement,
    InterfaceAddress,
    Neighbor,
    Obstacle,
    Speaker,
    Terms,
    daemon_obstacle,
    discards,
    interface_addresses,
    parse_asn,
    rows,
    static_paths,
    static_routes,
    text,
)
from fabricgen.sonic.policy import TABLES, Policies, RouteFilter
from fabricgen.sonic.tables import ConfigDb, Row, split_key
from fabricgen.units import whole_number

FAMILIES = {4: "ipv4_unicast", 6: "ipv6_unicast"}
DEFAULTS = {4: Address(4, 0, 0), 6: Address(6, 0, 0)}
LISTEN_LIMIT = 100  # FRR bgpd/bgpd.h BGP_DYNAMIC_NEIGHBORS_LIMIT_DEFAULT: sessions from listened ranges
_MOST_ALLOWAS_IN = 10  # of FRR
DEFAULT_ALLOWAS_IN = 3  # the default of FRR for allow_as_in without allow_as_count


def framework_speaker(config: ConfigDb) -> Speaker:
    """The BGP speaker that frrcfgd configures."""
    instance = rows(config, "BGP_GLOBALS").get("default", {})
    asn = parse_asn(text(instance, "local_asn"))
    addresses = interface_addresses(config)
    family = rows(config, "BGP_GLOBALS_AF").get("default|ipv4_unicast", {})
    width = text(family, "max_ebgp_paths")
    shared = daemon_obstacle(config)
    if shared is None and asn is None:
        reason = "BGP_GLOBALS|default has no local_asn: frrcfgd does not start BGP"
        shared = Obstacle(reason, ("BGP_GLOBALS", "default", "local_asn"))
    policies = _policies(*(Same(config.get(name)) for name in TABLES))
    return Speaker(
        asn=None if shared else asn,
        router_id=text(instance, "router_id"),
        neighbors=tuple(_Neighbors(config, instance, shared, policies).all()),
        announcements=tuple(dict.fromkeys(framework_announcements(config, addresses))),
        addresses=addresses,
        multipath_relax=text(instance, "load_balance_mp_relax") == "true",
        maximum_paths=whole_number(width) or MAXIMUM_PATHS,
        discards=discards(config),
        statics=tuple(static_paths(config)),
        obstacle=shared,
        listens=tuple(_listens(config)),
        policies=policies,
    )


def _listens(config: ConfigDb) -> Iterator[tuple[Address, tuple[str, str]]]:
    """The subnets of BGP_GLOBALS_LISTEN_PREFIX of the default VRF."""
    for key in rows(config, "BGP_GLOBALS_LISTEN_PREFIX"):
        vrf, _, prefix = key.partition("|")
        if vrf == "default" and (subnet := parse_address(prefix)):
            yield subnet.network, ("BGP_GLOBALS_LISTEN_PREFIX", key)


@lru_cache(maxsize=1 << 12)
def _policies(*tables: Same[object]) -> Policies:
    """The policies of switches whose tables are equal; files share equal tables."""
    return Policies({name: one.of for name, one in zip(TABLES, tables, strict=True) if isinstance(one.of, dict)})


def framework_announcements(config: ConfigDb, addresses: tuple[InterfaceAddress, ...]) -> Iterator[Announcement]:
    """The prefixes of BGP_GLOBALS_AF_NETWORK, and connected and static routes of ROUTE_REDISTRIBUTE, or of the fields
    redistribute_connected and redistribute_static_rmap of BGP_GLOBALS_AF (frrcfgd.py, global_af_key_map)."""
    for key in rows(config, "BGP_GLOBALS_AF_NETWORK"):
        vrf, _, prefix = key.split("|", 2) if key.count("|") >= 2 else ("", "", "")
        network = parse_address(prefix)
        if vrf == "default" and network is not None:
            yield Announcement(str(network.network), ("BGP_GLOBALS_AF_NETWORK", key))
    for source, version in dict.fromkeys(_redistributed(config)):
        if source == "connected":
            for entry in addresses:
                if entry.host.version == version and entry.bound and not entry.vrf:
                    loopback = entry.table == "LOOPBACK_INTERFACE"
                    yield Announcement(str(entry.network), (entry.table, entry.key), loopback)
        elif source == "static":
            yield from (route for route in static_routes(config) if (":" in route.prefix) == (version == 6))


def redistributes(config: ConfigDb) -> bool:
    """Whether the default VRF redistributes routes into BGP."""
    return next(_redistributed(config), None) is not None


def _redistributed(config: ConfigDb) -> Iterator[tuple[str, int]]:
    """(connected | static, version) of the routes that the default VRF redistributes into BGP."""
    for key in rows(config, "ROUTE_REDISTRIBUTE"):
        vrf, source, _, family = (*split_key(key), "", "", "", "")[:4]
        if vrf == "default":
            yield source, 6 if family == "ipv6" else 4
    for version, family in ((4, "ipv4_unicast"), (6, "ipv6_unicast")):
        row = rows(config, "BGP_GLOBALS_AF").get(f"default|{family}", {})
        if text(row, "redistribute_connected") == "true":
            yield "connected", version
        if text(row, "redistribute_static_rmap"):
            yield "static", version


class _Neighbors:
    """The neighbors of a switch. Most of them have the same route maps, so filters are evaluated once."""

    def __init__(self, config: ConfigDb, instance: Row, shared: Obstacle | None, policies: Policies) -> None:
        self._instance, self._shared, self._policies = instance, shared, policies
        self._rows = rows(config, "BGP_NEIGHBOR")
        self._groups = rows(config, "BGP_PEER_GROUP")
        self._group_families = rows(config, "BGP_PEER_GROUP_AF")
        self._own_families = rows(config, "BGP_NEIGHBOR_AF")
        self._ports = rows(config, "INTERFACE")
        self._is_open: dict[RouteFilter, tuple[bool, bool]] = {}
        self._takes_default: dict[tuple[RouteFilter, int], bool] = {}

    def all(self) -> Iterator[Neighbor]:
        """The neighbors of the default VRF. frrcfgd ignores rows without a VRF, which are for bgpcfgd."""
        for key, row in self._rows.items():
            vrf, _, peer = key.partition("|")
            if vrf == "default" and peer:
                yield self._neighbor(key, row, peer)

    def _neighbor(self, key: str, row: Row, peer: str) -> Neighbor:
        group = f"default|{text(row, 'peer_group_name')}"
        merged: Row = {**self._groups.get(group, {}), **row}
        address, remote = parse_address(peer), parse_asn(text(merged, "asn"))
        found = self._shared or self._obstacle(key, row, merged, address)
        return Neighbor(
            key=key,
            peer=address,
            interface="" if address else peer,
            asn=remote,
            terms=self._terms(key, group, merged),
            obstacle=found.reason if found else "",
            cause=found.place if found else (),
        )

    def _obstacle(self, key: str, row: Row, merged: Row, address: Address | None) -> Obstacle | None:
        peer = key.partition("|")[2]
        port = self._ports.get(peer, {})
        if text(merged, "admin_status") in ("down", "false"):
            group = f"default|{text(row, 'peer_group_name')}"
            own = text(row, "admin_status")
            table = ("BGP_NEIGHBOR", key) if own else ("BGP_PEER_GROUP", group)
            return Obstacle("the neighbor is shut down", (*table, "admin_status"))
        if text(self._instance, "default_shutdown") == "true":
            reason = "default_shutdown is true: FRR creates every neighbor shut down"
            return Obstacle(reason, ("BGP_GLOBALS", "default", "default_shutdown"))
        if parse_asn(text(merged, "asn")) is None and text(merged, "peer_type") != "external":
            return Obstacle("the row has no asn and no peer_type external", ("BGP_NEIGHBOR", key))
        if address is None and text(port, "ipv6_use_link_local_only") != "enable":
            reason = f"INTERFACE|{peer} has no ipv6_use_link_local_only enable: an unnumbered neighbor needs it"
            return Obstacle(reason, ("INTERFACE", peer))
        if address is None and (vrf := text(port, "vrf_name")):
            return Obstacle(f"{peer} is in VRF {vrf}", ("INTERFACE", peer, "vrf_name"))
        return None

    def _terms(self, key: str, group: str, merged: Row) -> Terms:
        families: dict[int, Row] = {
            version: {
                **self._group_families.get(f"{group}|{name}", {}),
                **self._own_families.get(f"{key}|{name}", {}),
            }
            for version, name in FAMILIES.items()
        }
        active = [version for version, row in families.items() if is_active(FAMILIES[version], row, self._instance)]
        inbound = {version: filter_of(families[version], "in") for version in active}
        outbound = {version: filter_of(families[version], "out") for version in active}
        return Terms(
            allowas_in=max(map(_allowas_in, families.values())),
            accepts=frozenset(version for version in active if any(inbound[version])),
            sends=frozenset(version for version in active if any(outbound[version])),
            defaults=frozenset(version for version in active if self._default_passes(inbound[version], version)),
            unfiltered=frozenset(version for version in active if self._openness(inbound[version])[0]),
            inbound=tuple((version, inbound[version].maps or ("",)) for version in active),
            filters_in=self._closed(inbound),
            filters_out=self._closed(outbound),
            waits=text(merged, "passive_mode") == "true",
            checks_ttl=bool(text(merged, "ttl_security_hops")),
        )

    def _closed(self, filters: Mapping[int, RouteFilter]) -> tuple[tuple[int, RouteFilter], ...]:
        """The filters that do not permit everything."""
        return tuple((version, one) for version, one in filters.items() if not self._openness(one)[1])

    def _openness(self, one: RouteFilter) -> tuple[bool, bool]:
        """Whether it has an entry that permits every prefix, and whether every prefix reaches this entry."""
        if one not in self._is_open:
            has_entry = self._policies.has_open_entry(one.maps) and not one.lists
            self._is_open[one] = has_entry, self._policies.is_open(one)
        return self._is_open[one]

    def _default_passes(self, one: RouteFilter, version: int) -> bool:
        key = (one, version)
        if key not in self._takes_default:
            self._takes_default[key] = any(one) and self._policies.permits(one, DEFAULTS[version])
        return self._takes_default[key]


def is_active(family: str, row: Row, instance: Row) -> bool:
    """Whether a family is active by its row. bgpd.conf.db.j2 writes `no bgp default ipv4-unicast` unless a field of the
    instance overrides it."""
    status = text(row, "admin_status")
    return status in ("true", "up") or (
        not status and family == FAMILIES[4] and text(instance, "default_ipv4_unicast") == "true"
    )


def filter_of(family: Row, way: str) -> RouteFilter:
    """The route maps and the prefix list of one direction; without any, no route passes."""
    return RouteFilter(_names(family.get(f"route_map_{way}")), _names(family.get(f"prefix_list_{way}")))


def _names(found: object) -> tuple[str, ...]:
    names = found.split(",") if isinstance(found, str) else found
    return tuple(str(name) for name in names if name) if isinstance(names, list) else ()


def _allowas_in(family: Row) -> int:
    count = text(family, "allow_as_count")
    if text(family, "allow_as_in") != "true":
        return 0
    number = whole_number(count)
    return DEFAULT_ALLOWAS_IN if number is None else min(number, _MOST_ALLOWAS_IN)
