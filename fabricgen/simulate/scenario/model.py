"""The parts of a scenario. Times are in ns, sizes in bytes, speeds in Gb/s.

A link joins two nodes; each direction of it is a separate port.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fabricgen.physics import MOST_QUANTA
from fabricgen.results import Compat
from fabricgen.simulate.scenario.balance import Balance, TrimSettings
from fabricgen.simulate.scenario.buffers import Scheduler, SwitchBuffers
from fabricgen.vocabulary import BalanceMode, Recovery


class NodeKind(enum.StrEnum):
    """What a node of a scenario is."""

    HOST = "host"
    SWITCH = "switch"


class CongestionControl(enum.StrEnum):
    """What slows a sender down, apart from PFC."""

    NONE = "none"
    DCQCN = "dcqcn"


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
    recovery: Recovery = Recovery.GO_BACK_N  # of hosts without their own
    window_packets: int = 1024  # at most so many from the first unacknowledged packet on, unless the sender goes back

    @property
    def packet_bytes(self) -> int:
        """A full packet on the wire."""
        return self.payload_bytes + self.header_bytes


@dataclass(frozen=True, slots=True)
class ScenarioNode:
    """A host, or a switch with its buffer."""

    name: str
    kind: NodeKind
    buffers: SwitchBuffers | None = None
    drain_gbps: float = 0  # the speed at which a slow host receives; 0: line rate
    receive_buffer_bytes: int = 65_536  # a slow host pauses its switch above this
    recovery: Recovery | None = None  # of a host; None: that of the transport


@dataclass(frozen=True, slots=True)
class ScenarioLink:
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


# The next hops of a switch for a destination, with weights: the nodes there, or the numbers of its ports.
Hops = tuple[tuple[str | int, int], ...]


@dataclass(frozen=True, slots=True)
class LinkFailure:
    """A link that goes down, and the routes that change at that time, or later. With `up_at_ns` it comes up again, and
    from `routes_back_at_ns` on the routes are those of the scenario."""

    a: str
    b: str
    at_ns: int
    routes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    groups: Mapping[tuple[str, str], Hops] = field(default_factory=dict)  # as those of the scenario
    routes_at_ns: int | None = None  # None: at_ns
    port: int | None = None  # a port of the link, by number; None: the first link of these nodes
    up_at_ns: int | None = None
    routes_back_at_ns: int | None = None  # None: up_at_ns


@dataclass(frozen=True)
class Scenario:
    """A scenario. `routes` maps (switch, host) to the next node, `groups` to several equal next hops. Hosts with the
    same next hops may have a common name in `goals`, which then stands for each of them in `groups`."""

    name: str
    nodes: tuple[ScenarioNode, ...]
    links: tuple[ScenarioLink, ...]
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
    balance: Balance = field(default_factory=Balance)
    trimming: TrimSettings | None = None
    groups: Mapping[tuple[str, str], Hops] = field(default_factory=dict)
    goals: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_spread(self) -> bool:
        """Whether switches select among next hops during the run; else each flow has one path from the start."""
        selects = self.groups or any(one.groups for one in self.failures)
        return self.balance.mode is not BalanceMode.ECMP or bool(selects)

    @cached_property
    def port_ranks(self) -> list[int]:
        """The place of each port, 2l and 2l + 1 of link l, in the order of the names of its node, of the port, and of
        the far end."""
        return places(
            [
                names
                for link in self.links
                for names in (
                    (link.a, link.a_port, link.b, link.b_port),
                    (link.b, link.b_port, link.a, link.a_port),
                )
            ]
        )

    @cached_property
    def flow_ranks(self) -> list[int]:
        """The place of each flow in the order of its ends, priority, start and size: equal ones are
        interchangeable."""
        return places(
            [(flow.src, flow.dst, flow.priority, flow.start_ns, flow.bytes, flow.path) for flow in self.flows]
        )

    @cached_property
    def recoveries(self) -> list[Recovery]:
        """How each flow recovers from losses: the weaker way of both ends."""
        order = list(Recovery)
        of = {node.name: node.recovery or self.transport.recovery for node in self.nodes}
        return [min(of[flow.src], of[flow.dst], key=order.index) for flow in self.flows]

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
        own = {self.response_priority, self.trimming.priority if self.trimming else None}
        return sorted({*self.priorities, *(one for one in own if one is not None)})

    def is_implicit(self, priority: int) -> bool:
        """Whether only CNPs, ACKs and trimmed packets have a priority, and the scenario does not define its class."""
        return priority not in self.priorities and all(one.priority != priority for one in self.classes)

    def traffic_class(self, priority: int) -> TrafficClass:
        """The traffic class of a priority. A class that the scenario does not define is lossless; if only CNPs and ACKs
        use it, it is lossy and strict."""
        implicit = TrafficClass(priority, lossless=False, scheduler=Scheduler.STRICT)
        default = implicit if self.is_implicit(priority) else TrafficClass(priority)
        return next((one for one in self.classes if one.priority == priority), default)


def places(keys: Sequence[tuple[Any, ...]]) -> list[int]:
    """The place of each key in their order."""
    found = [0] * len(keys)
    for place, index in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        found[index] = place
    return found
