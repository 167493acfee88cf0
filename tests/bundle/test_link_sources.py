"""Links of files without fabric.json: what the files say, in which words, and what contradicts."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from tests.conftest import Cli

Config = dict[str, Any]


def switch(name: str, ports: int = 2, **tables: Any) -> Config:
    """A switch with ports Ethernet0, Ethernet4 …, whose aliases are Eth1/1, Eth1/2 …"""
    rows = {f"Ethernet{4 * n}": {"lanes": f"{4 * n + 1}", "alias": f"Eth1/{n + 1}"} for n in range(ports)}
    tables["PORT"] = {port: row | tables.get("PORT", {}).get(port, {}) for port, row in rows.items()}
    return {"DEVICE_METADATA": {"localhost": {"hostname": name}}, **tables}


def fabric(folder: Path, *configs: Config, frr: dict[str, str] | None = None) -> Bundle:
    for config in configs:
        name = config["DEVICE_METADATA"]["localhost"]["hostname"]
        (folder / name).mkdir()
        (folder / name / "config_db.json").write_text(json.dumps(config))
        if frr and name in frr:
            (folder / name / "frr.conf").write_text(frr[name])
    return open_bundle([folder])


def ends(bundle: Bundle) -> list[str]:
    """leaf1:Ethernet0-spine1:Ethernet4 of each link."""
    return sorted("-".join(sorted(":".join(end) for end in (link.a, link.b))) for link in bundle.links)


def addresses(**of_ports: str) -> Config:
    return {f"{port}|{address}": {} for port, address in of_ports.items()}


WIRED = ["leaf1:Ethernet0-spine1:Ethernet4"]


@pytest.mark.parametrize(
    "text",
    [
        "spine1:Ethernet4", "to_spine1_Eth1/2", "[Spine1] Ethernet4", "SPINE1 Eth1/2", "link to spine1 port Ethernet 4",
        "leaf1:Ethernet0 -> spine1:Ethernet4", "Ethernet4 of spine1", "spine1-eth4", "uplink spine1|Eth1/2",
    ],
)  # fmt: skip
def test_a_description_names_the_far_end(text: str, tmp_path: Path) -> None:
    """Labs and other controllers write them in many ways."""
    leaf = switch("leaf1", PORT={"Ethernet0": {"description": text}})
    found = fabric(tmp_path, leaf, switch("spine1"))
    assert (ends(found), found.links_from) == (WIRED, "descriptions")


@pytest.mark.parametrize(
    "text", ["", "spine1", "spine1 or spine2 Ethernet4", "gpu1 eth0", "spine11 Ethernet4", "spine1 Ethernet400", "4"]
)
def test_a_description_that_does_not_name_one_port_is_not_a_link(text: str, tmp_path: Path) -> None:
    leaf = switch("leaf1", PORT={"Ethernet0": {"description": text}})
    assert not fabric(tmp_path, leaf, switch("spine1"), switch("spine2")).links


def test_two_switches_that_name_each_other_once_are_linked(tmp_path: Path) -> None:
    leaf = switch("leaf1", PORT={"Ethernet0": {"description": "to spine1"}})
    spine = switch("spine1", PORT={"Ethernet4": {"description": "Leaf1"}})
    assert ends(fabric(tmp_path, leaf, spine)) == WIRED


SESSIONS = {
    "the address of a port": "router bgp 65001\n neighbor 10.0.0.1 remote-as 65000\n",
    "a peer group": "router bgp 65001\n neighbor S peer-group\n neighbor S remote-as external\n"
    " neighbor 10.0.0.1 peer-group S\n",
    "a static route": "ip route 10.9.0.0/16 10.0.0.1\n",
    "a static route of the older form": "ip route 10.9.0.0 255.255.0.0 10.0.0.1\n",
}


@pytest.mark.parametrize("text", SESSIONS.values(), ids=SESSIONS)
def test_frr_conf_beside_the_file_has_sessions_and_routes(text: str, tmp_path: Path) -> None:
    """Split mode: CONFIG_DB has no row of BGP. The subnet of eight addresses alone would not say anything."""
    leaf = switch("leaf1", INTERFACE=addresses(Ethernet0="10.0.0.0/29", Ethernet4="10.0.1.0/29"))
    spine = switch("spine1", INTERFACE=addresses(Ethernet4="10.0.0.1/29"))
    found = fabric(tmp_path, leaf, spine, frr={"leaf1": text})
    assert ends(found) == WIRED and found.links_from in ("frr.conf", "static routes")


def test_frr_conf_has_addresses_of_ports(tmp_path: Path) -> None:
    text = "interface Ethernet0\n ip address 10.0.0.0/31\n!\nrouter bgp 1\n neighbor 10.0.0.1 remote-as 2\n"
    spine = switch("spine1", INTERFACE=addresses(Ethernet4="10.0.0.1/31"))
    assert ends(fabric(tmp_path, switch("leaf1"), spine, frr={"leaf1": text})) == WIRED


def test_sessions_without_a_local_address_and_of_vrfs(tmp_path: Path) -> None:
    """The same addresses in two VRFs are two links."""

    def ports(host: int, *names: str) -> Config:
        rows: Config = {names[1]: {"vrf_name": "Vrf1"}}
        return rows | {f"{name}|10.0.0.{host}/31": {} for name in names}

    leaf = switch("leaf1", INTERFACE=ports(0, "Ethernet0", "Ethernet4"), BGP_NEIGHBOR={"10.0.0.1": {"asn": "1"}})
    spine = switch("spine1", INTERFACE=ports(1, "Ethernet4", "Ethernet0"))
    assert ends(fabric(tmp_path, leaf, spine)) == [
        "leaf1:Ethernet0-spine1:Ethernet4",
        "leaf1:Ethernet4-spine1:Ethernet0",
    ]


def test_a_port_with_several_far_ends_is_not_a_link(tmp_path: Path) -> None:
    """A VLAN or a switch without a file is between them."""
    hub = {"10.0.0.1": {"asn": "1"}, "10.0.0.2": {"asn": "2"}}
    leaf = switch("leaf1", INTERFACE=addresses(Ethernet0="10.0.0.3/29"), BGP_NEIGHBOR=hub)
    others = [switch(f"spine{n}", INTERFACE=addresses(Ethernet4=f"10.0.0.{n}/29")) for n in (1, 2)]
    assert not fabric(tmp_path, leaf, *others).links


def test_separate_planes_with_the_same_addresses_are_not_mixed(tmp_path: Path) -> None:
    leaves = [switch(f"leaf{n}", INTERFACE=addresses(Ethernet0="10.0.0.0/31")) for n in (1, 2)]
    spines = [switch(f"spine{n}", INTERFACE=addresses(Ethernet4="10.0.0.1/31")) for n in (1, 2)]
    assert not fabric(tmp_path, *leaves, *spines).links


PLANES = [f"{plane}-{name}" for plane in ("p0", "p1") for name in ("leaf1", "leaf2", "spine1")]


def planes_of(names: list[str], folder: Path, **own: str) -> Bundle:
    """Each leaf has a link to the spine of its plane, and a port to hosts; all planes have the same addresses."""
    of_kind = {
        "leaf1": addresses(Ethernet0="10.0.0.1/31"), "leaf2": addresses(Ethernet0="10.0.0.3/31"),
        "spine1": addresses(Ethernet0="10.0.0.0/31", Ethernet4="10.0.0.2/31"),
    }  # fmt: skip
    kinds = {name: next(rows for kind, rows in of_kind.items() if name.endswith(kind[-5:])) for name in names}
    more = {name: addresses(Ethernet4=own[name]) if name in own else {} for name in names}
    return fabric(folder, *(switch(name, INTERFACE=kinds[name] | more[name]) for name in names))


def test_planes_that_repeat_their_addresses_are_separate_networks(cli: Cli, tmp_path: Path) -> None:
    bundle = planes_of(PLANES, tmp_path, **{"p0-leaf1": "10.9.0.1/24", "p1-leaf1": "10.9.1.1/24"})
    assert len(bundle.links) == 4 and all(link.a[0][:2] == link.b[0][:2] for link in bundle.links)
    found = json.loads(cli("validate", tmp_path, "--format", "json", "--select", "FG313,FG317").out)["findings"]
    assert found == []


def test_a_copied_file_is_not_a_plane(cli: Cli, tmp_path: Path) -> None:
    bundle = planes_of(["p0-leaf1", "p1-leaf1", "p0-leaf2", "p0-spine1"], tmp_path)
    found = json.loads(cli("validate", tmp_path, "--format", "json", "--select", "FG313").out)["findings"]
    assert {one["device"] for one in found} == {"p0-leaf1", "p1-leaf1"} and len(bundle.links) == 1


def test_the_sources_are_said_in_one_line_and_contradictions_are_a_finding(cli: Cli, tmp_path: Path) -> None:
    leaf = switch(
        "leaf1", 3, DEVICE_NEIGHBOR={"Ethernet0": {"name": "spine1", "port": "Ethernet4"}},
        PORT={"Ethernet0": {"description": "spine2 Ethernet0"}, "Ethernet4": {"description": "spine2:Ethernet4"}},
        INTERFACE=addresses(Ethernet8="10.0.0.0/31"),
    )  # fmt: skip
    spine = switch("spine1", INTERFACE=addresses(Ethernet0="10.0.0.1/31"))
    fabric(tmp_path, leaf, spine, switch("spine2"))
    outcome = cli("validate", tmp_path, "--format", "json", "--select", "FG416,FG250")
    line = "WARNING: links: 1 from DEVICE_NEIGHBOR, 1 from common subnets, 1 from descriptions"
    assert outcome.err.splitlines()[0] == line
    found = [(one["code"], one["path"], one["message"]) for one in json.loads(outcome.out)["findings"]]
    found = [one for one in found if "Ethernet0" in one[1]]  # FG250 misses a description of Ethernet8
    message = (
        "the description names spine2 Ethernet0 as the far end, but DEVICE_NEIGHBOR connects leaf1 Ethernet0 with "
    )
    assert found == [("FG416", "PORT|Ethernet0|description", message + "spine1 Ethernet4")]
