"""Which priorities each link carries without loss, and on which one a packet goes on, from the QoS maps of the files.

A packet arrives with a DSCP. The port it comes in by maps it to a traffic class and a priority group; the port it
leaves by maps the traffic class to a queue, and PFC of the next switch for any priority that maps to this queue holds
it. A channel is a link and the priority group at its far end, lossless when pfc_enable has the priority at both ends.

A map that a port does not name is taken as the identity, so that PFC without maps is judged and not overlooked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.fabric import RoutedFabric
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.tables import ConfigDb, Row, SameTable, parse_priorities, split_key

PRIORITIES = 8
_DSCPS = 64
_FIELDS = ("dscp_to_tc_map", "tc_to_pg_map", "tc_to_queue_map", "pfc_to_queue_map", "pfc_enable")

Map = tuple[int, ...]


@dataclass(frozen=True)
class LosslessLinks:
    """Per directed link: `mask` has bit p when priority p is lossless on it; `arrival` and `departure` number the maps
    of the port at its far and near end. `onward[arrival, departure, p]` is the mask of priorities whose pause holds a
    packet that came in on p. `priorities` are those that any link carries."""

    mask: NDArray[np.uint8]
    arrival: NDArray[np.int64]
    departure: NDArray[np.int64]
    onward: NDArray[np.uint8]
    priorities: tuple[int, ...]

    @property
    def uniform(self) -> bool:
        """Whether every packet stays on its priority everywhere, so that priorities never touch each other."""
        kept = self.onward & np.bitwise_or.reduce(self.mask, initial=0)
        own = (1 << np.arange(PRIORITIES)).astype(np.uint8) & np.bitwise_or.reduce(self.mask, initial=0)
        return bool((kept == own).all())

    def at(self, links: NDArray[np.int64]) -> "LosslessLinks":
        """The same for some of the links, in the order given."""
        mask = self.mask[links]
        seen = int(np.bitwise_or.reduce(mask, initial=0))
        priorities = tuple(priority for priority in self.priorities if seen >> priority & 1)
        return LosslessLinks(mask, self.arrival[links], self.departure[links], self.onward, priorities)


def lossless_links(fabric: RoutedFabric) -> LosslessLinks:
    """The lossless priorities and maps of every link of the fabric."""
    reader, network, ports = _MapReader(), fabric.network, list[_PortQos]()
    for switch, name in enumerate(fabric.names):
        qos = reader.switch(fabric.spoken.tables[name])
        ports += map(qos.port, fabric.ports[network.offsets[switch] : network.offsets[switch + 1]])
    pfc = np.array([port.pfc for port in ports], np.uint8)
    arrival = np.array([port.arrival for port in ports], np.int64)[network.reverse]
    departure = np.array([port.departure for port in ports], np.int64)
    mask = pfc & pfc[network.reverse]
    carried = int(np.bitwise_or.reduce(mask, initial=0))
    return LosslessLinks(
        mask, arrival, departure, reader.onward(), tuple(p for p in range(PRIORITIES) if carried >> p & 1)
    )


@dataclass(frozen=True, slots=True)
class _PortQos:
    pfc: int
    arrival: int
    departure: int


class _MapReader:
    """Reads each distinct set of tables once and numbers distinct maps across the fabric."""

    def __init__(self) -> None:
        self.arrivals: dict[tuple[Map, Map], int] = {}
        self.departures: dict[tuple[Map, Map], int] = {}
        self.switches: dict[tuple[tuple[str, SameTable], ...], _SwitchQos] = {}

    def switch(self, config: ConfigDb) -> "_SwitchQos":
        """The ports of a switch. Equal tables of different files are one object."""
        same = tuple([(name, SameTable(table)) for name, table in config.items()])
        if same not in self.switches:
            self.switches[same] = _SwitchQos(config, self._resolve)
        return self.switches[same]

    def onward(self) -> NDArray[np.uint8]:
        """The `onward` array over all maps seen."""
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

    def _resolve(self, config: ConfigDb, row: Row) -> _PortQos:
        classes = _map(config, "DSCP_TO_TC_MAP", row, "dscp_to_tc_map", _DSCPS)
        groups = _map(config, "TC_TO_PRIORITY_GROUP_MAP", row, "tc_to_pg_map", PRIORITIES)
        queues = _map(config, "TC_TO_QUEUE_MAP", row, "tc_to_queue_map", PRIORITIES)
        paused = _map(config, "MAP_PFC_PRIORITY_TO_QUEUE", row, "pfc_to_queue_map", PRIORITIES)
        pfc = sum(1 << priority for priority in parse_priorities(text(row, "pfc_enable")) if priority < PRIORITIES)
        arrival = self.arrivals.setdefault((classes, groups), len(self.arrivals))
        departure = self.departures.setdefault((queues, paused), len(self.departures))
        return _PortQos(pfc, arrival, departure)


class _SwitchQos:
    """The QoS of a switch's interfaces, each distinct row resolved once."""

    def __init__(self, config: ConfigDb, resolve: Callable[[ConfigDb, Row], _PortQos]) -> None:
        self.config = config
        self.table = {port: row for key, row in rows(config, "PORT_QOS_MAP").items() for port in key.split(",")}
        self.everywhere = _only(self.table.get("global", {}), "dscp_to_tc_map")
        self.resolve = resolve
        self.by_fields: dict[tuple[str, ...], _PortQos] = {}
        self.by_port: dict[str, _PortQos] = {}

    def port(self, interface: str) -> _PortQos:
        """The QoS of an interface; of a port channel or VLAN, its first member with PFC."""
        found = self.by_port.get(interface)
        if found is None:
            row = {**self.everywhere, **self._row(interface)}
            fields = tuple([text(row, field) for field in _FIELDS])
            found = self.by_fields.get(fields) or self.resolve(self.config, row)
            self.by_port[interface] = self.by_fields[fields] = found
        return found

    def _row(self, interface: str) -> Row:
        members = _members(self.config, interface)
        paused = (self.table[one] for one in members if "pfc_enable" in self.table.get(one, {}))
        return next(paused, self.table.get(interface, {}))


def _only(row: Row, field: str) -> Row:
    return {field: row[field]} if field in row else {}


def _map(config: ConfigDb, table: str, row: Row, field: str, size: int) -> Map:
    """The named map as a tuple; the identity below 8 and 0 above where a port names none, 0 for entries left out."""
    name = text(row, field).strip("[]").rpartition("|")[2]
    entries: Mapping[str, object] = rows(config, table).get(name, {}) if name else {}
    if not entries:
        return tuple(value if value < PRIORITIES else 0 for value in range(size))
    return tuple(_number(entries.get(str(value), "0")) for value in range(size))


def _number(value: object) -> int:
    return int(value) if isinstance(value, str) and value.isdecimal() else 0


def _at(numbers: Map, index: int) -> int:
    return numbers[index] if index < len(numbers) else 0


def _members(config: ConfigDb, interface: str) -> list[str]:
    """The ports of an interface: its own name, or the members of a port channel or VLAN."""
    for prefix, table in (("PortChannel", "PORTCHANNEL_MEMBER"), ("Vlan", "VLAN_MEMBER")):
        if interface.startswith(prefix):
            return [key[1] for key in map(split_key, rows(config, table)) if len(key) == 2 and key[0] == interface]
    return [interface]
