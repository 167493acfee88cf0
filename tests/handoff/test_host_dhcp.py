"""Hosts in a VLAN get the planned addresses from a real Kea behind the relay of their leaf."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.handoff.dhcp import FILE, dhcp_files
from tests.components import require_namespaces, tool
from tests.conftest import Cli
from tests.render.hosts.rendered import write_bundle
from tests.rules.access import BONDED, LEAF0

HERE = Path(__file__).parent
ONE_LEAF = BONDED.replace("{hosts: 1, ", "{hosts: 4, ").replace(", count: 2}\n    speed", "}\n    speed")
IN_VLAN = ONE_LEAF.replace("kind: bond", "kind: vlan")


def kea(tmp_path: Path, text: str, **options: str) -> dict[str, Any]:
    ((name, content),) = dhcp_files(open_bundle([write_bundle(tmp_path / "bundle", text)]), **options)
    assert name == FILE
    found: dict[str, Any] = json.loads(content)["Dhcp4"]
    return found


def test_each_port_has_its_planned_address(tmp_path: Path) -> None:
    (subnet,) = kea(tmp_path, IN_VLAN)["subnet4"]
    assert (subnet["subnet"], subnet["relay"]) == ("10.224.0.0/28", {"ip-addresses": ["10.224.0.1"]})
    assert subnet["option-data"] == [{"name": "routers", "data": "10.224.0.1"}]
    aliases = [one["circuit-id"].strip("'") for one in subnet["reservations"]]
    assert all(alias.startswith(f"{LEAF0}:") for alias in aliases) and len(aliases) == 4
    assert [one["ip-address"] for one in subnet["reservations"]] == [f"10.224.0.{number}" for number in range(2, 6)]
    assert [one["hostname"] for one in subnet["reservations"]] == ["gpu-000", "gpu-000", "gpu-001", "gpu-001"]


def test_a_bond_has_one_reservation_and_boot_options_are_global(tmp_path: Path) -> None:
    found = kea(tmp_path, ONE_LEAF, boot_file="ipxe.efi", next_server="10.90.0.6", lease="600")
    (subnet,) = found["subnet4"]
    assert [one["circuit-id"] for one in subnet["reservations"]] == [f"'{LEAF0}:PortChannel{port}'" for port in (0, 8)]
    assert (found["boot-file-name"], found["next-server"], found["valid-lifetime"]) == ("ipxe.efi", "10.90.0.6", 600)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (ONE_LEAF.replace(", dhcp: 10.90.0.5", ""), {}, "no VLAN of the chosen switches relays DHCP"),
        (ONE_LEAF, {"lease": "soon"}, "--lease soon: not a number of seconds"),
        (ONE_LEAF, {"next_server": "tftp.example"}, "--next-server tftp.example: not an IPv4 address"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        kea(tmp_path, text, **options)


def test_the_command_says_how_many_addresses(tmp_path: Path, cli: Cli) -> None:
    bundle = write_bundle(tmp_path / "bundle", ONE_LEAF)
    outcome = cli("handoff", "dhcp", bundle, "--output", tmp_path / "dhcp")
    assert outcome.code == 0 and "2 addresses in 1 subnet, by switch and port." in outcome.out + outcome.err


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], capture_output=True, check=True)


class Site(NamedTuple):
    """The addresses of a server, of the leaf at its link and in its VLAN, and three ports of the leaf."""

    server: str
    leaf: str
    gateway: str
    hosts: str
    ports: tuple[str, str, str]


SMALL = Site("10.90.0.5", "10.90.0.4", "10.224.0.1", "10.224.0.0/12", ("PortChannel0", "PortChannel8", "PortChannel16"))
NETWORKS = Site(
    "10.20.0.5", "10.20.0.4", "10.96.0.65", "10.96.0.0/12", ("PortChannel0", "PortChannel8", "PortChannel4")
)


@contextmanager
def spaces(site: Site) -> Iterator[tuple[str, str, str]]:
    """Namespaces of a server, a leaf and hosts; the leaf has a port to each of them, and routes to the server."""
    require_namespaces()
    names = server, leaf, hosts = tuple(f"fabricgen-{name}-{os.getpid()}" for name in ("kea", "leaf", "hosts"))
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", "s0", "netns", server, "type", "veth", "peer", "name", "uplink", "netns", leaf)
        ip("-n", server, "address", "add", f"{site.server}/31", "dev", "s0")
        ip("-n", leaf, "address", "add", f"{site.leaf}/31", "dev", "uplink")
        ip("-n", leaf, "address", "add", f"{site.gateway}/32", "dev", "lo")  # the gateway of the VLAN
        ends = [(server, "s0"), (leaf, "uplink"), (leaf, "lo")]
        for number, port in enumerate(site.ports):
            ip("link", "add", port, "netns", leaf, "type", "veth", "peer", "name", f"bond{number}", "netns", hosts)
            ends += [(leaf, port), (hosts, f"bond{number}")]
        for space, interface in ends:
            ip("-n", space, "link", "set", interface, "up")
        ip("-n", server, "route", "add", site.hosts, "via", site.leaf)
        yield server, leaf, hosts
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@contextmanager
def served(folder: Path, content: dict[str, Any], leaf_name: str, site: Site) -> Iterator[str]:
    """The namespace of the hosts, while Kea and the relay of the leaf run."""
    content["lease-database"]["persist"] = False
    (folder / "kea.json").write_text(json.dumps({"Dhcp4": content}))
    places = {"KEA_LOCKFILE_DIR": str(folder), "KEA_PIDFILE_DIR": str(folder)}
    ports = [f"{name}={name}" for name in site.ports]  # they have no alias
    relay = [sys.executable, HERE / "relay.py", leaf_name, site.gateway, site.server, *ports]
    processes = []
    with spaces(site) as (server, leaf, hosts), (folder / "log").open("wb") as log:
        try:
            commands = [(server, [tool("kea-dhcp4", "kea-dhcp4-server"), "-c", folder / "kea.json"]), (leaf, relay)]
            for space, command in commands:
                words = ["ip", "netns", "exec", space, *map(str, command)]
                processes.append(subprocess.Popen(words, env={**os.environ, **places}, stdout=log, stderr=log))
            yield hosts
        finally:
            for process in processes:
                process.kill()
                process.wait()


def offered(space: str, interface: str, patience: int = 1) -> Any:
    """What the DHCP client of a host is offered; asked again until an answer comes."""
    ip("-n", space, "route", "replace", "default", "dev", interface)
    mac = "02:00:00:00:00:" + f"{int(interface.removeprefix('bond')) + 1:02x}"
    command = ["ip", "netns", "exec", space, sys.executable, HERE / "dhcp_client.py", interface, mac, "", "", ""]
    for _ in range(patience):
        answer = json.loads(subprocess.run([*map(str, command)], capture_output=True, check=True).stdout)
        if answer:
            return answer
        time.sleep(0.2)
    return None


def planned(bundle: Path, plane: str) -> dict[str, str]:
    """Host -> the address of its first NIC port in a plane."""
    wired = json.loads((bundle / "fabric.json").read_text())["hosts"]
    return {
        host["name"]: next(nic["addresses"][0] for nic in host["nics"] if nic["plane"] == plane).partition("/")[0]
        for host in wired
    }


def test_hosts_get_the_addresses_of_their_ports(tmp_path: Path) -> None:
    content = kea(tmp_path, ONE_LEAF, boot_file="ipxe.efi")
    addresses = planned(tmp_path / "bundle", "in-band")
    with served(tmp_path, content, LEAF0, SMALL) as hosts:
        first = offered(hosts, "bond0", patience=25)
        expected = {"address": addresses["gpu-000"], "router": SMALL.gateway, "12": "gpu-000"}
        assert first == expected, (tmp_path / "log").read_text()
        second = offered(hosts, "bond1")
        assert (second["address"], second["12"]) == (addresses["gpu-001"], "gpu-001")
        assert offered(hosts, "bond2") is None, "a port without a planned host"


def test_a_cold_start_of_four_networks(tmp_path: Path, cli: Cli) -> None:
    """From `init` to hosts with addresses: 128 hosts of HGX B200 in less than 60 lines, without an override."""
    cluster, bundle = tmp_path / "cluster", tmp_path / "build"
    assert cli("init", cluster, "--example", "networks").code == 0
    text = (cluster / "fabric.yaml").read_text()
    assert len(text.splitlines()) < 60 and "overrides" not in text and "suppressions" not in text
    checked = cli("check", cluster, "--fail-on", "warning", "--format", "json")
    assert checked.code == 0 and json.loads(checked.out)["findings"] == []
    assert cli("render", cluster, "-o", bundle, "-q").code == 0
    assert cli("handoff", "dhcp", bundle, "-o", tmp_path / "dhcp").code == 0
    content = json.loads((tmp_path / "dhcp" / FILE).read_text())["Dhcp4"]
    addresses = planned(bundle, "in-band")
    given = {one["hostname"]: one["ip-address"] for net in content["subnet4"] for one in net["reservations"]}
    assert given == addresses and len(given) == 128
    with served(tmp_path, content, "in-band-su01-leaf-00", NETWORKS) as hosts:
        found = [offered(hosts, "bond0", patience=25), offered(hosts, "bond1")]
        assert found == [
            {"address": addresses[name], "router": NETWORKS.gateway, "12": name} for name in ("gpu-024", "gpu-025")
        ], (tmp_path / "log").read_text()
        assert offered(hosts, "bond2") is None, "a port without a planned host"
