"""Published measurements of how traffic meets on links, with their full set-ups; docs/trust.md has the figures of both.

    python -m benchmarks.published [--draws 5] [--milliseconds 20]

The packet scenarios are those of `benchmarks.published_cases`. Meta (SIGCOMM 2024) reports up to 40 % more all-reduce
bandwidth by queue pair scaling; here 128 GPUs under eight leaves at 1:1 at flow level, one connection between two
ranks. NCCL has a connection for each of its channels, so its first queue pair is several flows.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import mean

import numpy as np

from benchmarks.published_cases import (
    SCHEMES,
    conweave_clos,
    eight_to_eight,
    gbps_of_pairs,
    ring,
    scheme_run,
    slowdowns,
)
from fabricgen.api.aside import render_aside
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.simulate.bandwidth.sizes import SizesOptions, analyse_sizes
from fabricgen.simulate.patterns import Pattern, Placement
from tests.inventories import ADDRESSING, ARISTA, write

QUEUE_PAIRS = (1, 2, 4, 8, 16)
SIZE = 64 << 20  # of a message, in bytes
GIB = 1 << 30


def training_fabric(folder: Path, hosts: int = 16, unit: int = 2, gpus: int = 8) -> Bundle:
    """Hosts with a 400G NIC for each GPU; all NICs of a unit are at one leaf."""
    nics = {"name": "rail{rail}", "model": "any", "speed": "400G", "plane": "compute", "rails": gpus}
    plane = {
        "design": "fat-tree",
        "hosts": ["gpu"],
        "scalable_unit": {"hosts": unit},
        "leaf": {"platform": ARISTA},
        "spine": {"platform": ARISTA},
        "speed": "400G",
        "cables": {"host-leaf": "5m", "leaf-spine": "40m"},
        "addressing": ADDRESSING,
    }
    tree = {
        "fabricgen": 1,
        "fabric": "training",
        "host_models": {"server": {"gpus": gpus, "nics": [nics]}},
        "hosts": {"gpu": {"model": "server", "count": hosts}},
        "planes": {"compute": plane},
    }
    render_aside(write(folder / "given", tree), folder / "bundle")
    return open_bundle([folder / "bundle"])


def all_reduce_gbytes(bundle: Bundle, queue_pairs: int, draws: int, placement: Placement) -> float:
    """The mean bus bandwidth of a ring all-reduce of 1 GiB, in GB/s."""
    given = SizesOptions([GIB], (Pattern.RING_ALL_REDUCE,), placement, queue_pairs, draws=draws)
    [whole] = [table for table in analyse_sizes(bundle, given) if table.rail is None]
    [row] = whole.rows
    assert row.bus_gbytes is not None
    return row.bus_gbytes.mean


def _print_mrc(draws: int) -> None:
    print("MRC, figure 16: 64 NICs of 400G in a ring | mean Gb/s | slowest Gb/s")
    for queue_pairs in (*QUEUE_PAIRS, None):
        tree = ring(64, SIZE, queue_pairs or 1, spread=queue_pairs is None)
        found = [gbps_of_pairs(tree, seed) for seed in range(1, draws + 1)]
        name = f"{queue_pairs} queue pairs" if queue_pairs else "spread packets"
        print(f"{name:41} | {mean(map(mean, found)):9.0f} | {mean(map(min, found)):12.0f}", flush=True)
    print("MRC, figure 20: 8 to 8 hosts | Gb/s of each flow")
    for spread in (False, True):
        for seed in range(1, 2 if spread else draws + 1):
            rates = sorted(gbps_of_pairs(eight_to_eight(SIZE, spread=spread), seed))
            print(f"{'spread' if spread else 'one queue pair':28} | {' '.join(f'{rate:.0f}' for rate in rates)}")


def _print_schemes(milliseconds: int) -> None:
    print("ConWeave's set-up at load 50 | mean slowdown | median | p99 | packets repeated")
    fabric = conweave_clos()
    for name, balance in SCHEMES.items():
        for recovery in ("go-back-n", "in-order-placement")[: 2 if balance["mode"] == "adaptive" else 1]:
            found = scheme_run(fabric, balance, milliseconds * 1_000_000, recovery=recovery)
            slow = slowdowns(found)
            marks = " | ".join(f"{np.percentile(slow, mark):.2f}" for mark in (50, 99))
            print(f"{name}, {recovery} | {slow.mean():.2f} | {marks} | {found.retransmissions}", flush=True)


def _print_queue_pairs(draws: int) -> None:
    print("queue pair scaling, 128 GPUs | queue pairs | busbw GB/s | gain")
    with tempfile.TemporaryDirectory() as folder:
        bundle = training_fabric(Path(folder))
        for placement in (Placement.ALIGNED, Placement.FRAGMENTED):
            found = {pairs: all_reduce_gbytes(bundle, pairs, draws, placement) for pairs in QUEUE_PAIRS}
            for pairs, gbytes in found.items():
                print(f"{placement:28} | {pairs:11} | {gbytes:10.0f} | {gbytes / found[1] - 1:+.0%}")


def main() -> None:
    """Print a table of each measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--milliseconds", type=int, default=20, help="of traffic in ConWeave's set-up; there 100")
    given = parser.parse_args()
    _print_mrc(given.draws)
    _print_schemes(given.milliseconds)
    _print_queue_pairs(4 * given.draws)


if __name__ == "__main__":
    main()
