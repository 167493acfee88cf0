"""Bandwidth by message size in the congestion analysis."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fabricgen.api.judgement import Judging
from fabricgen.api.subnets import SubnetOptions, forwarding_of
from fabricgen.errors import UsageError
from fabricgen.results import CongestionResult
from fabricgen.vocabulary import TRACE

if TYPE_CHECKING:
    from fabricgen.simulate.bandwidth.sizes import SizesOptions


def with_sizes(
    judging: Judging,
    results: Sequence[CongestionResult],
    options: "SizesOptions",
    plane: str | None,
    subnets: SubnetOptions,
) -> list[CongestionResult]:
    """The results of planes with the tables of bandwidths by size. Raises UsageError for a trace."""
    from fabricgen.simulate.bandwidth.sizes import analyse_sizes
    from fabricgen.simulate.patterns import uses_storage

    if any(pattern.startswith(TRACE) for pattern in options.patterns):
        raise UsageError("--sizes: the messages of a trace have sizes already")
    storage = any(map(uses_storage, options.patterns))
    forwarding = forwarding_of(judging, subnets, plane, to_storage=storage)
    found = analyse_sizes(judging.bundle, options, plane, forwarding)
    return [replace(one, sizes=tuple(each for each in found if each.name == one.name)) for one in results]
