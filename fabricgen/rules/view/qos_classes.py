"""Group ports and switches with equal QoS settings, so that rules judge each distinct setting once."""

from collections.abc import Mapping

import orjson

from fabricgen.bundle.forgetful import shut_of
from fabricgen.engine.derived import derived
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass, QosTables
from fabricgen.rules.view.switch import Switch
from fabricgen.same import Same
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.port_qos import DEFINITION_TABLES, NO_ROWS, PORT_TABLES, PortRows, rows_of_ports


def qos_tables(fabric: Fabric) -> tuple[QosTables, ...]:
    """The distinct definitions of a fabric."""
    return _classes(fabric)[0]


def port_classes(fabric: Fabric) -> tuple[PortClass, ...]:
    """The distinct port settings of a fabric: of ports with a cable, and of ports that have QoS rows."""
    return _classes(fabric)[1]


def map_users(fabric: Fabric) -> tuple[PortClass, ...]:
    """One class of ports for each distinct set of maps and lossless priorities, so that a map is reported once."""
    found: dict[tuple[object, ...], PortClass] = {}
    for ports in port_classes(fabric):
        names = tuple(value for name, value in sorted(ports.port_map.items()) if name.endswith("_map"))
        if ports.port_map and ports.is_used:
            found.setdefault((ports.qos, names, ports.lossless), ports)
    return tuple(found.values())


@derived
def _classes(fabric: Fabric) -> tuple[tuple[QosTables, ...], tuple[PortClass, ...]]:
    definitions: dict[bytes, QosTables] = {}
    same_definitions: dict[tuple[object, ...], QosTables] = {}
    classes: dict[tuple[QosTables, str, bytes], PortClass] = {}
    known: dict[tuple[Same[object], ...], _RowsOfPorts] = {}
    for switch in fabric.switches.values():
        config = switch.device.config
        kind = (
            switch.network, switch.hwsku, switch.device.release, switch.role, switch.buffer_role, switch.is_dynamic,
        )  # fmt: skip
        same_kind = (*kind, *[Same(config.get(name)) for name in DEFINITION_TABLES])
        qos = same_definitions.get(same_kind)
        if qos is None:
            tables = {name: switch.device.table(name) for name in DEFINITION_TABLES}
            digest = orjson.dumps((*kind, tables))
            qos = definitions.get(digest)
            if qos is None:
                plane = fabric.planes.get(switch.plane)
                roles = switch.role, switch.buffer_role
                qos = QosTables(tables, plane, switch.platform, switch.layout, *roles, switch.is_dynamic)
                definitions[digest] = qos
            same_definitions[same_kind] = qos
        qos.switches.append(switch)
        same = tuple([Same(config.get(name)) for name in PORT_TABLES])
        rows_of = known.get(same) or known.setdefault(same, _rows_of_ports(switch))
        ends, shut = fabric.ends_of[switch.name], shut_of(switch.device)
        for port in dict.fromkeys([*ends, *rows_of]):
            rows, digest = rows_of.get(port, _NO_ROWS)
            use = (
                "down"
                if port not in ends and port in shut
                else ""
                if port not in ends
                else "external"
                if ends[port].far_role == OUTSIDE_ROLE
                else "wired"
            )
            ports = classes.get((qos, use, digest))
            if ports is None:
                ports = classes[qos, use, digest] = PortClass(qos.tables, rows, qos)
            ports.members.append((switch, port, ends.get(port)))
    return tuple(definitions.values()), tuple(classes.values())


_RowsOfPorts = Mapping[str, tuple[PortRows, bytes]]  # port -> its rows and their digest
_NO_ROWS = (NO_ROWS, orjson.dumps(NO_ROWS))


def _rows_of_ports(switch: Switch) -> _RowsOfPorts:
    return {port: (rows, orjson.dumps(rows)) for port, rows in rows_of_ports(switch.device.config).items()}
