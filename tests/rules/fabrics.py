"""Larger changes of the clean fabric, and the names that cases use for its rows."""

import dataclasses
from collections.abc import Callable

from fabricgen.bundle.wiring import WiredCable, WiredExternal, WiredLink, Wiring
from fabricgen.vocabulary import DeviceState
from tests.rules.changes import ConfigChange, Configs, both, described, put
from tests.rules.clean import CleanFabric

DSCP = ("DSCP_TO_TC_MAP", "AZURE")
WATCHDOG = {"action": "drop", "detection_time": "1000", "restoration_time": "1000"}
WAN_PORT = "Ethernet504"  # free on every switch of the clean fabric
DISCARD = {"blackhole": "true", "advertise": "false", "distance": "250"}


META = ("DEVICE_METADATA", "localhost")
PROFILE, NEAR = "pg_lossless_400000_40m_profile", "pg_lossless_400000_5m_profile"
WRED = ("WRED_PROFILE", "AZURE_LOSSLESS")
RATIO = {"default_dynamic_th": "0", "over_subscribe_ratio": "2"}
SHARED = {"pool": "ingress_lossless_pool", "size": "18432", "xon": "18432", "xoff": "165888", "dynamic_th": "0"}
LEAVES = ("leaf1", "leaf2", "leaf3")


def unknown_sku(change: ConfigChange, *devices: str) -> ConfigChange:
    """The change on switches of SKUs that the catalog does not know."""

    def changed(configs: Configs) -> None:
        for device in devices or ("leaf1",):
            configs[device]["DEVICE_METADATA"]["localhost"]["hwsku"] = f"Unheard-Of-{device}"
        change(configs)

    changed.__doc__ = f"{', '.join(devices or ('leaf1',))}: the hwsku is unknown to the catalog\n{described(change)}"
    return changed


def of_wiring(change: Callable[[Wiring], Wiring]) -> Callable[[CleanFabric], None]:
    """Another fabric.json."""

    def plug(fabric: CleanFabric) -> None:
        assert fabric.wiring
        fabric.wiring = change(fabric.wiring)

    return plug


def with_rails(wiring: Wiring) -> Wiring:
    """leaf3 says rail 0, and has the NICs of rail 2."""
    rails = {"leaf1": 0, "leaf2": 1, "leaf3": 0}
    devices = (dataclasses.replace(one, rail=rails.get(one.name)) for one in wiring.devices)
    return dataclasses.replace(wiring, devices=tuple(devices))


def rewired(kept: Callable[[WiredLink], bool], **moved: str) -> Callable[[Wiring], Wiring]:
    """Without some links; others lead to another spine."""

    def change(wiring: Wiring) -> Wiring:
        links = (
            dataclasses.replace(link, b=(moved[link.b[0]], link.b[1])) if link.b[0] in moved else link
            for link in wiring.links
            if kept(link)
        )
        return dataclasses.replace(wiring, links=tuple(links))

    return change


def cordoned(*ends: str) -> Callable[[Wiring], Wiring]:
    """The links at these ends, each device:port, are out of service."""

    def change(wiring: Wiring) -> Wiring:
        chosen = (link.id for link in wiring.links if {":".join(link.a), ":".join(link.b)} & set(ends))
        return dataclasses.replace(wiring, cordoned=tuple(chosen))

    return change


def drained(name: str) -> Callable[[Wiring], Wiring]:
    """A switch is drained."""

    def change(wiring: Wiring) -> Wiring:
        devices = (
            dataclasses.replace(one, state=DeviceState.DRAINED) if one.name == name else one for one in wiring.devices
        )
        return dataclasses.replace(wiring, devices=tuple(devices))

    return change


def without_wiring(fabric: CleanFabric) -> None:
    """Loose files; their links come from DEVICE_NEIGHBOR."""
    assert fabric.wiring
    links = (dataclasses.replace(link, plane="", speed_mbps=0) for link in fabric.wiring.links)
    fabric.loose_links = tuple(links)
    fabric.wiring = None


