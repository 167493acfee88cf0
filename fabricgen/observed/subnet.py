"""An InfiniBand subnet as observed: switches, adapter ports and cables."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.opensm.netlist import PortEnd, SubnetNodeKind

Ints = NDArray[np.int32]

GuidEnd = tuple[int, int]  # GUID and port of a switch, or port GUID of an adapter and 0
GuidCable = tuple[GuidEnd, GuidEnd]


@dataclass(frozen=True)
class Subnet:
    """Arrays over switches (S), ports (P, counted from 1, so that column 0 is the switch itself) and adapter ports (A).

    `peer_switch` and `peer_port` [S, P] are the switch port at the other end of the cable, -1 if it is not a switch.
    `adapter_at` [S, P] is the adapter port at the other end, -1 for a switch or an unused port.
    `attached_switch` and `attached_port` [A] are the switch port of each adapter port.
    """

    switches: tuple[PortEnd, ...]
    adapters: tuple[PortEnd, ...]
    peer_switch: Ints
    peer_port: Ints
    adapter_at: Ints
    attached_switch: Ints
    attached_port: Ints

    @property
    def ports(self) -> int:
        """P: one more than the highest port number."""
        return int(self.peer_switch.shape[1])


def subnet_of(cables: Iterable[tuple[PortEnd, PortEnd]]) -> Subnet:
    """The subnet of these cables, each given once or from both ends. Routers are left out, because no path ends
    there."""
    switches: dict[int, PortEnd] = {}
    adapters: dict[int, PortEnd] = {}
    seen: list[tuple[PortEnd, PortEnd]] = []
    for pair in cables:
        for end in pair:
            if end.kind is SubnetNodeKind.SWITCH:
                switches.setdefault(end.node_guid, end)
            elif end.kind is SubnetNodeKind.ADAPTER:
                known = adapters.get(end.port_guid)
                adapters[end.port_guid] = end if known is None or not known.lid else known
        seen.append(pair)
    row = {guid: number for number, guid in enumerate(switches)}
    place = {guid: number for number, guid in enumerate(adapters)}
    width = 1 + max((end.port for pair in seen for end in pair if end.kind is SubnetNodeKind.SWITCH), default=0)
    peer_switch, peer_port, adapter_at = (np.full((len(row), width), -1, np.int32) for _ in range(3))
    attached = np.full((2, len(place)), -1, np.int32)
    for pair in seen:
        for here, there in (pair, pair[::-1]):
            if here.kind is not SubnetNodeKind.SWITCH:
                continue
            if there.kind is SubnetNodeKind.SWITCH:
                peer_switch[row[here.node_guid], here.port] = row[there.node_guid]
                peer_port[row[here.node_guid], here.port] = there.port
            elif there.kind is SubnetNodeKind.ADAPTER:
                adapter_at[row[here.node_guid], here.port] = place[there.port_guid]
                attached[:, place[there.port_guid]] = row[here.node_guid], here.port
    return Subnet(
        tuple(switches.values()), tuple(adapters.values()), peer_switch, peer_port, adapter_at, attached[0], attached[1]
    )


def cables_by_guid(subnet: Subnet) -> Iterator[GuidCable]:
    """Every cable once: the adapter first, or the switch with the lower GUID."""
    switches = [one.node_guid for one in subnet.switches]
    for row, port in zip(*(axis.tolist() for axis in (subnet.peer_switch >= 0).nonzero()), strict=True):
        near = switches[row], port
        far = switches[subnet.peer_switch[row, port]], int(subnet.peer_port[row, port])
        if near < far:
            yield near, far
    pairs = zip(subnet.adapters, subnet.attached_switch.tolist(), subnet.attached_port.tolist(), strict=True)
    for adapter, row, port in pairs:
        if row >= 0:
            yield (adapter.port_guid, 0), (switches[row], port)


def levels(subnet: Subnet) -> NDArray[np.int64]:
    """The number of links from each switch [S] to the nearest switch with adapters; S if no switch has adapters."""
    source, port = (subnet.peer_switch >= 0).nonzero()
    target = subnet.peer_switch[source, port].astype(np.int64)
    level = np.where((subnet.adapter_at >= 0).any(axis=1), 0, len(subnet.switches)).astype(np.int64)
    while True:
        nearer = level.copy()
        np.minimum.at(nearer, source, level[target] + 1)
        if (nearer == level).all():
            return level
        level = nearer
