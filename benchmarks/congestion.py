"""The congestion model: its accuracy against a packet simulator, and its cost at 65,536 GPUs.

    python -m benchmarks.congestion [--seeds N] [--oracle FOLDER]

FOLDER contains a packet simulator, pktsim.py with runcase.py, which equals HPCC's ns-3 to the nanosecond. Without it
only speed is measured.
"""

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.congestion_cases import cases
from benchmarks.congestion_scale import GPUS, synthetic_plane
from fabricgen.simulate.congestion.collisions import drawn_fullest, expected_fullest
from fabricgen.simulate.congestion.options import CongestionOptions
from fabricgen.simulate.congestion.plane_load import judge_plane
from fabricgen.simulate.congestion.verdict import VICTIM, judge
from fabricgen.simulate.max_min import max_min_times_ns
from fabricgen.simulate.patterns import Placement
from fabricgen.simulate.plane.from_scenario import from_scenario
from fabricgen.simulate.plane.ports import latency_ns
from fabricgen.simulate.scenario import parse_scenario

Floats = NDArray[np.float64]

_BORDER = (1.14, 1.26)  # HoL factors near the limit for victims, which are not counted


def main() -> None:
    """Print one table for each question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--oracle", type=Path, help="Folder of a packet simulator, pktsim.py, to compare with.")
    options = parser.parse_args()
    if options.oracle is not None:
        _accuracy(options.oracle, options.seeds)
    _collisions()
    _scale()


def _accuracy(oracle: Path, seeds: int) -> None:
    print("completion times against packets | flows | median % | p90 % | max % | victims | wrong | HoL error p98 %")
    errors, factors, wrong, victims = [], [], 0, []
    for tree in _trees(oracle.parent / "data" / "congestion", seeds):
        truth = packet_times_ns(oracle, tree)
        ports, flows = from_scenario(parse_scenario(tree))
        begun = process_time()
        verdict = judge(ports, flows, finite=True)
        ideal = max_min_times_ns(ports, flows) + latency_ns(ports, flows)
        cost_s = process_time() - begun
        error, factor = np.abs(verdict.time_ns / truth - 1) * 100, truth / ideal
        is_victim = factor > VICTIM
        clear = (factor < _BORDER[0]) | (factor > _BORDER[1])
        missed = int(((verdict.hol_factor > VICTIM) != is_victim)[clear].sum())
        off = np.abs(verdict.hol_factor / factor - 1)[is_victim] * 100
        print(
            f"{tree['name']:32} | {len(flows):5} | {np.median(error):5.2f} | {np.percentile(error, 90):5.2f} | "
            f"{error.max():5.2f} | {int(is_victim.sum()):4} | {missed} | {_percentile(off, 98):5.2f} | {cost_s:.2f} s"
        )
        errors.append(error)
        factors.append(off)
        victims.append(factor[is_victim])
        wrong += missed
    error, off = np.concatenate(errors), np.concatenate(factors)
    print(
        f"all: median {np.median(error):.2f} %, p90 {np.percentile(error, 90):.2f} %, max {error.max():.2f} %; "
        f"{wrong} victims wrong outside {_BORDER}; HoL factor within 10 % for {100 * (off <= 10).mean():.1f} % of "
        f"victims, median factor {np.median(np.concatenate(victims)):.2f}"
    )


def _percentile(numbers: Floats, mark: float) -> float:
    return float(np.percentile(numbers, mark)) if len(numbers) else 0.0


def _trees(given: Path, seeds: int) -> Iterator[dict[str, Any]]:
    for file in sorted(given.glob("*/scenario.json")):
        yield json.loads(file.read_text())
    for seed in range(seeds):
        yield from cases(seed)


def packet_times_ns(oracle: Path, tree: dict[str, Any]) -> Floats:
    """Completion times of the packet simulator; NaN for a flow that does not finish."""
    sys.path.insert(0, str(oracle))
    try:
        runcase = import_module("runcase")
    finally:
        sys.path.remove(str(oracle))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(tree, file)
        file.flush()
        result, *_ = runcase.run(runcase.load(file.name))
    times: Floats = np.asarray(result[0], float)
    times[times < 0] = np.nan
    return times


def _collisions() -> None:
    print("\nflows on the fullest link | exact | mean of 10,000 draws | difference %")
    for flows, links in ((32, 32), (64, 32), (128, 32), (256, 32), (64, 64)):
        exact, drawn = expected_fullest(flows, links), float(drawn_fullest(flows, links, 10_000, 1).mean())
        print(f"{flows:4} on {links:3} | {exact:6.3f} | {drawn:6.3f} | {100 * abs(exact / drawn - 1):.2f}")


def _scale() -> None:
    print(f"\n{GPUS} GPUs, three tiers | model | CPU s | MiB")
    plane = synthetic_plane()
    for name, options in (
        ("all-to-all", CongestionOptions("all-to-all")),
        ("ring, aligned", CongestionOptions()),
        ("ring, fragmented", CongestionOptions(placement=Placement.FRAGMENTED)),
    ):
        begun = process_time()
        result = judge_plane(plane, options)
        cost_s, memory = process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name:20} | {result.model} | {cost_s:5.1f} | {memory:4.0f} | max load {result.max_load:.3f}, "
              f"{sum(flow.count for flow in result.victims)} victims")  # fmt: skip


if __name__ == "__main__":
    main()
