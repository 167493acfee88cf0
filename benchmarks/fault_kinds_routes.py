"""Kinds of faults of routes, sessions and packet filters: see faults.py."""

from collections.abc import Iterator
from ipaddress import ip_network

from benchmarks.fault_changes import Change, Scene, Tables, add, both, drop, is_bgpcfgd, kinds, put, rows

_ROUTING = (
    "BGP_NEIGHBOR BGP_GLOBALS BGP_GLOBALS_AF_NETWORK BGP_DEVICE_GLOBAL BGP_PEER_RANGE DEVICE_METADATA FEATURE "
    "INTERFACE STATIC_ROUTE PORT VRF LOOPBACK_INTERFACE"
)


def _links_of(scene: Scene, switches: bool) -> tuple[str, ...]:
    """The ports to switches, or those to hosts."""
    return tuple(port for port in scene.far if (port in scene.switch_ports) == switches)


def _ports(switches: bool, change: Change) -> Change:
    """A change of the rows of PORT that lead to switches, or to hosts."""

    def changed(scene: Scene, tables: Tables) -> None:
        wanted = _links_of(scene, switches)
        part: Tables = {"PORT": {port: row for port, row in tables["PORT"].items() if port in wanted}}
        change(scene, part)

    return changed


def _vrf(switches: bool, every: int = 1) -> Change:
    """The ports to switches, or those to hosts, are in a VRF."""

    def change(scene: Scene, tables: Tables) -> None:
        for port in sorted(set(_links_of(scene, switches)) & set(tables.get("INTERFACE", {})))[::every]:
            tables["INTERFACE"][port] = {"vrf_name": "Vrf_gpu"}
            tables.setdefault("VRF", {})["Vrf_gpu"] = {}

    return change


def _far_hosts(scene: Scene) -> Iterator[str]:
    """The addresses of hosts of the plane that are behind other switches."""
    near = set(scene.far.values())
    for host in scene.bundle.wiring.hosts if scene.bundle.wiring else ():
        for nic in host.nics:
            if scene.plane and nic.plane == scene.plane.name and (host.name, nic.name) not in near:
                yield from nic.addresses


def _static(longer: bool, **values: str) -> Change:
    """A static route of the subnet of a host behind another switch, or of the whole pool of hosts."""

    def change(scene: Scene, tables: Tables) -> None:
        address = next(_far_hosts(scene), "")
        if address:
            subnet = ip_network(address, strict=False)
            prefix = subnet if longer else subnet.supernet(new_prefix=subnet.prefixlen - 7)
            tables.setdefault("STATIC_ROUTE", {})[f"default|{prefix}"] = dict(values)

    return change


def _static_to_neighbor(scene: Scene, tables: Tables) -> None:
    """A static route of far hosts through the first neighbor, which is right only for some switches."""
    neighbor = next((key for key, _row in rows(tables, "BGP_NEIGHBOR") if "." in key), "").rpartition("|")[2]
    if neighbor:
        _static(False, nexthop=neighbor, distance="1")(scene, tables)


def _other_size(longer: bool) -> Change:
    """The announced prefixes are one bit longer, or shorter by 8."""

    def change(_scene: Scene, tables: Tables) -> None:
        for table in ("STATIC_ROUTE", "BGP_GLOBALS_AF_NETWORK"):
            for key, row in rows(tables, table):
                head, _, text = key.rpartition("|")
                subnet = ip_network(text)
                if 8 < subnet.prefixlen < subnet.max_prefixlen - 1:
                    del tables[table][key]
                    other = next(subnet.subnets()) if longer else subnet.supernet(prefixlen_diff=8)
                    tables[table][f"{head}|{other}"] = row

    return change


def _acl(type_: str, stage: str = "ingress", policy: str = "DROP", **fields: str) -> Change:
    """An ACL with one rule on all ports with a cable."""

    def change(scene: Scene, tables: Tables) -> None:
        table = {"type": type_, "stage": stage, "ports": sorted(scene.far), "policy_desc": "DATA"}
        tables.setdefault("ACL_TABLE", {})["DATA"] = table
        rule = {"PRIORITY": "100", "PACKET_ACTION": policy, **fields}
        tables.setdefault("ACL_RULE", {})["DATA|RULE_1"] = {name: value for name, value in rule.items() if value}

    return change


def _acl_of_hosts(scene: Scene, tables: Tables) -> None:
    address = next((one for one in _far_hosts(scene) if "." in one), "")
    if address:
        subnet = ip_network(address, strict=False).supernet(new_prefix=24)
        _acl("L3", DST_IP=str(subnet))(scene, tables)


def _sessions(one_in: int, family: str = "") -> Change:
    """Every n-th session is missing, of one family or of both."""

    def change(_: Scene, tables: Tables) -> None:
        keys = sorted(key for key, _row in rows(tables, "BGP_NEIGHBOR") if family in key)
        for key in keys[::one_in]:
            del tables["BGP_NEIGHBOR"][key]

    return change


def _ranges(_: Scene, tables: Tables) -> None:
    """Both ends listen, so that no switch opens a session."""
    addresses = [key for key, _row in rows(tables, "BGP_NEIGHBOR") if "." in key and "|" not in key]
    if addresses and not tables.get("BGP_PEER_GROUP"):
        tables["BGP_NEIGHBOR"] = {key: row for key, row in tables["BGP_NEIGHBOR"].items() if "." not in key}
        subnet = str(ip_network(addresses[0]).supernet(new_prefix=16))
        tables["BGP_PEER_RANGE"] = {"FABRIC": {"name": "FABRIC", "ip_range": [subnet]}}


