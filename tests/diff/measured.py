"""Changes of a leaf that were applied with the real updater, as functions that edit a configuration.

L32: the quickstart (32 ports up, 2248 fields, 16 sessions). L64 and N64: 64 ports up, Arista 7060X6 and SN5600.
"""

import copy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from fabricgen.cli.main import run
from tests.inventories import rail_optimized, write

Config = dict[str, Any]
Edit = Callable[[Config], None]
QOS_TABLES = ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PORT_QOS_MAP")
LISTS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")
HOST_TABLES = (*QOS_TABLES, *LISTS, "PFC_WD", "INTERFACE", "DEVICE_NEIGHBOR")


def leaf(bundle: Path) -> Config:
    """The configuration of the first leaf."""
    config: Config = orjson.loads((bundle / "sonic/compute-su00-r0-leaf/config_db.json").read_bytes())
    return config


def render_leaf(folder: Path, platform: str, unit: int = 32, **lossless: Any) -> Config:
    """The first leaf of a fabric with a unit of hosts on each leaf."""
    cables = {"host-leaf": "5m", "leaf-spine": {"length": "40m", "medium": "smf"}}
    tree = rail_optimized(hosts=unit, unit=unit, planned=2, platform=platform, cables=cables, **lossless)
    with pytest.raises(SystemExit):
        run(["-q", "render", str(write(folder / "inventory", tree)), "--output", str(folder / "bundle")])
    return leaf(folder / "bundle")


def edited(config: Config, edit: Edit) -> Config:
    """A copy, edited."""
    new = copy.deepcopy(config)
    edit(new)
    return {table: rows for table, rows in new.items() if rows}


def up_ports(config: Config) -> list[str]:
    return [port for port, row in config["PORT"].items() if row.get("admin_status") == "up"]


def host_ports(config: Config) -> list[str]:
    return [port for port in up_ports(config) if config["DEVICE_NEIGHBOR"][port]["port"].startswith("rail")]


def every(table: str, **fields: str) -> Edit:
    """The fields in each row of a table."""

    def edit(config: Config) -> None:
        for key, row in config[table].items():
            if key not in ("GLOBAL", "global"):
                row.update(fields)

    return edit


def watchdog(config: Config) -> None:
    every("PFC_WD", detection_time="200", restoration_time="200")(config)
    config["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = "100"


def ecn(config: Config) -> None:
    for profile in config["WRED_PROFILE"].values():
        for colour in ("green", "red", "yellow"):
            profile |= {f"{colour}_min_threshold": "1000", f"{colour}_max_threshold": "2000"}


def dscp(config: Config) -> None:
    config["DSCP_TO_TC_MAP"]["AZURE"]["1"] = "3"


def weight(config: Config) -> None:
    config["SCHEDULER"]["LOSSY"]["weight"] = "6"


def neighbor_out(config: Config) -> None:
    del config["BGP_NEIGHBOR"][next(iter(config["BGP_NEIGHBOR"]))]


def ntp_and_syslog(config: Config) -> None:
    servers = config["NTP_SERVER"]
    servers["10.255.15.9"] = servers.pop(next(iter(servers))) | {"version": "3"}
    config["SYSLOG_SERVER"]["10.255.15.8"] = {"vrf": "mgmt"}


def speed(ports: int) -> Edit:
    def edit(config: Config) -> None:
        for port in up_ports(config)[:ports]:
            config["PORT"][port]["speed"] = "200000"

    return edit


def remove_host(config: Config) -> None:
    port = host_ports(config)[-1]
    host = config["DEVICE_NEIGHBOR"][port]["name"]
    for table in HOST_TABLES:
        remove(config, table, [port])
    del config["DEVICE_NEIGHBOR_METADATA"][host]
    if host_cables := config.get("CABLE_LENGTH", {}).get("AZURE", {}):
        host_cables.pop(port)
    config["PORT"][port]["admin_status"] = "down"
    del config["PORT"][port]["description"]


def remove(config: Config, table: str, ports: Iterable[str]) -> None:
    for key in [key for key in config.get(table, {}) if key.partition("|")[0] in ports]:
        del config[table][key]


def cable(ports: int, *, old_leaves: bool = False) -> Edit:
    """Host cables of 40 m; `old_leaves` is whether the profile of 5 m is removed."""

    def edit(config: Config) -> None:
        for port in host_ports(config)[:ports]:
            config["CABLE_LENGTH"]["AZURE"][port] = "40m"
            if config["DEVICE_METADATA"]["localhost"]["buffer_model"] == "traditional":
                config["BUFFER_PG"][f"{port}|3-4"]["profile"] = "pg_lossless_400000_40m_profile"
        if old_leaves:
            del config["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"]

    return edit


def asn(config: Config) -> None:
    for row in config["BGP_NEIGHBOR"].values():
        row["asn"] = str(int(row["asn"]) + 7)


def rename_sessions(config: Config) -> None:
    """14 of 16 sessions with another name, on other ports of the far ends."""
    for row in list(config["BGP_NEIGHBOR"].values())[2:]:
        row["name"] += "-new"
    for port in [port for port in up_ports(config) if port not in host_ports(config)][2:]:
        config["DEVICE_NEIGHBOR"][port]["name"] += "-new"
        config["PORT"][port]["description"] += "-new"
    config["DEVICE_NEIGHBOR_METADATA"]["one-new"] = {"hwsku": "x", "type": "LeafRouter"}


def classes(target: Config, ports: int | None = None) -> Edit:
    """The rows of `ports` ports with the classes of another configuration; all tables without `ports`."""

    def edit(config: Config) -> None:
        if ports is None:
            config.clear()
            config.update(copy.deepcopy(target))
            return
        chosen = up_ports(target)[:ports]
        for table in QOS_TABLES:
            remove(config, table, chosen)
            config[table] |= {key: row for key, row in target[table].items() if key.partition("|")[0] in chosen}

    return edit
