"""Single failures on 1,024 GPUs: one set of each orbit gives what all sets give, where failures cost different shares.

    python -m benchmarks.outages_by_force [--hosts 128]

The leaves have half of the uplinks that their hosts need, and hosts are shuffled, so links carry different loads; with
and without weighted ECMP.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from fabricgen.api.aside import render_aside
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.results import OutageResult
from fabricgen.simulate.outages.analysis import analyse_outages
from fabricgen.simulate.outages.options import OutageOptions
from fabricgen.simulate.patterns import Placement
from tests.inventories import rail_optimized, write

PATTERNS = ("ring-all-reduce", "permutation", "all-to-all")


def shares(one: OutageResult) -> Counter[float]:
    """Share of the bandwidth -> number of sets."""
    found: Counter[float] = Counter()
    for outcome in one.outcomes:
        found[round(outcome.share, 4)] += outcome.sets
    return found


def compared(bundle: Bundle, text: str) -> bool:
    """Whether all patterns have equal results by orbits and by all sets."""
    equal = True
    for pattern in PATTERNS:
        options = OutageOptions(pattern, placement=Placement.FRAGMENTED)
        found, cpu_s = [], []
        for one in (options, replace(options, symmetry=False, most_sets=1 << 20)):
            start = time.process_time()
            found += analyse_outages(bundle, one)
            cpu_s.append(time.process_time() - start)
        orbits, each = found
        same = shares(orbits) == shares(each) and orbits.sets == each.sets
        equal &= same
        print(
            f"{text}{pattern}: {orbits.sets} sets, {orbits.judged} judged ({orbits.how}), "
            f"{'equal' if same else 'DIFFERENT'}; shares {dict(sorted(shares(each).items())[:6])}; "
            f"{cpu_s[0]:.1f} and {cpu_s[1]:.1f} s of CPU",
            file=sys.stdout,
            flush=True,
        )
    return equal


def main() -> None:
    """Print for each pattern the shares by orbits and by all sets, and the CPU of both. Exits with 1 if they differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=128)
    hosts = parser.parse_args().hosts
    equal = True
    for weighted in (False, True):
        tree = rail_optimized(
            hosts=hosts, unit=16, planned=hosts // 16, oversubscription=2, load_balancing={"wcmp": weighted}
        )
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "i", tree)
            render_aside(Path(folder) / "i", Path(folder) / "b")
            equal &= compared(open_bundle([Path(folder) / "b"]), "weighted " * weighted)
    sys.exit(not equal)


if __name__ == "__main__":
    main()
