"""Drift of a running configuration: without rows that the switch adds, and without secrets that the file refers to."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fabricgen.diff.changes import Change
from fabricgen.sonic.secrets import PLACEHOLDER
from fabricgen.sonic.switch_made import maker
from fabricgen.sonic.tables import parse_priorities
from fabricgen.sonic.updater.verdicts import Cost, UpdateVerdict


@dataclass(frozen=True, slots=True)
class Drift:
    """The changes from a file to the running configuration. `secrets` counts values with a placeholder in the file."""

    changes: Sequence[Change]
    made: Sequence[Change] = ()  # rows that the switch adds; the reason of the verdict names their origin
    secrets: int = 0


def sort_out(found: Iterable[Change], running_is_new: bool) -> Drift:
    """The drift among the changes between a bundle's file and a running configuration; either can be the old one."""
    left, made, secrets = [], [], 0
    filed, running = ("remove", "add") if running_is_new else ("add", "remove")
    found = list(found)
    placeholders = {(change.table, change.key) for change in found if change.op == filed and _refers(change.key)}
    filled = _filled(found, placeholders, running)
    groups = _groups(change for change in found if change.op == filed and change.field is None)
    for change in found:
        value = change.new if running_is_new else change.old
        file_value = change.old if running_is_new else change.new
        if (change.table, change.key) in filled or (change.op == "replace" and _refers(file_value)):
            secrets += change.op != running
        elif _is_replaced(change, groups):
            left.append(change)
        elif change.op == running and (by := maker(change.table, change.key, change.field, value)):
            made.append(replace(change, verdict=UpdateVerdict(Cost.CHEAP, by)))
        else:
            left.append(change)
    return Drift(left, made, secrets)


def _groups(changes: Iterable[Change]) -> Mapping[str, set[int]]:
    """The priority groups of the rows of BUFFER_PG among the changes, by port."""
    found: dict[str, set[int]] = defaultdict(set)
    for change in changes:
        if change.table == "BUFFER_PG":
            port, _, numbers = change.key.partition("|")
            found[port] |= parse_priorities(numbers)
    return found


def _is_replaced(change: Change, groups: Mapping[str, set[int]]) -> bool:
    """Whether a row of BUFFER_PG is one of an earlier file, and not of buffermgrd alone: the file has another range."""
    port, _, numbers = change.key.partition("|")
    is_row = change.table == "BUFFER_PG" and change.field is None
    return is_row and bool(groups.get(port, set()) & parse_priorities(numbers))


def _filled(found: Sequence[Change], placeholders: set[tuple[str, str]], running: str) -> set[tuple[str, str]]:
    """The rows whose key is a placeholder, and the running rows with the same table and fields that match them."""
    filled: set[tuple[str, str]] = set()
    for planned in (change for change in found if (change.table, change.key) in placeholders):
        fields = planned.old if planned.new is None else planned.new
        for change in found:
            place = (change.table, change.key)
            same_row = change.op == running and change.field is None and change.table == planned.table
            if same_row and place not in filled and fields == (change.new if change.old is None else change.old):
                filled |= {place, (planned.table, planned.key)}
                break
    return filled


def _refers(value: object) -> bool:
    return isinstance(value, str) and PLACEHOLDER in value
