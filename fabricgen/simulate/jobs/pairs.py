"""Which jobs have links in common, and how much each slows the other."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from fabricgen.results import JobPair
from fabricgen.simulate.bandwidth.times import spread_of
from fabricgen.simulate.jobs.sharing import JobLoads, together_ns
from fabricgen.simulate.plane.host_network import HostNetwork


def job_pairs(plane: HostNetwork, names: Sequence[str], draws: Sequence[JobLoads]) -> list[JobPair]:
    """The pairs with common links in the first draw, those that slow each other most first."""
    found = list(_pairs(plane, names, draws))
    return sorted(found, key=lambda one: (-max(one.slowdown.mean, one.other_slowdown.mean), one.job, one.other))


def _pairs(plane: HostNetwork, names: Sequence[str], draws: Sequence[JobLoads]) -> Iterator[JobPair]:
    first = draws[0].needed
    uses = first > 0
    for one, other in combinations(range(len(names)), 2):
        ports = np.flatnonzero(uses[:, one] & uses[:, other])
        if not len(ports):
            continue
        ratios = [_slowdowns(loads.of([one, other])) for loads in draws]
        worst = int(ports[np.argmax(first[ports, one] + first[ports, other])])
        places = Counter(plane.ports.name_of(port)[0] for port in ports.tolist())
        yield JobPair(
            job=names[one],
            other=names[other],
            links=len(ports),
            worst=plane.ports.name_of(worst),
            slowdown=spread_of([pair[0] for pair in ratios]),
            other_slowdown=spread_of([pair[1] for pair in ratios]),
            places=tuple(sorted(places.items(), key=lambda place: (-place[1], place[0]))),
        )


def _slowdowns(loads: JobLoads) -> tuple[float, float]:
    one, other = (together_ns(loads) / np.maximum(loads.alone_ns, 1e-9)).tolist()
    return max(1.0, one), max(1.0, other)
