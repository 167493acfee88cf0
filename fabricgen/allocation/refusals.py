"""Entries of the lock file that cannot be honored: findings with the line, the reason, and what renumbering changes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fabricgen.allocation.lock import RENUMBERED, Lock
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.inventory.load import LOCK_NAME
from fabricgen.inventory.part import Part
from fabricgen.sonic.canonical import natural_key

_SHOWN = 5  # places of one finding


@dataclass(frozen=True)
class Refused:
    """An entry that is in use. `reason` completes "compute/spine0 has 10.9.0.1, which …"; `twin` is an entry with the
    same number; `pool` is what the inventory gives for such entries."""

    section: str
    key: str
    value: str
    reason: str
    pool: tuple[Part, str] | None = None
    twin: str = ""

    @property
    def plane(self) -> str:
        """The plane of the entry, or its group of hosts."""
        return self.key.partition("/")[0]


def refused(
    lock: Lock, found: Sequence[Refused], planes: Sequence[str], renumbered: Callable[[str], Lock]
) -> Iterator[Finding]:
    """FG399 for each pair of entries with the same number, and one FG398 for all entries with the same reason.

    `renumbered` returns the lock that --renumber of a plane would write.
    """
    hints: dict[str, str] = {}

    def hint(one: Refused) -> str:
        if one.plane not in planes:
            return "edit or delete the line"
        if one.plane not in hints:
            hints[one.plane] = _change(lock, renumbered(one.plane), one.plane)
        return f"edit the line, or run `fabricgen render --renumber {one.plane}`, which changes {hints[one.plane]}"

    def order(one: Refused) -> tuple[str, str, str]:
        return one.section, one.plane, one.reason

    twins = [one for one in found if one.twin]
    for one in twins:
        message = f"{one.section}: {one.key} has {one.value}, which {one.twin} also has"
        related = (Related(f"{one.twin} has it here", _at(lock, one.section, one.twin)),)
        yield _finding("FG399", message, lock, one, related, hint(one))
    for _, group in groupby(sorted((one for one in found if not one.twin), key=order), order):
        ones = sorted(group, key=lambda one: natural_key(one.key))
        first = ones[0]
        message = f"{first.section}: {first.key} has {first.value}, which {first.reason}"
        if len(ones) > 1:
            message += f"; {len(ones)} entries of {first.plane} have this fault"
        others = [Related(f"{one.key} has {one.value}", _at(lock, one.section, one.key)) for one in ones[1:_SHOWN]]
        pools = [Related("the inventory", one.pool[0].at(*filter(None, one.pool[1:]))) for one in ones[:1] if one.pool]
        yield _finding("FG398", message, lock, first, (*pools, *others), hint(first), len(ones))


def replaced(old: Lock, new: Lock) -> Iterator[Finding]:
    """FG400, a note, for the entries of each section that the inventory replaces by others."""
    for section in ("names", "management", "blocks"):
        before, after = getattr(old, section), getattr(new, section)
        keys = [
            key for key in sorted(before, key=natural_key) if key in after and not _is_kept(before[key], after[key])
        ]
        if keys:
            first = Refused(section, keys[0], _text(before[keys[0]]), "")
            message = f"{section}: the inventory gives {first.key} {_text(after[first.key])} in place of {first.value}"
            if len(keys) > 1:
                message += f"; {len(keys)} entries are replaced"
            hint = "change the inventory if the lock file is right"
            yield _finding("FG400", message, old, first, (), hint, len(keys), Severity.NOTE)


def changed(old: Lock, new: Lock, plane: str) -> Mapping[str, tuple[int, int]]:
    """section -> (entries of the plane that differ, entries of the plane in the old lock)."""
    found = {}
    for section in RENUMBERED:
        before = {key: one for key, one in getattr(old, section).items() if key.startswith(f"{plane}/")}
        after = getattr(new, section)
        if before:
            found[section] = sum(after.get(key) != value for key, value in before.items()), len(before)
    return found


def _change(old: Lock, new: Lock, plane: str) -> str:
    counts = [f"{count} of {total} {section}" for section, (count, total) in changed(old, new, plane).items() if count]
    return ", ".join(counts) or "no other entry"


def _is_kept(before: str | list[str], after: str | list[str]) -> bool:
    """Whether all that was given is still there: a family may be added."""
    return before == after if isinstance(before, str) else set(before) <= set(after)


def _text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _at(lock: Lock, section: str, key: str) -> Location:
    return Location(LOCK_NAME, lock.lines.get((section, key), 1), 3 if (section, key) in lock.lines else 1)


def _finding(
    code: str, message: str, lock: Lock, one: Refused, related: tuple[Related, ...], hint: str, count: int = 1,
    severity: Severity = Severity.ERROR,
) -> Finding:  # fmt: skip
    place = _at(lock, one.section, one.key)
    path = f"{one.section}.{one.key}"
    return Finding(code, severity, message, path=path, location=place, related=related, hint=hint, count=count)
