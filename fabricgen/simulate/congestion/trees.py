"""Roots, paused ports, and the congestion trees that connect them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import CongestionTree, TreeKind, VictimLabel
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Flows, Ints, Ports

PAUSED_DUTY = 0.95  # a port that may send for a smaller share of the time is paused
MOST_TREES = 32
_MOST_LINKS = 64  # of a tree, listed in the result


@dataclass(frozen=True)
class Blockage:
    """Per port: whether it is a root (saturated and not paused) or paused. `waits` are pairs of ports: a paused port,
    and a port of the next switch that it waits for, which is a root or paused itself."""

    roots: Flags
    paused: Flags
    waits: Ints


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


def trees(ports: Ports, flows: Flows, found: Blockage, victims: Flags) -> tuple[CongestionTree, ...]:
    """The trees of the roots that most ports wait for, worst first."""
    waited_for = np.bincount(found.waits[:, 1], minlength=len(found.roots)) if len(found.waits) else found.roots * 0
    roots = np.flatnonzero(found.roots)
    roots = roots[np.argsort(-waited_for[roots], kind="stable")][:MOST_TREES]
    by_awaited = found.waits[np.argsort(found.waits[:, 1], kind="stable")]
    made = [_tree(ports, flows, by_awaited, int(root), victims) for root in roots]
    return tuple(sorted(made, key=lambda tree: (-tree.victims, -tree.channels, tree.root)))


def _tree(ports: Ports, flows: Flows, waits: Ints, root: int, victims: Flags) -> CongestionTree:
    member = np.zeros(len(ports), bool)
    front, depth, links = np.array([root], np.int64), 0, [np.empty((0, 2), np.int64)]
    while len(front):
        low, high = np.searchsorted(waits[:, 1], front, "left"), np.searchsorted(waits[:, 1], front, "right")
        rows = waits[np.concatenate([np.arange(a, b) for a, b in zip(low, high, strict=True)] or [low[:0]])]
        fresh = np.unique(rows[:, 0][~member[rows[:, 0]]])
        links.append(rows[np.isin(rows[:, 0], fresh)])
        member[fresh] = True
        depth += bool(len(fresh))
        front = fresh
    held = _crossing(flows.path, member)
    edges = np.concatenate(links)[:_MOST_LINKS]
    return CongestionTree(
        root=ports.name_of(root),
        kind=_kind(flows, root),
        depth=depth,
        channels=int(member.sum()),
        victims=int((held & victims).sum()),
        links=tuple((ports.name_of(int(port)), ports.name_of(int(awaited))) for port, awaited in edges),
    )


def _kind(flows: Flows, root: int) -> TreeKind:
    """A root towards a host is an incast, or a slow receiver if it has a single sender."""
    through = _crossing(flows.path, np.arange(int(flows.path.max()) + 1) == root)
    ends = flows.path[np.arange(len(flows)), flows.hops - 1] == root
    if not bool((ends & through).any()):
        return TreeKind.COLLISION
    return TreeKind.INCAST if len(np.unique(flows.source[through])) > 1 else TreeKind.SLOW_RECEIVER


def _crossing(path: NDArray[np.int32], member: Flags) -> Flags:
    crossed: Flags = np.any(np.append(member, False)[path], axis=1)
    return crossed


def labels(flows: Flows, saturated: Flags, victims: Flags) -> Sequence[VictimLabel]:
    """The label of each flow: a victim is off-path if no port of the path is saturated."""
    on_path = _crossing(flows.path, saturated)
    of_victims = np.where(on_path, VictimLabel.UNFAIR_SHARE, VictimLabel.OFF_PATH)
    return [VictimLabel(label) for label in np.where(victims, of_victims, VictimLabel.NONE).tolist()]
