"""Render a two-tier fabric of every layout of the catalog in every breakout mode, and judge it with the rules and with
SONiC's YANG models.

python -m benchmarks.catalog sonic-buildimage [--only WORD] [--no-modes] [--jobs N]

A layout is leaf and spine of its fabric, at the highest speed that two ports have: first as it is, then with all cages
in each mode that they list, at each speed of that mode. A tier whose buffers are not known on a lossless plane gets a
helper, another layout of that speed; without one, or without headroom rows for the speed, the plane is not lossless.
Errors, warnings, and buffers that differ from the SKU's own files are printed. The exit code is 1 if there are any.

The headroom is compared with pg_profile_lookup.ini in the clone, line by line, and not with the entry. The facts of
each release are compared with its branch, which the clone must have.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.catalog_cases import TIERS, Case, cases, has_headroom, helper, inventory
from fabricgen.api.rendering import render
from fabricgen.api.validation import validate
from fabricgen.errors import FabricgenError
from fabricgen.findings import Severity
from fabricgen.platforms.catalog import switch_platform, switch_rows
from fabricgen.platforms.catalog_index import IndexedLayout
from fabricgen.platforms.model import Layout
from fabricgen.vocabulary import Technology
from scripts.make_catalog import COMMIT, joined, release_facts
from scripts.sonic_clone import make_models, shown


def main() -> int:
    """Judge all cases, and print what is wrong and the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clone", type=Path, help="a clone of sonic-buildimage")
    parser.add_argument("--only", default="", help="layouts whose platform or HwSKU has this word")
    parser.add_argument("--no-modes", action="store_true", help="each layout as it is, in no other mode")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    rows = [
        row
        for rows in switch_rows().values()
        for row in rows
        if row.technology == Technology.ETHERNET and given.only in f"{row.platform} {row.hwsku}"
    ]
    counts: Counter[str] = Counter()
    for problem in stale_releases(given.clone, given.only):
        counts["wrong"] += 1
        print(problem, flush=True)
    with tempfile.TemporaryDirectory() as aside:
        models = make_models(given.clone, COMMIT, Path(aside))
        judge = partial(judged, given.clone, models, modes=not given.no_modes)
        with ProcessPoolExecutor(given.jobs) as pool:
            for verdicts in pool.map(judge, rows):
                for case, (kind, problems) in verdicts.items():
                    counts[kind] += 1
                    counts["wrong"] += bool(problems)
                    for problem in problems:
                        print(f"{case}: {problem}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return int(counts["wrong"] > 0)


def stale_releases(clone: Path, only: str) -> Iterator[str]:
    """SKUs whose `by_release` is not what the branches of SONiC's releases say."""
    names = {name for name, rows in switch_rows().items() if any(only in f"{row.platform} {row.hwsku}" for row in rows)}
    entries = [entry for name in sorted(names) if (entry := switch_platform(name)) and entry.onie_platform]
    known = {layout.hwsku: layout.by_release for entry in entries for layout in entry.layouts}
    for hwsku, facts in release_facts(clone, entries):
        if (found := joined(facts)) != known[hwsku]:
            yield f"{hwsku}: the branches say {found}, by_release has {known[hwsku]}"


def judged(clone: Path, models: Path, row: IndexedLayout, *, modes: bool) -> dict[str, tuple[str, list[str]]]:
    """Each case of a layout -> (lossless | partly lossless | lossy, what is wrong)."""
    return {case.name: judged_case(clone, models, case) for case in cases(row, modes=modes)}


def judged_case(clone: Path, models: Path, case: Case) -> tuple[str, list[str]]:
    """(lossless | partly lossless | lossy, what is wrong) of the fabric of a case."""
    row = case.row
    tiers = {tier: row if not row.lossless or tier in row.lossless else helper(case, tier) for tier in TIERS}
    lossless = bool(row.lossless) and all(tiers.values()) and has_headroom(case)
    with tempfile.TemporaryDirectory() as aside:
        source, bundle = Path(aside) / "fabric.yaml", Path(aside) / "bundle"
        chosen = {tier: one if one and lossless else row for tier, one in tiers.items()}
        source.write_text(inventory(case, chosen, lossless=lossless), encoding="utf-8")
        try:
            rendering = render(source, bundle)
            findings = [*rendering.findings]
            if rendering.is_written:
                findings += validate([bundle], yang=models).findings
            known = set() if lossless else {"FG578"}  # RoCE without PFC, ECN and trimming
            wrong = (one for one in findings if one.severity != Severity.NOTE and one.code not in known)
            problems = [f"{one.code} {one.message}" for one in wrong]
            if rendering.is_written and lossless:
                own = [tier for tier in TIERS if tiers[tier] is row]
                problems += [wrong for tier in own for wrong in differing(clone, bundle, case.layout, tier)]
        except FabricgenError as error:
            problems = [str(error)]
    kind = "lossy" if not lossless else "lossless" if set(tiers.values()) == {row} else "partly lossless"
    return kind, problems


def differing(clone: Path, bundle: Path, layout: Layout, tier: str) -> Iterator[str]:
    """What the file of a switch has otherwise than its SKU's files: pools, and the headroom of traditional switches."""
    config = json.loads((bundle / f"sonic/{tier}0/config_db.json").read_text())
    for name, pool in layout.buffers[tier].pools.items():
        if config["BUFFER_POOL"].get(name) != dict(pool):
            yield f"{tier}: BUFFER_POOL|{name} is {config['BUFFER_POOL'].get(name)}, not {dict(pool)}"
    profiles = {name: row for name, row in config["BUFFER_PROFILE"].items() if name.startswith("pg_lossless_")}
    rows = dict(headroom_lines(clone, layout)) if profiles else {}
    for name, row in profiles.items():
        wanted = rows.get(name)
        if wanted != {field: row[field] for field in ("size", "xon", "xoff", "dynamic_th")}:
            yield f"{tier}: BUFFER_PROFILE|{name} is {row}, the SKU's file has {wanted}"


def headroom_lines(clone: Path, layout: Layout) -> Iterator[tuple[str, dict[str, str]]]:
    """Name of the profile that buffermgrd makes -> the cells of its line."""
    path = layout.sources["headroom"].partition(":")[2]
    for line in shown(clone, COMMIT, path).splitlines():
        cells = line.split()
        if len(cells) >= 6 and not line.startswith("#"):
            speed, cable, size, xon, xoff, threshold, *_ = cells
            yield (
                f"pg_lossless_{speed}_{cable}_profile",
                {"size": size, "xon": xon, "xoff": xoff, "dynamic_th": threshold},
            )


if __name__ == "__main__":
    sys.exit(main())
