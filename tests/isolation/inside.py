"""Runs in a kernel with VRFs: builds fabrics of network namespaces with FRR, and reports whose packets arrive where.

    python inside.py SPEC RESULTS

SPEC has scenarios: for each the tables and the FRR configuration of switches, their links, and hosts. Devices of the
kernel are made as daemons of SONiC make them: sonic-swss cfgmgr/vrfmgr.cpp, intfmgr.cpp, vlanmgr.cpp and vxlanmgr.cpp
(createVxlanNetdevice). A VRF of an ASIC does not fall back to the default VRF, so each has an unreachable default
route. Rules of ACLs are filters of tc (flower) at the port where packets arrive, before routing, as in an ASIC.
nftables cannot take them in the kernel of Debian's user-mode-linux: NF_TABLES_IPV4, _INET and _NETDEV are not set in
its configuration (/usr/share/doc/user-mode-linux/config.gz), so it has no family for IP packets, nor for a port.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

_DAEMONS = Path("/usr/lib/frr")
_MODULES = ("vrf", "vxlan", "bridge", "8021q", "veth", "sch_ingress", "cls_flower", "act_gact")
_MATCHES = {"src_ip": "SRC_IP", "dst_ip": "DST_IP", "ip_proto": "IP_PROTOCOL", "dst_port": "L4_DST_PORT"}  # of flower
_PORTS = (4791, 9999)  # of RoCE, and any other
_NEWNET = 0x40000000
_DEADLINE_S, _SETTLED_S = 25, 1.5
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(spec, results):
    load_modules()
    note("modules")
    scenarios = json.loads(Path(spec).read_text())
    found = {}
    lab = None
    for name, scenario in scenarios.items():
        started = time.monotonic()
        if lab and scenario["only_acls"]:
            lab.filter_again(scenario)
        else:
            if lab:
                lab.close()
            lab = Lab(scenario)
            lab.open()
        found[name] = {"pairs": lab.settled(), "log": lab.log(), "seconds": time.monotonic() - started}
        Path(results).write_text(json.dumps(found))
    lab.close()


def load_modules():
    """The modules of a User Mode Linux, in the order of their dependencies. Other kernels have them."""
    folder = Path("/usr/lib/uml/modules") / os.uname().release
    if not folder.is_dir():
        return
    needs, loaded = {}, set()
    for line in (folder / "modules.dep").read_text().splitlines():
        file, _, others = line.partition(":")
        needs[Path(file).stem] = file, [Path(one).stem for one in others.split()]

    def load(name):
        if name in needs and name not in loaded:
            loaded.add(name)
            file, others = needs[name]
            for one in reversed(others):
                load(one)
            with (folder / file).open("rb") as module:
                _LIBC.syscall(313, module.fileno(), b"", 0)  # finit_module

    for name in _MODULES:
        load(name)


def note(text):
    sys.stderr.write(f"{time.monotonic():.1f} {text}\n")


class Lab:
    """The namespaces and daemons of one scenario."""

    def __init__(self, scenario):
        self.scenario, self.switches = scenario, scenario["switches"]
        self.folder = Path("/run/frr-lab")
        self.sockets = {}

    def open(self):
        """Build it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.folder.chmod(0o755)
        names = [*self.switches, *(host["name"] for host in self.scenario["hosts"])]
        batch([f"netns add {name}" for name in names])
        wires = [(a, p, b, q) for a, p, b, q in self.scenario["links"]]
        wires += [(host["switch"], host["port"], host["name"], "eth0") for host in self.scenario["hosts"]]
        batch([f"link add name {p} netns {a} type veth peer name {q} netns {b}" for a, p, b, q in wires])
        ports = {(name, port) for a, p, b, q in wires for name, port in ((a, p), (b, q))}
        for name, switch in self.switches.items():
            self._switch(name, switch["config"], [port for owner, port in sorted(ports) if owner == name])
        for host in self.scenario["hosts"]:
            lines = ["link set lo up", f"address add {host['address']} dev eth0", "link set eth0 up"]
            batch([*lines, f"route add default via {host['gateway']}"], host["name"])
            for port in _PORTS:
                self.sockets[host["name"], port] = in_namespace(host["name"], bound(host["address"], port))
        note("wired")
        self._start()
        note("started")

    def filter_again(self, scenario):
        """The lab with the ACLs of another scenario."""
        self.scenario, self.switches = scenario, scenario["switches"]
        for name, switch in self.switches.items():
            bound_to = {port for table in switch["config"].get("ACL_TABLE", {}).values() for port in table["ports"]}
            ports = {host["port"] for host in scenario["hosts"] if host["switch"] == name}
            inside(
                name, "tc", "-force", "-batch", "-", text="".join(f"qdisc del dev {port} clsact\n" for port in ports)
            )
            rules = filters(switch["config"], bound_to & ports)
            inside(name, "tc", "-batch", "-", text="".join(f"{rule}\n" for rule in rules))

    def close(self):
        """Remove it."""
        for one in self.sockets.values():
            one.close()
        for file in self.folder.glob("*/*.pid"):
            with contextlib.suppress(ProcessLookupError, ValueError):
                os.kill(int(file.read_text()), signal.SIGKILL)
        for name in [*self.switches, *(host["name"] for host in self.scenario["hosts"])]:
            batch([f"netns del {name}"])

    def settled(self):
        """[source, target, port] of packets that arrive, once they are as expected for a while or time is up."""
        now = time.monotonic()
        since, end = now, now + _DEADLINE_S
        while True:
            found = self.probe()
            now = time.monotonic()
            if found != [list(one) for one in self.scenario["expected"]]:
                since = now
            if now >= end or now - since >= _SETTLED_S:
                return found

    def probe(self):
        """[source, target, port] of packets that arrive."""
        hosts = self.scenario["hosts"]
        by_socket = {one.fileno(): key for key, one in self.sockets.items()}
        found = set()
        for _ in range(3):
            for source in hosts:
                for target in hosts:
                    for port in _PORTS if source is not target else ():
                        with contextlib.suppress(OSError):
                            address = target["address"].partition("/")[0], port
                            self.sockets[source["name"], port].sendto(source["name"].encode(), address)
            until = time.monotonic() + 0.25
            while (left := until - time.monotonic()) > 0:
                for descriptor in select.select(list(by_socket), [], [], left)[0]:
                    target, port = by_socket[descriptor]
                    with contextlib.suppress(OSError):
                        found.add((self.sockets[target, port].recv(100).decode(), target, port))
        return sorted(map(list, found))

    def log(self):
        """What FRR knows at the end, for a failure."""
        shown = {}
        for name in self.switches if self.scenario.get("log") else ():
            commands = ("show bgp l2vpn evpn", "show ip route vrf all", "show evpn vni detail", "show running-config")
            shown[name] = "\n".join(self._vtysh(name, "-c", one) for one in commands)
        return shown

    def _switch(self, name, config, ports):
        lines = ["link set lo up"]
        for number, vrf in enumerate(sorted(config.get("VRF", {}))):
            lines += [f"link add {vrf} type vrf table {1001 + number}", f"link set {vrf} up"]
            lines += [f"route add unreachable default table {1001 + number} metric 4278198272"]
        for key, row in config.get("INTERFACE", {}).items():
            if key in ports and row.get("vrf_name"):
                lines.append(f"link set {key} master {row['vrf_name']}")
        for table in ("INTERFACE", "LOOPBACK_INTERFACE"):
            for key in config.get(table, {}):
                interface, _, address = key.partition("|")
                if address and (interface in ports or interface.startswith("Loopback")):
                    lines.append(f"address add {address} dev {interface if interface in ports else 'lo'}")
        lines += [f"link set {port} up" for port in ports]
        settings = ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv4.conf.all.rp_filter=0"]
        inside(name, "sysctl", "-qw", *settings, "net.ipv4.conf.default.rp_filter=0")
        batch(lines, name)
        if config.get("VLAN"):
            self._overlay(name, config)
        if rules := list(filters(config, ports)):
            inside(name, "tc", "-batch", "-", text="\n".join(rules) + "\n")

    def _overlay(self, name, config):
        vtep = next((row.get("source_vtep") for row in config.get("VXLAN_EVPN_NVO", {}).values()), "")
        source = config.get("VXLAN_TUNNEL", {}).get(vtep, {}).get("src_ip")
        lines = ["link add Bridge type bridge vlan_filtering 1 vlan_default_pvid 0", "link set Bridge up"]
        members = []
        for vlan, row in config["VLAN"].items():
            lines += [f"link add link Bridge name {vlan} type vlan id {row['vlanid']}", f"link set {vlan} up"]
            if vrf := config.get("VLAN_INTERFACE", {}).get(vlan, {}).get("vrf_name"):
                lines.append(f"link set {vlan} master {vrf}")
            members.append(f"vlan add dev Bridge vid {row['vlanid']} self")
        mac = sum(name.encode()) % 256
        for key, row in config.get("VXLAN_TUNNEL_MAP", {}).items():
            if source and key.startswith(f"{vtep}|"):
                vid = row["vlan"].removeprefix("Vlan")
                lines += [
                    f"link add vtep-{vid} address 02:00:{mac:02x}:00:{int(vid) >> 8:02x}:{int(vid) & 255:02x} "
                    f"type vxlan id {row['vni']} local {source} dstport 4789 nolearning",
                    f"link set vtep-{vid} master Bridge",
                    f"link set vtep-{vid} type bridge_slave learning off",
                    f"link set vtep-{vid} up",
                ]
                members.append(f"vlan add dev vtep-{vid} vid {vid} pvid untagged")
        batch(lines, name)
        inside(name, "bridge", "-batch", "-", text="\n".join(members) + "\n")

    def _start(self):
        for daemon in ("zebra", "staticd", "bgpd"):
            running = []
            for name in self.switches:
                own = self.folder / name
                if not own.exists():
                    own.mkdir()
                    shutil.chown(own, "frr", "frr")
                command = [str(_DAEMONS / daemon), "-d", "-A", "127.0.0.1", "-P", "0", "--vty_socket", str(own)]
                command += ["-z", str(own / "zserv.api"), "-i", str(own / f"{daemon}.pid"), "-f", "/dev/null"]
                command += ["--log", f"file:{own}/{daemon}.log"]
                running.append(in_namespace(name, lambda command=command: subprocess.Popen(command)))
            for one in running:
                one.wait()
        running = []
        for name, switch in self.switches.items():
            file = self.folder / name / "frr.conf"
            file.write_text(switch["frr"])
            running.append(subprocess.Popen(["vtysh", "--vty_socket", str(file.parent), "-f", str(file)]))
        for one in running:
            one.wait()

    def _vtysh(self, name, *arguments):
        command = ["vtysh", "--vty_socket", str(self.folder / name), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def filters(config, ports):
    """Commands of tc for the ACLs at ingress of ports that are there, of which each has one table at most."""
    for name, table in config.get("ACL_TABLE", {}).items():
        own = [row for key, row in config.get("ACL_RULE", {}).items() if key.startswith(f"{name}|")]
        if table["type"] != "L3" or table.get("stage", "ingress") != "ingress":
            continue
        for port in (port for port in table["ports"] if port in ports):
            yield f"qdisc add dev {port} clsact"
            for number, row in enumerate(sorted(own, key=lambda one: -int(one["PRIORITY"]))):
                words = [f"{word} {row[field]}" for word, field in _MATCHES.items() if field in row]
                action = "drop" if row["PACKET_ACTION"] == "DROP" else "pass"
                match = f"prio {number + 1} protocol ip flower {' '.join(words)}"
                yield f"filter add dev {port} ingress {match} action {action}"


def bound(address, port):
    def make():
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind((address.partition("/")[0], port))
        one.setblocking(False)
        return one

    return make


def in_namespace(name, make):
    """What a function makes in a network namespace: a socket stays there."""
    with Path("/proc/self/ns/net").open("rb") as own, Path("/run/netns", name).open("rb") as other:
        assert _LIBC.setns(other.fileno(), _NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            return make()
        finally:
            _LIBC.setns(own.fileno(), _NEWNET)


def batch(lines, space=""):
    command = ["ip", *(["-n", space] if space else []), "-force", "-batch", "-"]
    done = subprocess.run(command, input="\n".join(lines) + "\n", text=True, capture_output=True, check=False)
    if done.returncode and "del" not in lines[0]:
        sys.stderr.write(f"{space}: {done.stderr}\n")


def inside(space, *command, text=None):
    run = {"input": text, "text": True, "capture_output": True, "check": False}
    done = in_namespace(space, lambda: subprocess.run(command, **run))
    if done.returncode:
        sys.stderr.write(f"{space}: {' '.join(command)}: {done.stderr}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
