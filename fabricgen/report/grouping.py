"""The same defect on many switches as one finding, with a count and the names in short."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from fabricgen.findings import Finding, in_order
from fabricgen.sonic.canonical import natural_key

MOST_NAMES = 4  # names or runs of names that a message tells
_NUMBER = re.compile(r"(\d+)")


def grouped(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that say the same of one table on several devices as one: that of the first device, in natural order."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for one in findings:
        kind = (one.code, one.severity, one.confidence, one.message, one.hint, one.suppression)
        where = one.path.partition("|")[0] if one.device else id(one)
        groups.setdefault((*kind, where), []).append(one)
    return [_together(members) for members in groups.values()]


def _together(members: Sequence[Finding]) -> Finding:
    names = sorted({one.device for one in members}, key=natural_key)
    if len(names) == 1:
        return members[0] if len(members) == 1 else replace(members[0], count=sum(one.count for one in members))
    first = next(one for one in members if one.device == names[0])
    count = sum(one.count for one in members)
    return replace(first, message=f"{first.message}; on {names_in_short(names)}", count=count, devices=tuple(names))


def numbered(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order; those of one code at one place get numbers, so that each has its own fingerprint."""
    seen: dict[str, int] = {}
    found = []
    for one in in_order(findings):
        twin = seen[one.fingerprint] = seen.get(one.fingerprint, -1) + 1
        found.append(replace(one, twin=twin) if twin else one)
    return found


def names_in_short(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """'leaf1..leaf96, spine1' for names in natural order; what is too long ends in a number of names."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _goes_on(runs[-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    parts = [text for run in runs for text in ([f"{run[0]}..{run[-1]}"] if len(run) > 2 else run)]
    if len(parts) <= most:
        return ", ".join(parts)
    shown, told = [], 0
    for run in runs[: most - 1]:
        shown.append(f"{run[0]}..{run[-1]}" if len(run) > 2 else ", ".join(run))
        told += len(run)
    return f"{', '.join(shown)} and {len(names) - told} more"


def _goes_on(run: Sequence[str], name: str) -> bool:
    """Whether a name is the last of a run with one number, always the same one, raised by one."""
    step = _raised(run[-1], name)
    return step is not None and (len(run) == 1 or step == _raised(run[-2], run[-1]))


def _raised(before: str, after: str) -> int | None:
    """The index of the one number that is greater by one; None where anything else differs."""
    first, second = _NUMBER.split(before), _NUMBER.split(after)
    if len(first) != len(second):
        return None
    changed = [index for index, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1]]
    if len(changed) != 1 or changed[0] % 2 == 0:
        return None
    return changed[0] if int(second[changed[0]]) == int(first[changed[0]]) + 1 else None
