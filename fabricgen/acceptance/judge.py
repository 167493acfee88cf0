"""The verdict on an acceptance run: the tests with their values, and findings that name the cause."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.acceptance.causes.cause import Cause, Observations
from fabricgen.acceptance.causes.found import causes_of
from fabricgen.acceptance.counters import SentFairness, comparable, counter_folders, read_counters, sent_fairness
from fabricgen.acceptance.given import given_tests, stray_files
from fabricgen.acceptance.host_counters import nic_rises
from fabricgen.acceptance.link_errors import damaged_links, errors_of_links
from fabricgen.acceptance.made import made_tests
from fabricgen.acceptance.measured import MeasuredTest, Verdict, files_by_id, measure, result_names
from fabricgen.acceptance.missing import missing, wrong
from fabricgen.acceptance.planned import GBPS, PlannedTest, Stage, load_tests
from fabricgen.acceptance.reported import observed
from fabricgen.acceptance.results import Result
from fabricgen.acceptance.slow import find_slow, slow_findings
from fabricgen.acceptance.traffic import Readings, traffic
from fabricgen.acceptance.watermarks import watermarks
from fabricgen.bundle.read import Bundle
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Finding, Location
from fabricgen.inputs import read_bytes
from fabricgen.vocabulary import LinkKind

if TYPE_CHECKING:
    from fabricgen.results import CongestionResult


TESTS_NAME = "tests.jsonl"


@dataclass(frozen=True)
class Accepted:
    """The tests with their verdicts, the findings, the causes in words, how evenly uplinks sent, and result files that
    belong to no test."""

    measured: tuple[MeasuredTest, ...]
    findings: tuple[Finding, ...]
    causes: tuple[Cause, ...]
    fairness: tuple[SentFairness, ...]
    unjudged: tuple[str, ...] = ()


def accept(
    bundle: Bundle,
    roots: Sequence[Path],
    unit: str = GBPS,
    stages: Collection[str] = (),
    with_watermarks: bool = False,
    cabling: Sequence[Finding] = (),
) -> Accepted:
    """Judge the results below `roots`. `unit` is that of perftest's bandwidths; `stages` are the stages to judge.
    `with_watermarks` also judges the watermarks of buffers after the tests. `cabling` are findings about cables.

    The tests are those of tests.jsonl below `roots`, otherwise those that the bundle needs. Files without the name of
    a test are further tests, if their content says what they measured; if no file has such a name, they are the
    only tests. Raises UnreadableInputError for a missing path or a list of tests of an unknown form, UsageError if the
    bundle or `stages` leave no test.
    """
    for root in roots:
        if not root.exists():
            raise UnreadableInputError("no such file or folder", Location(str(root)))
    known, given, unjudged, is_given = _with_given(bundle, roots, _tests(bundle, roots), unit)
    tests = [test for test in known if not stages or test.stage in stages]
    if not tests:
        raise UsageError("the bundle has no hosts with GPUs on a compute plane: there are no tests to judge")
    moments = [counter_folders(roots, moment, of_watchdog=True) for moment in ("before", "after")]
    found = measure(tests, roots, unit, moments[0], moments[1], given)
    before, after = (read_counters(counter_folders(roots, moment)) for moment in ("before", "after"))
    slow = find_slow(found, bundle, predictor(bundle))
    findings = [*missing(found), *wrong(found), *slow_findings(slow, found, bundle), *_watchdog(found)]
    both = {name: comparable(before[name], after[name]) for name in bundle.devices if name in before and name in after}
    findings += traffic(found, bundle, both, needs_all=not is_given)
    fairness = tuple(_fairness(bundle, both))
    nics = nic_rises(roots, [link.a for link in bundle.host_links])
    damaged = damaged_links(bundle, found, both, nics)
    findings += errors_of_links(damaged)
    files = [last.files for _, last in both.values()]
    seen = Observations(
        fairness, nics, damaged, (*cabling, *findings), switches=len(files),
        with_drops=sum("pg-drops.txt" in names for names in files),
        with_storms=sum("watchdog.txt" in names for names in files),
        with_errors=sum(bool(first.errors and last.errors) for first, last in both.values()), left_out=len(unjudged),
    )  # fmt: skip
    causes = causes_of(found, slow, bundle, seen)
    if with_watermarks:
        if not after:
            raise UsageError("the results have no counters of switches, which contain the watermarks")
        findings += watermarks(bundle, after)
    return Accepted(tuple(found), tuple(findings), causes, fairness, unjudged)


def _fairness(bundle: Bundle, both: Readings) -> Iterator[SentFairness]:
    """That of each leaf whose counters were read before and after."""
    uplinks: dict[str, list[str]] = {}
    for link in bundle.links:
        if link.kind == LinkKind.LEAF_SPINE and link.a[0] in both:
            uplinks.setdefault(link.a[0], []).append(link.a[1])
    for name, ports in sorted(uplinks.items()):
        if found := sent_fairness(name, ports, *both[name]):
            yield found


def _with_given(
    bundle: Bundle, roots: Sequence[Path], tests: Sequence[PlannedTest], unit: str
) -> tuple[Sequence[PlannedTest], Mapping[str, Result], tuple[str, ...], bool]:
    """The tests with those of files that have no test's name, the results of these, the files that were not judged,
    and whether these are the only tests.

    Raises UsageError for a file, given by itself, that measured nothing of this fabric.
    """
    if not tests:
        return tests, {}, (), False
    names = {name for test in tests for name in result_names(test)}
    used = {file for name, file in files_by_id(roots).items() if name in names}
    strays = [(root, file) for root, file in stray_files(roots, used) if file.name != TESTS_NAME]
    given = given_tests(bundle, strays, unit)
    judged = {Path(result.file) for result in given.results.values()}
    alone = [
        (place, why) for place, why in given.others if Path(place.file) in roots and Path(place.file) not in judged
    ]
    if refused := [f"{place} belongs to no test: {why}" for place, why in alone]:
        needed = f"its name is the id of its test and a suffix, for example {result_names(tests[-1])[0]}.json"
        raise UsageError(f"{'; '.join(refused)}. Give a folder of results, or a file of a test: {needed}")
    listed_here = any((root / TESTS_NAME).is_file() or root.name == TESTS_NAME for root in roots)
    only = bool(given.tests) and not used and not listed_here
    unjudged = tuple(f"{place}: {why}" for place, why in given.others) if only or not used else ()
    return (given.tests if only else [*tests, *given.tests]), given.results, unjudged, only


def _watchdog(found: Sequence[MeasuredTest]) -> list[Finding]:
    failed = [one.test for one in found if one.test.stage is Stage.WATCHDOG and one.verdict is Verdict.FAIL]
    hint = "compare PFC_WD and FLEX_COUNTER_TABLE|PFCWD with `pfcwd show config`"
    return [
        observed(
            "FG968", test.at[0], f"no storm was detected and ended on {test.at[1]}", hint, path=f"PFC_WD|{test.at[1]}"
        )
        for test in failed
        if test.at
    ]


def _tests(bundle: Bundle, roots: Sequence[Path]) -> Sequence[PlannedTest]:
    files = [root if root.is_file() else root / TESTS_NAME for root in roots]
    file = next((file for file in files if file.name == TESTS_NAME and file.is_file()), None)
    if file is None:
        return list(made_tests(bundle))
    try:
        return load_tests(read_bytes(file))
    except ValueError as error:
        raise UnreadableInputError(f"not a list of acceptance tests: {error}", Location(str(file))) from error


def lldp_folder(roots: Sequence[Path]) -> Path | None:
    """The folder with the LLDP dumps of the switches, below one of the roots."""
    return next((path for root in roots if root.is_dir() for path in sorted(root.rglob("lldp")) if path.is_dir()), None)


# The share of a collective's ceiling that hash collisions leave, by the model of `simulate congestion`.

_PATTERNS = {
    "all_reduce": "ring-all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "alltoallv": "all-to-all",
}


def predictor(bundle: Bundle) -> Callable[[PlannedTest], float]:
    """A function that returns the share of a test, 1 where no paths collide or the pattern has no model."""

    @cache
    def results(pattern: str) -> dict[str, "CongestionResult"]:
        from fabricgen.simulate.congestion.analysis import CongestionOptions, analyse_congestion  # loads numpy

        found = analyse_congestion(bundle, CongestionOptions(pattern))
        return {one.name: one for one in found}

    def share(test: PlannedTest) -> float:
        pattern = _PATTERNS.get(test.collective)
        result = results(pattern).get(test.plane) if pattern else None
        return 1 / max(1.0, result.drawn_load or 1.0) if result else 1.0

    return share
