"""The counts at the end of every report."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabricgen.findings import Finding, Severity
from fabricgen.units import counted

_UNREAD = "FG415"


# Findings that a reader of the verdict must not miss, although they are warnings.
_RISKS = {"FG285": "switches depend on a single one", "FG606": "a failure disconnects hosts"}


@dataclass(frozen=True, slots=True)
class Counts:
    """What a run covers. `out_of_service` is what it leaves out on purpose, in words: '1 switch drained';
    `as_in_service` are switches that it counts although they are not there yet, or not now: '1 switch planned'."""

    devices: int = 0
    links: int = 0
    rules: int = 0
    suppressed: int = 0
    out_of_service: tuple[str, ...] = ()
    as_in_service: tuple[str, ...] = ()


def summary(findings: Iterable[Finding], counts: Counts) -> dict[str, int]:
    """The `summary` object of the JSON contract."""
    by_severity = Counter(finding.severity for finding in findings)
    return {
        "errors": by_severity[Severity.ERROR],
        "warnings": by_severity[Severity.WARNING],
        "notes": by_severity[Severity.NOTE],
        "suppressed": counts.suppressed,
        "devices": counts.devices,
        "links": counts.links,
        "rules": counts.rules,
    }


def summary_line(findings: Sequence[Finding], counts: Counts) -> str:
    """'Checked 20 devices, 320 links, 80 rules: 2 errors, 1 warning, 0 notes, 0 suppressed.'"""
    found = summary(findings, counts)
    covered = ", ".join(
        _counted(found[name], name) for name in ("devices", "links", "rules") if found[name] or name != "rules"
    )
    found_by_severity = ", ".join(_counted(found[name], name) for name in ("errors", "warnings", "notes"))
    return f"Checked {covered}: {found_by_severity}, {counts.suppressed} suppressed."


def headline(
    findings: Sequence[Finding], counts: Counts, simulated: Sequence[str], *, failed: bool, verdicts: Sequence[str] = ()
) -> str:
    """'failed: 2 errors, 1 warning; judged: 20 devices, 320 links, 80 rules, deadlock, congestion'. `verdicts` are
    those that a reader must not miss: '3 tenants, apart: proved'.

    An error is a failure even where the exit code ignores it. Without rules and simulations nothing is judged.
    """
    found = summary(findings, counts)
    kinds = [_counted(found[name], name) for name in ("errors", "warnings", "notes") if found[name]]
    text = f"{'failed' if failed or found['errors'] else 'passed'}: {', '.join(kinds) or 'no findings'}"
    text = "; ".join([text, *verdicts])
    if not (counts.rules or simulated):
        return text
    risks = dict.fromkeys(_RISKS[one.code] for one in findings if one.code in _RISKS and one.severity != Severity.NOTE)
    text = "; ".join([text, *risks])
    subjects = [_counted(found[name], name) for name in ("devices", "links", "rules") if found[name]]
    without = f"; out of service: {', '.join(counts.out_of_service)}" if counts.out_of_service else ""
    assumed = f"; judged as in service: {', '.join(counts.as_in_service)}" if counts.as_in_service else ""
    return f"{text}; judged: {', '.join([*subjects, *simulated])}{without}{assumed}"


def unread_tables(findings: Iterable[Finding]) -> list[str]:
    """The tables that can stop traffic and that no rule reads, by the findings about them."""
    return sorted({one.path for one in findings if one.code == _UNREAD})


def tables_unjudged(findings: Iterable[Finding]) -> list[str]:
    """'NAT_POOL, STP (tables that can stop traffic, which no rule reads)'; nothing if rules read all of them."""
    tables = unread_tables(findings)
    return [f"{', '.join(tables)} (tables that can stop traffic, which no rule reads)"] if tables else []


def _counted(count: int, plural: str) -> str:
    return counted(count, plural.removesuffix("s"))
