"""Rules on the PFC watchdog: on every lossless port, with times that the switch can keep and enabled counters."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric, majority
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import Switch, number
from fabricgen.same import Same

# sonic-utilities pfcwd/main.py start_default: 200 ms for each 32 ports begun; the poll interval is at most 1 s.
_BASE_MS = 200
_PORTS_PER_STEP = 32
_POLL_LIMIT_MS = 1000
_DETECTION_LIMIT_MS = 5000  # the most that sonic-pfcwd.yang permits: 800 ports
_LONGEST_FACTOR = 3
_LONG_MS = 10_000
_NEEDED_COUNTERS = ("PFCWD", "PORT", "QUEUE", "PG_WATERMARK")


def scaled_ms(ports: int) -> int:
    """The detection time that SONiC itself chooses for a switch with this many ports."""
    return min(_DETECTION_LIMIT_MS, _BASE_MS * max(1, (ports - 1) // _PORTS_PER_STEP + 1))


def is_action_of_queue(switch: Switch) -> bool:
    """Whether each queue has its own action. Other chips recover by themselves and have one for the switch.

    For a switch that the catalog does not have, the buffer model shows it: only NVIDIA uses the dynamic one.
    """
    vendor = switch.platform.asic_vendor if switch.platform else None
    return vendor == "nvidia" if vendor else switch.is_dynamic


@rule("FG561", Severity.ERROR, "A lossless port has no watchdog")
def missing_watchdog(fabric: Fabric) -> Iterator[Defect]:
    """What: Every wired port with lossless classes has a PFC_WD row with action, detection_time and restoration_time.

    Why: One broken NIC that pauses without end stops the queues of a whole fabric. Only the watchdog ends this. A row
    without detection_time is refused, and one without restoration_time never restores the queue. A missing action is
    drop where each queue has its own action (NVIDIA; a warning). On other chips it makes the daemon refuse the rows of
    all other ports.

    Example: PFC_WD has no row for Ethernet4.

    Fix: Add the row with the values of the other ports.

    Source: Guo et al., SIGCOMM 2016 (NIC PFC storm); sonic-swss orchagent/pfcwdorch.cpp; measured with sonic-swss
    6079a435.
    """
    for ports in port_classes(fabric):
        if not ports.is_wired or not ports.lossless or not ports.port_map:
            continue
        row = ports.rows["PFC_WD"].get("")
        if row is None:
            yield from ports.defects(
                "PFC_WD", "", "", "a lossless port has no PFC_WD row", "add the row with the values of the other ports"
            )
            continue
        for field in ("action", "detection_time", "restoration_time"):
            if field not in row:
                message = f"{field} of the watchdog is missing"
                has_default = field == "action" and is_action_of_queue(ports.members[0][0])
                severity = Severity.WARNING if has_default else None
                hint = f"set {field} to the value of the other ports"
                yield from ports.defects("PFC_WD", "", field, message, hint, (), severity)


@rule("FG562", Severity.WARNING, "The watchdog times are too short for the switch, or too long")
def watchdog_times(fabric: Fabric) -> Iterator[Defect]:
    """What: detection_time, restoration_time and POLL_INTERVAL are at least the times that SONiC itself uses for this
    number of ports: 200 ms for up to 32, 400 ms for 64, 1000 ms for 130, at most 5000 ms; the poll at most 1000 ms.
    detection_time is at most three times as long, or 3 s. restoration_time is at most ten times detection_time, or
    10 s.

    Why: Every poll reads the counters of all lossless queues. If the interval is too short for a large switch, its CPU
    is overloaded and the watchdog mistakes the delay for a storm. During a long detection the storm stops the fabric,
    and the retries of RDMA connections end. During a long restoration the switch drops all RDMA of the queue.

    Example: detection_time 200 on a switch with 130 ports.

    Fix: Set the times that the message names.

    Source: sonic-utilities pfcwd/main.py start_default.
    """
    clean = set[tuple[Same[object], int]]()  # many switches share a table
    for switch in fabric.switches.values():
        floor = scaled_ms(len(switch.device.table("PORT")))
        same = Same(switch.device.table("PFC_WD")), floor
        found = [] if same in clean else list(_watchdog_times(switch, floor))
        yield from found
        if not found:
            clean.add(same)


def _watchdog_times(switch: Switch, floor: int) -> Iterator[Defect]:
    """The times of one switch; `floor` is that of SONiC for its number of ports, in ms."""
    for key, row in switch.device.table("PFC_WD").items():
        for field in ("POLL_INTERVAL",) if key == "GLOBAL" else ("detection_time", "restoration_time"):
            least = min(floor, _POLL_LIMIT_MS) if key == "GLOBAL" else floor
            value = number(row.get(field))
            if value is not None and value < least:
                message = f"{field} is {value} ms, a switch with this number of ports needs at least {least} ms"
                yield Defect(switch.place("PFC_WD", key, field), message, f"set {field} to {least}")
        detection, restoration = number(row.get("detection_time")), number(row.get("restoration_time"))
        most = _LONGEST_FACTOR * max(floor, _POLL_LIMIT_MS)
        if detection is not None and detection > most:
            message = f"detection_time is {detection} ms: a storm stops the fabric for this time"
            yield Defect(switch.place("PFC_WD", key, "detection_time"), message, f"set detection_time to {floor}")
        if restoration is not None and restoration > max(_LONG_MS, 10 * (detection or 0)):
            message = f"restoration_time is {restoration} ms: the switch drops RDMA for this time after a storm"
            place, hint = switch.place("PFC_WD", key, "restoration_time"), f"set restoration_time to {floor}"
            yield Defect(place, message, hint)


@rule("FG563", Severity.ERROR, "The watchdog has no poll interval")
def poll_interval(fabric: Fabric) -> Iterator[Defect]:
    """What: PFC_WD|GLOBAL has POLL_INTERVAL where any port has a watchdog.

    Why: The watchdog reads the counters at this interval. Without it, detection times have no effect.

    Example: PFC_WD has rows for ports and no row GLOBAL.

    Fix: Add PFC_WD|GLOBAL with POLL_INTERVAL, not above the detection times.

    Source: sonic-buildimage sonic-pfcwd.yang; sonic-utilities pfcwd/main.py.
    """
    for switch in fabric.switches.values():
        rows = switch.device.table("PFC_WD")
        if rows and "POLL_INTERVAL" not in rows.get("GLOBAL", {}):
            field = "POLL_INTERVAL" if "GLOBAL" in rows else ""
            place = switch.place("PFC_WD", "GLOBAL", field)
            yield Defect(
                place, "POLL_INTERVAL of the watchdog is missing", "set POLL_INTERVAL to at most the detection times"
            )


@rule("FG564", Severity.ERROR, "The watchdog action is not supported or not uniform")
def watchdog_action(fabric: Fabric) -> Iterator[Defect]:
    """What: All ports of a switch have the same action, and the platform supports it. The action is not alert (a
    warning).

    Why: Where the chip recovers from a storm by itself (Broadcom), the switch has one action. The daemon takes that of
    the first row and refuses the rows with another one: these ports have no watchdog. On NVIDIA switches each port has
    its action, and the finding is a warning. With alert, the switch only logs a storm: the queues stay stopped, and
    the storm spreads as without a watchdog.

    Example: Ethernet0 to Ethernet504 drop, Ethernet508 forwards.

    Fix: Use one action, drop unless there is a reason against it.

    Source: sonic-swss orchagent/pfcwdorch.cpp (one action where the chip recovers by itself); measured with sonic-swss
    6079a435 ("Invalid PFC Watchdog action drop as switch level action forward is set").
    """
    for switch in fabric.switches.values():
        actions = {key: row["action"] for key, row in switch.device.table("PFC_WD").items() if "action" in row}
        known = switch.platform.capabilities.get("watchdog_actions", ()) if switch.platform else ()
        distinct = {*actions.values()}
        if len(distinct) < 2 and "alert" not in distinct and (not known or distinct.issubset(known)):
            continue
        usual = majority(actions.values())
        is_mixed, severity = len(distinct) > 1, Severity.WARNING if is_action_of_queue(switch) else None
        for key, action in actions.items():
            place = switch.place("PFC_WD", key, "action")
            if known and action not in known:
                yield Defect(
                    place, f"this platform does not support the watchdog action {action}", f"set action to {known[0]}"
                )
            elif usual is not None and action != usual:
                message = f"the watchdog action is {action}, but the other ports of the switch have {usual}"
                yield Defect(place, message, f"set action to {usual}", (), severity)
            elif usual is None and is_mixed and action != "drop":
                message = f"the watchdog action is {action}, but other ports of the switch have another one"
                yield Defect(place, message, "set action to drop on all ports", (), severity)
            elif action == "alert":
                message = "the watchdog action is alert, which ends no storm"
                yield Defect(place, message, "set action to drop", (), Severity.WARNING)


@rule("FG565", Severity.ERROR, "A counter that the watchdog or telemetry needs is disabled")
def flex_counters(fabric: Fabric) -> Iterator[Defect]:
    """What: FLEX_COUNTER_TABLE has PFCWD, PORT, QUEUE and PG_WATERMARK enabled where ports have a watchdog.

    Why: While PFCWD is disabled, the watchdog detects nothing. Without its row the watchdog polls all the same, but no
    tool shows this (a warning). The other counters are needed to troubleshoot; without their rows the image's defaults
    hold (a warning).

    Example: FLEX_COUNTER_TABLE|PFCWD with FLEX_COUNTER_STATUS disable.

    Fix: Set FLEX_COUNTER_STATUS to enable.

    Source: sonic-utilities counterpoll, pfcwd/main.py; sonic-buildimage sonic-flex_counter.yang; measured with
    sonic-swss 6079a435.
    """
    table, field = "FLEX_COUNTER_TABLE", "FLEX_COUNTER_STATUS"
    for switch in fabric.switches.values():
        for name in _NEEDED_COUNTERS if switch.device.table("PFC_WD") else ():
            status = switch.device.text_of(table, name, field)
            if status != "enable":
                message = f"{field} of {name} is {status or 'missing'}, expected enable"
                severity = None if status else Severity.WARNING
                has_row = name in switch.device.table(table)
                yield Defect(
                    switch.place(table, name, field if has_row else ""), message, f"set {field} to enable", (), severity
                )


@rule("FG566", Severity.WARNING, "A watchdog guards a port without PFC")
def idle_watchdog(fabric: Fabric) -> Iterator[Defect]:
    """What: Ports with a PFC_WD row have priorities in pfcwd_sw_enable.

    Why: The row has no effect; the switch logs that it found no lossless class on the port.

    Example: PFC_WD|Ethernet512, a port without a cable and without PORT_QOS_MAP.

    Fix: Remove the row, or enable PFC on the port.

    Source: sonic-swss pull request 795, orchagent/pfcwdorch.cpp.
    """
    for ports in port_classes(fabric):
        if "" in ports.rows["PFC_WD"] and not (ports.pfc or ports.watchdog or (ports.is_wired and ports.lossless)):
            yield from ports.defects("PFC_WD", "", "", "a port without PFC has a watchdog", "remove the row")


@rule("FG567", Severity.WARNING, "The watchdog restores a queue faster than it detects a storm")
def quick_restoration(fabric: Fabric) -> Iterator[Defect]:
    """What: restoration_time is at least detection_time.

    Why: In a long storm the watchdog restores the queue before the next detection ends. The storm continues again and
    again, and each time fills buffers upstream.

    Example: detection_time 1000, restoration_time 400.

    Fix: Raise restoration_time to detection_time or more.

    Source: sonic-utilities pfcwd/main.py start_default (equal times); sonic-buildimage issue 29203.
    """
    for switch in fabric.switches.values():
        floor = scaled_ms(len(switch.device.table("PORT")))
        for key, row in switch.device.table("PFC_WD").items():
            detection, restoration = number(row.get("detection_time")), number(row.get("restoration_time"))
            if detection is not None and restoration is not None and floor <= restoration < detection:
                message = f"restoration_time is {restoration} ms, less than detection_time, {detection} ms"
                place = switch.place("PFC_WD", key, "restoration_time")
                yield Defect(place, message, f"set restoration_time to {detection} or more")
