"""The QoS of a port as SONiC resolves it: the one reader of its rows, for rules, simulators and handoffs.

A port has its own row of PORT_QOS_MAP. Of `PORT_QOS_MAP|global` the switch applies only `dscp_to_tc_map`, to ports
whose own row does not name a map. One key may list several ports (`Ethernet0,Ethernet4`) and a range of queues or
priority groups (`3-4`). References may be written as [TABLE|name], as before 202111.

Source: sonic-swss orchagent/qosorch.cpp (handlePortQosMapTable, handleGlobalQosMap), orchagent/bufferorch.cpp.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.engine.derived import derived
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.references import reference_name
from fabricgen.sonic.tables import ConfigDb, Row, Table, parse_priorities
from fabricgen.units import whole_number

PRIORITIES = 8  # priorities, traffic classes, priority groups and queues with PFC
DSCPS = 64
GLOBAL_KEYS = ("global", "GLOBAL")

# Tables with rows for each port, and those with what these rows refer to.
PORT_TABLES = (
    "PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PFC_WD",
    "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST",
)  # fmt: skip
DEFINITION_TABLES = (
    "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "TC_TO_DSCP_MAP", "SCHEDULER", "WRED_PROFILE",
    "BUFFER_POOL", "BUFFER_PROFILE", "LOSSLESS_TRAFFIC_PATTERN", "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
)  # fmt: skip
QOS_TABLES = (*PORT_TABLES, *DEFINITION_TABLES)  # what SwitchQos reads
MAP_TABLES: Mapping[str, str] = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "tc_to_dscp_map": "TC_TO_DSCP_MAP",
}
_OF_SWITCH = "dscp_to_tc_map"  # the only field that the switch takes from PORT_QOS_MAP|global

PortRows = Mapping[str, Mapping[str, Row]]  # table -> rest of the key after the port -> row


@dataclass(eq=False)
class PortQos:
    """The QoS rows of one port, resolved. `definitions` are the tables that they refer to.

    `rows["PORT_QOS_MAP"]` has the key "" alone, with the port's own fields over those of the switch; it is empty for a
    port without a row.
    """

    definitions: Mapping[str, Table]
    rows: PortRows

    @derived
    def port_map(self) -> Row:
        """The fields of PORT_QOS_MAP that hold for the port."""
        return self.rows["PORT_QOS_MAP"].get("", {})

    def text(self, field: str) -> str:
        """A field of `port_map`; "" if missing."""
        return text(self.port_map, field)

    @derived
    def pfc(self) -> frozenset[int]:
        """The priorities of pfc_enable."""
        return parse_priorities(self.text("pfc_enable"))

    @derived
    def watchdog(self) -> frozenset[int]:
        """The priorities of pfcwd_sw_enable."""
        return parse_priorities(self.text("pfcwd_sw_enable"))

    def map_name(self, field: str) -> str:
        """The name of the map that a field of `port_map` refers to; "" if it refers to none."""
        return reference_name(self.text(field))

    def entries(self, field: str) -> Mapping[int, int]:
        """The map that a field refers to, as numbers; empty if the field or the map is missing."""
        row = rows(self.definitions, MAP_TABLES[field]).get(self.map_name(field), {})
        numbers = ((whole_number(key), whole_number(text(row, key))) for key in row)
        return {key: value for key, value in numbers if key is not None and value is not None}

    @derived
    def dscp_to_tc(self) -> Mapping[int, int]:
        """DSCP -> traffic class."""
        return self.entries("dscp_to_tc_map")

    @derived
    def tc_to_pg(self) -> Mapping[int, int]:
        """Traffic class -> priority group."""
        return self.entries("tc_to_pg_map")

    @derived
    def tc_to_queue(self) -> Mapping[int, int]:
        """Traffic class -> queue."""
        return self.entries("tc_to_queue_map")

    @derived
    def pfc_to_queue(self) -> Mapping[int, int]:
        """PFC priority -> queue that a received pause stops."""
        return self.entries("pfc_to_queue_map")

    @derived
    def pfc_to_pg(self) -> Mapping[int, int]:
        """PFC priority -> priority group that sends the pause; empty if the ASIC has no such map."""
        return self.entries("pfc_to_pg_map")

    def bound(self, table: str, number: int) -> tuple[str, Row] | None:
        """(rest of the key, row) that covers a group in BUFFER_PG, or a queue in BUFFER_QUEUE or QUEUE; else None."""
        for rest, row in self.rows[table].items():
            if number in parse_priorities(rest):
                return rest, row
        return None

    def profiles(self, table: str) -> Mapping[int, tuple[str, str]]:
        """Group or queue -> (rest of the key, profile name), for BUFFER_PG or BUFFER_QUEUE."""
        found = {}
        for rest, row in self.rows[table].items():
            found.update(dict.fromkeys(parse_priorities(rest), (rest, reference_name(text(row, "profile")))))
        return found

    def queue_text(self, queue: int, field: str) -> tuple[str, str | None]:
        """(rest of the key, name in a field) of the QUEUE row of a queue; the name is None if there is no row."""
        bound = self.bound("QUEUE", queue)
        return (bound[0], reference_name(text(bound[1], field))) if bound else (str(queue), None)

    def map_array(self, field: str, size: int) -> tuple[int, ...]:
        """The map that a field refers to as the chip applies it, indexed by what it maps: 0 for an entry left out.

        Without a map it is the identity below 8 and 0 above.
        """
        entries = self.entries(field)
        if not entries and not rows(self.definitions, MAP_TABLES[field]).get(self.map_name(field)):
            return tuple(value if value < PRIORITIES else 0 for value in range(size))
        return tuple(entries.get(value, 0) for value in range(size))


class SwitchQos:
    """The QoS of one switch's ports, each resolved once. `config` is the switch's tables."""

    def __init__(self, config: ConfigDb) -> None:
        self._definitions = {name: rows(config, name) for name in DEFINITION_TABLES}
        self.rows_of = rows_of_ports(config)
        self._of_switch = {**NO_ROWS, "PORT_QOS_MAP": {"": _switch_fields(rows(config, "PORT_QOS_MAP"))}}
        self._known: dict[str, PortQos] = {}

    def port(self, name: str) -> PortQos:
        """The QoS of a port; what the switch applies everywhere if the port has no rows."""
        if name not in self._known:
            self._known[name] = PortQos(self._definitions, self.rows_of.get(name, self._of_switch))
        return self._known[name]


def rows_of_ports(config: ConfigDb) -> Mapping[str, PortRows]:
    """Port -> its rows, for every port that has a row in one of `PORT_TABLES`."""
    by_table = {name: rows_by_port(rows(config, name)) for name in PORT_TABLES}
    port_maps = by_table["PORT_QOS_MAP"]
    of_switch = _switch_fields(rows(config, "PORT_QOS_MAP"))
    for own in port_maps.values() if of_switch else ():
        if _OF_SWITCH not in own.get("", of_switch):
            own[""] = {**own[""], **of_switch}
    ports = dict.fromkeys(port for held in by_table.values() for port in held if port not in GLOBAL_KEYS)
    return {port: {name: held.get(port, {}) for name, held in by_table.items()} for port in ports}


def rows_by_port(table: Table) -> dict[str, dict[str, Row]]:
    """Port -> rest of the key after the port ("" for none) -> row. One key may list several ports."""
    found: dict[str, dict[str, Row]] = {}
    for key, row in table.items():
        ports, _, rest = key.partition("|")
        for port in ports.split(","):
            found.setdefault(port, {})[rest] = row
    return found


def _switch_fields(port_maps: Table) -> Row:
    row = port_maps.get("global", {})
    return {_OF_SWITCH: row[_OF_SWITCH]} if _OF_SWITCH in row else {}


NO_ROWS: PortRows = {name: {} for name in PORT_TABLES}
