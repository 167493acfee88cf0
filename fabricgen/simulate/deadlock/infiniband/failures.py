"""Failures of cables and switches of an InfiniBand subnet: is the subnet still routed, free of credit loops, connected?

On trees with updn or ftree our model answers (tree_failures.py). For other engines the real OpenSM routes the subnet
again under ibsim. It takes about a second for each set, so a sample is judged if there are many.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.errors import UnreadableInputError
from fabricgen.inputs import read_bytes
from fabricgen.observed.opensm_dumps import NO_PORT, Dumps, read_dumps
from fabricgen.observed.subnet import GuidCable, Subnet, cables_by_guid
from fabricgen.observed.subnet_files import SubnetFiles
from fabricgen.opensm.guid_lists import read_guids
from fabricgen.opensm.opensm_conf import read_options
from fabricgen.opensm.options import Engine
from fabricgen.results import Cycle, FailureSummary
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, FailureSet, SetsOf
from fabricgen.simulate.deadlock.failures.sample_bound import upper_bound
from fabricgen.simulate.deadlock.infiniband.tree_failures import UpDownTree
from fabricgen.simulate.deadlock.infiniband.virtual_lanes import find_credit_loops
from fabricgen.simulate.opensm.answers import path_levels, port_keys, sm_port
from fabricgen.simulate.opensm.bench import Bench, swept
from fabricgen.simulate.opensm.proof import engine_at_work
from fabricgen.simulate.opensm.rewiring import ManagerEndedError, Rerouted, without
from fabricgen.simulate.opensm.staging import engines_of
from fabricgen.simulate.opensm.tools import Tools
from fabricgen.simulate.plane.service_levels import on_levels

MOST_SWEPT, MOST_MODELLED = 16, 1 << 14
_MOST_PATHS = 1 << 17  # queries for the SLs of paths, some 13,000 a second
_UP_DOWN = {Engine.UPDN, Engine.FTREE}


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """One failure set. `engine` made the tables; None if no engine succeeded or OpenSM ended, so that
    nothing is routed. `loop` is a
    credit loop with the SLs of path records, `fixed_loop` one with the fixed SL. `disconnected` counts switches, or
    adapters for the tables of OpenSM, that lose others. `changed` are the entries of forwarding tables that change,
    None if our model answers."""

    names: tuple[str, ...]
    engine: str | None
    loop: Cycle | None = None
    fixed_loop: Cycle | None = None
    disconnected: int = 0
    changed: int | None = None


@dataclass(frozen=True, slots=True)
class SubnetFailures:
    """The verdicts of the judged sets. `left_out` sets take down the switch of the subnet manager, or gave
    no readable tables."""

    depth: int
    sets: int
    judged: tuple[SetVerdict, ...]
    is_sample: bool
    is_modelled: bool
    left_out: int = 0

    def summary(self, *, fixed: bool) -> FailureSummary:
        """The counts for path records, or for the fixed SL."""
        cyclic = sum((one.fixed_loop if fixed else one.loop) is not None for one in self.judged)
        lost = sum(one.engine is None or one.disconnected > 0 for one in self.judged)
        drawn = len(self.judged)
        if not self.is_sample:
            return FailureSummary(self.depth, self.sets, cyclic, lost)
        bounds = upper_bound(cyclic, drawn), upper_bound(lost, drawn)
        return FailureSummary(self.depth, self.sets, cyclic, lost, drawn, *bounds)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The failures to judge: up to `depth` at a time, with `switches` also switches."""

    depth: int = 0
    switches: bool = False
    seed: int = 0


NO_FAILURES = Wanted()


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


def modelled(files: SubnetFiles, subnet: Subnet, wanted: Wanted) -> SubnetFailures | None:
    """The verdicts of our model; None if it does not hold for the engines or the wiring."""
    engines, can_fall_back = engines_of(files.folder)
    options = read_options(read_bytes(files.folder / OPTIONS_NAME).decode("utf-8", "replace"))
    roots = files.folder / options.file_names.get("root_guid_file", "")
    if can_fall_back or not set(engines) <= _UP_DOWN or not roots.is_file():
        return None
    words = read_guids(read_bytes(roots).decode("utf-8", "replace")).words
    tree = UpDownTree(subnet, set(words))
    cables, failures = failures_of(subnet, switches=wanted.switches)
    ends = {(subnet.switches[row].node_guid, port): at for at, (row, port) in enumerate(_directed(tree))}
    both = [tuple(ends[end] for end in cable) for cable in cables]
    sets, is_sample = _sets(failures, wanted, MOST_MODELLED)
    judged = []
    for one in sets:
        dead = np.zeros(len(tree.source), bool)
        dead[[end for link in one.dead.tolist() for end in both[link]]] = True
        lost = tree.disconnected(dead, one.gone)
        if lost is None:
            return None
        judged.append(SetVerdict(one.names, engines[0], disconnected=lost))
    return SubnetFailures(wanted.depth, SetsOf(failures, wanted.depth).count, tuple(judged), is_sample, True)


