"""Findings about tests without a result, ranks that did not run, wrong elements, and values that NICs cannot carry."""

from collections.abc import Iterable, Iterator, Sequence

from fabricgen.acceptance.measured import MeasuredTest, Verdict
from fabricgen.acceptance.planned import PlannedTest
from fabricgen.acceptance.reported import ALONE, observed
from fabricgen.findings import Finding, Severity
from fabricgen.units import counted, listed

_AGAIN = "run it again: a missing measurement is not a success"


def missing(found: Sequence[MeasuredTest]) -> Iterator[Finding]:
    """Tests without a result: by stage if it has none at all, by host if none of its tests has one."""
    absent = [one.test for one in found if one.verdict is Verdict.MISSING]
    run = {one.test.stage for one in found if one.verdict is not Verdict.MISSING}
    for stage in dict.fromkeys(test.stage for test in absent):
        if stage not in run:
            tests = counted(sum(test.stage is stage for test in absent), "test")
            hint = f"run stages/{stage}.sh, or choose the stages with --stages"
            yield observed("FG960", "", f"stage {stage} has no results: {tests} missing", hint)
    left = {test.id: test for test in absent if test.stage in run}
    for one in found:
        for result in one.results:
            if result.problem:
                left.pop(one.test.id, None)
                text = f"{one.test.id} has a result that cannot be read: {result.problem}"
                yield observed("FG960", "", text, _AGAIN, [one.test.id], result.file, line=result.line)
    for host in _silent(found):
        gone = [test for test, planned in left.items() if host in _hosts(planned)]
        left = {test: planned for test, planned in left.items() if test not in gone}
        if gone:
            text = f"no test with {host} has a result: {counted(len(gone), 'test')} missing"
            yield observed("FG960", host, text, "check that the host is up and that ib_write_bw is installed", gone)
    for one in found:
        finding = _ranks(one)
        if finding:
            left.pop(one.test.id, None)
            yield finding
    if left:
        text = f"{counted(len(left), 'test')} without a result: {listed(sorted(left))}"
        yield observed("FG960", "", text, _AGAIN, sorted(left))


def _silent(found: Iterable[MeasuredTest]) -> list[str]:
    """The hosts whose tests between NICs all have no result, those with the most tests first."""
    tests: dict[str, list[bool]] = {}
    for one in found:
        for host in _hosts(one.test) if one.test.stage in ALONE else ():
            tests.setdefault(host, []).append(one.verdict is Verdict.MISSING)
    silent = [host for host, missing in tests.items() if all(missing)]
    return sorted(silent, key=lambda host: (-len(tests[host]), host)) if len(silent) < len(tests) else []


def _ranks(one: MeasuredTest) -> Finding | None:
    """Hosts of a collective without all of their ranks."""
    ranks = [host for result in one.results for host in result.ranks]
    expected = len(one.test.hosts) * one.test.ranks_of_host
    count = max((result.count for result in one.results if result.count is not None), default=expected)
    if count == expected:
        return None
    short = [host for host in one.test.hosts if ranks and ranks.count(host) < one.test.ranks_of_host]
    text = f"{one.test.id} has {count} of {counted(expected, 'rank')}" + (
        f", missing on {listed(short)}" if short else ""
    )
    hint = "check the hostfile or node list, and that each host has all its GPUs; run it again"
    return observed("FG967", short[0] if short else "", text, hint, [one.test.id], one.results[0].file)


def wrong(found: Iterable[MeasuredTest]) -> Iterator[Finding]:
    """Collectives with wrong elements, and values above what the NICs carry."""
    for one in found:
        if bad := sum(result.wrong for result in one.results):
            text = f"{one.test.id} computed {counted(bad, 'wrong element')}"
            hint = "memory, a GPU or a NIC corrupts data: run it with each half of the hosts"
            yield observed("FG969", "", text, hint, [one.test.id], one.results[0].file)
        if one.verdict is Verdict.ABOVE:
            text = f"{one.test.id} measured {one.value:.1f} {one.test.unit}, and the NICs carry {one.test.expected}"
            # Nothing but the wire is between two NICs; in one NIC, or with NVLink in the hosts, more is possible.
            is_wire = one.test.a is not None and one.test.b is not None and one.test.a != one.test.b
            hint = "set NCCL_ALGO=RING and NCCL_MNNVL_ENABLE=0, so that NVLink does not add to it"
            if is_wire:
                hint = "add --unit MiB/s if perftest ran without --report_gbits"
            severity = Severity.ERROR if is_wire else Severity.WARNING
            yield observed("FG971", "", text, hint, [one.test.id], one.results[0].file, severity)


def _hosts(test: PlannedTest) -> set[str]:
    return {end[0] for end in (test.a, test.b, *test.writers) if end}
