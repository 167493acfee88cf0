"""Scenarios of tests, built and run."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabricgen.results import PacketsResult
from fabricgen.simulate.packets import prepare
from fabricgen.simulate.scenario import Scenario, parse_scenario, read_scenario

prepare(print)

from fabricgen.simulate.packets.analysis import simulate_scenario  # noqa: E402 (compiled code comes after its cache)
from fabricgen.simulate.packets.outcome import outcome  # noqa: E402
from fabricgen.simulate.packets.simulation import Finished, run  # noqa: E402

SWITCH = {
    "buffer_bytes": 1 << 20, "pg_reserve_bytes": 4096, "pg_headroom_bytes": 37_500, "alpha": 0.125,
    "xon_offset_bytes": 3072,
}  # fmt: skip
TRANSPORT = {
    "payload_bytes": 1000, "header_bytes": 48, "ack_bytes": 60, "pfc_frame_bytes": 64, "ack_lossless": False,
    "congestion_control": "none",
}  # fmt: skip


Change = Callable[[str, dict[str, Any]], None]


def edit(bundle: Path, table: str, change: Change) -> None:
    """Change every row of a table in every file of a bundle."""
    for file in (bundle / "sonic").glob("*/config_db.json"):
        config = json.loads(file.read_text())
        for key, row in config[table].items():
            change(key, row)
        file.write_text(json.dumps(config))


def run_file(file: Path, seed: int = 1) -> PacketsResult:
    """The result of a scenario file."""
    return simulate_scenario(read_scenario(file), seed)


def simulated(file: Path, **changes: Any) -> PacketsResult:
    """The result of a scenario file with other values at its top level."""
    return simulate_scenario(replace(read_scenario(file), **changes))


def star(senders: int, size: int = 1_000_000, **more: Any) -> dict[str, Any]:
    """Hosts h0 to hN around the switch s: all but the last send to it."""
    hosts = [f"h{number}" for number in range(senders + 1)]
    target = hosts[-1]
    tree: dict[str, Any] = {
        "format": "fabricgen-scenario/1",
        "name": f"star{senders}",
        "nodes": [*({"name": name, "kind": "host"} for name in hosts), {"name": "s", "kind": "switch"}],
        "switch_defaults": dict(SWITCH),
        "transport": dict(TRANSPORT),
        "links": [{"a": name, "b": "s", "speed_gbps": 100, "delay_ns": 1000} for name in hosts],
        "flows": [{"src": name, "dst": target, "bytes": size, "start_ns": 0} for name in hosts[:-1]],
        "routes": [{"at": "s", "to": name, "via": name} for name in hosts],
        "stop_ns": 20_000_000,
    }
    return changed(tree, more)


def ring(size: int = 5_000_000, **more: Any) -> dict[str, Any]:
    """Three switches in a ring, all routes clockwise, three flows of two hops: it freezes."""
    hosts = [f"h{number}" for number in range(6)]
    switches = ["s0", "s1", "s2"]
    links = [(host, switches[number // 2]) for number, host in enumerate(hosts)]
    links += [(switches[number], switches[(number + 1) % 3]) for number in range(3)]
    routes = [
        {"at": at, "to": host, "via": host if number // 2 == place else switches[(place + 1) % 3]}
        for place, at in enumerate(switches)
        for number, host in enumerate(hosts)
    ]
    tree: dict[str, Any] = {
        "format": "fabricgen-scenario/1",
        "name": "ring",
        "nodes": [{"name": name, "kind": "host"} for name in hosts] + [{"name": s, "kind": "switch"} for s in switches],
        "switch_defaults": dict(SWITCH),
        "transport": dict(TRANSPORT),
        "links": [{"a": a, "b": b, "speed_gbps": 100, "delay_ns": 1000} for a, b in links],
        "flows": [
            {"src": src, "dst": dst, "bytes": size, "start_ns": 0}
            for src, dst in (("h0", "h5"), ("h2", "h1"), ("h4", "h3"))
        ],
        "routes": routes,
        "stop_ns": 10_000_000,
    }
    return changed(tree, more)


def changed(tree: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The tree with mappings extended and other values replaced."""
    for key, value in changes.items():
        tree[key] = {**tree.get(key, {}), **value} if isinstance(value, Mapping) else value
    return tree


def finished(tree: Mapping[str, Any], seed: int = 1) -> Finished:
    """Run a tree, for what the arrays hold at its end."""
    return run(parse_scenario(tree), seed)


def result(tree: Mapping[str, Any], seed: int = 1) -> PacketsResult:
    """Run a tree and judge it."""
    scenario: Scenario = parse_scenario(tree)
    return simulate_scenario(scenario, seed)


def outcome_of(tree: Mapping[str, Any], seed: int = 1) -> PacketsResult:
    """Run a tree, without judging it."""
    return outcome(finished(tree, seed), seed)
