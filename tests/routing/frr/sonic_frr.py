"""config_db to the FRR configuration that SONiC's image makes of it, for tests that run a real bgpd.

Independent of fabricgen: what fabricgen believes of the image is what these tests are to prove. Every line names the
file of sonic-buildimage @086b03bd70f9 it stands for. Differences from the image, none of which changes a converged
route: `timers connect` is short, `bgp suppress-fib-pending` is left out (it delays), and maximum-paths stops at what
Debian's FRR is built for.
"""

import ipaddress
from typing import Any

Config = dict[str, dict[str, dict[str, Any]]]

_MOST_PATHS = 256  # Debian: --enable-multipath=256; SONiC: 514
MAIN = "dockers/docker-fpm-frr/frr/bgpd/bgpd.main.conf.j2"
GENERAL = "dockers/docker-fpm-frr/frr/bgpd/templates/general"
CONSTANTS = "files/build_templates/constants.yml.j2"
STATIC = "src/sonic-bgpcfgd/bgpcfgd/managers_static_rt.py"
FRAMEWORK = "src/sonic-frr-mgmt-framework/templates/bgpd/bgpd.conf.db.j2"
FRAMEWORK_AF = "src/sonic-frr-mgmt-framework/templates/bgpd/bgpd.conf.db.addr_family.j2"
FRAMEWORK_LISTS = "src/sonic-frr-mgmt-framework/templates/bgpd/bgpd.conf.db.pref_list.j2"
DYNAMIC = "dockers/docker-fpm-frr/frr/bgpd/templates/dynamic"
_WORDS = {"IPv4": "ip", "IPv6": "ipv6"}
FRAMEWORK_MAPS = "src/sonic-frr-mgmt-framework/templates/bgpd/bgpd.conf.db.route_map.j2"


