"""Failures in the congestion analysis: what each leaves of the bandwidth of a pattern."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fabricgen.api.judgement import Judging
from fabricgen.results import CongestionResult

if TYPE_CHECKING:
    from fabricgen.simulate.outages.options import OutageOptions


def with_outages(
    judging: Judging,
    results: Sequence[CongestionResult],
    options: "OutageOptions",
    plane: str | None = None,
    *,
    reported: bool = True,
) -> list[CongestionResult]:
    """The results of planes with those of all sets of 1 to `options.depth` failures; if they are `reported`, their
    findings are added to `judging`."""
    from fabricgen.simulate.outages.analysis import analyse_outages
    from fabricgen.simulate.outages.findings import outage_findings

    found = [
        one
        for depth in range(1, options.depth + 1)
        for one in analyse_outages(judging.bundle, replace(options, depth=depth), plane)
    ]
    if reported:
        judging.findings += outage_findings(judging.bundle, found)
    return [replace(one, failures=tuple(each for each in found if each.name == one.name)) for one in results]
