"""Into how many changes the generic config updater sorts a patch, how often it tries, and whether it ends at all.

The updater searches for an order of small changes in which each step is valid. Releases before 202605 apply each row
and each field as a separate change; later ones apply equal kinds as a group. The search is linear without ports that
go down. With N ports of r changes each it grows with (rN)^2, and beyond a limit it does not end.

The numbers of rejected tries and the limits were measured with the sorters of 202505 (@7511bf2f) and 202605
(@92c565b3). The releases before 202605 have the same generators and the same search.

The Ansible role contains this module: only the standard library and relative imports.
"""

import enum
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..sonic.releases import MASTER
from ..sonic.statements import ProgramStatement
from ..sonic.tables import ConfigDb
from ..sonic.updater.verdicts import PORT_FLAP_TABLES, is_create_only
from .changes import Change, Op

_READ = (202305, 202311, 202405, 202411, 202505, 202511, 202605, MASTER)
_SORTER = "sonic-utilities generic_config_updater/patch_sorter.py"
GROUPS = ProgramStatement(
    "the sorter applies rows of a table, and fields of rows with equal keys, as a group; before, one by one",
    f"{_SORTER} BulkKeyLevelMoveGenerator, BulkKeyGroupLowLevelMoveGenerator, BulkLowLevelMoveGenerator",
    _READ,
    since=202605,
)
ADMIN_APART = ProgramStatement(
    "the sorter keeps admin_status of ports out of the groups of other fields",
    f"{_SORTER} RequiredValueIdentifier.target_in_required_pattern",
    _READ,
    since=202605,
)
RECURSES = ProgramStatement(
    "the search is recursive, one level for each change, and Python ends it at about 970 levels",
    f"{_SORTER} DfsSorter.sort",
    _READ,
)
TRIES_ORDERS = ProgramStatement(
    "the search tries the changes of a port that goes down, and those of rows that are added again, in many orders",
    f"{_SORTER} DfsSorter.sort, RequiredValueMoveValidator, RemoveCreateOnlyDependencyMoveValidator",
    _READ,
)
KEEPS_MANDATORY = ProgramStatement(
    "the sorter cannot remove a mandatory field of a row",
    "sonic-buildimage src/sonic-yang-models/yang-models/sonic-buffer-profile.yang (mandatory)",
    _READ,
)

MOST_CHANGES = 950  # one by one (RECURSES)
# TRIES_ORDERS
MOST_FLAPS = 28  # ports that go down in one patch, times the changes of each: 28 takes minutes, 56 does not end
MOST_REJECTED = 800  # tries that take minutes and about 1 GB
MOST_SESSIONS = 8  # one by one: rows with create-only fields in one patch
_MANDATORY = frozenset({"pool", "size"})  # of BUFFER_PROFILE (KEEPS_MANDATORY)


class Generation(enum.StrEnum):
    """How a sorter applies changes."""

    ONE_BY_ONE = "one by one"
    GROUPED = "grouped"


@dataclass(frozen=True, slots=True)
class Sorting:
    """What the sorter does with a patch.

    `changes` are applied one after the other. `rejected` are candidates that the sorter tries and rejects. `grouped` is
    the number of fields in groups. `fields` is the size of the configuration, which the sorter loads for each try.
    `problem` says why the patch cannot be sorted, "" if it can.
    """

    generation: Generation
    changes: int
    rejected: int
    grouped: int
    fields: int
    problem: str = ""


@dataclass
class _Work:
    """The changes of a patch by the way in which they are sorted."""

    old: ConfigDb
    rows: list[Change] = field(default_factory=list)
    fields: list[Change] = field(default_factory=list)
    created_again: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # table -> keys
    flapping: dict[str, list[Change]] = field(default_factory=lambda: defaultdict(list))  # ports that come up again
    leaving: dict[str, list[Change]] = field(default_factory=lambda: defaultdict(list))  # ports that stay down


def generation_of(release: int) -> Generation:
    """The sorter of a release."""
    return Generation.GROUPED if GROUPS.holds(release) else Generation.ONE_BY_ONE


def sorting(
    changes: Iterable[Change], old: ConfigDb, new: ConfigDb, release: int, fields: int | None = None
) -> Sorting:
    """What the sorter of a release does with the changes from `old` to `new` in one patch.

    `fields` is the size of `old`, if it is known.
    """
    generation, work = generation_of(release), _sorted_out(changes, old, new, release)
    grouped = generation is Generation.GROUPED
    number = (_groups(work) if grouped else _single_changes(work)) + _taken_off(work)
    sessions = sum(map(len, work.created_again.values()))
    rejected = _rejected(work, number, sessions, grouped)
    return Sorting(
        generation,
        number,
        rejected,
        sum(change.op is not Op.ADD for change in work.fields) if grouped else 0,  # a field that is added costs no load
        size(old) if fields is None else fields,
        _problem(work, number, rejected, sessions, grouped),
    )


def size(config: ConfigDb) -> int:
    """The number of fields of a configuration."""
    return sum(len(row) for rows in config.values() for row in rows.values())


