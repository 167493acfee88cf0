"""Where the addresses of hosts are attached: switch, port, VRF, ACLs, and the switches that it is connected to."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredLink, Wiring
from fabricgen.results.isolation import HostAddress, RowPlace
from fabricgen.sonic.acl import AclTable, acl_tables, interfaces, members
from fabricgen.sonic.addresses import Address, read_address
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.evpn import Overlay, vteps_of
from fabricgen.sonic.frr_lines import frr_conf
from fabricgen.sonic.image import has_translation, interface_addresses, rows, text
from fabricgen.sonic.vrf_routes import VrfRoutes
from fabricgen.sonic.vrfs import DEFAULT

_INTERFACES = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE")


@dataclass(frozen=True)
class Attachment:
    """An address of a host with what decides where its packets go. `part` names the switches that links connect, and
    `domain` those and the VRF in which routing leads to an address. `leaks` are the other domains with a route to it,
    and the (switch, table, key) of that route; `imports` are the domains whose routes its VRF has from other switches.
    `underlay` are the prefixes that its packets reach in the default VRF. `is_connected`: its port, or a port channel
    or VLAN above it, has a subnet of the address. `sends` and `receives` are (switch, ACL) at its port, for packets
    from it and to it."""

    end: HostAddress
    address: Address
    part: str
    domain: tuple[str, ...]
    vrf_row: RowPlace | None
    leaks: Mapping[tuple[str, ...], RowPlace]
    imports: frozenset[tuple[str, ...]]
    underlay: frozenset[Address]
    is_connected: bool
    sends: tuple[tuple[str, AclTable], ...]
    receives: tuple[tuple[str, AclTable], ...]


class Vtep(NamedTuple):
    """A VRF of a switch that VXLAN packets to an address of it enter, and the domains whose routes the VRF has. Chips
    do not compare who sends such packets: a host that reaches the address in the default VRF reaches the VRF."""

    switch: str
    vrf: str
    address: Address
    part: str
    imports: frozenset[tuple[str, ...]]

    @property
    def domains(self) -> frozenset[tuple[str, ...]]:
        """The VRF, and the domains whose routes it has."""
        return self.imports | {(self.switch, self.vrf)}


class _Switch:
    """What a switch has at its ports: ACLs and VRFs, of interfaces and of the port channels and VLANs above them."""

    def __init__(self, bundle: Bundle, name: str) -> None:
        self.name, config = name, bundle.devices[name].config
        self._above: dict[str, list[str]] = {}
        joined = members(config)
        for group, port in joined:
            self._above.setdefault(port, []).append(group)
        self.routes = VrfRoutes(config)
        self._vrf: dict[str, tuple[str, RowPlace]] = {}
        for table in _INTERFACES:
            for key, row in rows(config, table).items():
                if "|" not in key and (vrf := text(row, "vrf_name")):
                    self._vrf[key] = vrf, (name, table, key)
        self._subnets: dict[str, list[Address]] = {}
        for one in interface_addresses(config):
            self._subnets.setdefault(one.interface, []).append(one.network)
        self._acls: dict[str, list[AclTable]] = {}
        for acl in acl_tables(config):
            for port in interfaces(acl, joined):
                self._acls.setdefault(port, []).append(acl)

    def interfaces(self, port: str) -> tuple[str, ...]:
        """A port, and the port channels and VLANs above it."""
        return (port, *self._above.get(port, ()))

    def vrf(self, port: str) -> tuple[str, RowPlace | None]:
        """The VRF of a port, and the row that says so."""
        for interface in self.interfaces(port):
            if found := self._vrf.get(interface):
                return found
        return DEFAULT, None

    def has_subnet_of(self, address: Address, interfaces: Iterable[str]) -> bool:
        """Whether one of these interfaces has a subnet with this address."""
        return any(subnet.covers(address) for one in interfaces for subnet in self._subnets.get(one, ()))

    def domain(self, vrf: str, part: str) -> tuple[str, ...]:
        """Where routing of a VRF leads: a VRF ends at its switch, as far as EVPN does not carry its routes to
        others."""
        return (part,) if vrf == DEFAULT else (self.name, vrf)

    def acls(self, port: str, stage: str) -> tuple[tuple[str, AclTable], ...]:
        """(switch, ACL) of a stage that is bound to a port."""
        return tuple((self.name, acl) for acl in self._acls.get(port, ()) if acl.stage == stage)


@dataclass(frozen=True)
class Attachments:
    """The addresses of the hosts of a plane, the NICs whose address or port the files do not have, the switches of
    hosts whose FRR reads another file than their tables mean, and the VRFs that VXLAN packets enter."""

    found: Sequence[Attachment]
    left_out: Sequence[tuple[str, str]]
    unread: Sequence[str]
    vteps: Sequence[Vtep]

    @cached_property
    def by_version(self) -> Mapping[int, Sequence[Attachment]]:
        """The addresses of each IP version: packets do not pass from one to the other."""
        return {
            version: own for version in (4, 6) if (own := [one for one in self.found if one.address.version == version])
        }


def attachments(bundle: Bundle, wiring: Wiring, plane: str) -> Attachments:
    """The attachments of the hosts of a plane, in the order of fabric.json."""
    links = {link.a: link for link in bundle.host_links if link.plane == plane}
    part_of = _parts([link for link in bundle.switch_links if link.plane == plane])
    overlay = _overlay(bundle, plane)
    switches = {name: _Switch(bundle, name) for name in {link.b[0] for link in links.values()}}
    found: list[Attachment] = []
    left_out: list[tuple[str, str]] = []
    for host in wiring.hosts:
        for nic in host.nics:
            if nic.plane != plane:
                continue
            end = host.name, nic.name
            link = links.get(end)
            addresses = [address for one in nic.addresses if (address := read_address(one))]
            if link is None or not addresses:
                left_out.append(end)
                continue
            evpn = overlay.get(link.b[0], (link.b[0], False))
            found += _of_link(link, addresses, wiring.tenant_of.get(end, ""), switches[link.b[0]], part_of, evpn)
    devices = [bundle.devices[name] for name in switches]
    unread = [one.name for one in devices if has_translation(one.config) and one.frr_conf != frr_conf(one.config)]
    names = sorted(switches.keys() | overlay.keys(), key=natural_key)
    vteps = list(_vteps(bundle, names, {name: one.routes for name, one in switches.items()}, part_of, overlay))
    return Attachments(found, left_out, sorted(unread, key=natural_key), vteps)


def _of_link(
    link: WiredLink,
    addresses: Iterable[Address],
    tenant: str,
    switch: _Switch,
    part_of: Mapping[str, str],
    evpn: tuple[str, bool],
) -> Iterator[Attachment]:
    name, port = link.b
    vrf, row = switch.vrf(port)
    part = part_of.get(name, name)
    domain, interfaces = switch.domain(vrf, part), switch.interfaces(port)
    # A VTEP that no packet reaches still sends.
    evpn_part, is_reached = evpn
    imports = frozenset((evpn_part, *target) for target in switch.routes.imports(vrf))
    underlay, sends, receives = switch.routes.underlay(vrf), switch.acls(port, "ingress"), switch.acls(port, "egress")
    for address in addresses:
        end = HostAddress(*link.a, address.ip, tenant, name, port)
        leaks = {
            switch.domain(*key, part) if len(key) == 1 else (evpn_part, *key): (name, *own)
            for key, own in switch.routes.to(vrf, interfaces, address.host).items()
            if len(key) == 1 or is_reached
        }
        is_connected = switch.has_subnet_of(address.host, interfaces)
        yield Attachment(end, address.host, part, domain, row, leaks, imports, underlay, is_connected, sends, receives)


def _vteps(
    bundle: Bundle,
    names: Iterable[str],
    known: Mapping[str, VrfRoutes],
    part_of: Mapping[str, str],
    overlay: Mapping[str, tuple[str, bool]],
) -> Iterator[Vtep]:
    """The VRFs with a VNI, on switches that have the address of their VTEP. `known` are the routes of some switches."""
    for name in names:
        config = bundle.devices[name].config
        if not (ends := list(vteps_of(config))):
            continue
        own = {one.host for one in interface_addresses(config)}
        routes = known.get(name) or VrfRoutes(config)
        for vrf, address in ends:
            if address in own:
                evpn_part, _ = overlay.get(name, (name, False))
                imports = frozenset((evpn_part, *target) for target in routes.imports(vrf))
                yield Vtep(name, vrf, address, part_of.get(name, name), imports)


def _overlay(bundle: Bundle, plane: str) -> dict[str, tuple[str, bool]]:
    """Switch with a VTEP -> the first name of the switches that EVPN sessions connect it to, and whether VXLAN packets
    reach it: their address is a loopback of this switch, and of no other one."""
    links = [link for link in bundle.switch_links if link.plane == plane]
    names = sorted({end[0] for link in links for end in (link.a, link.b)})
    overlays = {name: Overlay(bundle.devices[name].config) for name in names if name in bundle.devices}
    speaking = [
        link
        for link in links
        if all(end[0] in overlays and overlays[end[0]].speaks(end[1]) for end in (link.a, link.b))
    ]
    part_of = _parts(speaking)
    held: dict[str, set[str]] = {}
    for name in overlays:
        for key in rows(bundle.devices[name].config, "LOOPBACK_INTERFACE"):
            if "|" in key:
                held.setdefault(key.partition("|")[2].partition("/")[0], set()).add(name)
    sources = Counter(overlay.vtep[1] for overlay in overlays.values())
    return {
        name: (part_of.get(name, name), held.get(overlay.vtep[1]) == {name} and sources[overlay.vtep[1]] == 1)
        for name, overlay in overlays.items()
        if overlay.vtep[1]
    }


def _parts(links: Iterable[WiredLink]) -> dict[str, str]:
    """Switch -> the first name of the switches that it is connected to, by any number of links."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while (above := parent.setdefault(name, name)) != name:
            parent[name] = parent[above]
            name = above
        return name

    for link in links:
        first, second = sorted((root(link.a[0]), root(link.b[0])))
        parent[second] = first
    return {name: root(name) for name in parent}
