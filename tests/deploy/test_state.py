"""The state of a switch: each reader of a command's output, and all together."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.deploy import state
from fabricgen.deploy.restore import DeviceError
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
