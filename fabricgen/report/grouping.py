"""Equal findings of many switches as one finding, with a count and the names."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fabricgen.findings import Finding, in_order
from fabricgen.report.name_runs import names_in_short
from fabricgen.sonic.canonical import natural_key


def grouped(findings: Iterable[Finding]) -> list[Finding]:
    """Equal findings about one table of several devices as one: that of the first device in natural order."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for number, one in enumerate(findings):
        kind = (one.code, one.severity, one.confidence, one.message, one.hint, one.suppression)
        table = one.place.table if one.place else one.path
        groups.setdefault((*kind, table if one.device else number), []).append(one)
    return [_together(members) for members in groups.values()]


def _together(members: Sequence[Finding]) -> Finding:
    names = sorted({one.device for one in members}, key=natural_key)
    if len(names) == 1:
        return members[0] if len(members) == 1 else replace(members[0], count=sum(one.count for one in members))
    first = next(one for one in members if one.device == names[0])
    count = sum(one.count for one in members)
    return replace(first, message=f"{first.message}; on {names_in_short(names)}", count=count, devices=tuple(names))


def numbered(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order. Findings of one code at one place get numbers, so all fingerprints differ."""
    seen: dict[str, int] = {}
    found = []
    for one in in_order(findings):
        twin = seen[one.fingerprint] = seen.get(one.fingerprint, -1) + 1
        found.append(replace(one, twin=twin) if twin else one)
    return found
