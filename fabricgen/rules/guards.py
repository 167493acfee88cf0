"""Find the rules that guard a value: change the value and run all rules."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import orjson

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.rules.run import run
from fabricgen.units import whole_number

PEERS = 8  # enough for a majority


def guards(bundle: Bundle, device: str, table: str, key: str, field: str) -> list[str]:
    """The codes of the rules that report another value in this field, sorted; empty if no rule does."""
    bundle = _around(bundle, device)
    before = {(one.code, one.device, one.path, one.message) for one in run(bundle)}
    after = run(_changed(bundle, bundle.devices[device], table, key, field))
    noticed = [one for one in after if (one.code, one.device, one.path, one.message) not in before]
    here = [one.code for one in noticed if one.device == device and one.place and one.place.table == table]
    return sorted(set(here or [one.code for one in noticed]))


def _around(bundle: Bundle, device: str) -> Bundle:
    """The device, the switches cabled to it and some of its peers: no other switch affects a rule on one value."""
    near = {end[0] for link in bundle.switch_links if device in (link.a[0], link.b[0]) for end in (link.a, link.b)}
    own = bundle.devices[device].wired
    alike = [name for name, other in bundle.devices.items() if own and other.wired and other.wired.role == own.role]
    chosen = {device, *near, *alike[:PEERS]}
    return dataclasses.replace(bundle, devices={name: one for name, one in bundle.devices.items() if name in chosen})


def _changed(bundle: Bundle, device: ObservedDevice, table: str, key: str, field: str) -> Bundle:
    config: dict[str, Any] = orjson.loads(device.text)
    row = config[table][key]
    row[field] = _other(row[field])
    changed = device.with_config(config, orjson.dumps(config, option=orjson.OPT_INDENT_2))
    devices: Mapping[str, ObservedDevice] = {**bundle.devices, device.name: changed}
    return dataclasses.replace(bundle, devices=devices)


def _other(content: object) -> object:
    """Another value of the same kind: the next number, or a changed word."""
    if isinstance(content, list):
        return [_other(item) for item in content]
    text = str(content)
    number = whole_number(text)
    return f"{text}x" if number is None else str(number + 1)
