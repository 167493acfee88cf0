"""Links of hosts that are in VLANs of their switch or in a bond, or both.

A VLAN has one subnet on each switch, which is the gateway: no frame of a host crosses a link between switches. The
subnet has an address for each port of the switch, so a host keeps its address when others come. The two leaves of a
pair share the subnet and the gateway.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabricgen.design.model import Block, Fabric, Host, HostAccess, Link, PlaneDesign, TaggedVlan
from fabricgen.design.pairs import Pair, find_pairs, port_number, with_peer_links
from fabricgen.findings import Finding
from fabricgen.inventory.access import AccessSpec, PortAccess
from fabricgen.inventory.mistakes import error, suggest, warning
from fabricgen.inventory.plane import Plane
from fabricgen.sonic.addresses import is_ipv4
from fabricgen.vocabulary import AccessKind, BgpAddressing, Technology

LONGEST_NAME = 15  # linux IFNAMSIZ


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
    by_host = _links_by_host(design)
    dual = {host: links for host, links in by_host.items() if spec.of(host.group).kind == AccessKind.BOND}
    pairs: dict[str, Pair] = {}
    if spec.mclag:
        pairs, found = find_pairs(design, spec, spec.mclag, dual)
        if found:
            findings += found
            return design
    shared: dict[str, HostAccess] = {}
    routed: dict[str, Block] = {}  # link of a routed bond -> the block of its first port
    for host, links in by_host.items():
        own = spec.of(host.group)
        if own.kind == AccessKind.VLAN:
            shared |= {link.key: HostAccess(own.vlan, link.slot, own) for link in links}
        elif own.kind.has_bond:
            shared |= _bonded(plane.name, own, links, pairs if own.kind == AccessKind.BOND else {})
            if own.kind == AccessKind.ROUTED_BOND:
                block = min(links, key=lambda link: port_number(link.b_port)).block
                routed |= {link.key: block for link in links}
    findings += _split_bonds(design, {key: one for key, one in shared.items() if not one.is_dual})
    links = list(_links_with(shared, routed, pairs, design.links))
    return replace(design, links=tuple(with_peer_links(links, spec.mclag, pairs) if spec.mclag else links))


def _links_with(
    shared: Mapping[str, HostAccess], routed: Mapping[str, Block], pairs: Mapping[str, Pair], links: Sequence[Link]
) -> Iterator[Link]:
    """The links with the blocks of their VLANs. A bond at two leaves has those of the first leaf."""
    of_leaf = {link.b.key: link.block for link in links if link.key in shared}
    for link in links:
        access = shared.get(link.key)
        if access is None:
            yield link
        elif access.vlan is None:
            yield replace(link, block=routed[link.key], access=access)
        else:
            own = of_leaf[pairs[link.b.key].first.key] if access.is_dual else link.block
            tagged = tuple(TaggedVlan(number, _in_vlan(own, number)) for number in access.spec.tagged)
            yield replace(link, block=_in_vlan(own, access.vlan), access=replace(access, tagged=tagged))


def _in_vlan(block: Block, number: int) -> Block:
    """The block of a VLAN at the switch of a block: a subnet with an address for each of its slots."""
    return replace(block, key=f"{block.key}/vlan{number}", is_shared=True)


def _links_by_host(design: PlaneDesign) -> Mapping[Host, Sequence[Link]]:
    found: dict[Host, list[Link]] = {}
    for link in design.links:
        if isinstance(link.a, Host):
            found.setdefault(link.a, []).append(link)
    return found


def _bonded(plane: str, spec: PortAccess, links: Sequence[Link], pairs: Mapping[str, Pair]) -> dict[str, HostAccess]:
    """The links of one host as a bond. A port channel has the number of its first port; at a pair of leaves it has the
    number of the first port at the first leaf, because iccpd looks for equal names."""
    pair = pairs.get(links[0].b.key)
    numbered = [link for link in links if pair is None or link.b is pair.first]
    first = min(numbered, key=lambda link: port_number(link.b_port))
    name = spec.bond or f"bond-{plane}"
    channel, vlan = f"PortChannel{port_number(first.b_port)}", spec.vlan if spec.kind.has_vlan else None
    return {link.key: HostAccess(vlan, first.slot, spec, name, channel, is_dual=pair is not None) for link in links}


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
        yield from _tagged_problems(design, own, name)
        if not own.kind.has_bond:
            for given in ("bond", "fallback"):
                if given in own.node.mapping and own.path != spec.path:
                    yield error("FG105", f"`{given}` is for bonds", own, given, hint="remove it, or set `kind: bond`")
            continue
        bond = own.bond or f"bond-{plane.name}"
        if len(bond) > LONGEST_NAME:
            message = f"{bond!r} is longer than the {LONGEST_NAME} characters of an interface's name"
            hint = "give the bond a shorter name, with `bond` of `access`"
            yield error("FG154", message, plane, "access", hint=hint)
        if any(link.rail is not None for link in design.links if isinstance(link.a, Host) and link.a.group == name):
            message = f"hosts {name} have NICs on rails of plane {plane.name}, which collectives use one by one"
            yield error("FG154", message, plane, "access", hint="set `access: vlan` or `routed` on planes with rails")


def _tagged_problems(design: PlaneDesign, own: PortAccess, group: str) -> Iterator[Finding]:
    """Findings for tagged VLANs that the ports of a group cannot have."""
    if not own.tagged:
        return
    plane = design.plane
    if not own.kind.has_vlan:
        hint = "remove it, or set `kind: vlan` or `bond`"
        yield error(
            "FG105", f"`tagged` is for ports in a VLAN, and `{own.kind}` ports are in none", own, "tagged", hint=hint
        )
    elif own.vlan in own.tagged:
        message = f"VLAN {own.vlan} is the native VLAN of these ports: its frames have no tag"
        hint = "remove it from `tagged`, or set another `vlan`"
        yield error("FG690", message, own, "tagged", own.tagged.index(own.vlan), hint=hint)
    ports = (link.a_port for link in design.links if isinstance(link.a, Host) and link.a.group == group)
    parents = [own.bond or f"bond-{plane.name}"] if own.kind.has_bond else list(dict.fromkeys(ports))
    for index, number in enumerate(own.tagged):
        if name := next(
            (name for parent in parents if len(name := interface_of_vlan(parent, number)) > LONGEST_NAME), ""
        ):
            message = f"{name!r} is longer than the {LONGEST_NAME} characters of an interface's name"
            hint = "give the bond a shorter name, for example `bond: bond0`"
            hint = hint if own.kind.has_bond else "give the NICs of `host_models` shorter names"
            yield error("FG690", message, own, "tagged", index, hint=hint)
            break


def interface_of_vlan(parent: str, number: int) -> str:
    """The interface of a host for a tagged VLAN of a NIC or bond, as `ip link` and netplan's examples name it."""
    return f"{parent}.{number}"


