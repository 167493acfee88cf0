"""Bad cases of what real fabrics got wrong: wiring, pools of any platform, both ends of a link, the framework's BGP."""

import dataclasses
from collections.abc import Callable

from fabricgen.bundle.wiring import WiredLink, Wiring
from tests.rules.cases import Case, Change, both, drop, put
from tests.rules.clean import SPINE_ASN, CleanFabric, Config

META = ("DEVICE_METADATA", "localhost")
PROFILE, NEAR = "pg_lossless_400000_40m_profile", "pg_lossless_400000_5m_profile"
WRED = ("WRED_PROFILE", "AZURE_LOSSLESS")
RATIO = {"default_dynamic_th": "0", "over_subscribe_ratio": "2"}
SHARED = {"pool": "ingress_lossless_pool", "size": "18432", "xon": "18432", "xoff": "165888", "dynamic_th": "0"}
LEAVES = ("leaf1", "leaf2", "leaf3")


def unknown_sku(change: Change, *devices: str) -> Change:
    """The change on switches of SKUs that the catalog does not know."""

    def changed(configs: dict[str, Config]) -> str:
        for device in devices or ("leaf1",):
            configs[device]["DEVICE_METADATA"]["localhost"]["hwsku"] = f"Unheard-Of-{device}"
        return change(configs)

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


def without_wiring(fabric: CleanFabric) -> None:
    """Loose files; their links come from DEVICE_NEIGHBOR."""
    assert fabric.wiring
    links = (dataclasses.replace(link, plane="", speed_mbps=0) for link in fabric.wiring.links)
    fabric.loose_links = tuple(links)
    fabric.wiring = None


def lossless_on(device: str, number: str) -> Change:
    """Everything of a switch says that this one priority is lossless."""

    def change(configs: dict[str, Config]) -> str:
        config = configs[device]
        for port, row in config["PORT_QOS_MAP"].items():
            if port != "global":
                row["pfc_enable"] = row["pfcwd_sw_enable"] = number
        for table in ("BUFFER_PG", "BUFFER_QUEUE"):
            config[table] = {key.replace("|3-4", f"|{number}"): row for key, row in config[table].items()}
        return f"{device}:PORT_QOS_MAP|Ethernet0|pfc_enable"

    return change


def framework(*changes: Change) -> Change:
    """The clean fabric with unnumbered sessions of the management framework, and changes of it."""

    def change(configs: dict[str, Config]) -> str:
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
        return both(*changes)(configs) if changes else "leaf1:"

    return change


def of_each(devices: tuple[str, ...], change: Callable[[str], Change]) -> Change:
    return both(*(change(device) for device in devices))


UPLINK = "default|Ethernet256"

