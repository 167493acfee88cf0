"""fabric.json and cabling.csv: the designed wiring, with names."""

import csv
from collections.abc import Iterator, Mapping
from io import StringIO

from fabricgen.allocation.allocate import Allocation
from fabricgen.allocation.guids import count_placeholders
from fabricgen.bundle.wiring import (
    WiredAdapter,
    WiredBalance,
    WiredBond,
    WiredCable,
    WiredDevice,
    WiredExternal,
    WiredHost,
    WiredLink,
    WiredModel,
    WiredNic,
    WiredPlaceholders,
    WiredPlane,
    WiredSpeaker,
    WiredTenant,
    WiredVlan,
    Wiring,
    link_state,
)
from fabricgen.control_plane.cordons import Cordons
from fabricgen.control_plane.outside import KIND, OutsideLink, OutsidePlan
from fabricgen.control_plane.tenants import TenantPlan
from fabricgen.design.access import interface_of_vlan
from fabricgen.design.model import Fabric, HostAccess, Link, PlaneDesign, Switch
from fabricgen.inventory.model import DeviceNote
from fabricgen.inventory.plane import Plane
from fabricgen.platforms.model import HostModel
from fabricgen.sonic.canonical import natural_key
from fabricgen.units import format_length, format_speed
from fabricgen.visible import cell
from fabricgen.vocabulary import DeviceState, LinkKind, Medium, Purpose, Role, Technology


def make_wiring(
    fabric: Fabric, allocation: Allocation, outside: OutsidePlan, cordons: Cordons, tenants: TenantPlan
) -> Wiring:
    """The wiring of a fabric and of what is plugged into it from outside, with its cordoned links and its tenants."""
    cable_of = {link: cable.key for cable in fabric.cables for link in cable.links}
    pods = _pods(fabric)
    return Wiring(
        fabric=fabric.inventory.fabric,
        planes=tuple(_plane(design) for design in fabric.planes),
        devices=tuple(_device(switch, fabric.inventory.planes, pods, allocation) for switch in fabric.switches),
        hosts=tuple(_hosts(fabric, allocation)),
        links=(
            *(_link(link, allocation, cable_of[link.key]) for link in fabric.links),
            *(_outside_link(link, allocation) for link in outside.links),
        ),
        cables=(
            *(
                WiredCable(cable.key, cable.length_m, Medium(cable.medium), cable.links, cable.legs)
                for cable in fabric.cables
            ),
            *(
                WiredCable(link.key, link.cable.length_m, Medium(link.cable.medium), (link.key,))
                for link in outside.links
            ),
        ),
        externals=tuple(_external(link) for link in outside.links),
        host_models=tuple(map(_model, {host.model.name: host.model for host in fabric.hosts}.values())),
        placeholders=tuple(
            WiredPlaceholders(design.plane.name, *counts)
            for design in fabric.planes
            if any(counts := count_placeholders(design, allocation.guids))
        ),
        checks=fabric.inventory.checks,
        tenants=tuple(
            WiredTenant(
                name,
                tuple((allocation.host_names[link.a.key], link.a_port) for link in links),
                tenants.partners[name],
            )
            for name, links in tenants.ends.items()
        ),
        speakers=tuple(
            WiredSpeaker(group, design.plane.name, bgp.asn, bgp.prefixes, bgp.filtered)
            for design in fabric.planes
            for group in design.plane.host_groups
            if design.plane.access and (bgp := design.plane.access.of(group).bgp)
        ),
        cordoned=tuple(sorted(cordons, key=natural_key)),
    )


