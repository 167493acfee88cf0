"""The rendered examples that faults are seeded in, and the processes that share the work."""

import gc
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.findings import Severity
from fabricgen.rules.run import run


@contextmanager
def rendered(examples: Sequence[str]) -> Iterator[list[tuple[str, Path]]]:
    """Each example and its bundle, without manifest.json, until the block ends. Raises SystemExit if one has
    findings."""
    from click.testing import CliRunner

    from fabricgen.cli.main import main as fabricgen

    with tempfile.TemporaryDirectory() as aside:
        made = []
        for example in examples:
            folder = Path(aside) / example
            arguments = ["-q", "render", f"inventories/{example}", "--output", str(folder), "--jobs", "1"]
            if (outcome := CliRunner().invoke(fabricgen, arguments, standalone_mode=False)).exception:
                sys.exit(f"{example}: {outcome.exception}")
            (folder / "manifest.json").unlink()
            if any(finding.severity is not Severity.NOTE for finding in run(open_bundle([folder]))):
                sys.exit(f"{example} has findings")
            made.append((example, folder))
        yield made


@lru_cache(maxsize=1)
def opened(folder: Path) -> Bundle:
    """A bundle, read once in a process for all faults that are seeded in it."""
    bundle = open_bundle([folder])
    gc.freeze()
    return bundle


def shared_work(jobs: int) -> ProcessPoolExecutor:
    """Processes for work that does not write."""
    return ProcessPoolExecutor(jobs, initializer=gc.disable)
