"""The result of the deadlock proof."""

import enum
from dataclasses import dataclass, field, fields

from fabricgen.units import counted, listed


class Verdict(enum.StrEnum):
    """Whether a plane can deadlock."""

    FREE = "free"
    CYCLIC = "cyclic"
    UNKNOWN = "unknown"


class Claim(enum.StrEnum):
    """How strong a verdict is."""

    PROVED = "proved"
    POSSIBLE = "possible"
    OBSERVED = "observed"


class RoutesModel(enum.StrEnum):
    """Where the routes of a deadlock verdict come from."""

    BGP = "bgp"
    OPENSM = "opensm"
    LFTS = "lfts"
    DESIGN = "design"


@dataclass(frozen=True, slots=True)
class FailureOrbit:
    """`sets` failure sets that are equal by symmetry. The named one was judged for all of them."""

    failed_links: tuple[str, ...]
    sets: int
    is_cyclic: bool
    is_unreachable: bool


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """Counts over the failure sets of exactly `depth` failures.

    If there are too many sets, one of each of the `orbits` was judged and counts for the whole orbit. If orbits cannot
    be found, `sampled` of the sets were drawn at random, and only those are counted; with 95 % confidence, the share of
    all sets that are cyclic, or unreachable, is at most the bound.
    """

    depth: int = 0
    sets: int = 1
    cyclic_sets: int = 0
    unreachable_sets: int = 0
    sampled: int | None = None
    cyclic_bound: float | None = None
    unreachable_bound: float | None = None
    orbits: tuple[FailureOrbit, ...] = ()
    each: bool = False  # every set was judged; the orbits only show which ones are equal

    @property
    def judged(self) -> int:
        """The number of sets that were judged, each for itself or for all that symmetry makes equal."""
        if self.each or not self.orbits:
            return self.sets if self.sampled is None else self.sampled
        return len(self.orbits)

    def stands_for(self, failed_links: tuple[str, ...]) -> int | None:
        """The number of sets that a judged set represents; None if it represents only itself."""
        return next((one.sets for one in self.orbits if one.failed_links == failed_links), None)


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cyclic buffer dependency. Each hop is a switch and its egress port, with one witness destination."""

    priority: int
    hops: tuple[tuple[str, str], ...]
    failed_links: tuple[str, ...] = ()
    witnesses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Covers:
    """What the routes of a verdict cover.

    `left_out` of the `sessions` between judged switches cannot come up. `without_routes` of the `lossless_links`
    between switches (cables, both ends up) carry no route in either direction; `example` is one of them. `cordoned`
    sessions, which are in none of these numbers, are on links that are out of service on purpose.

    `unknown_ends` lossless ports lead to a switch without a file (`absent` names these switches) or, in files without
    fabric.json, to nothing that is known although their switch has no link to another switch; `first_end` is one of
    them. `hosts_assumed` lossless ports without a known far end count as ports of hosts, because their switch has links
    to switches. `without_links`: the files describe no link at all. `dark` planned cables are
    not seen by LLDP at either end, and count as down. Hosts choose paths by `lists` of SRv6 uSIDs; `unjudged_lists`
    says why the verdict does not hold for them.
    """

    sessions: int = 0
    left_out: int = 0
    lossless_links: int = 0
    without_routes: int = 0
    example: tuple[tuple[str, str], ...] = ()
    cordoned: int = 0
    unknown_ends: int = 0
    first_end: tuple[str, str] | None = None
    absent: tuple[str, ...] = ()
    hosts_assumed: int = 0
    without_links: bool = False
    dark: int = 0
    lists: int = 0
    unjudged_lists: str = ""

    @property
    def is_wired(self) -> bool:
        """Whether it is known where every lossless port leads that may lead to a switch."""
        return not self.unknown_ends and not self.without_links

    @property
    def unwired(self) -> str:
        """'128 lossless ports lead to an unknown far end', or that no link is known."""
        if not self.unknown_ends:
            return "no link is known"
        ports = counted(self.unknown_ends, "lossless port")
        leads = "leads" if self.unknown_ends == 1 else "lead"
        where = f"switches without a file ({listed(self.absent, 3)})" if self.absent else "an unknown far end"
        return f"{ports} {leads} to {where}"

    @property
    def is_routed(self) -> bool:
        """Whether every lossless link carries a route, and at least one session comes up if there are any."""
        return not self.without_routes and (not self.sessions or self.left_out < self.sessions)

    @property
    def is_complete(self) -> bool:
        """Whether the verdict covers every lossless link, and the lists of uSIDs."""
        return self.is_wired and self.is_routed and not self.unjudged_lists


@dataclass(frozen=True, slots=True)
class DeadlockResult:
    """The verdict on one plane, whose name is `name`."""

    verdict: Verdict
    claim: Claim
    model: RoutesModel
    priorities: tuple[int, ...]
    channels: int
    dependencies: int
    failures: FailureSummary = field(default_factory=FailureSummary)
    cycles: tuple[Cycle, ...] = ()
    name: str = ""
    covers: Covers | None = None  # of planes with BGP
    is_of_one_run: bool = False  # another run of the subnet manager gives paths other lanes
    service_levels: tuple[int, ...] = ()  # of a `fixed_sl`: the SLs that applications set
    fixed_sl: "DeadlockResult | None" = None  # of InfiniBand: the verdict if applications request no path records


def without_evidence(found: DeadlockResult) -> DeadlockResult:
    """The plain result of a simulator's own, which has the evidence, too."""
    return DeadlockResult(**{each.name: getattr(found, each.name) for each in fields(DeadlockResult)})
