"""frr.conf of a switch with EVPN: what frrcfgd makes of CONFIG_DB, and the statement for which its YANG has no field.

Routes of a VRF are announced in EVPN (type 5) by `advertise ipv4 unicast`. frrcfgd reads it from the field
advertise-ipv4-unicast of BGP_GLOBALS_AF, but no YANG model up to 202605 has this field, so `config reload` refuses it.
With docker_routing_config_mode split-unified, FRR reads /etc/sonic/frr/frr.conf, and frrcfgd only applies later changes
of CONFIG_DB. So the tables are rendered as for frrcfgd, and frr.conf is their translation.

Source: sonic-buildimage dockers/docker-fpm-frr/docker_init.sh; src/sonic-frr-mgmt-framework templates/bgpd,
templates/staticd and frrcfgd.py; src/sonic-yang-models sonic-bgp-global.yang of branches 202411 to 202605.
"""

from collections.abc import Iterator

from fabricgen.sonic.addresses import parse_address
from fabricgen.sonic.evpn import FAMILY, Overlay
from fabricgen.sonic.image import metadata, parse_asn, rows, text
from fabricgen.sonic.tables import ConfigDb, Row, split_key

FRR_CONF = "frr.conf"
_FAMILIES = {"ipv4_unicast": "ipv4 unicast", "ipv6_unicast": "ipv6 unicast", FAMILY: "l2vpn evpn"}
_HOPS = ("blackhole", "nexthop", "ifname", "distance", "nexthop-vrf")  # lists of STATIC_ROUTE, one entry for each hop


def frr_conf(config: ConfigDb) -> str:
    """The text of frr.conf."""
    return "\n".join(_lines(config)) + "\n"


def _lines(config: ConfigDb) -> Iterator[str]:
    yield f"hostname {text(metadata(config), 'hostname')}"
    yield from ("log syslog informational", "log facility local4", "!")
    yield from _routes(config)
    yield from _policies(config)
    instances = rows(config, "BGP_GLOBALS")
    for vrf, row in sorted(instances.items(), key=lambda one: one[0] != "default"):
        if (asn := parse_asn(text(row, "local_asn"))) is not None:
            yield from _instance(config, vrf, row, asn)


def _routes(config: ConfigDb) -> Iterator[str]:
    """The L3 VNI of each VRF, and static routes."""
    of_vrf: dict[str, list[str]] = {vrf: [] for vrf in rows(config, "VRF")}
    for key, row in rows(config, "STATIC_ROUTE").items():
        vrf, _, prefix = key.rpartition("|")
        word = "ipv6" if ":" in prefix else "ip"
        lists = {name: text(row, name).split(",") for name in _HOPS}
        for index in range(max(map(len, lists.values()))):
            of = {name: values[index] if index < len(values) else "" for name, values in lists.items()}
            hop = [of["nexthop"] if of["nexthop"] not in ("0.0.0.0", "::") else "", of["ifname"]]
            hops = ["blackhole"] if of["blackhole"] == "true" else [one for one in hop if one]
            if hops:
                target = f"nexthop-vrf {of['nexthop-vrf']}" if of["nexthop-vrf"] else ""
                words = [word, "route", prefix, *hops, of["distance"], target]
                of_vrf.setdefault(vrf or "default", []).append(" ".join(one for one in words if one))
    yield from of_vrf.pop("default", ())
    overlay = Overlay(config)
    for vrf, lines in of_vrf.items():
        vni = overlay.vni(vrf)
        if vni or lines:
            yield f"vrf {vrf}"
            if vni:
                yield f" vni {vni}"
            yield from (f" {line}" for line in lines)
            yield from ("exit-vrf", "!")


def _policies(config: ConfigDb) -> Iterator[str]:
    sets = rows(config, "PREFIX_SET")
    for number, (key, row) in enumerate(rows(config, "PREFIX").items()):
        name, prefix, lengths = (*split_key(key), "", "", "")[:3]
        word = "ipv6" if text(sets.get(name, {}), "mode").lower() == "ipv6" else "ip"
        first, _, last = lengths.partition("..")
        span = f" ge {first} le {last}" if last else ""
        yield f"{word} prefix-list {name} seq {10 * (number + 1)} {text(row, 'action')} {prefix}{span}"
    for key, row in rows(config, "ROUTE_MAP").items():
        name, _, sequence = key.partition("|")
        yield f"route-map {name} {text(row, 'route_operation')} {sequence}"
        if chosen := text(row, "match_prefix_set"):
            word = "ipv6" if text(sets.get(chosen, {}), "mode").lower() == "ipv6" else "ip"
            yield f" match {word} address prefix-list {chosen}"
        yield from ("exit", "!")


