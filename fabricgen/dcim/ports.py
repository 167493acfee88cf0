"""The interfaces of a bundle with their addresses: what the files of switches state of them, in little memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from fabricgen.dcim.objects import Ref, Value
from fabricgen.sonic.addresses import Address, read_address
from fabricgen.sonic.tables import Table
from fabricgen.units import whole_number

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredDevice, WiredHost, WiredLink, Wiring

LOOPBACK, MANAGEMENT = "Loopback0", "eth0"
_ENABLED: Mapping[str, Value] = {"enabled": True}


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
    """What the files state of a port with a link; None or "" if they do not state it."""

    name: str
    speed_mbps: int
    enabled: bool | None
    label: str
    mtu: int | None


class DcimPorts:
    """The interfaces with a link, and those of loopbacks and management; `refs` are those of the devices by name."""

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
        for name, links in linked.items():
            observed = bundle.devices.get(name)
            rows = observed.content.peek() if observed else {}
            ports = tuple(_stated(rows.get("PORT", {}), name, links))
            self._stated[name] = shared.setdefault(ports, ports)
            texts = _addresses(rows.get("INTERFACE", {}))
            self._texts[name] = "\n".join(" ".join(texts.get(port.name, ())) for port in ports)

    def __iter__(self) -> Iterator[Port]:
        """The interfaces, device by device. They are made for each use: a large fabric has 700,000."""
        for device in self._switches:
            yield from self._switch_ports(device)
        for host in self._hosts:
            yield from self._host_ports(host)

    def _switch_ports(self, device: "WiredDevice") -> Iterator[Port]:
        ref, name = self._refs[device.name], device.name
        for port, texts in zip(self._stated[name], self._texts[name].split("\n"), strict=False):
            yield Port(ref, name, port.name, _port_fields(port), "other", texts)
        if device.loopbacks:
            yield Port(ref, name, LOOPBACK, _ENABLED, "virtual", " ".join(device.loopbacks))
        if device.management:
            yield self._management(device)

    def _management(self, device: "WiredDevice") -> Port:
        return Port(self._refs[device.name], device.name, MANAGEMENT, _ENABLED, "other", " ".join(device.management))

    def management(self) -> Iterator[Port]:
        """The management interfaces of switches."""
        return map(self._management, (device for device in self._switches if device.management))

    def _host_ports(self, host: "WiredHost") -> Iterator[Port]:
        for nic in host.nics:
            yield Port(
                self._refs[host.name], host.name, nic.name, _speed(nic.speed_mbps), "other", " ".join(nic.addresses)
            )

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
            for nic in host.nics:
                yield nic.addresses


@cache
def _speed(speed_mbps: int) -> Mapping[str, Value]:
    return {"speed": speed_mbps * 1000}  # in kb/s


@cache
def _port_fields(port: _Stated) -> Mapping[str, Value]:
    fields = dict(_speed(port.speed_mbps))
    if port.enabled is not None:
        fields["enabled"] = port.enabled
    if port.label:
        fields["label"] = port.label
    if port.mtu:
        fields["mtu"] = port.mtu
    return fields


def _stated(rows: Table, device: str, links: Iterable["WiredLink"]) -> Iterator[_Stated]:
    """The ports of a switch with a link, in the order of the links."""
    for link in links:
        for name, port in (link.a, link.b):
            if name == device:
                row = rows.get(port, {})
                enabled = row.get("admin_status") == "up" if row else None
                label, mtu = str(row.get("alias") or ""), whole_number(row.get("mtu"))
                yield _Stated(port, link.speed_mbps, enabled, label, mtu)


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
