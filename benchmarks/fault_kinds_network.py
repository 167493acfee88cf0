"""Kinds of faults of ports, addresses, sessions and hashing: see faults.py."""

from collections.abc import Callable

from benchmarks.fault_changes import Change, Scene, Tables, both, drop, has, is_bgpcfgd, kinds, length, put, rows, scale


def _mtu(number: int, only_switches: bool = False) -> Change:
    def change(scene: Scene, tables: Tables) -> None:
        wanted = scene.switch_ports if only_switches else tuple(tables["PORT"])
        put("PORT", lambda key, _: key in wanted, mtu=str(number))(scene, tables)

    return change


def _timers(keepalive: str, holdtime: str) -> Change:
    """On sessions of bgpcfgd, or on the peer groups of frrcfgd."""

    def change(scene: Scene, tables: Tables) -> None:
        table = "BGP_PEER_GROUP" if tables.get("BGP_PEER_GROUP") else "BGP_NEIGHBOR"
        put(table, keepalive=keepalive, holdtime=holdtime)(scene, tables)

    return change


def _sessions(**values: str) -> Change:
    return put("BGP_NEIGHBOR", None, **values)


def _twice(_: Scene, tables: Tables) -> None:
    """Two ports of the switch with one address."""
    held = [key for key, _row in rows(tables, "INTERFACE") if "/" in key]
    if len(held) > 1:
        port = held[1].partition("|")[0]
        tables["INTERFACE"][f"{port}|{held[0].partition('|')[2]}"] = tables["INTERFACE"].pop(held[1])


def _twice_more(scene: Scene, tables: Tables) -> None:
    """A port without a cable has the address of another port, beside it."""
    held = [key.partition("|") for key, _row in rows(tables, "INTERFACE") if "/" in key]
    free = [port for port in tables["PORT"] if port not in scene.far]
    if held and free:
        tables["INTERFACE"] |= {free[0]: {}, f"{free[0]}|{held[0][2]}": {}}


def _holds(table: str, interface: str, address: Callable[[Scene], str], single: bool = False) -> Change:
    """An interface with the address of a host or a neighbor."""

    def change(scene: Scene, tables: Tables) -> None:
        text = address(scene)
        if text:
            text = f"{text.partition('/')[0]}/{32 if '.' in text else 128}" if single else text
            tables.setdefault(table, {}).update({interface: {}, f"{interface}|{text}": {}})
            if interface.startswith("Vlan"):
                tables.setdefault("VLAN", {})[interface] = {"vlanid": interface[4:]}
            elif interface.startswith("PortChannel"):
                tables.setdefault("PORTCHANNEL", {})[interface] = {"admin_status": "up"}

    return change


def _member(table: str, group: str, **values: str) -> Change:
    """A routed port as a member of a group."""

    def change(_: Scene, tables: Tables) -> None:
        port = next((key.partition("|")[0] for key, _row in rows(tables, "INTERFACE") if "/" in key), "")
        if port:
            tables.setdefault(table.removesuffix("_MEMBER"), {})[group] = (
                {"vlanid": group[4:]} if group.startswith("Vlan") else {"admin_status": "up"}
            )
            tables.setdefault(table, {})[f"{group}|{port}"] = dict(values)

    return change


def _half_ipv6(scene: Scene, tables: Tables) -> None:
    """No IPv6 on every second link, at both ends if applied everywhere."""
    keys = [key for key, _row in rows(tables, "INTERFACE") if ":" in key]
    ends = {port: sorted([f"{scene.name}:{port}", ":".join(scene.far.get(port, ("", "")))])[0] for port in scene.far}
    for key in keys:
        if sum(ends.get(key.partition("|")[0], "").encode()) % 2:
            del tables["INTERFACE"][key]


def _half_sessions_ipv6(scene: Scene, tables: Tables) -> None:
    _half_ipv6(scene, tables)
    held = {ip for key, _row in rows(tables, "INTERFACE") if ":" in (ip := key.partition("|")[2].partition("/")[0])}
    drop("BGP_NEIGHBOR", where=lambda key, row: ":" in key and row.get("local_addr") not in held)(scene, tables)


