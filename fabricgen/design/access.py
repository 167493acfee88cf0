"""Links of hosts that are in a VLAN of their switch, by themselves or in a bond.

A VLAN has one subnet on each switch, which is the gateway: no frame of a host crosses a link between switches. The
subnet has an address for each port of the switch, so a host keeps its address when others come.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabricgen.design.model import Block, Fabric, Host, HostAccess, Link, PlaneDesign
from fabricgen.findings import Finding
from fabricgen.inventory.access import AccessSpec, PortAccess
from fabricgen.inventory.mistakes import error, suggest, warning
from fabricgen.inventory.plane import Plane
from fabricgen.sonic.addresses import is_ipv4
from fabricgen.vocabulary import AccessKind, BgpAddressing, Technology

LONGEST_BOND = 15  # linux IFNAMSIZ


def with_access(fabric: Fabric) -> tuple[Fabric, list[Finding]]:
    """The fabric with the VLANs and bonds of its planes, and findings for those that cannot be."""
    findings: list[Finding] = []
    if not any(design.plane.access for design in fabric.planes):
        return fabric, findings
    designs = [_with_access(design, findings) for design in fabric.planes]
    findings += _equal_bonds(designs)
    return replace(fabric, planes=tuple(designs)), findings


def _with_access(design: PlaneDesign, findings: list[Finding]) -> PlaneDesign:
    plane, spec = design.plane, design.plane.access
    if spec is None:
        return design
    found = list(_setting_problems(design, spec))
    findings += found
    if found:
        return design
    shared: dict[str, HostAccess] = {}
    blocks: dict[str, Block] = {}
    for host, links in _links_by_host(design).items():
        own = spec.of(host.group)
        if own.kind == AccessKind.VLAN:
            shared |= {link.id: HostAccess(own.vlan, link.slot, own) for link in links}
        elif own.kind == AccessKind.BOND:
            shared |= _bonded(plane.name, own, links)
    findings += _split_bonds(design, shared)
    links = []
    for link in design.links:
        access = shared.get(link.id)
        if access is None:
            links.append(link)
            continue
        key = f"{link.block.key}/vlan{access.vlan}"
        block = blocks.setdefault(key, replace(link.block, key=key, is_shared=True))
        links.append(replace(link, block=block, access=access))
    return replace(design, links=tuple(links))


def _links_by_host(design: PlaneDesign) -> Mapping[Host, Sequence[Link]]:
    found: dict[Host, list[Link]] = {}
    for link in design.links:
        if isinstance(link.a, Host):
            found.setdefault(link.a, []).append(link)
    return found


def _bonded(plane: str, spec: PortAccess, links: Sequence[Link]) -> dict[str, HostAccess]:
    """The links of one host as a bond. A port channel has the number of its first port."""
    first = min(links, key=_port_number)
    name = spec.bond or f"bond-{plane}"
    channel = f"PortChannel{_port_number(first)}"
    return {link.id: HostAccess(spec.vlan, first.slot, spec, name, channel) for link in links}


def _port_number(link: Link) -> int:
    """The number of the switch port of a link."""
    return int(link.b_port.removeprefix("Ethernet"))


def _setting_problems(design: PlaneDesign, spec: AccessSpec) -> Iterator[Finding]:
    """Findings for settings that no link of the plane can have."""
    plane = design.plane
    if plane.technology == Technology.INFINIBAND:
        yield error("FG105", "an InfiniBand plane has no `access`", plane, "access", hint="remove it")
        return
    for name in spec.groups:
        if name not in plane.host_groups:
            hint = suggest(name, list(plane.host_groups))
            message = f"plane {plane.name} has no hosts of group {name!r}"
            yield error("FG107", message, spec, "groups", name, hint=hint)
    if plane.isolation is not None:
        message = "tenants of hosts in a VLAN reach each other inside it, and no ACL of the switch sees their frames"
        yield error("FG153", message, plane, "access", hint="set `access: routed`, or remove `isolation`")
    yield from _dhcp_problems(plane, spec)
    for name in plane.host_groups:
        own = spec.of(name)
        if own.kind != AccessKind.BOND:
            for given in ("bond", "fallback"):
                if given in own.node.mapping and own.path != spec.path:
                    yield error("FG105", f"`{given}` is for bonds", own, given, hint="remove it, or set `kind: bond`")
            continue
        bond = own.bond or f"bond-{plane.name}"
        if len(bond) > LONGEST_BOND:
            message = f"{bond!r} is longer than the {LONGEST_BOND} characters of an interface's name"
            hint = "give the bond a shorter name, with `bond` of `access`"
            yield error("FG154", message, plane, "access", hint=hint)
        if any(link.rail is not None for link in design.links if isinstance(link.a, Host) and link.a.group == name):
            message = f"hosts {name} have NICs on rails of plane {plane.name}, which collectives use one by one"
            yield error("FG154", message, plane, "access", hint="set `access: vlan` or `routed` on planes with rails")


def _dhcp_problems(plane: Plane, spec: AccessSpec) -> Iterator[Finding]:
    """Findings for DHCP servers that no relay reaches, and for VLANs with two lists of them."""
    of_vlan: dict[int, PortAccess] = {}
    for own in [spec, *spec.groups.values()]:
        for index, text in enumerate(own.dhcp):
            if not is_ipv4(text):
                hint = "write the IPv4 address of a server"
                yield error("FG105", f"{text!r} is not an IPv4 address", own, "dhcp", index, hint=hint)
        if own.dhcp and own.kind == AccessKind.ROUTED:
            hint = "remove it, or set `kind: vlan` or `bond`"
            yield error("FG105", "a routed port has no DHCP relay", own, "dhcp", hint=hint)
        elif own.dhcp and plane.bgp == BgpAddressing.UNNUMBERED:
            message = "the relay listens for answers on interfaces with an IPv4 address only, and the uplinks have none"
            yield error("FG156", message, own, "dhcp", hint="set `bgp: numbered`, or remove `dhcp`")
        if own.kind != AccessKind.ROUTED:
            other = of_vlan.setdefault(own.vlan, own)
            if other.dhcp != own.dhcp:
                message = f"VLAN {own.vlan} has other DHCP servers in {other.path}"
                hint = "a VLAN has one list of servers: repeat it, or use another `vlan`"
                yield error("FG156", message, own, hint=hint)


def _split_bonds(design: PlaneDesign, shared: Mapping[str, HostAccess]) -> Iterator[Finding]:
    """Bonds with ports at several switches, and those with one port only: one finding for each group."""
    split: dict[str, tuple[Host, list[str]]] = {}
    single: dict[str, Host] = {}
    for host, links in _links_by_host(design).items():
        if not any(shared[link.id].bond for link in links if link.id in shared):
            continue
        switches = list(dict.fromkeys(str(link.b.key) for link in links))
        if len(switches) > 1:
            split.setdefault(host.group, (host, switches))
        elif len(links) == 1:
            single.setdefault(host.group, host)
    for group, (host, switches) in split.items():
        message = f"the NICs of {host.key} are connected to {' and '.join(switches)}: a bond of hosts {group} needs one"
        hint = "set `leaves_per_unit: 1`, or `access: vlan`, which needs no bond"
        yield error("FG155", message, design.plane, "access", hint=hint)
    for group in single:
        message = f"hosts {group} have one NIC port on plane {design.plane.name}: a bond of one port adds nothing"
        yield warning("FG155", message, design.plane, "access", hint="set `access: vlan`")


def _equal_bonds(designs: Sequence[PlaneDesign]) -> Iterator[Finding]:
    """Bonds of one host on two planes with the same name."""
    taken: dict[tuple[str, str], str] = {}
    for design in designs:
        names = {(link.a.group, link.access.bond) for link in design.links if link.access and isinstance(link.a, Host)}
        for group, bond in sorted(names):
            if bond and (other := taken.setdefault((group, bond), design.plane.name)) != design.plane.name:
                message = f"the bond {bond} of hosts {group} is also that of plane {other}"
                hint = "give one of them another name, with `bond` of `access`"
                yield error("FG154", message, design.plane, "access", hint=hint)
