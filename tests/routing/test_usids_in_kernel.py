"""Lists of uSIDs in Linux: a namespace for each device, with the routes that FRR makes of the rendered tables.

A SID uN is what zebra installs for `behavior uN` of a locator with `behavior usid`: seg6local End with NEXT-CSID, 32
bits of block and 16 of node (FRR zebra/rt_netlink.c, ZEBRA_SEG6_LOCAL_ACTION_END with SEG6_LOCAL_FLV_OP_NEXT_CSID).
Packets of a host with the list of each path of the handoff must cross the ports that it names, and no other.
"""

import csv
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fabricgen.bundle.read import Bundle, ObservedDevice, open_bundle
from tests.components import require_namespaces
from tests.conftest import Cli
from tests.inventories import DUAL_STACK, explicit, write

_DEADLINE_S = 20
_PACKETS, _MANY = 60, 40  # of other packets there are a few: neighbor discovery and errors
_SEND = "import socket,sys\ns=socket.socket(socket.AF_INET6,socket.SOCK_DGRAM)\n" + (
    f"for n in range({_PACKETS}): s.sendto(b'x'*64,(sys.argv[1],4791))"
)


def rendered(folder: Path, cli: Cli, uplinks: int = 3) -> Path:
    """Two leaves with a host each, and two spines: two links from each leaf to spine1, one to spine2; or fewer."""
    links = [["gpu/0:rail0", "leaf1:Ethernet0"], ["gpu/1:rail0", "leaf2:Ethernet0"]]
    for leaf in (1, 2):
        links += [
            [f"leaf{leaf}:Ethernet256", f"spine1:Ethernet{16 * (leaf - 1)}"],
            [f"leaf{leaf}:Ethernet264", f"spine1:Ethernet{16 * (leaf - 1) + 8}"],
            [f"leaf{leaf}:Ethernet272", f"spine2:Ethernet{16 * (leaf - 1)}"],
        ][:uplinks]
    tree = explicit(addressing=DUAL_STACK, srv6="fcbb:bb00::/32", links=links)
    tree["planes"]["compute"]["leaves"] = [{"name": "leaf1", "rail": 0}, {"name": "leaf2", "rail": 0}]
    tree["hosts"]["gpu"]["count"] = 2
    tree["sonic"] = {"release": 202511}
    assert cli("render", write(folder / "in", tree), "-o", folder / "build", "-q").code == 0
    return folder / "build"


@contextmanager
def lab(bundle: Bundle) -> Iterator[Mapping[str, str]]:
    """Device -> its namespace, with links, addresses and the routes of the tables."""
    names = [*bundle.devices, *dict.fromkeys(link.a[0] for link in bundle.host_links)]
    space = {name: f"usid-{os.getpid()}-{number}" for number, name in enumerate(names)}
    try:
        for one in space.values():
            ip("netns", "add", one)
            for name in ("all.forwarding", "all.seg6_enabled", "default.seg6_enabled", "default.forwarding"):
                run("ip", "netns", "exec", one, "sysctl", "-qw", f"net.ipv6.conf.{name}=1")
            ip("-n", one, "link", "set", "lo", "up")
        for link in bundle.links:
            (a, a_port), (b, b_port) = link.a, link.b
            ip("link", "add", a_port, "netns", space[a], "type", "veth", "peer", "name", b_port, "netns", space[b])
            for name, port in (link.a, link.b):
                ip("-n", space[name], "link", "set", port, "up")
        for name, device in bundle.devices.items():
            for key in device.table("INTERFACE"):
                port, _, address = key.partition("|")
                if ":" in address:
                    ip("-n", space[name], "addr", "add", address, "dev", port, "nodad")
        for name, device in bundle.devices.items():
            add_routes(device, space[name])
        yield space
    finally:
        for one in space.values():
            subprocess.run(["ip", "netns", "del", one], check=False, capture_output=True)


