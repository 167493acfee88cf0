"""Static routes as steps: for a switch on the path to a host, its port and the next step."""

from collections.abc import Mapping, Sequence

import numpy as np

from fabricgen.errors import UsageError
from fabricgen.simulate.packets.records import NONE, STEP
from fabricgen.simulate.packets.state import Records


class Steps:
    """The steps of the paths of all flows. Paths to the same host share their steps after they meet."""

    def __init__(self, routes: Mapping[tuple[str, str], str], port: Mapping[tuple[str, str], int]) -> None:
        self._routes, self._port = dict(routes), port
        self.number: dict[tuple[str, str], int] = {}  # of (switch, host)
        self._rows: list[list[int]] = []

    def path(self, source: str, target: str, first: str) -> int:
        """The first step of the path from the switch `first` of a source to a target; NONE if both share a cable.
        Raises UsageError if the routes do not lead there."""
        at, before = first, NONE
        begin = self.number.get((first, target), len(self._rows) if first != target else NONE)
        visited = set()
        while at != target and (at, target) not in self.number:
            via = self._routes.get((at, target))
            if at in visited:
                raise UsageError(f"the route from {source} to {target} returns to {at}")
            if via is None or (at, via) not in self._port:
                raise UsageError(f"{at} has no route to {target}" if via is None else f"{at} has no link to {via}")
            visited.add(at)
            self.number[at, target] = len(self._rows)
            if before != NONE:
                self._rows[before][1] = len(self._rows)
            before = len(self._rows)
            self._rows.append([self._port[at, via], NONE])
            at = via
        if before != NONE and at != target:
            self._rows[before][1] = self.number[at, target]
        return begin

    def along(self, ports: Sequence[int]) -> int:
        """The first step of a path that is given port by port."""
        first = len(self._rows)
        self._rows += [[port, first + place + 1] for place, port in enumerate(ports)]
        if ports:
            self._rows[-1][1] = NONE
        return first if ports else NONE

    def change(self, routes: Mapping[tuple[str, str], str]) -> None:
        """Change routes, for packets in transit as well. Raises UsageError as `path` does."""
        self._routes.update(routes)
        for (at, target), via in routes.items():
            if (at, target) in self.number:
                row = self._rows[self.number[at, target]]
                row[0], row[1] = self._port[at, via], self.path(at, target, via)

    def array(self) -> Records:
        """All steps."""
        steps = np.zeros(max(1, len(self._rows)), STEP)
        steps["port"] = [row[0] for row in self._rows] or NONE
        steps["next"] = [row[1] for row in self._rows] or NONE
        return steps
