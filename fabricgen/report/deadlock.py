"""The deadlock verdict as a JSON object and as text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricgen.report.planes import of_planes
from fabricgen.results import Covers, DeadlockResult, FailureSummary, Verdict
from fabricgen.units import counted


def deadlock_object(results: Sequence[DeadlockResult], seals: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The `deadlock` object: that of the worst plane; several planes are all under `planes`. `seals` are the digests of
    the certificates by plane, where they were computed."""
    return of_planes([_plane(result, seals) for result in results])


def deadlock_lines(results: Sequence[DeadlockResult]) -> Iterator[str]:
    """A line for each plane."""
    for result in results:
        name = f"plane {result.name}: " if result.name else ""
        if result.model != "bgp":
            yield from _subnet_lines(result, name)
            continue
        if result.verdict == Verdict.UNKNOWN and result.covers is not None:
            missing = [] if result.covers.is_wired else [result.covers.unwired]
            missing += [] if result.covers.is_routed else [_left_out(result.covers)]
            yield f"deadlock  {name}UNKNOWN: {'; '.join(missing)}"
            continue
        if not result.priorities:
            nothing = "no link between switches is lossless, so no buffer waits for another"
            yield f"deadlock  {name}{result.verdict}, {result.claim}: {nothing}"
            continue
        priorities = ", ".join(map(str, result.priorities))
        size = f"{result.channels} channels, {result.dependencies} dependencies"
        if result.verdict == Verdict.FREE:
            verdict = f"free, {result.claim}: no cyclic buffer dependency"
        else:
            verdict = f"CYCLIC, {result.claim}: {counted(len(result.cycles), 'cycle')}"
        yield f"deadlock  {name}{verdict} on priorities {priorities} ({size}{_apart_from(result.covers)})"
        if result.failures.depth:
            yield f"deadlock  {name}{_failures(result.failures)}"
            yield from (f"deadlock  {name}{line}" for line in _orbits(result.failures))


def deadlock_unjudged(results: Sequence[DeadlockResult]) -> Iterator[str]:
    """The planes without a verdict."""
    for result in results:
        if result.verdict == Verdict.UNKNOWN or (result.model != "bgp" and not result.channels):
            yield f"deadlock of plane {result.name}" if result.name else "deadlock"


def _apart_from(covers: Covers | None) -> str:
    """'; without 1 cordoned session', '; 16 lossless ports without a known far end count as ports of hosts'."""
    parts = []
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
        return f"{sessions}: nothing was judged" if covers.sessions else "no BGP sessions: nothing was judged"
    links = f"{covers.without_routes} of {covers.lossless_links} lossless links between switches carry no route"
    return f"{sessions}, {links} and were not judged"


def _failures(failures: FailureSummary) -> str:
    """The failure sets of the greatest depth, counted by their effect."""
    kind = _DEPTHS[failures.depth]
    found = f"{failures.cyclic_sets} cyclic, {failures.unreachable_sets} disconnect hosts"
    if failures.sampled is None:
        return f"{failures.sets} {kind} failures: {found}"
    shares = f"at most {failures.cyclic_bound:.2%} cyclic, {failures.unreachable_bound:.2%} disconnect hosts"
    return f"{failures.sampled} of {failures.sets} {kind} failures sampled: {found}; {shares}, with 95 % confidence"


def _orbits(failures: FailureSummary) -> Iterator[str]:
    """The failures that were judged for all others like them and have an effect; those with the most others first."""
    if not failures.orbits:
        return
    kind = {1: "one", 2: "pair"}[failures.depth]
    few = counted(len(failures.orbits), f"{_DEPTHS[failures.depth]} failure")
    harmful = [one for one in failures.orbits if one.is_cyclic or one.is_unreachable]
    effect = "" if harmful else ", none with an effect"
    yield f"by symmetry, {few} {'represents' if len(failures.orbits) == 1 else 'represent'} all{effect}"
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


def _subnet_lines(result: DeadlockResult, name: str) -> Iterator[str]:
    """A line for the SLs of path records, and one for the fixed SL."""
    grounds = _GROUNDS[result.model] + (", with the lanes of one run" if result.is_of_one_run else "")
    if not result.channels:
        yield f"deadlock  {name}no verdict from {grounds}: no routes between switches"
        return
    fixed = result.fixed_sl
    if fixed is None:
        yield f"deadlock  {name}{_subnet_verdict(result, f', from {grounds}')}"
        yield from _subnet_failures(result, name, "")
        return
    levels = ", ".join(map(str, fixed.service_levels))
    who = " (NCCL's default)" if fixed.service_levels == (0,) else " (NCCL_IB_SL)"
    yield f"deadlock  {name}with path records: {_subnet_verdict(result, f', from {grounds}')}"
    yield from _subnet_failures(result, name, "with path records: ")
    yield f"deadlock  {name}with fixed SL {levels}{who}: {_subnet_verdict(fixed, '')}"
    yield from _subnet_failures(fixed, name, f"with fixed SL {levels}: ")


def _subnet_failures(result: DeadlockResult, name: str, column: str) -> Iterator[str]:
    if result.failures.depth:
        yield f"deadlock  {name}{column}{_failures(result.failures)}"


def _subnet_verdict(result: DeadlockResult, grounds: str) -> str:
    loops = "no credit loop" if result.verdict == Verdict.FREE else counted(len(result.cycles), "credit loop")
    lanes = ", ".join(map(str, result.priorities))
    verdict = "free" if result.verdict == Verdict.FREE else "CYCLIC"
    size = f"{result.channels} channels, {result.dependencies} dependencies"
    return f"{verdict}, {result.claim}: {loops} on virtual lanes {lanes}{grounds} ({size})"


def _plane(result: DeadlockResult, seals: Mapping[str, str] | None) -> dict[str, Any]:
    sealed = {} if seals is None else {"certificate": seals.get(result.name)}
    return {"name": result.name, **_verdict(result), **sealed, **_fixed_sl(result.fixed_sl)}


def _fixed_sl(fixed: DeadlockResult | None) -> dict[str, Any]:
    """The verdict on the SLs that applications set, for InfiniBand planes with forwarding tables."""
    return {} if fixed is None else {"fixed_sl": {"service_levels": list(fixed.service_levels), **_verdict(fixed)}}


def _verdict(result: DeadlockResult) -> dict[str, Any]:
    failures = result.failures
    return {
        "verdict": result.verdict,
        "claim": result.claim,
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
    return {
        "covers": {
            "sessions": covers.sessions,
            "left_out": covers.left_out,
            "lossless_links": covers.lossless_links,
            "without_routes": covers.without_routes,
            "cordoned": covers.cordoned,
            "unknown_ends": covers.unknown_ends,
            "hosts_assumed": covers.hosts_assumed,
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
