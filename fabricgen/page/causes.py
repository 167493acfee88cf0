"""The causes of the report, worst first: what to correct, where, what it breaks, and which findings it explains."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from fabricgen.findings import Finding, Severity
from fabricgen.report.causes import Cause, causes
from fabricgen.units import counted

_MOST = 12


def causes_object(findings: Sequence[Finding]) -> dict[str, Any]:
    """`rows` of the causes that are errors or explain others, each with the place of its finding in `findings`;
    `summary` is a sentence. `more` counts the causes that are left out."""
    found = [one for one in causes(findings) if one.finding.severity is not Severity.NOTE or one.explains]
    place = {one.fingerprint: number for number, one in enumerate(findings)}
    rows = [_row(one, place[one.finding.fingerprint]) for one in found[:_MOST]]
    return {"summary": " ".join(_summary(found, findings)), "rows": rows, "more": max(0, len(found) - _MOST)}


def _row(one: Cause, number: int) -> dict[str, Any]:
    codes = Counter[str]()
    for each in one.explains:
        codes[each.code] += each.count
    return {
        "finding": number,
        "places": one.places,
        "breaks": one.broken,
        "explains": [list(each) for each in codes.items()],
    }


def _summary(found: Sequence[Cause], findings: Sequence[Finding]) -> Iterator[str]:
    explained = sum(bool(one.caused_by) for one in findings)
    if not found or not explained:
        return
    many = len(found) != 1
    yield f"{counted(len(found), 'cause')} explain{'' if many else 's'} {counted(len(found) + explained, 'finding')}."
    total = sum(one.count for one in findings)
    yield f"Correct the first one, and {found[0].places:,} of {total:,} places are clean."
