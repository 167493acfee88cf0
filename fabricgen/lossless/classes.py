"""Traffic classes: the traffic class, priority group, queue and scheduler of each DSCP.

A lossless priority p is traffic class p, priority group p and queue p, so that every PFC map is the identity on it.
Everything else is lossy: best effort in the lowest free class, CNPs in a strict queue that is never lossless, control
(CS7) above them in queue 7. Without lossless classes CNPs have no class. BGP leaves SONiC with CS6, the usual DSCP of
CNPs: both are a few small packets in a strict queue above all bulk queues, so one queue serves both.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.inventory.traffic import LosslessSpec, TrimmingSpec
from fabricgen.origin import Value, joined, value

TRAFFIC_CLASSES = range(8)
CONTROL_CLASS = 7
CONTROL_DSCP = 56  # CS7
ROUTING_DSCP = 48  # CS6: what FRR sends BGP with


@dataclass(frozen=True, slots=True)
class Classes:
    """The QoS maps of a plane, as contents of CONFIG_DB rows."""

    lossless: tuple[int, ...]
    strict: tuple[int, ...]
    dscp_to_tc: Mapping[str, Value]
    tc_to_pg: Mapping[str, Value]
    lossy_pg: Value
    tc_to_queue: Mapping[str, Value]
    pfc_to_queue: Mapping[str, Value]
    pfc_to_pg: Mapping[str, Value]
    schedulers: Mapping[str, Mapping[str, Value]]  # name -> row
    queue_scheduler: Mapping[int, Value]  # queue -> scheduler name
    pfc_enable: Value


def plan_classes(spec: LosslessSpec, trimming: TrimmingSpec | None = None) -> Classes:
    """The maps for the lossless classes of the inventory, which may be none, and for packets that are trimmed."""
    lossless = tuple(sorted(spec.classes))
    source = spec.source("classes")
    lossy = [tc for tc in TRAFFIC_CLASSES if tc not in lossless]
    best_effort = lossy[0]
    cnp = max(tc for tc in lossy if tc != CONTROL_CLASS)
    strict = (cnp, CONTROL_CLASS)
    dscp_to_tc = {str(dscp): value(best_effort, "no class asks for this DSCP: best effort") for dscp in range(64)}
    dscp_to_tc[str(ROUTING_DSCP)] = value(cnp, "CS6, routing protocols: strict")
    dscp_to_tc[str(CONTROL_DSCP)] = value(CONTROL_CLASS, "CS7, network control: strict")
    for priority, values in spec.classes.items():
        origin = spec.source("classes", priority)
        dscp_to_tc.update(
            {str(dscp): value(priority, f"lossless class {priority}", inventory=origin) for dscp in values}
        )
    if lossless:
        dscp_to_tc[str(spec.cnp_dscp)] = value(
            cnp, "congestion notifications: strict, never lossless", inventory=spec.source("cnp")
        )
    if trimming:
        dscp_to_tc[str(trimming.dscp)] = value(cnp, "trimmed packets: strict", inventory=trimming.source("dscp"))
    bulk = [tc for tc in lossy if tc not in strict]
    schedulers: dict[str, Mapping[str, Value]] = {}
    lossless_percent = spec.share_percent if lossless else 0
    of_share = spec.source("share") if "share" in spec.node.mapping else source
    if lossless:
        schedulers["LOSSLESS"] = _weighted(lossless_percent, len(lossless), "lossless", of_share)
    schedulers["LOSSY"] = _weighted(100 - lossless_percent, len(bulk), "lossy", of_share)
    schedulers["STRICT"] = {"type": value("STRICT")}
    kind = {tc: "LOSSLESS" if tc in lossless else "STRICT" if tc in strict else "LOSSY" for tc in TRAFFIC_CLASSES}
    same = {str(tc): value(tc, "identity") for tc in TRAFFIC_CLASSES}
    return Classes(
        lossless=lossless,
        strict=strict,
        dscp_to_tc=dscp_to_tc,
        tc_to_pg={
            str(tc): value(tc if tc in lossless else best_effort, "its own group if lossless", inventory=source)
            for tc in TRAFFIC_CLASSES
        },
        lossy_pg=value(best_effort, "all lossy classes share one group", inventory=source),
        tc_to_queue=same,
        pfc_to_queue=same,
        pfc_to_pg={str(priority): value(priority, "identity", inventory=source) for priority in lossless},
        schedulers=schedulers,
        queue_scheduler={
            tc: value(kind[tc], f"class {tc} is {kind[tc].lower()}", inventory=source) for tc in TRAFFIC_CLASSES
        },
        pfc_enable=joined(lossless, value("", "the lossless priorities", inventory=source).origin),
    )


def _weighted(percent: int, queues: int, kind: str, source: str) -> Mapping[str, Value]:
    """The scheduler of queues that share a percentage of the bandwidth evenly."""
    weight = value(percent // queues, f"{percent} % / {queues} {kind} queues", inventory=source)
    return {"type": value("DWRR"), "weight": weight}
