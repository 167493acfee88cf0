"""Equal next hops, and the ways to spread over them and to recover from losses, in random scenarios."""

import random
from typing import Any

Tree = dict[str, Any]

RECOVERIES = ("go-back-n", "selective-repeat", "in-order-placement")


def with_spreading(tree: Tree, draw: random.Random) -> Tree:
    """The scenario with several next hops, a way to select among them, and adapters that keep packets out of order:
    all of this in half of the cases."""
    if draw.random() < 0.5:
        return tree
    leaves = [node["name"] for node in tree["nodes"] if node["name"][0] == "l"]
    if len(leaves) > 1:
        _add_spines(tree, leaves, draw)
        tree["balance"] = _balance(draw)
        tree["routes"] = _spread(tree["routes"], tree, draw)
        for failure in tree.get("failures", ()):
            if draw.random() < 0.5 and failure.get("routes"):
                failure["routes"] = _spread(failure["routes"], tree, draw, failing=failure)
            if draw.random() < 0.5:
                failure["routes_at_ns"] = failure["at_ns"] + draw.choice((0, 1, 20_000, draw.randint(0, 300_000)))
                if "up_at_ns" in failure:
                    earliest = max(failure["up_at_ns"], failure["routes_at_ns"] + 1)
                    failure["routes_back_at_ns"] = earliest + draw.choice((0, 1, 30_000))
    if draw.random() < 0.5:
        _trim(tree, draw)
    if draw.random() < 0.7:
        tree["transport"]["recovery"] = draw.choice(RECOVERIES)
        tree["transport"]["window_packets"] = draw.choice((64, 64, 128, 1024))
    for node in tree["nodes"]:
        if node["kind"] == "host" and draw.random() < 0.2:
            node["recovery"] = draw.choice(RECOVERIES)
    return tree


def _trim(tree: Tree, draw: random.Random) -> None:
    tree["trimming"] = {"bytes": draw.choice((64, 100, 256, 1000)), "priority": draw.choice((1, 2, 6, 7, 3))}
    for node in tree["nodes"]:
        if node["kind"] == "switch" and draw.random() < 0.8:
            node["trims"] = True
    for one in tree["classes"]:
        one["lossless"] = one["lossless"] and draw.random() < 0.5


def _add_spines(tree: Tree, leaves: list[str], draw: random.Random) -> None:
    spines = [node["name"] for node in tree["nodes"] if node["name"][0] == "s"]
    home = {route["to"]: route["at"] for route in tree["routes"] if route["via"] == route["to"]}
    known = [link for link in tree["links"] if link["a"][0] == "l" or link["b"][0] == "l"]
    for number in range(len(spines), draw.randint(len(spines), 4)):
        name = f"s{number}"
        tree["nodes"].append({"name": name, "kind": "switch"})
        for leaf in leaves:
            like = draw.choice(known)
            tree["links"].append({"a": leaf, "b": name, **{key: like[key] for key in ("speed_gbps", "delay_ns")}})
        tree["routes"] += [{"at": name, "to": host, "via": leaf} for host, leaf in sorted(home.items())]


def _spread(routes: list[Tree], tree: Tree, draw: random.Random, failing: Tree | None = None) -> list[Tree]:
    """The routes of leaves to a spine by several spines, except over a link that fails."""
    dead = {failing["a"], failing["b"]} if failing else set()
    spines = sorted(node["name"] for node in tree["nodes"] if node["name"][0] == "s")
    found = []
    for route in routes:
        if route["at"][0] != "l" or route["via"] not in spines or draw.random() < 0.1:
            found.append(route)
            continue
        able = [spine for spine in spines if not dead & set(spines) or spine not in dead]
        chosen = draw.sample(able, draw.randint(1, len(able)))
        weights = draw.random() < 0.2
        found += [{**route, "via": spine, **({"weight": draw.randint(1, 4)} if weights else {})} for spine in chosen]
    return found


def _balance(draw: random.Random) -> Tree:
    given: Tree = {"mode": draw.choice(("ecmp", "flowlet", "adaptive", "adaptive", "spray"))}
    if given["mode"] == "adaptive":
        given["per"] = draw.choice(("packet", "flowlet"))
    if given["mode"] == "spray":
        given["order"] = draw.choice(("random", "round-robin"))
    if draw.random() < 0.8:
        given["flowlet_gap_ns"] = draw.choice((0, 1, 500, 5000, 50_000))
        given["max_flows"] = draw.choice((1, 2, 7, 512))
    if draw.random() < 0.5:
        given["bands_bytes"] = sorted(draw.sample(range(1, 100_000), draw.randint(1, 5)))
    return given
