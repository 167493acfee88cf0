"""The patches that bring a switch from one configuration to another, in order; or a reload, with the reason.

The updater does not sort one patch with many ports that go down, and the daemons lose rows where ranges overlap for a
moment. So the ports of a batch go down in one patch; their rows that change are removed in the next one and added in
the third; the last one takes the ports up. Removals before additions keep the profiles of priority groups and queues
(orchagent clears all groups of a range that is removed). Rows of PFC_WD are added again where the priorities of a port
change, because the watchdog reads them only then. buffermgrd reads new priorities only from a row of PORT_QOS_MAP, so
that row is removed, too. What buffermgrd does by itself depends on the release (buffermgrd.py): before 202511 a cable
length changes together with its port, which goes down and up, and before 202605 the priority groups of ports that lose
PFC are removed last.
Ports that go from one ACL to another get the new one first (bindings.py).

The Ansible role contains this module: only the standard library and relative imports.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..sonic.releases import release_name
from ..sonic.tables import ConfigDb
from ..sonic.updater.validators import is_validated
from ..sonic.updater.verdicts import Cost, Updater
from .batches import batches, kept_share, up_ports
from .bindings import bound_first
from .buffermgrd import WRITES_ON_CABLE, Lookup, written_back, written_rows
from .changes import Change, changes
from .patch import Route
from .price import Price, price, total
from .sorting import MOST_CHANGES, Generation, Sorting, generation_of, size
from .split import Split, split
from .step import PatchStep, StepPurpose, applied

_LONGEST_S = 1500  # of one patch; the role gives up after 1800


@dataclass(frozen=True)
class Plan:
    """How a switch is changed. `reasons` are those of a reload or a reboot. `kept_share` is the smallest share of the
    links to other switches that stays in service during the steps."""

    route: Route
    release: int
    steps: Sequence[PatchStep] = ()
    reasons: Sequence[str] = ()
    kept_share: float = 1.0

    @cached_property
    def price(self) -> Price:
        """The time of all patches, and the memory of the largest."""
        return total(step.price for step in self.steps)


def make_plan(
    old: ConfigDb,
    new: ConfigDb,
    release: int | None = None,
    found: Sequence[Change] | None = None,
    lookup: Lookup | None = None,
) -> Plan:
    """The plan from `old` to `new`. `found` are their differences, if they are known, `lookup` the profiles that
    buffermgrd writes."""
    known = Updater(old, new, release).release
    found = changes(old, new, known) if found is None else found
    if not found:
        return Plan(Route.NONE, known)
    cables, made = written_rows(found, old, new, lookup or {}, known)
    late = written_back(found, old, new, known)
    apart = {*cables, *made, *late}
    left = [change for change in found if change not in apart]
    needed = {change.verdict.cost: None for change in left if _is_final(change)}
    if needed:
        route = Route.REBOOT if Cost.REBOOT in needed else Route.RELOAD
        return Plan(route, known, reasons=_reasons(change for change in left if _is_final(change)))
    steps = list(_steps(cables, made, late, left, old, new, known))
    reasons = sorted({reason for step in steps for reason in _refusals(step)} | set(_never_removed(late, new, known)))
    if reasons:
        return Plan(Route.RELOAD, known, reasons=reasons)
    share = min((kept_share(step.down, old) for step in steps), default=1.0)
    route = Route.APPLY_PATCH if len(steps) == 1 else Route.PLAN
    return Plan(route, known, steps, kept_share=share)


def _never_removed(late: Iterable[Change], new: ConfigDb, release: int) -> Iterator[str]:
    """Why the priority groups of ports that stay up cannot be removed: the updater takes the port down and up."""
    up = up_ports(new)
    if any(change.key.partition("|")[0] in up for change in late):
        yield (
            f"BUFFER_PG: buffermgrd of {release_name(release)} writes the priority group of a port that stays up back; "
            "it drops its priorities only when the services restart"
        )


def _is_final(change: Change) -> bool:
    """Whether a change needs a reload in any patch.

    A refused addition may be accepted apart from the removal of an equal row, so each step is judged again.
    """
    costly = change.verdict.cost in (Cost.RELOAD, Cost.REBOOT)
    return costly and not (change.field is None and change.op == "add" and change.verdict.refused_by)


def _reasons(changes: Iterable[Change]) -> list[str]:
    return sorted({f"{change.table}: {change.verdict.reason}" for change in changes})


def _refusals(step: PatchStep) -> Iterator[str]:
    """Why the updater refuses a step."""
    if step.sorting.problem:
        yield step.sorting.problem
    guarded = [change for change in step.changes if is_validated(change.table, step.release)]
    updater = Updater(step.old, step.new, step.release) if guarded else None
    for change in guarded:
        assert updater is not None
        given = change.old if change.new is None else change.new
        verdict = updater.verdict(change.op, change.table, change.key, change.field, given)
        if verdict.refused_by:
            yield f"{change.table}: {verdict.reason}"


def _steps(
    cables: Sequence[Change],
    made: Sequence[Change],
    late: Sequence[Change],
    left: Sequence[Change],
    old: ConfigDb,
    new: ConfigDb,
    release: int,
) -> Iterator[PatchStep]:
    """The steps, each on the configuration that the one before leaves."""
    alone = WRITES_ON_CABLE.holds(release)  # otherwise buffermgrd writes when the ports go down
    bound, left = bound_first(left, old, new)
    parts = split(left, old, new, release, {} if alone else {change.field: change for change in cables if change.field})
    now: ConfigDb = old
    fields = size(old)
    most = _most_changes(fields) if generation_of(release) is Generation.ONE_BY_ONE else len(left) + len(cables) + 1
    down: dict[str, None] = {}
    for purpose, batch, members in _patches(cables if alone else (), bound, parts, late, old):
        for start in range(0, len(members), most):
            chunk = members[start : start + most]
            for change in chunk if purpose in (StepPurpose.DOWN, StepPurpose.UP) else ():
                if (change.table, change.field) == ("PORT", "admin_status") and change.key in parts.returning:
                    down.pop(change.key, None) if change.new == "up" else down.update({change.key: None})
            written: Sequence[Change] = ()
            if purpose is StepPurpose.CABLES and alone:
                written = made
            elif purpose is StepPurpose.DOWN and not alone:
                written = _written_for({change.key for change in chunk}, made, now)
            after = applied(applied(now, chunk), written)
            yield PatchStep(purpose, batch, chunk, now, after, release, fields, tuple(down), written)
            now = after


def _written_for(ports: set[str], made: Iterable[Change], now: ConfigDb) -> list[Change]:
    """What buffermgrd changes when these ports change: priority groups, and profiles that do not exist yet."""
    groups = [change for change in made if change.table == "BUFFER_PG" and change.key.partition("|")[0] in ports]
    used = {change.new for change in groups} - now.get("BUFFER_PROFILE", {}).keys()
    return [*(change for change in made if change.table == "BUFFER_PROFILE" and change.key in used), *groups]


def _patches(
    cables: Sequence[Change], bound: Sequence[Change], parts: Split, late: Sequence[Change], old: ConfigDb
) -> Iterator[tuple[StepPurpose, int, Sequence[Change]]]:
    yield StepPurpose.CABLES, 0, cables
    yield StepPurpose.BIND, 0, bound
    groups = batches(parts.ports, old, parts.rising)
    for number, ports in enumerate(groups, start=1):
        yield StepPurpose.DOWN, number, _of(parts.down, ports)
        yield StepPurpose.OUT, number, _of(parts.out, ports)
        first = parts.first if number == 1 else []
        yield StepPurpose.IN, number, [*first, *_of(parts.into, ports)]
        last = parts.last if number == len(groups) else []
        yield StepPurpose.UP, number, [*_of(parts.up, ports), *last]
    if not groups:
        yield StepPurpose.OTHER, 0, [*parts.first, *parts.last]
    for session in parts.sessions:
        yield StepPurpose.SESSION, 0, session
    yield StepPurpose.GROUPS, 0, late
    yield StepPurpose.PROFILES, 0, parts.profiles


def _of(by_port: Mapping[str, Sequence[Change]], ports: Iterable[str]) -> list[Change]:
    found = [change for port in ports for change in by_port.get(port, ())]
    found.sort(key=lambda change: change.order)
    return found


def _most_changes(fields: int) -> int:
    """How many changes the sorter of an older release can sort in one patch, and before the role gives up."""
    few, many = (_seconds(number, fields) for number in (1, 101))
    return max(1, min(MOST_CHANGES - 1, int((_LONGEST_S - few) * 100 / (many - few))))


def _seconds(number: int, fields: int) -> int:
    return price(Sorting(Generation.ONE_BY_ONE, number, 0, 0, fields)).seconds[1]
