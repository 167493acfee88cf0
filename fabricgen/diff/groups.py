"""The same change on many devices, and on many rows of them, told once."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabricgen.diff.changes import Change
from fabricgen.sonic.canonical import natural_key

_NUMBER = re.compile(r"\d+")
_SHORTEST_RUN = 3  # two names are told faster by themselves


@dataclass(frozen=True, slots=True)
class Rows:
    """A change, the keys of the rows that it happens to, and their fields (none: the rows as a whole)."""

    change: Change
    keys: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Devices that share changes: those of these devices and of no others."""

    devices: tuple[str, ...]
    rows: tuple[Rows, ...]


def merged(changes: Mapping[str, Iterable[Change]]) -> list[tuple[Change, tuple[str, ...]]]:
    """Each change of a row or field once, with the devices that have it; `changes` by device in natural order."""
    found: dict[tuple[object, ...], tuple[Change, list[str]]] = {}
    for device, each in changes.items():
        for change in each:
            found.setdefault((change.key, change.effect), (change, []))[1].append(device)
    return [(change, tuple(devices)) for change, devices in found.values()]


def grouped(changes: Mapping[str, Iterable[Change]]) -> list[Group]:
    """Groups in the order of their first devices, larger ones first; `changes` by device in natural order."""
    shared: dict[tuple[str, ...], list[Change]] = {}
    for change, devices in merged(changes):
        shared.setdefault(devices, []).append(change)
    order = {device: number for number, device in enumerate(changes)}
    groups = sorted(shared, key=lambda names: (order[names[0]], -len(names), [order[name] for name in names]))
    return [Group(names, tuple(_by_effect(shared[names]))) for names in groups]


def _by_effect(changes: Iterable[Change]) -> Iterable[Rows]:
    """Changes with the same effect on several rows of a table, or on several fields; in the order of the first row."""
    by_row: dict[tuple[object, ...], list[Change]] = {}
    for change in sorted(changes, key=lambda change: change.order):
        by_row.setdefault(change.effect, []).append(change)
    by_field: dict[tuple[object, ...], Rows] = {}
    for found in by_row.values():
        change, keys = found[0], tuple(change.key for change in found)
        fields = () if change.field is None else (change.field,)
        place = (keys, change.field is None, *change.values)
        known = by_field.get(place)
        by_field[place] = Rows(known.change, keys, known.fields + fields) if known else Rows(change, keys, fields)
    return by_field.values()


def device_runs(names: Sequence[str], everyone: Sequence[str]) -> list[str]:
    """['leaf1..leaf96', 'spine3']: names in a row among all devices, alike but for their numbers, are told by the first
    and the last."""
    place = {name: number for number, name in enumerate(everyone)}
    runs: list[list[str]] = []
    for name in names:
        if runs and place[name] == place[runs[-1][-1]] + 1 and _shape(name) == _shape(runs[-1][-1]):
            runs[-1].append(name)
        else:
            runs.append([name])
    return [text for run in runs for text in _told(run)]


def name_runs(keys: Sequence[str]) -> list[str]:
    """['Ethernet0..Ethernet504']: the same for keys or fields that differ in one number, which grows in equal steps."""
    runs: list[list[str]] = []
    for key in sorted(keys, key=natural_key):
        if runs and _continues(runs[-1], key):
            runs[-1].append(key)
        else:
            runs.append([key])
    return [text for run in runs for text in _told(run)]


def _continues(run: Sequence[str], key: str) -> bool:
    step = _step(run[-1], key)
    return step is not None and (len(run) < 2 or step == _step(run[-2], run[-1]))


def _step(one: str, other: str) -> tuple[int, int] | None:
    """Which number grows from one key to the other and by how much; None where they differ otherwise."""
    if _shape(one) != _shape(other):
        return None
    numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    steps = [(at, int(b) - int(a)) for at, (a, b) in enumerate(numbers) if a != b]
    return steps[0] if len(steps) == 1 else None


def _shape(name: str) -> str:
    return _NUMBER.sub("#", name)


def _told(run: Sequence[str]) -> list[str]:
    return [f"{run[0]}..{run[-1]}"] if len(run) >= _SHORTEST_RUN else list(run)
