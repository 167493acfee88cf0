"""The target configuration of a switch, and how the switch gets there."""

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..diff.changes import Change, changes
from ..diff.patch import Route, flapped_ports, operations, route, worst
from ..diff.price import price
from ..diff.sorting import Sorting, sorting
from ..sonic.releases import DEFAULT, release_of
from ..sonic.switch_made import maker
from ..sonic.tables import ConfigDb, Table
from ..sonic.updater.verdicts import Cost

Tables = dict[str, Any]


class Preference(enum.StrEnum):
    """Which route to take: the one that the cost of the changes requires, or only this one."""

    AUTO = "auto"
    PATCH = "patch"
    RELOAD = "reload"


class Source(enum.StrEnum):
    """Where the target comes from: the rendered tables, or the configuration before the last change."""

    RENDERED = "rendered"
    PREVIOUS = "previous"


def aim(running: ConfigDb, rendered: ConfigDb, shared: Collection[str], owned_before: Collection[str]) -> Tables:
    """The running configuration with the rendered tables, and without empty tables, which Redis does not keep.

    `shared` tables are also written by the image: rendered fields replace only the same fields. Tables of
    `owned_before` that are no longer rendered are removed.
    """
    removed = set(owned_before) - set(shared) - set(rendered)
    target: dict[str, Table] = {table: rows for table, rows in running.items() if table not in removed}
    for table, rows in rendered.items():
        target[table] = _merged(running.get(table, {}), rows) if table in shared else rows
    return {table: rows for table, rows in target.items() if rows}


def _merged(rows: Table, rendered: Table) -> Table:
    merged = {key: dict(row) for key, row in rows.items()}
    for key, row in rendered.items():
        merged[key] = {**merged.get(key, {}), **row}
    return merged


def without_switch_made(found: ConfigDb, target: ConfigDb) -> Tables:
    """A running configuration without rows that the switch made itself and that are not in the target."""
    return {
        table: {
            key: row for key, row in rows.items() if key in target.get(table, {}) or not maker(table, key, None, row)
        }
        for table, rows in found.items()
    }


@dataclass(frozen=True)
class Way:
    """How a switch gets from one configuration to another."""

    old: Mapping[str, Any]
    new: Mapping[str, Any]
    preference: Preference = Preference.AUTO

    @cached_property
    def changes(self) -> list[Change]:
        """The differences, each with its cost."""
        return changes(self.old, self.new)

    @property
    def route(self) -> Route:
        """The command that makes the changes."""
        if not self.changes:
            return Route.NONE
        required = route(worst(change.verdict.cost for change in self.changes))
        if self.sorting.problem and required is Route.APPLY_PATCH:
            return Route.RELOAD
        prefers_reload = self.preference is Preference.RELOAD and required is Route.APPLY_PATCH
        return Route.RELOAD if prefers_reload else required

    @property
    def reasons(self) -> list[str]:
        """Why a patch cannot make the changes."""
        found = {
            f"{change.table}: {change.verdict.reason}"
            for change in self.changes
            if change.verdict.cost in (Cost.RELOAD, Cost.REBOOT)
        }
        return sorted(found) or list(filter(None, [self.sorting.problem]))

    @cached_property
    def sorting(self) -> Sorting:
        """What the updater does with the patch."""
        return sorting(self.changes, self.old, self.new, release_of(self.old) or DEFAULT)

    @property
    def seconds(self) -> int:
        """The longest duration of the patch."""
        return price(self.sorting).seconds[1]

    @property
    def ports(self) -> list[str]:
        """The ports that a patch takes down and up."""
        return list(flapped_ports(self.changes))

    @property
    def patch(self) -> list[dict[str, Any]]:
        """The changes as RFC 6902, with secrets."""
        return [operation.json for operation in operations(self.changes, self.old, self.new, with_secrets=True)]

    def __str__(self) -> str:
        if self.route is Route.NONE:
            return "no change"
        if self.route is not Route.APPLY_PATCH:
            name = "a reboot" if self.route is Route.REBOOT else f"config {self.route}"
            return f"{name}: traffic stops; {'; '.join(self.reasons) or 'as requested'}"
        flaps = f", {len(self.ports)} ports down and up: {' '.join(self.ports)}" if self.ports else ""
        return f"config apply-patch, at most {self.seconds} s{flaps}"
