"""The real slurmctld and munged of Debian, on a node list and a topology; no slurmd runs."""

import contextlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.components import tool
from tests.daemons import listens, until

_NODES = re.compile(r"on nodes (\S+) in partition")
# What slurmctld reads in a file of the handoff. It also complains of the machine: of its clock, its mail program, MPI,
# and of functions that took long, whose names are like words of the files.
_OF_THE_FILES = re.compile(
    "fatal:|(error|warning).*(switch|topo|block|gres|pars|include|more than once|hostname|for node|nodename)",
    re.IGNORECASE,
)
_OF_THE_MACHINE = re.compile("large processing time|latency", re.IGNORECASE)


@dataclass(frozen=True)
class Slurm:
    """A controller. `log` is what it wrote while it started, without the path of its folder."""

    log: str
    environment: dict[str, str]

    @property
    def complaints(self) -> list[str]:
        """The lines of the log about the files."""
        lines = (line for line in self.log.splitlines() if not _OF_THE_MACHINE.search(line))
        return [line for line in lines if _OF_THE_FILES.search(line)]

    def topology(self) -> list[str]:
        """The lines of `scontrol show topology`."""
        return self._run(tool("scontrol", "slurm-client"), "show", "topology").stdout.splitlines()

    def names(self, expression: str) -> list[str]:
        """The names of a hostlist expression."""
        return self._run(tool("scontrol", "slurm-client"), "show", "hostnames", expression).stdout.split()

    def placed(self, nodes: int, *options: str) -> list[str]:
        """The nodes that a job would get; empty if no allocation is possible."""
        sbatch = tool("sbatch", "slurm-client")
        outcome = self._run(sbatch, "--test-only", f"-N{nodes}", "--exclusive", *options, "--wrap", "true")
        match = _NODES.search(outcome.stderr)
        return self.names(match[1]) if match else []

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)


@contextlib.contextmanager
def slurm(files: Path, *, nodes: str = "State=CLOUD") -> Iterator[Slurm]:
    """A controller with the files of a handoff, which are included as the handoff says."""
    slurmctld, munged = tool("slurmctld", "slurmctld"), tool("munged", "munge")
    root = Path(tempfile.mkdtemp(prefix="fabricgen-slurm-"))  # a socket's path is short
    root.chmod(0o755)  # munged refuses a folder that others can write
    (root / "state").mkdir()
    for file in files.iterdir():
        shutil.copy(file, root)
    key = root / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o600)
    (root / "slurm.conf").write_text(
        f"ClusterName=test\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={_free_port()}\n"
        f"AuthType=auth/munge\nAuthInfo=socket={root}/munge.sock\nCryptoType=crypto/munge\nSlurmUser=root\n"
        f"StateSaveLocation={root}/state\nSlurmctldPidFile={root}/slurmctld.pid\nProctrackType=proctrack/pgid\n"
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSuspendTime=300\n"
        f"SuspendProgram=/bin/true\nResumeProgram=/bin/true\nInclude {root}/fabric.conf\n"
        f"NodeName=DEFAULT CPUs=8 {nodes}\nInclude {root}/nodes.conf\n"
        "PartitionName=all Nodes=ALL Default=YES State=UP\n"
        + (f"Include {root}/partitions.conf\n" if (root / "partitions.conf").exists() else "")
    )
    environment = {**os.environ, "SLURM_CONF": str(root / "slurm.conf")}
    log, started = root / "slurmctld.log", []
    try:
        options = [f"--{name}={root}/munge.{name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
        options[0] = f"--socket={root}/munge.sock"
        started.append(subprocess.Popen([munged, "--foreground", f"--key-file={key}", *options]))
        until(lambda: listens(root / "munge.sock"))
        with log.open("w") as output:
            started.append(subprocess.Popen([slurmctld, "-D", "-v"], env=environment, stdout=output, stderr=output))
        controller = started[-1]
        until(
            lambda: "Running as primary controller" in log.read_text() or controller.poll() is not None, log.read_text
        )
        yield Slurm(log.read_text().replace(str(root), ""), environment)
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
        shutil.rmtree(root)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
