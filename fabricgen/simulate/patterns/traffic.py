"""The traffic of a pattern: single messages, or groups in which each adapter sends to every other one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Messages:
    """Messages between adapters, in payload bytes and ns. `priority` is None, or -1 for a message, if the pattern does
    not set it."""

    source: Ints
    target: Ints
    bytes: Floats
    start_ns: Floats
    priority: Ints | None = None

    def __len__(self) -> int:
        return len(self.source)

    def split(self, parts: int) -> "Messages":
        """Every message split over `parts` queue pairs."""
        if parts == 1:
            return self
        return Messages(
            np.repeat(self.source, parts),
            np.repeat(self.target, parts),
            np.repeat(self.bytes / parts, parts),
            np.repeat(self.start_ns, parts),
            None if self.priority is None else np.repeat(self.priority, parts),
        )

    def only(self, chosen: NDArray[np.bool_] | Ints) -> "Messages":
        """Some of the messages."""
        own = None if self.priority is None else self.priority[chosen]
        return Messages(self.source[chosen], self.target[chosen], self.bytes[chosen], self.start_ns[chosen], own)

    def on(self, priorities: Sequence[int]) -> "Messages":
        """The messages with a priority each: those without one are repeated on every given priority."""
        own = np.full(len(self), -1) if self.priority is None else self.priority
        free = self.only(own < 0)
        parts = [replace(free, priority=np.full(len(free), priority)) for priority in priorities]
        return joined([replace(self, priority=own).only(own >= 0), *parts])


@dataclass(frozen=True)
class Everyone:
    """Each adapter of a group sends `bytes_each` to every other adapter of the group."""

    groups: tuple[Ints, ...]
    bytes_each: float

    def __len__(self) -> int:
        return sum(len(group) * (len(group) - 1) for group in self.groups)

    def messages(self) -> Messages:
        """The same traffic as single messages."""
        pairs = [(np.repeat(group, len(group)), np.tile(group, len(group))) for group in self.groups]
        source, target = (np.concatenate([pair[side] for pair in pairs] or [np.zeros(0, np.int64)]) for side in (0, 1))
        apart = source != target
        return messages(source[apart], target[apart], self.bytes_each)


Traffic = Messages | Everyone


def messages(source: Ints | Iterable[int], target: Ints | Iterable[int], size_bytes: float | Floats) -> Messages:
    """Messages that all start at time 0."""
    source, target = (np.asarray(side, np.int64).reshape(-1) for side in (source, target))
    return Messages(source, target, np.broadcast_to(np.asarray(size_bytes, float), source.shape).copy(),
                    np.zeros(len(source)))  # fmt: skip


def joined(parts: Iterable[Messages]) -> Messages:
    """The messages of several parts."""
    found = list(parts)
    if not found:
        return messages([], [], 0.0)
    return Messages(
        np.concatenate([part.source for part in found]),
        np.concatenate([part.target for part in found]),
        np.concatenate([part.bytes for part in found]),
        np.concatenate([part.start_ns for part in found]),
        np.concatenate([part.priority for part in found if part.priority is not None])
        if all(part.priority is not None for part in found)
        else None,
    )
