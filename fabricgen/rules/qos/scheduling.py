"""Queues and schedulers: every queue in use is scheduled, lossless ones by weight, CNPs first."""

from collections import defaultdict
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric, number
from fabricgen.rules.view.qos import PortClass
from fabricgen.rules.view.qos_classes import port_classes


@rule("FG551", Severity.ERROR, "A queue in use has no scheduler")
def unscheduled_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: every queue that some DSCP leads to has a QUEUE row with a scheduler, on every wired port.

    Why: a queue without one keeps the chip's default, which is another on every platform: shares and priorities of the
    classes then depend on the switch a packet happens to cross.

    Example: DSCP 46 leads to TC 5 and queue 5, QUEUE has no row Ethernet0|5.

    Fix: add the row with a scheduler.

    Source: sonic-swss orchagent/qosorch.cpp; sonic-buildimage files/build_templates/qos_config.j2.
    """
    for ports in port_classes(fabric):
        if not ports.is_wired or not (ports.meant or ports.qos.is_lossy):
            continue
        lossless = {ports.queue_of(p): p for p in sorted(ports.meant)}
        for queue, tc in sorted({**ports.used_queues, **lossless}.items()):
            rest, name = ports.queue_text(queue, "scheduler")
            if not name:
                problem = "no QUEUE row" if name is None else "no scheduler"
                message = f"queue {queue}, which carries TC {tc}, has {problem}"
                field = "" if name is None else "scheduler"
                yield from ports.defects("QUEUE", rest, field, message, "give it a scheduler, as the siblings have it")


LAST_QUEUE = 19  # ten unicast and ten multicast queues: the most that a port of any switch in SONiC's tree has


@rule("FG555", Severity.ERROR, "A queue that no port has")
def impossible_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: QUEUE rows name queues 0 to 19.

    Why: YANG takes any number here. orchagent looks the queue up at the port and refuses the row, so whatever it should
    have set up is missing.

    Example: QUEUE|Ethernet0|40.

    Fix: name a queue that the port has; RoCE, CNPs and control use 0 to 7.

    Source: sonic-swss orchagent/qosorch.cpp (queue index against the port's own queues).
    """
    for ports in port_classes(fabric):
        for rest in ports.rows["QUEUE"]:
            last = rest.rpartition("-")[2]
            if last.isdecimal() and int(last) > LAST_QUEUE:
                yield from ports.defects("QUEUE", rest, "", f"no port has a queue {last}", "name a queue from 0 to 7")


@rule("FG552", Severity.ERROR, "A lossless queue is scheduled strictly")
def strict_lossless(fabric: Fabric) -> Iterator[Defect]:
    """What: lossless queues share the link by weight (DWRR or WRR).

    Why: RDMA fills a link. In a strict queue it starves every class below, BGP and CNPs among them, and nothing stops
    it.

    Example: queue 3 with a scheduler of type STRICT.

    Fix: type DWRR with a weight.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (DWRR for queues 3 and 4).
    """
    wanted = {}
    for ports in port_classes(fabric):
        if ports.is_used:
            wanted[ports] = {ports.queue_of(p): f"lossless queue {ports.queue_of(p)} is scheduled" for p in ports.meant}
    yield from _wrong_type(wanted, strict=False)


