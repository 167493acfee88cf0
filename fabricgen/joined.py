"""Connected components of a network."""

from collections.abc import Iterable


def joined(nodes: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The connected components of the nodes: each group contains the nodes that pairs connect, directly or indirectly.

    Groups and their members keep the order of `nodes`. Nodes that only pairs name come last.
    """
    above = {node: node for node in nodes}

    def root(node: str) -> str:
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    for pair in pairs:
        for node in pair:
            above.setdefault(node, node)
        above[root(pair[0])] = root(pair[1])
    groups: dict[str, list[str]] = {}
    for node in above:
        groups.setdefault(root(node), []).append(node)
    return list(groups.values())
