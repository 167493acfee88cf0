"""The queues of one switch: the one reader of WRED_PROFILE, SCHEDULER and PFC_WD."""

from collections.abc import Callable

from fabricgen.bundle.read import ObservedDevice
from fabricgen.simulate.plane.buffers import number
from fabricgen.simulate.scenario import Ecn, WatchdogTimers
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.port_qos import PRIORITIES, PortQos
from fabricgen.sonic.references import reference_name
from fabricgen.sonic.tables import Row, parse_priorities
from fabricgen.vocabulary import WatchdogAction

_NS_PER_MS = 1_000_000
_POLL_MS = 100  # of pfcwdorch if PFC_WD|GLOBAL has no POLL_INTERVAL
_LARGEST_BYTES = (1 << 30) - 1  # of a threshold


class QueueTables:
    """The tables that the queues of one switch refer to."""

    def __init__(self, device: ObservedDevice) -> None:
        self._row: Callable[[str, str], Row] = device.row

    def marking(self, qos: PortQos, queue: int) -> Ecn | None:
        """The WRED marking of a queue; None if it does not mark."""
        return _marking(self._row("WRED_PROFILE", qos.queue_text(queue, "wred_profile")[1] or ""))

    def scheduling(self, qos: PortQos, queue: int) -> tuple[bool, int]:
        """(whether a queue is strict, its DWRR weight); weight 1 without a scheduler."""
        row = self._row("SCHEDULER", qos.queue_text(queue, "scheduler")[1] or "")
        return text(row, "type") == "STRICT", max(1, number(row, "weight"))

    def watchdog(self, qos: PortQos, queue: int) -> WatchdogTimers | None:
        """The PFC watchdog of a queue; None if it does not watch the queue. Its times are multiples of 1 ms."""
        row = qos.rows["PFC_WD"].get("", {})
        detection = number(row, "detection_time")
        watched = qos.watchdog if "pfcwd_sw_enable" in qos.port_map else qos.pfc
        if not detection or queue not in watched:
            return None
        action = text(row, "action")
        return WatchdogTimers(
            detection_ns=detection * _NS_PER_MS,
            restoration_ns=number(row, "restoration_time") * _NS_PER_MS,
            poll_ns=(number(self._row("PFC_WD", "GLOBAL"), "POLL_INTERVAL") or _POLL_MS) * _NS_PER_MS,
            action=WatchdogAction(action) if action in list(WatchdogAction) else WatchdogAction.DROP,
        )


def marks(device: ObservedDevice) -> bool:
    """Whether any queue of a switch marks with ECN."""
    profiles = {name for name, row in rows(device.config, "WRED_PROFILE").items() if _marking(row)}
    queues = rows(device.config, "QUEUE").values()
    return any(reference_name(text(row, "wred_profile")) in profiles for row in queues)


def pfc_priorities(device: ObservedDevice) -> frozenset[int]:
    """The priorities of pfc_enable of all ports."""
    enabled = (parse_priorities(text(row, "pfc_enable")) for row in rows(device.config, "PORT_QOS_MAP").values())
    return frozenset(range(PRIORITIES)).intersection(frozenset().union(*enabled))


def _marking(row: Row) -> Ecn | None:
    """The marking of green packets, which RoCE packets are."""
    mode = text(row, "ecn")
    if mode != "ecn_all" and "green" not in mode:
        return None
    kmin, kmax = (min(number(row, f"green_{end}_threshold"), _LARGEST_BYTES) for end in ("min", "max"))
    return Ecn(kmin, max(kmin, kmax), number(row, "green_drop_probability") / 100)
