"""What `config apply-patch` and the daemons do with a patch from anywhere, as findings.

The verdicts, the limits of the sorter and the price are those of plans. What the daemons lose was measured with
sonic-swss @6079a435 on files of both buffer models.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fabricgen.diff.buffermgrd import WRITES_ON_CABLE, is_dynamic, written_back
from fabricgen.diff.changes import Change, Op, changes
from fabricgen.diff.patched import PatchError, patched
from fabricgen.diff.price import price
from fabricgen.diff.sorting import Sorting, sorting
from fabricgen.findings import Finding, Place, Severity
from fabricgen.sonic.releases import release_name
from fabricgen.sonic.tables import ConfigDb
from fabricgen.sonic.updater.verdicts import Cost, is_create_only
from fabricgen.units import counted

CODES = frozenset({"FG932", "FG940", "FG941", "FG942", "FG943", "FG944", "FG945", "FG946"})
_RANGES = ("BUFFER_PG", "BUFFER_QUEUE")
_PRIORITIES = ("pfc_enable", "pfcwd_sw_enable")
_PLAN = "make the change with the patches of `fabricgen diff OLD NEW --format plan`"


def patch_findings(
    device: str, config: ConfigDb, patch: Sequence[Any], release: int
) -> tuple[list[Finding], dict[str, Any] | None]:
    """The findings about a patch of a device, and its configuration after the patch; None if it cannot be applied."""
    try:
        after = patched(config, patch)
        found = changes(config, after, release)
    except PatchError as error:
        message = f"{error.path or 'the patch'} cannot be applied: {error}"
        return [Finding("FG940", Severity.ERROR, message, device, error.path, hint="correct the operation")], None
    except TypeError as error:
        hint = "a patch changes tables of rows of fields"
        return [
            Finding("FG940", Severity.ERROR, f"the result is not a configuration: {error}", device, hint=hint)
        ], None
    cost = sorting(found, config, after, release)
    judged = (
        _empty(device, after),
        _refused(device, found),
        _unsorted(device, cost),
        _overlaps(device, found),
        _unwatched(device, found, config, after),
        _written_back(device, found, config, after, release),
        _remembered(device, found, after, release),
        _sessions(device, found, release),
        _price(device, cost, release),
    )
    return [finding for each in judged for finding in each], after


def _empty(device: str, after: ConfigDb) -> Iterator[Finding]:
    for table in sorted(name for name, rows in after.items() if not rows):
        hint = "add an operation that removes the table"
        yield Finding(
            "FG941", Severity.ERROR, f"the patch leaves {table} without rows, which the updater refuses", device, table,
            hint=hint,
        )  # fmt: skip


def _refused(device: str, found: Iterable[Change]) -> Iterator[Finding]:
    reasons: dict[str, list[Change]] = defaultdict(list)
    for change in found:
        if change.verdict.cost in (Cost.RELOAD, Cost.REBOOT):
            reasons[change.verdict.reason].append(change)
    for reason, members in reasons.items():
        command = "a reboot" if members[0].verdict.cost is Cost.REBOOT else "`config reload`"
        yield Finding(
            "FG941", Severity.ERROR, f"`config apply-patch` does not make the change: {reason}", device,
            hint=f"load the configuration with {command}", count=len(members), place=_place(members[0]),
        )  # fmt: skip


def refusals(found: Iterable[Change]) -> list[str]:
    """Why `config apply-patch` does not make the changes, each reason once."""
    costly = (change for change in found if change.verdict.cost in (Cost.RELOAD, Cost.REBOOT))
    return list(dict.fromkeys(change.verdict.reason for change in costly))


def _unsorted(device: str, cost: Sorting) -> Iterator[Finding]:
    if cost.problem:
        yield Finding("FG942", Severity.ERROR, cost.problem, device, hint=_PLAN)


def _overlaps(device: str, found: Iterable[Change]) -> Iterator[Finding]:
    """A range of a port that is added while an overlapping one is removed: the removal clears the profiles of both."""
    rows: Mapping[tuple[str, str], dict[Op, list[Change]]] = defaultdict(lambda: defaultdict(list))
    for change in found:
        if change.table in _RANGES and change.field is None:
            rows[change.table, change.key.partition("|")[0]][change.op].append(change)
    lost = [
        added
        for by_op in rows.values()
        for added in by_op[Op.ADD]
        if any(_numbers(added.key) & _numbers(removed.key) for removed in by_op[Op.REMOVE])
    ]
    for table in _RANGES:
        if members := [change for change in lost if change.table == table]:
            message = (
                f"a range of {table} is added and an overlapping one is removed: orchagent clears the profiles of both "
                "on all ports, while CONFIG_DB looks right"
            )
            hint = f"remove the rows in one patch and add the others in the next; {_PLAN}"
            yield Finding(
                "FG943", Severity.ERROR, message, device, hint=hint, count=len(members), place=_place(members[0])
            )


def _numbers(key: str) -> set[int]:
    first, _, last = key.partition("|")[2].partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        return set()
    return set(range(int(first), int(last or first) + 1))


def _unwatched(device: str, found: Sequence[Change], old: ConfigDb, new: ConfigDb) -> Iterator[Finding]:
    """Priorities that change under a row of PFC_WD that stays: the watchdog keeps the old ones."""
    watched = old.get("PFC_WD", {}).keys() & new.get("PFC_WD", {}).keys()
    members = [
        change
        for change in found
        if change.table == "PORT_QOS_MAP" and change.field in _PRIORITIES and change.key in watched
    ]
    if members:
        message = f"the watchdog keeps the queues of the old {members[0].field}: only a new row of PFC_WD changes them"
        hint = f"remove the row of PFC_WD in one patch and add it in a later one; {_PLAN}"
        yield Finding("FG944", Severity.ERROR, message, device, hint=hint, count=len(members), place=_place(members[0]))


def _written_back(
    device: str, found: Sequence[Change], old: ConfigDb, new: ConfigDb, release: int
) -> Iterator[Finding]:
    """Priority groups that buffermgrd of the release writes back."""
    if members := written_back(found, old, new, release):
        message = written_back_message(members, release)
        hint = f"remove the rows of BUFFER_PG last, in a patch without other changes of these ports; {_PLAN}"
        yield Finding("FG932", Severity.ERROR, message, device, hint=hint, count=len(members), place=_place(members[0]))


def written_back_message(members: Sequence[Change], release: int) -> str:
    """What buffermgrd does with removed priority groups (see FORGETS in buffermgrd.py)."""
    port = members[0].key.partition("|")[0]
    return (
        f"buffermgrd of {release_name(release)} still has the lossless priorities of {port}: it writes "
        f"BUFFER_PG|{members[0].key} back with the next change of the port"
    )


def _remembered(device: str, found: Iterable[Change], new: ConfigDb, release: int) -> Iterator[Finding]:
    """Cable lengths that change alone: buffermgrd of the release reads them with the next change of the port."""
    if WRITES_ON_CABLE.holds(release) or is_dynamic(new):
        return
    found = list(found)
    touched = {change.key.partition("|")[0] for change in found if change.table in ("PORT", "BUFFER_PG")}
    lossless = {port for port, row in new.get("PORT_QOS_MAP", {}).items() if row.get("pfc_enable")}
    members = [
        change
        for change in found
        if change.table == "CABLE_LENGTH" and change.field in lossless - touched and change.op is not Op.REMOVE
    ]
    if members:
        message = (
            f"buffermgrd of {release_name(release)} reads a cable length only with a change of its port: "
            f"{members[0].field} keeps the headroom of the old cable"
        )
        hint = f"change BUFFER_PG of the port in the same patch, or take the port down and up; {_PLAN}"
        yield Finding("FG932", Severity.ERROR, message, device, hint=hint, count=len(members), place=_place(members[0]))


def _sessions(device: str, found: Iterable[Change], release: int) -> Iterator[Finding]:
    sessions = [change for change in found if change.table == "BGP_NEIGHBOR"]
    members = {change.key: change for change in sessions if is_create_only(change.table, change.field, release)}
    if len(members) > 1:
        message = f"the updater removes {len(members)} sessions and adds them again: many are down at the same time"
        place = _place(next(iter(members.values())))
        yield Finding("FG945", Severity.WARNING, message, device, hint="change one session in a patch", place=place)


def _price(device: str, cost: Sorting, release: int) -> Iterator[Finding]:
    if cost.changes and not cost.problem:
        one = price(cost)
        low, high = one.seconds
        message = (
            f"{counted(one.changes, 'change')}, {low} to {high} s, {one.megabytes} MB with {release_name(release)}"
        )
        yield Finding("FG946", Severity.NOTE, message, device, hint=f"set a rollback timer to at least {900 + high} s")


def _place(change: Change) -> Place:
    return Place(change.table, change.key, change.field or "")
