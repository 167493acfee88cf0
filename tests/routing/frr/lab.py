"""A switch for each network namespace, with real FRR in it: what it forwards by is what the model must say."""

import ipaddress
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path

from tests.components import missing, require_namespaces
from tests.daemons import listens, until
from tests.routing.frr.sonic_frr import Config, frr_configuration

DAEMONS = Path("/usr/lib/frr")
Table = dict[str, dict[str, list[str]]]  # switch -> prefix -> next-hop switches
Link = tuple[str, str, str, str]  # switch, interface, switch, interface

_LABS = count()
_DEADLINE_S = 60
_SETTLED_S = 2  # bgpd holds updates back for up to a second, and then joins the groups of neighbors that get the same


def require_lab() -> None:
    """Skip the test where the lab cannot run."""
    if not all((DAEMONS / name).is_file() for name in ("zebra", "bgpd", "staticd")):
        missing("FRR", "apt-get install frr")
    require_namespaces()


def links_of(configs: Mapping[str, Config]) -> list[Link]:
    """The cables between switches, from DEVICE_NEIGHBOR."""
    found = set()
    for name, config in configs.items():
        for port, row in config.get("DEVICE_NEIGHBOR", {}).items():
            if row["name"] in configs:
                found.add(tuple(sorted([(name, port), (row["name"], row["port"])])))
    return [(*one, *other) for one, other in sorted(found)]


class Lab:
    """Used in a `with`: namespaces and daemons are there inside it, and gone after it."""

    def __init__(self, configs: Mapping[str, Config]) -> None:
        self.configs = configs
        self.folder = Path(tempfile.mkdtemp(prefix="frr-"))  # short: the path of a socket has 107 characters at most
        self.folder.chmod(0o755)
        self.links = links_of(configs)
        lab = next(_LABS)  # two can run at the same time
        self.space = {name: f"fg{os.getpid()}-{lab}-{number}" for number, name in enumerate(configs)}
        self.far = {(a, p): b for a, p, b, _ in self.links} | {(b, q): a for a, _, b, q in self.links}
        self.peers = {name: _peers_of(config) for name, config in configs.items()}
        self.pulled: set[tuple[str, str]] = set()
        self.zebra: dict[str, _Vty] = {}
        self.bgpd: dict[str, _Vty] = {}

    def __enter__(self) -> "Lab":
        try:
            self._wire()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for vty in (*self.zebra.values(), *self.bgpd.values()):
            vty.close()
        for file in self.folder.glob("*/*.pid"):
            try:
                os.kill(int(file.read_text()), signal.SIGKILL)
            except (ProcessLookupError, ValueError):
                continue
        _batch([f"netns del {space}" for space in self.space.values()])
        shutil.rmtree(self.folder)

    def fail(self, *links: Link) -> None:
        """Pull cables: both ends lose carrier at once."""
        self._set(links, "down")

    def restore(self, *links: Link) -> None:
        """Plug them in again."""
        self._set(links, "up")

    def restart_bgp(self, name: str, config: Config) -> None:
        """Stop bgpd of a switch and start it with another configuration, as its container does."""
        own = self.folder / self.space[name]
        self.bgpd[name].close()
        pid = int((own / "bgpd.pid").read_text())
        os.kill(pid, signal.SIGTERM)
        until(lambda: not Path(f"/proc/{pid}").exists(), lambda: f"bgpd of {name} does not stop")
        (own / "bgpd.vty").unlink(missing_ok=True)
        (own / "bgpd.conf").write_text(frr_configuration(config)[0])
        self._run("bgpd", name)
        self.bgpd[name] = _Vty(own / "bgpd.vty")

    def configure(self, name: str, *lines: str) -> None:
        """Give bgpd of a switch these lines."""
        for line in ("configure terminal", *lines, "end"):
            self.bgpd[name].ask(line)

    def settled(self, differences: Callable[[Table], list[str]]) -> list[str]:
        """Wait until sessions are as the cables are and FRR's table shows no differences, and goes on so.

        Returns what is left at the deadline.
        """
        now = time.monotonic()
        since, end = now, now + _DEADLINE_S
        while (found := self._starting() or differences(self.table())) or now < since + _SETTLED_S:
            now = time.monotonic()
            if found and now >= end:
                return found
            if found:
                since = now
            time.sleep(0.2)
        return []

    def _starting(self) -> list[str]:
        """Sessions that are not up although their cable is plugged in, or still up over a pulled one."""
        found = []
        for name, peers in self.peers.items():
            states = self.bgpd[name].ask("show bgp neighbors json")
            for peer, port in peers.items():
                state, plugged = states.get(peer, {}).get("bgpState"), (name, port) not in self.pulled
                if (name, port) in self.far and (state == "Established") != plugged:
                    found.append(f"{name}: the session with {peer} is {state}")
        return found

    def table(self) -> Table:
        """The next hops that zebra installed for BGP routes, by the switches they lead to."""
        found: Table = {}
        for name in self.configs:
            rows: dict[str, list[str]] = {}
            for family in ("ip", "ipv6"):
                for prefix, routes in self.zebra[name].ask(f"show {family} route json").items():
                    for route in routes:
                        if route["protocol"] == "bgp" and route.get("selected"):
                            hops = [hop for hop in route["nexthops"] if hop.get("active")]
                            rows[prefix] = sorted({self.far[name, hop["interfaceName"]] for hop in hops})
            found[name] = rows
        return found

    def _wire(self) -> None:
        _batch([f"netns add {space}" for space in self.space.values()])
        _batch(
            f"link add name {p} netns {self.space[a]} type veth peer name {q} netns {self.space[b]}"
            for a, p, b, q in self.links
        )
        for name, config in self.configs.items():
            ports = {port for switch, port in self.far if switch == name}
            lines = ["link set lo up"]
            for table in ("INTERFACE", "LOOPBACK_INTERFACE"):
                for key in config.get(table, {}):
                    interface, _, address = key.partition("|")
                    if address and (interface in ports or interface.startswith("Loopback")):
                        device = interface if interface in ports else "lo"
                        nodad = " nodad" if ipaddress.ip_interface(address).version == 6 else ""
                        lines.append(f"address add {address} dev {device}{nodad}")
            lines += [f"link set {port} up" for port in sorted(ports)]
            _batch(lines, self.space[name])
            switches = (
                "net.ipv4.ip_forward=1",
                "net.ipv6.conf.all.forwarding=1",
                "net.ipv6.conf.all.keep_addr_on_down=1",
            )
            _inside(self.space[name], "sysctl", "-qw", *switches)

    def _start(self) -> None:
        for name, config in self.configs.items():
            own = self.folder / self.space[name]
            own.mkdir()
            shutil.chown(own, "frr", "frr")  # what the daemons run as
            bgpd, staticd = frr_configuration(config)
            for daemon, text in (("zebra", f"hostname {self.space[name]}\n"), ("staticd", staticd), ("bgpd", bgpd)):
                (own / f"{daemon}.conf").write_text(text)
        for daemon in ("zebra", "staticd", "bgpd"):
            for name in self.configs:
                self._run(daemon, name)
        self.zebra, self.bgpd = (
            {name: _Vty(self.folder / self.space[name] / f"{daemon}.vty") for name in self.configs}
            for daemon in ("zebra", "bgpd")
        )

    def _run(self, daemon: str, name: str) -> None:
        own = self.folder / self.space[name]
        command = [str(DAEMONS / daemon), "-d", "-A", "127.0.0.1", "-P", "0"]
        command += ["--vty_socket", str(own), "-z", str(own / "zserv.api"), "-i", str(own / f"{daemon}.pid")]
        command += ["-f", str(own / f"{daemon}.conf"), "--log", f"file:{own}/{daemon}.log"]
        _inside(self.space[name], *command)

    def _set(self, links: Iterable[Link], state: str) -> None:
        for a, p, b, q in links:
            change = self.pulled.update if state == "down" else self.pulled.difference_update
            change({(a, p), (b, q)})
            _batch([f"link set {p} {state}"], self.space[a])
            _batch([f"link set {q} {state}"], self.space[b])


