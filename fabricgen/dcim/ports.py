"""The interfaces of a bundle with their addresses: what the files of switches state of them, in little memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from fabricgen.dcim.objects import ObjectKind, Ref, Value
from fabricgen.sonic.addresses import Address, read_address
from fabricgen.sonic.tables import Table, channel_of, vlans_of
from fabricgen.units import whole_number

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredDevice, WiredHost, WiredLink, Wiring

LOOPBACK, MANAGEMENT = "Loopback0", "eth0"
PORT, LAG, VIRTUAL = "other", "lag", "virtual"  # types of interfaces, by their names in both APIs
_ADDRESSED = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE")
_ENABLED: Mapping[str, Value] = {"enabled": True}
_NOTHING: Mapping[str, Value] = {}


class Port(NamedTuple):
    """An interface with its addresses."""

    device: Ref
    device_name: str
    name: str
    fields: Mapping[str, Value]
    type: str
    texts: str  # the addresses, as the files have them

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Its addresses."""
        return read_all(self.texts.split())

    @property
    def identity(self) -> str:
        """Its unique key."""
        return f"{self.device.identity}:{self.name}"


class _Stated(NamedTuple):
    """What the files state of an interface; None, 0 or "" if they do not state it. `lag` is its port channel."""

    name: str
    speed_mbps: int
    enabled: bool | None
    label: str
    mtu: int | None
    lag: str = ""
    type: str = PORT
    vlan: int | None = None
    tagged: tuple[int, ...] = ()


_ROUTED = _Stated("", 0, None, "", None)


