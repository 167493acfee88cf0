"""OpenSM on a simulated subnet: ibsim answers its management datagrams in place of the switches and adapters.

Every run has its own scratch folder and socket name, so parallel runs do not interfere. All processes are stopped and
the folder is removed at the end, also after errors. A child process ends with this process even if that is killed.
"""

import os
import re
import secrets
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fabricgen.atomic import temporary_folder
from fabricgen.children import end_with_parent
from fabricgen.errors import UsageError
from fabricgen.inputs import read_bytes
from fabricgen.opensm.netlist import Netlist, SubnetNodeKind, read_netlist
from fabricgen.simulate.opensm.staging import StagedSubnet, stage
from fabricgen.simulate.opensm.tools import Tools

_LOG_LEVEL = "0x47"  # errors, info, verbose (parse warnings), routing (the dumps)
_POLL_S = 0.02
_READY_S = 120
_SWEEP_S = 600
_GRACE_S = 20

DONE = ("SUBNET UP", "No routing engine able", "Errors during initialization", "Fatal initialization error")


@dataclass(frozen=True)
class Bench:
    """A subnet that OpenSM has swept once and still manages."""

    staged: StagedSubnet
    environment: dict[str, str]
    is_up: bool
    opensm: subprocess.Popen[bytes]
    ibsim: subprocess.Popen[bytes]  # reads commands on its standard input

    @property
    def scratch(self) -> Path:
        """The folder with the dumps."""
        return self.staged.scratch

    @property
    def log(self) -> str:
        """opensm.log so far."""
        return _text(self.scratch / "opensm.log")

    @property
    def output(self) -> str:
        """The standard output of OpenSM so far: the only place where it names refused options."""
        return _text(self.scratch / "opensm.out")


@contextmanager
def swept(tools: Tools, netlist: Path, folder: Path) -> Iterator[Bench]:
    """Runs OpenSM with the files of `folder` on the subnet of `netlist` until its first sweep is complete.

    Raises UsageError if ibsim refuses the netlist, if OpenSM ends early, or if either takes too long.
    """
    with ExitStack() as stack:
        scratch = stack.enter_context(temporary_folder("opensm"))
        staged = stage(folder, scratch)
        wires = read_netlist(read_bytes(netlist).decode("utf-8", "replace"))
        shared = dict(os.environ, IBSIM_SOCKNAME=f"fabricgen-{secrets.token_hex(8)}")
        shared |= {"OSM_CACHE_DIR": f"{scratch}/", "OSM_TMP_DIR": f"{scratch}/"}
        sim = _start(stack, [tools.ibsim, "-s", *_limits(wires), str(netlist.resolve())], shared, scratch / "ibsim.out")
        _wait(sim, scratch / "ibsim.out", ("simulator ready",), _READY_S, "ibsim")
        client = shared | {"LD_PRELOAD": tools.umad2sim} | _attachment(wires, staged)
        command = [tools.opensm, "-F", str(scratch / "opensm.conf"), "-D", _LOG_LEVEL]
        opensm = _start(stack, command, client, scratch / "opensm.out")
        mark = _wait(opensm, scratch / "opensm.log", DONE, _SWEEP_S, "opensm")
        yield Bench(staged, client, mark == DONE[0], opensm, sim)


def _limits(netlist: Netlist) -> list[str]:
    """Sizes of ibsim's tables for this netlist; the default sizes end at 256 switches."""
    nodes = netlist.nodes.values()
    switches = sum(node.kind is SubnetNodeKind.SWITCH for node in nodes)
    ports = sum(node.ports + 1 for node in nodes)
    return ["-N", str(len(nodes) + 8), "-S", str(switches + 8), "-P", str(ports + 64), "-L", "49151"]


def _attachment(netlist: Netlist, staged: StagedSubnet) -> dict[str, str]:
    """Where OpenSM is attached: at the adapter whose port GUID is the option `guid`, else at the first node."""
    guid = staged.options.get("guid", "0")
    expected = int(guid, 16) if re.fullmatch(r"0x[0-9a-fA-F]+", guid) else 0
    node = next((node for (node, _), port in netlist.ports.items() if expected and port.guid == expected), None)
    return {} if node is None else {"SIM_HOST": node}


def _start(stack: ExitStack, command: Sequence[str], environment: dict[str, str], out: Path) -> subprocess.Popen[bytes]:
    with out.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=out.parent, env=environment, stdin=subprocess.PIPE, stdout=stream,
            stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=end_with_parent,
        )  # fmt: skip
    stack.callback(_stop, process)
    return process


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], file: Path, marks: Sequence[str], most_s: float, name: str) -> str:
    """The first of `marks` that appears in the file."""
    until = time.monotonic() + most_s
    read, rest = 0, ""
    while True:
        ended = process.poll() is not None
        if file.exists():
            with file.open("rb") as stream:
                stream.seek(read)
                new = stream.read()
            read += len(new)
            rest = rest[-200:] + new.decode("utf-8", "replace")
            if (found := next((mark for mark in marks if mark in rest), None)) is not None:
                return found
        if ended:
            last = " ".join(_text(file.parent / f"{name}.out").split("\n")[-4:])[-300:].strip()
            raise UsageError(f"{name} ended with code {process.returncode} before it was ready: {last}")
        if time.monotonic() > until:
            raise UsageError(f"{name} was not ready within {most_s:.0f} s")
        time.sleep(_POLL_S)


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace") if file.exists() else ""
