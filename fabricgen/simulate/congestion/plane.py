"""One plane of a bundle as congestion needs it: routed switches, the adapters on them, and all ports with buffers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredLink
from fabricgen.physics import PROPAGATION_NS_PER_M, peer_response_bytes
from fabricgen.routing.bgp import solve
from fabricgen.routing.bits import Words
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.network import Network
from fabricgen.routing.routes import Destination
from fabricgen.simulate.congestion.buffers import SwitchGroups
from fabricgen.simulate.congestion.model import NO_SWITCH, Floats, Ints, Ports
from fabricgen.simulate.patterns.job import Adapter
from fabricgen.simulate.plane.hosts import host_traffic
from fabricgen.sonic.addresses import Address, parse_address

NO_COLUMN = -1
_ROCE_MTU_BYTES = 4096
# Ethernet with preamble and gap 38, IPv4 20, UDP 8, BTH 12, ICRC 4 (InfiniBand Architecture Specification, annex A17)
_ROCE_OVERHEAD_BYTES = 82
_MBPS_PER_BYTE_PER_NS = 8_000
# dockers/docker-orchagent/switch.json.j2 of sonic-buildimage: the ECMP hash seed comes from the device type
_HASH_SEED = {"LeafRouter": 10, "SpineRouter": 25}


@dataclass(frozen=True)
class HostNetwork:
    """A plane. `leaf[a]` and `column[a]` are the switch of adapter a and the destination that its address belongs to.
    `hops` (links x words) are next hops by destination; `hash_seed[u]` is what switch u mixes into its ECMP hash.

    Ports: link l is port l, adapter a sends by port links + a and is sent to by port links + adapters + a.
    """

    names: tuple[str, ...]
    network: Network
    hops: Words
    adapters: Sequence[Adapter]
    leaf: Ints
    column: Ints
    columns: int
    ports: Ports
    hash_seed: Ints
    payload_bytes: int = _ROCE_MTU_BYTES
    name: str = ""
    tier: Mapping[int, str] = field(default_factory=dict)  # switch -> leaf | spine | core, where known
    rail: Mapping[int, int] = field(default_factory=dict)  # leaf -> rail, where known

    def nic_port(self, adapter: Ints) -> Ints:
        """The ports by which adapters send."""
        return self.network.links + adapter

    def host_port(self, adapter: Ints) -> Ints:
        """The ports of leaves towards adapters."""
        return self.network.links + len(self.adapters) + adapter

    @property
    def line_rate(self) -> Floats:
        """Bytes per ns of every adapter."""
        first = self.network.links
        return self.ports.bytes_per_ns[first : first + len(self.adapters)]


def read_plane(bundle: Bundle, fabric: RoutedFabric, plane: str, priority: int | None) -> HostNetwork:
    """The plane's network for one lossless priority; None stands for traffic that nothing pauses."""
    links = _host_links(bundle, fabric, plane)
    traffic = host_traffic(bundle, fabric)
    destinations = tuple(fabric.destinations[column] for column in traffic.columns)
    hops = forwarding(fabric.network, solve(fabric.network, fabric.policy, destinations), fabric.discards)
    number = {name: index for index, name in enumerate(fabric.names)}
    leaf = np.array([number[link.b[0]] for link in links], np.int64)
    nics = {
        (host.name, nic.name): (nic, host)
        for host in (bundle.wiring.hosts if bundle.wiring else ())
        for nic in host.nics
    }
    adapters = []
    for link in links:
        nic, host = nics.get(link.a, (None, None))
        rail = nic.rail if nic else link.rail
        adapters.append(Adapter(*link.a, rail, host.group if host else "", host.model if host else ""))
    addressed = _Columns(fabric, destinations)
    column = np.array([addressed.of(link.b, int(at)) for link, at in zip(links, leaf, strict=True)], np.int64)
    mtu = next((one.roce_mtu for one in (bundle.wiring.planes if bundle.wiring else ()) if one.name == plane), None)
    devices = [bundle.devices[name] for name in fabric.names]
    kinds = [device.text_of("DEVICE_METADATA", "localhost", "type") for device in devices]
    wired = {index: device.wired for index, device in enumerate(devices) if device.wired}
    return HostNetwork(
        names=fabric.names,
        network=fabric.network,
        hops=hops,
        adapters=adapters,
        leaf=leaf,
        column=column,
        columns=len(destinations),
        ports=_ports(bundle, fabric, links, priority, (mtu or _ROCE_MTU_BYTES) + _ROCE_OVERHEAD_BYTES),
        hash_seed=np.array([_HASH_SEED.get(kind, 0) for kind in kinds], np.int64),
        payload_bytes=mtu or _ROCE_MTU_BYTES,
        name=plane,
        tier={index: one.role for index, one in wired.items()},
        rail={index: one.rail for index, one in wired.items() if one.rail is not None},
    )


def _host_links(bundle: Bundle, fabric: RoutedFabric, plane: str) -> list[WiredLink]:
    inside = set(fabric.names)
    return [link for link in bundle.host_links if link.b[0] in inside and link.plane in (plane, "")]


