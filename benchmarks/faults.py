"""Named kinds of faults, each on one switch and on all switches at once: what validate finds of them.

    python -m benchmarks.faults [--example NAME]… [--kind NAME]… [--jobs 2]

Each kind is a mistake that a person or a template makes: a wrong unit, a swapped pair, a class too far. A fault is
found if an error or a warning names a changed switch and a table of the kind. `make mutants` writes the table in
docs/mutants.md. The exit code is 1 if less than 95 % are found, on one switch or on all.
"""

import argparse
import gc
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from benchmarks import fault_kinds_network, fault_kinds_ports_qos, fault_kinds_qos, fault_kinds_routes
from benchmarks.examples import opened, rendered, shared_work
from benchmarks.fault_changes import Kind, Scene
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Severity
from fabricgen.rules.run import run
from fabricgen.sonic.dump import dump

EXAMPLES = ("quickstart", "spectrum", "border", "rail-only", "superpod", "twin-plane")
PAGE_EXAMPLES = ("quickstart", "border", "superpod")  # of docs/mutants.md, to save time
KINDS = (
    *fault_kinds_qos.KINDS,
    *fault_kinds_ports_qos.KINDS,
    *fault_kinds_network.KINDS,
    *fault_kinds_routes.KINDS,
)
LEAST_FOUND = 0.95
_CHUNK = 10  # kinds that a process judges at a time
TITLE = "## Named kinds of faults"


@dataclass(frozen=True)
class Outcome:
    """One kind in one bundle; None where it changes no switch."""

    example: str
    kind: str
    on_one: bool | None
    on_all: bool | None
    codes: tuple[str, ...] = ()  # on all switches


def faulty(bundle: Bundle, kind: Kind, only: Sequence[str] = ()) -> tuple[Bundle, tuple[str, ...]]:
    """The bundle with the fault on all switches that it concerns, or on one of `only`, and their names."""
    devices, changed = dict(bundle.devices), []
    for name, device in bundle.devices.items():
        scene = Scene(bundle, name)
        if (only and name not in only) or not kind.needs(scene):
            continue
        config: Any = orjson.loads(orjson.dumps(device.config))  # ten times faster than copy.deepcopy
        kind.change(scene, config)
        if config != device.config:
            # The other tables stay those that switches share: rules judge them once.
            before = device.config
            config = {table: before[table] if before.get(table) == rows else rows for table, rows in config.items()}
            devices[name] = device.with_config(config, dump(config))
            changed.append(name)
    return replace(bundle, devices=devices), tuple(changed)


def finding_of(bundle: Bundle, kind: Kind, changed: Sequence[str]) -> list[Finding]:
    """The errors and warnings at the changed switches in the tables of the kind."""
    return [
        one
        for one in run(bundle)
        if one.severity is not Severity.NOTE and one.device in changed and one.path.partition("|")[0] in kind.tables
    ]


def outcome(example: str, bundle: Bundle, kind: Kind) -> Outcome:
    """A kind on all switches, and on the last switch that it concerns."""
    found, changed = found_on_all(bundle, kind)
    if not changed:
        return Outcome(example, kind.name, None, None)
    alone, one = faulty(bundle, kind, changed[-1:])
    codes = tuple(sorted({each.code for each in found}))
    return Outcome(example, kind.name, bool(finding_of(alone, kind, one)), bool(found), codes)


def found_on_all(bundle: Bundle, kind: Kind) -> tuple[list[Finding], tuple[str, ...]]:
    """What is found of a kind on all switches that it concerns, and their names."""
    everywhere, changed = faulty(bundle, kind)
    return (finding_of(everywhere, kind, changed) if changed else []), changed


def outcomes(examples: Sequence[str], kinds: Sequence[str], jobs: int = 1) -> Iterator[Outcome]:
    """Every kind in every example."""
    with rendered(examples) as made, shared_work(jobs) as pool:
        chunks = [kinds[start : start + _CHUNK] for start in range(0, len(kinds), _CHUNK)]
        parts = [(example, folder, chunk) for example, folder in made for chunk in chunks]
        for part in pool.map(_outcomes_of_part, parts):
            yield from part


def _outcomes_of_part(part: tuple[str, Path, Sequence[str]]) -> list[Outcome]:
    example, folder, names = part
    return [outcome(example, opened(folder), kind) for kind in KINDS if kind.name in names]


def section(found: Sequence[Outcome]) -> str:
    """The section of docs/mutants.md: how often each kind is found, on one switch and on all."""
    lines = [
        TITLE, "",
        f"Each of these {len({one.kind for one in found})} kinds is seeded in every bundle that it concerns "
        f"({', '.join(dict.fromkeys(one.example for one in found))}),",
        "once on one switch and once on all switches, as a template does. A fault is found if an error or a warning",
        "names a changed switch and a table concerned. Kinds and changes: `benchmarks/fault_kinds_*.py`.", "",
        "| kind | table | on one switch | on all switches |", "|---|---|---|---|",
    ]  # fmt: skip
    for kind in KINDS:
        same = [one for one in found if one.kind == kind.name]
        if counted := _count([one.on_one for one in same]):
            lines.append(f"| {kind.name} | {kind.tables[0]} | {counted} | {_count([one.on_all for one in same])} |")
    lines.append(f"| all | | {_count([one.on_one for one in found])} | {_count([one.on_all for one in found])} |")
    return "\n".join([*lines, ""])


def _count(results: Sequence[bool | None]) -> str:
    real = [one for one in results if one is not None]
    return f"{sum(real)} of {len(real)}" if real else ""


def main() -> int:
    """Seeds the faults and prints those that pass."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--example", action="append")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    gc.disable()
    kinds = [kind.name for kind in KINDS if not options.kind or kind.name in options.kind]
    found = []
    for one in outcomes(options.example or EXAMPLES, kinds, options.jobs):
        found.append(one)
        for where, result in (("one", one.on_one), ("all", one.on_all)):
            if result is False:
                print(f"{one.example} {one.kind}: not found on {where}", flush=True)
    shares = []
    for where, results in (("one switch", [o.on_one for o in found]), ("all switches", [o.on_all for o in found])):
        print(f"on {where}: {_count(results)} found")
        shares.append(sum(map(bool, results)) / max(1, len(results) - results.count(None)))
    return 1 if min(shares) < LEAST_FOUND else 0


if __name__ == "__main__":
    sys.exit(main())
