"""The changes of a switch by the patch of a plan in which they are made.

The Ansible role contains this module: only the standard library and relative imports.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..sonic.tables import ConfigDb, parse_priorities
from ..sonic.updater.verdicts import PORT_DOWN_FIELDS, PORT_FLAP_TABLES, is_create_only
from .batches import up_ports
from .changes import Change, Op
from .step import addition, admin_status, removal

_MAPS = frozenset({
    "DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP", "MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "TC_TO_DSCP_MAP", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP",
})  # fmt: skip
_REFERENCED = _MAPS | {"BUFFER_POOL", "SCHEDULER", "WRED_PROFILE"}  # by rows of ports; BUFFER_PROFILE is apart
_RANGES = ("BUFFER_PG", "BUFFER_QUEUE")
_PRIORITIES = ("pfc_enable", "pfcwd_sw_enable")
_ByPort = dict[str, list[Change]]


@dataclass
class Split:
    """The changes by step. Those of ports by port: `down`, `out`, `into`, `up`.

    `returning` are the ports that are up before and after, `rising` those that are down before and up after. `first`
    are other changes, `last` those that must follow the ports. `sessions` are rows that the updater removes and adds
    again, `profiles` the old buffer profiles.
    """

    down: _ByPort = field(default_factory=lambda: defaultdict(list))
    out: _ByPort = field(default_factory=lambda: defaultdict(list))
    into: _ByPort = field(default_factory=lambda: defaultdict(list))
    up: _ByPort = field(default_factory=lambda: defaultdict(list))
    first: list[Change] = field(default_factory=list)
    last: list[Change] = field(default_factory=list)
    sessions: list[list[Change]] = field(default_factory=list)
    profiles: list[Change] = field(default_factory=list)
    returning: frozenset[str] = frozenset()
    rising: frozenset[str] = frozenset()

    @property
    def ports(self) -> set[str]:
        """The ports with changes."""
        return {*self.down, *self.out, *self.into, *self.up}


def split(
    changes: Sequence[Change], old: ConfigDb, new: ConfigDb, release: int, with_port: Mapping[str, Change]
) -> Split:
    """The changes by step. `with_port` are changes that are made while a port goes down, by port."""
    found = Split()
    up_before, up_after = up_ports(old), up_ports(new)
    found.rising = (up_after - up_before) & old.get("PORT", {}).keys()
    ports = {port for change in changes if (port := _port(change))} | found.rising | with_port.keys()
    found.returning = up_before & up_after & ports
    for port in sorted(found.returning):
        found.down[port].append(admin_status(port, "up", "down"))
        found.down[port] += [with_port[port]] if port in with_port else []
        found.up[port].append(admin_status(port, "down", "up"))
    again = _watched_again(changes, ports, old, new)
    for port in again:
        found.out[port].append(removal("PFC_WD", port, old["PFC_WD"][port]))
        found.up[port].append(addition("PFC_WD", port, new["PFC_WD"][port]))
    created_again = {
        (change.table, change.key) for change in changes if is_create_only(change.table, change.field, release)
    }
    rows = {(change.table, change.key): port for change in changes if (port := _port(change)) and _is_row(change)}
    rows |= _cleared_with(rows, old, new)
    sessions: dict[tuple[str, str], list[Change]] = defaultdict(list)
    maps_last = _priorities(new) > _priorities(old)
    for change in changes:
        place = (change.table, change.key)
        if place in created_again:
            sessions[place].append(change)
        elif change.table in ("PORT", "PFC_WD") and change.key in ports:
            _of_port(found, change, again)
        elif (port := _port(change)) or (change.table == "PORT" and change.field in PORT_DOWN_FIELDS):
            if place not in rows:
                found.into[port or change.key].append(change)
        else:
            _of_switch(found, change, maps_last)
    for (table, key), port in rows.items():
        before, after = (config.get(table, {}).get(key) for config in (old, new))
        if before is not None:
            found.out[port].append(removal(table, key, before))
        if after is not None:
            found.into[port].append(addition(table, key, after))
    found.sessions = list(sessions.values())
    return found


def _cleared_with(rows: Mapping[tuple[str, str], str], old: ConfigDb, new: ConfigDb) -> dict[tuple[str, str], str]:
    """The rows that stay and lose profiles with rows that go, with their ports: orchagent clears each group or queue of
    a range that is removed, also those that another row has. They are removed and added again."""
    found: dict[tuple[str, str], str] = {}
    for table in _RANGES:
        cleared: dict[str, set[int]] = defaultdict(set)
        for name, key in rows:
            if name == table and key in old.get(table, {}):
                cleared[key.partition("|")[0]] |= parse_priorities(key.partition("|")[2])
        for key in old.get(table, {}).keys() & new.get(table, {}).keys() if cleared else ():
            port, _, numbers = key.partition("|")
            if (table, key) not in rows and cleared.get(port, set()) & parse_priorities(numbers):
                found[table, key] = port
    return dict(sorted(found.items()))


def _port(change: Change) -> str:
    """The port of a row that the updater changes only while the port is down; "" for other rows."""
    port = change.key.partition("|")[0]
    return port if change.table in PORT_FLAP_TABLES and port != "global" else ""


def _is_row(change: Change) -> bool:
    """Whether the row of a port is removed and added. The updater changes fields of rows like Ethernet0|3 port by port,
    and such rows all at once."""
    return change.field is None or "|" in change.key or _changes_priorities(change)


def _changes_priorities(change: Change) -> bool:
    """Whether the daemons read the change only with a new row of PORT_QOS_MAP."""
    return change.table == "PORT_QOS_MAP" and change.key != "global" and change.field in _PRIORITIES


def _watched_again(changes: Iterable[Change], ports: set[str], old: ConfigDb, new: ConfigDb) -> set[str]:
    """Ports whose rows of PFC_WD are added again: the watchdog reads the priorities only with the row."""
    watched = old.get("PFC_WD", {}).keys() & new.get("PFC_WD", {}).keys()
    return {
        change.key
        for change in changes
        if change.key in watched & ports
        and (_changes_priorities(change) or (change.table == "PORT_QOS_MAP" and change.field is None))
    }


def _of_port(found: Split, change: Change, again: set[str]) -> None:
    """A change of PORT or PFC_WD of a port whose rows change."""
    if change.table == "PFC_WD":
        if change.key in again:
            return
        by_port = found.out if change.field is None and change.op is Op.REMOVE else found.up
    elif change.field == "admin_status":
        by_port = found.up if change.new == "up" else found.down
    else:
        by_port = found.into
    by_port[change.key].append(change)


def _of_switch(found: Split, change: Change, maps_last: bool) -> None:
    is_removal = change.field is None and change.op is Op.REMOVE
    if change.table == "BUFFER_PROFILE" and is_removal:
        found.profiles.append(change)
    elif change.table in _REFERENCED and (is_removal or (maps_last and change.table in _MAPS and change.field)):
        found.last.append(change)
    else:
        found.first.append(change)


def _priorities(config: ConfigDb) -> set[str]:
    """The lossless priorities of all ports."""
    enabled = {row.get("pfc_enable", "") for row in config.get("PORT_QOS_MAP", {}).values()}
    return {one for value in enabled if isinstance(value, str) for one in value.split(",") if one}
