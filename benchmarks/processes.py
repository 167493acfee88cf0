"""Time of commands with one process and with two, taken in turns. Two cores must be idle.

Of `render` and `validate` also the part that the processes share: without the loading of modules, the plan of the
inventory and the reading of the files.

python -m benchmarks.processes [--switches 512 | --gpus 102400] [--runs 3]
"""

import argparse
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from statistics import median

from benchmarks.make_inventory import main as make_inventory
from benchmarks.measure import fabricgen, run
from fabricgen.atomic import temporary_folder

_SMALL = "inventories/quickstart"


def main() -> None:
    """Print a row for each command: the median times, and how many times as fast two processes are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--switches", type=int, default=512)
    parser.add_argument("--gpus", type=int)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    os.environ["FABRICGEN_NO_CACHE"] = "1"
    with temporary_folder("benchmark") as folder:
        inventory, bundle, small, out = (str(folder / each) for each in ("inventory", "bundle", "small", "out"))
        size = ["--gpus", str(given.gpus)] if given.gpus else ["--switches", str(given.switches)]
        make_inventory([*size, inventory])
        for source, target in ((inventory, bundle), (_SMALL, small)):
            run(fabricgen("render", source, "--output", target))
        what = f"{size[1]} {size[0].removeprefix('--')}"
        triple = ["simulate", "deadlock", small, "--failures", "3", "--repair", "local"]
        draws = ["simulate", "packets", small, "--pattern", "permutation", "--draws", "32"]
        rows: dict[str, Callable[[int], float]] = {
            f"render, {what}": lambda jobs: _seconds(["render", inventory, "--output", out], jobs, out),
            "  of it the files": lambda jobs: _rendering_s(["render", inventory, "--output", out], jobs, out),
            f"validate, {what}": lambda jobs: _seconds(["validate", bundle], jobs),
            "  of it the rules": lambda jobs: _rules_s(bundle, jobs),
            f"check, {what}": lambda jobs: _seconds(["check", inventory], jobs),
            "5,000 triple failures": lambda jobs: _seconds(triple, jobs),
            "32 draws of packets": lambda jobs: _seconds(draws, jobs),
        }
        print(f"{'':32} | one, s | two, s | ratio")
        for name, measured in rows.items():
            times = [[measured(jobs) for jobs in (1, 2)] for _ in range(given.runs)]
            one, two = (median(each) for each in zip(*times, strict=True))
            print(f"{name:32} | {one:6.2f} | {two:6.2f} | {one / two:.2f}", flush=True)


def _seconds(command: Sequence[str], jobs: int, output: str = "") -> float:
    if output:
        shutil.rmtree(output, ignore_errors=True)
    return run(fabricgen(*command, "--jobs", str(jobs))).time_s


def _rules_s(bundle: str, jobs: int) -> float:
    """The time of all rules but one: with one, the command loads its modules and reads the files."""
    return _seconds(["validate", bundle], jobs) - _seconds(["validate", bundle, "--select", "FG243"], jobs)


def _rendering_s(command: Sequence[str], jobs: int, output: str) -> float:
    """What the progress of `render` shows for the files."""
    shutil.rmtree(output, ignore_errors=True)
    done = subprocess.run(fabricgen(*command, "--jobs", str(jobs)), capture_output=True, text=True, check=True)
    shown = re.search(r"^rendered +([\d.]+) s", done.stderr, re.MULTILINE)
    assert shown, done.stderr
    return float(shown[1])


if __name__ == "__main__":
    main()
