"""RFC 6902 patches for `config apply-patch`, one for each switch.

Each operation addresses a row or a field. Two operations address tables. RFC 6902 adds a row only to an existing table,
so the patch first adds a new table without rows, as `apply-patch` itself does (sonic-utilities generic_config_updater/
main.py append_emptytables_if_required). The updater refuses empty tables, so the patch removes a table after its last
row.

The Ansible role contains this module: only the standard library and relative imports.
"""

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..sonic.canonical import natural_key
from ..sonic.secrets import PLACEHOLDER, is_secret_key, shown_value
from ..sonic.tables import ConfigDb
from ..sonic.updater.verdicts import Cost, UpdateVerdict
from .changes import Change, Op


class Route(enum.StrEnum):
    """How changes are loaded on a switch."""

    NONE = "none"
    APPLY_PATCH = "apply-patch"
    PLAN = "plan"  # several patches: the updater does not find an order for one
    RELOAD = "reload"
    REBOOT = "reboot"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, and what the updater does with it."""

    op: Op
    path: str
    verdict: UpdateVerdict
    value: Any = None

    @property
    def json(self) -> dict[str, Any]:
        """The operation as RFC 6902 writes it."""
        found = {"op": self.op, "path": self.path}
        return found if self.op is Op.REMOVE else {**found, "value": self.value}


def operations(
    changes: Iterable[Change], old: ConfigDb, new: ConfigDb, *, with_secrets: bool = False
) -> list[Operation]:
    """The patch that makes the changes, from the tables `old` to the tables `new`.

    Without `with_secrets` the changes of secrets, and of references to them, are left out.
    """
    shown = [change for change in changes if with_secrets or not holds_secret(change)]
    opened, closed = _tables(shown, old, new)
    tables = [Operation(Op.ADD, pointer(table), UpdateVerdict(Cost.CHEAP, "opens the table"), {}) for table in opened]
    rows = [
        Operation(change.op, pointer(change.table, change.key, change.field), change.verdict, change.new)
        for change in shown
    ]
    return [
        *tables,
        *rows,
        *(Operation(Op.REMOVE, pointer(table), UpdateVerdict(Cost.CHEAP, "closes it")) for table in closed),
    ]


def holds_secret(change: Change) -> bool:
    """Whether an operation would show a secret, or a reference to one, which the updater takes as the secret."""
    if is_secret_key(change.table) or PLACEHOLDER in change.key:
        return True
    if change.field is not None:
        return _hides(change.table, change.field, change.new)
    return any(_hides(change.table, field, value) for field, value in (change.new or {}).items())


def _hides(table: str, field: str, value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    is_reference = any(isinstance(item, str) and PLACEHOLDER in item for item in items)
    return is_reference or bool(shown_value(table, field, value) != value)


def pointer(*steps: str | None) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps if step is not None)


def _tables(changes: Iterable[Change], old: ConfigDb, new: ConfigDb) -> tuple[list[str], list[str]]:
    """The tables to add and to remove. An empty table of a file is not changed: Redis does not store it."""
    growth: Counter[str] = Counter()
    for change in changes:
        if change.field is None:
            growth[change.table] += 1 if change.op is Op.ADD else -1
    opened = [table for table in growth if table not in old]
    closed = [table for table in growth if table not in new and table in old and not len(old[table]) + growth[table]]
    return sorted(opened, key=natural_key), sorted(closed, key=natural_key)


def totals(costs: Iterable[Cost]) -> Mapping[str, int]:
    """The number of changes of each cost, in the order of costs."""
    counted = Counter(costs)
    return {cost.value: counted[cost] for cost in Cost}


def worst(costs: Iterable[Cost]) -> Cost:
    """The highest cost."""
    return max(costs, key=lambda cost: cost.rank, default=Cost.CHEAP)


def route(cost: Cost) -> Route:
    """How changes of this cost are loaded on a switch."""
    return _ROUTES.get(cost, Route.APPLY_PATCH)


_ROUTES: Mapping[Cost, Route] = {Cost.RELOAD: Route.RELOAD, Cost.REBOOT: Route.REBOOT}


def flapped_ports(changes: Iterable[Change]) -> Iterator[str]:
    """The ports that go down, each once, in the order of the changes."""
    seen: dict[str, None] = {}
    for change in changes:
        if change.verdict.cost is Cost.PORT_FLAP:
            seen[change.key.partition("|")[0]] = None
    yield from seen
