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
    """A change and the keys of the rows that it happens to."""

    change: Change
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Devices that share changes: those of these devices and of no others."""

    devices: tuple[str, ...]
    rows: tuple[Rows, ...]


def grouped(changes: Mapping[str, Iterable[Change]]) -> list[Group]:
    """Groups in the order of their first devices, larger ones first; `changes` by device in natural order."""
    devices: dict[tuple[object, ...], list[str]] = {}
    sample: dict[tuple[object, ...], Change] = {}
    for device, found in changes.items():
        for change in found:
            place = (change.key, change.effect)
            devices.setdefault(place, []).append(device)
            sample.setdefault(place, change)
    shared: dict[tuple[str, ...], list[Change]] = {}
    for each, names in devices.items():
        shared.setdefault(tuple(names), []).append(sample[each])
    order = {device: number for number, device in enumerate(changes)}
    groups = sorted(shared, key=lambda names: (order[names[0]], -len(names), [order[name] for name in names]))
    return [Group(names, tuple(_by_effect(shared[names]))) for names in groups]


def _by_effect(changes: Iterable[Change]) -> Iterable[Rows]:
    """Changes with the same effect on several rows of a table; in the order of the first row."""
    keys: dict[tuple[object, ...], list[Change]] = {}
    for change in sorted(changes, key=lambda change: change.order):
        keys.setdefault(change.effect, []).append(change)
    return [Rows(found[0], tuple(change.key for change in found)) for found in keys.values()]


def device_runs(names: Sequence[str], everyone: Sequence[str]) -> list[str]:
    """['leaf1..leaf96', 'spine3']: names in a row among all devices are told by the first and the last."""
    place = {name: number for number, name in enumerate(everyone)}
    runs: list[list[str]] = []
    for name in names:
        if runs and place[name] == place[runs[-1][-1]] + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    return [text for run in runs for text in _told(run)]


def key_runs(keys: Sequence[str]) -> list[str]:
    """['Ethernet0..Ethernet504']: keys that differ in one number, which grows by the same step, are told likewise."""
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
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return None
    numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    steps = [(at, int(b) - int(a)) for at, (a, b) in enumerate(numbers) if a != b]
    return steps[0] if len(steps) == 1 else None


def _told(run: Sequence[str]) -> list[str]:
    return [f"{run[0]}..{run[-1]}"] if len(run) >= _SHORTEST_RUN else list(run)
