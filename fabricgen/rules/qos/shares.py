"""Rules on what the schedulers leave for lossless traffic: its weight, and no rate below the link's."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass, QosTables
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import number
from fabricgen.sonic.tables import Row
from fabricgen.units import format_speed

_BITS = 8
_LEAST_SHARE_OF_CNPS = 0.001  # notifications are 64 bytes, at most one in 50 us for each flow (DCQCN)


@rule("FG557", Severity.WARNING, "A lossless queue has a smaller weight than a lossy one")
def small_share(fabric: Fabric) -> Iterator[Defect]:
    """What: No lossy queue that a DSCP maps to, except that of CNPs, has a larger weight than a lossless queue of the
    port. If the file has schedulers of several weights, a lossless queue and such a lossy queue do not have the same.

    Why: When both have traffic, RDMA gets the smaller share of the link. Its queue fills, and pauses spread through the
    fabric because of a backup that has no need for speed.

    Example: The scheduler of queue 3 has weight 5, that of best effort 40: the two are swapped.

    Fix: Give the lossless queues the larger weight.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (15 for lossless queues, 14 for lossy ones); sonic-swss
    orchagent/qosorch.cpp (the weight is the share).
    """
    reported: set[tuple[QosTables, str]] = set()
    for ports in port_classes(fabric):
        if not ports.is_wired or not ports.lossless:
            continue
        lossless = {ports.queue_of(priority) for priority in ports.lossless}
        others = sorted(ports.used_queues.keys() - lossless - {_queue_of_cnps(ports)})
        lossy = [one for queue in others if (one := _scheduler(ports, queue))]
        for queue in sorted(lossless):
            own = _scheduler(ports, queue)
            if own is None:
                continue
            rest, name, weight = own
            larger = [(other, theirs) for _, other, theirs in lossy if theirs > weight]
            sharing = [(theirs_rest, other) for theirs_rest, other, _ in lossy if other == name]
            apart = _other_weights(ports, name)
            if larger and (ports.qos, name) not in reported:
                reported.add((ports.qos, name))
                other, theirs = larger[0]
                message = f"the weight of {name}, which lossless queues use, is {weight}, but {other} has {theirs}"
                related = (("the scheduler of a lossy queue", "SCHEDULER", other),)
                hint = "give the scheduler of the lossless queues the larger weight"
                yield from ports.qos.defects("SCHEDULER", name, "weight", message, hint, related)
            elif sharing and apart:
                other, theirs = apart[-1] if apart[-1][1] > weight else apart[0]
                related = (("the other scheduler", "SCHEDULER", other),)
                message = f"lossless queue {queue} and a lossy queue have one scheduler, {name}"
                place = rest if theirs > weight else sharing[0][0]
                yield from ports.defects("QUEUE", place, "scheduler", message, f"set scheduler to {other}", related)
                break


def _other_weights(ports: PortClass, name: str) -> list[tuple[str, int]]:
    """The other schedulers with a weight, the smallest first."""
    weights = {
        other: number(ports.qos.row("SCHEDULER", other).get("weight")) for other in ports.qos.tables["SCHEDULER"]
    }
    own = weights.pop(name, None)
    return sorted(((other, one) for other, one in weights.items() if one and one != own), key=lambda pair: pair[1])


def _queue_of_cnps(ports: PortClass) -> int | None:
    """The queue of congestion notifications, which FG553 judges; None if it is not known."""
    plane = ports.qos.plane
    tc = ports.dscp_to_tc.get(plane.cnp_dscp) if plane and plane.cnp_dscp is not None else None
    return None if tc is None else ports.tc_to_queue.get(tc)


def _scheduler(ports: PortClass, queue: int) -> tuple[str, str, int] | None:
    """(rest of the QUEUE key, scheduler, weight) of a queue that shares the link by weight; None for another queue."""
    rest, name = ports.queue_text(queue, "scheduler")
    row = ports.qos.row("SCHEDULER", name or "")
    weight = number(row.get("weight"))
    return (rest, name, weight) if name and weight and row.get("type") != "STRICT" else None


@rule("FG558", Severity.WARNING, "A scheduler limits the rate of a lossless queue")
def limited_rate(fabric: Fabric) -> Iterator[Defect]:
    """What: The scheduler of a lossless queue has no pir below the speed of the port. The scheduler of the queue for
    CNPs has no pir below a thousandth of it.

    Why: pir is in bytes per second, or packets per second by meter_type. A limit on lossless traffic never drops: it
    fills the queue and pauses everything that leads to it. A limit that starves CNPs stops rate control.

    Example: pir 400000, meant as Mb/s, lets 3.2 Mb/s through.

    Fix: Remove pir, or set it in bytes per second.

    Source: sonic-buildimage sonic-scheduler.yang (pir in bytes or packets per second); sonic-swss
    orchagent/qosorch.cpp.
    """
    reported: set[tuple[QosTables, str]] = set()
    for ports in port_classes(fabric):
        cnps = _queue_of_cnps(ports) if ports.lossless else None
        lossless = {ports.queue_of(priority) for priority in ports.lossless}
        for queue in sorted({*lossless, *(() if cnps is None else (cnps,))}) if ports.is_wired else ():
            name = ports.queue_text(queue, "scheduler")[1] or ""
            limit_mbps = _limit_mbps(ports.qos.row("SCHEDULER", name))
            if limit_mbps is None or (ports.qos, name) in reported:
                continue
            speed = max((switch.speed_mbps(port) or 0 for switch, port, _ in ports.members), default=0)
            if limit_mbps >= (speed if queue in lossless else speed * _LEAST_SHARE_OF_CNPS):
                continue
            reported.add((ports.qos, name))
            what = f"lossless queue {queue}" if queue in lossless else f"queue {queue} of CNPs"
            message = f"pir of {name} limits {what} to {limit_mbps:g} Mb/s, but the port has {format_speed(speed)}"
            yield from ports.qos.defects("SCHEDULER", name, "pir", message, "remove pir; its unit is bytes per second")


@rule("FG550", Severity.WARNING, "A scheduler limits the rate of a port with lossless classes")
def limited_port(fabric: Fabric) -> Iterator[Defect]:
    """What: The scheduler that PORT_QOS_MAP names for a port with lossless priorities has no pir below the speed of the
    port.

    Why: It shapes the whole port. The limit fills the lossless queues, and their pauses spread to all senders, although
    the link itself is not full.

    Example: PORT_QOS_MAP|Ethernet0 has scheduler port_shaper with pir 1250000000, which is 10G.

    Fix: Remove scheduler from the row of the port, or pir from the scheduler.

    Source: sonic-swss orchagent/qosorch.cpp (handlePortQosMapTable: SAI_PORT_ATTR_QOS_SCHEDULER_PROFILE_ID).
    """
    for ports in port_classes(fabric):
        name = ports.map_name("scheduler") if ports.lossless and ports.is_wired else ""
        limit_mbps = _limit_mbps(ports.qos.row("SCHEDULER", name)) if name else None
        speed = max((switch.speed_mbps(port) or 0 for switch, port, _ in ports.members), default=0)
        if limit_mbps is not None and limit_mbps < speed:
            message = (
                f"{name} limits the port to {limit_mbps:g} Mb/s, but it has {format_speed(speed)} and lossless classes"
            )
            related = (("the scheduler", "SCHEDULER", name),)
            yield from ports.defects("PORT_QOS_MAP", "", "scheduler", message, "remove scheduler", related)


def _limit_mbps(row: Row) -> float | None:
    pir = number(row.get("pir"))
    return pir * _BITS / 1e6 if pir and row.get("meter_type") != "packets" else None