def _peers_of(config: Config) -> dict[str, str]:
    """Peer -> the port of its session, for sessions that are not shut."""
    addresses = dict(key.split("|")[::-1] for key in config.get("INTERFACE", {}) if "|" in key)
    ports = {address.partition("/")[0]: port for address, port in addresses.items()}
    rows = {key.rpartition("|")[2]: row for key, row in config.get("BGP_NEIGHBOR", {}).items()}
    default = config["DEVICE_METADATA"]["localhost"].get("default_bgp_status", "up")
    return {
        peer: ports.get(row.get("local_addr", ""), peer)
        for peer, row in rows.items()
        if row.get("admin_status", default) in ("up", "true")
    }


class _Vty:
    """A daemon's command socket: a command ends with a NUL, an answer with three and the status."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        until(lambda: listens(path), lambda: f"nothing listens at {path}")
        self.socket.connect(str(path))
        self._send("enable")

    def ask(self, command: str) -> dict:  # type: ignore[type-arg]
        text = self._send(command)
        return json.loads(text) if text.strip() else {}

    def close(self) -> None:
        self.socket.close()

    def _send(self, command: str) -> str:
        self.socket.sendall(command.encode() + b"\0")
        answer = b""
        while not (len(answer) >= 4 and answer[-4:-1] == b"\0\0\0"):
            part = self.socket.recv(1 << 20)
            if not part:
                break
            answer += part
        return answer[:-4].decode()


def _batch(lines: Iterable[str], space: str = "") -> None:
    command = ["ip", *(["-n", space] if space else []), "-force", "-batch", "-"]
    subprocess.run(command, input="\n".join(lines) + "\n", text=True, capture_output=True, check=False)


def _inside(space: str, *command: str) -> None:
    subprocess.run(["ip", "netns", "exec", space, *command], check=True, capture_output=True)
