"""A small fabric without a fault: three leaves, three spines, two hosts of three rails. Each test breaks one value.

The model `planes` has a second plane beside it: a leaf without PFC for the in-band NICs of the same hosts.
"""

import dataclasses
import functools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from fabricgen.bundle.device import GivenContent
from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.bundle.wiring import (
    WiredCable,
    WiredDevice,
    WiredHost,
    WiredLink,
    WiredNic,
    WiredPlane,
    Wiring,
)
from fabricgen.findings import Finding
from fabricgen.platforms.catalog import switch_platform
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.rules.run import run
from fabricgen.sonic.dump import dump

Config = dict[str, dict[str, dict[str, Any]]]

HASH = ["DST_IP", "IP_PROTOCOL", "L4_DST_PORT", "L4_SRC_PORT", "SRC_IP"]
PLATFORMS = {"traditional": "arista-7060x6-64pe", "dynamic": "nvidia-sn5600", "planes": "arista-7060x6-64pe"}
LEAVES, SPINES, HOSTS = 3, 3, 2
LOSSLESS = "3,4"
DSCP = {26: "3", 34: "4", 48: "6"}
HOST_CABLE_M, SPINE_CABLE_M = 5, 40
TYPE = {"leaf": "ToRRouter", "spine": "LeafRouter"}
SPINE_ASN = "4200000000"
POLL_MS, TIMER_MS = "1000", "1000"


class CleanFabric:
    """Config dictionaries by device, and the wiring; `judge` runs the rules on both."""

    def __init__(self, configs: dict[str, Config], wiring: Wiring) -> None:
        self.configs = configs
        self.wiring: Wiring | None = wiring
        self.loose_links: tuple[WiredLink, ...] = ()  # where there is no wiring

    def bundle(self, folder: Path | None = None) -> Bundle:
        """The fabric as `open_bundle` would give it, without going through the disk unless a folder is given. Equal
        tables are one object."""
        wired = {device.name: device for device in self.wiring.devices} if self.wiring else {}
        devices = {}
        distinct: dict[bytes, Any] = {}
        for name, config in self.configs.items():
            file = (folder or Path("sonic")) / name / "config_db.json"
            shared = {table: distinct.setdefault(orjson.dumps(rows), rows) for table, rows in config.items()}
            device = ObservedDevice(name, file, wired.get(name), GivenContent(dump(config), shared))
            if folder:
                file.parent.mkdir(parents=True)
                file.write_bytes(device.text)
            devices[name] = device
        links = self.wiring.links if self.wiring else self.loose_links
        return Bundle(devices, links, wiring=self.wiring)

    def judge(self, *select: str) -> list[Finding]:
        """What the rules find."""
        return run(self.bundle(), select)


def with_tables(device: ObservedDevice, config: Config) -> ObservedDevice:
    """The switch with these tables. Those that stay as they were remain shared with others: rules judge them once."""
    before = device.config
    text = orjson.dumps(config, option=orjson.OPT_INDENT_2)
    tables = {name: before[name] if before.get(name) == rows else rows for name, rows in config.items()}
    return device.with_config(tables, text)


def clean_fabric(model: str = "traditional") -> CleanFabric:
    """A fresh copy for one buffer model, or of two planes."""
    configs, wiring = _made(model)
    return CleanFabric(pickle.loads(configs), wiring)  # ten times faster than copy.deepcopy


def broken(model: str, change: Callable[[dict[str, Config]], object]) -> CleanFabric:
    """The clean fabric after one change of its configs."""
    fabric = clean_fabric(model)
    change(fabric.configs)
    return fabric


@functools.cache
def _made(model: str) -> tuple[bytes, Wiring]:
    """The pickled configs, and the wiring."""
    platform = switch_platform(PLATFORMS[model])
    assert platform
    layout = platform.layouts[0]
    ports = [port.name for port in layout.fabric_ports]
    wiring = _wiring(platform, layout, ports)
    if model == "planes":
        wiring = _with_in_band(wiring, platform, layout, ports)
    configs = {device.name: _config(device, platform, layout, wiring) for device in wiring.devices}
    for number, link in enumerate(wiring.links):
        _plug(configs, link, number, layout, platform)
    if model == "planes":
        _remove_pfc(configs["inband1"], layout)
    return pickle.dumps(configs, pickle.HIGHEST_PROTOCOL), wiring


