"""What a large fabric needs for its plans is free when its files are judged."""

import subprocess
import sys
from pathlib import Path

from tests.inventories import rail_optimized, write

CHECK = """
import gc, sys
gc.disable()  # as the command does
from fabricgen.api import checking
from fabricgen.cli.main import run

judge_all = checking.judge_all

def with_counts(*given):
    kinds = [type(one).__name__ for one in gc.get_objects()]
    print({kind: kinds.count(kind) for kind in ("Plans", "BundleContent", "WiredLink")}, file=sys.stderr)
    return judge_all(*given)

checking.judge_all = with_counts
sys.argv = ["fabricgen", "check", "-q", "--jobs", "1", *sys.argv[1:]]
run()
"""


def test_no_plan_is_left_when_files_are_judged(tmp_path: Path) -> None:
    inventory = write(tmp_path, rail_optimized(hosts=4, unit=2, planned=2))
    command = [sys.executable, "-c", CHECK, "--no-cache", str(inventory)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "{'Plans': 0, 'BundleContent': 0, 'WiredLink': " in done.stderr
    assert "'WiredLink': 0" not in done.stderr
