"""Random small networks with PFC and flows, as scenario files, to measure the congestion model.

Shapes: leaf-spine at 2:1 and 1:1, fat trees with a random or a destination-based static route per switch and host,
chains of switches, two switches with a trunk; traffic: permutations, shuffled rings, all-to-all, all flows of random
hosts, incasts on a background of rings, parking lots. Some cases have fast trunks, short cables, small or large
buffers, unequal sizes or starts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_MB = 1_000_000
_HOST_GBPS = 100

Pairs = list[tuple[int, int]]
Random = np.random.Generator


@dataclass
class Wiring:
    """Hosts, switches, links (a, b, Gb/s) and the next hop of every switch to each host."""

    hosts: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    links: list[tuple[str, str, int]] = field(default_factory=list)
    routes: dict[tuple[str, str], str] = field(default_factory=dict)

    def add_host(self, switch: str) -> str:
        """Add a host to a switch. Returns its name."""
        host = f"h{len(self.hosts)}"
        self.hosts.append(host)
        self.links.append((host, switch, _HOST_GBPS))
        return host


def leaf_spine(leaves: int, spines: int, hosts: int, uplink_gbps: int, random: Random | None) -> Wiring:
    """Two tiers; every (leaf, remote host) uses one spine, at random or by the number of the host."""
    made = Wiring()
    made.switches = [f"l{i}" for i in range(leaves)] + [f"s{i}" for i in range(spines)]
    made.links += [(f"l{leaf}", f"s{spine}", uplink_gbps) for leaf in range(leaves) for spine in range(spines)]
    for leaf in range(leaves):
        for number in range(hosts):
            host = made.add_host(f"l{leaf}")
            for other in range(leaves):
                spine = int(random.integers(spines)) if random else number % spines
                made.routes[f"l{other}", host] = host if other == leaf else f"s{spine}"
            made.routes |= {(f"s{spine}", host): f"l{leaf}" for spine in range(spines)}
    return made


def fat_tree(k: int, random: Random | None) -> Wiring:
    """A k-ary fat tree of 100G links; uplinks are selected at random or by the number of the host."""
    half, made = k // 2, Wiring()
    pods = range(k)
    edge = {(pod, i): f"e{pod}-{i}" for pod in pods for i in range(half)}
    agg = {(pod, i): f"a{pod}-{i}" for pod in pods for i in range(half)}
    core = {(i, j): f"c{i}-{j}" for i in range(half) for j in range(half)}
    made.switches = [*edge.values(), *agg.values(), *core.values()]
    made.links = [(edge[pod, i], agg[pod, j], _HOST_GBPS) for pod in pods for i in range(half) for j in range(half)]
    made.links += [(agg[pod, i], core[i, j], _HOST_GBPS) for pod in pods for i in range(half) for j in range(half)]
    for pod, i in edge:
        for number in range(half):
            host = made.add_host(edge[pod, i])
            for at in edge:
                up = int(random.integers(half)) if random else number
                made.routes[edge[at], host] = host if at == (pod, i) else agg[at[0], up]
            for at in agg:
                up = int(random.integers(half)) if random else i
                made.routes[agg[at], host] = edge[pod, i] if at[0] == pod else core[at[1], up]
            made.routes |= {(core[a, b], host): agg[pod, a] for a, b in core}
    return made


def chain(hosts: list[int], trunk_gbps: int = _HOST_GBPS) -> Wiring:
    """Switches in a row, with the given numbers of hosts."""
    made = Wiring(switches=[f"s{number}" for number in range(len(hosts))])
    made.links = [(f"s{n}", f"s{n + 1}", trunk_gbps) for n in range(len(hosts) - 1)]
    for at, count in enumerate(hosts):
        for _ in range(count):
            host = made.add_host(f"s{at}")
            for n in range(len(hosts)):
                made.routes[f"s{n}", host] = host if n == at else f"s{n + (1 if at > n else -1)}"
    return made


def permutation(count: int, random: Random) -> Pairs:
    """Every host sends to one other host: a random cycle."""
    order = random.permutation(count).tolist()
    return _ring(order)


def some_pairs(count: int, random: Random, most: int = 3) -> Pairs:
    """Two or more flows of every host to random hosts."""
    pairs = []
    for host in range(count):
        others = random.choice(count - 1, int(random.integers(2, most + 1)), replace=False).tolist()
        pairs += [(host, other + (other >= host)) for other in others]
    return pairs


def two_incasts(count: int, random: Random) -> Pairs:
    """Two incasts of a quarter of the hosts each, and a ring of the others."""
    order = random.permutation(count).tolist()
    part = count // 4
    senders, receivers, rest = order[: 2 * part], order[2 * part : 2 * part + 2], order[2 * part + 2 :]
    return [(sender, receivers[number % 2]) for number, sender in enumerate(senders)] + _ring(rest)


def _ring(order: list[int]) -> Pairs:
    return list(zip(order, [*order[1:], order[0]], strict=True))


def scenario(
    name: str,
    wiring: Wiring,
    pairs: Pairs,
    *,
    buffer_bytes: int = 2 << 20,
    delay_ns: int = 1000,
    sizes: list[int] | None = None,
    starts_ns: list[int] | None = None,
) -> dict[str, Any]:
    """The scenario file, with 1 MB for every pair unless sizes are given."""
    fast = any(speed > _HOST_GBPS for _, _, speed in wiring.links)
    headroom = 140_000 if fast else 37_500
    sizes, starts = sizes or [_MB] * len(pairs), starts_ns or [0] * len(pairs)
    return {
        "format": "fabricgen-scenario/1",
        "name": name,
        "description": "",
        "compat": "hpcc",
        "nodes": [{"name": host, "kind": "host"} for host in wiring.hosts]
        + [{"name": switch, "kind": "switch"} for switch in wiring.switches],
        "switch_defaults": {
            "buffer_bytes": buffer_bytes, "pg_reserve_bytes": 4096, "pg_headroom_bytes": headroom,
            "alpha": 0.125, "xon_offset_bytes": 3072,
        },
        "transport": {
            "payload_bytes": 1000, "header_bytes": 48, "ack_bytes": 60, "pfc_frame_bytes": 43, "ack_lossless": False,
            "congestion_control": "none",
        },
        "links": [{"a": a, "b": b, "speed_gbps": speed, "delay_ns": delay_ns} for a, b, speed in wiring.links],
        "flows": [
            {"src": wiring.hosts[a], "dst": wiring.hosts[b], "bytes": size, "start_ns": start}
            for (a, b), size, start in zip(pairs, sizes, starts, strict=True)
        ],
        "routes": [{"at": at, "to": to, "via": via} for (at, to), via in wiring.routes.items()],
        "stop_ns": 40 * max(sizes) * max(1, len(pairs) // 64),
    }  # fmt: skip


def _narrow(random: Random) -> Wiring:
    return leaf_spine(8, 4, 8, _HOST_GBPS, random)


def _tree_over_ring(name: str, random: Random) -> dict[str, Any]:
    """A ring of 500 KB under an 8:1 incast of 4 MB, with small buffers."""
    order = random.permutation(16).tolist()
    target, senders = order[0], order[1:9]
    pairs = _ring(order[1:]) + [(sender, target) for sender in senders]
    sizes = [_MB // 2] * 15 + [4 * _MB] * 8
    return scenario(name, fat_tree(4, random), pairs, sizes=sizes, buffer_bytes=1 << 20)


def _fan_in(name: str, random: Random) -> dict[str, Any]:
    """Hosts behind a fast trunk compete with hosts at the receiver's switch; some send to a second receiver."""
    far, near = int(random.integers(2, 7)), int(random.integers(1, 6))
    pairs = [(far + near + int(random.random() < 0.3), host) for host in range(far + near)]
    wiring = chain([far, near + 2], trunk_gbps=400)
    return scenario(name, wiring, [(host, target) for target, host in pairs], buffer_bytes=4 << 20)


