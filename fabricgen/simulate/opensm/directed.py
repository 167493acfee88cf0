"""Directed routes: the egress ports from the subnet manager to each port, which need no forwarding tables.

So a port answers where OpenSM has no routes to it: behind a missing cable, or after an engine that gave up.
Layout: InfiniBand Architecture Specification, volume 1, section 14.2.2.
"""

import numpy as np
from numpy.typing import NDArray

from fabricgen.observed.subnet import Subnet
from fabricgen.simulate.opensm.mad import ROUTE_BYTES


def directed_routes(subnet: Subnet, manager: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The shortest routes to each switch [S, 64] and adapter port [A, 64] from the adapter port with the GUID
    `manager`. 0 hops: the manager's own port, or a port that it does not reach."""
    to_switch = np.zeros((len(subnet.switches), ROUTE_BYTES), np.uint8)
    to_adapter = np.zeros((len(subnet.adapters), ROUTE_BYTES), np.uint8)
    own = next((row for row, port in enumerate(subnet.adapters) if port.port_guid == manager), None)
    if own is None or subnet.attached_switch[own] < 0:
        return to_switch, to_adapter
    first = int(subnet.attached_switch[own])
    to_switch[first, :2] = 1, max(subnet.adapters[own].port, 1)
    reached, waiting = {first}, [first]
    for row in waiting:  # grows while it is read
        for port in np.flatnonzero(subnet.peer_switch[row] >= 0).tolist():
            far = int(subnet.peer_switch[row, port])
            if far not in reached and to_switch[row, 0] < ROUTE_BYTES - 1:
                reached.add(far)
                waiting.append(far)
                to_switch[far] = _longer(to_switch[row], port)
    for row, (switch, port) in enumerate(zip(subnet.attached_switch, subnet.attached_port, strict=True)):
        if row != own and switch in reached and to_switch[switch, 0] < ROUTE_BYTES - 1:
            to_adapter[row] = _longer(to_switch[switch], port)
    return to_switch, to_adapter


def _longer(route: NDArray[np.uint8], port: int) -> NDArray[np.uint8]:
    """The route with one more hop."""
    made = route.copy()
    made[0] += 1
    made[made[0]] = port
    return made
