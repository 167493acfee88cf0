"""Equal findings of many switches as one finding, with a count and the names, and findings like another one."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from fabricgen.findings import Finding, in_order
from fabricgen.report.name_runs import names_in_short
from fabricgen.sonic.canonical import natural_key

_WORD = re.compile(r"[^\s,;:()=]+")
_FEWEST_SHARED = 8  # rows: fewer are as clear one by one, and each is marked at its line


def grouped(findings: Iterable[Finding]) -> list[Finding]:
    """Equal findings about one table of several devices as one: that of the first device in natural order. So are
    those of many rows that differ only in the name of their row: one mistake on 120 ports is one finding."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for number, one in enumerate(findings):
        groups.setdefault((*_kind(one), one.message, one.hint, _table(one) if one.device else number), []).append(one)
    mistakes = [(_mistake(members[0]), members) for members in groups.values()]
    shared: dict[tuple[object, ...], list[list[Finding]]] = {}
    for mistake, members in mistakes:
        shared.setdefault(mistake, []).append(members)
    found: list[Finding] = []
    for mistake, members in mistakes:
        same = shared[mistake]
        if len(same) < _FEWEST_SHARED:
            found.append(_together(members))
        elif members is same[0]:
            found.append(_of_rows(same))
    return found


def _kind(one: Finding) -> tuple[object, ...]:
    return (one.code, one.severity, one.confidence, one.suppression)


def _table(one: Finding) -> str:
    return one.place.table if one.place else one.path


def _mistake(one: Finding) -> tuple[object, ...]:
    """What rows with one mistake have in common: all but their name, in the message and in the hint."""
    if not one.device or one.place is None or not one.place.key:
        return (*_kind(one), one.device, one.path, one.message)
    parts = {*one.place.key.split("|")}
    texts = (_WORD.sub(lambda word: "#" if word[0] in parts else word[0], text) for text in (one.message, one.hint))
    return (*_kind(one), one.place.table, one.place.field, *texts)


def _of_rows(groups: Sequence[Sequence[Finding]]) -> Finding:
    """One finding for several groups of equal ones, that of the first row of the first device."""
    members = [one for group in groups for one in group]
    names = sorted({one.device for one in members}, key=natural_key)
    first = min((one for one in members if one.device == names[0]), key=lambda one: natural_key(one.path))
    rows = {one.place.key for one in members if one.place}
    noun = "ports" if all(row.startswith("Ethernet") and "|" not in row for row in rows) else "rows"
    message = f"{first.message}; on {len(rows):,} {noun} of {names_in_short(names)}"
    devices = tuple(names) if len(names) > 1 else ()
    return replace(first, message=message, count=sum(one.count for one in members), devices=devices)


def _together(members: Sequence[Finding]) -> Finding:
    names = sorted({one.device for one in members}, key=natural_key)
    if len(names) == 1:
        return members[0] if len(members) == 1 else replace(members[0], count=sum(one.count for one in members))
    first = next(one for one in members if one.device == names[0])
    count = sum(one.count for one in members)
    return replace(first, message=f"{first.message}; on {names_in_short(names)}", count=count, devices=tuple(names))


_FEWEST_ALIKE = 3  # two findings are read as fast as one with a remark
_NUMBER = re.compile(r"\d+")


def alike(findings: Sequence[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """(finding, others like it): one fault at many places is one finding, in the order of the first place.

    Alike are findings of one code, severity, table and field whose messages differ in names and numbers only; so are
    those about tables as a whole. Fewer than three stay single.
    """
    names = {name for one in findings for name in (one.device, *one.devices)}
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for one in findings:
        groups.setdefault(_fault(one, names), []).append(one)
    found: list[tuple[Finding, list[Finding]]] = []
    for one in findings:
        members = groups[_fault(one, names)]
        if len(members) < _FEWEST_ALIKE:
            found.append((one, []))
        elif one is members[0]:
            found.append((one, members[1:]))
    return found


def _fault(one: Finding, names: Set[str]) -> tuple[object, ...]:
    steps = one.path.split("|")
    field = steps[-1] if len(steps) > 2 else ""
    texts = (_shape(text, names) for text in (field, one.message, one.hint))
    table = _NUMBER.sub("#", steps[0]) if len(steps) > 1 else ""
    return (one.code, one.severity, one.confidence, table, *texts)


def _shape(text: str, names: Set[str]) -> str:
    """The text with # for each name of a device, and for each word with a number."""
    return _WORD.sub(lambda found: "#" if found[0] in names or _NUMBER.search(found[0]) else found[0], text)


def numbered(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order. Findings of one code at one place get numbers, so all fingerprints differ."""
    seen: dict[str, int] = {}
    found = []
    for one in in_order(findings):
        twin = seen[one.fingerprint] = seen.get(one.fingerprint, -1) + 1
        found.append(replace(one, twin=twin) if twin else one)
    return found
