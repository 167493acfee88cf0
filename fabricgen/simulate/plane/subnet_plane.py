"""An InfiniBand plane with its hosts: the planned wiring, forwarded by the tables of its subnet managers.

A subnet manager gives each switch one port for each destination, so every flow has a single path. Without tables
(OpenSM is not installed) a tree gets the paths that ftree aims at: shortest ones, the uplink by the number of the
destination on its leaf. With adaptive routing a switch has all shortest next hops.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.wiring import Endpoint, WiredDevice, WiredLink, Wiring
from fabricgen.observed.opensm_dumps import Dumps
from fabricgen.observed.wired_ports import port_number
from fabricgen.physics import INFINIBAND_WIRE_BYTES, MOST_CREDIT_BYTES, PROPAGATION_NS_PER_M
from fabricgen.routing.bits import Words
from fabricgen.routing.network import Network, build_network
from fabricgen.simulate.plane.adapters import Adapter
from fabricgen.simulate.plane.credit_ports import with_credits
from fabricgen.simulate.plane.host_network import NO_COLUMN, HostNetwork
from fabricgen.simulate.plane.ports import NO_POOL, NO_PORT, Ints, Ports
from fabricgen.simulate.plane.shortest_hops import by_destination, shortest_hops
from fabricgen.simulate.plane.switch_hashes import SwitchHashes
from fabricgen.vocabulary import LinkKind

INFINIBAND_MTU_BYTES = 4096  # the largest of the specification, and the default of adapters
_MBPS_PER_BYTE_PER_NS = 8_000
_NO_ROUTE = -2


@dataclass(frozen=True, slots=True)
class Forwarding:
    """How packets of InfiniBand planes travel. `tables` are those of the subnets by plane; a plane without an entry has
    no tables. `buffer_bytes` is the buffer of each virtual lane of a port, by default the most that flow control can
    grant. With `adaptive` switches choose among all shortest next hops."""

    tables: Mapping[str, Sequence[Dumps]] = field(default_factory=dict)
    buffer_bytes: int = MOST_CREDIT_BYTES
    adaptive: bool = False

    def assumption(self, plane: str) -> str:
        """What the paths of a plane rest on, where they are not those of tables."""
        if self.adaptive:
            return "adaptive routing: each message takes the next hops with the least load when it starts"
        if self.tables.get(plane):
            return ""
        return "there are no tables of OpenSM: each switch selects the uplink by the number of the destination"

    def why_not(self, plane: str) -> str:
        """Why a plane has no paths."""
        if self.adaptive:
            return f"plane {plane} is not a tree, so that shortest paths may have credit loops"
        return "there are no tables of OpenSM (install opensm and ibsim, or use --lfts), and it is not a tree"


STATIC = Forwarding()


def subnet_plane(wiring: Wiring, plane: str, forwarding: Forwarding) -> HostNetwork | None:
    """The plane's network; None without tables, and with adaptive routing, if the plane is not a tree."""
    devices = [device for device in wiring.devices if device.plane == plane]
    number = {device.name: index for index, device in enumerate(devices)}
    cables = [link for link in wiring.links if link.plane == plane and link.a[0] in number and link.b[0] in number]
    links = [link for link in wiring.links if link.plane == plane and link.kind == LinkKind.HOST_LEAF]
    network = build_network(
        len(devices), [number[link.a[0]] for link in cables], [number[link.b[0]] for link in cables]
    )
    leaf = np.array([number[link.b[0]] for link in links], np.int64)
    tables = forwarding.tables.get(plane, ())
    ports = np.array([_port(devices[number[end[0]]], end) for end in _senders(network, cables)], np.int64)
    if tables and not forwarding.adaptive:
        hops, column = _table_hops(wiring, plane, network, ports, links, tables)
    else:
        shortest = shortest_hops(network, leaf)
        if shortest is None:
            return None
        hops = shortest if forwarding.adaptive else by_destination(network, shortest, leaf)
        column = np.arange(len(links))
    return HostNetwork(
        names=tuple(number),
        network=network,
        hops=hops,
        adapters=_adapters(wiring, links),
        leaf=leaf,
        column=column,
        columns=len(links),
        ports=_ports(wiring, network, cables, links, forwarding.buffer_bytes),
        hashes=SwitchHashes.equal(len(devices)),
        payload_bytes=INFINIBAND_MTU_BYTES,
        name=plane,
        tier={index: device.role for index, device in enumerate(devices)},
        rail={index: device.rail for index, device in enumerate(devices) if device.rail is not None},
        adaptive=forwarding.adaptive,
    )


