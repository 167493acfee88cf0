"""Rows of the shape that rules may rely on, whatever a file holds; other rules report what was odd."""

from collections.abc import Mapping

from fabricgen.bundle.read import ObservedDevice
from fabricgen.sonic.references import with_bare_references


def well_shaped(device: ObservedDevice) -> ObservedDevice:
    """The device with rows of text only: what is no table, row or text is left out, lists are joined by commas, and
    references in the old form [TABLE|name] are bare names.

    Places stay those of the file as it is. A device without such oddities is returned as it is.
    """
    is_plain = all(map(_is_plain_table, device.config.values()))
    config = with_bare_references(device.config) if b'"[' in device.text else device.config
    if is_plain and config is device.config:
        return device
    shaped = ObservedDevice(device.name, device.file, device.wired)
    shaped.__dict__.update(text=device.text, config=config if is_plain else _plain(config))
    return shaped


def _is_plain_table(table: object) -> bool:
    if not isinstance(table, dict):
        return False
    return all(type(row) is dict and all(type(value) is str for value in row.values()) for row in table.values())


def _plain(config: Mapping[str, object]) -> dict[str, dict[str, dict[str, str]]]:
    return {
        name: {key: _plain_row(row) for key, row in table.items() if isinstance(row, dict)}
        for name, table in config.items()
        if isinstance(table, dict)
    }


def _plain_row(row: Mapping[str, object]) -> dict[str, str]:
    plain = {}
    for name, value in row.items():
        if isinstance(value, str):
            plain[name] = value
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            plain[name] = ",".join(value)
    return plain
