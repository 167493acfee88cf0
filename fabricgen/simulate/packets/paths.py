"""Static routes as steps: for a switch on the path to a host, its port and the next step."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError
from fabricgen.simulate.packets.records import INDEX, NONE, STEP
from fabricgen.simulate.packets.state import Records


class Steps:
    """The steps of the paths of all flows. Paths that are given port by port come first; `given` has their first steps
    there and back. Paths by routes to the same host share their steps after they meet."""

    def __init__(
        self,
        routes: Mapping[tuple[str, str], str],
        port: Mapping[tuple[str, str], int],
        paths: Sequence[tuple[int, ...]] = (),
    ) -> None:
        self._routes, self._port = dict(routes), port
        self.number: dict[tuple[str, str], int] = {}  # of (switch, host)
        self._rows: list[list[int]] = []
        self._fixed, self.given = _steps_of(paths)

    def path(self, source: str, target: str, first: str) -> int:
        """The first step of the path from the switch `first` of a source to a target; NONE if both share a cable.
        Raises UsageError if the routes do not lead there."""
        at, before = first, NONE
        begin = self.number.get((first, target), self._end if first != target else NONE)
        visited = set()
        while at != target and (at, target) not in self.number:
            via = self._routes.get((at, target))
            if at in visited:
                raise UsageError(f"the route from {source} to {target} returns to {at}")
            if via is None or (at, via) not in self._port:
                raise UsageError(f"{at} has no route to {target}" if via is None else f"{at} has no link to {via}")
            visited.add(at)
            self.number[at, target] = self._end
            if before != NONE:
                self._row(before)[1] = self._end
            before = self._end
            self._rows.append([self._port[at, via], NONE])
            at = via
        if before != NONE and at != target:
            self._row(before)[1] = self.number[at, target]
        return begin

    @property
    def _end(self) -> int:
        return len(self._fixed) + len(self._rows)

    def _row(self, number: int) -> list[int]:
        return self._rows[number - len(self._fixed)]

    def change(self, routes: Mapping[tuple[str, str], str]) -> None:
        """Change routes, for packets in transit as well. Raises UsageError as `path` does."""
        self._routes.update(routes)
        for (at, target), via in routes.items():
            if (at, target) in self.number:
                row = self._row(self.number[at, target])
                row[0], row[1] = self._port[at, via], self.path(at, target, via)

    def array(self) -> Records:
        """All steps; at least one."""
        by_routes = np.zeros(max(len(self._rows), 0 if len(self._fixed) else 1), STEP)
        by_routes["port"] = [row[0] for row in self._rows] or NONE
        by_routes["next"] = [row[1] for row in self._rows] or NONE
        return np.concatenate([self._fixed, by_routes])


def _steps_of(paths: Sequence[tuple[int, ...]]) -> tuple[Records, NDArray[np.int64]]:
    """The steps of paths that begin with the port of the NIC, and [there or back, path]: the first step. The way back
    crosses the other ends of the cables."""
    lengths = np.array([len(path) for path in paths], np.int64)
    flat = np.fromiter(chain.from_iterable(paths), INDEX, int(lengths.sum()))
    there, first = _chains(flat, lengths)
    back, first_back = _chains(flat[::-1] ^ INDEX(1), lengths[::-1])
    later = np.where(first_back == NONE, NONE, first_back + len(there))[::-1]
    back["next"] = np.where(back["next"] == NONE, NONE, back["next"] + len(there))
    return np.concatenate([there, back]), np.array([first, later])


def _chains(ports: NDArray[np.uint32], lengths: NDArray[np.int64]) -> tuple[Records, NDArray[np.int64]]:
    """The steps of paths, each without its first port, and the first step of each path; NONE for a path without one."""
    ends = np.cumsum(lengths)
    begins = np.zeros(len(ports), bool)
    begins[(ends - lengths)[lengths > 0]] = True
    steps = np.zeros(len(ports) - int(begins.sum()), STEP)
    steps["port"] = ports[~begins]
    steps["next"] = np.arange(1, len(steps) + 1)
    counts = np.maximum(lengths - 1, 0)
    after = np.cumsum(counts)
    steps["next"][after[counts > 0] - 1] = NONE
    return steps, np.where(counts > 0, after - counts, NONE)
