"""Rules on queues and schedulers: every queue in use has a scheduler, by weight if lossless, strict for CNPs."""

from collections import defaultdict
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass, QosTables
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import number
from fabricgen.units import whole_number


@rule("FG551", Severity.ERROR, "A queue in use has no scheduler")
def unscheduled_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: Every queue that a DSCP maps to has a QUEUE row with a scheduler, on every wired port.

    Why: A queue without a scheduler uses the chip's default, which differs between platforms. The shares and priorities
    of the classes then depend on the switches that a packet crosses.

    Example: DSCP 46 maps to TC 5 and queue 5, but QUEUE has no row Ethernet0|5.

    Fix: Add the row with a scheduler.

    Source: sonic-swss orchagent/qosorch.cpp; sonic-buildimage files/build_templates/qos_config.j2.
    """
    for ports in port_classes(fabric):
        if not ports.is_wired or not (ports.lossless or ports.qos.is_lossy):
            continue
        lossless = {ports.queue_of(p): p for p in sorted(ports.lossless)}
        for queue, tc in sorted({**ports.used_queues, **lossless}.items()):
            rest, name = ports.queue_text(queue, "scheduler")
            if not name:
                problem = "no QUEUE row" if name is None else "no scheduler"
                message = f"queue {queue}, which carries TC {tc}, has {problem}"
                field = "" if name is None else "scheduler"
                yield from ports.defects(
                    "QUEUE", rest, field, message, "set scheduler to the one that the other ports use"
                )


LAST_QUEUE = 19  # ten unicast and ten multicast queues: the most that a port of any switch in SONiC's tree has


@rule("FG555", Severity.ERROR, "A QUEUE row for a queue that does not exist")
def impossible_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: QUEUE rows name queues 0 to 19.

    Why: YANG accepts any number here. orchagent does not find the queue at the port and rejects the row, so its
    settings are missing.

    Example: QUEUE|Ethernet0|40.

    Fix: Use a queue that the port has; RoCE, CNPs and control use 0 to 7.

    Source: sonic-swss orchagent/qosorch.cpp (queue index against the port's own queues).
    """
    for ports in port_classes(fabric):
        for rest in ports.rows["QUEUE"]:
            last = rest.rpartition("-")[2]
            if (whole_number(last) or 0) > LAST_QUEUE:
                yield from ports.defects(
                    "QUEUE", rest, "", f"queue {last} does not exist on any port", "use a queue from 0 to 7"
                )


@rule("FG552", Severity.ERROR, "A lossless queue has strict priority")
def strict_lossless(fabric: Fabric) -> Iterator[Defect]:
    """What: Lossless queues share the link by weight (DWRR or WRR).

    Why: RDMA fills a link. A strict RDMA queue starves every lower class, including BGP and CNPs.

    Example: queue 3 with a scheduler of type STRICT.

    Fix: type DWRR with a weight.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (DWRR for queues 3 and 4).
    """
    wanted = {}
    for ports in port_classes(fabric):
        if ports.is_used:
            wanted[ports] = {ports.queue_of(p): f"lossless queue {ports.queue_of(p)}" for p in ports.lossless}
    yield from _wrong_type(wanted, strict=False)


