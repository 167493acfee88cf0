"""Rules on settings of a link that depend on the cable, or on the links before it."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.physics import DEFAULT_MTU_BYTES, link_mtu_for_roce
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric, far_end
from fabricgen.rules.view.switch import Network, number
from fabricgen.units import format_length

_LONGEST_COPPER_M = 10  # 10GBASE-CR; 3 m and less for 25G and more for each lane


@rule("FG570", Severity.WARNING, "The MTU between switches is smaller than at the hosts")
def narrow_link(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT.mtu of a link between switches is at least that of every port to a host in the plane. FG244 reports an
    MTU that RoCE packets do not fit.

    Why: A leaf accepts a packet of the host and cannot forward it: the switch drops it, and path MTU discovery reduces
    the rate of TCP at best. Control traffic and small messages work, so the fault is hard to find.

    Example: ports to hosts have mtu 9100, ports to spines have 4200.

    Fix: Use one MTU everywhere; 9100 is SONiC's default.

    Source: RFC 1191 and 8201 (path MTU); sonic-buildimage sonic-port.yang.
    """
    largest: dict[Network, int] = {}
    for end in fabric.ends:
        if end.far_role == "host":
            largest[end.switch.network] = max(largest.get(end.switch.network, 0), _mtu(end))
    for end in fabric.ends:
        if not end.far:
            continue
        mtu, hosts = _mtu(end), largest.get(end.switch.network, 0)
        if mtu >= hosts:
            continue
        plane = fabric.planes.get(end.switch.plane)
        needed = link_mtu_for_roce(plane.roce_mtu) if plane and plane.roce_mtu else 0
        if needed <= mtu and _mtu(end.far) == mtu:
            message = f"mtu is {mtu} bytes, but ports to hosts have {hosts} bytes"
            related = far_end(end, "PORT", "mtu")
            yield Defect(end.place("PORT", "mtu"), message, f"set mtu to {hosts} at both ends", related)


def _mtu(end: End) -> int:
    return number(end.text("mtu")) or DEFAULT_MTU_BYTES


@rule("FG571", Severity.WARNING, "Auto-negotiation or link training is on for an optical link")
def optical_negotiation(fabric: Fabric) -> Iterator[Defect]:
    """What: autoneg and link_training are not on for a port whose cable is longer than copper cables are, 10 m.

    Why: Auto-negotiation and link training of clause 73 exist for copper cables and backplanes only. An optical
    module does not carry its messages, so the link stays down.

    Example: autoneg on for a port with a cable of 40 m.

    Fix: Set autoneg to off, or remove it.

    Source: IEEE 802.3 clause 73; sonic-buildimage sonic-port.yang (default off).
    """
    lengths = fabric.cable_length_m
    for end in fabric.ends:
        length_m = lengths.get(end.link.id)
        if not length_m or length_m <= _LONGEST_COPPER_M:
            continue
        for field in ("autoneg", "link_training"):
            if end.text(field) == "on" and (end.far is None or end.far.text(field) == "on"):  # else FG242
                message = f"{field} is on, but the cable is {format_length(length_m)} long and therefore optical"
                place, related = end.place("PORT", field), far_end(end, "PORT", field)
                yield Defect(place, message, f"set {field} to off at both ends", related)
