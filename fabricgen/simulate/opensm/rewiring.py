"""Cables that fail under a running OpenSM: ibsim unlinks them, and OpenSM sweeps the subnet again."""

import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.inputs import read_bytes
from fabricgen.observed.opensm_dumps import Dumps, read_dumps
from fabricgen.observed.subnet import GuidCable, cables_by_guid
from fabricgen.opensm.netlist import NodeKind, read_netlist
from fabricgen.simulate.opensm.bench import DONE, Bench

_STARTED = "INITIATING HEAVY SWEEP"
_CONFIGURED = re.compile(r"osm_ucast_mgr_process: (\S+) tables configured")
_SETTLED_S, _MOST_S, _POLL_S, _TRIES = 0.06, 600.0, 0.01, 4


class ManagerEndedError(UsageError):
    """OpenSM ended during a sweep. Measured: opensm 3.3.23 can crash when nue follows an engine that failed."""


@dataclass(frozen=True, slots=True)
class Rerouted:
    """The subnet after a sweep: the engine that made the tables, and the tables; None if no engine succeeded."""

    engine: str | None
    dumps: Dumps | None


@contextmanager
def without(bench: Bench, netlist: Path, cables: Sequence[GuidCable]) -> Iterator[Rerouted]:
    """The subnet without some cables between switches, which are linked again afterwards. The next sweep sees both
    changes. Raises UsageError if OpenSM does not finish its sweep."""
    nodes = read_netlist(read_bytes(netlist).decode("utf-8", "replace")).nodes
    names = {node.guid: name for name, node in nodes.items() if node.kind is NodeKind.SWITCH}

    def end(guid: int, port: int) -> str:
        return f'"{names[guid]}"[{port}]'

    _command(bench, [f"Unlink {end(*near)}" for near, _ in cables])
    try:
        yield _swept_again(bench, set(cables))
    finally:
        _command(bench, [f"Link {end(*near)} {end(*far)}" for near, far in cables])


def _command(bench: Bench, lines: Sequence[str]) -> None:
    assert bench.ibsim.stdin is not None
    bench.ibsim.stdin.write("".join(f"{line}\n" for line in lines).encode())
    bench.ibsim.stdin.flush()


def _swept_again(bench: Bench, cables: set[GuidCable]) -> Rerouted:
    """The result of a sweep that does not see the cables."""
    unreadable: UnreadableInputError | None = None
    for _ in range(_TRIES):
        time.sleep(_POLL_S)  # ibsim reads its commands and the datagrams of OpenSM in turn
        log = bench.scratch / "opensm.log"
        before = log.stat().st_size
        os.kill(bench.opensm.pid, signal.SIGHUP)
        text = _settled(bench, log, before)
        engines = _CONFIGURED.findall(text)
        if not engines:
            return Rerouted(None, None)
        try:
            dumps = read_dumps(bench.scratch)
        except UnreadableInputError as error:  # OpenSM writes the files after the log line
            unreadable = error
            continue
        if not cables & set(cables_by_guid(dumps.subnet)):
            return Rerouted(engines[-1], dumps)
    raise unreadable or UsageError("OpenSM still sees a cable that ibsim has unlinked")


def _settled(bench: Bench, log: Path, before: int) -> str:
    """The log of the sweeps since `before`, when no sweep is under way any more; traps start more than one."""
    until, since, size = time.monotonic() + _MOST_S, time.monotonic(), 0
    while time.monotonic() < until:
        if bench.opensm.poll() is not None:
            raise ManagerEndedError(f"opensm ended with code {bench.opensm.poll()} after a cable failed")
        now = log.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > _SETTLED_S:
            with log.open("rb") as stream:
                stream.seek(before)
                text = stream.read().decode("utf-8", "replace")
            started, done = text.count(_STARTED), sum(text.count(mark) for mark in DONE[:2])
            if started and done >= started:
                return text
        time.sleep(_POLL_S)
    raise UsageError(f"OpenSM did not finish a sweep within {_MOST_S:.0f} s")
