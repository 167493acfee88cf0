"""Rules on planes whose switches select a path for each packet: NICs must take packets out of order."""

from collections.abc import Iterator

from fabricgen.bundle.nic_kinds import NicKind, nic_kinds, resending
from fabricgen.bundle.wiring import WiredPlane
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.units import counted
from fabricgen.vocabulary import Recovery


@rule("FG579", Severity.ERROR, "Packets arrive out of order at NICs that repeat them")
def repeated(fabric: Fabric) -> Iterator[Defect]:
    """What: Where fabric.json says that the switches of a plane select a path for each packet (load_balancing, per
    packet), the NICs place packets that arrive out of order. NICs with selective repeat are a warning.

    Why: Packets overtake each other on paths with different queues. A go-back-N receiver takes each gap for a loss, and
    the sender repeats all that followed, on a lossless plane as well. A sender with selective repeat sends single
    packets twice. `simulate packets` computes the cost.

    Example: adaptive per packet on a plane with BCM57608, for which no public source states that it takes packets out
    of order, so that go-back-N is assumed.

    Fix: Balance per flowlet, or by ecmp with more queue pairs, or use NICs that place data out of order. If the vendor
    of the NIC states it, accept the finding.

    Source: Mittal et al., Revisiting Network Support for RDMA (SIGCOMM 2018); NVIDIA MLNX_OFED 5.8, Out-of-Order Data
    Placement; the NIC files of the catalog.
    """
    for plane in _per_packet(fabric):
        wiring = fabric.bundle.wiring
        for kind in resending(wiring, plane.name) if wiring else ():
            if (end := _port(fabric, kind)) is None:
                continue
            is_selective = kind.reordering.recovery == Recovery.SELECTIVE_REPEAT
            what = "repeat single packets" if is_selective else "drop packets out of order and repeat all after a gap"
            lossless = f" on lossless plane {plane.name}" if plane.lossless else f" on plane {plane.name}"
            message = f"{counted(kind.count, 'NIC')}{lossless} {what}: {kind.shown}, but the switches select a path "
            message += f"for each packet ({plane.load_balancing.mode})" if plane.load_balancing else ""
            hint = "set `load_balancing` to ecmp, or to `per: flowlet`, or use NICs that place data out of order"
            severity = Severity.WARNING if is_selective else None
            yield Defect(end.switch.place("PORT", end.port), message, hint, (), severity)


@rule("FG918", Severity.NOTE, "NICs take packets out of order only with a setting that a boot resets")
def set_at_boot(fabric: Fabric) -> Iterator[Defect]:
    """What: On planes whose switches select a path for each packet, no NIC needs a setting at each boot to take
    packets out of order. The files of the bundle do not contain it.

    Why: mlxreg sets adaptive_routing_forced_en of the register ROCE_ACCL until the next boot. Without it the NIC drops
    packets out of order, and the sender repeats all after a gap.

    Example: adaptive per packet on a plane with ConnectX-7.

    Fix: Run `mlxreg -d DEVICE --reg_name ROCE_ACCL --set adaptive_routing_forced_en=1 --yes` for each NIC at every
    boot, before jobs start, and accept the finding.

    Source: The NIC files of the catalog.
    """
    for plane in _per_packet(fabric):
        wiring = fabric.bundle.wiring
        for kind in nic_kinds(wiring, plane.name) if wiring else ():
            if kind.reordering.needs and (end := _port(fabric, kind)) is not None:
                message = f"{counted(kind.count, 'NIC')} ({kind.model}) of plane {plane.name} take packets out of "
                message += f"order only with {kind.reordering.needs}"
                yield Defect(end.switch.place("PORT", end.port), message, "set it at each boot, and accept the finding")


def _per_packet(fabric: Fabric) -> list[WiredPlane]:
    return [plane for plane in fabric.planes.values() if plane.is_spread_by_packet]


def _port(fabric: Fabric, kind: NicKind) -> End | None:
    """The switch port of the first of the NICs."""
    return next((end for end in fabric.ends if (end.far_name, end.far_port) == kind.first), None)
