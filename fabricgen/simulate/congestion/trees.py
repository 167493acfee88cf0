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

    def behind(self, root: int) -> tuple[Ints, int, Ints]:
        """The ports that wait for a root, directly or through others; the number of links to the farthest one; and the
        waits between them."""
        waits, member = self.by_awaited, set[int]()
        front, depth, links = np.array([root], np.int64), 0, [np.empty((0, 2), np.int64)]
        while len(front):
            low, high = np.searchsorted(waits[:, 1], front, "left"), np.searchsorted(waits[:, 1], front, "right")
            rows = waits[np.concatenate([np.arange(a, b) for a, b in zip(low, high, strict=True)] or [low[:0]])]
            fresh = sorted(set(rows[:, 0].tolist()) - member)
            links.append(rows[np.isin(rows[:, 0], fresh)])
            member.update(fresh)
            depth += bool(fresh)
            front = np.array(fresh, np.int64)
        return np.array(sorted(member), np.int64), depth, np.concatenate(links)

    def awaited_by(self, ports: Flags) -> Flags:
        """The ports for which some ports wait, directly or through others."""
        awaited, front = np.zeros(len(self.roots), bool), ports
        while front.any():
            reached = np.zeros(len(self.roots), bool)
            reached[self.waits[front[self.waits[:, 0]], 1]] = True
            front = reached & ~awaited
            awaited |= reached
        return awaited


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
    ports: Ports, flows: Flows, found: Blockage, roots: Flags, victims: Flags, late: Flags, number: int
) -> list[CongestionTree]:
    """The trees of some roots in a round of the cascade, worst first; if there are more than MOST_TREES, those of the
    roots that most ports wait for."""
    waited_for = np.bincount(found.waits[:, 1], minlength=len(roots)) if len(found.waits) else roots * 0
    chosen = np.flatnonzero(roots)
    chosen = chosen[np.argsort(-waited_for[chosen], kind="stable")][:MOST_TREES]
    crossed = _Crossed(flows, late)
    made = [_tree(ports, crossed, found, int(root), victims, number) for root in chosen]
    return sorted(made, key=lambda tree: (-tree.victims, -tree.channels, tree.root))


class _Crossed:
    """The flows through each port, those with a late acknowledgement on its way back. `first` and `last` are the ports
    at the ends of each flow."""

    def __init__(self, flows: Flows, late: Flags) -> None:
        path = delaying(flows, late)
        flow, hop = (path != NO_PORT).nonzero()
        port = path[flow, hop]
        order = np.argsort(port, kind="stable")
        self._flow, self._port = flow[order], port[order]
        self.source, self.first = flows.source, flows.path[:, 0]
        self.last = flows.path[np.arange(len(flows)), flows.hops - 1]

    def by(self, ports: Ints) -> Ints:
        """The flows through any of some ports."""
        low, high = (np.searchsorted(self._port, ports, side) for side in ("left", "right"))
        rows = [self._flow[a:b] for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        flows: Ints = np.unique(np.concatenate([np.empty(0, np.int64), *rows]))
        return flows


def _tree(ports: Ports, crossed: _Crossed, found: Blockage, root: int, victims: Flags, number: int) -> CongestionTree:
    member, depth, edges = found.behind(root)
    held = crossed.by(member if len(edges) else np.array([root]))  # without a wait: only the flows that cross it
    return CongestionTree(
        root=ports.name_of(root),
        kind=_kind(ports, crossed, root) if len(edges) else TreeKind.UNFAIR_SHARE,
        depth=depth,
        channels=len(member),
        victims=int(victims[held].sum()),
        links=tuple((ports.name_of(int(port)), ports.name_of(int(awaited))) for port, awaited in edges[:_MOST_LINKS]),
        round=number,
    )


def _kind(ports: Ports, crossed: _Crossed, root: int) -> TreeKind:
    """A root towards a host is an incast; with a single sender a slow receiver, or data among acknowledgements if both
    have one speed."""
    through = crossed.by(np.array([root]))
    ending = through[crossed.last[through] == root]
    if not len(ending):
        return TreeKind.COLLISION
    if len(np.unique(crossed.source[ending])) > 1:
        return TreeKind.INCAST
    is_slower = ports.bytes_per_ns[root] < ports.bytes_per_ns[crossed.first[ending]].max()
    return TreeKind.SLOW_RECEIVER if is_slower else TreeKind.COLLISION


def delaying(flows: Flows, late: Flags) -> NDArray[np.int32]:
    """The ports that can delay each flow: its path, or the way back of a `late` acknowledgement."""
    if flows.back is None:
        return flows.path
    width = max(flows.path.shape[1], flows.back.shape[1])
    there, back = (
        np.pad(path, ((0, 0), (0, width - path.shape[1])), constant_values=NO_PORT) for path in (flows.path, flows.back)
    )
    chosen: NDArray[np.int32] = np.where(late[:, None], back, there)
    return chosen


def crossing(path: NDArray[np.int32], member: Flags) -> Flags:
    """Whether each path has a port of some."""
    crossed: Flags = np.any(np.append(member, False)[path], axis=1)
    return crossed


def labels(flows: Flows, saturated: Flags, paused: Flags, victims: Flags, late: Flags) -> Sequence[VictimLabel]:
    """The label of each flow: a victim is late if only its acknowledgement waits, and off-path if no port of the path
    is saturated, and one of them is paused."""
    off_path = ~crossing(flows.path, saturated) & crossing(flows.path, paused)
    of_victims = np.where(off_path, VictimLabel.OFF_PATH, VictimLabel.UNFAIR_SHARE)
    of_victims = np.where(late, VictimLabel.LATE_ACK, of_victims)
    return [VictimLabel(label) for label in np.where(victims, of_victims, VictimLabel.NONE).tolist()]
