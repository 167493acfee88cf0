"""Which priorities each link carries without loss, and on which priority a packet continues, from the QoS maps.

A packet arrives with a DSCP. The port that receives it maps the DSCP to a traffic class and a priority group. The port
that sends it maps the traffic class to a queue. PFC of the next switch stops that queue for every priority that maps to
it. A channel is a link and the priority group at its far end; it is lossless if pfc_enable has the priority at both
ends.

A map that no field of a port names is the identity, so PFC without maps is judged as well.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.fabric import RoutedFabric
from fabricgen.same import Same
from fabricgen.simulate.plane.interfaces import MEMBER_TABLES, InterfaceQos
from fabricgen.sonic.port_qos import DSCPS, PRIORITIES, PortQos
from fabricgen.sonic.tables import ConfigDb

_MAPS = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
}
_FIELDS = (*_MAPS, "pfc_enable")
_TABLES = ("PORT_QOS_MAP", *_MAPS.values(), *MEMBER_TABLES.values())

Map = tuple[int, ...]


@dataclass(frozen=True)
class LosslessLinks:
    """Per directed link: `mask` has bit p if priority p is lossless on it; `arrival` and `departure` number the maps of
    the port at its far and near end. `onward[arrival, departure, p]` is the mask of the priorities whose pause stops a
    packet that arrived on p. `priorities` are those that any link carries."""

    mask: NDArray[np.uint8]
    arrival: NDArray[np.int64]
    departure: NDArray[np.int64]
    onward: NDArray[np.uint8]
    priorities: tuple[int, ...]

    @property
    def uniform(self) -> bool:
        """Whether every packet keeps its priority at every switch, so that priorities never affect each other."""
        kept = self.onward & np.bitwise_or.reduce(self.mask, initial=0)
        own = (1 << np.arange(PRIORITIES)).astype(np.uint8) & np.bitwise_or.reduce(self.mask, initial=0)
        return bool((kept == own).all())

    def at(self, links: NDArray[np.int64]) -> "LosslessLinks":
        """The same for some of the links, in the given order."""
        mask = self.mask[links]
        seen = int(np.bitwise_or.reduce(mask, initial=0))
        priorities = tuple(priority for priority in self.priorities if seen >> priority & 1)
        return LosslessLinks(mask, self.arrival[links], self.departure[links], self.onward, priorities)


def lossless_links(fabric: RoutedFabric) -> LosslessLinks:
    """The lossless priorities and maps of every link of the fabric."""
    maps, network, ports = _Maps(), fabric.network, list[_PortMaps]()
    for switch, name in enumerate(fabric.names):
        qos = maps.switch(fabric.spoken.tables[name])
        ports += map(qos.port, fabric.ports[network.offsets[switch] : network.offsets[switch + 1]])
    pfc = np.array([port.pfc for port in ports], np.uint8)
    arrival = np.array([port.arrival for port in ports], np.int64)[network.reverse]
    departure = np.array([port.departure for port in ports], np.int64)
    mask = pfc & pfc[network.reverse]
    carried = int(np.bitwise_or.reduce(mask, initial=0))
    return LosslessLinks(
        mask, arrival, departure, maps.onward(), tuple(p for p in range(PRIORITIES) if carried >> p & 1)
    )


@dataclass(frozen=True, slots=True)
class _PortMaps:
    """PFC of a port as bits, and the numbers of its maps for packets that arrive and depart."""

    pfc: int
    arrival: int
    departure: int


class _Maps:
    """The distinct maps of the fabric, numbered. Switches with the same QoS tables are read once."""

    def __init__(self) -> None:
        self.arrivals: dict[tuple[Map, Map], int] = {}
        self.departures: dict[tuple[Map, Map], int] = {}
        self.switches: dict[tuple[Same[object], ...], _SwitchMaps] = {}

    def switch(self, config: ConfigDb) -> "_SwitchMaps":
        """The maps of a switch's interfaces."""
        tables = tuple([Same(config.get(name)) for name in _TABLES])
        if tables not in self.switches:
            self.switches[tables] = _SwitchMaps(config, self)
        return self.switches[tables]

    def onward(self) -> NDArray[np.uint8]:
        """The `onward` array over all maps."""
        table = np.zeros((len(self.arrivals), len(self.departures), PRIORITIES), np.uint8)
        for (classes, groups), arrival in self.arrivals.items():
            for (queues, paused), departure in self.departures.items():
                for traffic_class in set(classes):
                    queue = _at(queues, traffic_class)
                    held = sum(1 << priority for priority in range(PRIORITIES) if paused[priority] == queue)
                    group = _at(groups, traffic_class)
                    if group < PRIORITIES:
                        table[arrival, departure, group] |= held
        return table

    def numbered(self, qos: PortQos) -> _PortMaps:
        """The numbers of a port's maps."""
        classes = qos.map_array("dscp_to_tc_map", DSCPS)
        groups, queues, paused = (
            qos.map_array(field, PRIORITIES) for field in ("tc_to_pg_map", "tc_to_queue_map", "pfc_to_queue_map")
        )
        pfc = sum(1 << priority for priority in qos.pfc if priority < PRIORITIES)
        arrival = self.arrivals.setdefault((classes, groups), len(self.arrivals))
        departure = self.departures.setdefault((queues, paused), len(self.departures))
        return _PortMaps(pfc, arrival, departure)


class _SwitchMaps:
    """The maps of one switch's interfaces. Interfaces with equal fields are resolved once."""

    def __init__(self, config: ConfigDb, maps: _Maps) -> None:
        self._qos, self._maps = InterfaceQos(config), maps
        self._by_fields: dict[tuple[str, ...], _PortMaps] = {}
        self._by_port: dict[str, _PortMaps] = {}

    def port(self, interface: str) -> _PortMaps:
        """The maps of an interface."""
        found = self._by_port.get(interface)
        if found is None:
            qos = self._qos.of(interface)
            fields = tuple([qos.text(field) for field in _FIELDS])
            found = self._by_fields.get(fields) or self._maps.numbered(qos)
            self._by_port[interface] = self._by_fields[fields] = found
        return found


def _at(numbers: Map, index: int) -> int:
    return numbers[index] if index < len(numbers) else 0