def _directed(tree: UpDownTree) -> list[tuple[int, int]]:
    return list(zip(tree.source.tolist(), tree.port.tolist(), strict=True))


def _sets(failures: Sequence[Failure], wanted: Wanted, most: int) -> tuple[list[FailureSet], bool]:
    sets = SetsOf(failures, wanted.depth)
    return (sets.all(), False) if sets.count <= most else (sets.sample(most, wanted.seed), True)


def rerouted(
    tools: Tools,
    files: SubnetFiles,
    wanted: Wanted,
    levels: tuple[int, ...],
    *,
    one_level: bool,
    most: int = MOST_SWEPT,
) -> SubnetFailures | None:
    """The verdicts on the tables of the real OpenSM, set by set; None if it does not route the subnet at all. With
    `one_level` all path records have SL 0. Raises UsageError."""
    with ExitStack() as stack:
        bench = stack.enter_context(swept(tools, files.netlist, files.folder))
        if not bench.is_up:
            return None
        base = read_dumps(bench.scratch)
        cables, failures = failures_of(base.subnet, switches=wanted.switches)
        by_port = {engine_at_work(bench)} & {Engine.DFSSSP, Engine.NUE}  # others choose the SL by switch
        paths = len(base.subnet.adapters) * len(base.destinations) if by_port else len(base.subnet.switches) ** 2
        sets, is_sample = _sets(failures, wanted, most if one_level else max(1, min(most, _MOST_PATHS // paths)))
        manager = sm_port(bench)
        home = next((row for port, row in _homes(base.subnet) if port == manager), -1)
        judged = []
        for one in sets:
            if home in one.gone:
                continue
            cut = [cables[link] for link in one.dead.tolist()]
            gone = {base.subnet.switches[row].node_guid for row in one.gone}
            try:
                with without(bench, files.netlist, base.subnet, cut) as after:
                    judged.append(_judge(bench, one.names, base, after, gone, levels, one_level=one_level))
            except UnreadableInputError:
                continue
            except ManagerEndedError:
                stack.close()
                bench = stack.enter_context(swept(tools, files.netlist, files.folder))
                judged.append(SetVerdict(one.names, None))
    count = SetsOf(failures, wanted.depth).count
    left_out = len(sets) - len(judged)
    return SubnetFailures(wanted.depth, count, tuple(judged), is_sample, False, left_out)


def _homes(subnet: Subnet) -> list[tuple[int, int]]:
    """(port GUID, row of its switch) of every adapter port."""
    pairs = zip(subnet.adapters, subnet.attached_switch.tolist(), strict=True)
    return [(port.port_guid, row) for port, row in pairs]


def _judge(
    bench: Bench,
    names: tuple[str, ...],
    base: Dumps,
    after: Rerouted,
    gone: set[int],
    levels: tuple[int, ...],
    *,
    one_level: bool,
) -> SetVerdict:
    engine, dumps = after.engine, after.dumps
    if dumps is None or engine is None:
        return SetVerdict(names, None)
    fixed = find_credit_loops(on_levels(dumps, levels))
    loop = fixed.cycle
    if not one_level or levels != (0,):
        by_path = path_levels(bench, dumps, engine, port_keys(bench, dumps)).path_sl
        loop = find_credit_loops(replace(dumps, path_sl=by_path)).cycle
    here = {one.port_guid for one in dumps.subnet.adapters}
    guid_of = [one.node_guid for one in base.subnet.switches]
    missing = sum(port not in here and row >= 0 and guid_of[row] not in gone for port, row in _homes(base.subnet))
    lost = missing + fixed.lost_count
    return SetVerdict(names, engine, loop, fixed.cycle, lost, _changed(base, dumps))


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
