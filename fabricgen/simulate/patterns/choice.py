"""Patterns by their names."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fabricgen.errors import UsageError
from fabricgen.simulate.patterns import collectives
from fabricgen.simulate.patterns.job import Job, job_of_each_tenant
from fabricgen.simulate.patterns.traffic import Everyone, Traffic, joined
from fabricgen.simulate.plane.adapters import Adapter
from fabricgen.vocabulary import PATTERNS, TRACE, Pattern

DEFAULT_PATTERN = Pattern.RING_ALL_REDUCE
DEFAULT_BYTES = 256 << 20

_STORAGE = (Pattern.STORAGE_READ, Pattern.CHECKPOINT)
_MAKERS: Mapping[Pattern, Callable[[Job, float, int], Traffic]] = {
    Pattern.RING_ALL_REDUCE: lambda job, size, _: collectives.ring_all_reduce(job, size),
    Pattern.TREE_ALL_REDUCE: lambda job, size, _: collectives.tree_all_reduce(job, size),
    Pattern.ALL_TO_ALL: lambda job, size, _: collectives.all_to_all(job, size),
    Pattern.REDUCE_SCATTER: lambda job, size, _: collectives.reduce_scatter(job, size),
    Pattern.ALL_GATHER: lambda job, size, _: collectives.reduce_scatter(job, size),
    Pattern.PIPELINE: lambda job, size, _: collectives.pipeline(job, size),
    Pattern.INCAST: lambda job, size, _: collectives.incast(job, size),
    Pattern.STORAGE_READ: lambda job, size, _: collectives.storage_read(job, size),
    Pattern.CHECKPOINT: lambda job, size, _: collectives.checkpoint(job, size),
    Pattern.PERMUTATION: collectives.permutation,
}


def check_pattern(name: str) -> None:
    """Raises UsageError for an unknown pattern."""
    if name not in list(Pattern) and not (name.startswith(TRACE) and name != TRACE):
        raise UsageError(f"unknown pattern {name!r}; the patterns are {', '.join(PATTERNS)}")


def uses_storage(name: str) -> bool:
    """Whether a pattern is traffic to or from storage."""
    return name in _STORAGE


def make_traffic(name: str, job: Job, adapters: Sequence[Adapter], size_bytes: float, seed: int) -> Traffic:
    """The traffic of a pattern, which each tenant of a plane has for itself: its hosts do not send to those of others.
    Raises UsageError for an unknown pattern, UnreadableInputError for a wrong trace file."""
    check_pattern(name)
    if name.startswith(TRACE):
        from fabricgen.simulate.patterns.trace import read_trace

        return read_trace(Path(name.removeprefix(TRACE)), adapters)
    make = _MAKERS[Pattern(name)]
    if uses_storage(name) or all(adapter.tenant is None for adapter in adapters):
        return make(job, size_bytes, seed)
    parts = [make(own, size_bytes, seed) for own in job_of_each_tenant(job, adapters)]
    return joined(part.messages() if isinstance(part, Everyone) else part for part in parts)
