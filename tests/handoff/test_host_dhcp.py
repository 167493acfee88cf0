"""Hosts in a VLAN get the planned addresses from a real Kea behind the relay of their leaf."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


@pytest.fixture
def spaces() -> Iterator[tuple[str, str, str]]:
    """Namespaces of a server, a leaf and two hosts; the leaf has a port to each host, and routes to the server."""
    require_namespaces()
    names = server, leaf, hosts = tuple(f"fabricgen-{name}-{os.getpid()}" for name in ("kea", "leaf", "hosts"))
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", "s0", "netns", server, "type", "veth", "peer", "name", "Ethernet384", "netns", leaf)
        ip("-n", server, "address", "add", "10.90.0.5/31", "dev", "s0")
        ip("-n", leaf, "address", "add", "10.90.0.4/31", "dev", "Ethernet384")
        ip("-n", leaf, "address", "add", "10.224.0.1/32", "dev", "lo")  # the gateway of the VLAN
        ends = [(server, "s0"), (leaf, "Ethernet384"), (leaf, "lo")]
        for number, port in enumerate(("PortChannel0", "PortChannel8", "PortChannel16")):
            ip("link", "add", port, "netns", leaf, "type", "veth", "peer", "name", f"bond{number}", "netns", hosts)
            ends += [(leaf, port), (hosts, f"bond{number}")]
        for space, interface in ends:
            ip("-n", space, "link", "set", interface, "up")
        ip("-n", server, "route", "add", "10.224.0.0/12", "via", "10.90.0.4")
        yield server, leaf, hosts
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


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


def test_hosts_get_the_addresses_of_their_ports(tmp_path: Path, spaces: tuple[str, str, str]) -> None:
    server, leaf, hosts = spaces
    content = kea(tmp_path, ONE_LEAF, boot_file="ipxe.efi")
    content["lease-database"]["persist"] = False
    (tmp_path / "kea.json").write_text(json.dumps({"Dhcp4": content}))
    wired = json.loads((tmp_path / "bundle" / "fabric.json").read_text())["hosts"]
    planned = {host["name"]: host["nics"][0]["addresses"][0].partition("/")[0] for host in wired}
    ports = [f"{name}={name}" for name in ("PortChannel0", "PortChannel8", "PortChannel16")]  # they have no alias
    places = {"KEA_LOCKFILE_DIR": str(tmp_path), "KEA_PIDFILE_DIR": str(tmp_path)}
    relay = [sys.executable, HERE / "relay.py", LEAF0, "10.224.0.1", "10.90.0.5", *ports]
    started = [(server, [tool("kea-dhcp4", "kea-dhcp4-server"), "-c", tmp_path / "kea.json"]), (leaf, relay)]
    processes = []
    with (tmp_path / "log").open("wb") as log:
        try:
            for space, command in started:
                words = ["ip", "netns", "exec", space, *map(str, command)]
                processes.append(subprocess.Popen(words, env={**os.environ, **places}, stdout=log, stderr=log))
            first = offered(hosts, "bond0", patience=25)
            assert first == {"address": planned["gpu-000"], "router": "10.224.0.1", "12": "gpu-000"}, (
                tmp_path / "log"
            ).read_text()
            second = offered(hosts, "bond1")
            assert (second["address"], second["12"]) == (planned["gpu-001"], "gpu-001")
            assert offered(hosts, "bond2") is None, "a port without a planned host"
        finally:
            for process in processes:
                process.kill()
                process.wait()
