"""The target configuration of a switch, and how the switch gets there."""

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict

from ..diff.buffermgrd import Lookup
from ..diff.changes import Change, changes
from ..diff.patch import Route
from ..diff.plan import Plan as SwitchPlan
from ..diff.plan import make_plan
from ..sonic.switch_made import maker
from ..sonic.tables import ConfigDb, Table
from .isolation import is_isolated, isolation

Tables = dict[str, Any]


class Preference(enum.StrEnum):
    """Which route to take: the one that the cost of the changes requires, or only this one."""

    AUTO = "auto"
    PATCH = "patch"
    RELOAD = "reload"


class Patch(TypedDict):
    """A patch of a plan."""

    patch: list[dict[str, Any]]
    settle: bool


class Source(enum.StrEnum):
    """Where the target comes from: the rendered tables, or the configuration before the last change."""

    RENDERED = "rendered"
    PREVIOUS = "previous"


def aim(running: ConfigDb, rendered: ConfigDb, shared: Collection[str], owned_before: Collection[str]) -> Tables:
    """The running configuration with the rendered tables, and without empty tables, which Redis does not keep.

    `shared` tables are also written by the image: rendered fields replace only the same fields. Tables of
    `owned_before` that are no longer rendered are removed. A switch that was isolated by hand stays isolated.
    """
    if is_isolated(running):
        rendered = {
            **rendered,
            **{table: _merged(rendered.get(table, {}), rows) for table, rows in isolation(rendered).items()},
        }
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
    lookup: Lookup = field(default_factory=dict)

    @cached_property
    def changes(self) -> list[Change]:
        """The differences, each with its cost."""
        return changes(self.old, self.new)

    @cached_property
    def plan(self) -> SwitchPlan:
        """The patches in order, or a reload."""
        return make_plan(self.old, self.new, found=self.changes, lookup=self.lookup)

    @property
    def route(self) -> Route:
        """The command that makes the changes: none | apply-patch | reload | reboot."""
        if not self.plan.steps:
            return self.plan.route
        return Route.RELOAD if self.preference is Preference.RELOAD else Route.APPLY_PATCH

    @property
    def reasons(self) -> Sequence[str]:
        """Why patches cannot make the changes."""
        return self.plan.reasons

    @property
    def seconds(self) -> int:
        """The longest duration of all patches."""
        return self.plan.price.seconds[1]

    @property
    def ports(self) -> list[str]:
        """The ports that patches take down and up."""
        return list(dict.fromkeys(port for step in self.plan.steps for port in step.down))

    @property
    def patches(self) -> list[Patch]:
        """The patches in order, with secrets. After those with `settle`, the next one waits for the BGP sessions."""
        steps = self.plan.steps
        return [
            {
                "patch": [operation.json for operation in step.patch(with_secrets=True)],
                "settle": step is not steps[-1] and not step.down,
            }
            for step in steps
        ]

    def __str__(self) -> str:
        if self.route is Route.NONE:
            return "no change"
        if self.route is not Route.APPLY_PATCH:
            name = "a reboot" if self.route is Route.REBOOT else f"config {self.route}"
            return f"{name}: traffic stops; {'; '.join(self.reasons) or 'as requested'}"
        number = len(self.plan.steps)
        command = "config apply-patch" if number == 1 else f"{number} times config apply-patch"
        flaps = f", {len(self.ports)} ports down and up: {' '.join(self.ports)}" if self.ports else ""
        return f"{command}, at most {self.seconds} s{flaps}"
