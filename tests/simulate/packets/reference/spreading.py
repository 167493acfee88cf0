"""How switches select among equal next hops."""

from collections.abc import Mapping, Sequence
from typing import Any

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mixed(bits: int) -> int:
    """The finalizer of SplitMix64."""
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & MASK
    return bits ^ (bits >> 31)


class Spreading:
    """The next hops of all switches, and what the switches remember."""

    def __init__(self, network: Any) -> None:
        self.network, tree = network, network.tree
        own = tree.get("balance", {})
        self.mode = own.get("mode", "ecmp")
        self.by_flowlet = self.mode == "flowlet" or (self.mode, own.get("per")) == ("adaptive", "flowlet")
        self.in_turn = own.get("order") == "round-robin"
        self.gap = own.get("flowlet_gap_ns", 256_000) * network.clock.per_ns
        self.bands = own.get("bands_bytes", [20_480, 40_960, 81_920])
        self.max_flows = own.get("max_flows", 512)
        several = [routes for routes in _all_routes(tree) if _has_several(routes)]
        self.on = self.mode != "ecmp" or bool(several)
        self.place = {name: number for number, name in enumerate(sorted(n for n in network.nodes if n[0] != "h"))}
        self.draws = dict.fromkeys(self.place, 0)
        self.hops: dict[tuple[str, str], list[Any]] = {}
        self.change(tree["routes"])

    def change(self, routes: Sequence[Mapping[str, Any]]) -> None:
        """Routes replace those of the same switch to the same host."""
        weights: dict[tuple[str, str], dict[str, int]] = {}
        for route in routes:
            weights.setdefault((route["at"], route["to"]), {})[route["via"]] = route.get("weight", 1)
        for (at, to), given in weights.items():
            ports = {self.network.ports[at, via]: weight for via, weight in given.items()}
            ordered = sorted(ports, key=lambda port: port.rank)
            rounds = range(max(ports.values())) if len(ordered) > 1 else range(1)
            self.hops[at, to] = [port for turn in rounds for port in ordered if ports[port] > turn]
        self.turns: dict[Any, int] = {}
        self.last: dict[Any, tuple[int, Any]] = {}

    def first(self, at: str, to: str) -> Any:
        """The first next hop."""
        direct = self.network.ports.get((at, to))
        return direct or self.hops[at, to][0]

    def next(self, at: str, packet: Any) -> Any:
        """The port for a packet."""
        ports = self.network.ports
        if (at, packet.goal) in ports:
            return ports[at, packet.goal]
        hops = self.hops[at, packet.goal]
        if len(hops) == 1:
            return hops[0]
        if self.by_flowlet:
            return self._of_flowlet(at, packet, hops)
        if self.mode == "adaptive":
            return self._emptiest(at, hops)
        if self.mode == "ecmp":
            return hops[self._hash(at, packet) % len(hops)]
        if not self.in_turn:
            return hops[self._draw(at) % len(hops)]
        group = at, tuple(port.rank for port in hops)
        turn = self.turns.get(group, self.place[at])
        self.turns[group] = turn + 1
        return hops[turn % len(hops)]

    def _of_flowlet(self, at: str, packet: Any, hops: list[Any]) -> Any:
        now, adaptive = self.network.clock.now, self.mode == "adaptive"
        group = at, tuple(port.rank for port in hops), self._hash(at, packet) % self.max_flows
        before, port = self.last.get(group, (None, None))
        if before is None or now - before >= self.gap or (adaptive and port.down):
            port = self._emptiest(at, hops) if adaptive else hops[self._draw(at) % len(hops)]
        self.last[group] = now, port
        return port

    def _emptiest(self, at: str, hops: list[Any]) -> Any:
        bands = [self._band(at, port) for port in hops]
        best = [port for port, band in zip(hops, bands, strict=True) if band == min(bands)]
        return best[self._draw(at) % len(best)]

    def _band(self, at: str, port: Any) -> int:
        if port.down:
            return len(self.bands) + 1
        waiting = sum(queue.bytes for (of, _), queue in self.network.nodes[at].queues.items() if of is port)
        return sum(limit <= waiting for limit in self.bands)

    def _draw(self, at: str) -> int:
        self.draws[at] += 1
        return self._random((1 << 32) + self.place[at], self.draws[at])

    def _hash(self, at: str, packet: Any) -> int:
        return self._random((1 << 33) + self.place[at], 2 * packet.flow.rank + (packet.kind not in ("data", "trimmed")))

    def _random(self, stream: int, number: int) -> int:
        return mixed((mixed((self.network.seed + GOLDEN * stream) & MASK) + GOLDEN * number) & MASK)


def _all_routes(tree: Mapping[str, Any]) -> list[Any]:
    return [tree["routes"], *(failure.get("routes", ()) for failure in tree.get("failures", ()))]


def _has_several(routes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a switch has several next hops to a host."""
    return len({(one["at"], one["to"], one["via"]) for one in routes}) > len({(r["at"], r["to"]) for r in routes})
