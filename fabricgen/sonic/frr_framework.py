"""BGP with frr_mgmt_framework_config "true". The image adds nothing: the configuration must contain every setting.

Source: sonic-buildimage @086b03bd70f9, src/sonic-frr-mgmt-framework/{templates/bgpd/*.j2, frrcfgd/frrcfgd.py}. Route
maps are evaluated only for the default route (`policy`). For other routes a policy must exist in each direction:
without a policy FRR's ebgp-requires-policy, which no field can disable, permits no prefix. Not modelled:
confederations, route servers, per-neighbor local AS, remove-private-AS, VRFs other than default.
"""

from collections.abc import Iterator

from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import (
    MAXIMUM_PATHS,
    Announcement,
    InterfaceAddress,
    Neighbor,
    Speaker,
    Terms,
    discards,
    interface_addresses,
    parse_asn,
    rows,
    static_routes,
    text,
)
from fabricgen.sonic.policy import is_open, passes
from fabricgen.sonic.tables import ConfigDb, Row, split_key

FAMILIES = {4: "ipv4_unicast", 6: "ipv6_unicast"}
DEFAULTS = {4: Address(4, 0, 0), 6: Address(6, 0, 0)}
DEFAULT_ALLOWAS_IN = 3  # the default of FRR for allow_as_in without allow_as_count


def framework_speaker(config: ConfigDb) -> Speaker:
    """The BGP speaker that frrcfgd configures."""
    instance = rows(config, "BGP_GLOBALS").get("default", {})
    asn = parse_asn(text(instance, "local_asn"))
    addresses = interface_addresses(config)
    family = rows(config, "BGP_GLOBALS_AF").get("default|ipv4_unicast", {})
    width = text(family, "max_ebgp_paths")
    return Speaker(
        asn=asn,
        router_id=text(instance, "router_id"),
        neighbors=tuple(_neighbors(config, instance, asn)),
        announcements=tuple(dict.fromkeys(framework_announcements(config, addresses))),
        addresses=addresses,
        multipath_relax=text(instance, "load_balance_mp_relax") == "true",
        maximum_paths=int(width) if width.isdecimal() and int(width) else MAXIMUM_PATHS,
        discards=discards(config),
    )


def framework_announcements(config: ConfigDb, addresses: tuple[InterfaceAddress, ...]) -> Iterator[Announcement]:
    """The prefixes of BGP_GLOBALS_AF_NETWORK, and connected and static routes of ROUTE_REDISTRIBUTE."""
    for key in rows(config, "BGP_GLOBALS_AF_NETWORK"):
        vrf, _, prefix = key.split("|", 2) if key.count("|") >= 2 else ("", "", "")
        network = parse_address(prefix)
        if vrf == "default" and network is not None:
            yield Announcement(str(network.network), ("BGP_GLOBALS_AF_NETWORK", key))
    for key in rows(config, "ROUTE_REDISTRIBUTE"):
        vrf, source, _, family = (*split_key(key), "", "", "", "")[:4]
        version = 6 if family == "ipv6" else 4
        if vrf == "default" and source == "connected":
            for entry in addresses:
                if entry.host.version == version and entry.bound and not entry.vrf:
                    loopback = entry.table == "LOOPBACK_INTERFACE"
                    yield Announcement(str(entry.network), (entry.table, entry.key), loopback)
        elif vrf == "default" and source == "static":
            yield from (route for route in static_routes(config) if (":" in route.prefix) == (version == 6))


def _neighbors(config: ConfigDb, instance: Row, asn: int | None) -> Iterator[Neighbor]:
    groups = rows(config, "BGP_PEER_GROUP")
    group_families = rows(config, "BGP_PEER_GROUP_AF")
    own_families = rows(config, "BGP_NEIGHBOR_AF")
    ports = rows(config, "INTERFACE").items()
    link_local = {key for key, row in ports if text(row, "ipv6_use_link_local_only") == "enable"}
    known: dict[tuple[str, int], tuple[bool, bool]] = {}  # most neighbors have the same route maps

    def inbound(family: Row, version: int) -> tuple[bool, bool]:
        """Whether the default route is accepted, and whether every route is."""
        maps = _inbound(family)
        key = (",".join(maps), version)
        if key not in known:
            known[key] = passes(config, maps, DEFAULTS[version]), is_open(config, maps)
        return known[key]

    for key, row in rows(config, "BGP_NEIGHBOR").items():
        vrf, _, peer = key.partition("|")
        if vrf != "default" or not peer:  # frrcfgd ignores rows without a VRF, which are for bgpcfgd
            continue
        group_name = text(row, "peer_group_name")
        merged: Row = {**groups.get(f"default|{group_name}", {}), **row}
        families: dict[int, Row] = {}
        for version, name in FAMILIES.items():
            group = group_families.get(f"default|{group_name}|{name}", {})
            families[version] = {**group, **own_families.get(f"{key}|{name}", {})}
        address = parse_address(peer)
        remote = parse_asn(text(merged, "asn"))
        obstacle = ""
        if asn is None:
            obstacle = "BGP_GLOBALS|default has no local_asn: frrcfgd does not start BGP"
        elif text(merged, "admin_status") in ("down", "false"):
            obstacle = "the neighbor is shut down"
        elif remote is None and text(merged, "peer_type") != "external":
            obstacle = "the row has no asn and no peer_type external"
        elif address is None and peer not in link_local:
            obstacle = f"INTERFACE|{peer} has no ipv6_use_link_local_only enable: an unnumbered neighbor needs it"
        allowed = [_allowas_in(family) for family in families.values()]
        active = {version for version, family in families.items() if _active(version, family, instance)}
        yield Neighbor(
            key=key,
            peer=address,
            interface="" if address else peer,
            asn=remote,
            terms=Terms(
                allowas_in=max(allowed),
                accepts=frozenset(v for v in active if families[v].get("route_map_in")),
                sends=frozenset(v for v in active if families[v].get("route_map_out")),
                defaults=frozenset(v for v in active if inbound(families[v], v)[0]),
                unfiltered=frozenset(v for v in active if inbound(families[v], v)[1]),
                inbound=tuple((v, tuple(_inbound(families[v]))) for v in sorted(active)),
            ),
            obstacle=obstacle,
        )


def _active(version: int, family: Row, instance: Row) -> bool:
    """Whether a family is active. bgpd.conf.db.j2 writes `no bgp default ipv4-unicast` unless a field overrides it."""
    status = text(family, "admin_status")
    return status in ("true", "up") or (
        not status and version == 4 and text(instance, "default_ipv4_unicast") == "true"
    )


def _inbound(family: Row) -> list[str]:
    """The inbound route maps; [""], which permits nothing, when no map is configured."""
    found: object = family.get("route_map_in")
    names = found.split(",") if isinstance(found, str) else found
    return [str(name) for name in names] if isinstance(names, list) and names else [""]


def _allowas_in(family: Row) -> int:
    count = text(family, "allow_as_count")
    if text(family, "allow_as_in") != "true":
        return 0
    return int(count) if count.isdecimal() else DEFAULT_ALLOWAS_IN
