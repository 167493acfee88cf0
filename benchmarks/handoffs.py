"""CPU time and memory of each handoff of a bundle.

    python benchmarks/make_inventory.py --gpus 102400 OUT && fabricgen render OUT -o BUNDLE
    python -m benchmarks.handoffs BUNDLE [HANDOFF...]

Prints CPU seconds, MiB of the largest resident set and the number of files, as whole processes. The bar for 6,016
switches and 12,800 hosts is 20 s and 500 MB. Returns 1 if a handoff is above it.
"""

import sys

from benchmarks.measure import fabricgen, run
from fabricgen.atomic import temporary_folder
from fabricgen.handoff import handoffs

OPTIONS = {"containerlab": ("--only", "compute-su00-*")}  # a virtual switch has 32 ports
MOST_CPU_S, MOST_BYTES = 20.0, 500_000_000


def main() -> int:
    """Measure the named handoffs, or all of them."""
    bundle = sys.argv[1]
    above = False
    for name in sys.argv[2:] or sorted(handoffs()):
        with temporary_folder("handoffs") as folder:
            options = OPTIONS.get(name, ())
            cost = run(fabricgen("handoff", name, bundle, "--output", str(folder / name), "--quiet", *options))
            files = sum(path.is_file() for path in folder.rglob("*"))
        is_above = cost.cpu_s > MOST_CPU_S or cost.rss_mib * (1 << 20) > MOST_BYTES
        above = above or is_above
        bar = "  above the bar" if is_above else ""
        print(f"{name:14} {cost.cpu_s:6.1f} s {cost.rss_mib:7.0f} MiB {files:7} files{bar}", flush=True)
    return int(above)


if __name__ == "__main__":
    sys.exit(main())
