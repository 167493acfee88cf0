"""Equal changes of many devices and rows as one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabricgen.diff.changes import Change


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """A change, the keys of its rows, and their fields. Without fields, the change is of whole rows."""

    change: Change
    keys: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The changes that exactly these devices have in common."""

    devices: tuple[str, ...]
    rows: tuple[ChangedRows, ...]


def merged(changes: Mapping[str, Iterable[Change]]) -> list[tuple[Change, tuple[str, ...]]]:
    """Each change of a row or field once, with the devices that have it; `changes` by device in natural order."""
    found: dict[tuple[object, ...], tuple[Change, list[str]]] = {}
    for device, each in changes.items():
        for change in each:
            found.setdefault((change.key, change.effect), (change, []))[1].append(device)
    return [(change, tuple(devices)) for change, devices in found.values()]


def grouped(changes: Mapping[str, Iterable[Change]]) -> list[ChangeGroup]:
    """Groups in the order of their first devices, larger ones first; `changes` by device in natural order."""
    shared: dict[tuple[str, ...], list[Change]] = {}
    for change, devices in merged(changes):
        shared.setdefault(devices, []).append(change)
    order = {device: number for number, device in enumerate(changes)}
    groups = sorted(shared, key=lambda names: (order[names[0]], -len(names), [order[name] for name in names]))
    return [ChangeGroup(names, tuple(_by_effect(shared[names]))) for names in groups]


def _by_effect(changes: Iterable[Change]) -> Iterable[ChangedRows]:
    """Changes with the same effect on several rows of a table, or on several fields; in the order of the first row."""
    by_row: dict[tuple[object, ...], list[Change]] = {}
    for change in sorted(changes, key=lambda change: change.order):
        by_row.setdefault(change.effect, []).append(change)
    by_field: dict[tuple[object, ...], ChangedRows] = {}
    for found in by_row.values():
        change, keys = found[0], tuple(change.key for change in found)
        fields = () if change.field is None else (change.field,)
        place = (keys, change.field is None, *change.values)
        known = by_field.get(place)
        by_field[place] = (
            ChangedRows(known.change, keys, known.fields + fields) if known else ChangedRows(change, keys, fields)
        )
    return by_field.values()