def _announced_elsewhere(_: Scene, tables: Tables) -> None:
    if rows_of := tables.get("STATIC_ROUTE"):
        tables["STATIC_ROUTE"] = {"default|198.18.0.0/24": next(iter(rows_of.values()))}


def _gateway(_: Scene, tables: Tables) -> None:
    for _key, row in rows(tables, "MGMT_INTERFACE"):
        if row.get("gwaddr"):
            row["gwaddr"] = "192.0.2.1"


def _loopback(address: str) -> Change:
    def change(scene: Scene, tables: Tables) -> None:
        drop("LOOPBACK_INTERFACE", where=lambda key, _: "." in key)(scene, tables)
        tables["LOOPBACK_INTERFACE"][f"Loopback0|{address}"] = {}

    return change


KINDS = [
    *kinds(
        "PORT",
        mtu_1500=_mtu(1500),
        mtu_68=_mtu(68),
        mtu_4096=_mtu(4096),
        mtu_of_switch_links_4096=_mtu(4096, True),
        mtu_of_switch_links_below_hosts=_mtu(4200, True),
        fec_none=put("PORT", fec="none"),
        fec_fc=put("PORT", fec="fc"),
        fec_missing=drop("PORT", "fec"),
        speed_100g=put("PORT", has(speed="400000"), speed="100000"),
        speed_in_gbps=scale("PORT", 0.001, "speed"),
        autoneg_on_optics=put("PORT", autoneg="on"),
        admin_down=put("PORT", admin_status="down"),
        admin_status_missing=drop("PORT", "admin_status"),
        pfc_asymmetric=put("PORT", pfc_asym="on"),
        lanes_shifted=put("PORT", lanes="1,2,3,4"),
        subport_1=put("PORT", subport="1"),
        ports_loop_back=put("PORT", loopback_mode="mac"),
    ),
    *kinds("BREAKOUT_CFG", breakout_1x800g=put("BREAKOUT_CFG", brkout_mode="1x800G")),
    *kinds(
        "BGP_NEIGHBOR BGP_PEER_GROUP",
        holdtime_below_keepalive=_timers("60", "30"),
        holdtime_equals_keepalive=_timers("60", "60"),
        holdtime_twice_keepalive=_timers("30", "60"),
        holdtime_1=_timers("1", "1"),
        holdtime_0=_timers("0", "0"),
        timers_in_ms=_timers("3000", "10000"),
        keepalive_above_default_holdtime=lambda scene, tables: put(
            "BGP_NEIGHBOR", lambda key, _: "|" not in key, keepalive="200"
        )(scene, tables),
    ),
    *kinds(
        "BGP_NEIGHBOR DEVICE_METADATA",
        session_wrong_asn=_sessions(asn="65535"),
        session_asn_0=_sessions(asn="0"),
        session_down=_sessions(admin_status="down"),
        session_without_asn=drop("BGP_NEIGHBOR", "asn"),
        session_reflects_routes=_sessions(rrclient="1"),
        session_other_local_address=_sessions(local_addr="192.0.2.1"),
    ),
    *kinds("BGP_NEIGHBOR", is_bgpcfgd, session_name_of_another=_sessions(name="somebody")),
    *kinds(
        "DEVICE_METADATA BGP_NEIGHBOR BGP_GLOBALS BREAKOUT_CFG",
        sessions_down_by_default=put("DEVICE_METADATA", default_bgp_status="down"),
        asn_of_all_equal=put("DEVICE_METADATA", bgp_asn="65000"),
        type_spine=put("DEVICE_METADATA", type="SpineRouter"),
        hwsku_of_another_layout=put("DEVICE_METADATA", hwsku="Force10-S6000"),
        hostname_sonic=put("DEVICE_METADATA", hostname="sonic"),
        platform_of_another=put("DEVICE_METADATA", platform="x86_64-kvm_x86_64-r0"),
        other_configuration_daemon=lambda scene, tables: put(
            "DEVICE_METADATA",
            frr_mgmt_framework_config="false"
            if tables["DEVICE_METADATA"]["localhost"].get("frr_mgmt_framework_config") == "true"
            else "true",
        )(scene, tables),
    ),
    *kinds(
        "BGP_GLOBALS BGP_GLOBALS_AF BGP_PEER_GROUP_AF BGP_NEIGHBOR_AF ROUTE_MAP",
        one_path=put("BGP_GLOBALS_AF", max_ebgp_paths="1"),
        no_relaxed_paths=put("BGP_GLOBALS", load_balance_mp_relax="false"),
        route_map_denies=put("ROUTE_MAP", route_operation="deny"),
        families_down=both(put("BGP_PEER_GROUP_AF", admin_status="down"), put("BGP_NEIGHBOR_AF", admin_status="down")),
        same_router_id=put("BGP_GLOBALS", router_id="10.0.0.1"),
    ),
    *kinds(
        "STATIC_ROUTE",
        announced_elsewhere=_announced_elsewhere,
        route_without_blackhole=drop("STATIC_ROUTE", "blackhole"),
        routes_missing=drop("STATIC_ROUTE"),
    ),
    *kinds(
        "STATIC_ROUTE",
        is_bgpcfgd,  # frrcfgd does not read the field
        not_announced=put("STATIC_ROUTE", has(advertise="true"), advertise="false"),
    ),
    *kinds(
        "SWITCH_HASH",
        hash_of_addresses=put("SWITCH_HASH", ecmp_hash=["DST_IP", "SRC_IP"]),
        hash_without_source_port=put("SWITCH_HASH", ecmp_hash=["DST_IP", "IP_PROTOCOL", "L4_DST_PORT", "SRC_IP"]),
    ),
    *kinds(
        "INTERFACE VLAN_INTERFACE LOOPBACK_INTERFACE PORTCHANNEL_INTERFACE PORTCHANNEL_MEMBER VLAN_MEMBER",
        one_address_on_two_ports=_twice,
        one_address_on_a_free_port=_twice_more,
        vlan_with_address_of_host=_holds("VLAN_INTERFACE", "Vlan100", lambda scene: scene.host_address),
        vlan_with_address_of_neighbor=_holds("VLAN_INTERFACE", "Vlan100", lambda scene: scene.neighbor_address),
        vlan_with_subnet_of_a_port=_holds(
            "VLAN_INTERFACE", "Vlan100", lambda scene: scene.host_address.replace("/31", "/24")
        ),
        loopback_with_address_of_host=_holds("LOOPBACK_INTERFACE", "Loopback1", lambda scene: scene.host_address, True),
        loopback_with_address_of_neighbor=_holds(
            "LOOPBACK_INTERFACE", "Loopback1", lambda scene: scene.neighbor_address, True
        ),
        channel_with_address_of_host=_holds("PORTCHANNEL_INTERFACE", "PortChannel1", lambda scene: scene.host_address),
        channel_with_address_of_neighbor=_holds(
            "PORTCHANNEL_INTERFACE", "PortChannel1", lambda scene: scene.neighbor_address
        ),
        routed_port_in_channel=_member("PORTCHANNEL_MEMBER", "PortChannel1"),
        routed_port_in_vlan=_member("VLAN_MEMBER", "Vlan100", tagging_mode="untagged"),
        half_of_ipv6=_half_ipv6,
        half_of_ipv6_and_its_sessions=_half_sessions_ipv6,
        links_of_24=length(24),
        links_of_30=length(30),
        links_of_32=length(32),
        loopback_of_24=_loopback("10.0.0.1/24"),
        loopback_of_all_equal=_loopback("10.0.0.1/32"),
        addresses_missing=drop("INTERFACE", where=lambda key, _: "|" in key),
        vrf_of_all_ports=put("INTERFACE", lambda key, _: "|" not in key, vrf_name="Vrf_gpu"),
    ),
    *kinds("MGMT_INTERFACE", gateway_elsewhere=_gateway),
    *kinds(
        "DEVICE_NEIGHBOR",
        neighbors_missing=drop("DEVICE_NEIGHBOR"),
        neighbors_ports=put("DEVICE_NEIGHBOR", port="eth0"),
    ),
]