def add_routes(device: ObservedDevice, own: str) -> None:
    """The SIDs and routes of a switch in its namespace."""
    port = min(key for key in device.table("INTERFACE") if "|" not in key)
    for key in device.table("SRV6_MY_SIDS"):  # at a port in place of sr0, to which a route in Linux does not forward
        how = ["seg6local", "action", "End", "flavors", "next-csid", "lblen", "32", "nflen", "16"]
        ip("-n", own, "-6", "route", "add", key.partition("|")[2], "encap", *how, "dev", port)
    for key, row in device.table("STATIC_ROUTE").items():
        if "nexthop" in row and "fcbb:" in key:
            via = ["via", str(row["nexthop"]), "dev", str(row["ifname"])]
            ip("-n", own, "-6", "route", "add", key.partition("|")[2], *via)


def ip(*words: str) -> None:
    run("ip", *words)


def run(*words: str) -> None:
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert not done.returncode, f"{' '.join(words)}: {done.stderr}"


def sent(space: Mapping[str, str], devices: Mapping[str, object]) -> dict[tuple[str, str], int]:
    """(switch, port) -> packets that it has sent."""
    found = {}
    for name in devices:
        text = subprocess.check_output(["ip", "-n", space[name], "-s", "-j", "link"], text=True)
        found |= {(name, one["ifname"]): int(one["stats64"]["tx"]["packets"]) for one in json.loads(text)}
    return found


def test_packets_cross_the_links_of_their_list(tmp_path: Path, cli: Cli) -> None:
    require_namespaces()
    build = rendered(tmp_path, cli)
    assert cli("handoff", "paths", build, "--output", tmp_path / "out").code == 0
    nics = {row["host"]: row for row in rows(tmp_path / "out" / "nics.csv")}
    bundle = open_bundle([build])
    with lab(bundle) as space:
        for host, nic in nics.items():
            own = space[host]
            ip("-n", own, "addr", "add", nic["address"], "dev", nic["nic"], "nodad")
            out = ["encap", "seg6local", "action", "End.DT6", "table", "main", "dev", nic["nic"]]
            ip("-n", own, "-6", "route", "add", f"{nic['sid']}/128", *out)
            # as the netplan file of the host: outer headers go to the gateway
            ip("-n", own, "-6", "route", "add", "fcbb:bb00::/32", "via", nic["gateway"], "dev", nic["nic"])
        paths = rows(tmp_path / "out" / "paths" / "gpu-000.csv")
        assert len(paths) == 3
        near, far = nics["gpu-000"], nics["gpu-001"]
        for path in paths:
            target = far["address"].partition("/")[0]
            how = ["encap", "seg6", "mode", "encap.red", "segs", path["outer_destination"]]
            via = ["via", near["gateway"], "dev", near["nic"]]
            ip("-n", space["gpu-000"], "-6", "route", "replace", f"{target}/128", *how, *via)
            send = ("ip", "netns", "exec", space["gpu-000"], "python3", "-c", _SEND, target)
            nic = (space["gpu-001"], far["nic"])
            arrives(nic, _MANY, send, again=True)  # neighbors are known then
            before = settled(space, bundle)
            arrives(nic, _PACKETS, send)
            after = settled(space, bundle)
            used = {":".join(end) for end, count in after.items() if count - before[end] >= _MANY}
            assert used == {*path["through"].split()}, path


def arrives(nic: tuple[str, str], count: int, send: tuple[str, ...], *, again: bool = False) -> None:
    """Send packets once, or again and again, until so many have arrived at a NIC."""
    first, end = received(*nic), time.monotonic() + _DEADLINE_S
    run(*send)
    while received(*nic) - first < count:
        assert time.monotonic() < end, "packets did not arrive in time"
        time.sleep(0.05)
        if again:
            run(*send)


def settled(space: Mapping[str, str], bundle: Bundle) -> dict[tuple[str, str], int]:
    """What `sent` counts when nothing moves any more."""
    found = sent(space, bundle.devices)
    while (now := sent(space, bundle.devices)) and sum(now.values()) - sum(found.values()) > 2:
        found = now
    return now


def received(space: str, nic: str) -> int:
    text = subprocess.check_output(["ip", "-n", space, "-s", "-j", "link", "show", nic], text=True)
    return int(json.loads(text)[0]["stats64"]["rx"]["packets"])


def rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))
