"""CPU of several jobs: 20 fragmented jobs on 118 of 128 hosts (1,024 GPUs), without and with a search for a placement.

python -m benchmarks.jobs [--gpus 1024]
"""

import argparse
import random
import tempfile
from pathlib import Path

from benchmarks.make_inventory import main as make_inventory
from benchmarks.measure import fabricgen, run

HOSTS = (16, 8, 8, 8, 8, 6, 6, 6, 6, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 3)  # of each job
PATTERNS = ("ring-all-reduce", "all-to-all", "tree-all-reduce", "reduce-scatter", "pipeline")
SIZES = ("256MiB", "1GiB", "64MiB")


def jobs_text(scale: int = 1) -> str:
    """A jobs file with `scale` times as many hosts for each job."""
    chance = random.Random(0)
    lines = [
        f"  - {{name: job{number:02d}, count: {hosts * scale}, placement: fragmented,"
        f" pattern: {chance.choice(PATTERNS)}, size: {chance.choice(SIZES)}}}"
        for number, hosts in enumerate(HOSTS)
    ]
    return "\n".join(["jobs:", *lines, ""])


def main() -> None:
    """Print the CPU seconds and the memory of each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=1024)
    gpus = parser.parse_args().gpus
    with tempfile.TemporaryDirectory(prefix="fabricgen-jobs-") as name:
        folder = Path(name)
        make_inventory(["--gpus", str(gpus), str(folder / "inventory")])
        run(fabricgen("render", str(folder / "inventory"), "--output", str(folder / "bundle")))
        (folder / "jobs.yaml").write_text(jobs_text(max(1, gpus // 1024)))
        base = ("simulate", "congestion", str(folder / "bundle"), "--jobs-file", str(folder / "jobs.yaml"))
        for title, options in (
            ("1 draw", ()),
            ("20 draws", ("--draws", "20")),
            ("search, 20 draws", ("--draws", "20", "--placement", "search")),
            ("single failures", ("--failures", "1")),
        ):
            cost = run(fabricgen(*base, *options))
            print(f"{title:<18} {cost.cpu_s:>6.1f} s CPU {cost.rss_mib:>6.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