def _plane(design: PlaneDesign) -> WiredPlane:
    plane, lossless = design.plane, design.plane.lossless
    technology, purpose = Technology(plane.technology), Purpose(plane.purpose)
    if technology != Technology.ROCE:
        return WiredPlane(plane.name, technology, plane.design, purpose=purpose)
    return WiredPlane(
        name=plane.name,
        technology=technology,
        design=plane.design,
        lossless=tuple(sorted(lossless.classes)),
        roce_dscp={str(priority): values for priority, values in lossless.classes.items()},
        cnp_dscp=lossless.cnp_dscp if lossless.classes else None,
        roce_mtu=None if plane.is_management else plane.roce_mtu_bytes,
        purpose=purpose,
        host_prefixes=plane.addressing.hosts.prefixes if plane.addressing else (),
        load_balancing=_balance(plane),
        isolation=plane.isolation,
    )


def _balance(plane: Plane) -> WiredBalance | None:
    balance, gap_us = plane.balance, plane.balance.flowlet_gap_us
    return WiredBalance(balance.mode, balance.unit, gap_us and gap_us * 1000) if balance.unit else None


def _model(model: HostModel) -> WiredModel:
    nics = tuple(WiredAdapter(nic.name, nic.model, nic.pci, nic.rdma, nic.gpu) for nic in model.nics)
    return WiredModel(model.name, model.vendor, model.gpus, nics)


def _pods(fabric: Fabric) -> dict[str, int | None]:
    """Leaf -> the pod of all its spines: its identity has its scalable unit only, which may come into another pod."""
    found: dict[str, set[int | None]] = {}
    for link in fabric.links:
        if link.kind == LinkKind.LEAF_SPINE and isinstance(link.a, Switch):
            found.setdefault(link.a.key, set()).add(link.b.identity.pod)
    return {leaf: pods.pop() for leaf, pods in found.items() if len(pods) == 1}


def _coordinates(switch: Switch, plane: Plane) -> tuple[int, ...]:
    identity = switch.identity
    if plane.torus is not None:
        place = identity.number
        found = []
        for size in plane.torus.size:
            place, at = divmod(place, size)
            found.append(at)
        return tuple(found)
    return (identity.su, identity.number) if plane.dragonfly and identity.su is not None else ()


def _device(
    switch: Switch, planes: Mapping[str, Plane], pods: Mapping[str, int | None], allocation: Allocation
) -> WiredDevice:
    identity, note = switch.identity, allocation.notes.get(switch.key)
    return WiredDevice(
        name=allocation.names[switch.key],
        identity=switch.key,
        plane=identity.plane,
        role=Role(switch.role),
        platform=switch.platform.name,
        layout=switch.layout.name,
        hwsku=switch.layout.hwsku,
        technology=Technology(planes[identity.plane].technology),
        subplane=identity.subplane,
        pod=pods.get(switch.key) if identity.pod is None else identity.pod,
        su=identity.su,
        rail=identity.rail,
        loopbacks=allocation.loopbacks.get(switch.key, ()),
        management=allocation.management.get(switch.key, ()),
        node_guid=allocation.guids.switches.get(switch.key, ""),
        **_place(note),
        state=DeviceState.ACTIVE if note is None else DeviceState(note.state),
        mmu_bytes=switch.platform.mmu_bytes,
        coordinates=_coordinates(switch, planes[identity.plane]),
    )


def _place(note: DeviceNote | None) -> dict[str, str]:
    return {} if note is None else {key: getattr(note, key) for key in ("rack", "unit", "serial")}


