"""Failure sets that the real OpenSM routes one after the other under ibsim, here or on the workers of a Dask
scheduler.

A worker gets the files of the subnet and the sets, as the places of failures in the order of GUIDs. It needs opensm and
ibsim of the same version.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fabricgen.atomic import temporary_folder
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.inputs import read_bytes
from fabricgen.observed.opensm_dumps import NO_PORT, Dumps, read_dumps
from fabricgen.observed.subnet import GuidCable, Subnet, cables_by_guid
from fabricgen.observed.subnet_files import SubnetFiles
from fabricgen.results import Cycle
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, FailureSet
from fabricgen.simulate.deadlock.infiniband.virtual_lanes import find_credit_loops
from fabricgen.simulate.opensm.answers import path_levels, port_keys, sm_port
from fabricgen.simulate.opensm.bench import Bench, swept
from fabricgen.simulate.opensm.rewiring import ManagerEndedError, Rerouted, without
from fabricgen.simulate.opensm.tools import Tools, find_tools
from fabricgen.simulate.plane.service_levels import on_levels
from fabricgen.spread import connected

_SETS_OF_A_TASK = 16  # each task routes the whole subnet once before its sets

Places = tuple[int, ...]  # of the failures of a set, in failures_of()


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """One failure set. `engine` made the tables; None if no engine succeeded or OpenSM ended, so that nothing is
    routed. `loop` is a credit loop with the SLs of path records, `fixed_loop` one with the fixed SL. `disconnected`
    counts switches, or adapters for the tables of OpenSM, that lose others. `changed` are the entries of forwarding
    tables that change, None if our model answers."""

    names: tuple[str, ...]
    engine: str | None
    loop: Cycle | None = None
    fixed_loop: Cycle | None = None
    disconnected: int = 0
    changed: int | None = None


def failures_of(subnet: Subnet, *, switches: bool) -> tuple[list[GuidCable], list[Failure]]:
    """The cables between switches, and what can fail: each cable, and each switch with all of its cables. The order is
    that of GUIDs, so that files and dumps of a subnet give the same."""
    of_guid = {one.node_guid: row for row, one in enumerate(subnet.switches)}
    cables = sorted((min(cable), max(cable)) for cable in cables_by_guid(subnet) if cable[0][0] in of_guid)
    names = {one.node_guid: one.name for one in subnet.switches}
    failures = [
        Failure("--".join(f"{names[guid]}:{port}" for guid, port in cable), (at,)) for at, cable in enumerate(cables)
    ]
    of_switch: dict[int, list[int]] = {}
    for at, cable in enumerate(cables):
        for guid, _ in cable:
            of_switch.setdefault(guid, []).append(at)
    if switches:
        found = sorted(of_switch.items())
        failures += [Failure(f"switch {names[guid]}", tuple(links), of_guid[guid]) for guid, links in found]
    return cables, failures


@dataclass(frozen=True, slots=True)
class Resweeps:
    """How the sets of a subnet are judged: with `switches` among the failures, with collectives on the SLs `levels`,
    and with `one_level` all path records on SL 0."""

    switches: bool
    levels: tuple[int, ...]
    one_level: bool

    def verdicts(
        self, tools: Tools, netlist: Path, folder: Path, sets: Sequence[Places]
    ) -> list[SetVerdict | None] | None:
        """The verdict on each set: None for one that takes down the switch of the manager or gave no readable tables.
        None as a whole if OpenSM does not route the subnet without a failure. Raises UsageError."""
        found: list[SetVerdict | None] = []
        with ExitStack() as stack:
            bench = stack.enter_context(swept(tools, netlist, folder))
            if not bench.is_up:
                return None
            base = read_dumps(bench.scratch)
            cables, failures = failures_of(base.subnet, switches=self.switches)
            manager = sm_port(bench)
            home = next((row for port, row in _homes(base.subnet) if port == manager), -1)
            for places in sets:
                one = FailureSet(tuple(failures[place] for place in places))
                if home in one.gone:
                    found.append(None)
                    continue
                cut = [cables[link] for link in one.dead.tolist()]
                gone = {base.subnet.switches[row].node_guid for row in one.gone}
                try:
                    with without(bench, netlist, base.subnet, cut) as after:
                        found.append(self._judge(bench, one.names, base, after, gone))
                except UnreadableInputError:
                    found.append(None)
                except ManagerEndedError:
                    stack.close()
                    bench = stack.enter_context(swept(tools, netlist, folder))
                    found.append(SetVerdict(one.names, None))
        return found

    def _judge(self, bench: Bench, names: tuple[str, ...], base: Dumps, after: Rerouted, gone: set[int]) -> SetVerdict:
        engine, dumps = after.engine, after.dumps
        if dumps is None or engine is None:
            return SetVerdict(names, None)
        fixed = find_credit_loops(on_levels(dumps, self.levels))
        loop = fixed.cycle
        if not self.one_level or self.levels != (0,):
            by_path = path_levels(bench, dumps, engine, port_keys(bench, dumps)).path_sl
            loop = find_credit_loops(replace(dumps, path_sl=by_path)).cycle
        here = {one.port_guid for one in dumps.subnet.adapters}
        guid_of = [one.node_guid for one in base.subnet.switches]
        missing = sum(port not in here and row >= 0 and guid_of[row] not in gone for port, row in _homes(base.subnet))
        lost = missing + fixed.lost_count
        return SetVerdict(names, engine, loop, fixed.cycle, lost, _changed(base, dumps))


def verdicts_on_dask(
    url: str, how: Resweeps, files: SubnetFiles, sets: Sequence[Places]
) -> list[SetVerdict | None] | None:
    """The same by the workers of a scheduler, in the order of the sets; a task of a worker that is lost runs on another
    one. Raises UsageError if no scheduler answers, or a worker has no OpenSM."""
    content = {
        path.relative_to(files.folder).as_posix(): read_bytes(path)
        for path in sorted(files.folder.rglob("*"))
        if path.is_file()
    }
    name = files.netlist.relative_to(files.folder).as_posix()
    tasks = [sets[first : first + _SETS_OF_A_TASK] for first in range(0, len(sets), _SETS_OF_A_TASK)]
    with connected(url) as client:
        held = client.scatter(content, broadcast=True, hash=False)
        futures = [client.submit(_on_worker, how, held, name, task, pure=False) for task in tasks]
        answers: Iterable[list[SetVerdict | None] | None] = client.gather(futures)
    found: list[SetVerdict | None] = []
    for answer in answers:
        if answer is None:
            return None
        found += answer
    return found


def _on_worker(
    how: Resweeps, content: Mapping[str, bytes], netlist: str, sets: Sequence[Places]
) -> list[SetVerdict | None] | None:
    tools = find_tools()
    if tools is None:
        raise UsageError("a worker of the scheduler has no opensm and ibsim: install them there")
    with temporary_folder("subnet") as folder:
        for name, data in content.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        return how.verdicts(tools, folder / netlist, folder, sets)


def _homes(subnet: Subnet) -> list[tuple[int, int]]:
    """(port GUID, row of its switch) of every adapter port."""
    pairs = zip(subnet.adapters, subnet.attached_switch.tolist(), strict=True)
    return [(port.port_guid, row) for port, row in pairs]


def _changed(base: Dumps, after: Dumps) -> int:
    """The entries for adapters that differ, on switches that are in both tables."""
    row = {one.node_guid: number for number, one in enumerate(after.subnet.switches)}
    shared = [number for number, one in enumerate(base.subnet.switches) if one.node_guid in row]
    width = max(base.forwarding.shape[1], after.forwarding.shape[1])

    def padded(table: Dumps, rows: list[int]) -> np.ndarray:
        full = np.full((len(rows), width), NO_PORT, np.uint8)
        full[:, : table.forwarding.shape[1]] = table.forwarding[rows]
        return full

    there = [row[base.subnet.switches[number].node_guid] for number in shared]
    return int((padded(base, shared) != padded(after, there))[:, base.destinations].sum())
