"""The deadlock verdict as a JSON object and as text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricgen.report.planes import of_planes
from fabricgen.results import (
    NOT_JUDGED,
    Covers,
    DeadlockResult,
    FailureSummary,
    Level,
    RoutesModel,
    Statement,
    Verdict,
)
from fabricgen.units import counted


def deadlock_object(results: Sequence[DeadlockResult], seals: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The `deadlock` object: that of the worst plane; several planes are all under `planes`. `seals` are the digests of
    the certificates by plane, where they were computed."""
    return of_planes([_plane(result, seals) for result in results])


def deadlock_statement(result: DeadlockResult) -> Statement:
    """The verdict on the state of the files, and on all failures that were judged."""
    if result.model != RoutesModel.BGP:
        return _subnet_statement(result)
    if result.verdict == Verdict.UNKNOWN:
        return Statement(Level.WARNING, NOT_JUDGED, _missing(result.covers))
    if not result.priorities:
        nothing = "no link between switches is lossless, so no buffer waits for another"
        return Statement(Level.NONE, result.verdict, nothing, result.claim)
    size = f"{_size(result)}{_apart_from(result.covers)}"
    return _found(result, "cyclic buffer dependency", "cycle", f"on {_numbers('priority', result.priorities)} ({size})")


def failures_statement(result: DeadlockResult) -> Statement | None:
    """The sets of failures of the greatest depth, counted by their effect; None if no set was tried."""
    failures = result.failures
    if not failures.depth or not failures.sets:
        return None
    kind = f"{failures.sets:,} {_DEPTHS[failures.depth]} {'failure' if failures.sets == 1 else 'failures'}"
    if result.verdict == Verdict.UNKNOWN:
        return Statement(Level.WARNING, NOT_JUDGED, kind)
    found = f"{failures.cyclic_sets:,} cyclic, {failures.unreachable_sets:,} disconnect hosts"
    bad = Level.WARNING if failures.unreachable_sets else Level.OK
    level = Level.ERROR if failures.cyclic_sets else bad
    if failures.sampled is None:
        if failures.judged < failures.sets:
            kind += f" ({failures.judged:,} judged, the others are equal by symmetry)"
        return Statement(level, found, kind)
    shares = f"at most {failures.cyclic_bound:.2%} cyclic, {failures.unreachable_bound:.2%} disconnect hosts"
    bounded = f"{found}; {shares}, with 95 % confidence"
    return Statement(level, bounded, f"{failures.sampled:,} of {kind} sampled", short=found)


def deadlock_lines(results: Sequence[DeadlockResult]) -> Iterator[str]:
    """A line for each plane, those of its failures, and of InfiniBand those for the SLs that applications set."""
    for result in results:
        head = f"deadlock  plane {result.name}: " if result.name else "deadlock  "
        fixed = result.fixed_sl
        if fixed is None:
            yield from _lines(result, head)
            continue
        levels = ", ".join(map(str, fixed.service_levels))
        who = " (NCCL's default)" if fixed.service_levels == (0,) else " (NCCL_IB_SL)"
        yield from _lines(result, f"{head}with path records: ")
        yield f"{head}with fixed SL {levels}{who}: {deadlock_statement(fixed)}"
        yield from _failure_lines(fixed, f"{head}with fixed SL {levels}: ")


def _lines(result: DeadlockResult, head: str) -> Iterator[str]:
    yield f"{head}{deadlock_statement(result)}"
    yield from _failure_lines(result, head)


def _failure_lines(result: DeadlockResult, head: str) -> Iterator[str]:
    found = failures_statement(result)
    if found is not None and result.verdict != Verdict.UNKNOWN:
        yield f"{head}{found}"
        yield from (f"{head}{line}" for line in _orbits(result.failures))


def deadlock_unjudged(results: Sequence[DeadlockResult]) -> Iterator[str]:
    """The planes without a verdict."""
    for result in results:
        if result.verdict == Verdict.UNKNOWN:
            yield f"deadlock of plane {result.name}" if result.name else "deadlock"


