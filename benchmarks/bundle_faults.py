"""Seeded faults in every kind of file of a bundle: removed, truncated, a line removed, a value changed.

    python -m benchmarks.bundle_faults [--samples N] [--seed N] BUNDLE…

Each fault is judged twice: with the manifest of the bundle, where every fault must be found, and without it, where only
the content can show the fault. A fault is found if there is a finding that the bundle does not have before, or if the
file cannot be read. The exit code is 1 if a fault passes with the manifest.
"""

import argparse
import random
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Severity
from fabricgen.rules.run import run

MANIFEST = "manifest.json"
FAULTS = ("removed", "truncated", "line removed", "value changed")
_WORD = re.compile(r"[A-Za-z0-9_./:-]*[A-Za-z0-9]")
_COMMENT = ("#", ";")


@dataclass(frozen=True)
class Fault:
    """One change of a file; `new` is None for a removed file."""

    path: str
    kind: str
    what: str
    shown: str
    new: bytes | None


def kind_of(path: str) -> str:
    """The path with a star for names that differ between files of a kind."""
    return re.sub(r"^(sonic|hosts|infiniband)/[^/]+", r"\1/*", re.sub(r"netplan/[^/]+", "netplan/*", path)).translate(
        str.maketrans("0123456789", "NNNNNNNNNN")
    )


def faults(root: Path, samples: int, chance: random.Random) -> Iterator[Fault]:
    """For each kind of file `samples` faults of each kind."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for file in sorted(root.rglob("*")):
        if file.is_file():
            path = file.relative_to(root).as_posix()
            kinds[re.sub("N+", "N", kind_of(path))].append(path)
    for kind, paths in sorted(kinds.items()):
        for what in FAULTS:
            for path in chance.choices(paths, k=samples):
                made = _changed((root / path).read_text(), what, chance)
                if made is not None:
                    new, shown = made
                    yield Fault(path, kind, what, shown, None if new is None else new.encode())


def _changed(text: str, what: str, chance: random.Random) -> tuple[str | None, str] | None:
    lines = text.splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.strip(" \n{}[],") and not _is_comment(line)]
    if what == "removed":
        return None, ""
    if what == "truncated":
        end = len(text) * chance.randrange(20, 80) // 100
        return text[:end], f"after {end} characters"
    if not places:
        return None
    at = chance.choice(places)
    line = lines[at]
    if what == "line removed":
        return "".join(lines[:at] + lines[at + 1 :]), f"{at + 1}: {line.strip()[:60]}"
    words = list(_WORD.finditer(line.split("#")[0]))
    one = words[-1] if words else None
    if one is None:
        return None
    other = re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit[0]) + 1) % 10), one[0])
    other = other if other != one[0] else f"{one[0]}x"
    new = line[: one.start()] + other + line[one.end() :]
    return "".join([*lines[:at], new, *lines[at + 1 :]]), f"{at + 1}: {line.strip()[:50]} -> {other[:20]}"


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(_COMMENT)


Known = set[tuple[str, str, str, str]]


def judged(root: Path) -> dict[tuple[str, str, str, str], Severity] | None:
    """The findings of a bundle; None if it cannot be read, which the user sees."""
    try:
        return {(one.code, one.device, one.path, one.message): one.severity for one in run(open_bundle([root]))}
    except UnreadableInputError:
        return None


def worst_new(root: Path, before: Known) -> str:
    """`error`, `warning` or `note`: the worst finding that was not there before; "" without one."""
    found = judged(root)
    if found is None:
        return "error"
    new = {severity for key, severity in found.items() if key not in before}
    return next((str(one) for one in (Severity.ERROR, Severity.WARNING, Severity.NOTE) if one in new), "")


def results(bundle: Path, samples: int, seed: int) -> Iterator[tuple[Fault, str, str]]:
    """Each fault with its worst finding, with the manifest and without."""
    with tempfile.TemporaryDirectory(prefix="fabricgen-faults-") as folder:
        root, loose = Path(folder) / "with", Path(folder) / "without"
        shutil.copytree(bundle, root)
        shutil.copytree(bundle, loose)
        (loose / MANIFEST).unlink()
        known = [set(judged(one) or ()) for one in (root, loose)]
        for fault in faults(bundle, samples, random.Random(f"{seed} {bundle.name}")):
            yield fault, _applied(root, fault, known[0]), _applied(loose, fault, known[1])


def _applied(root: Path, fault: Fault, before: Known) -> str:
    file = root / fault.path
    if not file.is_file():
        return ""  # the manifest, in a bundle without one
    kept = file.read_bytes()
    file.unlink()
    if fault.new is not None:
        file.write_bytes(fault.new)
    try:
        return worst_new(root, before)
    finally:
        file.write_bytes(kept)


def table(found: Sequence[tuple[Fault, str, str]]) -> list[str]:
    """A table by kind of file."""
    total: Counter[str] = Counter(fault.kind for fault, _, _ in found)
    counts: Counter[tuple[str, str]] = Counter()
    for fault, listed, loose in found:
        counts[fault.kind, "listed"] += bool(listed)
        counts[fault.kind, "serious"] += listed in ("error", "warning")
        counts[fault.kind, "loose"] += loose in ("error", "warning")
    head = [
        "| file | faults | found with the manifest | of these errors and warnings | without the manifest |",
        "|---|---|---|---|---|",
    ]
    rows = [
        f"| {kind} | {total[kind]} | {counts[kind, 'listed']} | {counts[kind, 'serious']} | {counts[kind, 'loose']} |"
        for kind in sorted(total)
    ]
    sums = [sum(counts[kind, column] for kind in total) for column in ("listed", "serious", "loose")]
    return [*head, *rows, f"| all | {sum(total.values())} | {' | '.join(map(str, sums))} |"]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("bundles", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    found: list[tuple[Fault, str, str]] = []
    for bundle in options.bundles:
        for fault, listed, loose in results(bundle, options.samples, options.seed):
            found.append((fault, listed, loose))
            if not (listed and loose):
                passes = "passes" if not listed else "passes without the manifest"
                print(f"{bundle.name} {fault.path} {fault.what} {fault.shown}: {passes}")
    print("\n".join(table(found)))
    return int(any(not listed for _, listed, _ in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
