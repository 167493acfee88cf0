"""A switch in memory that takes patches as the real updater and daemons were measured to take them.

The updater refuses what its release refuses, and patches that it does not sort. It is not atomic: rows change one by
one, in the order of their keys. orchagent binds the profile of a row of BUFFER_PG and BUFFER_QUEUE to each number of
its range, and clears each number when a row goes. The watchdog reads priorities only with a new row of PFC_WD.
buffermgrd (traditional buffer model) writes priority groups when the cable, the port or the priorities change, and
forgets the priorities only with the row of PORT_QOS_MAP.

Source: runs of sonic-swss @6079a435 (orchagent, buffermgrd) with the virtual SAI; buffermgr.cpp @e6b0c5b5.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabricgen.diff.buffermgrd import Lookup, ranges
from fabricgen.diff.changes import changes
from fabricgen.diff.patch_findings import refusals
from fabricgen.diff.patched import patched
from fabricgen.diff.sorting import sorting
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import ConfigDb

_BOUND = ("BUFFER_PG", "BUFFER_QUEUE")
Numbers = dict[tuple[str, str, int], str]  # (table, port, number) -> profile


class RefusedError(Exception):
    """The switch does not take a patch."""


@dataclass
class Daemons:
    """What the daemons hold: bound profiles, PFC priorities and watched priorities by port."""

    profiles: Numbers = field(default_factory=dict)
    pfc: dict[str, frozenset[int]] = field(default_factory=dict)
    watched: dict[str, frozenset[int]] = field(default_factory=dict)


@dataclass
class StandIn:
    """A switch with its CONFIG_DB, which `config` shows, and its daemons."""

    release: int
    lookup: Lookup
    config: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    daemons: Daemons = field(default_factory=Daemons)
    _remembered: dict[str, str] = field(default_factory=dict)  # buffermgrd: port -> pfc_enable

    def boot(self, config: ConfigDb) -> None:
        """Load a configuration as after a cold boot: the ports first, the watchdog last."""
        self.config, self.daemons, self._remembered = {}, Daemons(), {}
        last = {"PORT": -1, "CABLE_LENGTH": 1, "PFC_WD": 2}
        for table in sorted(config, key=lambda name: (last.get(name, 0), name)):
            for key, row in config[table].items():
                self._set(table, key, dict(row))

    def apply(self, patch: Sequence[Any]) -> None:
        """`config apply-patch`. Raises RefusedError; the configuration is then as before."""
        target = patched(self.config, patch)
        target = {table: rows for table, rows in target.items() if rows}
        found = changes(self.config, target, self.release)
        problem = sorting(found, self.config, target, self.release).problem
        for reason in (*refusals(found), *([problem] if problem else [])):
            raise RefusedError(reason)
        for table, key in sorted({(change.table, change.key) for change in found}, key=_order):
            row = target.get(table, {}).get(key)
            self._set(table, key, None if row is None else dict(row))

    def _set(self, table: str, key: str, row: dict[str, Any] | None) -> None:
        """One row of CONFIG_DB, and what the daemons do with it."""
        before = self.config.get(table, {}).get(key)
        if row is None:
            self.config[table].pop(key)
            if not self.config[table]:
                del self.config[table]
        else:
            self.config.setdefault(table, {})[key] = row
        if table in _BOUND:
            self._bind(table, key, row)
        elif table == "PORT_QOS_MAP" and key != "global":
            self._prioritize(key, row)
        elif table == "PFC_WD" and key != "GLOBAL":
            self._watch(key, before, row)
        elif table == "PORT" and row is not None:
            self._write_groups(key)
        elif table == "CABLE_LENGTH":
            lengths = before or {}
            for port in (port for port, length in (row or {}).items() if lengths.get(port) != length):
                self._write_groups(port)

    def _bind(self, table: str, key: str, row: Mapping[str, Any] | None) -> None:
        port, _, numbers = key.partition("|")
        for number in _numbers(numbers):
            if row is None:
                self.daemons.profiles.pop((table, port, number), None)
            else:
                self.daemons.profiles[table, port, number] = str(row.get("profile", ""))

    def _prioritize(self, port: str, row: Mapping[str, Any] | None) -> None:
        if row is None:
            self.daemons.pfc.pop(port, None)
            self._remembered.pop(port, None)
            return
        enabled = row.get("pfc_enable")
        self.daemons.pfc[port] = frozenset(_priorities(enabled))
        if isinstance(enabled, str) and self._remembered.get(port) != enabled:
            self._remembered[port] = enabled
            self._write_groups(port)
        if port in self.config.get("PFC_WD", {}) and port not in self.daemons.watched:
            self._watch(port, None, self.config["PFC_WD"][port])  # orchagent tries again

    def _watch(self, port: str, before: Mapping[str, Any] | None, row: Mapping[str, Any] | None) -> None:
        if row is None:
            self.daemons.watched.pop(port, None)
        elif before is None or port not in self.daemons.watched:
            mask = _priorities(self.config.get("PORT_QOS_MAP", {}).get(port, {}).get("pfcwd_sw_enable"))
            if mask:
                self.daemons.watched[port] = frozenset(mask)

    def _write_groups(self, port: str) -> None:
        """buffermgrd: the profile of the SKU on the groups of the priorities that it remembers."""
        if self.config.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model") == "dynamic":
            return
        cable = next((row[port] for row in self.config.get("CABLE_LENGTH", {}).values() if port in row), "")
        name = f"pg_lossless_{self.config.get('PORT', {}).get(port, {}).get('speed')}_{cable}_profile"
        if port not in self._remembered or name not in self.lookup:
            return
        if name not in self.config.get("BUFFER_PROFILE", {}):
            self._set("BUFFER_PROFILE", name, dict(self.lookup[name]))
        for numbers in ranges(self._remembered[port]):
            if self.config.get("BUFFER_PG", {}).get(f"{port}|{numbers}", {}).get("profile") != name:
                self._set("BUFFER_PG", f"{port}|{numbers}", {"profile": name})


def differences(found: StandIn, expected: StandIn) -> Iterator[str]:
    """What one switch holds and another does not, in words."""
    for table in sorted(found.config.keys() | expected.config.keys(), key=natural_key):
        if found.config.get(table) != expected.config.get(table):
            yield f"CONFIG_DB: {table} differs"
    ours, theirs = found.daemons, expected.daemons
    for table, port, number in sorted(ours.profiles.keys() | theirs.profiles.keys()):
        one, other = (each.profiles.get((table, port, number), "no profile") for each in (ours, theirs))
        if one != other:
            yield f"{table}: {port} {number} has {one}, expected {other}"
    for what, held_by, wanted_by in (("PFC", ours.pfc, theirs.pfc), ("watchdog", ours.watched, theirs.watched)):
        for port in sorted(held_by.keys() | wanted_by.keys(), key=natural_key):
            held, wanted = (sorted(each.get(port, ())) for each in (held_by, wanted_by))
            if held != wanted:
                yield f"{what}: {port} has priorities {held}, expected {wanted}"


def unwatched(switch: StandIn, watched: frozenset[str]) -> list[str]:
    """The ports of `watched` that are up and have a lossless priority that pfcwd_sw_enable names and the watchdog does
    not watch."""
    maps = switch.config.get("PORT_QOS_MAP", {})
    return [
        port
        for port, row in switch.config.get("PORT", {}).items()
        if port in watched
        and row.get("admin_status") == "up"
        and (switch.daemons.pfc.get(port, frozenset()) & _priorities(maps.get(port, {}).get("pfcwd_sw_enable")))
        - switch.daemons.watched.get(port, frozenset())
    ]


def _order(place: tuple[str, str]) -> tuple[object, ...]:
    return natural_key(place[0]), natural_key(place[1])


def _numbers(text: str) -> range:
    first, _, last = text.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        return range(0)
    return range(int(first), int(last or first) + 1)


def _priorities(value: object) -> set[int]:
    return {int(word) for word in value.split(",") if word.strip().isdecimal()} if isinstance(value, str) else set()
