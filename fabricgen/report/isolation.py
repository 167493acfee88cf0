"""The verdict on tenants as a JSON object and as text."""

from collections.abc import Iterator, Sequence
from typing import Any

from fabricgen.report.planes import of_planes
from fabricgen.results import NOT_JUDGED, IsolationResult, Level, Statement
from fabricgen.units import counted


def isolation_object(results: Sequence[IsolationResult]) -> dict[str, Any]:
    """The `isolation` object: that of the worst plane; several planes are all under `planes`."""
    worst_first = sorted(results, key=lambda result: (result.is_proved, not result.cut))
    return of_planes([_plane(result) for result in worst_first])


def _plane(result: IsolationResult) -> dict[str, Any]:
    return {
        "name": result.plane,
        "verdict": _word(result),
        "claim": None if _word(result) == "unknown" else "proved",
        "tenants": result.tenants,
        "addresses": result.addresses,
        "pairs": {"apart": result.apart, "together": result.together, "leaks": result.leaks, "cut": result.cut},
        "left_out": [list(end) for end in result.left_out],
        "unread": list(result.unread),
        "not_covered": result.shared,
        "matrix": [
            {
                "from": one.source,
                "to": one.target,
                "pairs": one.pairs,
                "passing": one.passing,
                "expected": one.expected,
            }
            for one in result.matrix
        ],
    }


def _word(result: IsolationResult) -> str:
    if result.leaks:
        return "leaks"
    return "apart" if result.is_proved else "unknown"


def _unknown(result: IsolationResult) -> str:
    found = [f"{counted(len(result.left_out), 'NIC')} without an address or a port"] if result.left_out else []
    if result.unread:
        found.append(f"frr.conf of {counted(len(result.unread), 'switch', 'switches')} differs from the tables")
    return ", ".join(found) or ("no tenant has a NIC" if result.addresses else "no host")


def isolation_headline(results: Sequence[IsolationResult]) -> Iterator[str]:
    """'3 tenants, apart: proved' for the headline; with several planes, one for all that have the same verdict."""
    if not results:
        return
    tenants = counted(max(result.tenants for result in results), "tenant")
    if leaking := [result.plane for result in results if result.leaks]:
        yield f"{tenants}, NOT APART on {', '.join(leaking)}"
    if unknown := [result.plane for result in results if not result.leaks and not result.is_proved]:
        yield f"{tenants}, not proved apart on {', '.join(unknown)}"
    if all(result.is_proved for result in results):
        yield f"{tenants}, apart: proved"


def isolation_statement(result: IsolationResult) -> Statement:
    """The verdict on a plane: its `covers` counts addresses and pairs."""
    covers = (
        f"{counted(result.tenants, 'tenant')}, {result.addresses:,} host addresses, {result.apart:,} pairs apart, "
        f"{result.together:,} together"
    )
    cut = f"; {counted(result.cut, 'pair')} of one tenant {'is' if result.cut == 1 else 'are'} blocked"
    covers += cut if result.cut else ""
    if result.leaks:
        leaks = f"{counted(result.leaks, 'pair')} of hosts reach each other and must not; {covers}"
        return Statement(Level.ERROR, "not apart", leaks, "proved")
    if not result.is_proved:
        return Statement(Level.WARNING, NOT_JUDGED, f"{_unknown(result)}; {covers}")
    return Statement(Level.WARNING if result.cut else Level.OK, "apart", covers, "proved")


def isolation_lines(results: Sequence[IsolationResult]) -> Iterator[str]:
    """A line for each plane, which also says what the verdict does not cover."""
    for result in results:
        if result.leaks:
            verdict = f"NOT APART, proved: {counted(result.leaks, 'pair')} of hosts reach each other and must not"
        elif result.is_proved:
            verdict = f"{counted(result.tenants, 'tenant')}, apart: proved"
        else:
            verdict = f"{NOT_JUDGED}: {_unknown(result)}"
        cut = f"; {counted(result.cut, 'pair')} of one tenant are blocked" if result.cut else ""
        yield (
            f"isolation  plane {result.plane}: {verdict}{cut} ({counted(result.addresses, 'address', 'addresses')}, "
            f"{result.apart} pairs apart, {result.together} together; {result.shared})"
        )
