"""Jobs as a file requests them, and as they are placed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabricgen.findings import Finding, Location, Severity
from fabricgen.simulate.patterns import DEFAULT_PATTERN, Placement

MISTAKE, OVERLAP = "FG792", "FG793"


@dataclass(frozen=True)
class JobRequest:
    """A job of a jobs file. `hosts` are expressions, or `count` is the number of free hosts: of `units` if there are
    any, else by `placement`. `rails` limits its NICs; empty: all. `size_bytes` is the buffer of one rank, and the
    pattern runs `repetitions` times, one after the other. `pinned`: a search does not move it."""

    name: str
    hosts: tuple[str, ...] = ()
    count: int = 0
    placement: Placement = Placement.ALIGNED
    units: tuple[int, ...] = ()
    rails: tuple[int, ...] = ()
    pattern: str = DEFAULT_PATTERN
    size_bytes: int = 0
    start_ns: float = 0.0
    repetitions: int = 1
    pinned: bool = False
    locations: Mapping[str, Location] = field(default_factory=dict, compare=False)

    @property
    def sent_bytes(self) -> int:
        """The buffer of one rank, of all repetitions."""
        return self.size_bytes * self.repetitions

    def item(self, key: str, number: int) -> str:
        """The key of an item of a list, hosts[2]; `key` if its value in the file is not a list."""
        found = f"{key}[{number}]"
        return found if found in self.locations else key

    def mistake(self, key: str, message: str, hint: str = "", code: str = MISTAKE) -> Finding:
        """An error at a key of the job, or at the job if the key is not in the file."""
        place = self.locations.get(key, self.locations.get(""))
        text = f"job {self.name}: {message}"
        return Finding(code, Severity.ERROR, text, path=f"{self.name}.{key}", location=place, hint=hint)


@dataclass(frozen=True)
class JobsFile:
    """The jobs of a file, and its mistakes. Jobs with a mistake are not among `jobs`."""

    name: str
    jobs: tuple[JobRequest, ...]
    mistakes: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class PlacedJob:
    """A job with its hosts in the order of ranks, and the planes that it sends on."""

    request: JobRequest
    hosts: tuple[str, ...]
    planes: Sequence[str]

    @property
    def name(self) -> str:
        """The name of the job."""
        return self.request.name
