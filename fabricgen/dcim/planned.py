"""The objects of a bundle: what the source of truth should have.

Ports without a link, and devices outside the fabric, are left to the people who plan them.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING

from fabricgen.dcim.objects import Item, ObjectKind, Ref, Value
from fabricgen.dcim.ports import LAG, MANAGEMENT, PORT, VIRTUAL, DcimPorts, read_all, vlan_identity
from fabricgen.platforms.catalog import host_model, switch_platform
from fabricgen.sonic.tables import vlan_name
from fabricgen.units import whole_number
from fabricgen.vocabulary import DeviceState, Medium, Role

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredDevice, WiredHost, WiredLink, Wiring

_STATUS = {DeviceState.DRAINED: "offline"}  # of a device; the other states have equal names
_CABLE_TYPES = {Medium.DAC: "dac-passive", Medium.AEC: "dac-active", Medium.UTP: "cat6"}
_RACK_UNITS = 42
_UNKNOWN = "unknown"


class PlannedObjects:
    """The objects of a bundle, by kind. `wanted` chooses devices by name; `site` is the name of their site."""

    def __init__(self, bundle: "Bundle", wiring: "Wiring", site: str, wanted: Callable[[str], bool]) -> None:
        self.fabric = wiring.fabric
        self._wiring, self._site = wiring, Ref(ObjectKind.SITE, site)
        self._switches = [device for device in wiring.devices if wanted(device.name)]
        self._hosts = [(key, host) for key, host in _host_keys(wiring) if wanted(host.name)]
        self._refs = {device.name: self._device(device.identity) for device in self._switches}
        self._refs |= {host.name: self._device(key) for key, host in self._hosts}
        self._planned = {device.name for device in self._switches if device.state == DeviceState.PLANNED}
        hosts = [host for _, host in self._hosts]
        self._ports = DcimPorts(bundle, wiring, self._refs, self._switches, hosts)

    def items(self, kind: ObjectKind) -> Iterator[Item]:
        """The objects of a kind, each identity once, in the order of fabric.json."""
        if kind in _UNIQUE:
            yield from _MAKERS[kind](self)
            return
        seen: set[str] = set()
        for item in _MAKERS[kind](self):
            if item.identity not in seen:
                seen.add(item.identity)
                yield item

    @property
    def repeated(self) -> int:
        """The addresses that a second interface has, too. A source of truth has each address once."""
        return sum(len(port.addresses) for port in self._ports) - sum(1 for _ in self._ports.placed())

    @property
    def outside(self) -> int:
        """The links to devices that are not among these objects."""
        return sum(not self._has_both_ends(link) for link in self._wiring.links)

    def _device(self, identity: str) -> Ref:
        return Ref(ObjectKind.DEVICE, f"{self.fabric}:{identity}")

    def _has_both_ends(self, link: "WiredLink") -> bool:
        return link.a[0] in self._refs and link.b[0] in self._refs

    def _sites(self) -> Iterator[Item]:
        yield Item(ObjectKind.SITE, self._site.identity, self._site.identity)

    def _types(self) -> Iterator[tuple[str, str, str]]:
        """(manufacturer, model, part number) of each device: of a switch its hwsku and the name of its platform."""
        for device in self._switches:
            yield _switch_type(device)
        for _, host in self._hosts:
            yield _host_type(host)

    def _manufacturers(self) -> Iterator[Item]:
        for manufacturer, _, _ in self._types():
            yield Item(ObjectKind.MANUFACTURER, manufacturer, manufacturer)

    def _device_types(self) -> Iterator[Item]:
        for manufacturer, model, part in self._types():
            initial: dict[str, Value] = {
                "manufacturer": Ref(ObjectKind.MANUFACTURER, manufacturer),
                "part_number": part,
            }
            yield Item(ObjectKind.DEVICE_TYPE, model, model, initial=initial)

    def _roles(self) -> Iterator[Item]:
        for role in (*(device.role for device in self._switches), *(Role.HOST for _ in self._hosts)):
            yield Item(ObjectKind.ROLE, role, role)

    def _racks(self) -> Iterator[Item]:
        members: list[WiredDevice | WiredHost] = [*self._switches, *(host for _, host in self._hosts)]
        heights: dict[str, int] = {}
        for each in members:
            if each.rack:
                heights[each.rack] = max(heights.get(each.rack, _RACK_UNITS), whole_number(each.unit) or 0)
        for rack, height in heights.items():
            initial: dict[str, Value] = {"site": self._site, "u_height": height, "status": "active"}
            yield Item(ObjectKind.RACK, rack, rack, initial=initial)

    def _vlan_groups(self) -> Iterator[Item]:
        """A group for each plane with VLANs: the same number on two planes is two VLANs."""
        for plane in dict.fromkeys(plane for plane, _ in self._ports.vlans):
            name = f"{self.fabric}-{plane}"
            yield Item(ObjectKind.VLAN_GROUP, name, name)

    def _vlans(self) -> Iterator[Item]:
        for plane, number in self._ports.vlans:
            group = Ref(ObjectKind.VLAN_GROUP, f"{self.fabric}-{plane}")
            initial: dict[str, Value] = {"vid": number, "group": group, "status": "active"}
            yield Item(ObjectKind.VLAN, vlan_identity(plane, number), vlan_name(number), initial=initial)

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
        facts: dict[str, Value] = {"role": Ref(ObjectKind.ROLE, role), "status": status}
        if device.serial:
            facts["serial"] = device.serial
        if device.rack:
            facts["rack"] = Ref(ObjectKind.RACK, device.rack)
            if unit := whole_number(device.unit):
                facts["position"] = unit
        return facts

    def _device_item(self, ref: Ref, name: str, facts: Mapping[str, Value], model: str) -> Item:
        initial: dict[str, Value] = {"site": self._site, "device_type": Ref(ObjectKind.DEVICE_TYPE, model)}
        return Item(ObjectKind.DEVICE, ref.identity, name, {"name": name, **facts}, initial)

    def _interfaces(self) -> Iterator[Item]:
        names: set[str] = set()
        device: Ref | None = None
        for port in self._ports:
            if port.device is not device:
                device, names = port.device, set()
            if port.name in names:
                continue
            names.add(port.name)
            initial = _INITIAL_PORT[port.type, port.name == MANAGEMENT]
            fields = {"name": port.name, **port.fields}
            yield Item(
                ObjectKind.INTERFACE, port.identity, f"{port.device_name}:{port.name}", fields, initial, port.device
            )

    def _prefixes(self) -> Iterator[Item]:
        """The networks of the addresses, and the pools of hosts, the widest first."""
        pools = {one.network for plane in self._wiring.planes for one in read_all(plane.host_prefixes)}
        networks = self._ports.networks() | pools
        for network in sorted(networks, key=itemgetter(0, 2, 1)):  # version, length, number
            initial: dict[str, Value] = {"container": network in pools, "status": "active"}
            text = str(network)
            yield Item(ObjectKind.PREFIX, f"{self.fabric}:{text}", text, {"prefix": text}, initial)

    def _address(self, ip: str) -> Ref:
        return Ref(ObjectKind.ADDRESS, f"{self.fabric}:{ip}")

    def _addresses(self) -> Iterator[Item]:
        for address, port in self._ports.placed():
            ip = address.ip
            fields: dict[str, Value] = {
                "address": f"{ip}/{address.length}", "interface": Ref(ObjectKind.INTERFACE, port.identity)
            }  # fmt: skip
            yield Item(ObjectKind.ADDRESS, f"{self.fabric}:{ip}", ip, fields, _ACTIVE)

    def _primaries(self) -> Iterator[Item]:
        """The first management address of each family."""
        for port in self._ports.management():
            first: dict[str, Value] = {}
            for address in port.addresses:
                first.setdefault(f"primary_ip{address.version}", self._address(address.ip))
            yield Item(ObjectKind.PRIMARY, port.device.identity, port.device_name, first)

    def _cables(self) -> Iterator[Item]:
        """One for each link: an interface has one cable there. The label is the cable of the bundle."""
        cables = {link: cable for cable in self._wiring.cables for link in cable.links}
        links = {link.id: link for link in reversed(self._wiring.links) if self._has_both_ends(link)}
        for link in reversed(links.values()):  # the first of each identity
            (near, near_port), (far, far_port) = link.a, link.b
            ends = (
                Ref(ObjectKind.INTERFACE, f"{self._refs[near].identity}:{near_port}"),
                Ref(ObjectKind.INTERFACE, f"{self._refs[far].identity}:{far_port}"),
            )
            is_planned = near in self._planned or far in self._planned
            fields: dict[str, Value] = {"ends": ends, "status": "planned" if is_planned else "connected"}
            if cable := cables.get(link.id):
                fields |= {"label": cable.id, **_made(cable.length_m, cable.medium)}
            name = f"{near}:{near_port} -- {far}:{far_port}"
            yield Item(ObjectKind.CABLE, f"{self.fabric}:{link.id}", name, fields)


_MAKERS: Mapping[ObjectKind, Callable[[PlannedObjects], Iterator[Item]]] = {
    ObjectKind.SITE: PlannedObjects._sites,
    ObjectKind.MANUFACTURER: PlannedObjects._manufacturers,
    ObjectKind.DEVICE_TYPE: PlannedObjects._device_types,
    ObjectKind.ROLE: PlannedObjects._roles,
    ObjectKind.RACK: PlannedObjects._racks,
    ObjectKind.VLAN_GROUP: PlannedObjects._vlan_groups,
    ObjectKind.VLAN: PlannedObjects._vlans,
    ObjectKind.DEVICE: PlannedObjects._devices,
    ObjectKind.INTERFACE: PlannedObjects._interfaces,
    ObjectKind.PREFIX: PlannedObjects._prefixes,
    ObjectKind.ADDRESS: PlannedObjects._addresses,
    ObjectKind.PRIMARY: PlannedObjects._primaries,
    ObjectKind.CABLE: PlannedObjects._cables,
}


_UNIQUE = frozenset(
    {ObjectKind.INTERFACE, ObjectKind.PREFIX, ObjectKind.ADDRESS, ObjectKind.CABLE}
)  # their makers repeat no identity
_ACTIVE: Mapping[str, Value] = {"status": "active"}
_INITIAL_PORT: Mapping[tuple[str, bool], Mapping[str, Value]] = {
    (kind, managed): {"type": kind, "mgmt_only": managed, "status": "active"}
    for kind in (PORT, LAG, VIRTUAL)
    for managed in (True, False)
}


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


@cache
def _made(metres: float, medium: Medium) -> Mapping[str, Value]:
    """Length and type. Nautobot has whole numbers only, so a fraction of a metre is in centimetres."""
    whole = metres == int(metres)
    return {
        "length": int(metres) if whole else round(metres * 100),
        "length_unit": "m" if whole else "cm",
        "type": _CABLE_TYPES.get(medium, str(medium)),
    }
