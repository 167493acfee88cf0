"""The ends of each cable with rack, unit and labels, and the connectors that need transceivers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from fabricgen.handoff.aliases import Aliases
from fabricgen.platforms.catalog import host_model, nic_cage, nic_connector, switch_platform
from fabricgen.same import Same
from fabricgen.units import format_speeds
from fabricgen.vocabulary import LinkState

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import Endpoint, WiredCable, WiredDevice, WiredLink, Wiring
    from fabricgen.platforms.model import PlatformPort


@dataclass(frozen=True, slots=True)
class CableEnd:
    """One end of a cable, or of one leg of a breakout cable."""

    device: str
    ports: tuple[str, ...]
    rack: str
    unit: str


@dataclass(frozen=True, slots=True)
class CableRun:
    """A cable between two devices, or one leg of a breakout cable with its share of the trunk."""

    id: str
    plane: str
    kind: str
    a: CableEnd
    b: CableEnd
    length_m: float
    medium: str
    speed: str  # 400G, 2x400G
    state: LinkState = LinkState.ACTIVE
    trunk: str = ""  # the end at the trunk of a breakout cable: a or b


class Plant:
    """The cables of a bundle with the devices that they connect."""

    def __init__(self, bundle: "Bundle", wiring: "Wiring") -> None:
        self._bundle = bundle
        self.aliases = Aliases(bundle.devices)
        self._devices = {device.name: device for device in wiring.devices}
        self._hosts = {host.name: host for host in wiring.hosts}
        self._links = {link.id: link for link in wiring.links}
        self._cordoned = set(wiring.cordoned)
        self._ports: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._labels: dict[
            tuple[Same[Mapping[str, str]], tuple[str, ...]], tuple[str, ...]
        ] = {}  # by aliases and ports
        self.cables = wiring.cables

    def runs(self) -> Iterator[CableRun]:
        """Every cable in the order of fabric.json."""
        from fabricgen.bundle.wiring import link_state

        for cable in self.cables:
            trunk = self._trunk(cable) if cable.legs else ""
            for arm in cable.arms:
                carried = [self._links[name] for name in arm]
                first = carried[0]
                near, far = [link.a for link in carried], [link.b for link in carried]
                ends = self.end(first.a[0], near), self.end(first.b[0], far)
                speed = format_speeds(len(carried), first.speed_mbps)
                state = link_state(carried, self._cordoned)
                kind = first.plane, first.kind
                yield CableRun(cable.id, *kind, *ends, cable.length_m, cable.medium, speed, state, trunk)

    def _trunk(self, cable: "WiredCable") -> str:
        """The end at which all legs of a breakout cable are in one cage."""
        return "a" if len({self.cage(link.a) for link in self.links_of(cable)}) == 1 else "b"

    def links_of(self, cable: "WiredCable") -> list["WiredLink"]:
        """The links that a cable carries."""
        return [self._links[name] for name in cable.links]

    def cage(self, end: "Endpoint") -> "Endpoint":
        """The cage at this end, which holds one transceiver. Split ports and twin ports share a cage, as do the ports
        of some NICs."""
        name, port = end
        if device := self._devices.get(name):
            return name, self._cage(device, port)
        host = self._hosts.get(name)
        model = host_model(host.model) if host else None
        return name, nic_cage(model, port) if model else port

    def _cage(self, device: "WiredDevice", port: str) -> str:
        """The cage by the catalog, else by the index in the file."""
        if known := _ports(device.platform, device.layout).get(port):
            return str(known.index)
        observed = self._bundle.devices.get(device.name)
        return (observed.text_of("PORT", port, "index") if observed else "") or port

    def connector(self, end: "Endpoint") -> "Endpoint":
        """What a fibre ends in: a twin-port cage has two, and the ports of a split one share theirs."""
        name, port = end
        if device := self._devices.get(name):
            known = _ports(device.platform, device.layout).get(port)
            return name, known.parent if known else self._cage(device, port)
        host = self._hosts.get(name)
        model = host_model(host.model) if host else None
        return name, nic_connector(model, port) if model else port

    def lane_count(self, end: "Endpoint") -> int:
        """The electrical lanes of a switch port, by the catalog or its file; 0 of a NIC, and without both."""
        device = self._devices.get(end[0])
        if device is None:
            return 0
        if known := _ports(device.platform, device.layout).get(end[1]):
            return len(known.lanes)
        observed = self._bundle.devices.get(device.name)
        lanes_text = observed.text_of("PORT", end[1], "lanes") if observed else ""
        return lanes_text.count(",") + 1 if lanes_text else 0

    def labels(self, end: CableEnd) -> tuple[str, ...]:
        """The labels of the ports of an end on the front panel."""
        aliases = self.aliases.read(end.device)
        key = Same(aliases), end.ports
        if key not in self._labels:
            self._labels[key] = tuple([aliases.get(port) or port for port in end.ports])
        return self._labels[key]

    def end(self, name: str, ends: "Sequence[Endpoint]") -> CableEnd:
        """The end of a cable at a device, with its place."""
        device = self._devices.get(name) or self._hosts.get(name)
        ports = tuple([port for _, port in ends])
        ports = self._ports.setdefault(ports, ports)  # few are different
        return CableEnd(name, ports, device.rack if device else "", device.unit if device else "")


@cache
def _ports(platform: str, layout: str) -> "Mapping[str, PlatformPort]":
    """The ports of a layout by name, by the catalog; empty for a layout that it does not have."""
    found = switch_platform(platform)
    known = next((each for each in found.layouts if each.name == layout), None) if found else None
    return known.port_by_name if known else {}
