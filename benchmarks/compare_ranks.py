"""Do the completion times of `compare` rank designs as packet runs do? Spearman's rank correlation at 128 GPUs.

    python -m benchmarks.compare_ranks [--gpus 128] [--platform nvidia-sn4700] [--size-mib 8] [--draws 4]

For each candidate and pattern it prints the mean over the draws of both: the time of `compare` (fair sharing, no
pauses) and the last completion of packet runs with PFC, ECN and DCQCN. Ranks of equal values are their mean.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fabricgen.api import PacketsRequest, simulate_packets
from fabricgen.api.aside import render_aside
from fabricgen.api.candidates import equal_hosts, read_candidates, write_candidate
from fabricgen.bundle.read import open_bundle
from fabricgen.simulate.bandwidth.analysis import DEFAULT_PATTERNS, BandwidthOptions, analyse_bandwidth

_ALIKE = 0.01  # times within this share are equal: packets and latency differ by less


def ranks(values: Sequence[float]) -> list[float]:
    """The ranks from 1; equal values have the mean of their ranks."""
    order = np.argsort(values, kind="stable")
    found = np.zeros(len(values))
    place = 0
    while place < len(order):
        last = place
        while last + 1 < len(order) and values[order[last + 1]] <= values[order[place]] * (1 + _ALIKE):
            last += 1
        found[order[place : last + 1]] = (place + last) / 2 + 1
        place = last + 1
    return [float(rank) for rank in found]


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The rank correlation; None if all values of a side are equal."""
    near, far = np.array(ranks(a)), np.array(ranks(b))
    if not near.std() or not far.std():
        return None
    return float(np.corrcoef(near, far)[0, 1])


def packet_ns(bundle: Path, pattern: str, size_bytes: int, draws: int) -> float:
    """The last completion, mean of single runs with further seeds."""
    ends = []
    for seed in range(1, draws + 1):
        (run,) = simulate_packets(
            PacketsRequest(paths=[bundle], pattern=pattern, size_bytes=size_bytes, seed=seed, max_hops=10**9)
        ).runs
        assert all(flow.fct_ns is not None for flow in run.flows), f"{pattern}: a flow does not finish"
        ends.append(max(flow.start_ns + (flow.fct_ns or 0) for flow in run.flows))
    return float(np.mean(ends))


def main() -> int:
    """Print a line for each pattern, then the correlation over all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gpus", type=int, default=128)
    parser.add_argument("--platform", default="nvidia-sn4700")
    parser.add_argument("--size-mib", type=int, default=8)
    parser.add_argument("--draws", type=int, default=4)
    given = parser.parse_args()
    candidates, size = read_candidates("all"), given.size_mib << 20
    computed: dict[str, list[float]] = {}
    measured: dict[str, list[float]] = {}
    options = BandwidthOptions(size_bytes=size, draws=given.draws, seed=1, failure_sets=0)
    with tempfile.TemporaryDirectory() as folder:
        for one in candidates:
            aside = Path(folder) / one.name.replace(":", "-")
            write_candidate(aside / "inventory", one, equal_hosts(candidates), given.gpus, given.platform)
            render_aside(aside / "inventory", aside / "bundle")
            result = analyse_bandwidth(open_bundle([aside / "bundle"]), options)
            for found in result.patterns:
                computed.setdefault(found.pattern, []).append(found.time_ns.mean)
                ns = packet_ns(aside / "bundle", found.pattern, size, given.draws)
                measured.setdefault(found.pattern, []).append(ns)
                times = f"{found.time_ns.mean / 1e3:9.1f} us  packets {ns / 1e3:9.1f} us"
                print(f"{one.name:<15} {found.pattern:<16} {times}", flush=True)
    every: tuple[list[float], list[float]] = ([], [])
    for pattern in DEFAULT_PATTERNS:
        agreed = spearman(computed[pattern], measured[pattern])
        print(f"{pattern:<16} rank correlation {'all equal' if agreed is None else f'{agreed:.2f}'}")
        for side, values in zip(every, (computed[pattern], measured[pattern]), strict=True):
            side.extend(values)
    print(f"{'all':<16} rank correlation {spearman(*every):.2f} of {len(every[0])} pairs")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
