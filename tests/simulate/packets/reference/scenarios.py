"""Random scenarios with every rule of the model at its ends: sizes, speeds, cables, classes, thresholds, losses."""

import random
from typing import Any

from tests.simulate.packets.reference.scenario_spreading import with_spreading
from tests.simulate.packets.reference.scenario_troubles import with_troubles

SPEEDS = (25, 40, 50, 100, 200, 400, 800)
PRIORITIES = (0, 1, 3, 4, 5, 6)
MOST_PACKETS = 1500  # of a scenario


def random_scenario(seed: int) -> dict[str, Any]:
    """A scenario of one to six switches in two tiers, by a seed."""
    draw = random.Random(seed)
    payload = draw.choice((1000, 1024, 4096, 4096, 8192, 300, 64))
    leaves, spines = draw.choice(((1, 0), (1, 0), (2, 1), (2, 2), (3, 1), (4, 2)))
    hosts = [f"h{number}" for number in range(leaves * draw.randint(2, 6))]
    home = {host: f"l{number % leaves}" for number, host in enumerate(hosts)}
    tops = [f"s{number}" for number in range(spines)]
    speeds = draw.choices(SPEEDS, k=draw.randint(1, 3))
    cable = draw.choice(((5, 500), (1000, 1000), (1, 20), (500, 20_000)))

    def link(a: str, b: str) -> dict[str, Any]:
        made: dict[str, Any] = {"a": a, "b": b, "speed_gbps": draw.choice(speeds), "delay_ns": draw.randint(*cable)}
        for end in ("a", "b"):
            if made[end] not in home and draw.random() < 0.15:
                made[f"{end}_buffers"] = {"alpha": _alpha(draw), "pg_headroom_bytes": draw.randint(0, 60_000)}
        return dict(draw.sample(sorted(made.items()), len(made)))

    links = [link(host, home[host]) for host in hosts]
    links += [link(f"l{leaf}", top) for leaf in range(leaves) for top in tops]
    used = draw.sample(PRIORITIES, draw.choice((1, 1, 2, 3)))
    routes = [
        {"at": f"l{leaf}", "to": host, "via": host if home[host] == f"l{leaf}" else draw.choice(tops)}
        for leaf in range(leaves)
        for host in hosts
    ]
    routes += [{"at": top, "to": host, "via": home[host]} for top in tops for host in hosts]
    draw.shuffle(links)
    tree = {
        "format": "fabricgen-scenario/1",
        "name": f"random-{seed}",
        "nodes": [
            *({"name": host, "kind": "host"} for host in hosts),
            *({"name": name, "kind": "switch"} for name in (*{f"l{leaf}": 0 for leaf in range(leaves)}, *tops)),
        ],
        "switch_defaults": _buffers(draw, payload, len(hosts)),
        "transport": _transport(draw, payload),
        "links": links,
        "flows": _flows(draw, hosts, used, payload),
        "routes": routes,
        "classes": [
            {
                "priority": priority,
                "lossless": draw.random() < 0.8,
                "scheduler": draw.choice(("dwrr", "dwrr", "strict")),
                "weight": draw.randint(1, 20),
            }
            for priority in {*used, *draw.sample((6, 7), draw.randint(0, 1))}
            if draw.random() < 0.8
        ],
        "pfc": draw.choice(
            (
                {},
                {"response_ns": draw.randint(0, 800)},
                {"pause_quanta": draw.randint(1, 300), "refresh_ns": draw.randint(10, 5000)},
                {"pause_quanta": draw.randint(20, 2000), "response_ns": draw.randint(0, 300)},
            )
        ),
        "stop_ns": draw.choice((3_000_000, 10_000_000)),
    }
    tree = with_troubles(tree, random.Random(f"troubles of {seed}"))
    return with_spreading(tree, random.Random(f"spreading of {seed}"))


def _alpha(draw: random.Random) -> float:
    return float(draw.choice((2.0 ** draw.randint(-8, 7), 1 / 256, 128, 0.3, 1.0)))


