"""Patterns by their names."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fabricgen.errors import UsageError
from fabricgen.simulate.patterns import collectives, storage
from fabricgen.simulate.patterns.job import Adapter, Job
from fabricgen.simulate.patterns.trace import read_trace
from fabricgen.simulate.patterns.traffic import Traffic

DEFAULT_PATTERN = "ring-all-reduce"
DEFAULT_BYTES = 256 << 20
TRACE = "trace:"

_Maker = Callable[[Job, float, int], Traffic]

_MAKERS: Mapping[str, _Maker] = {
    "ring-all-reduce": lambda job, size, _: collectives.ring_all_reduce(job, size),
    "tree-all-reduce": lambda job, size, _: collectives.tree_all_reduce(job, size),
    "all-to-all": lambda job, size, _: collectives.all_to_all(job, size),
    "reduce-scatter": lambda job, size, _: collectives.reduce_scatter(job, size),
    "all-gather": lambda job, size, _: collectives.reduce_scatter(job, size),
    "pipeline": lambda job, size, _: collectives.pipeline(job, size),
    "incast": lambda job, size, _: storage.incast(job, size),
    "storage-read": lambda job, size, _: storage.storage_read(job, size),
    "checkpoint": lambda job, size, _: storage.checkpoint(job, size),
    "permutation": collectives.permutation,
}
PATTERNS = (*_MAKERS, f"{TRACE}FILE")
OF_STORAGE = ("storage-read", "checkpoint")


def check_pattern(name: str) -> None:
    """Raises UsageError for a name that is no pattern's."""
    if name not in _MAKERS and not (name.startswith(TRACE) and name != TRACE):
        raise UsageError(f"no pattern is called {name!r}; there are {', '.join(PATTERNS)}")


def make_traffic(name: str, job: Job, adapters: Sequence[Adapter], size_bytes: float, seed: int) -> Traffic:
    """The traffic of a pattern. Raises UsageError for an unknown name, UnreadableInputError for a wrong trace file."""
    check_pattern(name)
    if name.startswith(TRACE):
        return read_trace(Path(name.removeprefix(TRACE)), adapters)
    return _MAKERS[name](job, size_bytes, seed)
