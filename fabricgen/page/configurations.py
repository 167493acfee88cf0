"""The QoS and buffer rows of the switches: each distinct content once, every value with its origin."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.origin import Origin
from fabricgen.same import Same
from fabricgen.sonic.image import metadata, rows, text
from fabricgen.sonic.secrets import shown_value
from fabricgen.sonic.tables import ConfigDb

DEFINED = ("BUFFER_POOL", "BUFFER_PROFILE", "WRED_PROFILE", "SCHEDULER")
_OF_PORTS = ("PORT_QOS_MAP", "PFC_WD", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE")
_SAME = (*DEFINED, *_OF_PORTS, "CABLE_LENGTH")
_PORT_FIELDS = ("speed", "mtu", "fec", "admin_status")


@dataclass(frozen=True)
class Configuration:
    """The rows that `devices` have in common; `device` is the first of them."""

    device: ObservedDevice
    config: ConfigDb
    devices: tuple[str, ...]


def configurations(bundle: Bundle) -> list[Configuration]:
    """The switches by the content of their QoS and buffer tables and by the settings of their ports."""
    found: dict[tuple[object, ...], tuple[ObservedDevice, ConfigDb, list[str]]] = {}
    for name, device in bundle.devices.items():
        config = device.content.peek()
        # Equal tables of files are one object. Descriptions of ports differ from switch to switch, so PORT counts by
        # its settings.
        ports = tuple((port, *(row.get(field) for field in _PORT_FIELDS)) for port, row in rows(config, "PORT").items())
        role = device.wired.role if device.wired else ""
        key = (role, text(metadata(config), "hwsku"), *(Same(config.get(table)) for table in _SAME), hash(str(ports)))
        found.setdefault(key, (device, config, []))[2].append(name)
    return [Configuration(device, config, tuple(names)) for device, config, names in found.values()]


def rows_object(bundle: Bundle, one: Configuration) -> list[list[Any]]:
    """[row, field, value, origin] of a configuration. Ports with equal rows are one row with their number."""
    found = []
    for table in DEFINED:
        for key, row in rows(one.config, table).items():
            found += [_field(bundle, one, (table, key, field), f"{table}|{key}", row[field]) for field in row]
    for table in _OF_PORTS:
        for keys, row in _alike(rows(one.config, table)):
            name = f"{table}|{keys[0]}" + (f" and {len(keys) - 1} more" if len(keys) > 1 else "")
            found += [_field(bundle, one, (table, keys[0], field), name, row[field]) for field in row]
    return found


def _alike(table: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[list[str], Mapping[str, Any]]]:
    """Rows with equal fields, and what their keys have after the port."""
    found: dict[tuple[object, ...], list[str]] = {}
    for key, row in table.items():
        found.setdefault((key.partition("|")[2], str(row)), []).append(key)
    yield from ((keys, table[keys[0]]) for keys in found.values())


def _field(bundle: Bundle, one: Configuration, path: tuple[str, str, str], name: str, value: object) -> list[Any]:
    table, _, field = path
    explanation = bundle.sources.explain(one.device.name, *path) if bundle.sources else None
    origins = [_origin(origin) for origin in explanation.origins] if explanation else []
    template = f"template {explanation.template}" if explanation and explanation.template != "override" else ""
    return [name, field, str(shown_value(table, field, value)), "; ".join(filter(None, origins)) or template]


def _origin(origin: Origin) -> str:
    return " · ".join(filter(None, (origin.inventory, origin.platform, "; ".join(origin.steps))))