def _instance(config: ConfigDb, vrf: str, row: Row, asn: int) -> Iterator[str]:
    yield f"router bgp {asn}" + ("" if vrf == "default" else f" vrf {vrf}")
    if router_id := text(row, "router_id"):
        yield f" bgp router-id {router_id}"
    yield f" {'' if text(row, 'default_ipv4_unicast') == 'true' else 'no '}bgp default ipv4-unicast"
    if text(row, "load_balance_mp_relax") == "true":
        yield " bgp bestpath as-path multipath-relax"
    for key, group in rows(config, "BGP_PEER_GROUP").items():
        own, _, name = key.partition("|")
        if own == vrf:
            yield f" neighbor {name} peer-group"
            yield from _neighbor(name, "", group)
    for key, neighbor in rows(config, "BGP_NEIGHBOR").items():
        own, _, name = key.partition("|")
        if own == vrf and name:
            yield from _neighbor(name, "" if parse_address(name) else "interface ", neighbor)
    for family, words in _FAMILIES.items():
        lines = list(_family(config, vrf, family))
        if lines:
            yield from (" !", f" address-family {words}")
            yield from (f"  {line}" for line in lines)
            yield " exit-address-family"
    yield from ("exit", "!")


def _neighbor(name: str, interface: str, row: Row) -> Iterator[str]:
    if remote := text(row, "peer_type") or text(row, "asn"):
        yield f" neighbor {name} {interface}remote-as {remote}"
    if group := text(row, "peer_group_name"):
        yield f" neighbor {name} {interface}peer-group {group}"
    if text(row, "name"):
        yield f" neighbor {name} description {text(row, 'name')}"
    if text(row, "admin_status") in ("false", "down"):
        yield f" neighbor {name} shutdown"
    if text(row, "bfd") == "true":
        yield f" neighbor {name} bfd"
    if source := text(row, "local_addr"):
        yield f" neighbor {name} update-source {source}"
    if text(row, "keepalive") and text(row, "holdtime"):
        yield f" neighbor {name} timers {text(row, 'keepalive')} {text(row, 'holdtime')}"
    if text(row, "capability_ext_nexthop") == "true":
        yield f" neighbor {name} capability extended-nexthop"


def _family(config: ConfigDb, vrf: str, family: str) -> Iterator[str]:
    own = rows(config, "BGP_GLOBALS_AF").get(f"{vrf}|{family}", {})
    if imported := text(own, "import_vrf"):
        yield f"import vrf {imported}"
    for key in rows(config, "BGP_GLOBALS_AF_NETWORK"):
        if key.startswith(f"{vrf}|{family}|"):
            yield f"network {key.rpartition('|')[2]}"
    for key in rows(config, "ROUTE_REDISTRIBUTE"):
        name, source, _, version = (*split_key(key), "", "", "", "")[:4]
        if name == vrf and f"{version}_unicast" == family:
            yield f"redistribute {source}"
    for table in ("BGP_PEER_GROUP_AF", "BGP_NEIGHBOR_AF"):
        for key, row in rows(config, table).items():
            name, peer, its_family = (*split_key(key), "", "", "")[:3]
            if (name, its_family) == (vrf, family):
                yield from _neighbor_family(peer, row)
    if paths := text(own, "max_ebgp_paths"):
        yield f"maximum-paths {paths}"
    if family == FAMILY:
        yield from _evpn(config, vrf, own)


def _evpn(config: ConfigDb, vrf: str, own: Row) -> Iterator[str]:
    """What the EVPN family of an instance announces, and its route targets."""
    if vrf == "default" and rows(config, "VXLAN_EVPN_NVO"):
        yield "advertise-all-vni"
    overlay = Overlay(config)
    if overlay.vni(vrf):
        sent = {split_key(key)[3] for key in rows(config, "ROUTE_REDISTRIBUTE") if key.startswith(f"{vrf}|")}
        yield from (f"advertise {version} unicast" for version in sorted(sent))
    if method := text(own, "autort"):
        yield f"autort {method}"
    if distinguisher := text(own, "route-distinguisher"):
        yield f"rd {distinguisher}"
    for way in ("import", "export"):
        yield from (f"route-target {way} {':'.join(one)}" for one in overlay.targets(vrf, way))


def _neighbor_family(peer: str, row: Row) -> Iterator[str]:
    if status := text(row, "admin_status"):
        yield f"{'' if status in ('true', 'up') else 'no '}neighbor {peer} activate"
    if text(row, "allow_as_in") == "true":
        yield f"neighbor {peer} allowas-in {text(row, 'allow_as_count')}".rstrip()
    for way in ("in", "out"):
        found = row.get(f"route_map_{way}", ())
        for name in found.split(",") if isinstance(found, str) else found if isinstance(found, list) else ():
            yield f"neighbor {peer} route-map {name} {way}"