def _wiring(platform: SwitchPlatform, layout: Layout, ports: list[str]) -> Wiring:
    leaves = [f"leaf{n + 1}" for n in range(LEAVES)]
    spines = [f"spine{n + 1}" for n in range(SPINES)]
    devices = tuple(
        WiredDevice(name, f"compute/{name}", "compute", role, platform.name, layout.name, layout.hwsku, pod=1)
        for role, names in (("leaf", leaves), ("spine", spines))
        for name in names
    )
    # Only the first one is known by its addresses, so that the rules that do without can be tested on the others.
    given = dataclasses.replace(devices[0], loopbacks=("10.0.0.1",), management=("10.255.0.10/20",))
    devices = (given, *devices[1:])
    ends = [
        ("host-leaf", (f"gpu{h + 1}", f"nic{n}"), (leaf, ports[h]))
        for n, leaf in enumerate(leaves)
        for h in range(HOSTS)
    ] + [
        ("leaf-spine", (leaf, ports[64 + s]), (spine, ports[n]))
        for n, leaf in enumerate(leaves)
        for s, spine in enumerate(spines)
    ]
    links = tuple(
        WiredLink(f"link{n}", "compute", kind, a, b, layout.speed_mbps, f"cable{n}")
        for n, (kind, a, b) in enumerate(ends)
    )
    lengths = {"host-leaf": HOST_CABLE_M, "leaf-spine": SPINE_CABLE_M}
    cables = tuple(WiredCable(link.cable, lengths[link.kind], "smf", (link.id,)) for link in links)
    hosts = tuple(
        WiredHost(
            f"gpu{h + 1}",
            "gpu",
            "dgx-h100",
            tuple(WiredNic(f"nic{n}", "compute", n, layout.speed_mbps, (_nic_address(n, h),)) for n in range(LEAVES)),
        )
        for h in range(HOSTS)
    )
    plane = WiredPlane("compute", "roce", "rail-optimized", (3, 4), {"3": (26,), "4": (34,)}, 48, 4096)
    return Wiring("clean", (plane,), devices, hosts, links, cables)


def _with_in_band(wiring: Wiring, platform: SwitchPlatform, layout: Layout, ports: list[str]) -> Wiring:
    number, plane = len(wiring.devices), "in-band"
    leaf = WiredDevice("inband1", "in-band/inband1", plane, "leaf", platform.name, layout.name, layout.hwsku, pod=1)
    links = tuple(
        WiredLink(f"in-band{h}", plane, "host-leaf", (f"gpu{h + 1}", f"nic{number}"), ("inband1", ports[h]),
                  layout.speed_mbps, f"in-band-cable{h}")
        for h in range(HOSTS)
    )  # fmt: skip
    return dataclasses.replace(
        wiring,
        planes=(*wiring.planes, WiredPlane(plane, "roce", "explicit", (), {}, purpose="in-band")),
        devices=(*wiring.devices, leaf),
        links=(*wiring.links, *links),
        cables=(*wiring.cables, *(WiredCable(link.cable, HOST_CABLE_M, "smf", (link.id,)) for link in links)),
        hosts=tuple(
            dataclasses.replace(
                host,
                nics=(
                    *host.nics,
                    WiredNic(f"nic{number}", plane, None, layout.speed_mbps, (_nic_address(number, h),)),
                ),
            )
            for h, host in enumerate(wiring.hosts)
        ),
    )


def _remove_pfc(config: Config, layout: Layout) -> None:
    """What a switch without PFC does not have."""
    defaults = layout.buffers["leaf"]
    for table in ("PFC_WD", "WRED_PROFILE", "MAP_PFC_PRIORITY_TO_QUEUE"):
        del config[table]
    config["FLEX_COUNTER_TABLE"].pop("PFCWD")
    config["DSCP_TO_TC_MAP"]["AZURE"].update({"26": "0", "34": "0"})
    config["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"].update({"3": "0", "4": "0"})
    config["CABLE_LENGTH"]["AZURE"] = dict.fromkeys(config["CABLE_LENGTH"]["AZURE"], "0m")
    config["BUFFER_PROFILE"] = {
        name: row
        for name, row in config["BUFFER_PROFILE"].items()
        if name in (defaults.lossy_pg_profile, defaults.lossy_queue_profile)
    }
    config["BUFFER_PG"] = {key: row for key, row in config["BUFFER_PG"].items() if key.endswith("|0")}
    for row in config["BUFFER_QUEUE"].values():
        row["profile"] = defaults.lossy_queue_profile
    for row in config["QUEUE"].values():
        row.pop("wred_profile", None)
    for port, row in config["PORT_QOS_MAP"].items():
        for name in ("pfc_enable", "pfcwd_sw_enable", "pfc_to_queue_map") if port != "global" else ():
            del row[name]


