"""The objects of a bundle: what the source of truth should have.

Ports without a link, and devices outside the fabric, are left to the people who plan them.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface, ip_interface, ip_network
from typing import TYPE_CHECKING

from fabricgen.dcim.objects import Item, Kind, Ref, Scalar, Value
from fabricgen.platforms.catalog import host_model, switch_platform
from fabricgen.units import whole_number
from fabricgen.vocabulary import DeviceState, Medium, Role

if TYPE_CHECKING:
    from fabricgen.bundle.device import ObservedDevice
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredDevice, WiredHost, WiredLink, Wiring

LOOPBACK, MANAGEMENT = "Loopback0", "eth0"
_STATUS = {DeviceState.DRAINED: "offline"}  # of a device; the other states have equal names
_CABLE_TYPES = {Medium.DAC: "dac-passive", Medium.AEC: "dac-active", Medium.UTP: "cat6"}
_RACK_UNITS = 42
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _Port:
    """An interface with its addresses."""

    device: Ref
    device_name: str
    name: str
    fields: Mapping[str, Value]
    type: str
    addresses: tuple[IPv4Interface | IPv6Interface, ...] = ()

    @property
    def ref(self) -> Ref:
        return Ref(Kind.INTERFACE, f"{self.device.identity}:{self.name}")


class Planned:
    """The objects of a bundle, by kind. `wanted` chooses devices by name; `site` is the name of their site."""

    def __init__(self, bundle: "Bundle", wiring: "Wiring", site: str, wanted: Callable[[str], bool]) -> None:
        self.fabric = wiring.fabric
        self._wiring, self._site = wiring, Ref(Kind.SITE, site)
        self._switches = [device for device in wiring.devices if wanted(device.name)]
        self._hosts = [(key, host) for key, host in _host_keys(wiring) if wanted(host.name)]
        self._refs = {device.name: self._device(device.identity) for device in self._switches}
        self._refs |= {host.name: self._device(key) for key, host in self._hosts}
        self._states = {device.name: device.state for device in self._switches}
        linked: dict[str, list[tuple[str, int]]] = {}
        for link in wiring.links:
            for name, port in (link.a, link.b):
                linked.setdefault(name, []).append((port, link.speed_mbps))
        self._ports = [
            port
            for device in self._switches
            for port in self._switch_ports(device, bundle.devices.get(device.name), linked.get(device.name, ()))
        ] + [port for _, host in self._hosts for port in self._host_ports(host)]
        self._placed = _once(self._ports)

    def items(self, kind: Kind) -> Iterator[Item]:
        """The objects of a kind, each identity once, in the order of fabric.json."""
        seen: set[str] = set()
        for item in _MAKERS[kind](self):
            if item.identity not in seen:
                seen.add(item.identity)
                yield item

    @property
    def repeated(self) -> int:
        """The addresses that a second interface has, too. A source of truth has each address once."""
        return sum(len(port.addresses) for port in self._ports) - len(self._placed)

    @property
    def outside(self) -> int:
        """The links to devices that are not among these objects."""
        return sum(not self._has_both_ends(link) for link in self._wiring.links)

    def _device(self, identity: str) -> Ref:
        return Ref(Kind.DEVICE, f"{self.fabric}:{identity}")

    def _has_both_ends(self, link: "WiredLink") -> bool:
        return link.a[0] in self._refs and link.b[0] in self._refs

    def _sites(self) -> Iterator[Item]:
        yield Item(Kind.SITE, self._site.identity, self._site.identity)

    def _types(self) -> Iterator[tuple[str, str, str]]:
        """(manufacturer, model, part number) of each device: of a switch its hwsku and the name of its platform."""
        for device in self._switches:
            yield _switch_type(device)
        for _, host in self._hosts:
            yield _host_type(host)

    def _manufacturers(self) -> Iterator[Item]:
        for manufacturer, _, _ in self._types():
            yield Item(Kind.MANUFACTURER, manufacturer, manufacturer)

    def _device_types(self) -> Iterator[Item]:
        for manufacturer, model, part in self._types():
            initial: dict[str, Value] = {"manufacturer": Ref(Kind.MANUFACTURER, manufacturer), "part_number": part}
            yield Item(Kind.DEVICE_TYPE, model, model, initial=initial)

    def _roles(self) -> Iterator[Item]:
        for role in (*(device.role for device in self._switches), *(Role.HOST for _ in self._hosts)):
            yield Item(Kind.ROLE, role, role)

    def _racks(self) -> Iterator[Item]:
        members: list[WiredDevice | WiredHost] = [*self._switches, *(host for _, host in self._hosts)]
        heights: dict[str, int] = {}
        for each in members:
            if each.rack:
                heights[each.rack] = max(heights.get(each.rack, _RACK_UNITS), whole_number(each.unit) or 0)
        for rack, height in heights.items():
            initial: dict[str, Value] = {"site": self._site, "u_height": height, "status": "active"}
            yield Item(Kind.RACK, rack, rack, initial=initial)

    def _devices(self) -> Iterator[Item]:
        for device in self._switches:
            status = _STATUS.get(device.state, str(device.state))
            facts = self._facts(device, device.role, status)
            yield self._device_item(self._refs[device.name], device.name, facts, _switch_type(device)[1])
        for _, host in self._hosts:
            facts = self._facts(host, Role.HOST, "active")
            yield self._device_item(self._refs[host.name], host.name, facts, _host_type(host)[1])

    def _facts(self, device: "WiredDevice | WiredHost", role: Role, status: str) -> dict[str, Value]:
        """What the bundle states. Rack, unit and serial that it does not state are left to the source of truth."""
        facts: dict[str, Value] = {"role": Ref(Kind.ROLE, role), "status": status}
        if device.serial:
            facts["serial"] = device.serial
        if device.rack:
            facts["rack"] = Ref(Kind.RACK, device.rack)
            if unit := whole_number(device.unit):
                facts["position"] = unit
        return facts

    def _device_item(self, ref: Ref, name: str, facts: Mapping[str, Value], model: str) -> Item:
        initial: dict[str, Value] = {"site": self._site, "device_type": Ref(Kind.DEVICE_TYPE, model)}
        return Item(Kind.DEVICE, ref.identity, name, {"name": name, **facts}, initial)

    def _switch_ports(
        self, device: "WiredDevice", observed: "ObservedDevice | None", linked: Collection[tuple[str, int]]
    ) -> Iterator[_Port]:
        ref = self._refs[device.name]
        rows = observed.content.peek() if observed else {}
        addresses = _addresses(rows.get("INTERFACE", {}))
        for name, speed_mbps in linked:
            row = rows.get("PORT", {}).get(name, {})
            fields: dict[str, Value] = {"speed": speed_mbps * 1000}  # in kb/s
            if row:
                fields["enabled"] = row.get("admin_status") == "up"
            if alias := row.get("alias"):
                fields["label"] = str(alias)
            if mtu := whole_number(row.get("mtu")):
                fields["mtu"] = mtu
            yield _Port(ref, device.name, name, fields, "other", addresses.get(name, ()))
        if device.loopbacks:
            hosts = tuple(map(ip_interface, device.loopbacks))
            yield _Port(ref, device.name, LOOPBACK, {"enabled": True}, "virtual", hosts)
        if device.management:
            found = tuple(map(ip_interface, device.management))
            yield _Port(ref, device.name, MANAGEMENT, {"enabled": True}, "other", found)

    def _host_ports(self, host: "WiredHost") -> Iterator[_Port]:
        for nic in host.nics:
            fields = {"speed": nic.speed_mbps * 1000}
            yield _Port(
                self._refs[host.name], host.name, nic.name, fields, "other", tuple(map(ip_interface, nic.addresses))
            )

    def _interfaces(self) -> Iterator[Item]:
        for port in self._ports:
            initial: dict[str, Value] = {"type": port.type, "mgmt_only": port.name == MANAGEMENT, "status": "active"}
            fields = {"name": port.name, **port.fields}
            yield Item(
                Kind.INTERFACE, port.ref.identity, f"{port.device_name}:{port.name}", fields, initial, port.device
            )

    def _prefixes(self) -> Iterator[Item]:
        """The networks of the addresses, and the pools of hosts, the widest first."""
        pools = {ip_network(text) for plane in self._wiring.planes for text in plane.host_prefixes}
        networks = {address.network for address in self._placed} | pools
        for network in sorted(networks, key=lambda one: (one.version, one.prefixlen, int(one.network_address))):
            initial: dict[str, Value] = {"container": network in pools, "status": "active"}
            yield Item(Kind.PREFIX, f"{self.fabric}:{network}", str(network), {"prefix": str(network)}, initial)

    def _address(self, address: IPv4Interface | IPv6Interface) -> Ref:
        return Ref(Kind.ADDRESS, f"{self.fabric}:{address.ip}")

    def _addresses(self) -> Iterator[Item]:
        for address, port in self._placed.items():
            fields: dict[str, Value] = {"address": str(address), "interface": port.ref}
            name = str(address.ip)
            yield Item(Kind.ADDRESS, self._address(address).identity, name, fields, {"status": "active"})

    def _primaries(self) -> Iterator[Item]:
        """The first management address of each family."""
        for port in self._ports:
            if port.name == MANAGEMENT:
                first: dict[str, Value] = {}
                for address in port.addresses:
                    first.setdefault(f"primary_ip{address.version}", self._address(address))
                yield Item(Kind.PRIMARY, port.device.identity, port.device_name, first)

    def _cables(self) -> Iterator[Item]:
        """One for each link: an interface has one cable there. The label is the cable of the bundle."""
        cables = {link: cable for cable in self._wiring.cables for link in cable.links}
        for link in filter(self._has_both_ends, self._wiring.links):
            planned = any(self._states.get(name) == DeviceState.PLANNED for name, _ in (link.a, link.b))
            ends = tuple(Ref(Kind.INTERFACE, f"{self._refs[name].identity}:{port}") for name, port in (link.a, link.b))
            fields: dict[str, Value] = {"ends": ends, "status": "planned" if planned else "connected"}
            if cable := cables.get(link.id):
                fields |= {"label": cable.id, **_length(cable.length_m)}
                fields["type"] = _CABLE_TYPES.get(cable.medium, str(cable.medium))
            name = " -- ".join(map(":".join, (link.a, link.b)))
            yield Item(Kind.CABLE, f"{self.fabric}:{link.id}", name, fields)


_MAKERS: Mapping[Kind, Callable[[Planned], Iterator[Item]]] = {
    Kind.SITE: Planned._sites,
    Kind.MANUFACTURER: Planned._manufacturers,
    Kind.DEVICE_TYPE: Planned._device_types,
    Kind.ROLE: Planned._roles,
    Kind.RACK: Planned._racks,
    Kind.DEVICE: Planned._devices,
    Kind.INTERFACE: Planned._interfaces,
    Kind.PREFIX: Planned._prefixes,
    Kind.ADDRESS: Planned._addresses,
    Kind.PRIMARY: Planned._primaries,
    Kind.CABLE: Planned._cables,
}


def _once(ports: list[_Port]) -> dict[IPv4Interface | IPv6Interface, _Port]:
    """Each host address once, at the first interface that has it."""
    found: dict[object, tuple[IPv4Interface | IPv6Interface, _Port]] = {}
    for port in ports:
        for address in port.addresses:
            found.setdefault(address.ip, (address, port))
    return dict(found.values())


def _host_keys(wiring: "Wiring") -> Iterator[tuple[str, "WiredHost"]]:
    """(group/number, host): the identity of a host, as inventories write it."""
    numbers: dict[str, int] = {}
    for host in wiring.hosts:
        number = numbers[host.group] = numbers.get(host.group, -1) + 1
        yield f"{host.group}/{number}", host


def _switch_type(device: "WiredDevice") -> tuple[str, str, str]:
    platform = switch_platform(device.platform)
    return (platform.vendor if platform else "") or _UNKNOWN, device.hwsku or device.platform, device.platform


def _host_type(host: "WiredHost") -> tuple[str, str, str]:
    model = host_model(host.model)
    return (model.vendor if model else "") or _UNKNOWN, host.model or _UNKNOWN, ""


def _addresses(rows: Mapping[str, object]) -> dict[str, tuple[IPv4Interface | IPv6Interface, ...]]:
    found: dict[str, tuple[IPv4Interface | IPv6Interface, ...]] = {}
    for key in rows:
        name, _, text = key.partition("|")
        if text:
            found[name] = (*found.get(name, ()), ip_interface(text))
    return found


def _length(metres: float) -> dict[str, Scalar]:
    """Nautobot has whole numbers only, so a fraction of a metre is in centimetres."""
    if metres == int(metres):
        return {"length": int(metres), "length_unit": "m"}
    return {"length": round(metres * 100), "length_unit": "cm"}
