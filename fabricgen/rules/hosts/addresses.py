"""Addresses and MTU of hosts against the switch ports that they are plugged into."""

from collections.abc import Iterator
from ipaddress import ip_interface, ip_network

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import Fabric, majority, number
from fabricgen.rules.view.host_groups import Group, host_groups
from fabricgen.rules.view.host_interfaces import Interface, interfaces, netplan_file

ROCE_HEADER_BYTES = 96  # linux include/rdma/ib_addr.h iboe_get_mtu: GRH 40, UDP 8, BTH 12, XRC 4, AtomicETH 28, ICRC 4
DEFAULT_MTU_BYTES = 9100  # of a SONiC port without one


@rule("FG906", Severity.ERROR, "The MTU of a host does not fit the switch or RoCE", Basis.AGREEMENT)
def host_mtu(fabric: Fabric) -> Iterator[Defect]:
    """What: the MTU of a NIC carries the plane's RoCE MTU and 96 bytes of headers (4192 for 4096), and is not above the
    MTU of the switch's port; the NICs of a group have one MTU on a plane.

    Why: the kernel takes the next smaller RoCE MTU: with 1500 it is 1024, and nobody logs it. A larger MTU than the
    switch's drops every full packet.

    Example: mtu: 4096 for RoCE packets of 4096 bytes.

    Fix: the MTU of the switch's port.

    Source: torvalds/linux include/rdma/ib_addr.h (iboe_get_mtu).
    """
    alike: dict[tuple[str, str], list[Interface]] = {}
    for one in interfaces(fabric):
        alike.setdefault((one.group.files.name, one.plane.name), []).append(one)
    for those in alike.values():
        usual, usual_port = majority(one.raw.get("mtu") for one in those), majority(_port_mtu(one) for one in those)
        for one in those:
            yield from _mtu(one, usual, usual_port)


def _port_mtu(one: Interface) -> int:
    return number(one.end.text("mtu")) or DEFAULT_MTU_BYTES


def _mtu(one: Interface, usual: object, usual_port: int | None) -> Iterator[Defect]:
    mtu, most, roce_mtu = one.raw.get("mtu"), _port_mtu(one), one.plane.roce_mtu
    there, hint = one.switch_place("PORT", "mtu"), f"mtu: {most}"
    if not isinstance(mtu, int):
        yield Defect(one.place("mtu"), f"the MTU is {'missing' if mtu is None else repr(mtu)}", hint, there)
    elif roce_mtu and mtu < min(most, roce_mtu + ROCE_HEADER_BYTES):  # of the port's own MTU FG244 tells
        needed = roce_mtu + ROCE_HEADER_BYTES
        message = f"an MTU of {mtu} B carries no RoCE packets of {roce_mtu} B, which need {needed} B"
        yield Defect(one.place("mtu"), message, hint, there)
    elif mtu > most:
        message = f"the host's MTU is {mtu} B, the switch's port takes {most} B"
        if mtu == usual and most != usual_port:  # the port is the odd one
            yield Defect(there[0][1], message, "", ((f"the host, {one.host}", one.place("mtu")),))
        else:
            yield Defect(one.place("mtu"), message, hint, there)
    elif usual is not None and mtu != usual:
        yield Defect(one.place("mtu"), f"an MTU of {mtu} B, the others have {usual} B", f"mtu: {usual}", there)


@rule("FG908", Severity.ERROR, "A host has other addresses than its switches expect", Basis.AGREEMENT)
def host_addresses(fabric: Fabric) -> Iterator[Defect]:
    """What: each NIC with a cable has, in its netplan file, the other address of each subnet of the switch's port, its
    routes lead over the address of that port, and NCCL_IB_ADDR_RANGE covers the addresses of all compute NICs.

    Why: with an address of another port's subnet the NIC reaches nothing, not even its leaf. RoCE looks the next hop
    up in the kernel: a wrong gateway is error 110 when a queue pair connects.

    Example: rail0 has 10.64.0.3/31, the port has 10.64.0.0/31.

    Fix: render the file again, or move the cable.

    Source: torvalds/linux drivers/infiniband/core/addr.c; RFC 3021.
    """
    for group in host_groups(fabric):
        yield from _names(group)
        yield from _range(group)
    for one in interfaces(fabric):
        yield from _pairs(one)


