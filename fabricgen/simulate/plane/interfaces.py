"""The QoS of an interface: of a port, or of the members of a port channel or VLAN."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fabricgen.engine.derived import derived
from fabricgen.same import Same
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.port_qos import DEFINITION_TABLES, DSCPS, PORT_TABLES, PRIORITIES, PortQos, SwitchQos
from fabricgen.sonic.references import reference_name
from fabricgen.sonic.tables import ConfigDb, Row, parse_priorities, split_key

MEMBER_TABLES = {"PortChannel": "PORTCHANNEL_MEMBER", "Vlan": "VLAN_MEMBER"}
_MAPS = ("dscp_to_tc_map", "tc_to_pg_map", "tc_to_queue_map")
_TABLES = (*PORT_TABLES, *DEFINITION_TABLES, *MEMBER_TABLES.values())


class PlaneQos:
    """The QoS of the switches of a plane. Switches with the same tables are read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Same[object], ...], InterfaceQos] = {}

    def of(self, config: ConfigDb) -> "InterfaceQos":
        """The QoS of the interfaces of one switch."""
        tables = tuple([Same(config.get(name)) for name in _TABLES])
        if tables not in self._known:
            self._known[tables] = InterfaceQos(config)
        return self._known[tables]


class InterfaceQos:
    """The QoS of the interfaces of one switch. `config` is the switch's tables."""

    def __init__(self, config: ConfigDb) -> None:
        self._config, self._ports = config, SwitchQos(config)
        self._known: dict[str, PortQos] = {}
        self._classes: dict[tuple[int, int | None], ClassQos] = {}

    @property
    def ports(self) -> Iterable[str]:
        """The ports with rows in the QoS tables."""
        return self._ports.rows_of

    @derived
    def groups_and_queues(self) -> Mapping[str, int]:
        """Buffer profile -> the priority groups and queues of all ports that refer to it."""
        found: Counter[str] = Counter()
        for table in ("BUFFER_PG", "BUFFER_QUEUE"):
            for key, row in rows(self._config, table).items():
                ports, _, numbers = key.partition("|")
                found[profile_name(row)] += len(ports.split(",")) * len(parse_priorities(numbers))
        return found

    def of_class(self, priority: int, dscp: int | None) -> "ClassQos":
        """The QoS of a class of traffic: its priority, and the DSCP of its packets, None if unknown."""
        known = self._classes.get((priority, dscp))
        return known or self._classes.setdefault((priority, dscp), ClassQos(self, priority, dscp))

    def of(self, interface: str) -> PortQos:
        """The QoS of an interface: of a port channel or VLAN, that of the first member with PFC."""
        if interface not in self._known:
            members = (self._ports.port(name) for name in member_ports(self._config, interface))
            with_pfc = (qos for qos in members if "pfc_enable" in qos.port_map)
            self._known[interface] = next(with_pfc, self._ports.port(interface))
        return self._known[interface]


class BoundGroup(NamedTuple):
    """The priority group of packets of a class at an interface: whether it has PFC, and the name of its buffer profile,
    None without a row of BUFFER_PG."""

    has_pfc: bool
    profile: str | None


class ClassQos:
    """The QoS of one class of traffic on the interfaces of one switch."""

    def __init__(self, qos: InterfaceQos, priority: int, dscp: int | None) -> None:
        self._qos, self._priority, self._dscp = qos, priority, dscp
        self._of_maps: dict[tuple[str, ...], tuple[int, int]] = {}
        self._bound: dict[str, BoundGroup] = {}

    def numbers(self, interface: str) -> tuple[int, int]:
        """(priority group, queue) of packets at an interface. Ports with the same maps are resolved once."""
        qos = self._qos.of(interface)
        names = tuple([qos.map_name(field) for field in _MAPS])
        if names not in self._of_maps:
            traffic_class = self._traffic_class(qos)
            group, queue = (qos.map_array(field, PRIORITIES)[traffic_class] for field in _MAPS[1:])
            self._of_maps[names] = group, queue
        return self._of_maps[names]

    def group(self, interface: str) -> BoundGroup:
        """The priority group of packets that arrive at an interface."""
        if interface not in self._bound:
            qos, group = self._qos.of(interface), self.numbers(interface)[0]
            bound = qos.bound("BUFFER_PG", group)
            self._bound[interface] = BoundGroup(group in qos.pfc, profile_name(bound[1]) if bound else None)
        return self._bound[interface]

    def _traffic_class(self, qos: PortQos) -> int:
        if self._dscp is None or self._dscp >= DSCPS or not qos.dscp_to_tc:
            return self._priority
        found = qos.map_array("dscp_to_tc_map", DSCPS)[self._dscp]
        return found if found < PRIORITIES else self._priority


def profile_name(row: Row) -> str:
    """The buffer profile that a row of BUFFER_PG or BUFFER_QUEUE refers to."""
    return reference_name(text(row, "profile"))


def member_ports(config: ConfigDb, interface: str) -> list[str]:
    """The ports of an interface: itself, or the members of a port channel or VLAN."""
    for prefix, table in MEMBER_TABLES.items():
        if interface.startswith(prefix):
            keys = map(split_key, rows(config, table))
            return [key[1] for key in keys if len(key) == 2 and key[0] == interface]
    return [interface]
