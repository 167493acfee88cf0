"""A switch in memory: the commands that the role calls, on tables of a test."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonpatch

from fabricgen.deploy.disguise import Disguise
from fabricgen.deploy.restore import Device, DeviceError
from fabricgen.deploy.transaction import Request
from fabricgen.diff.stand_in import StandIn
from tests.deploy.daemons import answer

Tables = dict[str, dict[str, dict[str, Any]]]
PEER = "10.0.0.1"
SECRET = "old-community"
OWN: Tables = {"VERSIONS": {"DATABASE": {"VERSION": "version_202505_01"}}}  # what no file has


def tables(mtu: str = "9100", pool_size: str = "1000") -> Tables:
    """The tables of a file: a patch can change the MTU, only a reload the pool."""
    return {
        "BGP_NEIGHBOR": {PEER: {"asn": "65001", "name": "spine1"}},
        "BUFFER_POOL": {"ingress_lossless_pool": {"mode": "dynamic", "size": pool_size, "type": "ingress"}},
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "hwsku": "X"}},
        "PORT": {"Ethernet0": {"lanes": "1", "mtu": mtu}},
    }


class Switch(Device):
    """Answers the commands. A command that begins with a text of `failing` fails; one of `ignored` has no effect."""

    def __init__(self, folder: Path, running: Tables) -> None:
        super().__init__(folder / "work")
        self.config = deepcopy(running | OWN)
        self.startup_file = folder / "config_db.json"
        self.startup_file.write_text(json.dumps(self.config))
        self.loaded = True
        self.up = [PEER]
        self.failing: tuple[str, ...] = ()
        self.ignored: tuple[str, ...] = ()
        self.log: list[str] = []  # the commands that change something
        self.timers: list[str] = []
        self.patched: list[Tables] = []  # the configuration after each patch
        self.checkpoints: dict[str, Tables] = {}

    def run(self, *command: str, timeout_s: float = 0, stdin: Path | None = None) -> str:
        line = " ".join(command)
        if line.startswith(self.failing or ("\0",)):
            raise DeviceError(f"`{line}` failed with exit code 1: {SECRET}")
        match command:
            case ("sonic-db-cli", "CONFIG_DB", "GET", _):
                return "1\n" if self.loaded else "\n"
            case ("sonic-cfggen", "-d", "--print-data"):
                return json.dumps(self.config)
            case ("vtysh", *_):
                return json.dumps({"ipv4Unicast": {"peers": {peer: {"state": "Established"} for peer in self.up}}})
            case ("config", "list-checkpoints"):
                return json.dumps(sorted(self.checkpoints))
            case ("sonic-db-cli", database, "EVAL", _, "0", pattern):
                return answer(self.daemons, database, pattern)
        words = [word.rpartition("/")[2] for word in command]
        self.log.append(" ".join(words))
        if not line.startswith(self.ignored or ("\0",)):
            self._change(tuple(str(stdin) if word == "/dev/stdin" else word for word in command))
        return ""

    def _change(self, command: tuple[str, ...]) -> None:
        match command:
            case ("config", "apply-patch", file):
                found = jsonpatch.apply_patch(self.config, json.loads(Path(file).read_text()))
                self.config = {table: rows for table, rows in found.items() if rows}
                self.patched.append(deepcopy(self.config))
            case ("config", "checkpoint", name):
                self.checkpoints[name] = deepcopy(self.config)
            case ("config", "delete-checkpoint", name):
                del self.checkpoints[name]
            case ("config", "rollback", name):
                self.config = deepcopy(self.checkpoints[name])
            case ("config", "save", "-y", file):
                Path(file).write_text(json.dumps(self.config))
            case ("config", "reload", "-y", *rest):
                file = next((Path(word) for word in rest if word != "-f"), self.startup_file)
                self.config = json.loads(file.read_text()) | OWN
                self.loaded = True
            case ("sonic-db-cli", "CONFIG_DB", "SET", *_):
                self.loaded = True
            case ("systemd-run", *options):
                self.timers += [word.partition("=")[2] for word in options if word.startswith("--unit=")]
            case ("systemctl", "stop", unit):
                self.timers.remove(unit.removesuffix(".timer"))
            case _:
                raise AssertionError(command)

    @property
    def daemons(self) -> StandIn:
        """The daemons, which hold what CONFIG_DB has."""
        found = StandIn(202505, {})
        found.boot(self.config)
        return found

    @property
    def startup(self) -> Tables:
        """The tables of the startup file."""
        found: Tables = json.loads(self.startup_file.read_text())
        return found

    def request(self, rendered: Tables, **more: Any) -> Request:
        """A request of the role for this switch."""
        return Request(rendered, Disguise(rendered, [], []), startup_file=str(self.startup_file), **more)