class DcimPorts:
    """The interfaces with a link, port channels, bonds and VLAN interfaces, and those of loopbacks and management.

    `refs` are those of the devices by name. A port channel comes before its members, which refer to it.
    """

    def __init__(
        self,
        bundle: "Bundle",
        wiring: "Wiring",
        refs: Mapping[str, Ref],
        switches: "Sequence[WiredDevice]",
        hosts: "Sequence[WiredHost]",
    ) -> None:
        self._refs, self._switches, self._hosts = refs, switches, hosts
        linked: dict[str, list[WiredLink]] = {device.name: [] for device in switches}
        for link in wiring.links:
            for name in {link.a[0], link.b[0]} & linked.keys():
                linked[name].append(link)
        # Switches of a model share what is stated of their ports. The addresses are one text, a line for each port.
        self._stated: dict[str, tuple[_Stated, ...]] = {}
        self._texts: dict[str, str] = {}
        shared: dict[tuple[_Stated, ...], tuple[_Stated, ...]] = {}
        planes = self._planes = {device.name: device.plane for device in switches}
        self._vlans: dict[tuple[str, int], None] = {}
        self._carriers: dict[tuple[str, str], tuple[str, _Stated]] = {}  # NIC -> plane, port with VLANs at its far end
        for name, links in linked.items():
            observed = bundle.devices.get(name)
            rows = observed.content.peek() if observed else {}
            ports = tuple(_stated(rows, name, links))
            for port in ports:
                self._vlans |= dict.fromkeys((planes[name], number) for number in _numbers(port))
            carriers = {port.name: port for port in ports if _numbers(port)}
            lags = {port.name: port.lag for port in ports}
            for link in links if carriers else ():
                if carrier := carriers.get(lags.get(link.b[1], "") or link.b[1]):
                    self._carriers[link.a] = planes[name], carrier
            self._stated[name] = shared.setdefault(ports, ports)
            texts = _addresses(key for table in _ADDRESSED for key in rows.get(table, {}))
            self._texts[name] = "\n".join(" ".join(texts.get(port.name, ())) for port in ports)

    @property
    def vlans(self) -> list[tuple[str, int]]:
        """(plane, number) of the VLANs, in their order."""
        return sorted(self._vlans)

    def __iter__(self) -> Iterator[Port]:
        """The interfaces, device by device. They are made for each use: a large fabric has 700,000."""
        for device in self._switches:
            yield from self._switch_ports(device)
        for host in self._hosts:
            yield from self._host_ports(host)

    def _switch_ports(self, device: "WiredDevice") -> Iterator[Port]:
        ref, name = self._refs[device.name], device.name
        for port, texts in zip(self._stated[name], self._texts[name].split("\n"), strict=False):
            fields = _joined(_port_fields(port), ref, port.lag)
            yield Port(ref, name, port.name, _in_vlans(fields, port, self._planes[name]), port.type, texts)
        if device.loopbacks:
            yield Port(ref, name, LOOPBACK, _ENABLED, VIRTUAL, " ".join(device.loopbacks))
        if device.management:
            yield self._management(device)

    def _management(self, device: "WiredDevice") -> Port:
        return Port(self._refs[device.name], device.name, MANAGEMENT, _ENABLED, PORT, " ".join(device.management))

    def management(self) -> Iterator[Port]:
        """The management interfaces of switches."""
        return map(self._management, (device for device in self._switches if device.management))

    def _host_ports(self, host: "WiredHost") -> Iterator[Port]:
        """Its bonds, NIC ports and tagged VLANs. A bond has the addresses of its ports."""
        ref, name = self._refs[host.name], host.name
        bond_of = {nic: bond.name for bond in host.bonds for nic in bond.nics}
        for bond in host.bonds:
            texts = " ".join(text for nic in host.nics if nic.name in bond.nics for text in nic.addresses)
            fields = self._far_vlans(name, next(iter(bond.nics), ""), _NOTHING)
            yield Port(ref, name, bond.name, fields, LAG, texts)
        for nic in host.nics:
            bond_name = bond_of.get(nic.name, "")
            texts = "" if bond_name else " ".join(nic.addresses)
            fields = _joined(_speed(nic.speed_mbps), ref, bond_name)
            own = fields if bond_name else self._far_vlans(name, nic.name, fields)
            yield Port(ref, name, nic.name, own, PORT, texts)
        for vlan in host.vlans:
            yield Port(ref, name, vlan.name, _NOTHING, VIRTUAL, " ".join(vlan.addresses))

    def _far_vlans(self, host: str, nic: str, fields: Mapping[str, Value]) -> Mapping[str, Value]:
        """The fields of a NIC port or bond, with the VLANs of the switch port or port channel at its far end."""
        plane, carrier = self._carriers.get((host, nic), ("", _ROUTED))
        return _in_vlans(fields, carrier, plane)

    def placed(self) -> Iterator[tuple[Address, Port]]:
        """Each host address once, at the first interface that has it."""
        seen: set[tuple[int, int] | int] = set()
        for port in self:
            for text in port.texts.split():
                if address := read_address(text):
                    version, number, _ = address
                    key = number if version == 4 else (version, number)
                    if key not in seen:
                        seen.add(key)
                        yield address, port

    def networks(self) -> set[Address]:
        """The subnets of all addresses."""
        return {address.network for texts in self._address_texts() for address in read_all(texts)}

    def _address_texts(self) -> Iterator[Iterable[str]]:
        """The addresses of each device."""
        for device in self._switches:
            yield self._texts[device.name].split()
            yield device.loopbacks
            yield device.management
        for host in self._hosts:
            yield from (nic.addresses for nic in host.nics)
            yield from (vlan.addresses for vlan in host.vlans)


@cache
def _speed(speed_mbps: int) -> Mapping[str, Value]:
    return {"speed": speed_mbps * 1000}  # in kb/s


@cache
def _port_fields(port: _Stated) -> Mapping[str, Value]:
    fields = dict(_speed(port.speed_mbps)) if port.speed_mbps else {}
    if port.enabled is not None:
        fields["enabled"] = port.enabled
    if port.label:
        fields["label"] = port.label
    if port.mtu:
        fields["mtu"] = port.mtu
    return fields


