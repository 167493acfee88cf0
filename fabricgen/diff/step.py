"""One patch of a plan: its changes, the configurations before and after it, and its price.

The Ansible role contains this module: only the standard library and relative imports.
"""

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..sonic.tables import ConfigDb
from ..sonic.updater.verdicts import Cost, UpdateVerdict
from .changes import Change, Op
from .patch import Operation, operations
from .price import Price, price
from .sorting import Sorting, sorting

RESTART = "systemctl restart bgp"  # after a step with a new ASN


class StepPurpose(enum.StrEnum):
    """What a step is for."""

    CABLES = "cable lengths"  # alone: buffermgrd writes the profiles and priority groups of the ports
    BIND = "new ACLs of ports"  # before the old ones are released
    DOWN = "ports down"
    OUT = "rows out"
    IN = "rows in"
    UP = "ports up"
    OTHER = "other rows"
    SESSION = "session"  # a row that the updater removes and adds again
    ASN = "new ASN"  # then FRR restarts
    NEIGHBOR = "new ASN of a neighbor"  # the rows of its sessions, which are down
    GROUPS = "old priority groups"  # after all changes of their ports, with which buffermgrd would write them back
    PROFILES = "old profiles"


@dataclass(frozen=True, eq=False)
class PatchStep:
    """A patch. `batch` counts from 1, 0 for a step without ports; `down` are the ports of the batch that are down after
    the step, though they are up before and after the plan. `made` are rows that buffermgrd writes because of the
    patch. `fields` is the size of the configuration."""

    purpose: StepPurpose
    batch: int
    changes: Sequence[Change]
    old: ConfigDb
    new: ConfigDb
    release: int
    fields: int
    down: Sequence[str] = ()
    made: Sequence[Change] = ()

    @cached_property
    def sorting(self) -> Sorting:
        """What the updater does with the patch."""
        return sorting(self.changes, self.old, self.new, self.release, self.fields)

    @cached_property
    def price(self) -> Price:
        """The time and the memory of the patch."""
        return price(self.sorting)

    def patch(self, *, with_secrets: bool = False) -> list[Operation]:
        """The operations of the patch. Without `with_secrets` the changes of secrets are left out."""
        return operations(self.changes, self.old, self.new, with_secrets=with_secrets)


def applied(config: ConfigDb, changes: Iterable[Change]) -> dict[str, Any]:
    """The configuration after the changes, which shares all other rows with the old one. It has no empty table."""
    new: dict[str, Any] = dict(config)
    own: set[str] = set()  # tables, and rows, that are copies
    rows: set[tuple[str, str]] = set()
    for change in changes:
        if change.table not in own:
            own.add(change.table)
            new[change.table] = dict(new.get(change.table, {}))
        table = new[change.table]
        if change.field is None:
            if change.op is Op.REMOVE:
                del table[change.key]
            else:
                table[change.key] = change.new
            continue
        if (change.table, change.key) not in rows:
            rows.add((change.table, change.key))
            table[change.key] = dict(table[change.key])
        if change.op is Op.REMOVE:
            del table[change.key][change.field]
        else:
            table[change.key][change.field] = change.new
    return {name: table for name, table in new.items() if table or name not in own}


def removal(table: str, key: str, row: Any) -> Change:
    """The change that removes a row."""
    return Change(Op.REMOVE, table, key, None, row, None, _PLANNED)


def addition(table: str, key: str, row: Any) -> Change:
    """The change that adds a row."""
    return Change(Op.ADD, table, key, None, None, row, _PLANNED)


def admin_status(port: str, old: str, new: str) -> Change:
    """The change that takes a port up or down."""
    return Change(Op.REPLACE, "PORT", port, "admin_status", old, new, _PLANNED)


_PLANNED = UpdateVerdict(Cost.CHEAP, "")
