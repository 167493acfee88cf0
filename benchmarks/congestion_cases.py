"""Random small networks with PFC and flows on them, as scenario files: what the congestion model is measured on.

Shapes: leaf-spine at 2:1 and fat trees with a random or a destination-based static route per leaf and host; traffic:
permutations, shuffled rings, all flows of random hosts, incasts on a background of rings. Fast trunks, short cables
and small buffers are mixed in.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_MB = 1_000_000


@dataclass
class Wiring:
    """Hosts, switches, links (a, b, Gb/s) and for every switch the choices towards each host."""

    hosts: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    links: list[tuple[str, str, int]] = field(default_factory=list)
    routes: dict[tuple[str, str], str] = field(default_factory=dict)


def leaf_spine(leaves: int, spines: int, hosts: int, uplink_gbps: int, random: np.random.Generator) -> Wiring:
    """Two tiers; every (leaf, remote host) has one spine by chance."""
    made = Wiring()
    made.switches = [f"l{i}" for i in range(leaves)] + [f"s{i}" for i in range(spines)]
    made.links += [(f"l{leaf}", f"s{spine}", uplink_gbps) for leaf in range(leaves) for spine in range(spines)]
    for leaf in range(leaves):
        for number in range(hosts):
            host = f"h{leaf * hosts + number}"
            made.hosts.append(host)
            made.links.append((host, f"l{leaf}", 100))
            for other in range(leaves):
                made.routes[f"l{other}", host] = host if other == leaf else f"s{random.integers(spines)}"
            made.routes |= {(f"s{spine}", host): f"l{leaf}" for spine in range(spines)}
    return made


def fat_tree(k: int, random: np.random.Generator) -> Wiring:
    """A k-ary fat tree of 100G links with a random upward choice per switch and host."""
    half, made = k // 2, Wiring()
    pods = range(k)
    edge = {(pod, i): f"e{pod}-{i}" for pod in pods for i in range(half)}
    agg = {(pod, i): f"a{pod}-{i}" for pod in pods for i in range(half)}
    core = {(i, j): f"c{i}-{j}" for i in range(half) for j in range(half)}
    made.switches = [*edge.values(), *agg.values(), *core.values()]
    made.links = [(edge[pod, i], agg[pod, j], 100) for pod in pods for i in range(half) for j in range(half)]
    made.links += [(agg[pod, i], core[i, j], 100) for pod in pods for i in range(half) for j in range(half)]
    for pod, i in edge:
        for number in range(half):
            host = f"h{(pod * half + i) * half + number}"
            made.hosts.append(host)
            made.links.append((host, edge[pod, i], 100))
            for at in edge:
                own = at == (pod, i)
                made.routes[edge[at], host] = host if own else agg[at[0], int(random.integers(half))]
            for at in agg:
                own_pod = at[0] == pod
                made.routes[agg[at], host] = edge[pod, i] if own_pod else core[at[1], int(random.integers(half))]
            made.routes |= {(core[a, b], host): agg[pod, a] for a, b in core}
    return made


def permutation(count: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """Every host sends to one other: a random cycle."""
    order = random.permutation(count).tolist()
    return list(zip(order, [*order[1:], order[0]], strict=True))


def some_pairs(count: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """Two or three flows of every host, to anybody."""
    pairs = []
    for host in range(count):
        others = random.choice(count - 1, int(random.integers(2, 4)), replace=False).tolist()
        pairs += [(host, other + (other >= host)) for other in others]
    return pairs


def two_incasts(count: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """Two incasts of a quarter of the hosts each, and a ring of the others."""
    order = random.permutation(count).tolist()
    part = count // 4
    senders, receivers, rest = order[: 2 * part], order[2 * part : 2 * part + 2], order[2 * part + 2 :]
    pairs = [(sender, receivers[number % 2]) for number, sender in enumerate(senders)]
    return pairs + list(zip(rest, [*rest[1:], rest[0]], strict=True))


def scenario(
    name: str, wiring: Wiring, pairs: list[tuple[int, int]], *, buffer_bytes: int = 2 << 20, delay_ns: int = 1000
) -> dict[str, Any]:
    """The scenario file: 1 MB for every pair."""
    fast = any(speed > 100 for _, _, speed in wiring.links)
    headroom = 140_000 if fast else 37_500
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
            {"src": wiring.hosts[a], "dst": wiring.hosts[b], "bytes": _MB, "start_ns": 0} for a, b in pairs
        ],
        "routes": [{"at": at, "to": to, "via": via} for (at, to), via in wiring.routes.items()],
        "stop_ns": 40 * _MB,
    }  # fmt: skip


def cases(seed: int) -> Iterator[dict[str, Any]]:
    """One case of each kind for a seed."""
    random = np.random.default_rng(seed)
    for name, pattern in (("perm", permutation), ("pairs", some_pairs), ("incasts", two_incasts)):
        narrow = leaf_spine(8, 4, 8, 100, random)
        yield scenario(f"ls21-{name}-{seed}", narrow, pattern(64, random))
    tree = fat_tree(4, random)
    yield scenario(f"ft4-incasts-{seed}", tree, two_incasts(16, random))
    yield scenario(f"ft4-short-{seed}", tree, permutation(16, random), delay_ns=200)
    yield scenario(f"ft4-small-{seed}", tree, permutation(16, random), buffer_bytes=1 << 20)
    trunks = leaf_spine(4, 2, 8, 400, random)
    yield scenario(f"trunk400-{seed}", trunks, two_incasts(32, random))
    large = fat_tree(8, random)
    yield scenario(f"ft8-{seed}", large, permutation(128, random))