def _numbers(port: _Stated) -> tuple[int, ...]:
    """All VLANs of a port."""
    return port.tagged if port.vlan is None else (port.vlan, *port.tagged)


def vlan_identity(plane: str, number: int) -> str:
    """The unique key of a VLAN within a fabric."""
    return f"{plane}:vlan{number}"


def _in_vlans(fields: Mapping[str, Value], port: _Stated, plane: str) -> Mapping[str, Value]:
    """The fields of a port or port channel, with its VLANs; a routed one has none. A VLAN interface has no mode."""
    if port.type == VIRTUAL:
        return fields
    refs = [Ref(ObjectKind.VLAN, vlan_identity(plane, number)) for number in port.tagged]
    native = None if port.vlan is None else Ref(ObjectKind.VLAN, vlan_identity(plane, port.vlan))
    mode = "tagged" if refs else None if native is None else "access"
    return {**fields, "mode": mode, "untagged_vlan": native, "tagged_vlans": tuple(refs)}


def _joined(fields: Mapping[str, Value], device: Ref, lag: str) -> Mapping[str, Value]:
    """The fields of an interface, with its port channel or bond, if it is a member of one."""
    return {**fields, "lag": Ref(ObjectKind.INTERFACE, f"{device.identity}:{lag}")} if lag else fields


def _stated(tables: Mapping[str, Table], device: str, links: Iterable["WiredLink"]) -> Iterator[_Stated]:
    """The port channels of a switch, its ports with a link in the order of the links, and its VLAN interfaces."""
    channels, ports, vlans = (tables.get(name, {}) for name in ("PORTCHANNEL", "PORT", "VLAN"))
    native, tagged = _members(tables.get("VLAN_MEMBER", {}))
    for name, row in channels.items():
        enabled, mtu = row.get("admin_status") == "up", whole_number(row.get("mtu"))
        yield _Stated(name, 0, enabled, "", mtu, "", LAG, native.get(name), tagged.get(name, ()))
    members = channel_of(tables.get("PORTCHANNEL_MEMBER", {}))
    lags = {port: channel for port, channel in members.items() if channel in channels}
    for link in links:
        for name, port in (link.a, link.b):
            if name == device:
                row = ports.get(port, {})
                is_up = row.get("admin_status") == "up" if row else None
                label, mtu = str(row.get("alias") or ""), whole_number(row.get("mtu"))
                lag, own, more = lags.get(port, ""), native.get(port), tagged.get(port, ())
                yield _Stated(port, link.speed_mbps, is_up, label, mtu, lag, PORT, own, more)
    for name in tables.get("VLAN_INTERFACE", {}):
        if "|" not in name:
            yield _Stated(name, 0, None, "", whole_number(vlans.get(name, {}).get("mtu")), type=VIRTUAL)


def _members(rows: Table) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """(port or port channel -> its untagged VLAN, -> its tagged VLANs), from VLAN_MEMBER."""
    native: dict[str, int] = {}
    tagged: dict[str, tuple[int, ...]] = {}
    for member, vlans in vlans_of(rows).items():
        numbers = [(whole_number(name.removeprefix("Vlan")), mode) for name, mode in vlans.items()]
        tagged[member] = tuple(number for number, mode in numbers if number is not None and mode == "tagged")
        for number, mode in numbers:
            if number is not None and mode != "tagged":
                native[member] = number
    return native, tagged


def read_all(texts: Iterable[str]) -> tuple[Address, ...]:
    """The addresses of texts. Other texts are what `validate` reports."""
    return tuple([found for text in texts if (found := read_address(text))])


def _addresses(rows: Iterable[str]) -> dict[str, list[str]]:
    """port -> its addresses, as in the keys of INTERFACE."""
    found: dict[str, list[str]] = {}
    for key in rows:
        name, _, text = key.partition("|")
        if text:
            found.setdefault(name, []).append(text)
    return found