CASES = [
    Case("FG251", lambda configs: "leaf3:DEVICE_NEIGHBOR|Ethernet0", plug=of_wiring(with_rails)),
    Case(
        "FG252",
        lambda configs: "leaf2:DEVICE_NEIGHBOR",
        plug=of_wiring(rewired(lambda link: link.a[0] != "leaf2" or link.b[0] == "spine1")),
        lenient=True,
    ),
    Case(
        "FG253",
        lambda configs: "leaf1:DEVICE_NEIGHBOR",
        plug=of_wiring(
            lambda wiring: dataclasses.replace(
                wiring,
                links=(
                    *wiring.links,
                    *(
                        dataclasses.replace(
                            wiring.links[-1],
                            id=f"more{port}",
                            a=("leaf1", f"Ethernet{port}"),
                            b=("spine1", f"Ethernet{port}"),
                        )
                        for port in (300, 304)
                    ),
                ),
            )
        ),
        lenient=True,
    ),
    Case(
        "FG250",
        both(
            put("spine1:Ethernet8", "leaf1", "PORT", "Ethernet264", "description"),
            put("gpu1 nic0", "leaf1", "PORT", "Ethernet0", "description"),
            put("gpu2 nic0", "leaf1", "PORT", "Ethernet4", "description"),
            put("spine1:Ethernet0", "leaf1", "PORT", "Ethernet256", "description"),
            put("spine2:Ethernet0", "leaf1", "PORT", "Ethernet260", "description"),
        ),
    ),
    Case(
        "FG345",
        both(
            put(SPINE_ASN, "leaf1", *META, "bgp_asn"),
            *(put(SPINE_ASN, f"spine{n + 1}", "BGP_NEIGHBOR", f"10.128.0.{12 + 2 * n}", "asn") for n in range(3)),
        ),
        lenient=True,
    ),
    Case("FG352", put("LeafRouter", "leaf1", *META, "type"), plug=without_wiring, lenient=True),
    Case(
        "FG346", framework(put("2", "leaf1", "BGP_GLOBALS_AF", "default|ipv4_unicast", "max_ebgp_paths")), lenient=True
    ),
    Case("FG347", framework(drop("leaf1", "BGP_NEIGHBOR", UPLINK)), lenient=True),
    Case(
        "FG348",
        framework(put("down", "leaf1", "BGP_NEIGHBOR_AF", f"{UPLINK}|ipv4_unicast", "admin_status")),
        f"BGP_NEIGHBOR_AF|{UPLINK}|ipv4_unicast",
        lenient=True,
    ),
    Case("FG349", framework(put("10.0.9.9", "leaf1", "BGP_GLOBALS", "default", "router_id")), lenient=True),
    Case("FG349", framework(put("4200000099", "leaf1", "BGP_GLOBALS", "default", "local_asn")), lenient=True),
    Case("FG349", framework(drop("leaf1", "BGP_GLOBALS_AF", "default|ipv4_unicast")), lenient=True),
    Case("FG353", framework(drop("leaf1", "BGP_GLOBALS_AF_NETWORK", "default|ipv4_unicast|10.0.0.1/32")), lenient=True),
    Case(
        "FG353", framework(drop("leaf1", "BGP_GLOBALS_AF_NETWORK", "default|ipv4_unicast|10.64.0.0/24")), lenient=True
    ),
    Case(
        "FG354", framework(put({}, "leaf1", "BGP_GLOBALS_AF_NETWORK", "default|ipv4_unicast|10.9.0.0/24")), lenient=True
    ),
    Case(
        "FG509",
        both(
            put({"tagging_mode": "untagged"}, "leaf1", "VLAN_MEMBER", "Vlan100|Ethernet256"),
            put({"vlanid": "100"}, "leaf1", "VLAN", "Vlan100"),
            drop("leaf1", "INTERFACE", "Ethernet256"),
            drop("leaf1", "INTERFACE", "Ethernet256|10.128.0.12/31"),
        ),
        lenient=True,
    ),
    Case("FG516", lossless_on("spine1", "3"), plug=without_wiring, lenient=True),
    Case(
        "FG517",
        put("trim", "leaf1", "BUFFER_PROFILE", "egress_lossless_profile", "packet_discard_action"),
        lenient=True,
    ),
    Case("FG518", drop("leaf1", "SCHEDULER", "scheduler.1"), also=("FG408",), lenient=True),
    Case("FG518", drop("leaf1", "TC_TO_QUEUE_MAP", "AZURE"), also=("FG408",), lenient=True),
    Case(
        "FG528",
        unknown_sku(of_each((PROFILE, NEAR), lambda name: put("-4", "leaf1", "BUFFER_PROFILE", name, "dynamic_th"))),
        f"BUFFER_PROFILE|{NEAR}|dynamic_th",
        lenient=True,
    ),
    Case(
        "FG529",
        unknown_sku(
            put(
                {"pool": "ingress_lossless_pool", "size": "0", "static_th": "1048576"},
                "leaf1",
                "BUFFER_PROFILE",
                "ingress_lossy_profile",
            )
        ),
        "BUFFER_PROFILE|ingress_lossy_profile|static_th",
        lenient=True,
    ),
    Case(
        "FG535",
        both(
            put("2", "leaf1", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "over_subscribe_ratio"),
            put("3000000", "leaf1", "BUFFER_POOL", "ingress_lossless_pool", "xoff"),
        ),
        model="dynamic",
        lenient=True,
    ),
    Case(
        "FG536",
        unknown_sku(
            both(
                put(SHARED, "leaf1", "BUFFER_PROFILE", PROFILE),
                drop("leaf1", "BUFFER_POOL", "ingress_lossless_pool", "xoff"),
            )
        ),
        f"BUFFER_PROFILE|{PROFILE}|size",
        lenient=True,
    ),
    Case(
        "FG537",
        both(
            put("ingress", "leaf1", "BUFFER_POOL", "ingress_lossless_pool", "type"),
            put("both", "leaf1", "BUFFER_POOL", "egress_lossless_pool", "type"),
            put("voq", "leaf1", *META, "switch_type"),
        ),
        lenient=True,
    ),
    Case(
        "FG538",
        put({**SHARED, "size": "0"}, "leaf1", "BUFFER_PROFILE", "test_profile"),
        "BUFFER_PROFILE|test_profile|size",
        also=("FG522",),
        lenient=True,
    ),
    Case("FG538", unknown_sku(put(dict(SHARED), "leaf1", "BUFFER_PROFILE", "left_over")), lenient=True),
    Case(
        "FG545",
        of_each(LEAVES, lambda device: put("1572864", device, *WRED, "green_max_threshold")),
        "WRED_PROFILE|AZURE_LOSSLESS",
        lenient=True,
    ),
    Case(
        "FG546",
        both(
            put("1048577", "leaf1", *WRED, "green_max_threshold"),
            put("voq", "leaf1", *META, "switch_type"),
            put("2097152", "leaf1", "BUFFER_PROFILE", PROFILE, "xoff"),
            put("2097152", "leaf1", "BUFFER_PROFILE", NEAR, "xoff"),
        ),
        lenient=True,
    ),
    Case("FG556", put("scheduler.2", "leaf1", "QUEUE", "Ethernet0|0", "scheduler")),
    Case(
        "FG567",
        put("1500", "leaf1", "PFC_WD", "Ethernet0", "detection_time"),
        "PFC_WD|Ethernet0|restoration_time",
        also=("FG593",),
    ),
]
