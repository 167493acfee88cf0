"""Settings of the hosts' NICs that agree with the switches: computed from the plans of the switches."""

from collections.abc import Iterable
from dataclasses import dataclass

from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import CableSpec
from fabricgen.lossless.classes import Classes
from fabricgen.lossless.headroom import whole_metres
from fabricgen.lossless.plan import LosslessPlan
from fabricgen.origin import Origin, Value, value

ECT0 = 0b10  # RFC 3168: the sender supports ECN; 0b11 would be a mark that no switch has set
STALL_MS = 100  # linux mlx5 en_ethtool.c: pfc-prevention-tout as the driver's own "auto" has it


@dataclass(frozen=True, slots=True)
class NicPlan:
    """RoCE settings of all NICs of a group on a plane with PFC."""

    pfc: Value  # 0,0,0,1,0,0,0,0: by priority, from 0
    dscp_to_priority: tuple[Value, ...]  # 26:3, RoCE classes by priority, then CNPs
    tos: Value  # the byte: DSCP and ECN bits
    priority: Value  # of packets with `tos`
    cnp_dscp: Value
    cnp_priority: Value
    cable_m: Value
    stall_ms: Value | None  # None where the watchdog of the switches acts as early as the NIC


def plan_nics(plane: Plane, plans: Iterable[LosslessPlan], cable: CableSpec) -> NicPlan | None:
    """The settings that agree with the plans of the switches that the NICs are connected to; None without PFC.

    NCCL and UCX take one traffic class, so they send the first DSCP of the lowest lossless class.
    """
    plans = tuple(plans)
    spec, classes = plane.lossless, plans[0].classes
    if not classes.lossless:
        return None
    first = min(spec.classes)
    dscp = spec.classes[first][0]
    source = spec.source("classes", first)
    sent = [str(number) for priority in classes.lossless for number in spec.classes[priority]]
    cnp = classes.dscp_to_tc[str(spec.cnp_dscp)]
    return NicPlan(
        pfc=_flags(classes),
        dscp_to_priority=tuple(
            Value(f"{number}:{classes.dscp_to_tc[number]}", classes.dscp_to_tc[number].origin)
            for number in (*sent, str(spec.cnp_dscp))
        ),
        tos=value(dscp << 2 | ECT0, f"DSCP {dscp} x 4 + ECT(0) {ECT0} = {dscp << 2 | ECT0}", inventory=source),
        priority=classes.dscp_to_tc[str(dscp)],
        cnp_dscp=value(spec.cnp_dscp, inventory=spec.source("cnp")),
        cnp_priority=cnp,
        cable_m=value(
            whole_metres(cable.length_m), "the longest cable of a host in whole metres", inventory=cable.source()
        ),
        stall_ms=_stall(plans),
    )


def _flags(classes: Classes) -> Value:
    origin = classes.pfc_enable.origin
    flags = ",".join(str(int(priority in classes.lossless)) for priority in range(8))
    return Value(flags, Origin(origin.inventory, origin.platform, ("the priorities of pfc_enable",)))


def _stall(plans: Iterable[LosslessPlan]) -> Value | None:
    """When a NIC that does not drain stops its pauses: before the watchdog of a switch acts on its port."""
    detection_ms = min(int(plan.watchdog.port["detection_time"]) for plan in plans if plan.watchdog)
    step = f"below the switches' detection_time of {detection_ms} ms"
    return value(STALL_MS, step, platform="linux mlx5 en_ethtool.c") if detection_ms > STALL_MS else None
