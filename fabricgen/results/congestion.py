"""The result of the congestion analysis."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricgen.results.bandwidth import OutageResult, SizeTable
from fabricgen.results.jobs import JobsResult


class CongestionModel(enum.StrEnum):
    """How a plane was computed."""

    IDLE = "idle"  # no flow can wait for another
    FINITE = "finite"  # until the last flow ends
    STEADY = "steady"  # the rates at which the flows settle
    DENSE = "dense"  # steady rates of so many flows that they are computed by matrices
    SHARED = "shared"  # jobs with too many flows: fair sharing only, no pauses are followed
    SKIPPED = "skipped"  # not at all; `reason` says why


class TreeKind(enum.StrEnum):
    """Why a port is the root of a congestion tree."""

    INCAST = "incast"
    COLLISION = "collision"
    SLOW_RECEIVER = "slow-receiver"
    UNFAIR_SHARE = "unfair-share"  # it pauses no port: its flows share it in another way than ideally


class VictimLabel(enum.StrEnum):
    """Why a flow is a victim."""

    NONE = ""  # it is not a victim, or the reason is not known
    OFF_PATH = "off-path"  # no port of its path is a root
    UNFAIR_SHARE = "unfair-share"  # its share of a root, or of its NIC, is too small
    LATE_ACK = "late-ack"  # its data is in time, its last acknowledgement waits behind data of other flows


@dataclass(frozen=True, slots=True)
class FlowTime:
    """The completion time of a flow under PFC and under ideal max-min sharing of the same routes.

    The HoL factor is their ratio. `fct_ns` is None if the flow never ends. `count` equal flows have this one row.
    """

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
    """A saturated port (the root) and the ports that it pauses, directly or through other ports.

    `depth` is the number of links from the root to the farthest of `channels` paused ports. `links` are pairs (paused
    port, the port that it waits for); if there are many, only some of them. A root of round 2 is one when the flows of
    all roots of round 1 are gone, and so on; its `victims` are those of that round. With 0 channels it delays only the
    flows that cross it, which share it unfairly.
    """

    root: tuple[str, str]
    kind: TreeKind
    depth: int
    channels: int
    victims: int
    links: tuple[tuple[tuple[str, str], tuple[str, str]], ...] = ()
    round: int = 1


@dataclass(frozen=True, slots=True)
class Oversubscription:
    """A tier whose downlinks are faster than its uplinks by `ratio`; for one rail if leaves have rails."""

    tier: str
    ratio: float
    rail: int | None = None
    device: str = ""  # the device with the worst ratio


@dataclass(frozen=True, slots=True)
class Collisions:
    """Flows that a hash spreads over the links of one switch: `flows` over `links`, at each of `groups` equal switches.

    `expected` is the exact mean of the number of flows on the fullest link of all groups, `drawn` that of this draw.
    """

    flows: int
    links: int
    groups: int
    expected: float
    drawn: int


@dataclass(frozen=True, slots=True)
class SwitchLoad:
    """The load of the `ports` of a device towards a tier, over their capacity: the mean and the highest.

    `toward` is the role of the far end: leaf, spine, core, host, or "" where it is not known.
    """

    device: str
    toward: str
    ports: int
    mean: float
    max: float


@dataclass(frozen=True, slots=True)
class TierLoad:
    """The load of the `ports` of all switches of a tier towards a tier, as `SwitchLoad`."""

    tier: str
    toward: str
    ports: int
    mean: float
    max: float


@dataclass(frozen=True, slots=True)
class LinkFairness:
    """How evenly the `switches` of a tier load their parallel links towards a tier: mean and worst over the switches
    and over `draws` of hashes.

    `jfi` is Jain's fairness index (sum of loads)^2 / (n * sum of squares), from 1/n to 1; `mmr` is the highest load
    over the mean. `links` are those of one switch, downwards those to one other switch. `flows` are pairs (flows over
    the links of a switch, how many switches in all draws have so many); it is empty where packets spread. Source:
    draft-calabria-bmwg-ai-fabric-training-bench, secondary KPIs and section "Jain Fairness Index Measurement".
    """

    tier: str
    toward: str
    switches: int
    links: int
    jfi: float
    jfi_least: float
    mmr: float
    mmr_highest: float
    draws: int = 1
    flows: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Spreading:
    """How packets of a flow spread over paths: its short name, and what the model has of it and leaves out.

    With `by_hosts` these choose among lists of uSIDs; else it is a mode of switches that their files do not contain.
    """

    name: str
    model: str
    by_hosts: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.model}"


@dataclass(frozen=True)
class CongestionResult:
    """One plane (or scenario) under one pattern.

    `max_load` is the highest load of a link over its capacity if every sender sends at line rate and load is spread
    ideally; `drawn_load` is the same with hashed paths. `links` counts cables, including those to hosts. With `ecn`,
    rates converge to the ideal ones, and pauses are transient. `lost` flows have no route, `unfinished` flows do not
    end, and `unsettled` flows do not reach a steady rate within the simulated time.
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
    pairs: int = 0  # of adapters between which the pattern sends
    blocked: int = 0  # of them by VRFs or ACLs; nothing is sent between these
    unfinished: int = 0
    unsettled: int = 0
    unexplained: int = 0  # victims without a root when the flows of all roots are gone
    collisions: Collisions | None = None
    draws: Mapping[str, float] | None = None
    rail_bytes: Mapping[int, float] = field(default_factory=dict)
    polarised: Mapping[str, tuple[int, float]] = field(default_factory=dict)  # tier -> links used, expected
    loads: tuple[SwitchLoad, ...] = ()  # with the drawn paths; without hosts' own ports
    tier_loads: tuple[TierLoad, ...] = ()
    fairness: tuple[LinkFairness, ...] = ()  # of links between switches that have load, if a hash is drawn or none acts
    link_loads: tuple[tuple[str, str, float], ...] = ()  # (node, port, load) of ports with load, where it is wanted
    balance: Spreading | None = None  # None: by a hash
    repeating: str = ""  # the NICs for which packets that overtake each other are lost packets
    reason: str = ""  # why a plane was skipped, or which defaults were assumed
    is_for_others: bool = False  # skipped because the pattern runs on other planes
    failures: tuple[OutageResult, ...] = ()  # one for each number of failures
    sizes: tuple[SizeTable, ...] = ()
    jobs: JobsResult | None = None  # with a jobs file

    @property
    def victims(self) -> tuple[FlowTime, ...]:
        """The flows that other flows delay, worst first."""
        found = [flow for flow in self.flows if flow.victim]
        return tuple(sorted(found, key=lambda flow: (-(flow.hol_factor or 1e9), flow.src, flow.dst)))
