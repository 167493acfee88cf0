"""Time of commands with one process and with two, taken in turns. Two cores must be idle.

python -m benchmarks.processes [--switches 512 | --gpus 102400] [--runs 3]
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.make_inventory import main as make_inventory
from benchmarks.measure import fabricgen, run

_SMALL = "inventories/quickstart"


def main() -> None:
    """Print a row for each command: the median times, and how many times as fast two processes are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--switches", type=int, default=512)
    parser.add_argument("--gpus", type=int)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    os.environ["FABRICGEN_NO_CACHE"] = "1"
    with tempfile.TemporaryDirectory(prefix="fabricgen-bench-") as temporary:
        folder = Path(temporary)
        inventory, bundle, small, out = (str(folder / each) for each in ("inventory", "bundle", "small", "out"))
        size = ["--gpus", str(given.gpus)] if given.gpus else ["--switches", str(given.switches)]
        make_inventory([*size, inventory])
        for source, target in ((inventory, bundle), (_SMALL, small)):
            run(fabricgen("render", source, "--output", target))
        what = f"{size[1]} {size[0].removeprefix('--')}"
        commands = {
            f"render, {what}": ["render", inventory, "--output", out],
            f"validate, {what}": ["validate", bundle],
            f"check, {what}": ["check", inventory],
            "5,000 triple failures": ["simulate", "deadlock", small, "--failures", "3", "--repair", "local"],
            "32 draws of packets": ["simulate", "packets", small, "--pattern", "permutation", "--draws", "32"],
        }
        print(f"{'':32} | one, s | two, s | ratio")
        for name, command in commands.items():
            times = [
                [_seconds([*command, "--jobs", str(jobs)], Path(out)) for jobs in (1, 2)] for _ in range(given.runs)
            ]
            one, two = (median(each) for each in zip(*times, strict=True))
            print(f"{name:32} | {one:6.2f} | {two:6.2f} | {one / two:.2f}", flush=True)


def _seconds(command: Sequence[str], output: Path) -> float:
    shutil.rmtree(output, ignore_errors=True)
    return run(fabricgen(*command)).time_s


if __name__ == "__main__":
    main()
