"""Equal QoS settings as one object: a fabric of thousands of ports has a handful of distinct ones, judged once."""

from collections.abc import Mapping

import orjson

from fabricgen.rules.view.derived import derived
from fabricgen.rules.view.fabric import Fabric, Switch
from fabricgen.rules.view.qos import DEFINITION_TABLES, PORT_TABLES, PortQos, QosTables
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.tables import Row


def qos_tables(fabric: Fabric) -> tuple[QosTables, ...]:
    """The distinct definitions of a fabric."""
    return _classes(fabric)[0]


def port_classes(fabric: Fabric) -> tuple[PortQos, ...]:
    """The distinct port settings of a fabric: of ports with a cable, and of ports that have QoS rows."""
    return _classes(fabric)[1]


def map_users(fabric: Fabric) -> tuple[PortQos, ...]:
    """One class of ports for each distinct choice of maps and lossless priorities: whatever is said of maps is said
    once."""
    found: dict[tuple[object, ...], PortQos] = {}
    for ports in port_classes(fabric):
        names = tuple(value for name, value in sorted(ports.port_map.items()) if name.endswith("_map"))
        if ports.port_map and ports.is_used:
            found.setdefault((id(ports.qos), names, ports.meant), ports)
    return tuple(found.values())


@derived
def _classes(fabric: Fabric) -> tuple[tuple[QosTables, ...], tuple[PortQos, ...]]:
    definitions: dict[bytes, QosTables] = {}
    classes: dict[tuple[int, str, bytes], PortQos] = {}
    known: dict[tuple[int, ...], _RowsOfPorts] = {}
    for switch in fabric.switches.values():
        tables = {name: switch.device.table(name) for name in DEFINITION_TABLES}
        kind = (switch.network, switch.hwsku, switch.role, switch.is_dynamic, tables)
        digest = orjson.dumps(kind)
        qos = definitions.get(digest)
        if qos is None:
            plane = fabric.planes.get(switch.plane)
            qos = QosTables(tables, plane, switch.platform, switch.layout, switch.role, switch.is_dynamic)
            definitions[digest] = qos
        qos.switches.append(switch)
        same = tuple(id(switch.device.config.get(name)) for name in PORT_TABLES)  # equal tables are one object
        rows_of = known.get(same) or known.setdefault(same, _rows_of_ports(switch))
        ends = fabric.ends_of[switch.name]
        for port in dict.fromkeys([*ends, *rows_of]):
            if port in ("global", "GLOBAL"):
                continue
            rows, digest = rows_of.get(port, _NO_ROWS)
            use = "" if port not in ends else "external" if ends[port].far_role == OUTSIDE_ROLE else "wired"
            ports = classes.get((id(qos), use, digest))
            if ports is None:
                ports = classes[id(qos), use, digest] = PortQos(qos, rows)
            ports.members.append((switch, port, ends.get(port)))
    return tuple(definitions.values()), tuple(classes.values())


_RowsOfPorts = Mapping[str, tuple[Mapping[str, Mapping[str, Row]], bytes]]  # port -> its rows and their digest
_EMPTY: Mapping[str, Mapping[str, Row]] = {name: {} for name in PORT_TABLES}
_NO_ROWS = (_EMPTY, orjson.dumps(_EMPTY))


def _rows_of_ports(switch: Switch) -> _RowsOfPorts:
    by_port = {name: switch.rows_by_port(name) for name in PORT_TABLES}
    found = {}
    for port in dict.fromkeys(port for rows in by_port.values() for port in rows):
        rows = {name: held.get(port, {}) for name, held in by_port.items()}
        found[port] = (rows, orjson.dumps(rows))
    return found
