"""The ports of external routers and hosts, and the static routes behind them.

The inventory refers to switches by name or identity, so this plan comes after allocation. Links and routes that are not
possible are omitted and reported.
"""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.model import Fabric, Host, Link, Switch
from fabricgen.findings import Finding, Related
from fabricgen.inventory.mistakes import error, suggest
from fabricgen.inventory.outside import AddressPair, address_pairs
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.prefixes import Network, contains, networks
from fabricgen.inventory.routing import OutsideDevice, StaticSpec
from fabricgen.inventory.topology import CableSpec
from fabricgen.units import format_speed
from fabricgen.vocabulary import LinkKind, Technology

KIND = LinkKind.EXTERNAL


@dataclass(frozen=True, slots=True, eq=False)
class OutsideLink:
    """A cable from a switch port to an external device."""

    key: str
    plane: str
    switch: Switch
    port: str
    device: OutsideDevice
    speed_mbps: int
    cable: CableSpec
    addresses: tuple[AddressPair, ...]


@dataclass(frozen=True, slots=True)
class StaticRoute:
    """One next hop of a static route, and the port towards it."""

    prefix: str
    next_hop: str
    port: str
    spec: StaticSpec


@dataclass(frozen=True)
class OutsidePlan:
    """The external links and static routes of a fabric. `routes` is switch identity -> routes."""

    links: tuple[OutsideLink, ...] = ()
    routes: Mapping[str, tuple[StaticRoute, ...]] = field(default_factory=dict)


def plan_outside(fabric: Fabric, allocation: Allocation) -> tuple[OutsidePlan, list[Finding]]:
    """The external links and static routes of all planes, and the findings of those that are not possible."""
    return _Planner(fabric, allocation).plan()


