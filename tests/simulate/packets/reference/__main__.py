"""Compare the packet simulator with the reference on many random scenarios.

python -m tests.simulate.packets.reference [--first 0] [--count 1000] [--processes 2]
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.simulate.packets.reference.comparing import difference

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.count)
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        found = [one for one in pool.map(difference, seeds, chunksize=4) if one]
    sys.stdout.write("\n".join([*found, f"{len(seeds) - len(found)} of {len(seeds)} scenarios are equal"]) + "\n")
    sys.exit(bool(found))
