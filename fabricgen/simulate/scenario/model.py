"""The parts of a scenario. Times are in ns, sizes in bytes, speeds in Gb/s.

A link joins two nodes; each direction of it is a separate port.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fabricgen.physics import MOST_QUANTA
from fabricgen.results import Compat
from fabricgen.vocabulary import WatchdogAction


class NodeKind(enum.StrEnum):
    """What a node of a scenario is."""

    HOST = "host"
    SWITCH = "switch"


class CongestionControl(enum.StrEnum):
    """What slows a sender down, apart from PFC."""

    NONE = "none"
    DCQCN = "dcqcn"


class Scheduler(enum.StrEnum):
    """How a port serves a queue."""

    DWRR = "dwrr"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Ecn:
    """WRED marking of a queue: the probability is 0 up to Kmin, rises to Pmax at Kmax, and is 1 above."""

    kmin_bytes: int
    kmax_bytes: int
    pmax: float


@dataclass(frozen=True, slots=True)
class Watchdog:
    """The PFC watchdog of a switch. It checks every queue once per poll. It detects a storm when a queue was paused and
    sent nothing for the detection time, and ends the storm when no pause frame arrived for the restoration time."""

    detection_ns: int
    restoration_ns: int
    poll_ns: int
    action: WatchdogAction = WatchdogAction.DROP


@dataclass(frozen=True, slots=True)
class SwitchBuffers:
    """The buffer of a switch, or the settings of one of its ports. All ports share the buffer, except the reserve and
    headroom of each priority group. A group pauses its sender at `alpha` times the free buffer, and resumes it
    `xon_offset_bytes` below that."""

    buffer_bytes: int
    pg_reserve_bytes: int
    pg_headroom_bytes: int
    alpha: float
    xon_offset_bytes: int
    ecn: Ecn | None = None
    xon_bytes: int = 0
    headroom_pool_bytes: int = 0  # shared by all groups; 0: each group has its own `pg_headroom_bytes`
    static_threshold_bytes: int = 0  # replaces alpha; 0: alpha applies
    pfc: bool = True
    watchdog: Watchdog | None = None
    ingress_pool_bytes: int = 0  # shared by the groups of `ingress_pool`, without reserve and headroom; 0: the buffer
    ingress_pool: str = ""  # name of the pool: a switch may have several
    cell_bytes: int = 0  # a packet without its gap on the wire takes whole cells; 0: its bytes on the wire
    egress_pool_bytes: int = 0  # shared by the queues; 0: only the groups limit a queue
    egress_alpha: float = 0  # of a queue: its share of the free egress pool; 0: `egress_static_bytes` applies
    egress_static_bytes: int = 0  # 0: the whole pool
    egress_reserve_bytes: int = 0  # reserved for a queue, before it uses the pool
    egress_pool: str = ""  # name of the pool: a switch may have several
    scheduler: Scheduler | None = None  # of a queue, with `weight`; None: the scheduler of its traffic class
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Dcqcn:
    """The sender's side of DCQCN, in the terms of its paper (Zhu et al., SIGCOMM 2015)."""

    g: float
    alpha_timer_ns: int
    rate_decrease_interval_ns: int
    increase_timer_ns: int
    fast_recovery_times: int
    rate_ai_mbps: float
    rate_hai_mbps: float
    min_rate_mbps: float
    byte_counter_bytes: int = 0  # 0: the rate increases by time only
    cnp_interval_ns: int = 0  # minimum time between two notifications of a flow


@dataclass(frozen=True, slots=True)
class Transport:
    """What the hosts send. `dcqcn` is None where only PFC slows a sender down."""

    payload_bytes: int
    header_bytes: int
    ack_bytes: int
    pfc_frame_bytes: int
    ack_lossless: bool
    congestion_control: CongestionControl
    dcqcn: Dcqcn | None = None
    retransmission_timeout_ns: int | None = None  # 0: never; None: 1 ms, and never with compat hpcc
    cnp_priority: int = 6  # also of ACKs that are not `ack_lossless`; not with compat hpcc

    @property
    def packet_bytes(self) -> int:
        """A full packet on the wire."""
        return self.payload_bytes + self.header_bytes


@dataclass(frozen=True, slots=True)
class Node:
    """A host, or a switch with its buffer."""

    name: str
    kind: NodeKind
    buffers: SwitchBuffers | None = None
    drain_gbps: float = 0  # the speed at which a slow host receives; 0: line rate
    receive_buffer_bytes: int = 65_536  # a slow host pauses its switch above this


