"""Rules on trimmed packets: they do not travel with lossless traffic."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric, Switch, number
from fabricgen.rules.view.qos_classes import port_classes

_ROW = ("SWITCH_TRIMMING", "GLOBAL")


@rule("FG574", Severity.ERROR, "Trimmed packets travel in a lossless class")
def lossless_trimming(fabric: Fabric) -> Iterator[Defect]:
    """What: queue_index of SWITCH_TRIMMING is not a lossless queue, and dscp_value does not map to a lossless class.

    Why: trimmed packets report congestion and need a queue that is never paused. In a lossless class they wait behind
    the data whose loss they report, fill its headroom without limit, and the next switch pauses because of them.

    Example: SWITCH_TRIMMING|GLOBAL has dscp_value 26, the DSCP of RoCE.

    Fix: use a DSCP and a queue with strict priority that no lossless class uses.

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
