"""Measurements that others published, with their set-up as far as it is described.

MRC (arXiv 2605.04333, figures 18 and 21): seven hosts send to one, and a flow to another host, the victim, crosses the
same switches at 400 Gb/s. With DCQCN it loses 25 %; with PFC alone it gets 30 to 100 Gb/s. The paper does not state the
parameters of DCQCN and ECN; here they are those of ConnectX adapters, and marking as fabricgen renders it.
"""

from statistics import median
from typing import Any

from fabricgen.simulate.packets.senders import roce_transport
from tests.simulate.packets.running import result

LINE_GBPS, BYTES = 400, 300_000_000
SPINES = ["spine"]  # over four, hashed flows leave the victim at line rate with DCQCN, and at 57 to 134 Gb/s with PFC
SENDERS, RECEIVERS = ([f"{side}{number}" for number in range(8)] for side in "ab")
MLX = {
    "g": 1 / 256, "alpha_timer_ns": 1000, "rate_decrease_interval_ns": 4000, "increase_timer_ns": 300_000,
    "fast_recovery_times": 1, "rate_ai_mbps": 80, "rate_hai_mbps": 800, "min_rate_mbps": 100, "cnp_interval_ns": 4000,
}  # fmt: skip


def victim_gbps(transport: dict[str, Any], seed: int = 1) -> tuple[float, int, int]:
    """The rate of the victim's data, the pause frames and the drops of a run. The victim starts when the incast has
    lasted for 1 ms. All flows cross one spine; `seed` draws the marks."""
    links = [(host, leaf, LINE_GBPS) for leaf, side in (("a", SENDERS), ("b", RECEIVERS)) for host in side]
    links += [(leaf, spine, 2 * LINE_GBPS) for spine in SPINES for leaf in "ab"]
    routes = []
    for leaf, far, near in (("a", RECEIVERS, SENDERS), ("b", SENDERS, RECEIVERS)):
        routes += [{"at": leaf, "to": host, "via": host} for host in near]
        routes += [{"at": leaf, "to": host, "via": spine} for host in far for spine in SPINES]
        routes += [{"at": spine, "to": host, "via": leaf} for host in near for spine in SPINES]
    flows = [{"src": host, "dst": "b0", "bytes": BYTES, "start_ns": 0} for host in SENDERS[:7]]
    flows.append({"src": "a7", "dst": "b7", "bytes": BYTES, "start_ns": 1_000_000})
    found = result(
        {
            "format": "fabricgen-scenario/1",
            "name": "incast-victim",
            "nodes": [{"name": name, "kind": "host"} for name in (*SENDERS, *RECEIVERS)]
            + [{"name": name, "kind": "switch"} for name in ("a", "b", *SPINES)],
            "switch_defaults": {
                "buffer_bytes": 165_000_000, "pg_reserve_bytes": 4096, "pg_headroom_bytes": 200_000, "alpha": 0.125,
                "xon_offset_bytes": 18_432, "ecn": {"kmin_bytes": 400_000, "kmax_bytes": 1_600_000, "pmax": 0.2},
            },
            "transport": {
                "payload_bytes": 4096, "header_bytes": 82, "ack_bytes": 84, "pfc_frame_bytes": 84, "ack_lossless": True,
                **transport,
            },
            "links": [{"a": a, "b": b, "speed_gbps": gbps, "delay_ns": 500} for a, b, gbps in links],
            "flows": flows,
            "routes": routes,
            "stop_ns": 1_000_000_000,
        },
        seed,
    )  # fmt: skip
    took_ns = found.flows[-1].fct_ns
    assert took_ns is not None
    return BYTES * 8 / took_ns, sum(kind for _, _, kind in found.pfc_frames), found.drops


def test_dcqcn_costs_the_victim_of_an_incast_a_quarter() -> None:
    """Published: 25 % less than line rate; here 28 %, and 21 % where flows are three times as long."""
    draws = [victim_gbps({"congestion_control": "dcqcn", "dcqcn": MLX}, seed) for seed in (1, 2, 3)]
    assert 0.68 * LINE_GBPS < median(gbps for gbps, _, _ in draws) < 0.82 * LINE_GBPS
    assert all(pauses == drops == 0 for _, pauses, drops in draws)


def test_pfc_alone_costs_the_victim_most_of_its_rate() -> None:
    """Published: 30 to 100 of 400 Gb/s; here 57 Gb/s, the share of each flow of the incast."""
    gbps, pauses, drops = victim_gbps({"congestion_control": "none"})
    assert 30 < gbps < 100
    assert pauses > 1000 and drops == 0


def test_the_parameters_are_those_of_the_adapters_of_a_bundle() -> None:
    dcqcn = roce_transport(4096, LINE_GBPS).dcqcn
    assert dcqcn and {name: getattr(dcqcn, name) for name in MLX} == MLX
