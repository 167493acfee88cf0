"""Several draws of a run: other seeds of hashes and marks, what they have in common, and how far they differ."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb

from fabricgen.findings import Finding, in_order
from fabricgen.results import DrawSpread, PacketsResult
from fabricgen.spread import spread

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Summary:
    """What the spread and the cost need of a run."""

    name: str
    seed: int
    percentiles: tuple[int | None, ...]
    hops: int


@dataclass(frozen=True)
class Draw:
    """The runs of one seed, one for each plane, with their findings, and those of probes, which no seed changes. Only
    the first draw has its results: to bring those of all from other processes takes a sixth of the time of a run."""

    summaries: tuple[Summary, ...]
    findings: tuple[Finding, ...]
    probed: tuple[Finding, ...] = ()
    results: tuple[PacketsResult, ...] = ()

    @property
    def hops(self) -> int:
        """The packet hops of its runs."""
        return sum(one.hops for one in self.summaries)


def draw_of(
    results: Sequence[PacketsResult], findings: Sequence[Finding], probed: Sequence[Finding] = (), *, is_first: bool
) -> Draw:
    """The draw of some results."""
    summaries = (Summary(one.name, one.seed, one.percentiles, one.wire_transmissions) for one in results)
    return Draw(tuple(summaries), tuple(findings), tuple(probed), tuple(results) if is_first else ())


def run_draws(run_one: Callable[[int], Draw], seeds: Sequence[int], jobs: int) -> Iterator[Draw]:
    """The draws of some seeds, in their order, in up to `jobs` processes."""
    return spread(run_one, seeds, jobs)


def with_spread(draws: Sequence[Draw]) -> list[PacketsResult]:
    """The results of the first draw, with the spread of all."""
    if len(draws) == 1:
        return list(draws[0].results)
    found = []
    for first in draws[0].results:
        same = [one for draw in draws for one in draw.summaries if one.name == first.name]
        columns = zip(*(one.percentiles for one in same), strict=True)
        spread = [
            interval(name, [time for time in times if time is not None])
            for name, times in zip(("p50", "p99", "p99.9"), columns, strict=True)
            if None not in times
        ]
        found.append(replace(first, seeds=tuple(one.seed for one in same), spread=tuple(spread)))
    return found


def interval(name: str, values: Sequence[int]) -> DrawSpread:
    """The median of the draws, with the narrowest interval of order statistics that contains the true median with at
    least the confidence; with few draws, their range with its confidence. It assumes no distribution."""
    ordered, count = sorted(values), len(values)
    narrow = max((place for place in range(count // 2) if _covered(place, count) >= CONFIDENCE), default=0)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) // 2
    return DrawSpread(name, middle, ordered[narrow], ordered[-1 - narrow], round(_covered(narrow, count), 4))


def _covered(place: int, count: int) -> float:
    """The probability that the true median is between the values at a place from both ends of `count` values."""
    return 1 - 2 * sum(comb(count, below) for below in range(place + 1)) / 2**count


def in_draws(draws: Sequence[Draw]) -> list[Finding]:
    """The findings of all draws, each code as in the first draw that has it, with the number of draws that have it."""
    if len(draws) == 1:
        return list(draws[0].findings)
    first: dict[str, Sequence[Finding]] = {}
    times: dict[str, int] = {}
    for draw in draws:
        for code in dict.fromkeys(finding.code for finding in draw.findings):
            first.setdefault(code, [finding for finding in draw.findings if finding.code == code])
            times[code] = times.get(code, 0) + 1
    return in_order(
        replace(finding, message=f"{finding.message} (in {times[code]} of {len(draws)} draws)")
        for code, findings in first.items()
        for finding in findings
    )
