"""What `render` would write into the lock file: entries that are added, changed and removed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabricgen.allocation.lock import SECTIONS, Lock
from fabricgen.sonic.canonical import natural_key

Entries = Mapping[str, Mapping[str, Any]]  # section -> key -> names and numbers


@dataclass(frozen=True)
class LockGrowth:
    """Entries by section. A list that keeps its items and gets more is an added entry, with the new items.

    `changed` has (old, new) for each key.
    """

    added: Entries
    changed: Entries
    removed: Entries

    @property
    def is_addition(self) -> bool:
        """Whether no entry changes, and none is removed."""
        return not self.changed and not self.removed


def lock_growth(old: Lock, new: Lock) -> LockGrowth:
    """The differences of two locks; sections without any are left out."""
    added: dict[str, dict[str, Any]] = {}
    changed: dict[str, dict[str, Any]] = {}
    removed: dict[str, dict[str, Any]] = {}
    for section in SECTIONS:
        before, after = getattr(old, section), getattr(new, section)
        for key in sorted(before.keys() | after.keys(), key=natural_key):
            if key not in after:
                removed.setdefault(section, {})[key] = before[key]
            elif key not in before:
                added.setdefault(section, {})[key] = after[key]
            elif before[key] != after[key] and _is_longer(before[key], after[key]):
                added.setdefault(section, {})[key] = [one for one in after[key] if one not in before[key]]
            elif before[key] != after[key]:
                changed.setdefault(section, {})[key] = (before[key], after[key])
    return LockGrowth(added, changed, removed)


def _is_longer(before: object, after: object) -> bool:
    return isinstance(before, list) and isinstance(after, list) and after[: len(before)] == before


def counts_of(entries: Entries) -> str:
    """'168 entries (8 names, 8 asns)'; 'none'."""
    total = sum(map(len, entries.values()))
    listed = ", ".join(f"{len(keys)} {section}" for section, keys in entries.items())
    return f"{total} {'entry' if total == 1 else 'entries'} ({listed})" if total else "none"
