"""Jobs of a jobs file on the planes of a bundle."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.results import CongestionModel, CongestionResult, JobBlock, JobsResult, JobTime, Spread
from fabricgen.simulate.bandwidth.analysis import gpus_of_node
from fabricgen.simulate.bandwidth.bus import bus_bytes
from fabricgen.simulate.bandwidth.times import spread_of
from fabricgen.simulate.congestion.options import CongestionOptions as CongestionOptions
from fabricgen.simulate.congestion.plane_load import JudgedMessages, empty_result, judge_messages
from fabricgen.simulate.congestion.trees import crossing, delaying
from fabricgen.simulate.congestion.verdict import CongestionVerdict
from fabricgen.simulate.jobs.advice import advice_of
from fabricgen.simulate.jobs.loads import drawn_loads, even_loads, line_ns
from fabricgen.simulate.jobs.options import MOST_FOLLOWED, MOST_MESSAGES, JobsOptions
from fabricgen.simulate.jobs.pairs import job_pairs
from fabricgen.simulate.jobs.search import propose
from fabricgen.simulate.jobs.sharing import JobLoads, jain, together_ns
from fabricgen.simulate.patterns import Job, uses_storage
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Floats, Ints, Ports
from fabricgen.simulate.plane.queues import marks
from fabricgen.simulate.workload import JobPlanes, Mix, PlacedJob, PlaneSite, mix_of
from fabricgen.units import counted

PATTERN = "jobs"  # of a result, in place of one pattern


def analyse_jobs(bundle: Bundle, planes: JobPlanes, options: JobsOptions) -> list[CongestionResult]:
    """One result for each plane with jobs, the worst first: the congestion of all jobs together, and `jobs`.

    Raises UsageError for jobs with too many messages.
    """
    skipped = [
        CongestionResult(PATTERN, CongestionModel.SKIPPED, name=name, seed=options.seed, reason=reason)
        for name, reason in planes.skipped.items()
    ]
    found = [
        _PlaneJobs(bundle, network, planes.sites[name], planes.on(name), options).result()
        for name, network in planes.networks.items()
        if planes.on(name)
    ]
    found = [replace(one, ecn=_marks(bundle, planes, one.name)) for one in found]
    found.sort(key=_worst_first)
    if options.search and found:
        found[0] = _with_proposal(planes, found[0], options)
    return [*found, *skipped]


def _marks(bundle: Bundle, planes: JobPlanes, name: str) -> bool:
    """Whether a queue of the plane marks packets."""
    fabric = planes.fabrics.get(name)
    return fabric is not None and any(marks(bundle.devices[switch]) for switch in fabric.names)


def _with_proposal(planes: JobPlanes, one: CongestionResult, options: JobsOptions) -> CongestionResult:
    """The result of the plane where jobs slow each other most, with a better placement on it."""
    assert one.jobs is not None
    proposal = propose(planes.networks[one.name], planes.sites[one.name], planes.placed, one.name, options)
    return replace(one, jobs=replace(one.jobs, proposal=proposal))


def _worst_first(one: CongestionResult) -> tuple[float, str]:
    assert one.jobs is not None
    return -max(job.slowdown.mean for job in one.jobs.jobs), one.name


@dataclass(frozen=True)
class JobDraws:
    """Per draw and job (draws x jobs) the time alone and with all, in ns; the loads of each draw."""

    loads: Sequence[JobLoads]
    alone_ns: Floats
    together_ns: Floats

    @staticmethod
    def of(plane: HostNetwork, mix: Mix, seeds: range) -> "JobDraws":
        """Over the draws of `seeds`; `mix` is split over queue pairs. Where routing follows the load, the paths of
        each job alone are drawn anew."""
        loads = [drawn_loads(plane, mix, seed) for seed in seeds]
        alone = [own_alone_ns(plane, mix, seed) if plane.is_loaded else one.alone_ns
                 for one, seed in zip(loads, seeds, strict=True)]  # fmt: skip
        return JobDraws(loads, np.array(alone), np.array([together_ns(one) for one in loads]))


def own_alone_ns(plane: HostNetwork, mix: Mix, seed: int) -> Floats:
    """The time of each job on an empty plane."""
    found = np.zeros(len(mix.jobs))
    for job in range(len(mix.jobs)):
        own = mix.owner == job
        only = replace(mix, messages=mix.messages.only(own), owner=mix.owner[own])
        found[job] = drawn_loads(plane, only, seed).alone_ns[job]
    return found


class _PlaneJobs:
    def __init__(
        self, bundle: Bundle, plane: HostNetwork, site: PlaneSite, placed: Sequence[PlacedJob], options: JobsOptions
    ) -> None:
        self.bundle, self.plane, self.site, self.placed, self.options = bundle, plane, site, placed, options
        self.whole = mix_of(plane.adapters, placed, options.seed)
        if len(self.whole) > MOST_MESSAGES:
            raise UsageError(f"the jobs have {len(self.whole)} messages, the most are {MOST_MESSAGES}")
        self.mix = self.whole.split(options.queue_pairs or plane.queue_pairs)

    def result(self) -> CongestionResult:
        options = self.options
        judged = self._congestion()
        draws = JobDraws.of(self.plane, self.mix, range(options.seed, options.seed + options.draws))
        jobs = self._jobs(draws, judged)
        names = [one.name for one in self.placed]
        pairs = job_pairs(self.plane, names, draws.loads)
        blocks = []
        if judged.verdict is not None:
            blocks = job_blocks(self.plane.ports, names, self.mix.owner[judged.drawn.arrived], judged.verdict)
        shares = [_shares(one, every) for one, every in zip(draws.alone_ns, draws.together_ns, strict=True)]
        taken = {host for one in self.placed for host in one.hosts}
        found = JobsResult(
            name=self.plane.name,
            draws=options.draws,
            hosts=len(taken),
            free_hosts=len(self.site.hosts) - len(taken & set(self.site.hosts)),
            jobs=jobs,
            fairness=spread_of([round(jain(one), 4) for one in shares]),
            least_share=spread_of([round(float(one.min(initial=1.0)), 4) for one in shares]),
            pairs=tuple(pairs),
            blocks=tuple(blocks),
            advice=advice_of(self.site, self.placed, pairs, blocks),
            reason="" if judged.verdict is not None or not len(self.mix) else self._not_followed(),
        )
        return replace(judged.result, jobs=found)

    def _congestion(self) -> JudgedMessages:
        """The flows of all jobs in the first draw, with their pauses."""
        options = self.options
        # rates while all jobs run: to follow jobs of very different sizes to their ends would cost minutes
        chosen = CongestionOptions(
            pattern=PATTERN, seed=options.seed, draws=options.draws, hash_model=options.hash_model,
            each_link=options.each_link, most_finite=0,
        )  # fmt: skip
        basic = empty_result(self.plane, chosen)
        stood_in = [
            one.name
            for one, ranks in zip(self.placed, self.mix.ranks, strict=True)
            if ranks.stand_in and uses_storage(one.request.pattern)
        ]
        if stood_in:
            what = f"the plane has no storage hosts: compute hosts take their role for {', '.join(stood_in)}"
            basic = replace(basic, reason=what)
        return judge_messages(self.plane, self.mix.messages, chosen, basic, follow=self._followed())

    def _followed(self) -> bool:
        return self.options.pauses and len(self.mix) <= MOST_FOLLOWED

    def _not_followed(self) -> str:
        if self.plane.is_sprayed:
            return "pauses are not followed: each packet selects its path"
        return f"pauses are not followed: {counted(len(self.mix), 'flow')}, the most are {MOST_FOLLOWED}"

    def _jobs(self, draws: JobDraws, judged: JudgedMessages) -> tuple[JobTime, ...]:
        even = even_loads(self.plane, self.whole)
        even_ratio = _ratio(even.alone_ns, together_ns(even))
        owner = self.mix.owner[judged.drawn.arrived]
        lost = np.bincount(self.mix.owner[~judged.drawn.arrived], minlength=len(self.placed))
        line = line_ns(self.plane, self.whole)
        found = []
        for number, (one, ranks) in enumerate(zip(self.placed, self.mix.ranks, strict=True)):
            alone, together = draws.alone_ns[:, number], draws.together_ns[:, number]
            bus = self._bus_bytes(one, ranks)
            asked = one.request
            found.append(
                JobTime(
                    name=one.name,
                    pattern=asked.pattern,
                    size_bytes=asked.size_bytes,
                    repetitions=asked.repetitions,
                    start_ns=asked.start_ns,
                    hosts=one.hosts,
                    units=tuple(Counter(self.site.unit[host].name for host in one.hosts).items()),
                    rails=asked.rails,
                    messages=int((self.whole.owner == number).sum()),
                    line_ns=round(float(line[number]), 1),
                    alone_ns=_rounded(alone),
                    together_ns=_rounded(together),
                    slowdown=spread_of(np.round(_ratio(alone, together), 4).tolist()),
                    even_slowdown=round(float(even_ratio[number]), 4),
                    alone_bus_gbytes=_bandwidth(bus, alone),
                    together_bus_gbytes=_bandwidth(bus, together),
                    pause_slowdown=_pause_slowdown(judged, owner == number),
                    lost=int(lost[number]),
                )
            )
        return tuple(found)

    def _bus_bytes(self, one: PlacedJob, ranks: Job) -> float | None:
        gpus = len(one.request.rails) or gpus_of_node(self.bundle, self.plane, ranks)
        return bus_bytes(one.request.pattern, ranks, one.request.sent_bytes, gpus)


def _pause_slowdown(judged: JudgedMessages, own: Flags) -> float | None:
    """The time of a job's last flow under PFC over that under fair sharing."""
    if judged.verdict is None or not own.any():
        return None
    last, fair = float(judged.verdict.time_ns[own].max()), float(judged.verdict.ideal_ns[own].max())
    return round(max(1.0, last / fair), 4)


def _ratio(alone: Floats, together: Floats) -> Floats:
    """The slowdown; 1 for a job that sends nothing."""
    found: Floats = np.maximum(np.divide(together, alone, out=np.ones_like(alone), where=alone > 0), 1.0)
    return found


def _shares(alone: Floats, together: Floats) -> Floats:
    """The bandwidth of each job that sends, over that alone."""
    found: Floats = 1.0 / _ratio(alone, together)[alone > 0]
    return found


def _rounded(times: Floats) -> Spread:
    return spread_of(np.round(times, 1).tolist())


def _bandwidth(bus: float | None, times: Floats) -> Spread | None:
    if bus is None:
        return None
    return spread_of([bus / time if time else 0.0 for time in times.tolist()])


# Head-of-line blocking between jobs: flows that wait behind the pauses of a port that only other jobs use.


def job_blocks(ports: Ports, names: Sequence[str], owner: Ints, verdict: CongestionVerdict) -> list[JobBlock]:
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
