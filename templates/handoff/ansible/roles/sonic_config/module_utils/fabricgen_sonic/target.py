"""The configuration that a switch is to have, and what it takes to get there."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ansible.module_utils.fabricgen_sonic.changes import changes
from ansible.module_utils.fabricgen_sonic.patch import flapped_ports, operations, patch_seconds, route, worst
from ansible.module_utils.fabricgen_sonic.switch_made import maker
from ansible.module_utils.fabricgen_sonic.updater import Cost

NO_CHANGE = "none"


def aim(running, wanted, shared, formerly_owned):
    """Running minus owned tables plus rendered tables. Redis holds no empty table, so neither does this.

    Tables that the image writes to as well are `shared`: rendered fields are laid over what is there.
    """
    leaving = set(formerly_owned) - set(shared) - set(wanted)
    target = {table: rows for table, rows in running.items() if table not in leaving}
    for table, rows in wanted.items():
        target[table] = _laid_over(running.get(table, {}), rows) if table in shared else rows
    return {table: rows for table, rows in target.items() if rows}


def _laid_over(rows, wanted):
    merged = {key: dict(row) for key, row in rows.items()}
    for key, row in wanted.items():
        merged[key] = {**merged.get(key, {}), **row}
    return merged


def differing(one, other):
    """The tables that differ."""
    return sorted(table for table in one.keys() | other.keys() if one.get(table, {}) != other.get(table, {}))


def without_made(found, target):
    """What was found, without rows that the switch made by itself and that nobody asked for."""
    return {
        table: {
            key: row for key, row in rows.items() if key in target.get(table, {}) or not maker(table, key, None, row)
        }
        for table, rows in found.items()
    }


@dataclass(frozen=True)
class Way:
    """How a switch comes from one configuration to another."""

    old: dict[str, Any]
    new: dict[str, Any]
    wish: str  # auto | patch | reload

    @cached_property
    def changes(self):
        """What differs, each with its cost."""
        return changes(self.old, self.new)

    @cached_property
    def cost(self):
        """The worst of them."""
        return worst({change.verdict.cost for change in self.changes})

    @property
    def route(self):
        """apply-patch | reload | reboot | none."""
        if not self.changes:
            return NO_CHANGE
        by_cost = route(self.cost)
        return "reload" if self.wish == "reload" and by_cost == "apply-patch" else by_cost

    @property
    def reasons(self):
        """Why a patch does not do."""
        found = {
            f"{change.table}: {change.verdict.reason}"
            for change in self.changes
            if change.verdict.cost in (Cost.RELOAD, Cost.REBOOT)
        }
        return sorted(found)

    @property
    def seconds(self):
        """About how long a patch takes."""
        return patch_seconds(self.changes)

    @property
    def ports(self):
        """The ports that a patch takes down and up."""
        return list(flapped_ports(self.changes))

    @property
    def patch(self):
        """RFC 6902, secrets and all."""
        return [operation.json for operation in operations(self.changes, self.old, self.new, with_secrets=True)]

    @property
    def told(self):
        """The way in words."""
        if self.route != "apply-patch":
            name = "a reboot" if self.route == "reboot" else f"config {self.route}"
            return f"{name}: traffic stops; {'; '.join(self.reasons) or 'as asked for'}"
        flaps = f", {len(self.ports)} ports down and up: {' '.join(self.ports)}" if self.ports else ""
        return f"config apply-patch, about {self.seconds} s{flaps}"
