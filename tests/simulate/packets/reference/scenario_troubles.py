"""Slow receivers, storms, failures and watchdogs of random scenarios."""

import random
from collections.abc import Mapping
from typing import Any

Tree = dict[str, Any]

STOP_NS = 2_000_000  # at most: a flow without a way repeats its packets to the end


def with_troubles(tree: Tree, draw: random.Random) -> Tree:
    """The scenario with each of these in about a quarter of the cases."""
    hosts = [node["name"] for node in tree["nodes"] if node["kind"] == "host"]
    if draw.random() < 0.3:
        for node in draw.sample(tree["nodes"], len(tree["nodes"])):
            if node["kind"] == "host" and draw.random() < 0.4:
                node["drain_gbps"] = draw.choice((1, 7.3, 25, 100, draw.randint(2, 60)))
                node["receive_buffer_bytes"] = draw.choice((0, 5000, 65_536, draw.randint(1, 400_000)))
    if draw.random() < 0.25:
        tree["storms"] = [
            {"host": host, "at_ns": at, "until_ns": at + draw.choice((1, 3000, 100_000, draw.randint(1, 2_000_000)))}
            for host in draw.sample(hosts, draw.randint(1, 2))
            for at in [draw.choice((0, draw.randint(0, 300_000)))]
        ]
    if draw.random() < 0.3:
        tree["failures"] = [_failure(tree, draw) for _ in range(draw.choice((1, 1, 2)))]
    if draw.random() < 0.4:
        for node in tree["nodes"]:
            if node["kind"] == "switch" and draw.random() < 0.8:
                node["watchdog"] = _watchdog(draw)
    tree["stop_ns"] = min(tree["stop_ns"], STOP_NS)
    return tree


def _watchdog(draw: random.Random) -> Tree:
    poll = draw.choice((1000, 7777, 20_000, 100_000))
    return {
        "poll_ns": poll,
        "detection_ns": poll * draw.choice((1, 2, 5)) + draw.choice((0, 1, 300)),
        "restoration_ns": draw.choice((0, poll, 3 * poll + 1, 500_000)),
        "action": draw.choice(("drop", "drop", "forward", "alert")),
    }


def _failure(tree: Tree, draw: random.Random) -> Tree:
    """A link that goes down. Leaves then use another spine; a spine without a way sends by another leaf, or still to
    the dead link."""
    link = draw.choice(tree["links"])
    made: Tree = {"a": link["a"], "b": link["b"], "at_ns": draw.choice((1, draw.randint(0, 400_000)))}
    ends = draw.sample((link["a"], link["b"]), 2)
    leaf, spine = next((end for end in ends if end[0] == "l"), ""), next((end for end in ends if end[0] == "s"), "")
    if leaf and spine:
        made["routes"] = _around(tree, leaf, spine, draw)
    if draw.random() < 0.5:
        made["up_at_ns"] = made["at_ns"] + draw.choice((1, 700, draw.randint(1, 300_000)))
    return made


def _around(tree: Tree, leaf: str, spine: str, draw: random.Random) -> list[Mapping[str, str]]:
    switches = sorted(node["name"] for node in tree["nodes"] if node["kind"] == "switch")
    leaves, spines = ([name for name in switches if name[0] == kind] for kind in "ls")
    others, neighbors = [name for name in spines if name != spine], [name for name in leaves if name != leaf]
    home = {route["to"]: route["at"] for route in tree["routes"] if route["via"] == route["to"]}
    if not others:
        return []
    other = others[0]
    routes = [{"at": leaf, "to": host, "via": other} for host in sorted(home) if home[host] != leaf]
    local = [host for host in sorted(home) if home[host] == leaf]
    routes += [{"at": name, "to": host, "via": other} for name in neighbors for host in local]
    if neighbors and draw.random() < 0.5:
        routes += [{"at": spine, "to": host, "via": draw.choice(neighbors)} for host in local]
    return routes
