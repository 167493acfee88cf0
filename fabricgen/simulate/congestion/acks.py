"""The last acknowledgement of each flow on its way back, behind the data that waits in its class.

An ACK is small: it waits at a port for the bytes before it and for the end of a pause, and adds no bytes. A NIC sends
its ACKs before data. The model moves data without the delay of cables, so at each port its time is behind by the delay
of the paths of the data there. An ACK comes later by the cables of its whole way, while queues grow or shrink.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricgen.simulate.plane.crossings import Crossings
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Floats, Flows, Ints, Ports


class Acks:
    """The last ACKs of flows. `route` (flows x hops) has the ports back by their place in `crossed`, NO_PORT where no
    data can wait. An ACK comes to the port of `hop` `later_ns` (flows x hops) and `waited_ns` after the data of its
    flow arrived, and leaves when its port has sent `mark` bytes in all, which is negative before it comes."""

    def __init__(self, ports: Ports, flows: Flows, crossed: Crossings) -> None:
        back = flows.back if ports.acks_wait else None
        self._back = np.zeros((len(flows), 0), np.int32) if back is None else back
        self.route = _places(self._back, crossed)
        self.later_ns = _later_ns(ports, flows, self._back)
        self.hop = np.zeros(len(flows), np.int64)
        self.mark = np.full(len(flows), -1.0)
        self.came_ns, self.waited_ns = np.zeros((2, len(flows)))

    @property
    def state(self) -> tuple[Ints, Floats, Ints, Floats, Floats, Floats]:
        """The arrays that `returned` changes."""
        return self.route, self.later_ns, self.hop, self.mark, self.came_ns, self.waited_ns

    def continue_with(self, crossed: Crossings, chosen: Flags) -> None:
        """Continue with some of the flows."""
        self._back, self.later_ns, self.hop = self._back[chosen], self.later_ns[chosen], self.hop[chosen]
        self.mark, self.came_ns, self.waited_ns = self.mark[chosen], self.came_ns[chosen], self.waited_ns[chosen]
        self.route = _places(self._back, crossed)


def _places(back: NDArray[np.int32], crossed: Crossings) -> Ints:
    """The places of ports in `crossed`; NO_PORT for others."""
    place = np.searchsorted(crossed.ports, back)
    known = crossed.ports[np.minimum(place, len(crossed.ports) - 1)] == back
    places: Ints = np.where(known, place, NO_PORT)
    return places


def _later_ns(ports: Ports, flows: Flows, back: NDArray[np.int32]) -> Floats:
    """The delay of cables from the NIC of a flow to its receiver and back to each port of `back`, without that of the
    data at this port."""
    there, before = _delays(ports, flows.path)
    _, before_back = _delays(ports, back)
    used = flows.path != NO_PORT
    crossing = np.bincount(flows.path[used], minlength=len(ports))
    of_data = np.bincount(flows.path[used], weights=before[used], minlength=len(ports)) / np.maximum(crossing, 1)
    later: Floats = np.maximum(there[:, None] + before_back - np.where(back == NO_PORT, 0.0, of_data[back]), 0.0)
    return later


def _delays(ports: Ports, path: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """The delay of each path, and that before each of its ports."""
    own = np.where(path == NO_PORT, 0.0, ports.delay_ns[path])
    return own.sum(axis=1), np.cumsum(own, axis=1) - own


def returned(
    flow: int, since_ns: float, acks: Any, service: Any, popped: Any, backlog: Any, least_bytes: float
) -> bool:
    """Move the ACK of a flow, whose data arrived `since_ns` ago, as far as it goes in this step; whether it is back.
    Per port: what it may send in this step (0 if it is paused), and the bytes that have left it and wait in it."""
    route, later_ns, hop, mark, came_ns, waited_ns = acks
    while hop[flow] < route.shape[1]:
        port = route[flow, hop[flow]]
        if port >= 0:
            if mark[flow] < 0:
                if since_ns < later_ns[flow, hop[flow]] + waited_ns[flow]:
                    return False
                mark[flow], came_ns[flow] = popped[port] + backlog[port], since_ns
            if service[port] <= 0 or popped[port] < mark[flow] - least_bytes:
                return False
            waited_ns[flow] += since_ns - came_ns[flow]
        hop[flow] += 1
        mark[flow] = -1.0
    return True
