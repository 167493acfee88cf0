"""Cables that fail under a running OpenSM: ibsim unlinks them, and OpenSM sweeps the subnet again."""

import os
import re
import signal
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.observed.opensm_dumps import Dumps, dump_files, read_dumps
from fabricgen.observed.subnet import GuidCable, Subnet, cables_by_guid
from fabricgen.opensm.netlist import SubnetNodeKind, read_netlist
from fabricgen.simulate.opensm.answers import sm_port
from fabricgen.simulate.opensm.bench import DONE, Bench

_PROMPT = b"sim> "
_STARTED = "INITIATING HEAVY SWEEP"
_CONFIGURED = re.compile(r"osm_ucast_mgr_process: (\S+) tables configured")
_SETTLED_S, _MOST_S, _POLL_S, _TRIES = 0.06, 600.0, 0.01, 10


class ManagerEndedError(UsageError):
    """OpenSM ended during a sweep. Measured: opensm 3.3.23 can crash when nue follows an engine that failed."""


@dataclass(frozen=True, slots=True)
class Rerouted:
    """The subnet after a sweep: the engine that made the tables, and the tables; None if no engine succeeded."""

    engine: str | None
    dumps: Dumps | None


@contextmanager
def without(bench: Bench, netlist: Path, whole: Subnet, cut: Sequence[GuidCable]) -> Iterator[Rerouted]:
    """The subnet `whole` without some of its cables between switches, which are linked again afterwards. The next sweep
    sees both changes. Raises UsageError if OpenSM does not finish its sweep, UnreadableInputError if its tables are
    never those of the cables that are left."""
    nodes = read_netlist(read_bytes(netlist).decode("utf-8", "replace")).nodes
    names = {node.guid: name for name, node in nodes.items() if node.kind is SubnetNodeKind.SWITCH}

    def end(guid: int, port: int) -> str:
        return f'"{names[guid]}"[{port}]'

    _command(bench, [f"Unlink {end(*near)}" for near, _ in cut])
    try:
        yield _swept_again(bench, reached(set(cables_by_guid(whole)) - set(cut), sm_port(bench)))
    finally:
        _command(bench, [f"Link {end(*near)} {end(*far)}" for near, far in cut])


def reached(cables: Collection[GuidCable], start: int) -> set[GuidCable]:
    """The cables that a path joins to the node with this GUID: what OpenSM finds from there."""
    beside: dict[int, list[int]] = {}
    for (near, _), (far, _) in cables:
        beside.setdefault(near, []).append(far)
        beside.setdefault(far, []).append(near)
    seen, ahead = {start}, [start]
    while ahead:
        new = [guid for guid in beside.get(ahead.pop(), ()) if guid not in seen]
        seen.update(new)
        ahead += new
    return {cable for cable in cables if cable[0][0] in seen}


def _command(bench: Bench, lines: Sequence[str]) -> None:
    """Returns when ibsim has carried out all commands: it prints its prompt after each of them."""
    assert bench.ibsim.stdin is not None
    out = bench.scratch / "ibsim.out"
    prompts = out.read_bytes().count(_PROMPT) + len(lines)
    bench.ibsim.stdin.write("".join(f"{line}\n" for line in lines).encode())
    bench.ibsim.stdin.flush()
    until = time.monotonic() + _MOST_S
    while out.read_bytes().count(_PROMPT) < prompts:
        if bench.ibsim.poll() is not None or time.monotonic() > until:
            raise UsageError("ibsim did not change the cables")
        time.sleep(_POLL_S / 10)


def _swept_again(bench: Bench, expected: set[GuidCable]) -> Rerouted:
    """The result of a sweep that sees exactly these cables. One may be under way from before ibsim changed them, and a
    late trap can start another while the files are read."""
    log, failed = bench.scratch / "opensm.log", 0
    for tried in range(_TRIES):
        time.sleep(_POLL_S * 2**tried)
        before = log.stat().st_size
        os.kill(bench.opensm.pid, signal.SIGHUP)
        text = _settled(bench, log, before)
        engines = _CONFIGURED.findall(text)
        if not engines:  # without tables nothing shows which cables the sweep saw, so a second one must agree
            failed += 1
            if failed > 1:
                return Rerouted(None, None)
            continue
        dumps = _unchanged_dumps(bench.scratch)
        if dumps is not None and set(cables_by_guid(dumps.subnet)) == expected:
            return Rerouted(engines[-1], dumps)
    raise UnreadableInputError("OpenSM does not see the cables as ibsim has linked them", Location(str(bench.scratch)))


def _unchanged_dumps(folder: Path) -> Dumps | None:
    """The dumps, if OpenSM did not write them at the same time."""
    before = _written(folder)
    try:
        dumps = read_dumps(folder)
    except UnreadableInputError:
        return None
    return dumps if _written(folder) == before else None


def _written(folder: Path) -> list[tuple[int, int]]:
    files = [file for file in dump_files(folder).values() if file]
    return [(state.st_size, state.st_mtime_ns) for state in (file.stat() for file in (*files, folder / "opensm.log"))]


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
            if -1 < text.rfind(_STARTED) < max(map(text.rfind, DONE[:2])):  # an older sweep may have ended before
                return text
        time.sleep(_POLL_S)
    raise UsageError(f"OpenSM did not finish a sweep within {_MOST_S:.0f} s")