@rule("FG553", Severity.WARNING, "The queue of congestion notifications is not strict")
def cnp_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: the queue of the CNP's class is scheduled STRICT.

    Why: a notification that waits behind data reaches the sender late; the queue it reports has grown meanwhile.

    Example: CNPs leave through queue 6, whose scheduler is DWRR with weight 14.

    Fix: give the queue a scheduler of type STRICT.

    Source: Zhu et al., SIGCOMM 2015; NVIDIA and Broadcom RoCE guides.
    """
    wanted = {}
    for ports in port_classes(fabric):
        plane = ports.qos.plane
        tc = ports.dscp_to_tc.get(plane.cnp_dscp) if plane and plane.cnp_dscp is not None else None
        queue = None if tc is None or tc in ports.meant else ports.tc_to_queue.get(tc)
        shared = {ports.queue_of(p) for p in ports.meant}  # FG505 tells of a lossy class in a lossless queue
        if queue is not None and queue not in shared and ports.is_wired and tc != ports.dscp_to_tc.get(0):
            wanted[ports] = {queue: f"queue {queue}, which carries CNPs, is scheduled"}
    yield from _wrong_type(wanted, strict=True)


@rule("FG554", Severity.ERROR, "A weighted scheduler has no usable weight")
def weights(fabric: Fabric) -> Iterator[Defect]:
    """What: schedulers of type DWRR or WRR have a weight of 1 to 100, and every scheduler has a type.

    Why: orchagent accepts weight 0, and the queue gets nothing. A missing weight is the chip's choice.

    Example: scheduler.1 of type DWRR without weight.

    Fix: set weight.

    Source: measured with sonic-swss (weight 0 is accepted); sonic-buildimage sonic-scheduler.yang.
    """
    for switch in fabric.switches.values():
        for key, row in switch.device.table("SCHEDULER").items():
            if "type" not in row:
                message = f"{key} has no type"
                yield Defect(switch.place("SCHEDULER", key, "type"), message, "set type to DWRR or STRICT")
            elif row["type"] in ("DWRR", "WRR") and not 1 <= (number(row.get("weight")) or 0) <= 100:
                message = f"{key} shares by weight, its weight is {row.get('weight', 'missing')}"
                yield Defect(switch.place("SCHEDULER", key, "weight"), message, "set weight to 1..100")


@rule("FG556", Severity.WARNING, "Best effort is scheduled strictly")
def strict_best_effort(fabric: Fabric) -> Iterator[Defect]:
    """What: the queue of DSCP 0 shares the link by weight, on wired ports that have other queues in use.

    Why: best effort in a strict queue goes before all weighted ones. A backup then starves RDMA, and with strict
    queues beside it the lower numbers starve.

    Example: queue 0 with a scheduler of type STRICT.

    Fix: type DWRR with a weight.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (DWRR for queue 0).
    """
    wanted = {}
    for ports in port_classes(fabric):
        tc = ports.dscp_to_tc.get(0)
        queue = None if tc is None or tc in ports.meant else ports.tc_to_queue.get(tc)
        shared = {ports.queue_of(p) for p in ports.meant}
        if queue is not None and queue not in shared and ports.is_wired and len(ports.used_queues) > 1:
            wanted[ports] = {queue: f"queue {queue}, which carries best effort, is scheduled"}
    yield from _wrong_type(wanted, strict=False)


def _wrong_type(wanted: dict[PortClass, dict[int, str]], strict: bool) -> Iterator[Defect]:
    """Queues whose scheduler is of the wrong type. Where all ports of the definitions use this scheduler for the queue,
    the scheduler's own type is at fault, else the queue's choice."""
    choices: dict[tuple[int, int], set[str | None]] = defaultdict(set)
    for ports, queues in wanted.items():
        for queue in queues:
            choices[id(ports.qos), queue].add(ports.queue_text(queue, "scheduler")[1])
    told = set()
    for ports, queues in wanted.items():
        for queue, text in sorted(queues.items()):
            rest, name = ports.queue_text(queue, "scheduler")
            kind = ports.qos.row("SCHEDULER", name or "").get("type")
            if not name or kind is None or (kind == "STRICT") is strict:
                continue
            message = f"{text} {'strictly' if kind == 'STRICT' else f'by weight ({kind})'}"
            hint = "use type STRICT" if strict else "use type DWRR with a weight"
            if len(choices[id(ports.qos), queue]) == 1:
                if (id(ports.qos), name) not in told:
                    told.add((id(ports.qos), name))
                    yield from ports.qos.defects("SCHEDULER", name, "type", message, hint)
            else:
                related = (("the scheduler", "SCHEDULER", name),)
                yield from ports.defects("QUEUE", rest, "scheduler", message, hint, related)