class _Columns:
    """Which destination a packet to an adapter belongs to: the longest prefix that its leaf announces around it."""

    def __init__(self, fabric: RoutedFabric, destinations: tuple[Destination, ...]) -> None:
        self.address = {
            (name, entry.interface): entry.host
            for name in fabric.names
            for entry in fabric.spoken.speakers[name].addresses
            if not entry.vrf
        }
        self.announced: dict[int, list[tuple[Address, int]]] = {}
        for column, destination in enumerate(destinations):
            prefixes = [prefix for prefix in map(parse_address, destination.prefixes) if prefix and prefix.length]
            for switch in destination.origins:
                self.announced.setdefault(switch, []).extend((prefix, column) for prefix in prefixes)
        for found in self.announced.values():
            found.sort(key=lambda entry: -entry[0].length)

    def of(self, port: tuple[str, str], leaf: int) -> int:
        """The column of the adapter behind a leaf's port; NO_COLUMN where the leaf announces nothing around it."""
        address = self.address.get(port)
        announced = self.announced.get(leaf, ())
        if address is None:  # a VLAN member or a file without addresses: what the leaf announces at all
            return announced[0][1] if announced else NO_COLUMN
        return next((column for prefix, column in announced if prefix.covers(address)), NO_COLUMN)


def _ports(
    bundle: Bundle, fabric: RoutedFabric, links: Sequence[WiredLink], priority: int | None, packet_bytes: int
) -> Ports:
    """Links first, then adapters' own ports, then those towards adapters."""
    network, names = fabric.network, fabric.names
    groups = [SwitchGroups(bundle.devices[name], -1 if priority is None else priority) for name in names]
    number = {name: index for index, name in enumerate(names)}
    near = [(int(network.source[link]), fabric.port(link)) for link in range(network.links)]
    far = [near[link] for link in network.reverse]
    leaf_ends = [(number[link.b[0]], link.b[1]) for link in links]
    senders = [*near, *leaf_ends, *leaf_ends]  # a NIC has the speed of the port it is plugged into
    receivers = [*far, *leaf_ends]
    found = [groups[switch].group(port) for switch, port in receivers]
    size, hosts = network.links, len(links)
    speed = np.array([_speed_mbps(bundle, groups, end) for end in senders], float)
    delay = np.array([_cable_m(bundle, groups, end) for end in senders], float) * PROPAGATION_NS_PER_M
    pool: dict[int, float] = {}
    for (switch, _), group in zip(receivers, found, strict=True):
        if group and switch not in pool:
            pool[switch] = groups[switch].pool_bytes
    fed = [switch if group else NO_SWITCH for (switch, _), group in zip(receivers, found, strict=True)]
    response = [peer_response_bytes(int(mbps)) or 0 for mbps in speed]
    everyone, number_of = [*found, *([None] * hosts)], np.arange(size + 2 * hosts)
    return Ports(
        bytes_per_ns=speed / _MBPS_PER_BYTE_PER_NS,
        delay_ns=delay,
        switch=np.array([*fed, *([NO_SWITCH] * hosts)], np.int64),
        is_nic=(number_of >= size) & (number_of < size + hosts),
        alpha=np.array([group.alpha if group else 1.0 for group in everyone]),
        reserve_bytes=np.array([group.reserve_bytes if group else 0.0 for group in everyone]),
        pool_bytes=np.array([pool.get(switch, 0.0) for switch in range(len(names))]),
        name_of=_namer(names, near, links),
        peer_of=_namer(names, far, links, beyond=True),
        packet_bytes=packet_bytes,
        xon_offset_bytes=np.array([group.xon_offset_bytes if group else 0.0 for group in everyone]),
        response_bytes=np.array(response, float),
    )


def _namer(
    names: Sequence[str], ends: Sequence[tuple[int, str]], links: Sequence[WiredLink], *, beyond: bool = False
) -> Callable[[int], tuple[str, str]]:
    def name(port: int) -> tuple[str, str]:
        if port < len(ends):
            switch, interface = ends[port]
            return names[switch], interface
        towards, adapter = divmod(port - len(ends), len(links))
        link = links[adapter]
        return link.b if bool(towards) != beyond else link.a

    return name


def _speed_mbps(bundle: Bundle, groups: Sequence[SwitchGroups], end: tuple[int, str]) -> float:
    switch, port = end
    if speed := groups[switch].speed_mbps(port):
        return speed
    device = groups[switch].device
    members = [key.partition("|")[2] for key in device.table("PORTCHANNEL_MEMBER") if key.startswith(f"{port}|")]
    if total := sum(groups[switch].speed_mbps(member) for member in members):
        return total
    link = bundle.link_at.get((device.name, port))
    return float(link.speed_mbps) if link and link.speed_mbps else _UNKNOWN_SPEED_MBPS


_UNKNOWN_SPEED_MBPS = 100_000.0  # of files without PORT rows: equal everywhere, so that ratios hold


def _cable_m(bundle: Bundle, groups: Sequence[SwitchGroups], end: tuple[int, str]) -> float:
    switch, port = end
    link = bundle.link_at.get((groups[switch].device.name, port))
    known = bundle.cable_length_m.get(link.id) if link else None
    return known if known is not None else groups[switch].cable_m(port)