def _found(result: DeadlockResult, none: str, one: str, covers: str) -> Statement:
    """A verdict on channels: 'no' of `none`, or the number of `one`."""
    if result.verdict == Verdict.FREE:
        return Statement(Level.OK, "free", f"no {none} {covers}", result.claim)
    return Statement(Level.ERROR, "CYCLIC", f"{counted(len(result.cycles), one)} {covers}", result.claim)


def _numbers(noun: str, numbers: Sequence[int]) -> str:
    """'priorities 3, 4', 'virtual lane 0'."""
    return f"{_noun(len(numbers), noun)} {', '.join(map(str, numbers))}"


def _size(result: DeadlockResult) -> str:
    sizes = ((result.channels, "channel"), (result.dependencies, "dependency"))
    return ", ".join(f"{number:,} {_noun(number, one)}" for number, one in sizes)


def _noun(number: int, one: str) -> str:
    """'channel' or 'channels'."""
    return counted(number, one).partition(" ")[2]


def _missing(covers: Covers | None) -> str:
    """Why a plane has no verdict."""
    if covers is None:
        return "its routes are not known"
    unwired, unrouted = ("" if covers.is_wired else covers.unwired), ("" if covers.is_routed else _left_out(covers))
    return "; ".join(filter(None, (unwired, unrouted, covers.unjudged_lists)))


def _apart_from(covers: Covers | None) -> str:
    """'; without 1 cordoned session', '; 16 lossless ports without a known far end count as ports of hosts'."""
    parts = []
    if covers and covers.lists:
        parts.append(covers.unjudged_lists or f"routes of BGP and {counted(covers.lists, 'list')} of uSIDs")
    if covers and covers.cordoned:
        parts.append(f"without {counted(covers.cordoned, 'cordoned session')}")
    if covers and covers.dark:
        seen = "is not seen by LLDP and counts" if covers.dark == 1 else "are not seen by LLDP and count"
        parts.append(f"{counted(covers.dark, 'planned cable')} {seen} as down")
    if covers and covers.hosts_assumed:
        ports, count = (
            counted(covers.hosts_assumed, "lossless port"),
            "counts" if covers.hosts_assumed == 1 else "count",
        )
        parts.append(f"{ports} without a known far end {count} as ports of hosts")
    return "".join(f"; {part}" for part in parts)


def _left_out(covers: Covers) -> str:
    """What the verdict does not cover."""
    sessions = f"{covers.left_out} of {covers.sessions} sessions left out"
    if covers.left_out == covers.sessions:
        return sessions if covers.sessions else "no BGP sessions"
    links = f"{covers.without_routes} of {covers.lossless_links} lossless links between switches carry no route"
    return f"{sessions}, {links}"


def _orbits(failures: FailureSummary) -> Iterator[str]:
    """The failures that were judged for all others like them and have an effect; those with the most others first."""
    kind = {1: "one", 2: "pair"}.get(failures.depth, "set")
    harmful = [one for one in failures.orbits if one.is_cyclic or one.is_unreachable]
    for one in sorted(harmful, key=lambda one: (-one.sets, one.failed_links))[:_ORBITS_SHOWN]:
        harm = " and ".join(
            word for word, holds in (("cyclic", one.is_cyclic), ("disconnects hosts", one.is_unreachable)) if holds
        )
        yield f"{' and '.join(one.failed_links)}: {harm}; this {kind} represents {one.sets}"
    if len(harmful) > _ORBITS_SHOWN:
        yield f"and {len(harmful) - _ORBITS_SHOWN} more failures, each of which represents fewer"


_DEPTHS = {1: "single", 2: "double", 3: "triple"}
_ORBITS_SHOWN = 5
_GROUNDS = {
    "opensm": "tables of the real OpenSM",
    "lfts": "the dumped tables",
    "design": "the wiring only, not tested with OpenSM",
}


