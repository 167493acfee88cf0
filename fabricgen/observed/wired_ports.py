"""fabric.json as a subnet manager sees it: switches and adapter ports by GUID, switch ports by number."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property

from fabricgen.bundle.wiring import Endpoint, WiredDevice, WiredLink, Wiring
from fabricgen.platforms.catalog import switch_platform
from fabricgen.units import whole_number

INFINIBAND = "infiniband"


def port_number(device: WiredDevice, port: str) -> int | None:
    """The number of a switch port; None if it is not known."""
    number = whole_number(port)
    if number is not None:
        return number
    platform = switch_platform(device.platform)
    layouts = platform.layouts if platform else ()
    return next((one.port_numbers.get(port) for one in layouts if one.name == device.layout), None)


class WiredPorts:
    """The InfiniBand planes of a fabric.json, or one of them."""

    def __init__(self, wiring: Wiring, plane: str = "") -> None:
        technologies = {one.name: one.technology for one in wiring.planes}
        self._wiring = wiring
        self._planes = {plane} if plane else {name for name, one in technologies.items() if one == INFINIBAND}

    @cached_property
    def switches(self) -> Mapping[int, WiredDevice]:
        """Node GUID -> switch."""
        devices = (one for one in self._wiring.devices if one.plane in self._planes and one.node_guid)
        return {int(one.node_guid, 16): one for one in devices}

    @cached_property
    def adapters(self) -> Mapping[int, Endpoint]:
        """Port GUID -> (host, NIC)."""
        return {int(port, 16): end for _, port, end in self._nics() if port}

    @cached_property
    def nodes(self) -> Mapping[int, Endpoint]:
        """Node GUID of an adapter with one port -> (host, NIC)."""
        count = Counter(node for node, _, _ in self._nics())
        return {int(node, 16): end for node, _, end in self._nics() if node and count[node] == 1}

    def _nics(self) -> Iterator[tuple[str, str, Endpoint]]:
        for host in self._wiring.hosts:
            for nic in host.nics:
                if nic.plane in self._planes:
                    yield nic.node_guid, nic.port_guid, (host.name, nic.name)

    @cached_property
    def links(self) -> tuple[WiredLink, ...]:
        """The links of these planes."""
        return tuple(link for link in self._wiring.links if link.plane in self._planes)

    @cached_property
    def port_names(self) -> Mapping[tuple[str, int], str]:
        """(switch, number) -> the port's name, of ports with a planned cable."""
        devices = {one.name: one for one in self.switches.values()}
        found = {}
        for name, port in (end for link in self.links for end in (link.a, link.b)):
            if name in devices and (number := port_number(devices[name], port)) is not None:
                found[name, number] = port
        return found
