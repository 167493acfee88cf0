"""Both DHCP servers answer switches as ztp.json needs it: run for real, between two network namespaces."""

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
from fabricgen.handoff.ztp import ztp_files
from fabricgen.handoff.ztp_leases import USER_CLASS
from tests.components import require_namespaces, tool
from tests.conftest import Cli
from tests.handoff.rendered import placed, render

URL = "http://10.255.0.1/ztp"
PLATFORM = "x86_64-arista_7060x6_64pe"
INSTALLER = f"http://10.255.0.1/{PLATFORM}.bin"
MAC = "02:00:00:00:00:0a"
CLIENT = Path(__file__).with_name("dhcp_client.py")


def ip(*words: str) -> int:
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode


@pytest.fixture
def wire() -> Iterator[tuple[str, str]]:
    """Two network namespaces with a cable between them; the server's end s0 is the gateway, the other is c0."""
    server, client = (f"fabricgen-{name}-{os.getpid()}" for name in ("dhcpd", "switch"))
    require_namespaces()
    try:
        ip("netns", "add", server)
        ip("netns", "add", client)
        ip("link", "add", "s0", "netns", server, "type", "veth", "peer", "name", "c0", "netns", client)
        ip("-n", server, "address", "add", "10.255.0.1/20", "dev", "s0")
        for space, interface in ((server, "s0"), (client, "c0")):
            ip("-n", space, "link", "set", interface, "up")
        ip("-n", client, "route", "add", "default", "dev", "c0")
        yield server, client
    finally:
        ip("netns", "del", server)
        ip("netns", "del", client)


def offered(
    space: str, mac: str, serial: str = "", user_class: str = USER_CLASS, vendor_class: str = "", patience: int = 1
) -> Any:
    """What a switch with this MAC address and serial is offered; asked again until an answer comes."""
    client_id = f"SONiC##DCS-7060X6##{serial}" if serial else ""
    command = [
        "ip",
        "netns",
        "exec",
        space,
        sys.executable,
        str(CLIENT),
        "c0",
        mac,
        client_id,
        user_class,
        vendor_class,
    ]
    for _ in range(patience):
        answer = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        if answer:
            return answer
        time.sleep(0.2)
    return None


@pytest.mark.parametrize("server", ["dnsmasq", "kea"])
def test_switches_get_their_name_and_the_server(server: str, cli: Cli, tmp_path: Path, wire: tuple[str, str]) -> None:
    bundle = render(cli, tmp_path, placed({"leaf1": MAC}))
    files = dict(ztp_files(open_bundle([bundle]), url=URL, onie_url="http://10.255.0.1/{platform}.bin"))
    (tmp_path / "dnsmasq.conf").write_bytes(files["dnsmasq.conf"])
    (tmp_path / "kea.json").write_bytes(files["kea-dhcp4.json"].replace(b'"persist": true', b'"persist": false'))
    command = {
        "dnsmasq": lambda: [tool("dnsmasq", "dnsmasq-base"), "-d", "-C", tmp_path / "dnsmasq.conf",
                            "--interface=s0", "--except-interface=lo", "--leasefile-ro"],
        "kea": lambda: [tool("kea-dhcp4", "kea-dhcp4-server"), "-c", tmp_path / "kea.json"],
    }[server]()  # fmt: skip
    places = {"KEA_LOCKFILE_DIR": str(tmp_path), "KEA_PIDFILE_DIR": str(tmp_path)}
    log = (tmp_path / "log").open("wb")
    started = ["ip", "netns", "exec", wire[0], *map(str, command)]
    with log, subprocess.Popen(started, env={**os.environ, **places}, stdout=log, stderr=log) as process:
        try:
            wanted = {"address": "10.255.0.2", "router": "10.255.0.1", "12": "leaf1", "67": f"{URL}/ztp.json"}
            known = offered(wire[1], MAC, patience=15)
            assert known == wanted, (tmp_path / "log").read_text()
            other = {name: text for name, text in wanted.items() if name != "67"}
            onie = offered(wire[1], MAC, user_class="onie_dhcp_user_class", vendor_class=f"onie_vendor:{PLATFORM}")
            suboption = bytes([1, len(INSTALLER)]) + INSTALLER.encode()
            assert onie == other | {"114": INSTALLER, "125": suboption.hex()}, "and not ztp.json as an installer"
            assert offered(wire[1], MAC, user_class="x", vendor_class="onie_vendor:other") == other
            assert offered(wire[1], "02:00:00:00:00:99") is None
            if server == "kea":
                by_serial = offered(wire[1], "02:00:00:00:00:98", "SN1")
                assert (by_serial["address"], by_serial["12"]) == ("10.255.0.3", "leaf2")
                assert offered(wire[1], "02:00:00:00:00:97", "SN11") is None, "another serial that begins alike"
        finally:
            process.terminate()
