"""The far group of each global link of a dragonfly.

All pairs of the G planned groups have equal links: a group numbers its global ports, and each round of G - 1 of them
reaches each other group once. Ports beyond the last whole round are spare. Within a round, port k of group g:

- absolute: to group k, or k + 1 from g on.
- relative: to group g + k + 1 (mod G). Also called palm tree.
- circulant: to group g + k/2 + 1 for an even k, g - (k+1)/2 for an odd one (mod G).

This depends only on the planned groups, so a further group changes no link of the others. The rounds put
parallel links of two groups on distant ports, mostly of different switches.

Sources: Camarero, Vallejo, Beivide, Topological Characterization of Hamming and Dragonfly Networks (2014); Hastings et
al., Comparing Global Link Arrangements for Dragonfly Networks (2015).
"""

from collections.abc import Callable, Iterator, Mapping

# (groups, group, port of a round) -> (group at the far end, its port of the same round)
_FAR_ENDS: Mapping[str, Callable[[int, int, int], tuple[int, int]]] = {
    "absolute": lambda _, group, port: (port, group - 1) if port < group else (port + 1, group),
    "relative": lambda groups, group, port: ((group + port + 1) % groups, groups - 2 - port),
    "circulant": lambda groups, group, port: _circulant(groups, group, port),
}


def links_per_pair(groups: int, ports: int) -> int:
    """Parallel links between any two of `groups` groups with `ports` global ports each; 0 if that is too few."""
    return ports // (groups - 1) if groups > 1 else 0


def global_links(arrangement: str, groups: int, ports: int) -> Iterator[tuple[int, int, int, int]]:
    """(group, port, far group, far port) of every global link, once each, from the lower group to the higher."""
    far_end = _FAR_ENDS[arrangement]
    for number in range(links_per_pair(groups, ports)):
        first = number * (groups - 1)  # port of the round
        for group in range(groups):
            for port in range(groups - 1):
                far, far_port = far_end(groups, group, port)
                if group < far:
                    yield group, first + port, far, first + far_port


def _circulant(groups: int, group: int, port: int) -> tuple[int, int]:
    if port == groups - 2 and groups % 2 == 0:  # half of the ring: both ends have the last port
        return (group + groups // 2) % groups, port
    step = port // 2 + 1
    return ((group + step) % groups, port + 1) if port % 2 == 0 else ((group - step) % groups, port - 1)
