"""RFC 6902 patches for `config apply-patch`, one for each switch.

Every operation addresses a row or a field. The one thing that RFC 6902 forces besides: a row can be added only to a
table that is there, so a table that comes is opened, empty, as `apply-patch` itself does where a patch does not
(sonic-utilities generic_config_updater/main.py append_emptytables_if_required), and one that loses its last row is
closed, as the updater refuses an empty table. The Ansible role carries this module to the switches, too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabricgen.diff.changes import Change
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.secrets import PLACEHOLDER, is_secret, is_secret_key, shown_value
from fabricgen.sonic.tables import ConfigDb
from fabricgen.sonic.updater import SECONDS_PER_STEP, Cost, Verdict


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, and what the updater does with it."""

    op: str
    path: str
    verdict: Verdict
    value: Any = None

    @property
    def json(self) -> dict[str, Any]:
        """As RFC 6902 has it."""
        found = {"op": self.op, "path": self.path}
        return found if self.op == "remove" else {**found, "value": self.value}


def operations(
    changes: Iterable[Change], old: ConfigDb, new: ConfigDb, *, with_secrets: bool = False
) -> list[Operation]:
    """The patch that makes the changes; `old` is what it is applied to, `new` what it leads to.

    Changes of secrets are left out but `with_secrets`: whoever needs them takes them from where they are kept.
    """
    shown = [change for change in changes if with_secrets or not holds_secret(change)]
    opened, closed = _tables(shown, old, new)
    tables = [Operation("add", pointer(table), Verdict(Cost.CHEAP, "opens the table"), {}) for table in opened]
    rows = [
        Operation(change.op, pointer(change.table, change.key, change.field), change.verdict, change.new)
        for change in shown
    ]
    return [
        *tables,
        *rows,
        *(Operation("remove", pointer(table), Verdict(Cost.CHEAP, "closes it")) for table in closed),
    ]


def holds_secret(change: Change) -> bool:
    """Whether an operation would show a secret that is more than a placeholder."""
    if is_secret_key(change.table) and not change.key.startswith(PLACEHOLDER):
        return True
    if change.field is not None:
        return _hides(change.table, change.field, change.new)
    return any(_hides(change.table, field, value) for field, value in (change.new or {}).items())


def _hides(table: str, field: str, value: Any) -> bool:
    return is_secret(table, field) and shown_value(table, field, value) != value


def pointer(*steps: str | None) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps if step is not None)


def _tables(changes: Iterable[Change], old: ConfigDb, new: ConfigDb) -> tuple[list[str], list[str]]:
    """The tables to open and to close. A file may hold an empty table, which Redis cannot: it is left as it is."""
    growth: Counter[str] = Counter()
    for change in changes:
        if change.field is None:
            growth[change.table] += 1 if change.op == "add" else -1
    opened = [table for table in growth if table not in old]
    closed = [table for table in growth if table not in new and table in old and not len(old[table]) + growth[table]]
    return sorted(opened, key=natural_key), sorted(closed, key=natural_key)


def totals(costs: Iterable[Cost]) -> Mapping[str, int]:
    """How many there are of each cost, least first."""
    counted = Counter(costs)
    return {cost.value: counted[cost] for cost in Cost}


def worst(costs: Iterable[Cost]) -> Cost:
    """The cost of all together."""
    return max(costs, key=lambda cost: cost.rank, default=Cost.CHEAP)


def route(cost: Cost) -> str:
    """How changes of this cost come to a switch: apply-patch | reload | reboot."""
    return cost.value if cost in (Cost.RELOAD, Cost.REBOOT) else "apply-patch"


def patch_seconds(changes: Iterable[Change]) -> int:
    """About how long `apply-patch` takes: a step for each row that changes."""
    return SECONDS_PER_STEP * len({(change.table, change.key) for change in changes})


def flapped_ports(changes: Iterable[Change]) -> Iterator[str]:
    """The ports that go down, each once."""
    seen: dict[str, None] = {}
    for change in changes:
        if change.verdict.cost is Cost.PORT_FLAP:
            seen[change.key.partition("|")[0]] = None
    yield from seen
