"""What hangs together: the parts of a network that links join."""

from collections.abc import Iterable


def joined(nodes: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The nodes in groups that pairs join, directly or over others.

    Groups and members keep the order of the nodes; pairs may name further ones, which come after these.
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
