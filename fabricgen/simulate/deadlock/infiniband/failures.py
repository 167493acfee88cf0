"""Failures of cables and switches of an InfiniBand subnet: is the subnet still routed, free of credit loops, connected?

On trees with updn or ftree our model answers (tree_failures.py). For other engines the real OpenSM routes the subnet
again under ibsim. It takes about a second for each set, so a sample is judged if there are many.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.inputs import read_bytes
from fabricgen.observed.subnet import Subnet
from fabricgen.observed.subnet_files import SubnetFiles
from fabricgen.opensm.guid_lists import read_guids
from fabricgen.opensm.opensm_conf import read_options
from fabricgen.opensm.options import OpensmEngine
from fabricgen.results import FailureSummary
from fabricgen.same import Same
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, FailureSet, SetsOf
from fabricgen.simulate.deadlock.failures.sample_bound import upper_bound
from fabricgen.simulate.deadlock.infiniband.resweeps import Resweeps, SetVerdict, failures_of, verdicts_on_dask
from fabricgen.simulate.opensm.staging import engines_of, is_up_down
from fabricgen.simulate.opensm.tools import Tools

# Failures on trees that updn or ftree routes, without a run of OpenSM.
#
# updn ranks switches by the links to the nearest root, and a packet goes up and then down. Tables of such paths have no
# cycle on any SL, before and after a failure. Two switches reach each other if both reach a common switch upwards.
# ftree has the same paths where it does not fail, and updn is behind it. tests/simulate/opensm/test_failures.py
# compares the verdicts with the tables of the real OpenSM.

Flags = NDArray[np.bool_]


class UpDownTree:
    """The links of a subnet with its roots, given by node GUID."""

    def __init__(self, subnet: Subnet, roots: Collection[int]) -> None:
        self.is_root = np.array([one.node_guid in roots for one in subnet.switches], bool)
        self.has_adapters = (subnet.adapter_at >= 0).any(axis=1)
        source, port = (subnet.peer_switch >= 0).nonzero()
        self.source, self.target = source, subnet.peer_switch[source, port].astype(np.int64)
        self.port = port

    def disconnected(self, dead: Flags, gone: Collection[int] = ()) -> int | None:
        """The number of switches with adapters that do not reach all others, without the `dead` directed links [L] and
        the `gone` switches; None if a link joins switches of equal rank, where the paths of OpenSM are not known."""
        live = ~dead
        source, target = self.source[live], self.target[live]
        rank = self._ranks(source, target)
        ranked = (rank[source] >= 0) & (rank[target] >= 0)
        source, target = source[ranked], target[ranked]
        if (rank[source] == rank[target]).any():
            return None
        above = np.eye(len(rank), dtype=np.float32)
        upwards = rank[source] > rank[target]
        for level in range(1, int(rank.max()) + 1):
            chosen = upwards & (rank[source] == level)
            links = np.zeros_like(above)
            links[source[chosen], target[chosen]] = 1
            np.minimum(above + links @ above, 1, out=above)
        leaves = self.has_adapters & ~np.isin(np.arange(len(rank)), list(gone))
        rows = above[leaves & (rank >= 0)]
        alone = int((leaves & (rank < 0)).sum())
        if alone and leaves.sum() > 1:
            return alone
        return int(((rows @ rows.T) == 0).any(axis=1).sum())

    def _ranks(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of links from each switch to the nearest root; -1 if it reaches none."""
        far = len(self.is_root)
        rank = np.where(self.is_root, 0, far)
        while True:
            nearer = rank.copy()
            np.minimum.at(nearer, source, rank[target] + 1)
            if (nearer == rank).all():
                return np.where(rank >= far, -1, rank)
            rank = nearer


MOST_SWEPT, MOST_MODELLED = 16, 1 << 14
_MOST_PATHS = 1 << 17  # queries for the SLs of paths, some 13,000 a second


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
class WantedFailures:
    """The failures to judge: up to `depth` at a time, with `switches` also switches. The workers of a Dask `scheduler`
    judge all sets for which OpenSM must run."""

    depth: int = 0
    switches: bool = False
    seed: int = 0
    scheduler: str | None = None


NO_FAILURES = WantedFailures()


def modelled(files: SubnetFiles, subnet: Subnet, wanted: WantedFailures) -> SubnetFailures | None:
    """The verdicts of our model; None if it does not hold for the engines or the wiring."""
    engines, _ = engines_of(files.folder)
    options = read_options(read_bytes(files.folder / OPTIONS_NAME).decode("utf-8", "replace"))
    roots = files.folder / options.file_names.get("root_guid_file", "")
    if not is_up_down(files.folder) or not roots.is_file():
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


def _sets(failures: Sequence[Failure], wanted: WantedFailures, most: int) -> tuple[list[FailureSet], bool]:
    sets = SetsOf(failures, wanted.depth)
    return (sets.all(), False) if sets.count <= most else (sets.sample(most, wanted.seed), True)


def rerouted(
    tools: Tools,
    files: SubnetFiles,
    subnet: Subnet,
    wanted: WantedFailures,
    levels: tuple[int, ...],
    *,
    one_level: bool,
    most: int = MOST_SWEPT,
) -> SubnetFailures | None:
    """The verdicts on the tables of the real OpenSM, set by set; None if it does not route the subnet at all. `subnet`
    is what it sees without a failure. With `one_level` all path records have SL 0. A sample of at most `most` sets is
    judged here; workers judge all of them. Raises UsageError."""
    _, failures = failures_of(subnet, switches=wanted.switches)
    how = Resweeps(wanted.switches, levels, one_level)
    place = {Same(one): at for at, one in enumerate(failures)}

    def places(sets: Sequence[FailureSet]) -> list[tuple[int, ...]]:
        return [tuple(place[Same(one)] for one in each.failures) for each in sets]

    if wanted.scheduler:
        sets, is_sample = _sets(failures, wanted, MOST_MODELLED)
        found = verdicts_on_dask(wanted.scheduler, how, files, places(sets))
    else:
        by_port = engines_of(files.folder)[0][:1] in (
            (OpensmEngine.DFSSSP,),
            (OpensmEngine.NUE,),
        )  # others choose the SL by switch
        paths = len(subnet.adapters if by_port else subnet.switches) ** 2
        sets, is_sample = _sets(failures, wanted, most if one_level else max(1, min(most, _MOST_PATHS // paths)))
        found = how.verdicts(tools, files.netlist, files.folder, places(sets))
    if found is None:
        return None
    judged = tuple(one for one in found if one is not None)
    count = SetsOf(failures, wanted.depth).count
    return SubnetFailures(wanted.depth, count, judged, is_sample, False, len(found) - len(judged))
