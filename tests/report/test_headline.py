"""Each statement of the headline of `check` is true: of fabrics with something wrong, missing or left out, it is
compared with what this module reads from the rendered files by itself."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Cli
from tests.inventories import Tree, explicit, write

Config = dict[str, dict[str, dict[str, Any]]]
SWITCHES = ("leaf1", "leaf2", "spine1", "spine2")
UPLINKS = [
    ("leaf1", "Ethernet256", "spine1", "Ethernet0"), ("leaf1", "Ethernet264", "spine2", "Ethernet0"),
    ("leaf2", "Ethernet256", "spine1", "Ethernet8"), ("leaf2", "Ethernet264", "spine2", "Ethernet8"),
]  # fmt: skip


def fabric(**more: Any) -> Tree:
    """Two leaves with a host each, and two spines, so that the ring crosses the spines."""
    tree = explicit()
    tree["hosts"]["gpu"]["count"] = 2
    links = [["gpu/0:rail0", "leaf1:Ethernet0"], ["gpu/1:rail0", "leaf2:Ethernet0"]]
    plane = tree["planes"]["compute"]
    plane["links"] = [*links, *([f"{a}:{a_port}", f"{b}:{b_port}"] for a, a_port, b, b_port in UPLINKS)]
    for leaf in plane["leaves"]:
        leaf.pop("rail")
    return {**tree, **more}


def rows(config_db: Config, *names: str) -> Tree:
    """The fabric with other rows at these switches, all without names."""
    return fabric(overrides=[{"match": {"name": name}, "config_db": deepcopy(config_db)} for name in names or SWITCHES])


def states(**given: str) -> Tree:
    return fabric(devices=[{"name": name, "state": state} for name, state in given.items()])


def cordoned(*ends: tuple[str, str, str, str]) -> Tree:
    return fabric(links=[{"ends": [f"{a}:{x}", f"{b}:{y}"], "state": "cordoned"} for a, x, b, y in ends])


def one_spine() -> Tree:
    tree = fabric()
    plane = tree["planes"]["compute"]
    plane["spines"] = plane["spines"][:1]
    plane["links"] = [link for link in plane["links"] if "spine2" not in link[1]]
    return tree


def acl(rule: dict[str, str], *names: str, ports: tuple[str, ...] = ("Ethernet0",)) -> Tree:
    table = {"type": "L3", "stage": "ingress", "ports": list(ports)}
    row = {"PRIORITY": "10", "PACKET_ACTION": "DROP", **rule}
    return rows({"ACL_TABLE": {"DATA": table}, "ACL_RULE": {"DATA|R": row}}, *names)


def pfc(priorities: str, *names: str) -> Tree:
    field = {"pfc_enable": priorities, "pfcwd_sw_enable": priorities}
    return rows({"PORT_QOS_MAP": {"Ethernet*": field}}, *names)


def vrf(*names: str) -> Tree:
    return rows({"VRF": {"Vrf-a": {}}, "INTERFACE": {"Ethernet0": {"vrf_name": "Vrf-a"}}}, *names)


def unnumbered(config_db: Config, *names: str, **more: Any) -> Tree:
    """The fabric with sessions of frrcfgd, and other rows at these switches."""
    tree = {**rows(config_db, *names), **more}
    tree["planes"]["compute"]["bgp"] = "unnumbered"
    return tree


def neighbors(**row: str) -> Config:
    return {"BGP_NEIGHBOR": {"*": dict(row)}}


ROCE = {"IP_PROTOCOL": "17", "L4_DST_PORT": "4791"}
CASES: dict[str, Tree] = {
    "nothing is wrong": fabric(),
    "one spine": one_spine(),
    "no session at any switch": rows({"BGP_NEIGHBOR": None}),  # type: ignore[dict-item]
    "no session at one spine": rows({"BGP_NEIGHBOR": None}, "spine1"),  # type: ignore[dict-item]
    "no session at all spines": rows({"BGP_NEIGHBOR": None}, "spine1", "spine2"),  # type: ignore[dict-item]
    "all sessions are shut down": rows({"BGP_NEIGHBOR": {"*": {"admin_status": "down"}}}),
    "the sessions of a leaf are shut down": rows({"BGP_NEIGHBOR": {"*": {"admin_status": "down"}}}, "leaf1"),
    "all ports are shut down": rows({"PORT": {"*": {"admin_status": "down"}}}),
    "the ports of a spine are shut down": rows({"PORT": {"*": {"admin_status": "down"}}}, "spine1"),
    "no switch has PFC": pfc(""),
    "one leaf has no PFC": pfc("", "leaf1"),
    "all have PFC on one priority": pfc("3"),
    "all have PFC on another priority": pfc("5"),
    "all have PFC on all priorities": pfc("0,1,2,3,4,5,6,7"),
    "a spine has PFC on other priorities": pfc("1,2", "spine1"),
    "the maps of ports are missing": rows({"PORT_QOS_MAP": None}),  # type: ignore[dict-item]
    "a spine is drained": states(spine1="drained"),
    "a leaf is drained": states(leaf1="drained"),
    "both spines are drained": states(spine1="drained", spine2="drained"),
    "a spine is drained and another has failed": states(spine1="drained", spine2="failed"),
    "a spine is planned": states(spine1="planned"),
    "a link is cordoned": cordoned(UPLINKS[0]),
    "the links of a leaf are cordoned": cordoned(*UPLINKS[:2]),
    "links of each leaf are cordoned": cordoned(UPLINKS[0], UPLINKS[3]),
    "the port of a host is in a VRF": vrf("leaf1"),
    "the ports of all hosts are in a VRF": vrf("leaf1", "leaf2"),
    "an ACL drops RoCE of a host": acl(ROCE, "leaf1"),
    "an ACL drops RoCE of all hosts": acl(ROCE, "leaf1", "leaf2"),
    "an ACL drops RoCE at all spines": acl(ROCE, "spine1", "spine2", ports=("Ethernet0", "Ethernet8")),
    "an ACL drops something else": acl({"IP_PROTOCOL": "6", "L4_DST_PORT": "80"}, "leaf1", "leaf2"),
    "a spine is isolated by hand": rows({"BGP_DEVICE_GLOBAL": {"STATE": {"tsa_enabled": "true"}}}, "spine1"),
    "all switches are isolated by hand": rows({"BGP_DEVICE_GLOBAL": {"STATE": {"tsa_enabled": "true"}}}),
    "a table that no rule reads": rows({"NAT_POOL": {"p": {"nat_ip": "192.0.2.1"}}}),
    "a table that no rule reads, on one switch": rows({"NAT_POOL": {"p": {"nat_ip": "192.0.2.1"}}}, "spine2"),
    "two tables that no rule reads": rows(
        {
            "NAT_POOL": {"p": {"nat_ip": "192.0.2.1"}},
            "NEIGH": {"Ethernet0|10.64.0.1": {"neigh": "00:11:22:33:44:55", "family": "IPv4"}},
        },
        "leaf1",
    ),
    "a table that is read, and one that is not": rows(
        {
            "COPP_GROUP": {"queue4_group1": {"trap_action": "trap"}},
            "NAT_POOL": {"p": {"nat_ip": "192.0.2.1"}},
        }
    ),
    "one spine, and its link is cordoned": {
        **one_spine(),
        "links": [{"ends": ["leaf1:Ethernet256", "spine1:Ethernet0"], "state": "cordoned"}],
    },
    "one spine is drained": {**one_spine(), "devices": [{"name": "spine1", "state": "drained"}]},
    "a drained leaf and a cordoned link": {**states(leaf1="drained"), "links": cordoned(UPLINKS[3])["links"]},
    "a drained spine without PFC": {**pfc("", "spine1"), "devices": [{"name": "spine1", "state": "drained"}]},
    "unnumbered, nothing is wrong": unnumbered({}),
    "unnumbered, a spine is drained": unnumbered({}, devices=[{"name": "spine1", "state": "drained"}]),
    "unnumbered, all neighbors are passive": unnumbered(neighbors(passive_mode="true")),
    "unnumbered, one end is passive": unnumbered(neighbors(passive_mode="true"), "leaf1", "leaf2"),
    "unnumbered, TTL security at one end": unnumbered(neighbors(ttl_security_hops="1"), "spine1"),
    "unnumbered, TTL security at both ends": unnumbered(neighbors(ttl_security_hops="1")),
    "unnumbered, new neighbors are shut down": unnumbered({"BGP_GLOBALS": {"default": {"default_shutdown": "true"}}}),
    "unnumbered, the spines shut new neighbors down": unnumbered(
        {"BGP_GLOBALS": {"default": {"default_shutdown": "true"}}}, "spine1", "spine2"
    ),
    "copies in a lossless class": rows(
        {"MIRROR_SESSION": {"m": {"type": "ERSPAN", "src_ip": "192.0.2.1", "dst_ip": "192.0.2.2", "dscp": "26"}}}
    ),
    "one cause, many consequences": rows({"DEVICE_METADATA": {"localhost": {"default_bgp_status": "down"}}}),
    "two causes": rows({"BGP_NEIGHBOR": None, "PFC_WD": None}, "leaf1"),  # type: ignore[dict-item]
    "the inventory has an error": fabric(wrong=1),
}


class Read(NamedTuple):
    """The rendered files: configurations by switch, and fabric.json."""

    configs: dict[str, Config]
    wiring: dict[str, Any]

    def is_up(self, switch: str, port: str) -> bool:
        return self.configs[switch]["PORT"].get(port, {}).get("admin_status") == "up"

    def states(self) -> dict[str, str]:
        return {one["name"]: one["state"] for one in self.wiring["devices"]}

    def sessions(self) -> Iterator[tuple[str, str]]:
        """The pairs of switches with a session that can come up: both have the row, up, over ports that are up."""
        for a, a_port, b, b_port in UPLINKS:
            if {a, b} <= self.configs.keys() and self.is_up(a, a_port) and self.is_up(b, b_port):
                if self._is_unnumbered():
                    keys = f"default|{a_port}", f"default|{b_port}"
                else:
                    keys = self._address(b, b_port), self._address(a, a_port)
                own = [self._neighbor(a, keys[0]), self._neighbor(b, keys[1])]
                if all(row is not None and row.get("admin_status") != "down" for row in own) and not self._disagree(
                    own
                ):
                    yield a, b

    def _is_unnumbered(self) -> bool:
        return any(config.get("BGP_GLOBALS") for config in self.configs.values())

    def _neighbor(self, switch: str, key: str) -> dict[str, str] | None:
        config = self.configs[switch]
        default = config["DEVICE_METADATA"]["localhost"].get("default_bgp_status")
        if config.get("BGP_GLOBALS", {}).get("default", {}).get("default_shutdown") == "true":
            return None
        row: dict[str, str] | None = config.get("BGP_NEIGHBOR", {}).get(key)
        return {"admin_status": "down", **row} if row is not None and default == "down" else row

    def _disagree(self, rows: list[Any]) -> bool:
        passive = [row.get("passive_mode") == "true" for row in rows]
        return all(passive) or len({bool(row.get("ttl_security_hops")) for row in rows}) > 1

    def _address(self, switch: str, port: str) -> str:
        keys = (key.partition("|") for key in self.configs[switch]["INTERFACE"])
        return next(address.partition("/")[0] for name, _, address in keys if name == port and address)

    def carriers(self) -> set[str]:
        """Spines that announce what they learn."""
        off = {
            name for name, config in self.configs.items()
            if config.get("BGP_DEVICE_GLOBAL", {}).get("STATE", {}).get("tsa_enabled") == "true"
            or any(row["route_map_out"] == ["DRAINED"] for row in config.get("BGP_PEER_GROUP_AF", {}).values())
        }  # fmt: skip
        return {name for name in self.configs if name.startswith("spine")} - off

    def joins(self, sessions: set[tuple[str, str]]) -> bool:
        """Whether a spine has working sessions with both leaves."""
        isolated = {"leaf1", "leaf2"} - {
            name for name in ("leaf1", "leaf2")
            if self.configs[name].get("BGP_DEVICE_GLOBAL", {}).get("STATE", {}).get("tsa_enabled") != "true"
        }  # fmt: skip
        return not isolated and any({("leaf1", one), ("leaf2", one)} <= sessions for one in self.carriers())

    def lossless(self) -> set[int]:
        """The priorities with PFC at both ends of any link between switches that are up."""
        found: set[int] = set()
        for a, a_port, b, b_port in UPLINKS:
            if {a, b} <= self.configs.keys() and self.is_up(a, a_port) and self.is_up(b, b_port):
                found |= self._pfc(a, a_port) & self._pfc(b, b_port)
        return found

    def _pfc(self, switch: str, port: str) -> set[int]:
        given = self.configs[switch].get("PORT_QOS_MAP", {}).get(port, {}).get("pfc_enable", "")
        return {int(word) for word in given.split(",") if word}

    def blocks_roce(self) -> bool:
        """Whether no packet of RoCE passes between the two hosts."""
        for name in ("leaf1", "leaf2"):
            if self.configs[name]["INTERFACE"].get("Ethernet0", {}).get("vrf_name"):
                return True
            if self._drops(name, {"Ethernet0"}):
                return True
        return all(
            self._drops(name, {"Ethernet0", "Ethernet8"}) for name in ("spine1", "spine2") if name in self.configs
        )

    def _drops(self, switch: str, ports: set[str]) -> bool:
        config = self.configs[switch]
        bound = {port for table in config.get("ACL_TABLE", {}).values() for port in table.get("ports", ())}
        rules = config.get("ACL_RULE", {}).values()
        return ports <= bound and any(rule.items() >= {**ROCE, "PACKET_ACTION": "DROP"}.items() for rule in rules)


def read(bundle: Path) -> Read:
    files = (bundle / "sonic").glob("*/config_db.json")
    configs = {file.parent.name: json.loads(file.read_text()) for file in files}
    return Read(configs, json.loads((bundle / "fabric.json").read_text()))


@pytest.mark.parametrize("name", CASES)
def test_each_statement_of_the_headline_is_true(name: str, tmp_path: Path, cli: Cli) -> None:
    inventory = write(tmp_path / "inventory", CASES[name])
    rendered = cli("render", inventory, "-o", tmp_path / "bundle", "-q")
    checked = cli("check", inventory)
    text = checked.out
    first = text.splitlines()[0]
    if rendered.code:
        assert first.startswith("failed: ") and "not judged: the files of the switches, deadlock and congestion" in text
        assert "deadlock  " not in text and "congestion  " not in text
        return
    files = read(tmp_path / "bundle")
    found = json.loads(cli("check", inventory, "--format", "json").out)
    _counts_are_true(first, text, files, found)
    _deadlock_is_true(text, files, found)
    _failures_are_true(first, text, files)
    _traffic_is_true(text, files)
    _service_is_true(first, files)
    for table in ("NAT_POOL", "NEIGH", "COPP_GROUP"):  # rules read the last one
        is_there = any(table in config for config in files.configs.values()) and table != "COPP_GROUP"
        assert is_there == any(re.search(rf"\b{table}\b", line) for line in _unjudged(text)), text
    _causes_are_true(text, found)
    _single_is_true(first, files)


def _unjudged(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("not judged: ")]


def _counts_are_true(first: str, text: str, files: Read, found: dict[str, Any]) -> None:
    severities = [one["severity"] for one in found["findings"]]
    assert first.startswith("failed: ") == ("error" in severities), first
    links = len(files.wiring["links"])
    counted = re.search(r"Checked (\d+) devices, (\d+) links", text)
    assert counted and (int(counted[1]), int(counted[2])) == (len(files.configs), links)
    if severities:
        assert f"judged: {len(files.configs)} devices, {links} links, " in first


def _deadlock_is_true(text: str, files: Read, found: dict[str, Any]) -> None:
    """`free` is said only where something was judged: the priorities of the files, over sessions that come up."""
    line = next(line for line in text.splitlines() if line.startswith("deadlock  "))
    claimed = re.search(r"on priorit(?:y|ies) ([\d, ]+) ", line)
    priorities = {int(word) for word in claimed[1].split(", ")} if claimed else set()
    if claimed:
        assert priorities <= files.lossless() and list(files.sessions()), line
        assert "CYCLIC" not in line, "two tiers have no cycle"
    elif "no link between switches is lossless" in line:
        assert not files.lossless(), line
    else:
        assert "not judged: " in line and any("deadlock" in one for one in _unjudged(text)), text
    if not files.lossless():
        assert not claimed, line


def _failures_are_true(first: str, text: str, files: Read) -> None:
    """Failures disconnect hosts where single sessions do, and the headline names them."""
    found = re.search(r"single failures?: \d+ cyclic, (\d+) disconnect", text)
    if found is None:
        return
    sessions, states = set(files.sessions()), files.states()
    if "drained" in (states["leaf1"], states["leaf2"]) or not files.joins(sessions) or files.blocks_roce():
        return  # these hosts do not reach each other without a failure either
    cut = [one for one in combinations(sorted(sessions), 1) if not files.joins(sessions - {*one})]
    assert bool(int(found[1])) == bool(cut), (found[0], cut)
    assert ("a failure disconnects hosts" in first) == bool(cut), first


def _traffic_is_true(text: str, files: Read) -> None:
    """Flows cross the fabric only where files let them, and what is blocked is said."""
    line = next((line for line in text.splitlines() if line.startswith("congestion  ")), "")
    sent = re.search(r", (\d+) flows?", line)
    states = files.states()
    in_service = all(states[name] == "active" for name in ("leaf1", "leaf2"))
    if files.blocks_roce() or not files.joins(set(files.sessions())):
        assert not sent, line
    if files.blocks_roce() and in_service and files.is_up("leaf1", "Ethernet0"):
        assert any("which VRFs or ACLs block" in one for one in _unjudged(text)), text
    elif not files.blocks_roce():
        assert "VRFs or ACLs" not in "".join(_unjudged(text))


def _service_is_true(first: str, files: Read) -> None:
    out = first.partition("; out of service: ")[2].partition("; judged as in service: ")[0]
    assumed = first.partition("; judged as in service: ")[2]
    for state, said in (("planned", assumed), ("drained", out), ("failed", assumed)):
        number = sum(one == state for one in files.states().values())
        wanted = re.search(rf"(\d+) switch(es)? {state}", said)
        assert int(wanted[1]) if wanted else not number, said
        assert not wanted or int(wanted[1]) == number
    links = re.search(r"(\d+) links? cordoned", first)
    assert (int(links[1]) if links else 0) == len(files.wiring.get("cordoned", ()))


def _causes_are_true(text: str, found: dict[str, Any]) -> None:
    """What explains a finding is in the report and is not explained by itself; lines of causes count what they say."""
    findings = found["findings"]
    by_print = {one["fingerprint"]: one for one in findings}
    for one in findings:
        causes = one.get("caused_by", ())
        assert set(causes) <= by_print.keys() - {one["fingerprint"]}, one
    lines = [line for line in text.splitlines() if line.startswith("cause ")]
    assert bool(lines) == any("caused_by" in one for one in findings), lines
    for line in lines:
        counted = re.search(r"explains (\d+) of (\d+) places", line)
        if counted:
            explained = sum(one.get("count", 1) for one in findings if "caused_by" in one)
            assert int(counted[2]) == sum(one.get("count", 1) for one in findings), line
            assert 0 < int(counted[1]) <= int(counted[2]) and explained, line
            code = re.search(r"\((FG\d+), ", line)[1]  # type: ignore[index]
            assert any(one["code"] == code for one in findings if "caused_by" not in one), line


def _single_is_true(first: str, files: Read) -> None:
    """Switches depend on a single one where the other tier has one switch in service."""
    in_service = [name for name, state in files.states().items() if state == "active" and name.startswith("spine")]
    planned = [name for name in files.states() if name.startswith("spine")]
    said = "switches depend on a single one" in first
    assert not said or len(in_service) == 1, first
    assert said or len(planned) != 1 or not in_service, first
    leaves = [name for name, state in files.states().items() if state == "active" and name.startswith("leaf")]
    assert in_service or len(leaves) < 2 or first.startswith("failed: "), first
