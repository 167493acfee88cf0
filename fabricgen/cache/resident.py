"""The bundle of a process that judges it again and again: recorded once, then compared with what it has become."""

from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import Any

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.bundle.wiring import Wiring
from fabricgen.cache.readings import (
    ALWAYS,
    CABLES,
    CORDONED,
    FILE,
    HOSTS,
    LENGTHS,
    LINKS,
    NAMES,
    OVERRIDDEN,
    SIGN,
    TEXT,
    WIRING,
    Readings,
)
from fabricgen.cache.recorded import Recordable, Recorded
from fabricgen.sonic.policy import TABLES as POLICY_TABLES

# Tables of which objects that are kept read more only when they need it, and what every judge depends on.
_NEVER = frozenset({*ALWAYS, *POLICY_TABLES})


class ResidentBundle:
    """A bundle of which judges keep what they derive. `recorded` is the bundle for them."""

    def __init__(self, bundle: Recordable) -> None:
        self.readings = Readings()
        self.bundle = bundle.bundle
        self._devices = bundle.recorded(self.readings).devices
        self._memo: dict[Any, Any] = {}
        self.recorded = bundle.recorded_with(self._devices, self.readings, self._memo)

    def become(self, bundle: Bundle, files: Collection[str]) -> bool:
        """Go on with the bundle after these files were written or removed. False if that concerns every judge: all has
        to be judged anew."""
        recordable = Recordable.of(bundle)
        old = self.bundle
        if recordable is None or [*bundle.devices] != [*old.devices] or bundle.release != old.release:
            return False
        tables = [change for name in bundle.devices for change in _changed(old.devices[name], bundle.devices[name])]
        names = [*_names(old, bundle, files)]
        if not _NEVER.isdisjoint((*names, *(table for _, table in tables))):
            return False
        self.readings.changed(names, tables)
        for name, device in self._devices.items():
            if old.devices[name].content is not bundle.devices[name].content:
                assert isinstance(device.content, Recorded)
                device.content.become(bundle.devices[name].content)
        self.bundle = bundle
        self.recorded = recordable.recorded_with(self._devices, self.readings, self._memo)
        return True


def _changed(old: ObservedDevice, new: ObservedDevice) -> Iterator[tuple[str, str]]:
    """(switch, table) of what differs in the file of a switch; NAMES for the names of its tables."""
    before, after = old.config, new.config
    if old.content is new.content:
        return
    for table in {**before, **after}:
        if before.get(table) != after.get(table):
            yield new.name, table
    if [*before] != [*after]:
        yield new.name, NAMES


def _names(old: Bundle, new: Bundle, files: Collection[str]) -> Iterator[str]:
    """The names of what differs beside tables."""
    for name, device in new.devices.items():
        if device.content is not old.devices[name].content:
            yield f"{TEXT}{name}"
            signs, before = device.signs, old.devices[name].signs
            yield from (f"{SIGN}{one.name} {name}" for one in fields(signs) if _differ(before, signs, one.name))
    if old.wiring is not new.wiring:
        assert old.wiring is not None and new.wiring is not None
        yield from (f"{WIRING}{one.name}" for one in fields(Wiring) if _differ(old.wiring, new.wiring, one.name))
        cables = [[(one.id, one.medium, one.links) for one in each.wiring.cables] for each in (old, new) if each.wiring]
        differ = {
            LINKS: old.links != new.links,
            CABLES: cables[0] != cables[1],
            LENGTHS: old.cable_length_m != new.cable_length_m,
            CORDONED: old.cordoned != new.cordoned,
        }
        yield from (name for name, is_new in differ.items() if is_new)
    yield from (f"{FILE}{file}" for file in files)
    if any(file.startswith(f"{HOSTS}/") for file in files):
        yield HOSTS
    yield from (f"{OVERRIDDEN}{table}" for table in _overridden(old, new))


def _differ(old: object, new: object, name: str) -> bool:
    return bool(getattr(old, name) != getattr(new, name))


def _overridden(old: Bundle, new: Bundle) -> list[str]:
    """The tables of which other rows are overridden."""
    if old.sources is None or new.sources is None:
        return []
    found: dict[str, None] = {}
    for name in new.devices:
        before, after = (list(one.overrides(name)) for one in (old.sources, new.sources))
        if before != after:
            found |= dict.fromkeys(path.partition("|")[0] for path in (*before, *after))
    return list(found)
