"""The tuning of the quickstart for an incast: the gain on unseen draws, its cost, and whether a second run is equal.

python -m benchmarks.tune [--jobs N]
"""

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks.measure import fabricgen, run
from fabricgen.resources import resource


def main() -> None:
    """Tune twice and print one line for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    jobs = parser.parse_args().jobs
    with tempfile.TemporaryDirectory(prefix="fabricgen-bench-") as folder:
        written = []
        for number, processes in enumerate((jobs, 2)):
            file = Path(folder) / f"{number}.json"
            words = ("--pattern", "incast", "--for", "p99", "--format", "json", "--output", str(file))
            source = str(resource("inventories", "quickstart"))
            cost = run(fabricgen("tune", source, *words, "--jobs", str(processes)))
            written.append(file.read_bytes())
            found = json.loads(written[-1])["tune"]
            gain = found["confirmed"][0]["gain"] if found["confirmed"] else {"median": 0.0, "low": 0.0, "high": 0.0}
            print(
                f"{processes} processes: {found['verdict']}, p99 {gain['median']:.1%} lower ({gain['low']:.1%} to "
                f"{gain['high']:.1%}), {found['settings']} settings, {found['runs']} runs, {cost.cpu_s:.0f} s CPU"
            )
        print("the bytes are equal" if written[0] == written[1] else "the bytes differ")


if __name__ == "__main__":
    main()