def _names(group: Group) -> Iterator[Defect]:
    """Interfaces without a NIC, and NICs without an interface."""
    for (host, nic), end in group.ends.items():
        file = netplan_file(host)
        if group.is_set_up(nic) and file in group.files.files and nic not in group.files.interfaces(host):
            message = f"{nic} is plugged into {end.switch.name} {end.port}, and has no address"
            related = ((f"the switch, {end.switch.name}", end.place("PORT")),)
            yield Defect(group.place(file, f"ethernets.{nic}"), message, "run `fabricgen render`", related)
    for one in group.hosts:
        known = {nic.name for nic in one.nics}
        for name in group.files.interfaces(one.name):
            if name not in known:
                place = group.place(netplan_file(one.name), f"ethernets.{name}")
                yield Defect(place, f"the host has no NIC {name}", "remove it, or correct the name")


def _pairs(one: Interface) -> Iterator[Defect]:
    """Each address with that of the switch."""
    fitting = set()
    for held in one.held:
        where = ((f"the switch, {one.end.switch.name}", one.end.switch.place(held.table, held.key)),)
        network = held.value.network
        mine = [str(address) for address in one.addresses if address.network == network and address.ip != held.ip]
        fitting.update(mine)
        if not mine:
            message = f"{', '.join(one.texts) or 'no address'} is no neighbour of {held.value} at the switch"
            yield Defect(one.place("addresses"), message, f"the other address of {network}", where)
        for via in {str(route["via"]) for route in one.rows("routes") if "via" in route}:
            gateway = parse_interface(via)
            if gateway is None or (gateway.version == held.ip.version and gateway.ip != held.ip):
                message = f"a route leads over {via}, the switch has {held.ip}"
                yield Defect(one.place("routes"), message, f"via: {held.ip}", where)
    extra = sorted(set(one.texts) - fitting)
    if fitting and extra:
        message = f"{', '.join(extra)} is in no subnet of the switch's port"
        yield Defect(one.place("addresses"), message, "remove it", one.switch_place("PORT"))


def _range(group: Group) -> Iterator[Defect]:
    """NCCL_IB_ADDR_RANGE over the addresses of the compute planes."""
    if group.files.nccl_file not in group.files.files:
        return
    used = [plane for plane in group.planes.values() if plane.purpose == "compute" and plane.name in group.ports]
    pools = ", ".join(prefix for plane in used for prefix in plane.host_prefixes)
    told = group.files.settings(group.files.nccl_file).get("NCCL_IB_ADDR_RANGE")
    place, hint = group.place(group.files.nccl_file, "NCCL_IB_ADDR_RANGE"), f"the pool of the plane's hosts: {pools}"
    if told is None:
        if len(used) == 1 and pools:
            yield Defect(place, "NCCL_IB_ADDR_RANGE is missing: NCCL takes the first address of each NIC", hint)
        return
    try:
        pool = ip_network(told)
    except ValueError:
        yield Defect(place, f"{told!r} is no prefix", hint)
        return
    nics = [nic for host in group.hosts for nic in host.nics if group.planes[nic.plane] in used]
    addresses = [(ip_interface(text), nic.name) for nic in nics for text in nic.addresses]
    same = [(address.ip, nic) for address, nic in addresses if address.version == pool.version]
    missed = next((f"{address} of {nic}" for address, nic in same if address not in pool), None)
    if missed or not same:
        yield Defect(place, f"{told} does not cover {missed or 'any address'}", hint)
