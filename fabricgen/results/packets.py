"""The result of a packet simulation."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from fabricgen.results.jobs import JobRun


class Compat(enum.StrEnum):
    """The simulator whose clock and tie rules a run follows."""

    NONE = ""  # exact times
    HPCC = "hpcc"


class PauseKind(enum.StrEnum):
    """Why pauses begin at a port."""

    INCAST = "incast"
    SLOW_RECEIVER = "slow-receiver"


@dataclass(frozen=True, slots=True)
class PacketFlow:
    """A flow of a packet run.

    `ideal_fct_ns` is its completion time under max-min sharing of the same routes. `slowdown` compares with a run of
    the flow alone, and is computed for the worst victims only. `fct_ns` is None if the flow did not finish.
    """

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
    """Paused queues that wait for each other: since when, and the ports (node, peer) of the cycle.

    `over_ns` is when a packet moved again, which takes a watchdog.
    """

    time_ns: int
    cycle: tuple[tuple[str, str], ...]
    over_ns: int | None = None


@dataclass(frozen=True, slots=True)
class PfcStorm:
    """A storm that a watchdog detected at a paused port (node, peer), and its restoration, if there was one."""

    port: tuple[str, str]
    priority: int
    detected_ns: int
    restored_ns: int | None


@dataclass(frozen=True, slots=True)
class GroupUse:
    """A priority group of a port (node, peer) of a switch. `early_pauses` were sent while the egress queue was still
    below Kmin, so no packet had been marked."""

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
    """A queue of a port (node, peer) of a switch: its longest length, the time to send that, and its marks."""

    port: tuple[str, str]
    priority: int
    most_bytes: int
    most_ns: int
    kmin_bytes: int | None
    marked: int
    drops: int  # packets above the limit of the queue
    lossless: bool


@dataclass(frozen=True, slots=True)
class LinkLoss:
    """Packets of a priority that were lost at a port (node, peer) because its link was down."""

    port: tuple[str, str]
    priority: int
    drops: int


@dataclass(frozen=True, slots=True)
class FailurePhase:
    """A part of a run with a failed link: what it is, when it begins and ends, and the acknowledged payload in Gb/s;
    packets that were lost and sent again, pause frames, and the ports that received any."""

    name: str
    from_ns: int
    to_ns: int
    gbps: float
    lost: int = 0
    repeated: int = 0
    pauses: int = 0
    paused_ports: int = 0


@dataclass(frozen=True, slots=True)
class FailureEffect:
    """A link (a port of a switch) that went down during a run. `slower_flows` take longer than in the same run without
    the failure, at most by `most_ns`; `collective_ns_before` is the time of the whole in that run. With `up_at_ns` the
    link came up again."""

    port: tuple[str, str]
    at_ns: int
    routes_at_ns: int
    lost: int  # packets
    slower_flows: int
    most_ns: int
    collective_ns_before: int | None
    up_at_ns: int | None = None
    phases: tuple[FailurePhase, ...] = ()


@dataclass(frozen=True, slots=True)
class PauseRoot:
    """Where pauses begin: a port (node, peer) that fills the groups of its switch and is not paused itself, or a host
    that pauses its switch. `paused_share` is the longest pause time of a link as a share of the run."""

    port: tuple[str, str]
    kind: PauseKind
    paused_links: int
    paused_share: float


@dataclass(frozen=True, slots=True)
class DrawSpread:
    """A percentile of completion times over several draws: the median of the draws in ns, and an interval that contains
    the true median with a confidence."""

    name: str
    median_ns: int
    low_ns: int
    high_ns: int
    confidence: float


@dataclass(frozen=True)
class PacketsResult:
    """One packet run. `pfc_frames` are (ns, receiving node, 1 pause or 0 resume). `drops` counts packets: those of full
    groups, of limits of queues, of dead links (`lost`) and of the watchdog (`discarded`)."""

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
    compat: Compat = Compat.NONE
    freeze: Freeze | None = None
    storms: tuple[PfcStorm, ...] = ()
    groups: tuple[GroupUse, ...] = ()
    queues: tuple[QueueUse, ...] = ()
    roots: tuple[PauseRoot, ...] = ()
    lost: tuple[LinkLoss, ...] = ()
    discarded: int = 0
    credit_waits: int | None = None  # how often a lane ran out of credits; None with PFC
    marked: int = 0
    ecn: bool = False
    trimmed: int = 0  # packets that switches cut instead of dropping them
    balance: str = "ecmp"  # how switches select among equal next hops
    pattern: str = ""
    reason: str = ""  # what the run does not include
    seeds: tuple[int, ...] = ()  # of all draws, if there are several; other values are those of the first one
    spread: tuple[DrawSpread, ...] = ()
    jobs: tuple[JobRun, ...] = ()  # of a jobs file
    failure: FailureEffect | None = None  # of a link that went down by request

    @property
    def finished(self) -> int:
        """The number of flows that finished."""
        return sum(flow.fct_ns is not None for flow in self.flows)

    @property
    def percentiles(self) -> tuple[int | None, int | None, int | None]:
        """p50, p99 and p99.9 of the completion times."""
        return percentiles(self.flows)

    @property
    def dropped(self) -> list[GroupUse | QueueUse]:
        """Where packets were dropped: a full group, or the limit of a queue."""
        used: list[GroupUse | QueueUse] = [*self.groups, *self.queues]
        return [one for one in used if one.drops]

    @property
    def collective_ns(self) -> int | None:
        """From the first start to the last completion; None if a flow did not finish."""
        ends = [flow.start_ns + flow.fct_ns for flow in self.flows if flow.fct_ns is not None]
        if len(ends) < len(self.flows) or not ends:
            return None
        return max(ends) - min(flow.start_ns for flow in self.flows)


def percentiles(flows: Sequence[PacketFlow]) -> tuple[int | None, int | None, int | None]:
    """p50, p99 and p99.9 of the completion times by nearest rank; None if no flow finished."""
    times = sorted(flow.fct_ns for flow in flows if flow.fct_ns is not None)
    if not times:
        return None, None, None
    p50, p99, p999 = (times[-(-len(times) * per_mille // 1000) - 1] for per_mille in (500, 990, 999))
    return p50, p99, p999


@dataclass(frozen=True, slots=True)
class QueueSeries:
    """The bytes in a queue at each time of a series, and its marking thresholds; None if it does not mark."""

    name: str
    bytes: list[int]
    kmin_bytes: int | None
    kmax_bytes: int | None


@dataclass(frozen=True, slots=True)
class Series:
    """A packet run over time, in ns.

    `xoff_bytes` is, at each time, the level at which a group of the switch of the fullest queue pauses its sender.
    `pauses` are the intervals of each paused port. `rates` are the acknowledged payload of each flow in Gb/s.
    """

    name: str
    times_ns: list[int]
    queues: list[QueueSeries]
    xoff_bytes: list[int]
    pauses: dict[str, list[tuple[int, int]]]
    rates: dict[str, list[float]]