def _dhcp_problems(plane: Plane, spec: AccessSpec) -> Iterator[Finding]:
    """Findings for DHCP servers that no relay reaches, and for VLANs with two lists of them."""
    of_vlan: dict[int, PortAccess] = {}
    for own in [spec, *spec.groups.values()]:
        for index, text in enumerate(own.dhcp):
            if not is_ipv4(text):
                hint = "write the IPv4 address of a server"
                yield error("FG105", f"{text!r} is not an IPv4 address", own, "dhcp", index, hint=hint)
        if own.dhcp and not own.kind.has_vlan:
            hint = "remove it, or set `kind: vlan` or `bond`"
            yield error("FG105", "a routed port has no DHCP relay", own, "dhcp", hint=hint)
        elif own.dhcp and plane.bgp == BgpAddressing.UNNUMBERED:
            message = "the relay listens for answers on interfaces with an IPv4 address only, and the uplinks have none"
            yield error("FG156", message, own, "dhcp", hint="set `bgp: numbered`, or remove `dhcp`")
        if own.kind.has_vlan:
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
        if not any(shared[link.key].bond for link in links if link.key in shared):
            continue
        switches = list(dict.fromkeys(str(link.b.key) for link in links))
        if len(switches) > 1:
            split.setdefault(host.group, (host, switches))
        elif len(links) == 1:
            single.setdefault(host.group, host)
    for group, (host, switches) in split.items():
        message = f"the NICs of {host.key} are connected to {' and '.join(switches)}: a bond of hosts {group} needs one"
        hint = "set `leaves_per_unit: 1`, or `mclag: {}` of `access` for bonds that end at two leaves"
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
