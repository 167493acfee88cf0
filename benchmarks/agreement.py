"""Do `simulate congestion` and `simulate packets` agree? Random bundles with ACKs and CNPs as deployed.

    python -m benchmarks.agreement [--first 0] [--count 200] [--processes 2]

Two bundles are compared for each seed with ECN, one for others: senders that ignore marks give the state that
`simulate congestion` computes (pauses, victims, times). With ECN, packets may pause only where congestion does.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.random_bundles import Case, random_case
from fabricgen.bundle.read import open_bundle
from fabricgen.physics import DEFAULT_ROCE_MTU_BYTES
from fabricgen.results import CongestionResult, PacketsResult
from fabricgen.simulate.congestion.analysis import CongestionOptions, analyse_congestion
from fabricgen.simulate.congestion.resolution import undecided
from fabricgen.simulate.packets.analysis import simulate_bundle

BORDER = (1.14, 1.26)  # HoL factors near the limit for victims, which are not counted
BRIEF = 0.05  # of the time: congestion calls ports paused that are paused for longer
VICTIM = 1.2


@dataclass(frozen=True)
class Agreement:
    """How the verbs differ on a case: `differences` in words, errors of completion times, and `brief` if packets have
    pauses that are too short for congestion. `undecided` counts the flows that are victims of one verb only, and
    that congestion calls undecided."""

    text: str
    differences: tuple[str, ...] = ()
    brief: bool = False
    undecided: int = 0
    errors: tuple[float, ...] = field(default=(), repr=False)


def agreement(seed: int, folder: Path) -> Agreement:
    """Compare both verbs on the case of a seed, rendered below a folder."""
    case = random_case(seed, folder)
    if case.ecn:
        congestion, packets = _congestion(case), _packets(case)
        if packets.pfc_frames and not congestion.paused:
            return Agreement(case.text, ("packets pause with ECN, congestion does not",))
        case.ignore_marks()
    congestion, packets = _congestion(case), _packets(case)
    differences, brief = [], False
    if bool(congestion.paused) != bool(packets.pfc_frames):
        longest = max((root.paused_share for root in packets.roots), default=0.0)
        brief = not congestion.paused and longest <= BRIEF
        if not brief:
            frames, paused = len(packets.pfc_frames), congestion.paused
            differences.append(f"{frames} pause frames in packets, {paused} paused ports in congestion")
    wrong, named, errors = _compare_flows(congestion, packets)
    if wrong:
        differences.append(f"{wrong} of {len(packets.flows)} flows are victims of one of them only")
    if congestion.unexplained or (congestion.victims and not congestion.roots):
        differences.append(f"{congestion.unexplained} victims without a root")
    return Agreement(case.text, tuple(differences), brief, named, tuple(errors))


def _congestion(case: Case) -> CongestionResult:
    options = CongestionOptions(pattern=case.pattern, size_bytes=case.size_bytes, seed=case.seed)
    [result] = analyse_congestion(open_bundle([case.bundle]), options)
    return result


def _packets(case: Case) -> PacketsResult:
    [run] = simulate_bundle(open_bundle([case.bundle]), case.pattern, size_bytes=case.size_bytes, seed=case.seed)
    return run.result


def _compare_flows(congestion: CongestionResult, packets: PacketsResult) -> tuple[int, int, list[float]]:
    """The numbers of flows that are victims of one verb only, outside the border: those that congestion decides, and
    those that it calls undecided; and the errors of all times."""
    wrong, named, errors = 0, 0, []
    for its, flow in zip(congestion.flows, packets.flows, strict=True):
        assert (its.src, its.dst) == (flow.src, flow.dst)
        assert its.fct_ns and flow.fct_ns and flow.hol_factor
        errors.append(abs(its.fct_ns / flow.fct_ns - 1))
        if its.victim == (flow.hol_factor > VICTIM) or BORDER[0] <= flow.hol_factor <= BORDER[1]:
            continue
        if undecided(np.array(its.hol_factor), np.array(-(-flow.bytes // DEFAULT_ROCE_MTU_BYTES))):
            named += 1
        else:
            wrong += 1
    return wrong, named, errors


def _in_new_folder(seed: int) -> Agreement:
    with tempfile.TemporaryDirectory() as folder:
        return agreement(seed, Path(folder))


def main() -> None:
    """Print the cases that differ, the number of those that agree, and the errors of completion times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.count)
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        found = list(pool.map(_in_new_folder, seeds, chunksize=4))
    say = partial(print, file=sys.stdout)
    for seed, one in zip(seeds, found, strict=True):
        for difference in one.differences or ("pauses of less than 5 % of the time",) * one.brief:
            say(f"seed {seed}: {one.text}: {difference}")
        if one.undecided:
            say(f"seed {seed}: {one.text}: {one.undecided} flows that congestion calls undecided")
    same = sum(not (one.differences or one.brief or one.undecided) for one in found)
    brief, named = sum(one.brief for one in found), sum(bool(one.undecided) for one in found)
    say(f"{same} of {len(found)} agree, {brief} have brief pauses in packets only")
    say(f"{named} differ only in flows of a few packets, which congestion calls undecided")
    errors = np.concatenate([one.errors for one in found])
    marks = ", ".join(f"p{mark} {100 * np.percentile(errors, mark):.1f} %" for mark in (50, 90, 99, 100))
    say(f"errors of {len(errors)} completion times: {marks}")


if __name__ == "__main__":
    main()
