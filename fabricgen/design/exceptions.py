"""Exceptions in a regular design: a switch of another model, a host at a spare port, cables of other lengths.

They come after the design, so that it stays regular: no other link changes its port, and no other device its numbers.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from fabricgen.design.model import Block, Fabric, Host, Link, PlaneDesign, Switch
from fabricgen.design.parts import PartsList
from fabricgen.findings import Finding
from fabricgen.inventory.access import AccessSpec
from fabricgen.inventory.mistakes import error, suggest
from fabricgen.inventory.model import DeviceNote, MoveNote
from fabricgen.inventory.topology import CableSpec, CableWhere
from fabricgen.units import counted, format_speed
from fabricgen.vocabulary import LinkKind, Technology

_CLOS_KINDS = (LinkKind.HOST_LEAF, LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE)


@dataclass(frozen=True)
class Named:
    """Identity -> name, and identity -> entry of `devices`, of switches and hosts."""

    names: Mapping[str, str]
    notes: Mapping[str, DeviceNote]

    def keys_of(self, text: str) -> list[str]:
        """The identities of a name or an identity."""
        return [key for key, name in self.names.items() if text in (key, name)]


# A switch of another model.


def with_device_platforms(fabric: Fabric, named: Named, parts: PartsList) -> tuple[Fabric, list[Finding]]:
    """The fabric with the switches whose entry of `devices` has a `platform`. Links keep their places: those to lower
    devices count from the first port of the speed, those to higher ones from the last, as in the design."""
    chosen = {key: note for key, note in named.notes.items() if note.platform}
    if not chosen:
        return fabric, []
    parts.findings.clear()
    designs = [_with_platforms(design, chosen, parts) for design in fabric.planes]
    return replace(fabric, planes=tuple(designs)), list(dict.fromkeys(parts.findings))


def _with_platforms(design: PlaneDesign, chosen: Mapping[str, DeviceNote], parts: PartsList) -> PlaneDesign:
    plane, changed = design.plane, dict[str, Switch]()
    for switch in design.switches:
        note = chosen.get(switch.key)
        if note is None:
            continue
        platform = parts.platform(note.platform or "", note)
        used = Counter(link.speed_mbps for link in design.links if switch in (link.a, link.b))
        if platform is None or not parts.serves(platform, plane, note):
            continue
        enough = (one for one in platform.layouts if all(len(one.ports_at(mbps)) >= used[mbps] for mbps in used))
        layout = None if note.layout else next(enough, None)
        layout = layout or parts.layout(platform, note.layout, {}, used, note)
        if layout:
            changed[switch.key] = replace(switch, platform=platform, layout=layout, spec=note)
    if not changed:
        return design
    is_clos = all(link.kind in _CLOS_KINDS for link in design.links)
    links = []
    for link in design.links:
        a, b = changed.get(link.a.key), changed.get(link.b.key)
        if a or b:
            ports = [
                _same_place(link, old, new, port, is_clos, chosen[new.key], parts.findings)
                if new is not None and isinstance(old, Switch)
                else port
                for old, new, port in ((link.a, a, link.a_port), (link.b, b, link.b_port))
            ]
            link = replace(link, a=a or link.a, b=b or link.b, a_port=ports[0], b_port=ports[1])
        links.append(link)
    switches = tuple(changed.get(switch.key, switch) for switch in design.switches)
    return replace(design, switches=switches, links=tuple(links))


def _same_place(
    link: Link, old: Switch, new: Switch, port: str, is_clos: bool, note: DeviceNote, findings: list[Finding]
) -> str:
    """The port of another model in the place of a port; the old name, with a finding, if it has none."""
    before, after = old.layout.ports_at(link.speed_mbps), new.layout.ports_at(link.speed_mbps)
    place = next((number for number, one in enumerate(before) if one.name == port), len(after))
    if is_clos and link.a.key == new.key:
        place += len(after) - len(before)
    fits = 0 <= place < len(after) and (is_clos or len(before) == len(after))
    if fits:
        return after[place].name
    ports = counted(len(after), f"port of {format_speed(link.speed_mbps)}", f"ports of {format_speed(link.speed_mbps)}")
    message = f"{new.platform.name} ({new.layout.name}) has {ports}, too few for the links of {new.key}"
    if not is_clos:
        message = f"{new.platform.name} ({new.layout.name}) has {ports}, {old.platform.name} {len(before)}"
    hint = "choose another platform or `layout`; docs/platforms.md lists their ports"
    findings.append(error("FG159", message, note, "platform", hint=hint))
    return port


# A host at a spare port.


def with_moves(fabric: Fabric, named: Named) -> tuple[Fabric, list[Finding]]:
    """The fabric with the hosts that `moves` plugs into other ports. At another switch the NIC gets a subnet of that
    switch; at the same one it keeps its addresses."""
    findings: list[Finding] = []
    if not fabric.inventory.moves:
        return fabric, findings
    switches = {switch.key: switch for switch in fabric.switches}
    taken = {(link.b.key, link.b_port) for link in fabric.links}
    taken |= {(link.a.key, link.a_port) for link in fabric.links if isinstance(link.a, Switch)}
    moved: dict[str, Link] = {}
    for note in fabric.inventory.moves:
        link = _link_of(fabric, named, note, findings)
        target = _port_of(switches, named, note, findings)
        if link is None or target is None:
            continue
        switch, port = target
        if problem := _misfit(link, switch, port, taken, moved, fabric.inventory.planes[link.plane].access):
            findings.append(error("FG158", problem[0], note, "port", hint=problem[1]))
            continue
        taken.add((switch.key, port))
        block, slot = link.block, link.slot
        if switch.key != link.b.key:
            block, slot = Block(f"{switch.key}/moved/{link.key}", link.plane, "hosts", 1, switch.key), 0
        moved[link.key] = replace(link, b=switch, b_port=port, block=block, slot=slot)
    designs = [
        replace(design, links=tuple(moved.get(link.key, link) for link in design.links)) for design in fabric.planes
    ]
    return replace(fabric, planes=tuple(designs)), findings


def _link_of(fabric: Fabric, named: Named, note: MoveNote, findings: list[Finding]) -> Link | None:
    host, _, nic = note.nic.rpartition(":")
    keys = set(named.keys_of(host))
    links = [link for link in fabric.links if isinstance(link.a, Host) and link.a.key in keys]
    found = next((link for link in links if link.a_port == nic), None)
    if found is None:
        known = sorted(f"{host}:{link.a_port}" for link in links) or sorted(set(named.names.values()))[:20]
        message = f"the fabric has no NIC {note.nic!r}"
        hint = suggest(note.nic, known) + ("" if ":" in note.nic else "; write host:nic, for example gpu-007:rail0")
        findings.append(error("FG107", message, note, "nic", hint=hint))
    return found


def _port_of(
    switches: Mapping[str, Switch], named: Named, note: MoveNote, findings: list[Finding]
) -> tuple[Switch, str] | None:
    name, _, port = note.port.rpartition(":")
    switch = next((switches[key] for key in named.keys_of(name) if key in switches), None)
    if switch is None or port not in switch.layout.port_by_name:
        known = sorted(named.names[key] for key in switches) if switch is None else list(switch.layout.port_by_name)
        what = f"switch {name!r}" if switch is None else f"port {port!r} of {name}"
        findings.append(
            error("FG107", f"the fabric has no {what}", note, "port", hint=suggest(port if switch else name, known))
        )
        return None
    return switch, port


def _misfit(
    link: Link,
    switch: Switch,
    port: str,
    taken: set[tuple[str, str]],
    moved: Mapping[str, Link],
    access: AccessSpec | None,
) -> tuple[str, str] | None:
    """Why a link cannot have a port, and what to do."""
    speed = switch.layout.port_by_name[port].speed_mbps
    if link.key in moved:
        return f"{link.a.key}:{link.a_port} is moved twice", "keep one of the two"
    if switch.identity.plane != link.plane:
        return f"{switch.key} is a switch of another plane than {link.plane}", "choose a port of this plane"
    if (switch.key, port) in taken:
        return f"{port} of {switch.key} has a link already", "choose a spare port; `capacity` counts them"
    in_vlan = access is not None and isinstance(link.a, Host) and access.of(link.a.group).kind.has_vlan
    if in_vlan and switch.key != link.b.key:
        return f"{link.a.key} is in the VLAN of {link.b.key}, whose subnet {switch.key} does not have", (
            "choose a port of the same leaf, or set `access: routed`"
        )
    if speed != link.speed_mbps:
        wanted = format_speed(link.speed_mbps)
        return f"{port} of {switch.key} has {format_speed(speed)}, the NIC {wanted}", f"choose a port of {wanted}"
    return None


# Cables of other lengths.


def with_cable_exceptions(fabric: Fabric, named: Named) -> tuple[Fabric, list[Finding]]:
    """The fabric with the lengths and media of single cables, racks and rows: the first entry of `where` that fits."""
    findings: list[Finding] = []
    if not any(spec.where for design in fabric.planes for spec in design.plane.cables.values()):
        return fabric, findings
    designs = []
    for design in fabric.planes:
        used: set[tuple[LinkKind, int]] = set()
        links = tuple(_with_length(design, link, named, used) for link in design.links)
        findings += _unused(design, used)
        designs.append(replace(design, links=links))
    return replace(fabric, planes=tuple(designs)), findings


def _with_length(design: PlaneDesign, link: Link, named: Named, used: set[tuple[LinkKind, int]]) -> Link:
    where: Sequence[CableWhere] = design.plane.cables[link.kind].where if link.kind in design.plane.cables else ()
    for index, one in enumerate(where):
        if _is_at(one, link, named):
            used.add((link.kind, index))
            medium = one.medium_at(link.speed_mbps, infiniband=design.plane.technology == Technology.INFINIBAND)
            spec = CableSpec(node=one.node, path=one.path, length_m=one.length_m, medium=medium)
            return replace(link, cable=spec)
    return link


def _is_at(where: CableWhere, link: Link, named: Named) -> bool:
    """Whether a link has an end in the rack, and an end whose name or identity, or a cable that, matches."""
    keys = link.a.key, link.b.key
    if where.rack is not None:
        notes = (named.notes.get(key) for key in keys)
        if not any(note and fnmatchcase(note.rack, where.rack) for note in notes):
            return False
    if where.device is not None:
        texts = [text for key in keys for text in (key, named.names[key])]
        if not any(fnmatchcase(text, where.device) for text in texts):
            return False
    return where.link is None or fnmatchcase(link.key, where.link)


def _unused(design: PlaneDesign, used: set[tuple[LinkKind, int]]) -> Iterator[Finding]:
    for kind, spec in design.plane.cables.items():
        if kind == LinkKind.PEER and "peer" not in design.plane.node.part("cables").mapping:
            continue  # those of leaf-spine
        for index, one in enumerate(spec.where):
            if (kind, index) not in used:
                message = f"no {kind} cable of plane {design.plane.name} is there"
                hint = "correct it, or remove it; `devices` has the racks, and cabling.csv the names of links"
                yield error("FG157", message, one, hint=hint)
