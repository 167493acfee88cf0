"""Static routes as steps: at a switch on the way to a host, the port to leave by and the step that follows."""

from collections.abc import Mapping, Sequence

import numpy as np

from fabricgen.errors import UsageError
from fabricgen.simulate.packets.records import NONE, STEP
from fabricgen.simulate.packets.state import Records


class Steps:
    """The steps of all ways that flows take; ways to one host share theirs from where they meet."""

    def __init__(self, routes: Mapping[tuple[str, str], str], port: Mapping[tuple[str, str], int]) -> None:
        self._routes, self._port = dict(routes), port
        self.number: dict[tuple[str, str], int] = {}  # of (switch, host)
        self._rows: list[list[int]] = []

    def way(self, source: str, target: str, first: str) -> int:
        """The first step of the way from the switch `first` of a source to a target; NONE where they share a cable.
        Raises UsageError where the routes do not lead there."""
        at, before = first, NONE
        begin = self.number.get((first, target), len(self._rows) if first != target else NONE)
        on_the_way = set()
        while at != target and (at, target) not in self.number:
            via = self._routes.get((at, target))
            if at in on_the_way:
                raise UsageError(f"the route from {source} to {target} comes back to {at}")
            if via is None or (at, via) not in self._port:
                raise UsageError(f"{at} has no route to {target}" if via is None else f"{at} has no link to {via}")
            on_the_way.add(at)
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
        """The first step of a way that is given port by port."""
        first = len(self._rows)
        self._rows += [[port, first + place + 1] for place, port in enumerate(ports)]
        if ports:
            self._rows[-1][1] = NONE
        return first if ports else NONE

    def change(self, routes: Mapping[tuple[str, str], str]) -> None:
        """Let other routes hold from now on, for packets on their way, too. Raises UsageError as `way` does."""
        self._routes.update(routes)
        for (at, target), via in routes.items():
            if (at, target) in self.number:
                row = self._rows[self.number[at, target]]
                row[0], row[1] = self._port[at, via], self.way(at, target, via)

    def array(self) -> Records:
        """All steps so far."""
        steps = np.zeros(max(1, len(self._rows)), STEP)
        steps["port"] = [row[0] for row in self._rows] or NONE
        steps["next"] = [row[1] for row in self._rows] or NONE
        return steps