def _sorted_out(changes: Iterable[Change], old: ConfigDb, new: ConfigDb, release: int) -> _Work:
    work = _Work(old)
    changes = list(changes)
    for change in changes:
        if is_create_only(change.table, change.field, release):
            work.created_again[change.table].add(change.key)
    for change in changes:
        port = change.key.partition("|")[0]
        if change.table in PORT_FLAP_TABLES and _is_up(old, port):
            (work.flapping if _is_up(new, port) else work.leaving)[port].append(change)
        elif change.field is None:
            work.rows.append(change)
        elif change.key not in work.created_again.get(change.table, ()):
            work.fields.append(change)
    for port_changes in work.leaving.values():
        for change in port_changes:
            (work.rows if change.field is None else work.fields).append(change)
    return work


def _is_up(config: ConfigDb, port: str) -> bool:
    return config.get("PORT", {}).get(port, {}).get("admin_status") == "up"


def _single_changes(work: _Work) -> int:
    """Each row and each field, a row with create-only fields twice, and each port down and up."""
    flapping = sum(map(len, work.flapping.values())) + 2 * len(work.flapping)
    return len(work.rows) + len(work.fields) + 2 * sum(map(len, work.created_again.values())) + flapping


def _groups(work: _Work) -> int:
    """Rows by table and depth of key, fields by table and key; ports that go down one by one, the last in groups."""
    number = _row_groups(work.rows, work.old) + len(_field_groups(work.fields))
    for table, keys in work.created_again.items():
        number += len(keys) + (min(2, len(keys)) if len(keys) == len(work.old.get(table, {})) else 1)
    for port, found in work.flapping.items():
        single = sum(change.field is None for change in found) + len(_field_groups(found))
        is_last = port == next(reversed(work.flapping))
        number += 2 + (_row_groups(found, work.old) + len(_field_groups(found)) if is_last else single)
    return number


def _taken_off(work: _Work) -> int:
    """The fields that the sorter removes from profiles that ports still use, before it removes the profile."""
    gone = [change for change in work.rows if change.table == "BUFFER_PROFILE" and change.op is Op.REMOVE]
    return sum(len(change.old.keys() - _MANDATORY) for change in gone) if work.flapping else 0


def _row_groups(changes: Iterable[Change], old: ConfigDb) -> int:
    groups: Counter[tuple[str, str, int]] = Counter(
        (change.table, change.op, change.key.count("|")) for change in changes if change.field is None
    )
    removed: Counter[str] = Counter()
    for (table, op, _), rows in groups.items():
        removed[table] += rows if op == Op.REMOVE else 0
    opened: set[str] = set()
    number = 0
    for (table, op, _), rows in groups.items():
        is_empty = len(old.get(table, ())) == removed[table]
        if op == Op.ADD and is_empty and table not in opened:  # the first row opens the table
            opened.add(table)
            number += 1 + (rows > 1)
        else:
            number += 1
    return number


def _field_groups(changes: Iterable[Change]) -> Mapping[tuple[object, ...], Sequence[Change]]:
    groups: dict[tuple[object, ...], list[Change]] = defaultdict(list)
    for change in changes:
        if change.field is not None:
            is_admin = change.table == "PORT" and change.field == "admin_status"
            groups[change.table, change.op, change.key.rpartition("|")[0], is_admin].append(change)
    return groups


def _flaps(work: _Work) -> tuple[int, int]:
    """The ports that go down and come up again, and the largest number of changes of one that is sorted alone."""
    sizes = [_row_groups(found, work.old) + len(_field_groups(found)) for found in work.flapping.values()]
    return len(sizes), max(sizes, default=0)


def _rejected(work: _Work, number: int, sessions: int, grouped: bool) -> int:
    ports, each = _flaps(work)
    if grouped:
        by_flaps = max(1.0, 0.75 * each**2) * ports**2
        return round(by_flaps + 3.5 * number * len(work.leaving))
    by_flaps = (2 + 0.65 * (each**2 - 1)) * ports**2
    by_leaving = 0.15 * number**2 if work.leaving else 0.0
    by_sessions = 1.7 * sessions**2 + 2 * sessions * (number - 2 * sessions) if sessions > 1 else 0.0
    return round(by_flaps + by_leaving + by_sessions) + _rejected_watchdogs(work)


def _rejected_watchdogs(work: _Work) -> int:
    """For the fields of PFC_WD that depend on each other: several of a row, or times and the polling interval. Each
    costs one more load, which is less than half of a try."""
    fields = Counter(change.key for change in work.fields if change.table == "PFC_WD")
    is_alone = max(fields.values(), default=0) < 2 and "GLOBAL" not in fields
    return 0 if is_alone else round(0.45 * fields.total())


def _problem(work: _Work, number: int, rejected: int, sessions: int, grouped: bool) -> str:
    ports, each = _flaps(work)
    if ports * each > MOST_FLAPS:
        return f"{ports} ports that are up have {each} changes each: the updater does not find an order"
    if not grouped and number >= MOST_CHANGES:
        return f"{number} changes: the updater stops with `maximum recursion depth exceeded`"
    if not grouped and sessions > MOST_SESSIONS:
        return f"{sessions} sessions are removed and added again: the updater does not find an order in minutes"
    if rejected > MOST_REJECTED:
        return f"{len(work.leaving)} ports are shut down permanently: the updater does not find an order in minutes"
    return ""