def _nic_address(leaf: int, host: int) -> str:
    return f"10.64.{leaf}.{2 * host + 1}/31"


def _config(device: WiredDevice, platform: SwitchPlatform, layout: Layout, wiring: Wiring) -> Config:
    leaf = device.role == "leaf"
    number = wiring.devices.index(device)
    loopback = f"10.0.0.{number + 1}"
    defaults = layout.buffers[device.role]
    tcs = [str(n) for n in range(8)]
    config: Config = {
        "DEVICE_METADATA": {
            "localhost": {
                "hostname": device.name,
                "hwsku": layout.hwsku,
                "platform": platform.onie_platform,
                "mac": f"02:00:00:00:00:{number + 1:02x}",
                "type": TYPE[device.role],
                "bgp_asn": str(4200000001 + number) if leaf else SPINE_ASN,
                "bgp_router_id": loopback,
                "buffer_model": platform.buffer_model,
                "default_bgp_status": "up",
                "default_pfcwd_status": "enable",
            }
        },
        "PORT": {
            port.name: {
                "lanes": ",".join(map(str, port.lanes)),
                "alias": port.alias,
                "index": str(port.index),
                "subport": str(port.subport),
                "speed": str(port.speed_mbps),
                "mtu": "9100",
                "admin_status": "down",
                **({"fec": port.fec} if port.fec else {}),
            }
            for port in layout.ports
        },
        "BREAKOUT_CFG": {port.parent: {"brkout_mode": port.breakout_mode} for port in layout.ports},
        **({"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": HASH}}} if "ecmp_hash_fields" in platform.capabilities else {}),
        "LOOPBACK_INTERFACE": {"Loopback0": {}, f"Loopback0|{loopback}/32": {}},
        "MGMT_PORT": {"eth0": {"alias": "eth0", "admin_status": "up"}},
        "MGMT_INTERFACE": {f"eth0|10.255.0.{number + 10}/20": {"gwaddr": "10.255.0.1"}},
        "NTP_SERVER": {"10.255.0.2": {"association_type": "server", "iburst": "on"}},
        "INTERFACE": {},
        "BGP_NEIGHBOR": {},
        "DEVICE_NEIGHBOR": {},
        "DEVICE_NEIGHBOR_METADATA": {},
        "DSCP_TO_TC_MAP": {"AZURE": {str(dscp): DSCP.get(dscp, "0") for dscp in range(64)}},
        "TC_TO_QUEUE_MAP": {"AZURE": {tc: tc for tc in tcs}},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {tc: tc if tc in LOSSLESS.split(",") else "0" for tc in tcs}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {tc: tc for tc in tcs}},
        "SCHEDULER": {
            "scheduler.0": {"type": "DWRR", "weight": "14"},
            "scheduler.1": {"type": "DWRR", "weight": "15"},
            "scheduler.2": {"type": "STRICT"},
        },
        "WRED_PROFILE": {
            "AZURE_LOSSLESS": {
                "ecn": "ecn_all",
                **{
                    f"{color}_{name}": value
                    for color in ("green", "yellow", "red")
                    for name, value in (
                        ("min_threshold", "1048576"),
                        ("max_threshold", "2097152"),
                        ("drop_probability", "5"),
                    )
                },
                **{f"wred_{color}_enable": "true" for color in ("green", "yellow", "red")},
            }
        },
        "BUFFER_POOL": {key: dict(row) for key, row in defaults.pools.items()},
        "BUFFER_PROFILE": {key: dict(row) for key, row in defaults.profiles.items()},
        "BUFFER_PG": {},
        "BUFFER_QUEUE": {},
        "QUEUE": {},
        "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "AZURE"}},
        "CABLE_LENGTH": {"AZURE": {}},
        "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": POLL_MS}},
        "FLEX_COUNTER_TABLE": {
            name: {"FLEX_COUNTER_STATUS": "enable"}
            for name in ("PFCWD", "PORT", "QUEUE", "PG_WATERMARK", "QUEUE_WATERMARK", "BUFFER_POOL_WATERMARK")
        },
    }
    if platform.buffer_model == "dynamic":
        config["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] = {"AZURE": {p: p for p in LOSSLESS.split(",")}}
        config["LOSSLESS_TRAFFIC_PATTERN"] = {"AZURE": {"mtu": "4096", "small_packet_percentage": "50"}}
        config["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = {"AZURE": {"default_dynamic_th": "0"}}
        config["BUFFER_PORT_INGRESS_PROFILE_LIST"] = {}
        config["BUFFER_PORT_EGRESS_PROFILE_LIST"] = {}
    if leaf:
        config["STATIC_ROUTE"] = {f"default|10.64.{number}.0/24": {"blackhole": "true"}}
    return config


def _plug(configs: dict[str, Config], link: WiredLink, number: int, layout: Layout, platform: SwitchPlatform) -> None:
    host_link = link.kind == "host-leaf"
    cable_m = HOST_CABLE_M if host_link else SPINE_CABLE_M
    for side, ((name, port), far) in enumerate(((link.a, link.b), (link.b, link.a))):
        if name not in configs:
            continue
        config = configs[name]
        config["PORT"][port]["admin_status"] = "up"
        config["DEVICE_NEIGHBOR"][port] = {"name": far[0], "port": far[1]}
        config["INTERFACE"][port] = {}
        if host_link:
            rail, host = int(far[1].removeprefix("nic")), int(far[0].removeprefix("gpu")) - 1
            config["INTERFACE"][f"{port}|10.64.{rail}.{2 * host}/31"] = {}
        else:
            near_ip, far_ip = (f"10.128.0.{2 * number + end}" for end in (side, 1 - side))
            far_meta = configs[far[0]]["DEVICE_METADATA"]["localhost"]
            config["INTERFACE"][f"{port}|{near_ip}/31"] = {}
            config["BGP_NEIGHBOR"][far_ip] = {
                "asn": far_meta["bgp_asn"],
                "name": far[0],
                "local_addr": near_ip,
                "holdtime": "9",
                "keepalive": "3",
                "admin_status": "up",
            }
            config["DEVICE_NEIGHBOR_METADATA"][far[0]] = {"type": far_meta["type"], "hwsku": far_meta["hwsku"]}
        _queues(config, port, cable_m, layout, platform)


def _queues(config: Config, port: str, cable_m: int, layout: Layout, platform: SwitchPlatform) -> None:
    defaults = layout.buffers["leaf"]
    dynamic = platform.buffer_model == "dynamic"
    config["CABLE_LENGTH"]["AZURE"][port] = f"{cable_m}m"
    config["PORT_QOS_MAP"][port] = {
        **dict.fromkeys(("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map"), "AZURE"),
        "pfc_enable": LOSSLESS,
        "pfcwd_sw_enable": LOSSLESS,
        **({"pfc_to_pg_map": "AZURE"} if dynamic else {}),
    }
    profile = "NULL"
    if not dynamic:
        row = layout.headroom_by_key[layout.speed_mbps, cable_m]
        profile = f"pg_lossless_{row.speed_mbps}_{row.cable_m}m_profile"
        config["BUFFER_PROFILE"][profile] = {
            "pool": "ingress_lossless_pool",
            "size": str(row.size_bytes),
            "xon": str(row.xon_bytes),
            "xoff": str(row.xoff_bytes),
            "dynamic_th": str(row.dynamic_th),
            "xon_offset": str(row.xon_offset_bytes),
        }
    else:
        lists = defaults.port_profile_lists
        config["BUFFER_PORT_INGRESS_PROFILE_LIST"][port] = {"profile_list": lists["ingress"]}
        config["BUFFER_PORT_EGRESS_PROFILE_LIST"][port] = {"profile_list": lists["egress"]}
    config["BUFFER_PG"][f"{port}|0"] = {"profile": defaults.lossy_pg_profile}
    config["BUFFER_PG"][f"{port}|3-4"] = {"profile": profile}
    config["BUFFER_QUEUE"][f"{port}|0-2"] = {"profile": defaults.lossy_queue_profile}
    config["BUFFER_QUEUE"][f"{port}|3-4"] = {"profile": defaults.lossless_queue_profile}
    config["BUFFER_QUEUE"][f"{port}|5-7"] = {"profile": defaults.lossy_queue_profile}
    for queue in range(8):
        row: dict[str, str] = {"scheduler": "scheduler.0"}
        if queue in (3, 4):
            row = {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
        elif queue in (6, 7):
            row = {"scheduler": "scheduler.2"}
        config["QUEUE"][f"{port}|{queue}"] = row
    config["PFC_WD"][port] = {"action": "drop", "detection_time": TIMER_MS, "restoration_time": TIMER_MS}
