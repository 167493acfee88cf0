"""Change each field of a switch's file to each of a few odd values, one at a time, and validate the file.

python -m benchmarks.fuzz.sweep [--every N]

Mutations at random seldom put a number such as 1024 into the one field that is an exponent. The sweep changes each
field of each table, once for rows with equal fields, of a leaf of both buffer models. No change may end `validate` with
an internal error. The exit code is 1 if one does; each such change is printed with its exception.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from benchmarks.fuzz.run import run_command

VALUES: tuple[Any, ...] = ("", "-1", "0", "1024", "-100000", "9" * 30, "9" * 400, "1e400", "nan", "x", None)
EXAMPLES = ("quickstart", "spectrum")  # traditional buffers, dynamic buffers
ROOT = Path(__file__).parents[2]

Config = dict[str, dict[str, dict[str, Any]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="only every N-th change")
    every = parser.parse_args(arguments).every
    with tempfile.TemporaryDirectory() as folder:
        found = [problem for config in configs(Path(folder)) for problem in sweep(config, Path(folder), every)]
    for problem in found:
        print(problem)
    return 1 if found else 0


def configs(folder: Path) -> Iterator[Config]:
    """The first leaf of each example."""
    for name in EXAMPLES:
        outcome = run_command(("render", str(ROOT / "inventories" / name), "-o", str(folder / name), "-q"), None)
        assert outcome.code == 0, outcome.error
        file = next(iter(sorted((folder / name / "sonic").glob("*leaf*/config_db.json")) or rails(folder / name)))
        yield orjson.loads(file.read_bytes())


def rails(bundle: Path) -> list[Path]:
    """The files of switches that are named by their rails."""
    return sorted((bundle / "sonic").glob("*rail*/config_db.json"))


def places(config: Config) -> Iterator[tuple[str, str, str]]:
    """(table, key, field), once for the rows of a table that have the field and a key of equal form."""
    seen = set()
    for table, rows in config.items():
        for key, row in rows.items():
            for field in row:
                kind = (table, key.count("|"), key.rpartition("|")[2] if "|" in key else "", field)
                if kind not in seen:
                    seen.add(kind)
                    yield table, key, field


def changes(config: Config) -> Iterator[tuple[str, Config]]:
    """Each change in words, and the configuration with it."""
    for table, key, field in places(config):
        for value in VALUES:
            row = {name: one for name, one in config[table][key].items() if name != field or value is not None}
            if value is not None:
                row[field] = value
            shown = "removed" if value is None else repr(value[:20])
            yield f"{table}|{key} {field}: {shown}", config | {table: config[table] | {key: row}}


def sweep(config: Config, folder: Path, every: int = 1) -> Iterator[str]:
    """The changes that end `validate` with an internal error or do not end it."""
    file = folder / "config_db.json"
    for number, (words, changed) in enumerate(changes(config)):
        if number % every:
            continue
        file.write_bytes(orjson.dumps(changed))
        outcome = run_command(("validate", str(file)))
        if outcome.code not in (0, 1):
            lines = [line for line in outcome.error.splitlines() if "has a bug" in line] or ["no words"]
            yield f"{words}: exit code {outcome.code}: {lines[0]}"


if __name__ == "__main__":
    sys.exit(main())
