"""The buffer of a switch in a scenario: groups, queues, marking and the watchdog. Times are in ns, sizes in bytes."""

import enum
from dataclasses import dataclass

from fabricgen.vocabulary import WatchdogAction


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
class WatchdogTimers:
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
    watchdog: WatchdogTimers | None = None
    ingress_pool_bytes: int = 0  # shared by the groups of `ingress_pool`, without reserve and headroom; 0: the buffer
    ingress_pool: str = ""  # name of the pool: a switch may have several
    cell_bytes: int = 0  # a packet without its gap on the wire takes whole cells; 0: its bytes on the wire
    egress_pool_bytes: int = 0  # shared by the queues; 0: only the groups limit a queue
    egress_alpha: float = 0  # of a queue: its share of the free egress pool; 0: `egress_static_bytes` applies
    egress_static_bytes: int = 0  # 0: the whole pool
    egress_reserve_bytes: int = 0  # reserved for a queue, before it uses the pool
    egress_pool: str = ""  # name of the pool: a switch may have several
    trims: bool = False  # trims packets that do not fit, instead of dropping them
    scheduler: Scheduler | None = None  # of a queue, with `weight`; None: the scheduler of its traffic class
    weight: int = 1
