"""Plain results of the judges: what `report` prints and the JSON contract promises."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


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


class CongestionModel(enum.StrEnum):
    """How a congestion result was computed."""

    IDLE = "idle"  # no flow can wait
    FINITE = "finite"  # all flows followed to their completion
    STEADY = "steady"  # the rates that flows settle at
    DENSE = "dense"  # demand between leaves, without a list of flows
    SKIPPED = "skipped"


class TreeKind(enum.StrEnum):
    """Why the root of a congestion tree is congested."""

    INCAST = "incast"
    COLLISION = "collision"
    SLOW_RECEIVER = "slow-receiver"


class VictimLabel(enum.StrEnum):
    """What a victim suffers from."""

    NONE = ""  # the flow is not a victim
    OFF_PATH = "off-path"  # no root is on its own path
    UNFAIR_SHARE = "unfair-share"


@dataclass(frozen=True, slots=True)
class FailureOrbit:
    """`sets` failure sets that come to the same by symmetry, of which the one named was judged."""

    failed_links: tuple[str, ...]
    sets: int
    is_cyclic: bool
    is_unreachable: bool


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """Counts over the failure sets of exactly `depth` failures.

    Where there are too many, one of each of the `orbits` was judged and counts for all of it. Where these cannot be
    found, `sampled` of the sets were drawn at random and the counts are of those; with 95 % confidence no larger share
    of all sets is cyclic, or unreachable, than the bounds say.
    """

    depth: int = 0
    sets: int = 1
    cyclic_sets: int = 0
    unreachable_sets: int = 0
    sampled: int | None = None
    cyclic_bound: float | None = None
    unreachable_bound: float | None = None
    orbits: tuple[FailureOrbit, ...] = ()

    def stands_for(self, failed_links: tuple[str, ...]) -> int | None:
        """How many sets a judged one stands for; None where each stands for itself."""
        return next((one.sets for one in self.orbits if one.failed_links == failed_links), None)


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cyclic buffer dependency: each hop is a switch and the port it sends from; one witness destination per hop."""

    priority: int
    hops: tuple[tuple[str, str], ...]
    failed_links: tuple[str, ...] = ()
    witnesses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeadlockResult:
    """The verdict on one plane."""

    verdict: str  # free | cyclic
    claim: str  # proved | possible | observed
    model: str  # bgp | opensm | lfts | design
    priorities: tuple[int, ...]
    channels: int
    dependencies: int
    failures: FailureSummary = field(default_factory=FailureSummary)
    cycles: tuple[Cycle, ...] = ()
    name: str = ""  # of the plane


@dataclass(frozen=True, slots=True)
class FlowTime:
    """A flow's completion under PFC and under ideal max-min sharing of the same routes; the HoL factor is their ratio.
    Times are None for a flow that never ends. The row is an example of `count` equal flows."""

    src: str
    dst: str
    fct_ns: int | None
    ideal_fct_ns: int
    hol_factor: float | None
    victim: bool
    label: VictimLabel = VictimLabel.NONE
    count: int = 1