def _flows(draw: random.Random, hosts: list[str], used: list[int], payload: int) -> list[dict[str, Any]]:
    """Flows of 1 B to 4 MB: an incast, or any pairs; at once, on a grid, or spread."""
    flows: list[dict[str, Any]] = []
    target = draw.choice(hosts) if draw.random() < 0.8 else None
    spread = draw.choice((0, 0, 100, 5000, 50_000))
    packets = 0
    for _ in range(draw.randint(1, 24)):
        src, dst = draw.sample(hosts, 2)
        if target and src != target and draw.random() < 0.8:
            dst = target
        size = draw.choice((1, draw.randint(1, 5000), 10 * payload, int(4e6 ** draw.random()), 60 * payload, 4_000_000))
        size = min(size, max(1, (MOST_PACKETS - packets) * payload))
        packets += -(-size // payload)
        flow = {"src": src, "dst": dst, "bytes": size, "start_ns": draw.randint(0, spread)}
        flows.append({**flow, "priority": draw.choice(used)})
        if packets >= MOST_PACKETS:
            break
    return flows


def _buffers(draw: random.Random, payload: int, hosts: int) -> dict[str, Any]:
    reserve = draw.choice((0, 0, 4096, draw.randint(1, 20_000)))
    headroom = draw.choice((0, 10_000, 40_000, draw.randint(0, 150_000)))
    room = draw.choice((10_000, 30_000, 100_000, 1_000_000))
    given: dict[str, Any] = {
        "buffer_bytes": (hosts + 4) * 4 * (reserve + headroom) + room,
        "pg_reserve_bytes": reserve,
        "pg_headroom_bytes": headroom,
        "alpha": _alpha(draw),
        "xon_bytes": draw.choice((0, 0, draw.randint(0, 100_000))),
        "xon_offset_bytes": draw.choice((0, 3072, draw.randint(0, 200_000), 1 << 30)),
    }
    if draw.random() < 0.25:
        given["static_threshold_bytes"] = draw.choice((1, payload, 20_000, 500_000))
    if draw.random() < 0.25:
        given["headroom_pool_bytes"] = draw.randint(1, 1 + 4 * headroom)
    if draw.random() < 0.25:
        given["egress_pool_bytes"] = draw.randint(20_000, 2_000_000)
        given["egress_reserve_bytes"] = draw.choice((0, 3000))
        given[draw.choice(("egress_alpha", "egress_static_bytes"))] = draw.choice((1, 8, 0))
        if given.get("egress_static_bytes"):
            given["egress_static_bytes"] *= 20_000
    if draw.random() < 0.6:
        kmin = draw.choice((0, 5000, 40_000, draw.randint(0, 300_000)))
        kmax = kmin + draw.choice((0, 1, 50_000, 400_000))
        given["ecn"] = {"kmin_bytes": kmin, "kmax_bytes": kmax, "pmax": draw.choice((0.0, 0.05, 0.5, 1.0))}
    return given


def _transport(draw: random.Random, payload: int) -> dict[str, Any]:
    given: dict[str, Any] = {
        "payload_bytes": payload,
        "header_bytes": draw.choice((0, 48, 58, 82)),
        "ack_bytes": draw.choice((60, 64, 64, 200)),
        "pfc_frame_bytes": draw.choice((64, 64, 43)),
        "ack_lossless": draw.random() < 0.6,
        "congestion_control": draw.choice(("none", "dcqcn", "dcqcn")),
    }
    if draw.random() < 0.4:
        given["retransmission_timeout_ns"] = draw.choice((0, 20_000, 100_000, draw.randint(5000, 400_000)))
    if draw.random() < 0.3:
        given["cnp_priority"] = draw.choice((2, 4, 7))
    if given["congestion_control"] == "dcqcn":
        equal = draw.choice((1500, 55_000))
        given["dcqcn"] = {
            "g": draw.choice((1 / 256, 1 / 16, 0.3)),
            "alpha_timer_ns": draw.choice((1000, 55_000, 777)),
            "rate_decrease_interval_ns": draw.choice((equal, 4000, 50_000, 1)),
            "increase_timer_ns": draw.choice((equal, 300_000, 3000, 12_000)),
            "fast_recovery_times": draw.choice((0, 1, 5)),
            "rate_ai_mbps": draw.choice((5, 40, 2000)),
            "rate_hai_mbps": draw.choice((50, 400, 20_000)),
            "min_rate_mbps": draw.choice((100, 1000)),
            "byte_counter_bytes": draw.choice((0, 0, 20_000, 1_000_000)),
            "cnp_interval_ns": draw.choice((0, 4000, 50_000)),
        }
    return given
