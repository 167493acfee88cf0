"""Bad cases of the rules on the world outside. A session of bgpcfgd takes everything: FG391 speaks of each."""

import dataclasses
from collections.abc import Callable

from fabricgen.bundle.wiring import WiredCable, WiredExternal, WiredLink
from tests.rules.cases import Case, both, drop, put
from tests.rules.clean import CleanFabric

PORT = "Ethernet504"  # free on every switch of the clean fabric
DISCARD = {"blackhole": "true", "advertise": "false", "distance": "250"}


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
                WiredLink("way", "compute", "external", ("wan1", "xe0"), (switch, PORT), speed, "way"),
            ),
            cables=(*wiring.cables, WiredCable("way", 100, "smf", ("way",))),
            externals=(WiredExternal("wan1", "xe0", "compute", 64900, ("192.0.2.0/31",)),),
        )
        for config in fabric.configs.values():
            config.setdefault("STATIC_ROUTE", {})["default|10.64.0.0/10"] = dict(DISCARD)
        config = fabric.configs[switch]
        config["PORT"][PORT]["admin_status"] = "up"
        config["INTERFACE"].update({PORT: {}, f"{PORT}|192.0.2.1/31": {}})
        config["DEVICE_NEIGHBOR"][PORT] = {"name": "wan1", "port": "xe0"}
        config["DEVICE_NEIGHBOR_METADATA"]["wan1"] = {"type": "RegionalHub"}
        usual = next(iter(config["BGP_NEIGHBOR"].values()))
        config["BGP_NEIGHBOR"]["192.0.2.0"] = {**usual, "asn": "64900", "name": "wan1", "local_addr": "192.0.2.1"}
        config["CABLE_LENGTH"]["AZURE"][PORT] = "0m"
        maps = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map")
        config["PORT_QOS_MAP"][PORT] = dict.fromkeys(maps, "AZURE")
        for key, row in list(config["QUEUE"].items()):
            if key.startswith("Ethernet0|"):
                config["QUEUE"][f"{PORT}|{key.partition('|')[2]}"] = {"scheduler": row["scheduler"]}
        lossy_group, lossy_queue = (config[f"BUFFER_{name}"]["Ethernet0|" + part] for name, part in LOSSY)
        config["BUFFER_PG"].update({f"{PORT}|0": dict(lossy_group), f"{PORT}|3-4": dict(lossy_group)})
        config["BUFFER_QUEUE"][f"{PORT}|0-7"] = dict(lossy_queue)

    return plug


LOSSY = (("PG", "0"), ("QUEUE", "0-2"))
HOST_ROUTE = {"nexthop": "10.64.0.1", "ifname": "Ethernet0", "advertise": "true"}

CASES = [
    Case(
        "FG391",
        put("up", "leaf1", "BGP_NEIGHBOR", "192.0.2.0", "admin_status"),
        "BGP_NEIGHBOR|192.0.2.0",
        plug=wan("leaf1"),
    ),
    Case(
        "FG389",
        drop("leaf3", "STATIC_ROUTE", "default|10.64.0.0/10"),
        "STATIC_ROUTE",
        also=("FG391",),
        plug=wan("leaf1"),
    ),
    Case(
        "FG389",
        both(
            drop("leaf3", "STATIC_ROUTE", "default|10.64.0.0/10"),
            put(DISCARD, "leaf3", "STATIC_ROUTE", "default|10.64.0.0/24"),
        ),
        "STATIC_ROUTE",
        also=("FG391",),
        lenient=True,
        plug=wan("leaf1"),
    ),
    Case(
        "FG389",
        drop("leaf1", "STATIC_ROUTE", "default|10.64.0.0/10"),
        "STATIC_ROUTE",
        also=("FG391",),
        plug=wan("leaf1"),
    ),
    Case(
        "FG389",
        put({"nexthop": "10.64.0.1", "ifname": "Ethernet0"}, "leaf1", "STATIC_ROUTE", "default|0.0.0.0/0"),
        "STATIC_ROUTE",
        also_at=("leaf2", "leaf3", "spine1", "spine2", "spine3"),
    ),
    Case(
        "FG389",
        both(
            put({"nexthop": "10.64.0.1", "ifname": "Ethernet0"}, "leaf1", "STATIC_ROUTE", "default|0.0.0.0/1"),
            *(put(DISCARD, f"leaf{n}", "STATIC_ROUTE", "default|0.0.0.0/0") for n in (1, 2)),
            *(put(DISCARD, f"spine{n}", "STATIC_ROUTE", "default|10.64.0.0/16") for n in (1, 2, 3)),
            put(DISCARD, "leaf3", "STATIC_ROUTE", "default|10.64.0.0/16"),
        ),
        "STATIC_ROUTE",
        also_at=("leaf2",),
        lenient=True,
    ),
    Case("FG390", put("64901", "leaf1", "BGP_NEIGHBOR", "192.0.2.0", "asn"), also=("FG391",), plug=wan("leaf1")),
    Case("FG390", drop("leaf1", "BGP_NEIGHBOR", "192.0.2.0"), plug=wan("leaf1")),
    Case(
        "FG390",
        both(
            put({}, "leaf1", "INTERFACE", f"{PORT}|192.0.2.5/31"),
            drop("leaf1", "INTERFACE", f"{PORT}|192.0.2.1/31"),
        ),
        also=("FG391", "FG335", "FG336"),
        lenient=True,
        plug=wan("leaf1"),
    ),
    Case(
        "FG392",
        put("4200000003", "leaf1", "BGP_NEIGHBOR", "192.0.2.0", "asn"),
        also=("FG390", "FG391"),
        plug=wan("leaf1"),
    ),
    Case(
        "FG393",
        put("up", "spine1", "BGP_NEIGHBOR", "192.0.2.0", "admin_status"),
        f"DEVICE_NEIGHBOR|{PORT}",
        also=("FG391",),
        plug=wan("spine1"),
    ),
    Case(
        "FG394",
        put({**HOST_ROUTE, "nexthop": "10.64.0.9"}, "leaf1", "STATIC_ROUTE", "default|192.168.7.0/24"),
        "STATIC_ROUTE|default|192.168.7.0/24|nexthop",
    ),
    Case(
        "FG394",
        put({**HOST_ROUTE, "ifname": "Ethernet256"}, "leaf1", "STATIC_ROUTE", "default|192.168.7.0/24"),
        "STATIC_ROUTE|default|192.168.7.0/24|nexthop",
    ),
    Case(
        "FG513",
        put("3,4", "leaf1", "PORT_QOS_MAP", PORT, "pfc_enable"),
        also=("FG391",),
        lenient=True,
        plug=wan("leaf1"),
    ),
    Case(
        "FG511", drop("leaf1", "PORT_QOS_MAP", PORT, "tc_to_pg_map"), also=("FG391",), lenient=True, plug=wan("leaf1")
    ),
]
