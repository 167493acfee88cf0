"""A running switch isolated for maintenance: the rows for frrcfgd, the commands for bgpcfgd, and what refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.deploy import isolation
from fabricgen.deploy.isolation import is_isolated, move
from fabricgen.deploy.restore import Device, DeviceError, boot_id
from fabricgen.deploy.target import aim
from fabricgen.sonic.addresses import parse_address
from fabricgen.sonic.policy import Policies, RouteFilter
from tests.deploy.switch import Tables

FRAMEWORK: Tables = {
    "BGP_NEIGHBOR_AF": {
        "default|192.0.2.1|ipv4_unicast": {"admin_status": "up", "route_map_out": ["TO-WAN"]},
        "default|Ethernet0|ipv4_unicast": {"admin_status": "up"},
    },
    "BGP_PEER_GROUP_AF": {
        "default|FABRIC|ipv4_unicast": {"route_map_in": ["PASS"], "route_map_out": ["PASS"]},
        "default|FABRIC|ipv6_unicast": {"route_map_in": ["PASS"]},
    },
    "DEVICE_METADATA": {"localhost": {"frr_mgmt_framework_config": "true"}},
    "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.0.0.1/32": {}, "Loopback0|fc00::1/128": {}},
    "ROUTE_MAP": {"PASS|10": {"route_operation": "permit"}, "TO-WAN|20": {"route_operation": "permit"}},
    "ROUTE_MAP_SET": {"PASS": {}, "TO-WAN": {}},
}  # fmt: skip
ORDER = ("PREFIX_SET", "PREFIX", "ROUTE_MAP_SET", "ROUTE_MAP", "BGP_PEER_GROUP_AF", "BGP_NEIGHBOR_AF", "save")
BGPCFGD: Tables = {"DEVICE_METADATA": {"localhost": {}}}


class Switch(Device):
    """Takes the commands of both kinds; FRR has what CONFIG_DB has, or nothing."""

    def __init__(self, folder: Path, running: Tables, *, follows: bool = True) -> None:
        super().__init__(folder)
        self.config: Tables = json.loads(json.dumps(running))
        self.follows = follows
        self.log: list[str] = []

    def run(self, *command: str, timeout_s: float = 0, stdin: Path | None = None) -> str:
        match command:
            case ("sonic-cfggen", "-d", "--print-data"):
                return json.dumps(self.config)
            case ("sonic-cfggen", "-a", text, "-w"):
                for table, rows in json.loads(text).items():
                    for key, row in rows.items():
                        self.config.setdefault(table, {}).setdefault(key, {}).update(row)
                        self.log.append(f"{table}|{key}")
            case ("sonic-db-cli", "CONFIG_DB", "DEL", place):
                table, _, key = place.partition("|")
                del self.config[table][key]
                self.config = {name: rows for name, rows in self.config.items() if rows}
            case ("sonic-db-cli", "CONFIG_DB", "HDEL", place, "route_map_out@"):
                table, _, key = place.partition("|")
                del self.config[table][key]["route_map_out"]
            case ("vtysh", "-c", "show running-config"):
                return "\n".join(self._frr()) if self.follows else ""
            case ("TSA" | "TSB" as word,):
                if self.follows:
                    self.config["BGP_DEVICE_GLOBAL"] = {"STATE": {"tsa_enabled": str(word == "TSA").lower()}}
            case ("config", "save", "-y"):
                self.log.append("save")
            case _:
                raise AssertionError(command)
        return ""

    def _frr(self) -> list[str]:
        sessions = [*self.config["BGP_PEER_GROUP_AF"].items(), *self.config["BGP_NEIGHBOR_AF"].items()]
        maps = [(key.split("|")[1], name) for key, row in sessions for name in row.get("route_map_out", [])]
        entries = [key.split("|") for key in self.config["ROUTE_MAP"]]
        return [
            *(f"  neighbor {peer} route-map {name} out" for peer, name in maps),
            *(f"route-map {name} permit {sequence}" for name, sequence in entries),
        ]


def test_only_the_loopbacks_pass_and_the_way_back_leaves_nothing(tmp_path: Path) -> None:
    switch = Switch(tmp_path, FRAMEWORK)
    assert move(switch, FRAMEWORK, away=True, check=False)
    policies = Policies(switch.config)
    rows: list[dict[str, Any]] = [
        *switch.config["BGP_PEER_GROUP_AF"].values(),
        *switch.config["BGP_NEIGHBOR_AF"].values(),
    ]
    maps = [tuple(row["route_map_out"]) for row in rows if "route_map_out" in row]
    assert maps == [("ISOLATED",)] * 3
    own, others = ("10.0.0.1/32", "fc00::1/128"), ("10.0.0.2/32", "fc00::/64")
    for text in (*own, *others):
        prefix = parse_address(text)
        assert prefix and policies.permits(RouteFilter(("ISOLATED",)), prefix) == (text in own)
    order = [place.partition("|")[0] for place in switch.log]
    assert order == sorted(order, key=ORDER.index)
    assert not move(switch, FRAMEWORK, away=True, check=False)
    assert move(switch, FRAMEWORK, away=False, check=False)
    assert switch.config == FRAMEWORK
    assert not move(switch, FRAMEWORK, away=False, check=False)


def test_a_later_change_keeps_the_isolation_but_not_beside_a_drained_file(tmp_path: Path) -> None:
    switch = Switch(tmp_path, FRAMEWORK)
    move(switch, FRAMEWORK, away=True, check=False)
    assert aim(switch.config, FRAMEWORK, [], []) == switch.config
    drained = json.loads(json.dumps(FRAMEWORK).replace('"route_map_out": ["PASS"]', '"route_map_out": ["DRAINED"]'))
    target = aim(switch.config, drained, [], [])
    assert target["BGP_PEER_GROUP_AF"]["default|FABRIC|ipv4_unicast"]["route_map_out"] == ["DRAINED"]
    with pytest.raises(DeviceError, match=r"set its state to active, render, and run apply.yml"):
        move(switch, drained, away=False, check=False)
    assert not is_isolated(FRAMEWORK)


def test_a_check_changes_nothing(tmp_path: Path) -> None:
    for config in (FRAMEWORK, BGPCFGD):
        switch = Switch(tmp_path, config)
        assert move(switch, config, away=True, check=True)
        assert switch.config == config and switch.log == []


def test_what_did_not_happen_is_not_reported_as_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_WAIT_S", 0)
    with pytest.raises(DeviceError, match=r"FRR has no outbound route map ISOLATED for 192.0.2.1, FABRIC"):
        move(Switch(tmp_path, FRAMEWORK, follows=False), FRAMEWORK, away=True, check=False)
    with pytest.raises(DeviceError, match="TSA did not change tsa_enabled"):
        move(Switch(tmp_path, BGPCFGD, follows=False), BGPCFGD, away=True, check=False)
    silent: Tables = {"DEVICE_METADATA": FRAMEWORK["DEVICE_METADATA"]}
    with pytest.raises(DeviceError, match="no address family of a BGP session"):
        move(Switch(tmp_path, silent), silent, away=True, check=False)


def test_a_change_in_progress_comes_first(tmp_path: Path) -> None:
    switch = Switch(tmp_path, BGPCFGD)
    switch.write("pending.json", {
        "boot": boot_id(), "timer": "", "route": "none", "checkpoint": "", "startup_file": "", "settle_s": 0,
        "shared": [], "sessions": [], "owned": None, "hidden": [],
    })  # fmt: skip
    with pytest.raises(DeviceError, match=r"complete it with apply.yml"):
        move(switch, BGPCFGD, away=True, check=False)
