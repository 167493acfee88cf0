"""Planned tests with what was measured, and the verdict of each."""

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricgen.acceptance.counters import storms
from fabricgen.acceptance.culprits import outliers
from fabricgen.acceptance.host_counters import rise
from fabricgen.acceptance.planned import GBPS, PlannedTest, Stage
from fabricgen.acceptance.results import Result, read_result
from fabricgen.errors import UnreadableInputError
from fabricgen.inputs import read_text

_ABOVE = 1.02  # of the expected value: more than the wire carries
# Slurm (--output=%x.%j), PBS and LSF (name.o123) number the logs of jobs. Tables and compressed files are not read, and
# named: what they measured can be slow.
_IS_RESULT = re.compile(r"\.(?:json|txt|log|out|err|stdout|stderr|[oe]?\d+|csv|gz|xz|bz2|zst|zip)|")
MOST_PARTS = 5  # of a path, as the id of a test


class Verdict(enum.StrEnum):
    """The verdict of a test."""

    PASS = "pass"
    RETEST = "retest"  # between the limit and the floor, or far below its peers
    FAIL = "fail"
    ABOVE = "above"  # more than the NICs carry: something else was measured
    MISSING = "missing"
    NONE = ""  # a test that another part judges: LLDP


@dataclass(frozen=True, slots=True)
class MeasuredTest:
    """A test with its results: one, or those of all writers of an incast."""

    test: PlannedTest
    results: tuple[Result, ...]
    value: float | None
    verdict: Verdict

    @property
    def is_slow(self) -> bool:
        """Whether the value is too small."""
        return self.verdict in (Verdict.RETEST, Verdict.FAIL)

    @property
    def is_too_small(self) -> bool:
        """Whether the buffers of a slow collective are too small: larger ones can reach the limit."""
        plateaus = [result.plateau for result in self.results if result.plateau is not None]
        return self.is_slow and self.test.limit is not None and max(plateaus, default=0.0) >= self.test.limit


def measure(
    tests: Sequence[PlannedTest],
    roots: Sequence[Path],
    unit: str,
    before: Mapping[str, Path],
    after: Mapping[str, Path],
    given: Mapping[str, Result],
) -> list[MeasuredTest]:
    """The tests with their results below `roots`, or in `given`, test -> result. `before` and `after` have the
    watchdog's readings of that stage.

    A result that cannot be read, for example of a run that was killed, is a missing one with its problem.
    """
    known = files_by_id(roots)
    found = []
    for test in tests:
        if test.stage is Stage.WATCHDOG:
            value = _storms(test, before, after)
            found.append(MeasuredTest(test, (), value, _verdict(test, value)))
            continue
        names = result_names(test)
        files = [known[name] for name in names if name in known]
        if test.stage is Stage.LLDP:
            found.append(MeasuredTest(test, (), None, Verdict.NONE if files else Verdict.MISSING))
            continue
        ranks = len(test.hosts) * test.ranks_of_host
        read = (
            [given[test.id]]
            if test.id in given
            else [_result(file, unit if test.unit == GBPS else GBPS) for file in files]
        )
        results = tuple(result.of_ranks(ranks, test.collective) for result in read)
        values = [result.value for result in results if result.value is not None]
        value = sum(values) if len(values) == len(names) else None
        found.append(MeasuredTest(test, results, value, _verdict(test, value)))
    return _with_outliers(found)


def _result(file: Path, unit: str) -> Result:
    try:
        return read_result(file, unit)
    except UnreadableInputError as error:
        return Result(str(file), None, problem=error.problem, line=error.location.line)


def result_names(test: PlannedTest) -> list[str]:
    """The names of the result files of a test, without their suffix: one, or those of all writers of an incast."""
    return [f"{test.id}.{number}" for number in range(len(test.writers))] or [test.id]


def result_files(root: Path) -> list[Path]:
    """The files below a folder that have the name of a result, or of the log of a job: also without a suffix."""
    return sorted(path for path in root.rglob("*") if _IS_RESULT.fullmatch(path.suffix) and path.is_file())


def files_by_id(roots: Iterable[Path]) -> dict[str, Path]:
    """Id -> file: the path from the folder of results, or from any folder above, without the suffix."""
    found: dict[str, Path] = {}
    for root in roots:
        files = [root] if root.is_file() else result_files(root)
        for file in files:
            parts = file.with_suffix("").parts
            for depth in range(1, min(len(parts), MOST_PARTS) + 1):
                found.setdefault("/".join(parts[-depth:]), file)
    return found


def _storms(test: PlannedTest, before: Mapping[str, Path], after: Mapping[str, Path]) -> float | None:
    """Storms that the watchdog detected and ended at the port of the test; None without readings."""
    if test.at is None or not (test.at[0] in before and test.at[0] in after):
        return None
    first, last = (storms(read_text(folder[test.at[0]] / "watchdog.txt")) for folder in (before, after))
    counts = [rise(one, other) for one, other in zip(first, last, strict=True)]
    return float(min(sum(value for (port, _), value in count.items() if port == test.at[1]) for count in counts))


def _verdict(test: PlannedTest, value: float | None) -> Verdict:
    if value is None:
        return Verdict.MISSING
    if test.floor is not None and value < test.floor:
        return Verdict.FAIL
    if test.limit is not None and value < test.limit:
        return Verdict.RETEST
    if test.stage is not Stage.WATCHDOG and test.expected is not None and value > _ABOVE * test.expected:
        return Verdict.ABOVE
    return Verdict.PASS


def _with_outliers(found: list[MeasuredTest]) -> list[MeasuredTest]:
    """With tests that pass but are far below the others of their stage as tests to repeat."""
    far: set[str] = set()
    for stage in (Stage.LOOPBACK, Stage.NEAR, Stage.BACK, Stage.FAR):
        shares = {
            one.test.id: one.value / one.test.expected
            for one in found
            if one.test.stage is stage and one.value is not None and one.test.expected
        }
        far |= outliers(shares)
    return [
        MeasuredTest(one.test, one.results, one.value, Verdict.RETEST)
        if one.verdict is Verdict.PASS and one.test.id in far
        else one
        for one in found
    ]
