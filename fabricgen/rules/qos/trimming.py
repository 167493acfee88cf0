"""Rules on trimmed packets, and on RoCE without PFC."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import Network, Switch, number
from fabricgen.vocabulary import Purpose

_ROW = ("SWITCH_TRIMMING", "GLOBAL")
_LISTS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")
_FIXED_CHIP, _FIXED_SIZE = "Tomahawk5", 206


@rule("FG574", Severity.ERROR, "Trimmed packets travel in a lossless class")
def lossless_trimming(fabric: Fabric) -> Iterator[Defect]:
    """What: queue_index of SWITCH_TRIMMING is not a lossless queue, and dscp_value does not map to a lossless class.

    Why: Trimmed packets report congestion and need a queue that is never paused. In a lossless class they wait behind
    the data whose loss they report, fill its headroom without limit, and the next switch pauses because of them.

    Example: SWITCH_TRIMMING|GLOBAL has dscp_value 26, the DSCP of RoCE.

    Fix: Use a DSCP and a queue with strict priority that no lossless class uses.

    Source: SONiC HLD packet trimming; sonic-swss orchagent/switch/trimming.
    """
    reported: set[tuple[Switch, str]] = set()
    for ports in port_classes(fabric):
        queues = {ports.queue_of(priority) for priority in ports.lossless}
        for switch in {switch.name: switch for switch, _, _ in ports.members}.values():
            row = switch.device.row(*_ROW)
            queue, dscp = number(row.get("queue_index")), number(row.get("dscp_value"))
            tc = None if dscp is None else ports.dscp_to_tc.get(dscp)
            for field, is_lossless, message in (
                ("queue_index", queue in queues, f"trimmed packets use lossless queue {queue}"),
                ("dscp_value", tc in ports.lossless, f"trimmed packets have DSCP {dscp}, which is in lossless TC {tc}"),
            ):
                if is_lossless and (switch, field) not in reported:
                    reported.add((switch, field))
                    hint = f"set {field} to a value that no lossless class uses"
                    yield Defect(switch.place(*_ROW, field), message, hint)


@rule("FG575", Severity.ERROR, "A list of profiles contains one that trims")
def trimming_in_list(fabric: Fabric) -> Iterator[Defect]:
    """What: No profile of BUFFER_PORT_INGRESS_PROFILE_LIST and BUFFER_PORT_EGRESS_PROFILE_LIST has
    packet_discard_action trim.

    Why: orchagent refuses the whole list. It takes a profile that trims only for queues (BUFFER_QUEUE).

    Example: egress_lossy_profile trims, and is in the egress list of every port.

    Fix: Give the queues that trim a separate profile, and keep the one of the list without packet_discard_action.

    Source: sonic-swss orchagent/bufferorch.cpp, orchagent/buffer/buffercontainer.h.
    """
    for switch in fabric.switches.values():
        profiles = switch.device.table("BUFFER_PROFILE")
        trimming = {name for name, row in profiles.items() if row.get("packet_discard_action") == "trim"}
        for table in _LISTS if trimming else ():
            for port, row in switch.device.table(table).items():
                for name in trimming.intersection(map(str.strip, str(row.get("profile_list", "")).split(","))):
                    message = f"{name} trims packets: orchagent refuses the list"
                    hint = f"use a separate profile in BUFFER_QUEUE, and remove packet_discard_action of {name}"
                    related = ((f"{name} is defined here", switch.place("BUFFER_PROFILE", name)),)
                    yield Defect(switch.place(table, port, "profile_list"), message, hint, related)


@rule("FG576", Severity.ERROR, "The chip does not trim to this size")
def trimming_size(fabric: Fabric) -> Iterator[Defect]:
    """What: On Tomahawk 5, size of SWITCH_TRIMMING is 206.

    Why: The chip has this size only. The SAI refuses another one, and no packet is trimmed: full queues drop.

    Example: size is 256 on a switch with Tomahawk 5.

    Fix: Set size to 206.

    Source: sonic-mgmt@31255b46 tests/packet_trimming/packet_trimming_config.py.
    """
    for switch in fabric.switches.values():
        asic = (switch.platform.asic or "") if switch.platform else ""
        size = number(switch.device.row(*_ROW).get("size"))
        if asic.startswith(_FIXED_CHIP) and size not in (None, _FIXED_SIZE):
            message = f"size is {size}, but {asic} trims to {_FIXED_SIZE} bytes only"
            yield Defect(switch.place(*_ROW, "size"), message, f"set size to {_FIXED_SIZE}")


@rule("FG577", Severity.ERROR, "Trimmed packets change their queue at a later hop")
def trimmed_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: Every switch of a network maps dscp_value of SWITCH_TRIMMING to the queue that the trimming switches use
    (queue_index), if both are numbers.

    Why: The switch that trims puts the packet into queue_index. Every later switch classifies it by its DSCP. In
    another queue the news of the loss waits behind data, or is lost.

    Example: leaves trim into queue 6 with DSCP 48, and a spine maps DSCP 48 to queue 0.

    Fix: Map the DSCP to a TC of this queue on all switches, or change queue_index.

    Source: SONiC HLD packet trimming; sonic-swss orchagent/switch/trimming.
    """
    wanted: dict[Network, dict[int, tuple[int, Switch]]] = {}
    for switch in fabric.switches.values():
        row = switch.device.row(*_ROW)
        dscp, queue = number(row.get("dscp_value")), number(row.get("queue_index"))
        if dscp is not None and queue is not None:
            wanted.setdefault(switch.network, {}).setdefault(dscp, (queue, switch))
    reported: set[tuple[str, int]] = set()
    for ports in port_classes(fabric) if wanted else ():
        for switch in {switch.name: switch for switch, _, _ in ports.members}.values():
            for dscp, (queue, trimming) in wanted.get(switch.network, {}).items():
                tc = ports.dscp_to_tc.get(dscp)
                found = None if tc is None else ports.tc_to_queue.get(tc)
                if found in (None, queue) or (switch.name, dscp) in reported:
                    continue
                reported.add((switch.name, dscp))
                message = f"DSCP {dscp} of trimmed packets is in queue {found}, but {trimming.name} uses queue {queue}"
                name = str(ports.port_map.get("dscp_to_tc_map", ""))
                related = ((f"{trimming.name} trims here", trimming.place(*_ROW, "queue_index")),)
                place = switch.place("DSCP_TO_TC_MAP", name, str(dscp))
                yield Defect(place, message, f"map DSCP {dscp} to a TC of queue {queue}", related)


