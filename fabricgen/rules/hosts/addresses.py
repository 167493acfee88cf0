"""Rules on the addresses of NICs, compared with the switch ports at the other end."""

from collections.abc import Iterator
from ipaddress import ip_network

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.hosts.files import NVSHMEM
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.rules.view.host_interfaces import Interface, interfaces, netplan_file
from fabricgen.vocabulary import Purpose


@rule(
    "FG908",
    Severity.ERROR,
    "An address of a host does not match its switch port",
    Basis.AGREEMENT,
    breaks=Breaks.ADDRESS,
)
def host_addresses(fabric: Fabric) -> Iterator[Defect]:
    """What: The netplan file gives each NIC with a cable the other address of each subnet of its switch port, and
    routes over the address of this port. NCCL_IB_ADDR_RANGE and NVSHMEM_IB_ADDR_RANGE cover the addresses of all
    compute NICs.

    Why: With an address in another subnet the NIC cannot reach its leaf. RoCE uses the next hop of the kernel: with a
    wrong gateway, queue pairs fail to connect with error 110.

    Example: rail0 has 10.64.0.3/31, but its switch port has 10.64.0.0/31.

    Fix: Render the file again, or move the cable.

    Source: torvalds/linux drivers/infiniband/core/addr.c; RFC 3021; NVIDIA/nvshmem@2d7d25f
    src/modules/transport/common/transport_ib_common.h (env_ib_addr_range: a text without / ends the program).
    """
    for group in host_groups(fabric):
        yield from _names(group)
        yield from _range(group, group.files.nccl_file, "NCCL_IB_ADDR_RANGE")
        yield from _range(group, NVSHMEM, "NVSHMEM_IB_ADDR_RANGE")
    for one in interfaces(fabric):
        yield from _pairs(one)


def _names(group: HostFiles) -> Iterator[Defect]:
    """NICs with a cable but no interface in the netplan file, and interfaces without a NIC."""
    for (host, nic), end in group.ends.items():
        file = netplan_file(host)
        if group.is_set_up(nic) and file in group.files.files and nic not in group.files.interfaces(host):
            message = f"{nic} has a cable to {end.switch.name} {end.port} but no address"
            related = ((f"the switch, {end.switch.name}", end.place("PORT")),)
            yield Defect(group.place(file, f"ethernets.{nic}"), message, "run `fabricgen render`", related)
    for one in group.hosts:
        known = {nic.name for nic in one.nics}
        for name in group.files.interfaces(one.name):
            if name not in known:
                place = group.place(netplan_file(one.name), f"ethernets.{name}")
                yield Defect(place, f"the host has no NIC {name}", f"remove {name}, or correct the name")


def _pairs(one: Interface) -> Iterator[Defect]:
    """Compares each address and gateway of a NIC with the address of the switch port."""
    texts, matching = one.texts, set()
    gateways = sorted({str(route["via"]) for route in one.rows("routes") if "via" in route})
    for held in one.held:
        mine = [str(address) for address in map(parse_interface, texts) if address and held.leads_to(address)]
        matching.update(mine)
        others = [via for via in gateways if via != held.text]
        if mine and not others:
            continue
        where = ((f"the switch, {one.end.switch.name}", one.end.switch.place(held.table, held.key)),)
        if not mine:
            network = held.value.network
            found = f"is {', '.join(texts)}" if texts else "is missing"
            message = f"the address {found}, expected the other address in {network} of the switch port"
            yield Defect(one.place("addresses"), message, f"use the other address in {network}", where)
        for via in others:
            gateway = parse_interface(via)
            if gateway is None or (gateway.version == held.version and int(gateway) != held.number):
                message = f"a route uses the gateway {via}, but the switch port has {held.ip}"
                yield Defect(one.place("routes"), message, f"set via to {held.ip}", where)
    extra = sorted(set(texts) - matching)
    if matching and extra:
        message = f"{', '.join(extra)} is not in a subnet of the switch port"
        yield Defect(one.place("addresses"), message, f"remove {', '.join(extra)}", one.switch_place("PORT"))


def _range(group: HostFiles, file: str, key: str) -> Iterator[Defect]:
    """Compares the range of addresses of a library with the addresses on the compute planes."""
    if file not in group.files.files:
        return
    used = [plane for plane in group.planes.values() if plane.purpose == Purpose.COMPUTE and plane.name in group.ports]
    pools = ", ".join(prefix for plane in used for prefix in plane.host_prefixes)
    text = group.files.settings(file).get(key)
    place = group.place(file, key)
    hint = f"set {key} to the host pool of the plane, {pools}"
    if text is None:
        if len(used) == 1 and pools:
            yield Defect(place, f"{key} is missing: {key.partition('_')[0]} uses the first address of each NIC", hint)
        return
    try:
        pool = ip_network(text, strict=False)
    except ValueError:
        yield Defect(place, f"{text!r} is not a prefix", hint)
        return
    if not text.partition("/")[2].isdecimal():
        effect = "NVSHMEM stops" if file == NVSHMEM else "NCCL uses the first address of each NIC"
        yield Defect(place, f"{text!r} has no prefix length: {effect}", hint)
        return
    nics = [nic for host in group.hosts for nic in host.nics if group.planes[nic.plane] in used]
    addresses = [(parse_interface(text), nic.name) for nic in nics for text in nic.addresses]
    same = [(address, nic) for address, nic in addresses if address and address.version == pool.version]
    missing = next((f"{address.ip} of {nic}" for address, nic in same if address not in pool), None)
    if missing or not same:
        yield Defect(place, f"{text} does not contain {missing or 'an address of a compute NIC'}", hint)