def _moved(table: str) -> Change:
    """The sessions are in another table."""

    def change(_: Scene, tables: Tables) -> None:
        if tables.get("BGP_NEIGHBOR"):
            tables[table] = tables.pop("BGP_NEIGHBOR")

    return change


def _swapped_ends(scene: Scene, tables: Tables) -> None:
    """The switch has the address of the far end on each link to a switch."""
    for key, row in rows(tables, "INTERFACE", lambda key, _: key.partition("|")[0] in scene.switch_ports):
        port, _, text = key.partition("|")
        address, _, size = text.partition("/")
        if size == "31":
            head, _, last = address.rpartition(".")
            del tables["INTERFACE"][key]
            tables["INTERFACE"][f"{port}|{head}.{int(last) ^ 1}/31"] = row


def _same_management(_: Scene, tables: Tables) -> None:
    for key, row in rows(tables, "MGMT_INTERFACE"):
        del tables["MGMT_INTERFACE"][key]
        tables["MGMT_INTERFACE"].setdefault("eth0|10.255.0.250/20", row)


def _leaf(scene: Scene) -> bool:
    return bool(_links_of(scene, False)) and bool(scene.switch_ports)


def _above(scene: Scene) -> bool:
    return not _links_of(scene, False)


_FILTERS = "ACL_RULE ACL_TABLE"
KINDS = [
    *kinds(
        _ROUTING,
        vrf_of_switch_links=_vrf(True),
        vrf_of_half_the_switch_links=_vrf(True, 2),
        vrf_of_host_links=_vrf(False),
        blackhole_of_a_host=_static(True, blackhole="true"),
        blackhole_of_hosts=_static(False, blackhole="true"),
        static_route_to_a_null_interface=_static(False, ifname="Null0"),
        static_route_to_one_neighbor=_static_to_neighbor,
        routing_mode_split_unified=put("DEVICE_METADATA", docker_routing_config_mode="split-unified"),
        routing_mode_split=put("DEVICE_METADATA", docker_routing_config_mode="split"),
        sessions_missing=drop("BGP_NEIGHBOR"),
        half_of_the_sessions_missing=_sessions(2),
        sessions_of_ipv4_missing=_sessions(1, "."),
        peer_ranges_at_both_ends=_ranges,
        sessions_in_internal_table=_moved("BGP_INTERNAL_NEIGHBOR"),
        sessions_as_monitors=_moved("BGP_MONITORS"),
        loopback_missing=drop("LOOPBACK_INTERFACE"),
        router_id_of_all_equal=put("DEVICE_METADATA", bgp_router_id="10.0.0.1"),
        addresses_of_the_far_end=_swapped_ends,
    ),
    *kinds(_ROUTING, is_bgpcfgd, asn_missing=drop("DEVICE_METADATA", "bgp_asn")),
    *kinds(
        _ROUTING,
        _leaf,
        announced_half=_other_size(True),
        announced_supernet=_other_size(False),
        uplinks_down=_ports(True, put("PORT", admin_status="down")),
        host_ports_down=_ports(False, put("PORT", admin_status="down")),
        host_prefixes_in_a_vrf=lambda _, tables: tables.update(
            STATIC_ROUTE={
                key.replace("default|", "Vrf_gpu|"): row for key, row in tables.get("STATIC_ROUTE", {}).items()
            }
        ),
    ),
    *kinds(
        _ROUTING,
        feature_bgp_disabled=add("FEATURE", "bgp", state="disabled", auto_restart="enabled"),
        feature_bgp_always_disabled=add("FEATURE", "bgp", state="always_disabled"),
        feature_swss_disabled=add("FEATURE", "swss", state="disabled", auto_restart="enabled"),
        feature_syncd_disabled=add("FEATURE", "syncd", state="disabled", auto_restart="enabled"),
    ),
    *kinds(
        _ROUTING,
        traffic_shift_away=lambda _, tables: tables.update(BGP_DEVICE_GLOBAL={"STATE": {"tsa_enabled": "true"}}),
    ),
    *kinds(
        _FILTERS,
        acl_drops_roce=_acl("L3", IP_PROTOCOL="17", L4_DST_PORT="4791"),
        acl_drops_roce_at_egress=_acl("L3", "egress", IP_PROTOCOL="17", L4_DST_PORT="4791"),
        acl_drops_roce_in_a_range=_acl("L3", IP_PROTOCOL="17", L4_DST_PORT_RANGE="4000-5000"),
        acl_drops_roce_dscp=_acl("L3", DSCP="26"),
        acl_drops_udp=_acl("L3", IP_PROTOCOL="17"),
        acl_drops_bgp=_acl("L3", IP_PROTOCOL="6", L4_DST_PORT="179"),
        acl_drops_tcp=_acl("L3", IP_PROTOCOL="6"),
        acl_drops_everything=_acl("L3", SRC_IP="0.0.0.0/0"),
        acl_drops_without_a_condition=_acl("L3"),
        acl_drops_ethernet_type=_acl("L3", ETHER_TYPE="2048"),
        acl_drops_ip_type=_acl("L3", IP_TYPE="IPV4ANY"),
        acl_drops_hosts=_acl_of_hosts,
        acl_sets_dscp=_acl("L3", "ingress", "", IP_PROTOCOL="17", L4_DST_PORT="4791", DSCP_ACTION="0"),
    ),
    *kinds("MGMT_INTERFACE", management_address_of_all_equal=_same_management),
    *kinds("DEVICE_METADATA", mac_of_all_equal=put("DEVICE_METADATA", mac="00:11:22:33:44:55")),
    *kinds(
        "INTERFACE STATIC_ROUTE BGP_NEIGHBOR",
        _above,
        links_and_sessions_missing=both(drop("INTERFACE"), drop("BGP_NEIGHBOR")),
    ),
]
