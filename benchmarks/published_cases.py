"""Set-ups of published measurements of how traffic meets on links, as packet scenarios.

- MRC (arXiv 2605.04333, figure 16): the ring of an all-reduce over 64 NICs of 400 Gb/s, with 1 to 16 queue pairs, and
  with packets that spread over all paths. The paper states no wiring; here ranks alternate between two leaves, so each
  message crosses a spine. Senders have no congestion control.
- MRC, figure 20: eight hosts send to eight over four spines; here over eight uplinks of 400 Gb/s.
- ConWeave (SIGCOMM 2023, figures 12 and 13; run.py and autorun.sh of its simulation): 128 hosts of 100 Gb/s, 2:1, load
  50, storage traffic with Poisson starts, lossless RDMA. ConWeave itself and CONGA are not modelled.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fabricgen.results import PacketFlow, PacketsResult
from tests.simulate.packets.running import outcome_of

Tree = dict[str, Any]
Flow = dict[str, Any]
Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

# As rendered for 400G, in a switch with the buffer of a Tomahawk 5.
SWITCH_400G: Tree = {
    "buffer_bytes": 165_000_000, "pg_reserve_bytes": 4096, "pg_headroom_bytes": 200_000, "alpha": 0.125,
    "xon_offset_bytes": 18_432, "ecn": {"kmin_bytes": 400_000, "kmax_bytes": 1_600_000, "pmax": 0.2},
}  # fmt: skip
ROCE: Tree = {
    "payload_bytes": 4096, "header_bytes": 82, "ack_bytes": 84, "pfc_frame_bytes": 84, "ack_lossless": True,
    "congestion_control": "none",
}  # fmt: skip
MLX: Tree = {  # of 400 Gb/s
    "g": 1 / 256, "alpha_timer_ns": 1000, "rate_decrease_interval_ns": 4000, "increase_timer_ns": 300_000,
    "fast_recovery_times": 1, "rate_ai_mbps": 80, "rate_hai_mbps": 800, "min_rate_mbps": 100, "cnp_interval_ns": 4000,
}  # fmt: skip
SPRAY: Tree = {"mode": "spray", "order": "round-robin"}
MRC_GBPS = 400

# run.py: thresholds of marks by speed, packets and DCQCN of mlx settings; 9 MB of buffer.
SWITCH_CONWEAVE: Tree = {
    "buffer_bytes": 9_000_000, "pg_reserve_bytes": 4096, "pg_headroom_bytes": 37_500, "alpha": 0.125,
    "xon_offset_bytes": 3072, "ecn": {"kmin_bytes": 100_000, "kmax_bytes": 400_000, "pmax": 0.2},
}  # fmt: skip
CONWEAVE: Tree = {
    "payload_bytes": 1000, "header_bytes": 48, "ack_bytes": 60, "pfc_frame_bytes": 64, "ack_lossless": True,
    "congestion_control": "dcqcn", "dcqcn": {**MLX, "rate_ai_mbps": 40, "rate_hai_mbps": 100},
}  # fmt: skip
CONWEAVE_GBPS, CONWEAVE_DELAY_NS = 100, 1000
# AliStorage2019 of HPCC's traffic generator: bytes, and the share of flows in percent that are not larger.
STORAGE_SIZES = (
    (0, 0.0), (4000, 22.93), (8000, 69.21), (16_000, 80.61), (32_000, 90.47), (64_000, 93.53), (128_000, 96.77),
    (256_000, 97.53), (2_000_000, 100.0),
)  # fmt: skip
# LetFlow's gap is that of run.py. DRILL compares two random queues and the last best one; adaptive compares all.
SCHEMES: dict[str, Tree] = {
    "ECMP": {"mode": "ecmp"},
    "LetFlow": {"mode": "flowlet", "flowlet_gap_ns": 100_000},
    "adaptive per packet": {"mode": "adaptive"},
}


@dataclass(frozen=True)
class Clos:
    """Leaves "a", "b", … with hosts "a0", "a1", …, and "spine0", …; one link from each leaf to each spine."""

    leaves: int
    hosts: int  # of each leaf
    spines: int
    gbps: float
    uplink_gbps: float
    delay_ns: int = 500

    @property
    def leaf_names(self) -> list[str]:
        """Names of the leaves."""
        return [chr(ord("a") + number) for number in range(self.leaves)]

    @property
    def host_names(self) -> list[str]:
        """Names of the hosts, leaf after leaf."""
        return [f"{leaf}{number}" for leaf in self.leaf_names for number in range(self.hosts)]

    def scenario(self, name: str, flows: Sequence[Flow], switch: Tree, transport: Tree, balance: Tree) -> Tree:
        """The scenario file of the flows."""
        spines = [f"spine{number}" for number in range(self.spines)]
        hosts, leaves = self.host_names, self.leaf_names
        links = [(host, host[0], self.gbps) for host in hosts]
        links += [(leaf, spine, self.uplink_gbps) for spine in spines for leaf in leaves]
        routes = [(leaf, host, host) for leaf in leaves for host in hosts if host[0] == leaf]
        routes += [(leaf, host, spine) for leaf in leaves for host in hosts if host[0] != leaf for spine in spines]
        routes += [(spine, host, host[0]) for spine in spines for host in hosts]
        return {
            "format": "fabricgen-scenario/1",
            "name": name,
            "nodes": [{"name": one, "kind": "host"} for one in hosts]
            + [{"name": one, "kind": "switch"} for one in (*leaves, *spines)],
            "switch_defaults": dict(switch),
            "transport": dict(transport),
            "balance": dict(balance),
            "links": [{"a": a, "b": b, "speed_gbps": gbps, "delay_ns": self.delay_ns} for a, b, gbps in links],
            "flows": list(flows),
            "routes": [{"at": at, "to": to, "via": via} for at, to, via in routes],
            "stop_ns": 1_000_000_000,
        }


def _mrc(name: str, fabric: Clos, pairs: Sequence[tuple[str, str]], size: int, queue_pairs: int, spread: bool) -> Tree:
    """Each pair sends `size` bytes, divided over its queue pairs: hashed, or as packets that spread and are placed."""
    flows = [
        {"src": src, "dst": dst, "bytes": size // queue_pairs, "start_ns": 0}
        for src, dst in pairs
        for _ in range(queue_pairs)
    ]
    transport = {**ROCE, "recovery": "in-order-placement" if spread else "go-back-n"}
    return fabric.scenario(name, flows, SWITCH_400G, transport, SPRAY if spread else {"mode": "ecmp"})


def ring(hosts: int, size: int, queue_pairs: int = 1, *, spread: bool = False) -> Tree:
    """MRC, figure 16: host k sends to host k + 1, which is at the other one of two leaves, at 1:1."""
    fabric = Clos(2, hosts // 2, hosts // 2, MRC_GBPS, MRC_GBPS)
    ranks = [f"{'ab'[rank % 2]}{rank // 2}" for rank in range(hosts)]
    return _mrc("ring", fabric, list(pairwise([*ranks, ranks[0]])), size, queue_pairs, spread)


def eight_to_eight(size: int, *, spread: bool = False, uplinks: int = 8) -> Tree:
    """MRC, figure 20: each host of a leaf sends to one of the other, over as many uplinks."""
    fabric = Clos(2, 8, uplinks, MRC_GBPS, MRC_GBPS)
    return _mrc("pairs", fabric, [(f"a{host}", f"b{host}") for host in range(8)], size, 1, spread)


def gbps_of_pairs(tree: Tree, seed: int) -> list[float]:
    """The rate of the data of each pair of hosts, until its last queue pair ends."""
    sent: dict[tuple[str, str], int] = {}
    ends: dict[tuple[str, str], int] = {}
    for flow in outcome_of(tree, seed).flows:
        pair = flow.src, flow.dst
        sent[pair] = sent.get(pair, 0) + flow.bytes
        ends[pair] = max(ends.get(pair, 0), _fct_ns(flow))
    return [8 * sent[pair] / ends[pair] for pair in sent]


def storage_traffic(fabric: Clos, load: float, duration_ns: int, seed: int) -> list[Flow]:
    """Flows of STORAGE_SIZES to random other hosts; starts are a Poisson process that uses `load` of the uplinks."""
    chance = random.Random(seed)
    uplinks_gbps = fabric.spines * fabric.uplink_gbps
    sizes, marks = zip(*STORAGE_SIZES, strict=True)
    mean = sum((a + b) / 2 * (q - p) / 100 for (a, p), (b, q) in pairwise(STORAGE_SIZES))
    gap_ns = 8 * mean / (load * uplinks_gbps / fabric.hosts)
    return [
        {"src": src, "dst": dst, "bytes": max(1, int(np.interp(100 * chance.random(), marks, sizes))), "start_ns": at}
        for src in fabric.host_names
        for at in _poisson(gap_ns, duration_ns, chance)
        for dst in [chance.choice([host for host in fabric.host_names if host != src])]
    ]


def _poisson(gap_ns: float, duration_ns: int, chance: random.Random) -> Iterator[int]:
    at = chance.expovariate(1 / gap_ns)
    while at < duration_ns:
        yield int(at)
        at += chance.expovariate(1 / gap_ns)


def conweave_clos(leaves: int = 8, hosts: int = 16) -> Clos:
    """Half as many uplinks as hosts."""
    return Clos(leaves, hosts, hosts // 2, CONWEAVE_GBPS, CONWEAVE_GBPS, CONWEAVE_DELAY_NS)


def scheme_run(
    fabric: Clos, balance: Tree, duration_ns: int, seed: int = 1, recovery: str = "go-back-n"
) -> PacketsResult:
    """ConWeave's set-up at load 50 with a way to spread."""
    flows = storage_traffic(fabric, 0.5, duration_ns, seed)
    transport = {**CONWEAVE, "recovery": recovery}
    return outcome_of(fabric.scenario("storage", flows, SWITCH_CONWEAVE, transport, balance), seed)


def slowdowns(found: PacketsResult) -> Floats:
    """Completion times over those of the flows alone on their paths. All flows must have finished."""
    return np.array([_fct_ns(flow) / _alone_ns(flow) for flow in found.flows])


def _fct_ns(flow: PacketFlow) -> int:
    assert flow.fct_ns is not None, flow
    return flow.fct_ns


def _alone_ns(flow: PacketFlow) -> float:
    """Store and forward: all packets on the first link, one of them on each other link, and the ACK back."""
    links = 2 if flow.src[0] == flow.dst[0] else 4
    payload, header = CONWEAVE["payload_bytes"], CONWEAVE["header_bytes"]
    packets = -(-flow.bytes // payload)
    last = min(flow.bytes - (packets - 1) * payload, payload) if packets > 1 else flow.bytes
    total: int = flow.bytes + packets * header + (links - 1) * (last + header) + links * CONWEAVE["ack_bytes"]
    return total * 8 / CONWEAVE_GBPS + 2 * links * CONWEAVE_DELAY_NS
