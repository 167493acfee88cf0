"""Starts and stops the processes of a stand-in, and reads its state."""

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fabricgen.sonic.schema import table_names
from tests.components import tool
from tests.daemons import listens, until
from tests.handoff.switch.config_db import READY, Redis, Tables, dump, merge

COMMANDS = Path(__file__).with_name("commands.py")
NAMES = (
    "TSA", "TSB", "config", "docker", "pfc", "pfcwd", "show", "sonic-cfggen", "sonic-db-cli", "systemctl",
    "systemd-run", "vtysh",
)  # fmt: skip

# The tables of the image, merged below the file at each boot and reload.
INIT_CFG: Tables = {
    "BGP_DEVICE_GLOBAL": {"STATE": {"tsa_enabled": "false", "wcmp_enabled": "false"}},
    "CRM": {"Config": {"polling_interval": "300"}},
    "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic", "timezone": "UTC"}},
    "FEATURE": {"bgp": {"state": "enabled"}, "lldp": {"state": "enabled"}},
    "FLEX_COUNTER_TABLE": {"ACL": {"FLEX_COUNTER_STATUS": "enable"}, "PORT": {"FLEX_COUNTER_STATUS": "disable"}},
}
OWN: Tables = {"VERSIONS": {"DATABASE": {"VERSION": "version_202505_01"}}}
SECOND_S = 0.02


@dataclass
class StandIn:
    """A switch with the given tables and the tables of its image."""

    name: str
    folder: Path
    second_s: float = SECOND_S
    port: int = 0
    _children: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @classmethod
    def start(cls, name: str, second_s: float = SECOND_S, sshd: bool = True) -> "StandIn":
        """Start a switch without tables."""
        server = tool("redis-server", "redis-server")
        self = cls(name, Path(tempfile.mkdtemp(prefix="switch-", dir="/tmp")), second_s)  # sockets need short paths
        for part in ("etc/checkpoints", "etc/frr", "units", "bin"):
            (self.folder / part).mkdir(parents=True)
        (self.folder / "init_cfg.json").write_text(json.dumps(INIT_CFG))
        (self.folder / "yang_tables").write_text(" ".join(table_names()))
        (self.folder / "mac").write_text(f"00:11:22:33:44:{len(name):02x}")
        (self.folder / "platform").write_text("x86_64-arista_7060x6_64pe")
        (self.folder / "lldp.json").write_text("{}")
        for command in NAMES:
            file = self.folder / "bin" / command
            call = f'"{sys.executable}" "{COMMANDS}" "{self.folder}" {command} "$@"'
            file.write_text(f"#!/bin/sh\nSTAND_IN_SECOND_S={second_s} exec {call}\n")
            file.chmod(0o755)
        python = self.folder / "bin" / "python3"  # sudo resets PATH
        python.write_text(f'#!/bin/sh\nPATH="{self.path}" exec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        options = f"--port 0 --unixsocket {self.folder}/redis.sock --dir {self.folder}".split()
        self._run([server, *options, "--save", ""])
        until(lambda: listens(self.folder / "redis.sock"), (self.folder / "processes.log").read_text)
        if sshd:
            self._start_sshd()
        return self

    def _start_sshd(self) -> None:
        sshd, keygen = tool("sshd", "openssh-server"), tool("ssh-keygen", "openssh-client")
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        for key in ("host", "login"):
            subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / key)], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (self.folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host\nPidFile none\nStrictModes no\n"
            f"AuthorizedKeysFile {self.folder}/login.pub\nPermitRootLogin yes\nUsePAM no\n"
            "Subsystem sftp internal-sftp\n"
        )
        self._run([sshd, "-D", "-e", "-f", str(self.folder / "sshd_config")])
        until(self._answers, (self.folder / "processes.log").read_text)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _run(self, command: list[str]) -> None:
        with (self.folder / "processes.log").open("ab") as log:
            self._children.append(subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True))

    @property
    def path(self) -> str:
        """The search path for programs on the switch."""
        return f"{self.folder}/bin:{Path(sys.executable).parent}:/usr/bin:/bin"

    @property
    def host_vars(self) -> dict[str, Any]:
        """The variables for the login of Ansible."""
        become = {"ansible_become": False} if os.geteuid() else {"ansible_become_exe": tool("sudo", "sudo")}
        return {
            "ansible_host": "127.0.0.1",
            "ansible_port": self.port,
            "ansible_user": getpass.getuser(),
            "ansible_ssh_private_key_file": str(self.folder / "login"),
            "ansible_ssh_common_args": "-F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null",
            "ansible_python_interpreter": f"{self.folder}/bin/python3",
            **become,
            "sonic_config_startup_file": f"{self.folder}/etc/config_db.json",
            "sonic_config_work_folder": f"{self.folder}/etc/fabricgen",
            "sonic_config_frr_file": f"{self.folder}/etc/frr/frr.conf",
        }

    @cached_property
    def redis(self) -> Redis:
        """CONFIG_DB."""
        return Redis(self.folder / "redis.sock")

    def hold(self, tables: Tables) -> None:
        """Load these tables as at boot, with the tables of the image merged below."""
        redis = self.redis
        redis("FLUSHALL")
        for part in (INIT_CFG, OWN, tables):
            merge(redis, part)
        metadata = {name: (self.folder / name).read_text() for name in ("mac", "platform")}
        merge(redis, {"DEVICE_METADATA": {"localhost": metadata}})
        redis("SET", READY, "1")
        self.startup_file.write_text(json.dumps(dump(redis)))

    @property
    def startup_file(self) -> Path:
        """The startup file."""
        return self.folder / "etc" / "config_db.json"

    @property
    def startup(self) -> Tables:
        """The tables of the startup file."""
        found: Tables = json.loads(self.startup_file.read_text())
        return found

    @property
    def running(self) -> Tables:
        """The tables of CONFIG_DB."""
        return dump(self.redis)

    @property
    def is_whole(self) -> bool:
        """Whether CONFIG_DB is loaded."""
        return bool(self.redis("GET", READY) == "1")

    def timers(self) -> list[str]:
        """The active timers."""
        return [file.name for file in (self.folder / "units").glob("*.timer")]

    def pass_time(self) -> None:
        """Make all timers run now."""
        for file in (self.folder / "units").glob("*.timer"):
            os.kill(int(file.read_text()), signal.SIGUSR1)

    def log(self) -> list[str]:
        """The commands of SONiC that change something, since the last call."""
        file = self.folder / "log"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return [line for line in lines if line.startswith(("config", "TS"))]

    def stop(self) -> None:
        """Stop all processes."""
        self.redis.close()
        timers = (int(file.read_text()) for file in (self.folder / "units").glob("*.timer"))
        for process in (*timers, *(child.pid for child in self._children)):
            try:
                os.killpg(process, signal.SIGTERM)
            except ProcessLookupError:
                continue
        for child in self._children:
            child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