def without_sessions(configs: Configs) -> None:
    """all switches: the table BGP_NEIGHBOR is missing"""
    for config in configs.values():
        del config["BGP_NEIGHBOR"]


def lossless_on(device: str, number: str) -> ConfigChange:
    """Everything of a switch says that this one priority is lossless."""

    def change(configs: Configs) -> None:
        config = configs[device]
        for port, row in config["PORT_QOS_MAP"].items():
            if port != "global":
                row["pfc_enable"] = row["pfcwd_sw_enable"] = number
        for table in ("BUFFER_PG", "BUFFER_QUEUE"):
            config[table] = {key.replace("|3-4", f"|{number}"): row for key, row in config[table].items()}

    change.__doc__ = f"{device}: every table has only priority {number} lossless"
    return change


def framework(*changes: ConfigChange) -> ConfigChange:
    """The clean fabric with unnumbered sessions of the management framework, and changes of it."""

    def change(configs: Configs) -> None:
        for name, config in configs.items():
            meta = config["DEVICE_METADATA"]["localhost"]
            meta["frr_mgmt_framework_config"] = "true"
            ports = {"leaf": (256, 260, 264), "spin": (0, 4, 8)}[name[:4]]
            keys = [f"default|Ethernet{port}" for port in ports]
            for port in ports:
                config["INTERFACE"] = {
                    key: row for key, row in config["INTERFACE"].items() if not key.startswith(f"Ethernet{port}|")
                }
                config["INTERFACE"][f"Ethernet{port}"] = {"ipv6_use_link_local_only": "enable"}
            config["BGP_GLOBALS"] = {
                "default": {
                    "local_asn": meta["bgp_asn"],
                    "router_id": meta["bgp_router_id"],
                    "load_balance_mp_relax": "true",
                }
            }
            config["BGP_GLOBALS_AF"] = {"default|ipv4_unicast": {"max_ebgp_paths": "64"}}
            config["BGP_NEIGHBOR"] = {key: {"peer_type": "external"} for key in keys}
            active = {"admin_status": "up", "route_map_in": ["PASS"], "route_map_out": ["PASS"]}
            config["BGP_NEIGHBOR_AF"] = {f"{key}|ipv4_unicast": dict(active) for key in keys}
            config["ROUTE_MAP_SET"], config["ROUTE_MAP"] = {"PASS": {}}, {"PASS|10": {"route_operation": "permit"}}
            held = [f"{meta['bgp_router_id']}/32", *(key.split("|")[1] for key in config.get("STATIC_ROUTE", {}))]
            config["BGP_GLOBALS_AF_NETWORK"] = {f"default|ipv4_unicast|{prefix}": {} for prefix in held}
        both(*changes)(configs)

    change.__doc__ = f"all switches: the management framework configures unnumbered sessions\n{both(*changes)}"
    return change


def of_each(devices: tuple[str, ...], change: Callable[[str], ConfigChange]) -> ConfigChange:
    return both(*(change(device) for device in devices))


UPLINK = "default|Ethernet256"


