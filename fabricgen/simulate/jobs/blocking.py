"""Head-of-line blocking between jobs: flows that wait behind the pauses of a port that only other jobs use."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import JobBlock
from fabricgen.simulate.congestion.trees import crossing, delaying
from fabricgen.simulate.congestion.verdict import Verdict
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Ints, Ports


def job_blocks(ports: Ports, names: Sequence[str], owner: Ints, verdict: Verdict) -> list[JobBlock]:
    """The blocks of one run, the most victims first. `owner` is the job of each of its flows."""
    stage = verdict.stage
    if stage is None or verdict.followed is None or not stage.victims.any():
        return []
    own = owner[verdict.followed]
    path = delaying(stage.flows, stage.late)
    used = _ports_of(stage.flows.path, own, len(names), len(ports))
    victims: dict[tuple[int, int], Flags] = {}
    roots: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for root in np.flatnonzero(stage.found.roots).tolist():
        behind = np.zeros(len(ports), bool)
        behind[stage.found.behind(root)[0]] = True
        held = stage.victims & crossing(path, behind)
        for job in np.unique(own[held & ~used[root][own]]).tolist():
            mine = held & (own == job)
            for by in np.flatnonzero(used[root]).tolist():
                victims[job, by] = victims.get((job, by), np.zeros_like(mine)) | mine
                roots.setdefault((job, by), []).append((int(mine.sum()), -root))
    found = [
        JobBlock(
            job=names[job],
            by=names[by],
            victims=int(victims[job, by].sum()),
            root=ports.name_of(-max(roots[job, by])[1]),
            shares_links=bool((used[:, job] & used[:, by]).any()),
        )
        for job, by in victims
    ]
    return sorted(found, key=lambda one: (-one.victims, one.job, one.by))


def _ports_of(path: NDArray[np.int32], owner: Ints, jobs: int, ports: int) -> Flags:
    """Whether each port is on a path of each job (ports x jobs)."""
    found = np.zeros((ports, jobs), bool)
    flow, hop = (path != NO_PORT).nonzero()
    found[path[flow, hop], owner[flow]] = True
    return found
