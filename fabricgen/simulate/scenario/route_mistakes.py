"""Flows of a scenario file that the routes do not bring to their destination, or their answers to the source."""

from collections.abc import Iterator, Mapping
from typing import Any

from fabricgen.simulate.scenario.places import Mistake
from fabricgen.vocabulary import BalanceMode


def route_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """Each switch without a route to a host, and each route that does not arrive, at the first flow that needs it. The
    names in the file exist."""
    hops: dict[tuple[str, str], list[str]] = {}
    for route in tree["routes"]:
        hops.setdefault((route["at"], route["to"]), []).append(route["via"])
    peers: dict[str, list[str]] = {}
    for link in tree["links"]:
        peers.setdefault(link["a"], []).append(link["b"])
        peers.setdefault(link["b"], []).append(link["a"])
    selects = tree.get("balance", {}).get("mode", BalanceMode.ECMP) != BalanceMode.ECMP or any(
        len(set(vias)) > 1 for vias in hops.values()
    )
    visited: dict[str, set[str]] = {}
    for index, flow in enumerate(tree["flows"]):
        for source, target in ((flow["src"], flow["dst"]), (flow["dst"], flow["src"])):
            first = next(iter(peers.get(source, ())), target)  # a host without a link is another mistake
            for problem in _problems(first, target, hops, peers if selects else {}, visited.setdefault(target, set())):
                yield ("flows", index), problem


def _problems(
    first: str, target: str, hops: Mapping[tuple[str, str], list[str]], peers: Mapping[str, list[str]],
    visited: set[str],
) -> Iterator[str]:  # fmt: skip
    """What is wrong on the way from a switch, except at switches that were visited before. With `peers` a switch needs
    no route to its own hosts."""
    waiting, own, arrives = [first], set[str](), False
    while waiting:
        at = waiting.pop()
        if at == target or at in visited:
            arrives = True
        elif at not in own:
            own.add(at)
            vias = [target] if target in peers.get(at, ()) else hops.get((at, target), [])
            if not vias:
                yield f"{at} has no route to {target}"
                arrives = True  # the one mistake of this way
            waiting += vias
    if not arrives:
        yield f"the routes from {first} to {target} lead in a cycle"
    visited |= own
