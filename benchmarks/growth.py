"""How the work of render, validate, the deadlock verdict and a handoff grows with the fabric, counted so that it is the
same on every machine.

    python -m benchmarks.growth [--json | --page docs/speed.md] [SWITCHES ...]

Work is the number of function calls, Python's and C's: two runs give the same number, on a busy machine too. What calls
do not show, such as arrays, is CPU time beside a loop of known work: one unit is the CPU time of that loop in the same
process at the same time.
"""

import argparse
import cProfile
import gc
import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time

from benchmarks.make_inventory import main as make_inventory
from fabricgen.api import DeadlockRequest, render, simulate_deadlock, validate
from fabricgen.bundle.read import open_bundle
from fabricgen.handoff.ansible import ansible_files
from fabricgen.handoff.folder import write_folder
from fabricgen.handoff.whole_rows import with_whole_rows

SIZES = (64, 256)
_LOOP = 200_000
_RUNS = 2

Stages = Mapping[str, Callable[[], object]]


def stages(folder: Path, switches: int) -> Stages:
    """The verbs on a fabric of this size, in their order: each reads what the ones before it wrote."""
    inventory, bundle = folder / f"inventory-{switches}", folder / f"bundle-{switches}"
    if make_inventory(["--switches", str(switches), str(inventory)]) != 0:
        raise SystemExit(f"no inventory for {switches} switches")
    return {
        "render": lambda: render(inventory, bundle),
        "validate": lambda: validate([bundle]),
        "deadlock": lambda: simulate_deadlock(DeadlockRequest(paths=[bundle])),
        "handoff": lambda: _hand_over(bundle, folder / f"ansible-{switches}"),
    }


def _hand_over(bundle: Path, output: Path) -> None:
    """The handoff that reads and writes most: the Ansible project."""
    write_folder(output, ansible_files(with_whole_rows(open_bundle([bundle]))))


def calls(work: Callable[[], object]) -> int:
    """The number of function calls of some work."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def units(work: Callable[[], object]) -> float:
    """The CPU time of some work in units of the loop's, the least of several runs of both."""
    pairs = [(unit_s(), _cpu_s(work)) for _ in range(_RUNS)]
    return min(work_s for _, work_s in pairs) / min(loop_s for loop_s, _ in pairs)


def measured(sizes: tuple[int, ...]) -> dict[str, dict[str, float]]:
    """Stage -> the calls for each switch by size, and the units of the smallest size for each switch as `units`."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="fabricgen-growth-") as name:
        folder = Path(name)
        for warm in stages(folder, 16).values():  # imports and tables of the schema
            warm()
        for size in sizes:
            for stage, work in stages(folder, size).items():
                found.setdefault(stage, {})[str(size)] = calls(work) / size
        for stage, work in stages(folder, sizes[0]).items():
            found[stage]["units"] = units(work) / sizes[0]
    return found


def row_of(found: Mapping[str, Mapping[str, float]]) -> str:
    """The row of the history: the day, the commit, and for each stage its calls, growth and units."""
    git = ["git", "log", "-1", "--format=%cs | %h"]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    small, large = (str(size) for size in SIZES)
    cells = [
        f"{row[large]:,.0f} | {row[large] * SIZES[1] / (row[small] * SIZES[0]):.2f} | {row['units']:.2f}"
        for row in found.values()
    ]
    return f"| {commit} | {' | '.join(cells)} |"


def with_row(page: str, row: str) -> str:
    """The page with a row at the end of its first table."""
    lines = page.split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    end = next(number for number in range(first, len(lines)) if not lines[number].startswith("|"))
    return "\n".join([*lines[:end], row, *lines[end:]])


def unit_s() -> float:
    """The CPU time of the loop at present: what other programs on the machine do to it, they do to the work, too."""
    return _cpu_s(_loop)


def _loop() -> None:
    table: dict[str, int] = {}
    for number in range(_LOOP):
        text = str(number & 1023)
        table[text] = table.get(text, 0) + len(text)


def _cpu_s(work: Callable[[], object]) -> float:
    begun = process_time()
    work()
    return process_time() - begun


def main() -> None:
    """Print one line for each stage, or JSON, or add a row to the history of a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, metavar="SWITCHES", default=SIZES)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--page", type=Path, help="add a row to the first table of this page")
    options = parser.parse_args()
    gc.disable()  # as the command line does
    sizes = tuple(options.sizes)
    found = measured(sizes)
    if options.json:
        print(json.dumps(found))
        return
    if options.page:
        options.page.write_text(with_row(options.page.read_text(encoding="utf-8"), row_of(found)), encoding="utf-8")
    print("stage | calls for each switch at " + ", ".join(map(str, sizes)) + " | growth | units for each switch")
    for stage, row in found.items():
        counts = [row[str(size)] for size in sizes]
        growth = counts[-1] * sizes[-1] / (counts[0] * sizes[0])
        print(f"{stage:8} | {', '.join(f'{count:.0f}' for count in counts)} | {growth:.2f} | {row['units']:.3f}")


if __name__ == "__main__":
    main()