def _random_chain(name: str, random: Random) -> dict[str, Any]:
    """Three to five switches in a row with flows in both directions."""
    wiring = chain(random.integers(3, 7, int(random.integers(3, 6))).tolist())
    return scenario(name, wiring, some_pairs(len(wiring.hosts), random, 2)[:: int(random.integers(1, 3))])


def _parking_lot(name: str, random: Random) -> dict[str, Any]:
    """One or two senders at every switch of a row, all to the last switch, and one flow between two switches."""
    length = int(random.integers(4, 8))
    wiring = chain([2] * length)
    last = len(wiring.hosts) - 1
    senders = [host for host in range(last) if host % 2 == 0 or random.random() < 0.2]
    begin = int(random.integers(0, length - 2))
    victim = (2 * begin + 1, 2 * int(random.integers(begin + 1, length - 1)) + 1)
    return scenario(name, wiring, [(host, last) for host in senders if host != victim[0]] + [victim])


def _two_roots(name: str, random: Random) -> dict[str, Any]:
    """One trunk to two or three overloaded hosts, and one flow of a victim."""
    far, near, roots = int(random.integers(3, 6)), int(random.integers(2, 6)), int(random.integers(2, 4))
    wiring = chain([far + 1, near + roots + 1])
    first = far + 1 + near
    pairs = [(host, first + int(random.integers(roots))) for host in [*range(far), *range(far + 1, first)]]
    return scenario(name, wiring, [*pairs, (far, first + roots)])