def _subnet_statement(result: DeadlockResult) -> Statement:
    """The verdict on the lanes of an InfiniBand subnet. A `fixed_sl` has the grounds of its plane."""
    grounds = _GROUNDS[result.model] + (", with the lanes of one run" if result.is_of_one_run else "")
    if result.verdict == Verdict.UNKNOWN:
        return Statement(Level.WARNING, NOT_JUDGED, f"no routes between switches, from {grounds}")
    if not result.channels:
        nothing = "no link between switches has routes, so no buffer waits for another"
        return Statement(Level.NONE, result.verdict, nothing, result.claim)
    source = "" if result.service_levels else f", from {grounds}"
    lanes = _numbers("virtual lane", result.priorities)
    return _found(result, "credit loop", "credit loop", f"on {lanes}{source} ({_size(result)})")


def _plane(result: DeadlockResult, seals: Mapping[str, str] | None) -> dict[str, Any]:
    sealed = {} if seals is None else {"certificate": seals.get(result.name)}
    return {"name": result.name, **_verdict(result), **sealed, **_fixed_sl(result.fixed_sl)}


def _fixed_sl(fixed: DeadlockResult | None) -> dict[str, Any]:
    """The verdict on the SLs that applications set, for InfiniBand planes with forwarding tables."""
    return {} if fixed is None else {"fixed_sl": {"service_levels": list(fixed.service_levels), **_verdict(fixed)}}


def _verdict(result: DeadlockResult) -> dict[str, Any]:
    failures = result.failures
    statement = deadlock_statement(result)
    return {
        "verdict": result.verdict,
        "claim": statement.claim or None,
        "statement": statement.as_object(),
        "model": result.model,
        "priorities": list(result.priorities),
        "channels": result.channels,
        "dependencies": result.dependencies,
        **_covers(result.covers),
        "failures": {
            "depth": failures.depth,
            "sets": failures.sets,
            "cyclic_sets": failures.cyclic_sets,
            "unreachable_sets": failures.unreachable_sets,
            "judged": failures.judged,
            **({"statement": after.as_object()} if (after := failures_statement(result)) else {}),
            **_sampled(failures),
            **_by_orbits(failures),
        },
        "cycles": [
            {
                "priority": cycle.priority,
                "hops": [list(hop) for hop in cycle.hops],
                "failed_links": list(cycle.failed_links),
                "witnesses": list(cycle.witnesses),
                **_standing_for(failures, cycle.failed_links),
            }
            for cycle in result.cycles
        ],
    }


def _covers(covers: Covers | None) -> dict[str, Any]:
    """What the routes cover; InfiniBand planes have no sessions."""
    if covers is None:
        return {}
    is_steered = covers.lists or covers.unjudged_lists
    return {
        "covers": {
            "sessions": covers.sessions,
            "left_out": covers.left_out,
            "lossless_links": covers.lossless_links,
            "without_routes": covers.without_routes,
            "cordoned": covers.cordoned,
            "unknown_ends": covers.unknown_ends,
            "hosts_assumed": covers.hosts_assumed,
            **({"lists": covers.lists, "unjudged_lists": covers.unjudged_lists} if is_steered else {}),
        }
    }


def _by_orbits(failures: FailureSummary) -> dict[str, Any]:
    """If one set of each orbit was analysed: that set, and the number of sets that it represents."""
    if not failures.orbits:
        return {}
    return {
        "orbits": [
            {
                "failed_links": list(one.failed_links),
                "stands_for": one.sets,
                "cyclic": one.is_cyclic,
                "unreachable": one.is_unreachable,
            }
            for one in failures.orbits
        ]
    }


def _standing_for(failures: FailureSummary, failed_links: tuple[str, ...]) -> dict[str, int]:
    count = failures.stands_for(failed_links)
    return {} if count is None else {"stands_for": count}


def _sampled(failures: FailureSummary) -> dict[str, Any]:
    """For a sample: its size, and the upper bounds of the shares in all sets with 95 % confidence."""
    if failures.sampled is None:
        return {}
    return {
        "sampled": failures.sampled,
        "bounds_95": {"cyclic": failures.cyclic_bound, "unreachable": failures.unreachable_bound},
    }