def _senders(network: Network, cables: Sequence[WiredLink]) -> list[Endpoint]:
    """The sending end of each directed link."""
    both = ((cables[place >> 1], bool(place & 1)) for place in network.order.tolist())
    return [cable.b if from_b else cable.a for cable, from_b in both]


def _port(device: WiredDevice, end: Endpoint) -> int:
    """The number of a port as subnet managers count; NO_PORT of a port that the platform does not have."""
    return port_number(device, end[1]) or NO_PORT


def _table_hops(
    wiring: Wiring, plane: str, network: Network, ports: Ints, links: Sequence[WiredLink], tables: Sequence[Dumps]
) -> tuple[Words, Ints]:
    """The next hops by adapter, and the adapter itself as the destination; NO_COLUMN if its leaf does not deliver."""
    devices = {device.name: device for device in wiring.devices if device.plane == plane}
    row_of = {int(device.node_guid, 16): index for index, device in enumerate(devices.values())}
    guid_of = {(host.name, nic.name): nic.port_guid for host in wiring.hosts for nic in host.nics}
    place = {int(guid_of[link.a], 16): index for index, link in enumerate(links)}
    out = np.full((len(devices), len(links)), _NO_ROUTE, np.int64)  # the egress port of a switch to an adapter
    for dumps in tables:
        rows = np.array([row_of.get(one.node_guid, -1) for one in dumps.subnet.switches], np.int64)
        first = {int(owner): column for column, owner in reversed(list(enumerate(dumps.owners.tolist())))}
        for owner, column in first.items():
            adapter = place.get(dumps.subnet.adapters[owner].port_guid, -1)
            if adapter >= 0:
                out[rows[rows >= 0], adapter] = dumps.forwarding[rows >= 0, dumps.destinations[column]]
    at = {name: index for index, name in enumerate(devices)}
    delivers = [out[at[link.b[0]], index] == _port(devices[link.b[0]], link.b) for index, link in enumerate(links)]
    words = -(-max(1, len(links)) // 64)
    hops = np.zeros((network.links, words), np.uint64)
    for word in range(words):
        chosen = out[network.source, word * 64 : (word + 1) * 64] == ports[:, None]
        bits = np.uint64(1) << np.arange(chosen.shape[1], dtype=np.uint64)
        hops[:, word] = (chosen * bits).sum(axis=1, dtype=np.uint64)
    return hops, np.where(delivers, np.arange(len(links)), NO_COLUMN)


def _adapters(wiring: Wiring, links: Sequence[WiredLink]) -> list[Adapter]:
    """The adapter at the host's end of each link."""
    hosts = {host.name: host for host in wiring.hosts}
    return [Adapter(link.a[0], link.a[1], link.rail, hosts[link.a[0]].group, hosts[link.a[0]].model) for link in links]


def _ports(
    wiring: Wiring, network: Network, cables: Sequence[WiredLink], links: Sequence[WiredLink],
    buffer_bytes: int,
) -> Ports:  # fmt: skip
    """The ports of links, of adapters, and towards adapters."""
    length = {link: cable.length_m for cable in wiring.cables for link in cable.links}
    of_port = [cables[int(place) >> 1] for place in network.order] + [*links, *links]
    size, count = network.links, network.links + 2 * len(links)
    place = np.arange(count)

    def end(port: int, *, far: bool) -> tuple[str, str]:
        link = of_port[port]
        from_b = bool(network.order[port] & 1) if port < size else port >= size + len(links)
        return link.b if from_b != far else link.a

    plain = Ports(
        bytes_per_ns=np.array([link.speed_mbps for link in of_port], float) / _MBPS_PER_BYTE_PER_NS,
        delay_ns=np.array([length[link.id] for link in of_port], float) * PROPAGATION_NS_PER_M,
        pool=np.full(count, NO_POOL),
        is_nic=(place >= size) & (place < size + len(links)),
        alpha=np.zeros(count),
        reserve_bytes=np.zeros(count),
        pool_bytes=np.zeros(1),
        name_of=lambda port: end(port, far=False),
        peer_of=lambda port: end(port, far=True),
        packet_bytes=INFINIBAND_MTU_BYTES + INFINIBAND_WIRE_BYTES,
    )
    to_switch: NDArray[np.bool_] = place < size + len(links)
    return with_credits(plain, to_switch, buffer_bytes)