def _unequal(name: str, random: Random) -> dict[str, Any]:
    """Sizes of 0.1 to 8 MB, starts within 100 us."""
    sizes = (_MB * 10 ** random.uniform(-1, np.log10(8), 64)).astype(int).tolist()
    starts = random.integers(0, 100_000, 64).tolist()
    return scenario(name, _narrow(random), permutation(64, random), sizes=sizes, starts_ns=starts)


_KINDS: dict[str, Callable[[str, Random], dict[str, Any]]] = {
    "ls21-perm": lambda name, random: scenario(name, _narrow(random), permutation(64, random)),
    "ls21-pairs": lambda name, random: scenario(name, _narrow(random), some_pairs(64, random)),
    "ls21-incasts": lambda name, random: scenario(name, _narrow(random), two_incasts(64, random)),
    "ls21-all": lambda name, random: scenario(
        name, leaf_spine(4, 2, 4, _HOST_GBPS, random), [(a, b) for a in range(16) for b in range(16) if a != b]
    ),
    "ls11-ring": lambda name, random: scenario(
        name, leaf_spine(4, 4, 8, _HOST_GBPS, None), permutation(32, random)
    ),
    "ls21-unequal": _unequal,
    "ft4-incasts": lambda name, random: scenario(name, fat_tree(4, random), two_incasts(16, random)),
    "ft4-short": lambda name, random: scenario(name, fat_tree(4, random), permutation(16, random), delay_ns=200),
    "ft4-small": lambda name, random: scenario(
        name, fat_tree(4, random), permutation(16, random), buffer_bytes=1 << 20
    ),
    "ft4-large": lambda name, random: scenario(
        name, fat_tree(4, random), some_pairs(16, random), buffer_bytes=4 << 20
    ),
    "ft4-tree": _tree_over_ring,
    "ft6": lambda name, random: scenario(name, fat_tree(6, random), permutation(54, random)),
    "ft8": lambda name, random: scenario(name, fat_tree(8, random), permutation(128, random)),
    "ft8-mod": lambda name, random: scenario(name, fat_tree(8, None), permutation(128, random)),
    "trunk400": lambda name, random: scenario(name, leaf_spine(4, 2, 8, 400, random), two_incasts(32, random)),
    "trunk400-deep": lambda name, random: scenario(
        name, leaf_spine(4, 2, 8, 400, random), two_incasts(32, random), buffer_bytes=4 << 20
    ),
    "fan-in": _fan_in,
    "chain": _random_chain,
    "parking": _parking_lot,
    "roots": _two_roots,
}  # fmt: skip


def cases(seed: int) -> Iterator[dict[str, Any]]:
    """One case of each kind for a seed."""
    for number, (kind, make) in enumerate(_KINDS.items()):
        yield make(f"{kind}-{seed}", np.random.default_rng([seed, number]))
