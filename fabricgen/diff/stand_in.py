"""A switch in memory that takes patches as the real updater and daemons of its release take them.

The updater refuses what its release refuses, and patches that it does not sort. It is not atomic: rows change one by
one, in the order of their keys. What the daemons do is stated below, with the source of each statement. It was
measured with the virtual SAI on sonic-swss @6079a435 (master) and on branch 202505.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabricgen.diff.buffermgrd import FORGETS, WRITES_ON_CABLE, Lookup, is_dynamic, ranges
from fabricgen.diff.changes import changes
from fabricgen.diff.patch_findings import refusals
from fabricgen.diff.patched import patched
from fabricgen.diff.sorting import sorting
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.releases import MASTER
from fabricgen.sonic.statements import ProgramStatement
from fabricgen.sonic.tables import ConfigDb
from fabricgen.sonic.updater.verdicts import ONE_ACTION

_READ = (202305, 202311, 202405, 202411, 202505, 202511, 202605, MASTER)
CLEARS_RANGES = ProgramStatement(
    "orchagent binds the profile of a row of BUFFER_PG and BUFFER_QUEUE to each number of its range, and clears each "
    "number when a row goes, also those that another row has",
    "sonic-swss orchagent/bufferorch.cpp processPriorityGroup, processQueue",
    _READ,
)
WATCHES_ONCE = ProgramStatement(
    "the watchdog reads the priorities of a port only with a new row of PFC_WD",
    "sonic-swss orchagent/pfcwdorch.cpp startWdOnPort",
    _READ,
)
EMPTIES_LISTS = ProgramStatement(
    "orchagent sets an empty list of profiles on a port whose list goes",
    "sonic-swss orchagent/bufferorch.cpp processIngressBufferProfileList, processEgressBufferProfileList",
    _READ,
)
RATIO_IS_LIVE = ProgramStatement(
    "buffermgrd of the dynamic model computes all buffers again when over_subscribe_ratio changes; default_dynamic_th "
    "counts only for profiles that are made later",
    "sonic-swss cfgmgr/buffermgrdyn.cpp handleDefaultLossLessBufferParam",
    _READ,
)
PATTERN_IS_READ_LATE = ProgramStatement(
    "no daemon follows LOSSLESS_TRAFFIC_PATTERN: the headroom script reads it when a profile is computed",
    "sonic-swss cfgmgr/buffer_headroom_mellanox.lua",
    _READ,
)

_BOUND = ("BUFFER_PG", "BUFFER_QUEUE")
_LISTS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")
_DEFAULTS, _PATTERN = "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "LOSSLESS_TRAFFIC_PATTERN"
Numbers = dict[tuple[str, str, int], str]  # (table, port, number) -> profile


class RefusedError(Exception):
    """The switch does not take a patch."""


@dataclass
class Daemons:
    """What the daemons hold: bound profiles, and lists of profiles by table and port; PFC priorities, watched
    priorities and the watchdog's row by port; and, in the dynamic model, what buffermgrd computed the headroom from."""

    profiles: Numbers = field(default_factory=dict)
    lists: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    pfc: dict[str, frozenset[int]] = field(default_factory=dict)
    watched: dict[str, frozenset[int]] = field(default_factory=dict)
    watchdogs: dict[str, dict[str, Any]] = field(default_factory=dict)
    computed_from: dict[str, Any] = field(default_factory=dict)


