"""The costliest rules on a bundle: CPU time and memory of each, in one process.

    python -m benchmarks.costly_rules BUNDLE [--most 15]

What several rules derive from the fabric counts for the first of them.
"""

import argparse
import gc
from pathlib import Path
from time import process_time

from fabricgen.bundle.read import open_bundle
from fabricgen.rules.registry import chosen_rules
from fabricgen.rules.view.fabric import Fabric


def main() -> None:
    """Print the stages of reading, then the costliest rules, then the sums by subject."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--most", type=int, default=15)
    options = parser.parse_args()
    gc.disable()  # as the command line does
    rules = sorted(chosen_rules(), key=lambda rule: rule.basis)
    begun = process_time()
    bundle = open_bundle([options.bundle])
    opened = process_time()
    fabric = Fabric(bundle)
    _ = fabric.ends_of
    print(f"fabric.json, list of files {opened - begun:6.2f} s")
    print(f"config_db files, ends      {process_time() - opened:6.2f} s   {_resident_mib()} MiB")
    costs = []
    for rule in rules:
        before, memory = process_time(), _resident_mib()
        for _ in rule.check(fabric):
            pass
        costs.append((process_time() - before, _resident_mib() - memory, rule))
    print(f"rules                      {sum(cost for cost, _, _ in costs):6.2f} s   {_resident_mib()} MiB")
    for cost, memory, rule in sorted(costs, key=lambda entry: -entry[0])[: options.most]:
        print(f"  {rule.code} {cost:6.2f} s {memory:5} MiB  {rule.title}")
    subjects: dict[str, float] = {}
    for cost, _, rule in costs:
        subject = rule.check.__module__.split(".")[2]
        subjects[subject] = subjects.get(subject, 0) + cost
    worst = sorted(subjects.items(), key=lambda entry: -entry[1])
    print("  " + ", ".join(f"{name} {cost:.2f} s" for name, cost in worst))


def _resident_mib() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 >> 20


if __name__ == "__main__":
    main()
