"""ECMP of scenarios: the next hop that the hash of a switch selects, as the packet simulator does."""

from collections.abc import Mapping

from fabricgen.simulate.scenario import NodeKind, Scenario
from fabricgen.simulate.scenario.balance import in_rounds

_GOLDEN, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
_OF_FLOW = 1 << 33


class HashedHops:
    """The choices of the switches of a scenario among several routes. `port` numbers (node, next node)."""

    def __init__(self, scenario: Scenario, port: Mapping[tuple[str, str], int], seed: int) -> None:
        self._scenario, self._port = scenario, port
        names = sorted(node.name for node in scenario.nodes if node.kind is NodeKind.SWITCH)
        self._hash = {name: _mixed(seed + (_OF_FLOW + place) * _GOLDEN) for place, name in enumerate(names)}

    def port(self, at: str, to: str, way: int) -> int:
        """The port for a flow. `way` is twice its rank, and 1 more for its answers."""
        weights = {self._port[at, str(via)]: weight for via, weight in self._scenario.groups[at, to]}
        entries = in_rounds(weights, self._scenario.port_ranks)
        return entries[_mixed(self._hash[at] + way * _GOLDEN) % len(entries)]


def _mixed(bits: int) -> int:
    """The finalizer of SplitMix64, modulo 2^64."""
    bits &= _MASK
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & _MASK
    return bits ^ (bits >> 31)