@rule("FG553", Severity.WARNING, "The queue of congestion notifications does not have strict priority")
def cnp_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: The queue of the CNP's class has a scheduler of type STRICT.

    Why: A notification that waits behind data reaches the sender late; meanwhile the congested queue grows.

    Example: CNPs use queue 6, whose scheduler is DWRR with weight 14.

    Fix: Give the queue a scheduler of type STRICT.

    Source: Zhu et al., SIGCOMM 2015; NVIDIA and Broadcom RoCE guides.
    """
    wanted = {}
    for ports in port_classes(fabric):
        plane = ports.qos.plane
        tc = ports.dscp_to_tc.get(plane.cnp_dscp) if plane and plane.cnp_dscp is not None else None
        queue = None if tc is None or tc in ports.lossless else ports.tc_to_queue.get(tc)
        shared = {ports.queue_of(p) for p in ports.lossless}  # FG505 reports a lossy class in a lossless queue
        if queue is not None and queue not in shared and ports.is_wired and tc != ports.dscp_to_tc.get(0):
            wanted[ports] = {queue: f"queue {queue} of CNPs"}
    yield from _wrong_type(wanted, strict=True)


@rule("FG554", Severity.ERROR, "A weighted scheduler has no usable weight")
def weights(fabric: Fabric) -> Iterator[Defect]:
    """What: Schedulers of type DWRR or WRR have a weight of 1 to 100, and every scheduler has a type. Their meter_type
    is bytes (else a warning).

    Why: orchagent accepts weight 0, and the queue then gets no bandwidth. Without a weight the chip uses its default. A
    meter of packets gives a queue of small packets a much smaller share than its weight says.

    Example: scheduler.1 of type DWRR without weight.

    Fix: Set weight.

    Source: Measured with sonic-swss (weight 0 is accepted); sonic-buildimage sonic-scheduler.yang.
    """
    for switch in fabric.switches.values():
        for key, row in switch.device.table("SCHEDULER").items():
            if "type" not in row:
                message = f"{key} has no type"
                yield Defect(switch.place("SCHEDULER", key, "type"), message, "set type to DWRR or STRICT")
            elif row["type"] in ("DWRR", "WRR") and not 1 <= (number(row.get("weight")) or 0) <= 100:
                message = (
                    f"the weight of {key} is {row.get('weight', 'missing')}, its type {row['type']} needs 1 to 100"
                )
                yield Defect(switch.place("SCHEDULER", key, "weight"), message, "set weight to 1 to 100")
            elif row["type"] in ("DWRR", "WRR") and row.get("meter_type") == "packets":
                message = f"{key} counts packets, so the weight is not the share of the link"
                place = switch.place("SCHEDULER", key, "meter_type")
                yield Defect(place, message, "set meter_type to bytes, or remove it", (), Severity.WARNING)


@rule("FG556", Severity.WARNING, "The best-effort queue has strict priority")
def strict_best_effort(fabric: Fabric) -> Iterator[Defect]:
    """What: The queue of DSCP 0 shares the link by weight, on wired ports that have other queues in use.

    Why: A strict best-effort queue is served before all weighted queues, so a backup starves RDMA. With several strict
    queues, the lower numbers starve.

    Example: queue 0 with a scheduler of type STRICT.

    Fix: type DWRR with a weight.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (DWRR for queue 0).
    """
    wanted = {}
    for ports in port_classes(fabric):
        tc = ports.dscp_to_tc.get(0)
        queue = None if tc is None or tc in ports.lossless else ports.tc_to_queue.get(tc)
        shared = {ports.queue_of(p) for p in ports.lossless}
        if queue is not None and queue not in shared and ports.is_wired and len(ports.used_queues) > 1:
            wanted[ports] = {queue: f"queue {queue} of best effort"}
    yield from _wrong_type(wanted, strict=False)


def _wrong_type(wanted: dict[PortClass, dict[int, str]], strict: bool) -> Iterator[Defect]:
    """Queues whose scheduler has the wrong type. If all ports with these definitions use the scheduler for the queue,
    and no weighted queue needs it, the defect is at the scheduler's type, else at the queue."""
    choices: dict[tuple[QosTables, int], set[str | None]] = defaultdict(set)
    for ports, queues in wanted.items():
        for queue in queues:
            choices[ports.qos, queue].add(ports.queue_text(queue, "scheduler")[1])
    reported: set[tuple[QosTables, str]] = set()
    for ports, queues in wanted.items():
        for queue, text in sorted(queues.items()):
            rest, name = ports.queue_text(queue, "scheduler")
            kind = ports.qos.row("SCHEDULER", name or "").get("type")
            if not name or kind is None or (kind == "STRICT") is strict:
                continue
            message = f"{text} has a scheduler of type {kind}"
            hint = "set type to STRICT" if strict else "set type to DWRR, with a weight"
            others = {ports.queue_text(other, "scheduler")[1] for other in ports.used_queues if other != queue}
            needed = others if strict else set()
            if len(choices[ports.qos, queue]) == 1 and name not in needed:
                if (ports.qos, name) not in reported:
                    reported.add((ports.qos, name))
                    yield from ports.qos.defects("SCHEDULER", name, "type", message, hint)
            else:
                related = (("the scheduler", "SCHEDULER", name),)
                yield from ports.defects("QUEUE", rest, "scheduler", message, hint, related)
