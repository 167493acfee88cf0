"""The state of a switch: each reader of a command's output, and all together."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.deploy import state
from fabricgen.deploy.restore import Device, DeviceError
from tests.deploy.switch import PEER, Switch, tables

LINK = {"Ethernet0": {"device": "spine1", "port": "Ethernet8", "alias": "etp2"}}


def lldp(name: str = "spine1", port: str = "etp2") -> dict[str, Any]:
    """What lldpctl prints for one neighbor at Ethernet0."""
    entry = {"name": "Ethernet0", "chassis": [{"name": [{"value": name}]}], "port": [{"id": [{"value": port}]}]}
    return {"lldp": [{"interface": [entry]}]}


def wrong_neighbor(found: str) -> str:
    return f"LLDP: the neighbor of Ethernet0 is {found}, expected spine1 etp2"


def wrong_priorities(found: str) -> str:
    return f"PFC: the lossless priorities of Ethernet8 are {found}, expected 3,4"


def test_established_sessions_of_all_families() -> None:
    peers = {"10.0.0.1": {"state": "Established"}, "10.0.0.3": {"state": "Active"}}
    summary = {
        "ipv4Unicast": {"peers": peers},
        "ipv6Unicast": {"peers": {"fd00::1": {"state": "Established"}}},
        "as": 1,
    }
    assert state.established(summary) == ["10.0.0.1", "fd00::1"]
    assert state.established({}) == []


def test_expected_sessions() -> None:
    rows = {
        "10.0.0.1": {"name": "spine1"},
        "default|10.0.0.3": {"name": "spine2", "admin_status": "up"},
        "10.0.0.5": {"name": "spine3", "admin_status": "down"},
        "10.0.0.7": {"name": "spine4"},
    }
    expected = state.expected_sessions({"BGP_NEIGHBOR": rows}, ["spine4"])
    assert expected == {"10.0.0.1": "spine1", "10.0.0.3": "spine2"}
    assert state.session_problems(expected, ["10.0.0.1"]) == ["BGP: no session with 10.0.0.3 spine2"]


def test_only_sessions_that_were_up_and_are_configured_can_be_lost() -> None:
    target = {"BGP_NEIGHBOR": {"10.0.0.1": {}, "10.0.0.3": {}}}
    assert state.lost_sessions(["10.0.0.1", "10.0.0.9"], target, []) == ["BGP: the session with 10.0.0.1 is down"]


@pytest.mark.parametrize(
    ("name", "port", "problem"),
    [
        ("spine1", "etp2", ""),
        ("spine1.example.net", "Ethernet8", ""),
        ("spine2", "etp2", wrong_neighbor("spine2 etp2")),
        ("spine1", "etp3", wrong_neighbor("spine1 etp3")),
    ],
)
def test_cables(name: str, port: str, problem: str) -> None:
    found = state.cable_problems(LINK, state.neighbors(lldp(name, port)))
    assert found == ([problem] if problem else [])


def test_a_port_without_a_neighbor() -> None:
    assert state.cable_problems(LINK, {}) == [wrong_neighbor("missing")]
    nameless = {"lldp": [{"interface": [{"name": "Ethernet0", "port": [{"id": [{"value": "etp2"}]}]}]}]}
    assert state.neighbors(nameless) == {"Ethernet0": [("", "etp2")]}


def test_lossless_groups() -> None:
    rendered = {
        "BUFFER_PROFILE": {"lossless": {"xoff": "1"}, "lossy": {"size": "0"}},
        "PORT": {"Ethernet0": {"admin_status": "up"}, "Ethernet8": {"admin_status": "down"}},
        "BUFFER_PG": {
            "Ethernet0|0": {"profile": "lossy"},
            "Ethernet0|3-4": {"profile": "lossless"},
            "Ethernet0|6": {"profile": "NULL"},
            "Ethernet8|3-4": {"profile": "lossless"},
        },
    }
    expected = state.lossless_groups(rendered)
    assert expected == ["Ethernet0|3-4", "Ethernet0|6"]
    problems = state.group_problems(expected, ["BUFFER_PG_TABLE:Ethernet0:6"])
    assert problems == ["lossless priority group Ethernet0|3-4 is not in APPL_DB"]


def test_pfc_priorities() -> None:
    rendered = {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}, "Ethernet8": {"pfc_enable": "3,4"}, "global": {}}}
    text = "Interface    Lossless priorities\n-----------  ----\nEthernet0    3,4\n"
    assert state.pfc_problems(rendered, text) == [wrong_priorities("none")]
    assert state.pfc_problems(rendered, text + "Ethernet8    3\n") == [wrong_priorities("3")]


def test_watchdog() -> None:
    rendered = {"PFC_WD": {"GLOBAL": {}, "Ethernet0": {}, "Ethernet8": {}}}
    assert state.watchdog_problems(rendered, "PORT ACTION\nEthernet8 drop 200 200\n") == [
        "PFC watchdog: not enabled on Ethernet0"
    ]


class Reading(Switch):
    """A switch with output for the commands that only read."""

    texts: dict[str, str]

    def run(self, *command: str, timeout_s: float = 0, stdin: Path | None = None) -> str:
        if command[0] in self.texts and "EVAL" not in command:
            return self.texts[command[0]]
        return super().run(*command, timeout_s=timeout_s)


def test_all_together(tmp_path: Path) -> None:
    switch = Reading(tmp_path, tables())
    switch.texts = {"docker": json.dumps(lldp()), "pfcwd": "Ethernet0 drop", "pfc": "Ethernet0 3,4", "sonic-db-cli": ""}
    rendered = tables() | {"PFC_WD": {"Ethernet0": {}}, "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}}}
    assert state.problems_of(switch, rendered, LINK, []) == []
    switch.up = []
    del switch.texts["pfcwd"]
    switch.failing = ("pfcwd show stats",)
    switch.ignored = ("pfcwd",)
    switch.texts["docker"] = "{}"
    assert state.problems_of(switch, rendered, LINK, []) == [
        f"BGP: no session with {PEER} spine1",
        wrong_neighbor("missing"),
        "PFC watchdog: not enabled on Ethernet0",
        "PFC watchdog: a storm is in progress (see `pfcwd show stats`)",
    ]
    switch.failing = ("vtysh",)
    with pytest.raises(DeviceError):
        state.problems_of(switch, rendered, LINK, [])


BONDED: dict[str, dict[str, dict[str, Any]]] = {
    "PORTCHANNEL": {"PortChannel0": {}, "PortChannel96": {}},
    "PORTCHANNEL_MEMBER": {"PortChannel0|Ethernet0": {}, "PortChannel0|Ethernet4": {}, "PortChannel96|Ethernet96": {}},
    "VLAN_MEMBER": {"Vlan110|PortChannel0": {"tagging_mode": "untagged"}, "Vlan120|PortChannel0": {}},
    "MCLAG_DOMAIN": {"1": {"peer_ip": "10.1.0.4", "peer_link": "PortChannel96"}},
}
ROWS = {
    "PORT_TABLE:*": {f"PORT_TABLE:{port}": {"oper_status": "up"} for port in ("Ethernet0", "Ethernet4", "Ethernet96")},
    "LAG_MEMBER_TABLE:*": {
        f"LAG_MEMBER_TABLE:{key.replace('|', ':')}": {"status": "enabled"} for key in BONDED["PORTCHANNEL_MEMBER"]
    },
    "VLAN_MEMBER_TABLE|*": {f"VLAN_MEMBER_TABLE|{key}": {"state": "ok"} for key in BONDED["VLAN_MEMBER"]},
    "MCLAG_TABLE|*": {"MCLAG_TABLE|1": {"oper_status": "up", "role": "active"}},
}
PEER_LEAF = {"Ethernet96": {"device": "leaf2", "port": "Ethernet96", "alias": "etp25"}}


class Bonded(Device):
    """A switch with these rows in its databases."""

    def __init__(self, folder: Path, rows: dict[str, dict[str, dict[str, str]]]) -> None:
        super().__init__(folder)
        self.rows = rows

    def run(self, *command: str, timeout_s: float = 0, stdin: Path | None = None) -> str:
        match command:
            case ("sonic-db-cli", "APPL_DB" | "STATE_DB", "EVAL", _, "0", pattern):
                return json.dumps(self.rows[pattern])
            case ("sonic-db-cli", *_) | ("pfc", *_):
                return ""
            case ("docker", *_):
                return json.dumps({})
        assert command[0] == "vtysh"
        return json.dumps({})


@pytest.mark.parametrize(
    ("pattern", "key", "row", "problem"),
    [
        ("LAG_MEMBER_TABLE:*", "LAG_MEMBER_TABLE:PortChannel0:Ethernet4", {"status": "disabled"},
         "LACP: Ethernet4 has a link, and is not used in PortChannel0"),
        ("LAG_MEMBER_TABLE:*", "LAG_MEMBER_TABLE:PortChannel96:Ethernet96", {},
         "LACP: Ethernet96 has a link, and is not used in PortChannel96"),
        ("PORT_TABLE:*", "PORT_TABLE:Ethernet4", {"oper_status": "down"}, ""),
        ("VLAN_MEMBER_TABLE|*", "VLAN_MEMBER_TABLE|Vlan120|PortChannel0", {}, "VLAN: PortChannel0 is not in Vlan120"),
        ("MCLAG_TABLE|*", "MCLAG_TABLE|1", {"oper_status": "down"},
         "MCLAG: the session of domain 1 with 10.1.0.4 is down"),
        ("MCLAG_TABLE|*", "MCLAG_TABLE|1", {}, "MCLAG: the session of domain 1 with 10.1.0.4 is down"),
    ],
)  # fmt: skip
def test_bonds_vlans_and_pairs(tmp_path: Path, pattern: str, key: str, row: dict[str, str], problem: str) -> None:
    rows = {**ROWS, pattern: {**ROWS[pattern], key: row}}
    assert state.problems_of(Bonded(tmp_path, ROWS), BONDED, {}, []) == []
    assert state.problems_of(Bonded(tmp_path, rows), BONDED, {}, []) == [problem] * bool(problem)


def test_a_port_that_is_off_is_a_host_that_is_off_and_an_absent_leaf_has_no_session(tmp_path: Path) -> None:
    off = {port: {"oper_status": "down"} for port in ROWS["PORT_TABLE:*"]}
    rows: dict[str, dict[str, dict[str, str]]] = {**ROWS, "PORT_TABLE:*": off, "LAG_MEMBER_TABLE:*": {}}
    assert state.problems_of(Bonded(tmp_path, rows), BONDED, {}, []) == []
    domains = {"MCLAG_TABLE|1": {"oper_status": "down"}}
    assert state.pair_problems(BONDED, domains, PEER_LEAF, ["leaf2"]) == []
    assert len(state.pair_problems(BONDED, domains, PEER_LEAF, ["leaf3"])) == 1