class Lines:
    """Configuration lines, each with the file it stands for as a comment."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, source: str, *lines: str) -> None:
        for line in lines:
            self.lines += [f"! {source}", line]

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"


def frr_configuration(config: Config) -> tuple[str, str]:
    """(bgpd.conf, staticd.conf) of one switch."""
    framework = config["DEVICE_METADATA"]["localhost"].get("frr_mgmt_framework_config") == "true"
    return str(_framework(config) if framework else _default(config)), str(_static(config))


def _static(config: Config) -> Lines:
    found = Lines()
    for key, row in config.get("STATIC_ROUTE", {}).items():
        vrf, _, prefix = key.rpartition("|")
        if vrf in ("", "default") and row.get("blackhole") == "true":
            family = "ipv6" if ":" in prefix else "ip"
            tag = 2 if row.get("advertise") == "false" else 1
            found.add(STATIC, f"{family} route {prefix} blackhole tag {tag} {row.get('distance', '')}".strip())
    return found


def _default(config: Config) -> Lines:
    localhost = config["DEVICE_METADATA"]["localhost"]
    addresses = [
        ipaddress.ip_interface(key.partition("|")[2]) for key in _prefixes(config, "LOOPBACK_INTERFACE", "Loopback0")
    ]
    loopback = next((one.ip for one in addresses if one.version == 4), None)
    isolated = config.get("BGP_DEVICE_GLOBAL", {}).get("STATE", {}).get("tsa_enabled") == "true"
    out = Lines()
    out.add(MAIN, f"ip prefix-list PL_LoopbackV4 permit {loopback}/32")
    # A route map that is defined after its use works only when FRR's delay timer has run: policies come first.
    for version in ("V4", "V6"):
        policies = f"{GENERAL}/policies.conf.j2"
        out.add(policies, f"route-map FROM_BGP_PEER_{version} permit 100")
        if isolated:
            tsa = "dockers/docker-fpm-frr/frr/bgpd/tsa/bgpd.tsa.isolate.conf.j2"
            if version == "V4":
                out.add(tsa, "route-map TO_BGP_PEER_V4 permit 20", " match ip address prefix-list PL_LoopbackV4")
            out.add(tsa, f"route-map TO_BGP_PEER_{version} deny 40")
        out.add(policies, f"route-map TO_BGP_PEER_{version} permit 100")
    if config.get("BGP_PEER_RANGE"):
        out.add(
            f"{DYNAMIC}/policies.conf.j2", "route-map FROM_BGP_SPEAKER permit 10", "route-map TO_BGP_SPEAKER deny 1"
        )
    out.add(STATIC, "route-map STATIC_ROUTE_FILTER permit 10", " match tag 1")
    out.add(MAIN, f"router bgp {localhost['bgp_asn']}", " no bgp default ipv4-unicast", " no bgp ebgp-requires-policy")
    out.add(f"{MAIN}, {CONSTANTS} multipath_relax", " bgp bestpath as-path multipath-relax")
    out.add(MAIN, f" bgp router-id {localhost.get('bgp_router_id', loopback)}")
    _default_peers(config, out)
    for version, family in ((4, "ipv4"), (6, "ipv6")):
        own = [one for one in addresses if one.version == version]
        _default_family(config, version, family, own, out)
    return out


def _default_peers(config: Config, out: Lines) -> None:
    localhost = config["DEVICE_METADATA"]["localhost"]
    for version in ("V4", "V6"):
        out.add(f"{GENERAL}/peer-group.conf.j2", f" neighbor PEER_{version} peer-group")
    for peer, row in _default_neighbors(config).items():
        instance = f"{GENERAL}/instance.conf.j2"
        out.add(instance, f" neighbor {peer} remote-as {row['asn']}", f" neighbor {peer} timers connect 1")
        if row.get("admin_status", localhost.get("default_bgp_status", "up")) == "down":
            out.add(instance, f" neighbor {peer} shutdown")
    for row in config.get("BGP_PEER_RANGE", {}).values():
        name = row["name"]
        words = "peer-group", "passive", "ebgp-multihop 255", f"remote-as {row['peer_asn']}"
        words = *words, f"update-source {row['src_address']}"
        out.add(f"{DYNAMIC}/instance.conf.j2", *(f" neighbor {name} {each}" for each in words))
        ranges = (f" bgp listen range {each} peer-group {name}" for each in row["ip_range"])
        out.add(f"{DYNAMIC}/instance.conf.j2", *ranges)


def _default_family(config: Config, version: int, family: str, loopbacks: list[Any], out: Lines) -> None:
    localhost, group = config["DEVICE_METADATA"]["localhost"], f"PEER_V{version}"
    bbr = config.get("BGP_BBR", {}).get("all", {}).get("status", "disabled") == "enabled"
    out.add(MAIN, f" address-family {family} unicast")
    for one in loopbacks:
        whole = 32 if version == 4 else 128 if localhost.get("bgp_adv_lo_prefix_as_128") == "true" else 64
        out.add(MAIN, f"  network {ipaddress.ip_network((one.ip, whole), strict=False)}")
    for key in _prefixes(config, "VLAN_INTERFACE", "Vlan"):
        network = ipaddress.ip_interface(key.partition("|")[2]).network
        if network.version == version:
            out.add(MAIN, f"  network {network}")
    out.add(STATIC, "  redistribute static route-map STATIC_ROUTE_FILTER")
    if localhost["type"] == "ToRRouter" or (localhost["type"] == "LeafRouter" and bbr):
        out.add(f"{GENERAL}/peer-group.conf.j2", f"  neighbor {group} allowas-in 1")
    out.add(
        f"{GENERAL}/peer-group.conf.j2",
        f"  neighbor {group} soft-reconfiguration inbound",
        f"  neighbor {group} route-map FROM_BGP_PEER_V{version} in",
        f"  neighbor {group} route-map TO_BGP_PEER_V{version} out",
    )
    for name in config.get("BGP_PEER_RANGE", {}):
        words = "activate", "route-map FROM_BGP_SPEAKER in", "route-map TO_BGP_SPEAKER out"
        out.add(f"{DYNAMIC}/instance.conf.j2", *(f"  neighbor {name} {each}" for each in words))
    for peer in _default_neighbors(config):
        if (":" in peer) == (version == 6):
            own = f"  neighbor {peer} peer-group {group}", f"  neighbor {peer} activate"
            out.add(f"{GENERAL}/instance.conf.j2", *own)
    out.add(f"{MAIN}, {CONSTANTS} maximum_paths", f"  maximum-paths {_MOST_PATHS}", " exit-address-family")


def _default_neighbors(config: Config) -> dict[str, dict[str, Any]]:
    return {key: row for key, row in config.get("BGP_NEIGHBOR", {}).items() if "|" not in key}


def _prefixes(config: Config, table: str, interface: str) -> list[str]:
    return [key for key in config.get(table, {}) if key.startswith(interface) and "|" in key]


def _framework(config: Config) -> Lines:
    instance = config["BGP_GLOBALS"]["default"]
    out = Lines()
    _framework_policies(config, out)
    out.add(FRAMEWORK, f"router bgp {instance['local_asn']}", f" bgp router-id {instance['router_id']}")
    if instance.get("default_ipv4_unicast") != "true":
        out.add(FRAMEWORK, " no bgp default ipv4-unicast")
    if instance.get("load_balance_mp_relax") == "true":
        out.add(FRAMEWORK, " bgp bestpath as-path multipath-relax")
    for key, row in config.get("BGP_PEER_GROUP", {}).items():
        group = key.partition("|")[2]
        out.add(FRAMEWORK, f" neighbor {group} peer-group")
        out.lines += _remote(group, row)
    peers = {key.partition("|")[2]: row for key, row in config.get("BGP_NEIGHBOR", {}).items()}
    for peer, row in peers.items():
        group, word = row.get("peer_group_name", ""), "" if "." in peer or ":" in peer else "interface"
        if word:
            out.add(FRAMEWORK, f" neighbor {peer} {word}")
        out.lines += _remote(peer, row)
        if group:
            out.add(FRAMEWORK, f" neighbor {peer} peer-group {group}")
        out.add(FRAMEWORK, f" neighbor {peer} timers connect 1")
    if most := instance.get("max_dynamic_neighbors"):
        out.add(FRAMEWORK, f" bgp listen limit {most}")
    for key, row in config.get("BGP_GLOBALS_LISTEN_PREFIX", {}).items():
        out.add(FRAMEWORK, f" bgp listen range {key.partition('|')[2]} peer-group {row['peer_group']}")
    for family in ("ipv4", "ipv6"):
        _framework_family(config, family, out)
    return out


def _framework_policies(config: Config, out: Lines) -> None:
    sets = config.get("PREFIX_SET", {})
    for key in config.get("PREFIX", {}):
        name, prefix, lengths = key.split("|")
        low, _, high = lengths.partition("..")
        more = f" le {high}" if high else ""
        more = f" ge {low}{more}" if high and int(low) > int(prefix.partition("/")[2]) else more
        out.add(FRAMEWORK_LISTS, f"{_WORDS[sets[name]['mode']]} prefix-list {name} permit {prefix}{more}")
    for key, row in config.get("ROUTE_MAP", {}).items():
        name, number = key.split("|")
        assert {"match_prefix_set"} >= {field for field in row if field.startswith("match_")}, "not translated here"
        out.add(FRAMEWORK_MAPS, f"route-map {name} {row['route_operation']} {number}")
        if listed := row.get("match_prefix_set"):
            out.add(FRAMEWORK_MAPS, f" match {_WORDS[sets[listed]['mode']]} address prefix-list {listed}")


def _framework_family(config: Config, family: str, out: Lines) -> None:
    own = f"{family}_unicast"
    out.add(FRAMEWORK_AF, f" address-family {family} unicast")
    width = config.get("BGP_GLOBALS_AF", {}).get(f"default|{own}", {}).get("max_ebgp_paths")
    if width:
        out.add(FRAMEWORK_AF, f"  maximum-paths {min(int(width), _MOST_PATHS)}")
    for key in config.get("BGP_GLOBALS_AF_NETWORK", {}):
        _, name, prefix = key.split("|")
        if name == own:
            out.add(FRAMEWORK_AF, f"  network {prefix}")
    for key in config.get("ROUTE_REDISTRIBUTE", {}):
        _, source, _, name = key.split("|")
        if name == family:
            out.add(FRAMEWORK_AF, f"  redistribute {source}")
    for key, row in {**config.get("BGP_PEER_GROUP_AF", {}), **config.get("BGP_NEIGHBOR_AF", {})}.items():
        _, peer, name = key.split("|")
        if name != own:
            continue
        if row.get("admin_status") in ("true", "up"):
            out.add(FRAMEWORK_AF, f"  neighbor {peer} activate")
        for field, direction in (("route_map_in", "in"), ("route_map_out", "out")):
            for route_map in row.get(field, []):
                out.add(FRAMEWORK_AF, f"  neighbor {peer} route-map {route_map} {direction}")
        if row.get("allow_as_in") == "true":
            out.add(FRAMEWORK_AF, f"  neighbor {peer} allowas-in {row.get('allow_as_count', '')}".rstrip())
    out.add(FRAMEWORK_AF, " exit-address-family")


def _remote(name: str, row: dict[str, Any]) -> list[str]:
    """remote-as and what an unnumbered neighbor needs to send IPv4 next hops."""
    found = Lines()
    asn = row.get("asn") or row.get("peer_type")
    if asn:
        found.add(FRAMEWORK, f" neighbor {name} remote-as {asn}")
    if row.get("capability_ext_nexthop") == "true":
        found.add(FRAMEWORK, f" neighbor {name} capability extended-nexthop")
    return found.lines
