"""The ports of a plane as arrays: speeds, cables, and the priority groups that they feed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredLink
from fabricgen.engine.derived import kept
from fabricgen.physics import PFC_FRAME_BYTES, PROPAGATION_NS_PER_M, held_bytes, peer_response_bytes
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.simulate.plane.interfaces import PlaneQos
from fabricgen.simulate.plane.ports import NO_POOL, Ports
from fabricgen.simulate.plane.switch import PriorityGroup, RoceClass, SwitchClass

_MBPS_PER_BYTE_PER_NS = 8_000

End = tuple[int, str]  # (switch, its port)


@dataclass(frozen=True, slots=True)
class _SwitchPorts:
    """The ports of one switch for one class of traffic. `groups` are the lossless ones that packets enter. `cells` is
    the share of a cell that a packet fills; `pool_bytes` are in packets that fill whole cells."""

    cells: float
    groups: Mapping[str, PriorityGroup | None]
    mbps: Mapping[str, int]
    length_m: Mapping[str, float]
    pool_bytes: Mapping[str, float]


def port_arrays(
    bundle: Bundle, fabric: RoutedFabric, links: Sequence[WiredLink], traffic: RoceClass, *, lossless: bool
) -> Ports:
    """The ports of links first, then those of adapters, then those towards adapters. Without `lossless` no switch
    pauses the traffic."""
    network, names = fabric.network, fabric.names
    number = {name: index for index, name in enumerate(names)}
    near = [(int(network.source[link]), fabric.port(link)) for link in range(network.links)]
    far = [near[link] for link in network.reverse]
    leaf_ends = [(number[link.b[0]], link.b[1]) for link in links]
    ports_of: list[dict[str, None]] = [{} for _ in names]
    for switch, port in (*near, *leaf_ends):
        ports_of[switch][port] = None
    qos = PlaneQos()
    switches = [
        kept(partial(_ports, bundle, name, traffic, qos, [*ports]), _ports, name, traffic, *ports, of=name)
        for name, ports in zip(names, ports_of, strict=True)
    ]
    senders = [*near, *leaf_ends, *leaf_ends]  # a NIC has the speed of the port that it is connected to
    receivers: list[End | None] = [*far, *leaf_ends, *([None] * len(links))]
    groups = [switches[end[0]].groups[end[1]] if end and lossless else None for end in receivers]
    cells = np.array([switches[end[0]].cells if end else 1.0 for end in receivers])
    fed = [(end[0], group.pool) if end and group else None for end, group in zip(receivers, groups, strict=True)]
    pools = {pool: index for index, pool in enumerate(dict.fromkeys(pool for pool in fed if pool))}
    speed = np.array([switches[switch].mbps[port] for switch, port in senders], float)
    length = np.array([switches[switch].length_m[port] for switch, port in senders], float)
    size, place = network.links, np.arange(len(senders))
    return Ports(
        bytes_per_ns=speed / _MBPS_PER_BYTE_PER_NS,
        delay_ns=length * PROPAGATION_NS_PER_M,
        pool=np.array([pools[pool] if pool else NO_POOL for pool in fed], np.int64),
        is_nic=(place >= size) & (place < size + len(links)),
        alpha=np.array([_alpha(group) for group in groups], float),
        reserve_bytes=cells * [group.reserve_bytes if group else 0 for group in groups],
        static_bytes=cells * [(group.static_bytes or 0) if group else 0 for group in groups],
        pool_bytes=np.array([switches[at].pool_bytes[name] for at, name in pools] or [0], float),
        name_of=_namer(names, near, links),
        peer_of=_namer(names, far, links, far_end=True),
        packet_bytes=traffic.packet_bytes,
        ack_bytes=PFC_FRAME_BYTES,  # the smallest frame, in the class of its queue pair
        acks_wait=True,
        xon_offset_bytes=cells * [group.xon_offset_bytes if group else 0 for group in groups],
        response_bytes=np.array([peer_response_bytes(int(mbps)) or 0 for mbps in speed], float),
    )


def _ports(bundle: Bundle, name: str, traffic: RoceClass, plane_qos: PlaneQos, ports: Sequence[str]) -> _SwitchPorts:
    switch = SwitchClass(bundle, name, traffic, plane_qos.of(bundle.devices[name].config))
    all_groups = {port: switch.group(port) for port in ports}
    groups = {port: group if group.lossless else None for port, group in all_groups.items()}
    wire = traffic.packet_bytes  # sizes of groups and pools are those of packets on the wire that fill whole cells
    cells = wire / held_bytes(wire, switch.buffers.cell_bytes)
    pools = dict.fromkeys(group.pool for group in groups.values() if group)
    return _SwitchPorts(
        cells=cells,
        groups=groups,
        mbps={port: switch.cables.speed_mbps(port) for port in ports},
        length_m={port: switch.cables.length_m(port) for port in ports},
        pool_bytes={pool: switch.pool_bytes(pool) * cells for pool in pools},
    )


def _alpha(group: PriorityGroup | None) -> float:
    if group is None:
        return 1.0
    return group.alpha if group.static_bytes is None else 0.0


def _namer(
    names: Sequence[str], ends: Sequence[End], links: Sequence[WiredLink], *, far_end: bool = False
) -> Callable[[int], tuple[str, str]]:
    def name(port: int) -> tuple[str, str]:
        if port < len(ends):
            switch, interface = ends[port]
            return names[switch], interface
        towards, adapter = divmod(port - len(ends), len(links))
        link = links[adapter]
        return link.b if bool(towards) != far_end else link.a

    return name
