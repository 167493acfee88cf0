"""Every key of a scenario file changes the congestion model as it changes packets, or is refused at its line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabricgen.simulate.congestion.verdict import CongestionVerdict, judge
from fabricgen.simulate.plane.from_scenario import from_scenario
from fabricgen.simulate.scenario import parse_scenario
from tests.conftest import Cli
from tests.simulate.congestion.test_scenarios import chain
from tests.simulate.packets.running import prepare

FLOWS = [("h0a", "h1z"), ("h0b", "h1y"), *((f"h1{letter}", "h1z") for letter in "abc")]


def judged(tree: dict[str, Any]) -> CongestionVerdict:
    return judge(*from_scenario(parse_scenario(tree)), finite=True)


def packets_ns(tree: dict[str, Any]) -> list[int | None]:
    prepare(print)
    from fabricgen.simulate.packets.analysis import simulate_scenario

    result = simulate_scenario(parse_scenario(tree))
    assert not result.drops
    return [flow.fct_ns for flow in result.flows]


def with_defaults(tree: dict[str, Any], **own: Any) -> dict[str, Any]:
    return {**tree, "switch_defaults": {**tree["switch_defaults"], **own}}


def drained(tree: dict[str, Any]) -> dict[str, Any]:
    nodes = [node | ({"drain_gbps": 20} if node["name"] == "h1z" else {}) for node in tree["nodes"]]
    return {**tree, "nodes": nodes}


def one_end(tree: dict[str, Any]) -> dict[str, Any]:
    """The port of s1 towards s0 has its own alpha."""
    links = [link | ({"b_buffers": {"alpha": 8.0}} if link["a"] == "s0" else {}) for link in tree["links"]]
    return {**tree, "links": links}


def own_pool(tree: dict[str, Any]) -> dict[str, Any]:
    own = {"b_buffers": {"ingress_pool": "small", "ingress_pool_bytes": 100_000}}
    return {**tree, "links": [link | (own if link["a"] == "s0" else {}) for link in tree["links"]]}


def response(tree: dict[str, Any]) -> dict[str, Any]:
    return {**with_defaults(tree, pg_headroom_bytes=100_000), "pfc": {"response_ns": 3000}}


CHANGES = {
    "drain_gbps": drained,
    "per-end buffers": one_end,
    "ingress pool": own_pool,
    "static threshold": lambda tree: with_defaults(tree, static_threshold_bytes=60_000),
    "shared headroom": lambda tree: with_defaults(tree, headroom_pool_bytes=700_000),
    "cells": lambda tree: with_defaults(tree, cell_bytes=1000, pg_headroom_bytes=80_000),
    "response": response,
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_model_follows_packets(name: str) -> None:
    usual = chain(2, FLOWS)
    tree = CHANGES[name](usual)
    error = np.abs(judged(tree).time_ns / np.array(packets_ns(tree), float) - 1)
    assert error.max() <= 0.05
    assert not np.array_equal(judged(tree).time_ns, judged(usual).time_ns)


LINE_OF = {
    "storms": ({"storms": [{"host": "h1z", "at_ns": 0, "until_ns": 1000}]}, "storms"),
    "failures": ({"failures": [{"a": "s0", "b": "s1", "at_ns": 5}]}, "failures"),
    "refresh": ({"pfc": {"refresh_ns": 5000}}, "pfc.refresh_ns"),
    "spread": ({"balance": {"mode": "spray"}}, "balance.mode"),
    "lossy": ({"classes": [{"priority": 3, "lossless": False}]}, "classes[0].lossless"),
}


@pytest.mark.parametrize("name", LINE_OF)
def test_what_the_model_does_not_have_is_refused_at_its_line(name: str, cli: Cli, tmp_path: Path) -> None:
    change, path = LINE_OF[name]
    found = refused(chain(2, FLOWS, **change), cli, tmp_path)
    assert [(one["code"], one["path"]) for one in found] == [("FG791", path)]
    key = path.rpartition(".")[2]
    assert f'"{key}"' in (tmp_path / "scenario.json").read_text().splitlines()[found[0]["location"]["line"] - 1]


def refused(tree: dict[str, Any], cli: Cli, folder: Path) -> list[dict[str, Any]]:
    file = folder / "scenario.json"
    file.write_text(json.dumps(tree, indent=1))
    run = cli("-q", "simulate", "congestion", "--scenario", str(file), "--format", "json")
    assert run.code == 1
    findings: list[dict[str, Any]] = json.loads(run.out)["findings"]
    return findings


def test_several_priorities_are_refused_at_the_first_other_one(cli: Cli, tmp_path: Path) -> None:
    tree = chain(2, FLOWS)
    tree["flows"][3]["priority"] = 4
    assert [one["path"] for one in refused(tree, cli, tmp_path)] == ["flows[3].priority"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("watchdog", {"detection_ns": 10**9, "restoration_ns": 10**9, "poll_ns": 10**8}), ("egress_pool_bytes", 100_000)],
)
def test_limits_and_watchdogs_are_refused_where_they_are_set(key: str, value: Any, cli: Cli, tmp_path: Path) -> None:
    tree = chain(2, FLOWS)
    tree["links"][-1]["b_buffers"] = {key: value}
    tree["nodes"][-1][key] = value
    last = len(tree["links"]) - 1
    paths = {f"nodes[{len(tree['nodes']) - 1}].{key}", f"links[{last}].b_buffers.{key}"}
    assert {one["path"] for one in refused(tree, cli, tmp_path)} == paths


def test_findings_are_located_in_the_scenario_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(chain(2, FLOWS)))
    run = cli("-q", "simulate", "congestion", "--scenario", str(file), "--format", "json")
    found = json.loads(run.out)["findings"]
    assert found
    assert {one["location"]["file"] for one in found} == {str(file)}