@dataclass(frozen=True, slots=True)
class Link:
    """A cable between two nodes. `a_buffers` and `b_buffers` are the settings of the port at that end, None: those of
    its switch. `a_classes` and `b_classes` are the settings by priority, where they differ from that."""

    a: str
    b: str
    speed_gbps: float
    delay_ns: int
    a_buffers: SwitchBuffers | None = None
    b_buffers: SwitchBuffers | None = None
    a_port: str = ""  # names of the ports, where nodes have names for them
    b_port: str = ""
    response_ns: int | None = None  # replaces that of `pfc`
    a_classes: Mapping[int, SwitchBuffers] = field(default_factory=dict)
    b_classes: Mapping[int, SwitchBuffers] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Flow:
    """One message from host to host. `bytes` counts payload."""

    src: str
    dst: str
    bytes: int
    start_ns: int = 0
    priority: int = 3
    path: tuple[int, ...] = ()  # replaces the routes: ports, 2l from a to b of link l and 2l + 1 back, the NIC's first


@dataclass(frozen=True, slots=True)
class TrafficClass:
    """A priority: whether it is lossless, and its scheduler. Strict classes send first, the others share by weight."""

    priority: int
    lossless: bool = True
    scheduler: Scheduler = Scheduler.DWRR
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Pfc:
    """Pause frames: how long a pause lasts in quanta of 512 bit times (0: until resumed), how often it is repeated (0:
    after half of its time), and how long the peer takes to obey."""

    pause_quanta: int = MOST_QUANTA
    refresh_ns: int = 0
    response_ns: int = 0


@dataclass(frozen=True, slots=True)
class Credits:
    """The flow control of InfiniBand, in place of pauses: a port sends while the buffer of its virtual lane at the far
    end, `buffer_bytes` for each port and class, has room for a full packet. Credits are sent `return_ns` after the
    buffer is free."""

    buffer_bytes: int
    return_ns: int = 0

    @property
    def buffers(self) -> SwitchBuffers:
        """The buffer of each port of a switch, which pauses nothing and never overflows."""
        return SwitchBuffers(
            self.buffer_bytes, 0, 0, 1.0, 0, static_threshold_bytes=self.buffer_bytes, pfc=False
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PauseStorm:
    """A broken NIC that pauses its switch from one time to another."""

    host: str
    at_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class LinkFailure:
    """A link that goes down, and the routes that change at that time."""

    a: str
    b: str
    at_ns: int
    routes: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """A scenario. `routes` maps (switch, host) to the next node."""

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    routes: Mapping[tuple[str, str], str]
    transport: Transport
    stop_ns: int
    compat: Compat = Compat.NONE
    description: str = ""
    classes: tuple[TrafficClass, ...] = ()
    pfc: Pfc = Pfc()
    credits: Credits | None = None  # InfiniBand; None: PFC
    storms: tuple[PauseStorm, ...] = ()
    failures: tuple[LinkFailure, ...] = ()

    @cached_property
    def priorities(self) -> list[int]:
        """The priorities of the flows, in order."""
        return sorted({flow.priority for flow in self.flows})

    @property
    def response_priority(self) -> int | None:
        """The priority of CNPs, and of ACKs that do not travel in the class of their flow. None if a run has neither,
        and with compat hpcc, where ACKs carry the notifications and wait in no class."""
        separate = self.transport.congestion_control is CongestionControl.DCQCN or not self.transport.ack_lossless
        return self.transport.cnp_priority if separate and self.compat is Compat.NONE else None

    @property
    def carried_priorities(self) -> list[int]:
        """The priorities of all packets, in order."""
        own = self.response_priority
        return self.priorities if own is None else sorted({*self.priorities, own})

    def is_implicit(self, priority: int) -> bool:
        """Whether only CNPs and ACKs have a priority, and the scenario does not define its class."""
        return priority not in self.priorities and all(one.priority != priority for one in self.classes)

    def traffic_class(self, priority: int) -> TrafficClass:
        """The traffic class of a priority. A class that the scenario does not define is lossless; if only CNPs and ACKs
        use it, it is lossy and strict."""
        implicit = TrafficClass(priority, lossless=False, scheduler=Scheduler.STRICT)
        default = implicit if self.is_implicit(priority) else TrafficClass(priority)
        return next((one for one in self.classes if one.priority == priority), default)
