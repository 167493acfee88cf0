"""How a bad case of a rule is written: one change of the clean fabric and the place that must be named."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.rules.clean import CleanFabric, Config

Change = Callable[[dict[str, Config]], str]


@dataclass(frozen=True)
class Case:
    """`path` defaults to the place that was changed.

    The change must give this one finding and nothing else, apart from codes in `also`, and the same code on the
    devices in `also_at`. A `lenient` case changes so much that other rules rightly speak, too.
    """

    code: str
    change: Change
    path: str = ""
    model: str = "traditional"
    also: tuple[str, ...] = ()
    also_at: tuple[str, ...] = ()
    lenient: bool = False
    plug: Callable[[CleanFabric], None] | None = None  # what is plugged in before the change


def put(value: object, device: str, table: str, key: str, field: str = "") -> Change:
    """Set a field, or a whole row."""

    def change(configs: dict[str, Config]) -> str:
        rows = configs[device].setdefault(table, {})
        if field:
            rows.setdefault(key, {})[field] = value
        else:
            rows[key] = value  # type: ignore[assignment]
        return f"{device}:" + "|".join(filter(None, (table, key, field)))

    return change


def drop(device: str, table: str, key: str, field: str = "") -> Change:
    """Remove a field, or a whole row."""

    def change(configs: dict[str, Config]) -> str:
        rows = configs[device][table]
        if field:
            del rows[key][field]
        else:
            del rows[key]
        return f"{device}:" + "|".join(filter(None, (table, key, field)))

    return change


def rekey(device: str, table: str, old: str, new: str) -> Change:
    """Give a row another key."""

    def change(configs: dict[str, Config]) -> str:
        rows = configs[device][table]
        rows[new] = rows.pop(old)
        return f"{device}:{table}|{new}"

    return change


def both(*changes: Change) -> Change:
    """Several changes; the first one's place counts."""
    return lambda configs: [change(configs) for change in changes][0]  # noqa: RUF015