@dataclass
class StandIn:
    """A switch with its CONFIG_DB, which `config` shows, and its daemons."""

    release: int
    lookup: Lookup
    config: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    daemons: Daemons = field(default_factory=Daemons)
    _priorities: dict[str, str] = field(default_factory=dict)  # buffermgrd: port -> pfc_enable
    _lengths: dict[str, str] = field(default_factory=dict)  # buffermgrd: port -> cable length

    def boot(self, config: ConfigDb) -> None:
        """Load a configuration as after a cold boot: the ports first, the watchdog last."""
        self.config, self.daemons, self._priorities, self._lengths = {}, Daemons(), {}, {}
        last = {"DEVICE_METADATA": -2, "PORT": -1, "CABLE_LENGTH": 1, "PFC_WD": 2}
        for table in sorted(config, key=lambda name: (last.get(name, 0), name)):
            for key, row in config[table].items():
                self._set(table, key, dict(row))
        for port in config.get("PORT", {}):
            self._write_groups(port)  # tried again until the length is known
        if is_dynamic(config):
            self.daemons.computed_from = {
                "default_dynamic_th": [row.get("default_dynamic_th") for row in config.get(_DEFAULTS, {}).values()],
                "over_subscribe_ratio": [row.get("over_subscribe_ratio") for row in config.get(_DEFAULTS, {}).values()],
                _PATTERN: list(config.get(_PATTERN, {}).values()),
            }

    def apply(self, patch: Sequence[Any], *, restarts_bgp: bool = False) -> None:
        """`config apply-patch`, and a restart of the BGP container, which then reads the ASN. Raises RefusedError; the
        configuration is then as before."""
        target = patched(self.config, patch)
        target = {table: rows for table, rows in target.items() if rows}
        found = changes(self.config, target, self.release)
        problem = sorting(found, self.config, target, self.release).problem
        late = [change for change in found if not (restarts_bgp and change.field == "bgp_asn")]
        for reason in (*refusals(late), *([problem] if problem else [])):
            raise RefusedError(reason)
        self.write(target)

    def write(self, target: ConfigDb) -> None:
        """Change CONFIG_DB row by row, in the order of the keys, whatever the updater says."""
        found = changes(self.config, target, self.release)
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
        elif table in _LISTS:
            self.daemons.lists[table, key] = _names((row or {}).get("profile_list", ()))
        elif table == "PORT_QOS_MAP" and key != "global":
            self._prioritize(key, row)
        elif table == "PFC_WD" and key != "GLOBAL":
            self._watch(key, before, row)
        elif table == "PORT" and row is not None:
            self._write_groups(key)
        elif table == "CABLE_LENGTH":
            self._measure(row or {})
        elif table == _DEFAULTS and self.daemons.computed_from:
            rows = self.config.get(_DEFAULTS, {}).values()
            self.daemons.computed_from["over_subscribe_ratio"] = [each.get("over_subscribe_ratio") for each in rows]

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
            if FORGETS.holds(self.release):
                self._priorities.pop(port, None)
            return
        enabled = row.get("pfc_enable")
        self.daemons.pfc[port] = frozenset(_priorities(enabled))
        if isinstance(enabled, str) and self._priorities.get(port) != enabled:
            self._priorities[port] = enabled
            self._write_groups(port)
        if port in self.config.get("PFC_WD", {}) and port not in self.daemons.watched:
            self._watch(port, None, self.config["PFC_WD"][port])  # orchagent tries again

    def _watch(self, port: str, before: Mapping[str, Any] | None, row: Mapping[str, Any] | None) -> None:
        if row is None:
            self.daemons.watched.pop(port, None)
            self.daemons.watchdogs.pop(port, None)
            return
        others = {other.get("action", "drop") for name, other in self.daemons.watchdogs.items()}
        is_single = ONE_ACTION.holds(self.release) and not is_dynamic(self.config)
        if is_single and others and row.get("action", "drop") not in others:
            return  # refused: "Invalid PFC Watchdog action … as switch level action … is set"
        if before is None or port not in self.daemons.watched:
            mask = _priorities(self.config.get("PORT_QOS_MAP", {}).get(port, {}).get("pfcwd_sw_enable"))
            if not mask:
                return  # "Failed to start PFC Watchdog", tried again
            self.daemons.watched[port] = frozenset(mask)
        self.daemons.watchdogs[port] = dict(row)

    def _measure(self, row: Mapping[str, Any]) -> None:
        """buffermgrd and a row of CABLE_LENGTH: it keeps the length of a port that is not in the row any more."""
        changed = [port for port, length in row.items() if self._lengths.get(port) != length]
        self._lengths |= row
        for port in changed if WRITES_ON_CABLE.holds(self.release) else ():
            self._write_groups(port)

    def _write_groups(self, port: str) -> None:
        """buffermgrd: the profile of the SKU on the groups of the priorities that it remembers."""
        if is_dynamic(self.config):
            return
        speed = self.config.get("PORT", {}).get(port, {}).get("speed")
        name = f"pg_lossless_{speed}_{self._lengths.get(port, '')}_profile"
        if port not in self._priorities or name not in self.lookup:
            return
        if name not in self.config.get("BUFFER_PROFILE", {}):
            self._set("BUFFER_PROFILE", name, dict(self.lookup[name]))
        for numbers in ranges(self._priorities[port]):
            if self.config.get("BUFFER_PG", {}).get(f"{port}|{numbers}", {}).get("profile") != name:
                self._set("BUFFER_PG", f"{port}|{numbers}", {"profile": name})


def differences(found: StandIn, expected: StandIn) -> Iterator[str]:
    """What one switch holds and another does not, in words."""
    for table in sorted(found.config.keys() | expected.config.keys(), key=natural_key):
        if found.config.get(table) != expected.config.get(table):
            yield f"CONFIG_DB: {table} differs"
    ours, theirs = found.daemons, expected.daemons
    yield from _of_profiles(ours, theirs)
    for port in sorted(ours.watchdogs.keys() & theirs.watchdogs.keys(), key=natural_key):
        held_row, wanted_row = ours.watchdogs[port], theirs.watchdogs[port]
        if held_row != wanted_row:
            yield f"watchdog: {port} has {_shown(held_row)}, expected {_shown(wanted_row)}"
    for what, value in ours.computed_from.items():
        if value != theirs.computed_from.get(what):
            yield f"headroom: computed with {what} {value}, expected {theirs.computed_from.get(what)}"
    for what, held_by, wanted_by in (("PFC", ours.pfc, theirs.pfc), ("watchdog", ours.watched, theirs.watched)):
        for port in sorted(held_by.keys() | wanted_by.keys(), key=natural_key):
            held, wanted = (sorted(each.get(port, ())) for each in (held_by, wanted_by))
            if held != wanted:
                yield f"{what}: {port} has priorities {held}, expected {wanted}"


def _of_profiles(ours: Daemons, theirs: Daemons) -> Iterator[str]:
    for table, port, number in sorted(ours.profiles.keys() | theirs.profiles.keys()):
        one, other = (each.profiles.get((table, port, number), "no profile") for each in (ours, theirs))
        if one != other:
            yield f"{table}: {port} {number} has {one}, expected {other}"
    for table, port in sorted(ours.lists.keys() | theirs.lists.keys()):
        held, wanted = (each.lists.get((table, port), ()) for each in (ours, theirs))
        if held != wanted:
            yield f"{table}: {port} has [{', '.join(held)}], expected [{', '.join(wanted)}]"


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


def _shown(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{field} {value}" for field, value in sorted(row.items()))


def _order(place: tuple[str, str]) -> tuple[object, ...]:
    return natural_key(place[0]), natural_key(place[1])


def _numbers(text: str) -> range:
    first, _, last = text.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        return range(0)
    return range(int(first), int(last or first) + 1)


def _names(value: object) -> tuple[str, ...]:
    return tuple(value.split(",") if isinstance(value, str) else map(str, value) if isinstance(value, list) else ())


def _priorities(value: object) -> set[int]:
    return {int(word) for word in value.split(",") if word.strip().isdecimal()} if isinstance(value, str) else set()
