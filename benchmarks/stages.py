"""CPU time of the stages of a render within one process, and of the built-in schema check.

    python -m benchmarks.stages INVENTORY

Prints CPU seconds: load to plan, plan to canonical bytes (and milliseconds per switch), schema check of those bytes.
"""

import gc
import sys
from pathlib import Path
from time import process_time

import orjson

from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.sonic.schema import check


def main() -> int:
    """Measure one inventory. Returns 1 if its files violate the schema."""
    gc.disable()  # as the command line does
    begun = process_time()
    plans = make_plans(Path(sys.argv[1]))
    planned = process_time()
    files = [content for path, content in BundleContent(plans).files() if path.endswith("config_db.json")]
    rendered = process_time()
    violations = sum(len(check(orjson.loads(content))) for content in files)
    checked = process_time()
    per_switch_ms = (rendered - planned) / len(files) * 1000
    print(f"load, design, allocate, plan  {planned - begun:6.2f} s")
    print(f"render to canonical bytes     {rendered - planned:6.2f} s   {per_switch_ms:.1f} ms per switch")
    print(f"schema check                  {checked - rendered:6.2f} s   {violations} violations")
    print(f"total, with start-up          {process_time():6.2f} s   {len(files)} switches")
    return int(violations > 0)


if __name__ == "__main__":
    sys.exit(main())