@dataclass(frozen=True, slots=True)
class CongestionTree:
    """A saturated port (the root) and the ports that it pauses, directly or through others. `depth` counts links from
    the root to the farthest of `channels` paused ports; `links` are pairs (paused port, the port it waits for), the
    first of them where they are many."""

    root: tuple[str, str]
    kind: TreeKind
    depth: int
    channels: int
    victims: int
    links: tuple[tuple[tuple[str, str], tuple[str, str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Oversubscription:
    """A tier whose ports downwards are faster than those upwards by `ratio`, for one rail where leaves have rails."""

    tier: str
    ratio: float
    rail: int | None = None
    device: str = ""  # one of the tier, the worst


@dataclass(frozen=True, slots=True)
class Collisions:
    """Flows that share the links of one switch by hash: `flows` over `links`, at `groups` equal switches. `expected` is
    the exact mean of the fullest link's flows over all of them, `drawn` what this draw gave."""

    flows: int
    links: int
    groups: int
    expected: float
    drawn: int


@dataclass(frozen=True)
class CongestionResult:
    """One plane (or scenario) under one pattern.

    `max_load` is the highest load of a link over its capacity when every sender sends at line rate, spread evenly;
    `drawn_load` is the same with hashed paths. `links` counts cables, including those to hosts. With `ecn` rates
    converge to the ideal ones, and the effects of PFC are transient. `lost` flows have no route, `unfinished` flows no
    completion, `unsettled` flows no steady rate within the simulated time.
    """

    pattern: str
    model: CongestionModel
    name: str = ""
    seed: int = 0
    links: int = 0
    max_load: float = 0.0
    drawn_load: float | None = None
    oversubscribed: tuple[Oversubscription, ...] = ()
    trees: tuple[CongestionTree, ...] = ()
    flows: tuple[FlowTime, ...] = ()
    roots: int = 0
    paused: int = 0
    ecn: bool = False
    lossless: bool = True
    single_path: bool = False
    lost: int = 0
    unfinished: int = 0
    unsettled: int = 0
    collisions: Collisions | None = None
    draws: Mapping[str, float] | None = None
    rail_bytes: Mapping[int, float] = field(default_factory=dict)
    polarised: Mapping[str, tuple[int, float]] = field(default_factory=dict)  # tier -> links used, expected
    reason: str = ""  # why a plane was skipped, or what replaces missing storage hosts

    @property
    def victims(self) -> tuple[FlowTime, ...]:
        """The flows that others delay, worst first."""
        found = [flow for flow in self.flows if flow.victim]
        return tuple(sorted(found, key=lambda flow: (-(flow.hol_factor or 1e9), flow.src, flow.dst)))


@dataclass(frozen=True, slots=True)
class PacketFlow:
    """A flow of a packet run. `ideal_fct_ns` is its completion under max-min sharing of the same routes; `slowdown` is
    over the flow alone, known for victims only. `fct_ns` is None where it never finished."""

    src: str
    dst: str
    bytes: int
    start_ns: int
    fct_ns: int | None
    ideal_fct_ns: int | None = None
    hol_factor: float | None = None
    slowdown: float | None = None
    victim: bool = False
    priority: int = 3


@dataclass(frozen=True, slots=True)
class Freeze:
    """Paused queues that wait for each other for ever: since when, and the ports (node, peer) around the cycle.
    `over_ns` is when something moved again, which takes a watchdog."""

    time_ns: int
    cycle: tuple[tuple[str, str], ...]
    over_ns: int | None = None


@dataclass(frozen=True, slots=True)
class PfcStorm:
    """What a watchdog called a storm: the paused port (node, peer), detection and, if it came, restoration."""

    port: tuple[str, str]
    priority: int
    detected_ns: int
    restored_ns: int | None


@dataclass(frozen=True, slots=True)
class GroupUse:
    """A priority group of a switch: the port (node, peer) that it belongs to and what it came to. `early_pauses` were
    sent while the queue ahead was still below Kmin, so that nothing had been marked for it."""

    port: tuple[str, str]
    priority: int
    alpha: float
    headroom_bytes: int
    headroom_most_bytes: int
    pauses: int
    early_pauses: int
    drops: int
    lossless: bool


@dataclass(frozen=True, slots=True)
class QueueUse:
    """A queue of a switch: its port (node, peer), the most it held, how long that takes to send, and its marks."""

    port: tuple[str, str]
    priority: int
    most_bytes: int
    most_ns: int
    kmin_bytes: int | None
    marked: int
    drops: int  # what a limit of its own kept out
    lossless: bool


@dataclass(frozen=True, slots=True)
class PauseRoot:
    """The origin of pauses: a port (node, peer) that keeps its switch's groups full and is not paused itself, or a host
    that pauses its switch. `paused_share` is the largest share of the run for which any of the links was paused."""

    port: tuple[str, str]
    kind: TreeKind
    paused_links: int
    paused_share: float


@dataclass(frozen=True)
class PacketsResult:
    """One packet run. `pfc_frames` are (ns, receiving node, 1 pause or 0 resume); `drops` counts packets."""

    name: str
    flows: tuple[PacketFlow, ...]
    pfc_frames: tuple[tuple[int, str, int], ...]
    drops: int
    retransmissions: int
    wire_transmissions: int
    events: int
    max_queue_bytes: int
    simulated_ns: int
    seed: int
    compat: str = ""
    freeze: Freeze | None = None
    storms: tuple[PfcStorm, ...] = ()
    groups: tuple[GroupUse, ...] = ()
    queues: tuple[QueueUse, ...] = ()
    roots: tuple[PauseRoot, ...] = ()
    marked: int = 0
    ecn: bool = False
    pattern: str = ""
    reason: str = ""  # what of the fabric the run leaves out

    @property
    def finished(self) -> int:
        """Flows that came to their end."""
        return sum(flow.fct_ns is not None for flow in self.flows)

    @property
    def dropped(self) -> list[GroupUse | QueueUse]:
        """Where packets were dropped: for want of room in their group, or by the limit of their queue."""
        used: list[GroupUse | QueueUse] = [*self.groups, *self.queues]
        return [one for one in used if one.drops]

    @property
    def collective_ns(self) -> int | None:
        """From the first start to the last completion; None where a flow never finished."""
        ends = [flow.start_ns + flow.fct_ns for flow in self.flows if flow.fct_ns is not None]
        if len(ends) < len(self.flows) or not ends:
            return None
        return max(ends) - min(flow.start_ns for flow in self.flows)


@dataclass(frozen=True, slots=True)
class QueueSeries:
    """A queue's bytes at each time of its series, and where it marks; None where it marks nothing."""

    name: str
    bytes: list[int]
    kmin_bytes: int | None
    kmax_bytes: int | None


@dataclass(frozen=True, slots=True)
class Series:
    """A packet run over time, in ns. `xoff_bytes` is, at each time, where a group of the fullest queue's switch pauses
    its sender. `pauses` are the intervals of each paused port, `rates` each flow's acknowledged payload in Gb/s."""

    name: str
    times_ns: list[int]
    queues: list[QueueSeries]
    xoff_bytes: list[int]
    pauses: dict[str, list[tuple[int, int]]]
    rates: dict[str, list[float]]
