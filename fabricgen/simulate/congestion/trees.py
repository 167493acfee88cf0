"""Roots, paused ports, and the congestion trees that connect them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import CongestionTree, TreeKind, VictimLabel
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Flows, Ints, Ports

PAUSED_DUTY = 0.95  # a port that may send for a smaller share of the time is paused
MOST_TREES = 1024  # of a round
_MOST_LINKS = 64  # of a tree, listed in the result


@dataclass(frozen=True, eq=False)
class Blockage:
    """Per port: whether it is a root (saturated and not paused) or paused. `waits` are pairs of ports: a paused port,
    and a port of the next switch that it waits for, which is a root or paused itself."""

    roots: Flags
    paused: Flags
    waits: Ints

    @cached_property
    def by_awaited(self) -> Ints:
        """`waits` in the order of the port that is waited for."""
        rows: Ints = self.waits[np.argsort(self.waits[:, 1], kind="stable")]
        return rows

    def behind(self, root: int) -> tuple[Flags, int, Ints]:
        """The ports that wait for a root, directly or through others; the number of links to the farthest one; and the
        waits between them."""
        waits, member = self.by_awaited, np.zeros(len(self.roots), bool)
        front, depth, links = np.array([root], np.int64), 0, [np.empty((0, 2), np.int64)]
        while len(front):
            low, high = np.searchsorted(waits[:, 1], front, "left"), np.searchsorted(waits[:, 1], front, "right")
            rows = waits[np.concatenate([np.arange(a, b) for a, b in zip(low, high, strict=True)] or [low[:0]])]
            fresh = np.unique(rows[:, 0][~member[rows[:, 0]]])
            links.append(rows[np.isin(rows[:, 0], fresh)])
            member[fresh] = True
            depth += bool(len(fresh))
            front = fresh
        return member, depth, np.concatenate(links)

    def held_by(self, flows: Flows, root: int) -> Flags:
        """The flows that cross a port which waits for a root."""
        return crossing(flows.path, self.behind(root)[0])


def blockage(flows: Flows, roots: Flags, paused: Flags) -> Blockage:
    """The waits between ports. A saturated port that no port waits for is not a root."""
    here, onward = flows.path[:, :-1], flows.path[:, 1:]
    both = (here != NO_PORT) & (onward != NO_PORT)
    pairs = np.stack([here[both], onward[both]], axis=1).astype(np.int64)
    pairs = pairs[paused[pairs[:, 0]] & (roots | paused)[pairs[:, 1]]]
    code = np.unique(pairs[:, 0] * len(roots) + pairs[:, 1])
    waits = np.stack([code // len(roots), code % len(roots)], axis=1)
    awaited = np.zeros(len(roots), bool)
    awaited[waits[:, 1]] = True
    return Blockage(roots & awaited, paused, waits)


def trees(
    ports: Ports, flows: Flows, found: Blockage, roots: Flags, victims: Flags, number: int
) -> list[CongestionTree]:
    """The trees of some roots in a round of the cascade, worst first; if there are more than MOST_TREES, those of the
    roots that most ports wait for."""
    waited_for = np.bincount(found.waits[:, 1], minlength=len(roots)) if len(found.waits) else roots * 0
    chosen = np.flatnonzero(roots)
    chosen = chosen[np.argsort(-waited_for[chosen], kind="stable")][:MOST_TREES]
    made = [_tree(ports, flows, found, int(root), victims, number) for root in chosen]
    return sorted(made, key=lambda tree: (-tree.victims, -tree.channels, tree.root))


def _tree(ports: Ports, flows: Flows, found: Blockage, root: int, victims: Flags, number: int) -> CongestionTree:
    member, depth, edges = found.behind(root)
    member[root] = not len(edges)  # a port that nothing waits for delays only the flows that cross it
    held = crossing(flows.path, member)
    return CongestionTree(
        root=ports.name_of(root),
        kind=_kind(flows, root) if len(edges) else TreeKind.UNFAIR_SHARE,
        depth=depth,
        channels=int(member.sum()) if len(edges) else 0,
        victims=int((held & victims).sum()),
        links=tuple((ports.name_of(int(port)), ports.name_of(int(awaited))) for port, awaited in edges[:_MOST_LINKS]),
        round=number,
    )


def _kind(flows: Flows, root: int) -> TreeKind:
    """A root towards a host is an incast, or a slow receiver if it has a single sender."""
    through = crossing(flows.path, np.arange(int(flows.path.max()) + 1) == root)
    ends = flows.path[np.arange(len(flows)), flows.hops - 1] == root
    if not bool((ends & through).any()):
        return TreeKind.COLLISION
    return TreeKind.INCAST if len(np.unique(flows.source[through])) > 1 else TreeKind.SLOW_RECEIVER


def crossing(path: NDArray[np.int32], member: Flags) -> Flags:
    """Whether each path has a port of some."""
    crossed: Flags = np.any(np.append(member, False)[path], axis=1)
    return crossed


def labels(flows: Flows, saturated: Flags, paused: Flags, victims: Flags) -> Sequence[VictimLabel]:
    """The label of each flow: a victim is off-path if no port of the path is saturated, and one of them is paused."""
    off_path = ~crossing(flows.path, saturated) & crossing(flows.path, paused)
    of_victims = np.where(off_path, VictimLabel.OFF_PATH, VictimLabel.UNFAIR_SHARE)
    return [VictimLabel(label) for label in np.where(victims, of_victims, VictimLabel.NONE).tolist()]