class _Planner:
    def __init__(self, fabric: Fabric, allocation: Allocation) -> None:
        self.fabric, self.allocation = fabric, allocation
        self.findings: list[Finding] = []
        self.links: dict[tuple[str, str], OutsideLink] = {}
        self.routes: dict[str, list[StaticRoute]] = {}
        self.subnets: list[tuple[str, Part, Network]] = [
            (purpose, pool, network) for purpose, pool in fabric.inventory.pools for network in networks(pool.prefixes)
        ]
        self.names = {*allocation.names.values(), *allocation.host_names.values()}

    @cached_property
    def taken(self) -> dict[tuple[str, str], str]:
        """(switch, port) -> what it is used for."""
        return {
            (node.key, port): f"it connects to {far.key}"
            for link in self.fabric.links
            for node, port, far in ((link.a, link.a_port, link.b), (link.b, link.b_port, link.a))
            if isinstance(node, Switch)
        }

    def plan(self) -> tuple[OutsidePlan, list[Finding]]:
        for design in self.fabric.planes:
            plane = design.plane
            if plane.technology != Technology.ROCE:
                continue  # the inventory has reported external devices
            switches = {switch.key: switch for switch in design.switches}
            switches |= {self.allocation.names[switch.key]: switch for switch in design.switches}
            for device in plane.external:
                self._check_asn(plane, device)
                self._link(plane, device, switches)
            for static in plane.static:
                self._static(plane, static, switches, design.links)
        routes = {key: tuple(found) for key, found in self.routes.items()}
        return OutsidePlan(tuple(self.links.values()), routes), self.findings

    def _link(self, plane: Plane, device: OutsideDevice, switches: Mapping[str, Switch]) -> OutsideLink | None:
        switch = switches.get(device.switch)
        if switch is None:
            message = f"plane {plane.name} has no switch {device.switch!r}"
            self._refuse("FG107", message, device, "switch", hint=suggest(device.switch, sorted(switches)))
            return None
        port = switch.layout.port_by_name.get(device.port)
        if port is None:
            hint = suggest(device.port, list(switch.layout.port_by_name))
            self._refuse("FG204", f"{device.switch} has no port {device.port!r}", device, "port", hint=hint)
            return None
        place = (switch.key, device.port)
        earlier = self.links.get(place)
        if earlier and (earlier.device.name, earlier.device.addresses) == (device.name, device.addresses):
            return earlier
        if place in self.taken:
            free = [one.name for one in switch.layout.fabric_ports if (switch.key, one.name) not in self.taken]
            hint = f"free: {', '.join(free[-4:])}" if free else "the switch has no free port"
            message = f"{device.switch}:{device.port} is not free: {self.taken[place]}"
            self._refuse("FG205", message, device, "port", hint=hint)
            return None
        self.taken[place] = f"it connects to {device.name}"
        if device.name in self.names:
            message = f"{device.name} is the name of a switch or host of the fabric"
            self._refuse("FG119", message, device, "name", hint="give the device another name")
        if device.speed_mbps not in (None, port.speed_mbps):
            far, near = format_speed(device.speed_mbps or 0), format_speed(port.speed_mbps)
            message = f"the speeds of a link differ: {device.name} {far}, {device.port} {near}"
            self._refuse(
                "FG206",
                message,
                device,
                "speed",
                hint="set `speed` to that of the port, or give its cage another mode with `ports` of the device",
            )
        try:
            addresses = address_pairs(device)
        except ValueError:
            return None  # the inventory has reported it
        self._check_subnets(device, addresses)
        name = f"{device.name}:{device.peer_port}--{switch.key}:{device.port}"
        link = OutsideLink(name, plane.name, switch, device.port, device, port.speed_mbps, device.cable, addresses)
        self.links[place] = link
        return link

    def _check_asn(self, plane: Plane, device: OutsideDevice) -> None:
        pools, asn = plane.addressing, device.asn
        if pools is None or asn is None:
            return
        owner = next((key for key, number in self.allocation.asns.items() if number == asn), None)
        if owner or pools.asns.first <= asn <= pools.asns.last:
            why = f"{owner} has it" if owner else f"the fabric numbers from {pools.asns.first} to {pools.asns.last}"
            hint = "keep the ranges separate with `asn: {first, last}`: BGP refuses paths that contain its own ASN"
            self._refuse("FG396", f"ASN {asn} of {device.name} belongs to the fabric: {why}", device, "asn", hint=hint)

    def _check_subnets(self, device: OutsideDevice, addresses: Sequence[AddressPair]) -> None:
        for local, length, _ in addresses:
            network = ipaddress.ip_interface(f"{local}/{length}").network
            for what, part, taken in self.subnets:
                if part is not device and network.version == taken.version and network.overlaps(taken):
                    related = (Related(f"{what}: {taken}", part.at()),)
                    message = f"{network} to {device.name} overlaps {taken}, {what}"
                    hint = "use a prefix that no pool and no other link has"
                    self._refuse("FG395", message, device, "address", hint=hint, related=related)
            self.subnets.append((f"the link to {device.name}", device, network))

    def _static(self, plane: Plane, static: StaticSpec, switches: Mapping[str, Switch], links: Sequence[Link]) -> None:
        if static.device:
            link = self._link(plane, static.device, switches)
            switch, port = (link.switch, link.port) if link else (None, "")
            hops = [pair.peer for pair in link.addresses] if link else []
        elif static.via:
            nic = next((one for one in links if isinstance(one.a, Host) and static.via == _nic(one)), None)
            if nic is None:
                known = sorted(_nic(one) for one in links if isinstance(one.a, Host))
                message = f"plane {plane.name} has no NIC {static.via!r}"
                self._refuse("FG107", message, static, "via", hint=suggest(static.via, known))
            switch = nic.b if nic else None
            port = (nic.access.interface if nic.access else nic.b_port) if nic else ""
            hops = [host for host, _, _ in self.allocation.link_addresses(nic)] if nic else []
        else:
            return  # the inventory has reported it
        for prefix in networks(static.prefixes):
            self._check_prefix(plane, static, prefix)
            hop = next((text for text in hops if ipaddress.ip_address(text).version == prefix.version), None)
            if hop and switch:
                self.routes.setdefault(switch.key, []).append(StaticRoute(str(prefix), hop, port, static))
            elif hops:
                message = f"the next hop of {prefix} has no IPv{prefix.version} address"
                self._refuse("FG116", message, static, "prefix", hint="give both ends an address of that family")

    def _check_prefix(self, plane: Plane, static: StaticSpec, prefix: Network) -> None:
        pools = plane.addressing.pools if plane.addressing else {}
        for name, pool in pools.items():
            for network in networks(pool.prefixes):
                if contains(network, prefix):
                    message = f"static route {prefix} lies in {network}, the plane's pool of {name}"
                    related = (Related(f"{name}: {network}", pool.at()),)
                    hint = "use a prefix outside the pool, whose addresses belong to switches and hosts"
                    self._refuse("FG397", message, static, "prefix", hint=hint, related=related)

    def _refuse(
        self, code: str, message: str, part: Part, step: str, *, hint: str, related: tuple[Related, ...] = ()
    ) -> None:
        self.findings.append(error(code, message, part, step, hint=hint, related=related))


def _nic(link: Link) -> str:
    return f"{link.a.key}:{link.a_port}"
