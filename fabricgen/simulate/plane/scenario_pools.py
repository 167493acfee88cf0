"""The ingress pools of a scenario, and the groups that its ports feed."""

from collections.abc import Sequence

from fabricgen.physics import held_bytes
from fabricgen.simulate.scenario import Scenario, SwitchBuffers


def fed_groups(scenario: Scenario, priority: int) -> list[SwitchBuffers | None]:
    """The settings of the group that each port feeds; None at hosts."""
    of = {node.name: node.buffers for node in scenario.nodes}
    found = []
    for link in scenario.links:
        found.append(link.b_classes.get(priority) or link.b_buffers or of[link.b])
        found.append(link.a_classes.get(priority) or link.a_buffers or of[link.a])
    return found


class ScenarioPools:
    """The ingress pools of a scenario: the buffer of each node, then those that ports name. `bytes` are what groups
    share, in packets on the wire."""

    def __init__(self, scenario: Scenario, into: Sequence[int], feeding: Sequence[SwitchBuffers | None]) -> None:
        self._into, self._feeding = into, feeding
        self._wire = scenario.transport.packet_bytes
        headroom = [node.buffers.headroom_pool_bytes if node.buffers else 0 for node in scenario.nodes]
        self.bytes: list[float] = [
            node.buffers.buffer_bytes - shared if node.buffers else 0.0
            for node, shared in zip(scenario.nodes, headroom, strict=True)
        ]
        for node, one in zip(into, feeding, strict=True):
            if one:
                own_headroom = 0 if headroom[node] else one.pg_headroom_bytes
                self.bytes[node] -= one.pg_reserve_bytes + own_headroom
        for index, owner in enumerate(scenario.nodes):
            self.bytes[index] *= self._share(owner.buffers)
        self._named: dict[tuple[int, str], int] = {}

    def of(self, port: int) -> int:
        """The pool of the group that a port feeds."""
        own, node = self._feeding[port], self._into[port]
        if own is None or not own.ingress_pool_bytes:
            return node
        name = (node, own.ingress_pool)
        if name not in self._named:
            self._named[name] = len(self.bytes)
            self.bytes.append(own.ingress_pool_bytes * self._share(own))
        return self._named[name]

    def _share(self, buffers: SwitchBuffers | None) -> float:
        return self._wire / held_bytes(self._wire, buffers.cell_bytes) if buffers else 1.0