def _hosts(fabric: Fabric, allocation: Allocation) -> Iterator[WiredHost]:
    nics: dict[str, list[WiredNic]] = {}
    bonds: dict[str, dict[str, list[str]]] = {}
    vlans: dict[str, list[WiredVlan]] = {}
    for link in fabric.links:
        if link.nic is not None:
            addresses = allocation.link_addresses(link)
            if link.access:
                ports = bonds.setdefault(link.a.key, {}).setdefault(link.access.bond, []) if link.access.bond else []
                addresses = [] if ports else addresses
                if not ports:
                    vlans.setdefault(link.a.key, []).extend(_vlans(link, link.access, allocation))
                ports.append(link.a_port)
            texts = tuple(f"{host}/{length}" for host, _, length in addresses)
            guids = allocation.guids.adapters.get((link.a.key, link.a_port), ())
            nic = WiredNic(link.a_port, link.plane, link.rail, link.speed_mbps, texts, *guids)
            nics.setdefault(link.a.key, []).append(nic)
    for host in fabric.hosts:
        name = allocation.host_names[host.key]
        trays = host.model.hosts_per_domain
        yield WiredHost(
            name,
            host.group,
            host.model.name,
            tuple(nics.get(host.key, ())),
            **_place(allocation.host_notes.get(host.key)),
            nic_settings=fabric.inventory.hosts[host.group].nic_settings,
            rdma_names=fabric.inventory.hosts[host.group].rdma_names,
            nvlink_domain=f"{host.group}-nvl{host.number // trays}" if trays > 1 else "",
            bonds=tuple(WiredBond(bond, tuple(ports)) for bond, ports in bonds.get(host.key, {}).items()),
            vlans=tuple(vlans.get(host.key, ())),
        )


def _vlans(link: Link, access: HostAccess, allocation: Allocation) -> Iterator[WiredVlan]:
    """The tagged VLANs of a NIC or of its bond."""
    parent = access.bond or link.a_port
    for one in access.tagged:
        pairs = allocation.vlan_addresses(one.block, access.slot)
        texts = tuple(f"{host}/{length}" for host, _, length in pairs)
        yield WiredVlan(interface_of_vlan(parent, one.number), parent, one.number, texts)


def _link(link: Link, allocation: Allocation, cable: str) -> WiredLink:
    low = allocation.names[link.a.key] if isinstance(link.a, Switch) else allocation.host_names[link.a.key]
    high = allocation.names[link.b.key]
    return WiredLink(
        link.key,
        link.plane,
        LinkKind(link.kind),
        (low, link.a_port),
        (high, link.b_port),
        link.speed_mbps,
        cable,
        link.rail,
    )


def _outside_link(link: OutsideLink, allocation: Allocation) -> WiredLink:
    far = (link.device.name, link.device.peer_port)
    near = (allocation.names[link.switch.key], link.port)
    return WiredLink(link.key, link.plane, LinkKind(KIND), far, near, link.speed_mbps, link.key)


def _external(link: OutsideLink) -> WiredExternal:
    device = link.device
    addresses = tuple(f"{pair.peer}/{pair.length}" for pair in link.addresses)
    return WiredExternal(device.name, device.peer_port, link.plane, device.asn, addresses)


def dump_cabling(wiring: Wiring) -> bytes:
    """cabling.csv: a line for each cable, both ends by device and ports (several where it carries several links).

    A breakout cable has a line for each leg. The column `state` exists while a link is
    cordoned; a line is cordoned if any of its links is.
    """
    links = {link.id: link for link in wiring.links}
    devices: tuple[WiredDevice | WiredHost, ...] = (*wiring.devices, *wiring.hosts)
    place = {device.name: (device.rack, device.unit) for device in devices}
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    ends = [f"{end}_{column}" for end in "ab" for column in ("device", "ports", "rack", "unit")]
    cordoned = set(wiring.cordoned)
    table.writerow(["cable", "plane", "kind", *ends, "length", "medium", "speed", *(["state"] if cordoned else [])])
    for cable in wiring.cables:
        for arm in cable.arms:
            carried = [links[name] for name in arm]
            first = carried[0]
            row = [cable.id, first.plane, first.kind]
            for device, ports in (
                (first.a[0], [link.a[1] for link in carried]),
                (first.b[0], [link.b[1] for link in carried]),
            ):
                row += [device, " ".join(ports), *place.get(device, ("", ""))]
            speed = format_speed(first.speed_mbps)
            speed = f"{len(carried)}x{speed}" if len(carried) > 1 else speed
            row += [format_length(cable.length_m), cable.medium, speed]
            if cordoned:
                row.append(str(link_state(carried, cordoned)))
            table.writerow(map(cell, row))
    return text.getvalue().encode()
