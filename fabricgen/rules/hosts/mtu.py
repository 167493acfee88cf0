"""The rule on the MTU of NICs, compared with the switch ports at the other end. Other rules on hosts do not need the
table of ports."""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.host_settings import systemd_bytes
from fabricgen.findings import Severity
from fabricgen.physics import DEFAULT_MTU_BYTES, link_mtu_for_roce
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric, majority
from fabricgen.rules.view.host_interfaces import Interface, interfaces
from fabricgen.rules.view.switch import number


@rule("FG906", Severity.ERROR, "The MTU of a host does not fit the switch or RoCE", Basis.AGREEMENT)
def host_mtu(fabric: Fabric) -> Iterator[Defect]:
    """What: The MTU of a NIC is at least the plane's RoCE MTU and 96 bytes of headers (4192 for 4096), and at most the
    MTU of the switch port. All NICs of a group on a plane have the same MTU. MTUBytes of
    links/10-<NIC>.link is in the same range.

    Why: The kernel silently uses the next smaller RoCE MTU: 1024 with an MTU of 1500. If the MTU is larger than on the
    switch port, the switch drops every full packet.

    Example: mtu is 4096 for RoCE packets of 4096 bytes.

    Fix: Use the MTU of the switch port.

    Source: torvalds/linux include/rdma/ib_addr.h (iboe_get_mtu); systemd.link(5), MTUBytes=.
    """
    members: dict[tuple[str, str], list[Interface]] = {}
    for one in interfaces(fabric):
        members.setdefault((one.group.files.name, one.plane.name), []).append(one)
    for those in members.values():
        usual, usual_port = majority(one.raw.get("mtu") for one in those), majority(_port_mtu(one) for one in those)
        yield from _links(those, usual_port or max(map(_port_mtu, those)))
        for one in those:
            yield from _mtu(one, usual, usual_port)


def _links(those: Sequence[Interface], most: int) -> Iterator[Defect]:
    """MTUBytes of .link files, which holds until netplan sets mtu, and on hosts without the netplan file. `most` is the
    MTU of most switch ports: a port that differs is reported there."""
    for one in {one.nic: one for one in reversed(those)}.values():
        file = f"links/10-{one.nic}.link"
        text = one.group.files.settings(file).get("MTUBytes") if file in one.group.files.files else None
        least = min(most, link_mtu_for_roce(one.plane.roce_mtu)) if one.plane.roce_mtu else 0
        if text is None or least <= (found := systemd_bytes(text) or 0) <= most:
            continue
        shown = text if text == str(found) else f"{text}, which is {found}" if found else f"{text}, which is not a size"
        message = f"MTUBytes is {shown}, expected {least} to {most} bytes"
        place, related = one.group.place(file, "MTUBytes"), one.switch_place("PORT", "mtu")
        yield Defect(place, message, f"set MTUBytes to {most}", related, Severity.WARNING)


def _port_mtu(one: Interface) -> int:
    return number(one.end.text("mtu")) or DEFAULT_MTU_BYTES


def _mtu(one: Interface, usual: object, usual_port: int | None) -> Iterator[Defect]:
    mtu, most, roce_mtu = one.raw.get("mtu"), _port_mtu(one), one.plane.roce_mtu
    least = min(most, link_mtu_for_roce(roce_mtu)) if roce_mtu else 0  # FG244 reports the MTU of the port
    if isinstance(mtu, int) and least <= mtu <= most and usual in (None, mtu):
        return
    there, hint = one.switch_place("PORT", "mtu"), f"set mtu to {most}"
    if not isinstance(mtu, int):
        yield Defect(one.place("mtu"), f"mtu is {'missing' if mtu is None else repr(mtu)}", hint, there)
    elif roce_mtu and mtu < least:
        needed = link_mtu_for_roce(roce_mtu)
        message = f"mtu is {mtu} bytes, but RoCE packets of {roce_mtu} bytes need {needed} bytes"
        yield Defect(one.place("mtu"), message, hint, there)
    elif mtu > most:
        message = f"the MTU of the host is {mtu} bytes, but the switch port has {most} bytes"
        if mtu == usual and most != usual_port:  # the port differs from the other ports
            yield Defect(there[0][1], message, f"set mtu to {mtu}", ((f"the host, {one.host}", one.place("mtu")),))
        else:
            yield Defect(one.place("mtu"), message, hint, there)
    elif usual is not None and mtu != usual:
        message = f"mtu is {mtu} bytes, but most NICs of the group have {usual} bytes"
        yield Defect(one.place("mtu"), message, f"set mtu to {usual}", there)
