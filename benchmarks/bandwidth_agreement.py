"""Do flow level and packets agree on the bandwidth of a pattern, and on its worst single failure? Random bundles, ECMP.

    python -m benchmarks.bandwidth_agreement [--first 0] [--count 100] [--failures 10] [--processes 2]

The bus bandwidth is bytes over the time of the last message, so its error is that of this time: of `simulate
congestion` with the drawn hashes against `simulate packets` with the same hashes. Senders ignore marks: with ECN the
two have different subjects (the state to which DCQCN converges, and the run). Of the first bundles a few links between
switches fail one at a time, and BGP has converged.
"""

import argparse
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.random_bundles import Case, random_case
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.simulate.congestion.analysis import CongestionOptions, analyse_congestion
from fabricgen.simulate.packets.analysis import simulate_bundle
from fabricgen.vocabulary import LinkKind

CANDIDATES = 4  # links that fail, of each bundle
EQUAL = 0.01  # times that differ by less are equal


@dataclass(frozen=True)
class Times:
    """The time of the last message at flow level and in packets, in ns. `failed` is the link, "" without a failure."""

    text: str
    failed: str
    flow_ns: float
    packets_ns: float

    @property
    def error(self) -> float:
        """Of the bus bandwidth of flow level."""
        return self.packets_ns / self.flow_ns - 1


def times_of(case: Case, failed: str = "") -> Times:
    """Both times of a case."""
    bundle = open_bundle([case.bundle])
    options = CongestionOptions(pattern=case.pattern, size_bytes=case.size_bytes, seed=case.seed)
    [found] = analyse_congestion(bundle, options)
    [run] = simulate_bundle(bundle, case.pattern, size_bytes=case.size_bytes, seed=case.seed)
    flow, packets = (max(one.fct_ns or np.inf for one in flows) for flows in (found.flows, run.result.flows))
    return Times(case.text, failed, float(flow), float(packets))


def failing_links(bundle: Bundle) -> list[str]:
    """Names of links between switches, a few of them, spread over all."""
    links = [link.id for link in bundle.switch_links if link.kind != LinkKind.HOST_LEAF]
    return links[:: max(1, len(links) // CANDIDATES)][:CANDIDATES]


def without(case: Case, name: str) -> None:
    """Both ends of a link are down; the files are those of a fabric after BGP has converged."""
    [link] = [link for link in open_bundle([case.bundle]).switch_links if link.id == name]
    for device, port in (link.a, link.b):
        file = case.bundle / "sonic" / device / "config_db.json"
        config = json.loads(file.read_text())
        config["PORT"][port]["admin_status"] = "down"
        file.write_text(json.dumps(config))


def judged(seed: int, folder: Path, *, failures: bool = False) -> list[Times]:
    """The times of the case of a seed, then with one link down each."""
    case = random_case(seed, folder / "whole")
    case.ignore_marks()
    found = [times_of(case)]
    for number, name in enumerate(failing_links(open_bundle([case.bundle])) if failures else ()):
        broken = random_case(seed, folder / str(number))
        broken.ignore_marks()
        without(broken, name)
        found.append(times_of(broken, name))
    return found


def same_worst(found: list[Times]) -> bool:
    """Whether the link that costs most in packets costs most at flow level, too; equal costs are the same."""
    after = [one for one in found if one.failed]
    flow, packets = (max(after, key=lambda one: value(one)) for value in (_flow, _packets))
    return packets.flow_ns >= flow.flow_ns * (1 - EQUAL) or flow.packets_ns >= packets.packets_ns * (1 - EQUAL)


def _flow(one: Times) -> float:
    return one.flow_ns


def _packets(one: Times) -> float:
    return one.packets_ns


def _in_new_folder(seed: int, failures: bool) -> list[Times]:
    with tempfile.TemporaryDirectory() as folder:
        return judged(seed, Path(folder), failures=failures)


def main() -> None:
    """Print the cases that differ, the errors of the bandwidth, and the worst failures that are the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--failures", type=int, default=10, help="bundles of which links fail as well")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    seeds = list(range(given.first, given.first + given.count))
    failing = [number < given.failures for number in range(len(seeds))]
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        found = list(pool.map(_in_new_folder, seeds, failing, chunksize=2))
    say = partial(print, file=sys.stdout)
    for seed, one in zip(seeds, found, strict=True):
        if abs(one[0].error) > 0.05:
            say(f"seed {seed}: {one[0].text}: {one[0].error:+.1%} ({one[0].flow_ns:.0f}, {one[0].packets_ns:.0f} ns)")
    errors = np.abs([one[0].error for one in found])
    marks = ", ".join(f"p{mark} {100 * np.percentile(errors, mark):.1f} %" for mark in (50, 90, 99, 100))
    say(f"{int((errors <= 0.05).sum())} of {len(found)} within 5 %: {marks}")
    after = [one for one in found if len(one) > 1]
    for seed, one in zip(seeds, found, strict=True):
        if len(one) > 1 and not same_worst(one):
            say(f"seed {seed}: another worst failure: {[(t.failed, t.flow_ns, t.packets_ns) for t in one[1:]]}")
    say(f"the worst single failure is the same in {sum(map(same_worst, after))} of {len(after)}")
    unequal = [one for one in after if max(map(_packets, one[1:])) > min(map(_packets, one[1:])) * (1 + EQUAL)]
    say(f"of these, failures cost different times in {len(unequal)}: {sum(map(same_worst, unequal))} the same")


if __name__ == "__main__":
    main()