@rule("FG578", Severity.WARNING, "RoCE without PFC has no other control of congestion")
def uncontrolled(fabric: Fabric) -> Iterator[Defect]:
    """What: On a compute plane with `lossless: none`, some queue marks ECN, or the switches trim packets.

    Why: Without PFC full queues drop. Without ECN the senders do not slow down before, and without trimming they learn
    of a loss late. A NIC that goes back to the lost packet repeats all that followed. NICs with selective repeat lose
    less: if all have it, accept the finding.

    Example: A compute plane with `lossless: none`, and neither WRED_PROFILE nor SWITCH_TRIMMING.

    Fix: Use a lossless profile, set a WRED profile with ecn on the queue of RoCE, or SWITCH_TRIMMING.

    Source: Mittal et al., Revisiting Network Support for RDMA (SIGCOMM 2018); SONiC HLD packet trimming.
    """
    reported = set()
    for switch in fabric.switches.values():
        plane = fabric.planes.get(switch.plane)
        if plane is None or plane.lossless or plane.purpose != Purpose.COMPUTE or plane.name in reported:
            continue
        names = {row.get("wred_profile") for row in switch.device.table("QUEUE").values()}
        rows = (row for name, row in switch.device.table("WRED_PROFILE").items() if name in names)
        if not switch.device.row(*_ROW) and not any(str(row.get("ecn", "")) not in ("", "ecn_none") for row in rows):
            reported.add(plane.name)
            message = f"plane {plane.name} has no PFC, and the switch neither marks ECN nor trims packets"
            hint = "use a lossless profile, or mark ECN on the queue of RoCE"
            yield Defect(switch.place("DEVICE_METADATA", "localhost"), message, hint)