def wan(switch: str) -> Callable[[CleanFabric], None]:
    """wan1 of AS 64900 on a free port, nothing lossless on it, and a discard route on every switch."""

    def plug(fabric: CleanFabric) -> None:
        wiring = fabric.wiring
        assert wiring
        speed = wiring.links[0].speed_mbps
        fabric.wiring = dataclasses.replace(
            wiring,
            links=(
                *wiring.links,
                WiredLink("way", "compute", "external", ("wan1", "xe0"), (switch, WAN_PORT), speed, "way"),
            ),
            cables=(*wiring.cables, WiredCable("way", 100, "smf", ("way",))),
            externals=(WiredExternal("wan1", "xe0", "compute", 64900, ("192.0.2.0/31",)),),
        )
        for config in fabric.configs.values():
            config.setdefault("STATIC_ROUTE", {})["default|10.64.0.0/10"] = dict(DISCARD)
        config = fabric.configs[switch]
        config["PORT"][WAN_PORT]["admin_status"] = "up"
        config["INTERFACE"].update({WAN_PORT: {}, f"{WAN_PORT}|192.0.2.1/31": {}})
        config["DEVICE_NEIGHBOR"][WAN_PORT] = {"name": "wan1", "port": "xe0"}
        config["DEVICE_NEIGHBOR_METADATA"]["wan1"] = {"type": "RegionalHub"}
        usual = next(iter(config["BGP_NEIGHBOR"].values()))
        config["BGP_NEIGHBOR"]["192.0.2.0"] = {**usual, "asn": "64900", "name": "wan1", "local_addr": "192.0.2.1"}
        config["CABLE_LENGTH"]["AZURE"][WAN_PORT] = "0m"
        maps = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map")
        config["PORT_QOS_MAP"][WAN_PORT] = dict.fromkeys(maps, "AZURE")
        for key, row in list(config["QUEUE"].items()):
            if key.startswith("Ethernet0|"):
                config["QUEUE"][f"{WAN_PORT}|{key.partition('|')[2]}"] = {"scheduler": row["scheduler"]}
        lossy_group, lossy_queue = (config[f"BUFFER_{name}"]["Ethernet0|" + part] for name, part in LOSSY)
        config["BUFFER_PG"].update({f"{WAN_PORT}|0": dict(lossy_group), f"{WAN_PORT}|3-4": dict(lossy_group)})
        config["BUFFER_QUEUE"][f"{WAN_PORT}|0-7"] = dict(lossy_queue)

    return plug


LOSSY = (("PG", "0"), ("QUEUE", "0-2"))
HOST_ROUTE = {"nexthop": "10.64.0.1", "ifname": "Ethernet0", "advertise": "true"}


def low_xoff(configs: Configs) -> None:
    """leaf1: the hwsku is unknown to the catalog, and xoff of the lossless profile is "20480" """
    configs["leaf1"]["DEVICE_METADATA"]["localhost"]["hwsku"] = "Unheard-Of"
    put("20480", "leaf1", "BUFFER_PROFILE", PROFILE, "xoff")(configs)


def unchanged(configs: Configs) -> None:
    """The wiring in fabric.json differs from the files."""


def across_planes(wiring: Wiring) -> Wiring:
    """A link from the leaf of the in-band plane to a spine of the compute plane."""
    ends = ("inband1", "Ethernet256"), ("spine1", "Ethernet500")
    link = WiredLink("across", "in-band", "leaf-spine", *ends, wiring.links[0].speed_mbps, "across")
    return dataclasses.replace(wiring, links=(*wiring.links, link))


def ipv6_sessions(*without: str) -> ConfigChange:
    """The unnumbered sessions of all leaves with IPv6, except for those of LEAF|PORT in `without`."""
    row = {"admin_status": "up", "route_map_in": ["PASS"], "route_map_out": ["PASS"]}
    keys = [(leaf, port) for leaf in LEAVES for port in (256, 260, 264) if f"{leaf}|Ethernet{port}" not in without]
    rows = (put(row, leaf, "BGP_NEIGHBOR_AF", f"default|Ethernet{port}|ipv6_unicast") for leaf, port in keys)
    return framework(*rows)


def everywhere(table: str, where: str, **fields: str) -> ConfigChange:
    """Fields of every row whose key ends with `where`, on every switch, as a template sets them."""

    def change(configs: Configs) -> None:
        for config in configs.values():
            for key, row in config[table].items():
                if key.endswith(where) and key != "GLOBAL":
                    row.update(fields)

    shown = ", ".join(f"{name} is {value}" for name, value in fields.items())
    change.__doc__ = f"every switch: {table}|*{where}: {shown}"
    return change


def some_ipv6(configs: Configs) -> None:
    """All links between switches have IPv6 addresses, except the last one."""
    for config in configs.values():
        for key in [key for key in config["INTERFACE"] if "|10.128.0." in key]:
            port, _, number = key.removesuffix("/31").replace("|10.128.0.", "|").partition("|")
            if int(number) < LAST_LINK_IP:
                config["INTERFACE"][f"{port}|fd00::{int(number):x}/127"] = {}


LAST_LINK_IP = 28
