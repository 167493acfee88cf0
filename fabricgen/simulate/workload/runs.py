"""The jobs of a packet run, from its flows."""

from collections.abc import Sequence

from fabricgen.results import JobRun, PacketFlow
from fabricgen.simulate.patterns import Adapter
from fabricgen.simulate.workload.model import PlacedJob


def runs_of(adapters: Sequence[Adapter], placed: Sequence[PlacedJob], flows: Sequence[PacketFlow]) -> list[JobRun]:
    """The completion of each job. An adapter belongs to one job, except those of storage hosts, which belong to none: a
    flow is that of the job at either end."""
    owner: dict[str, str] = {}
    for one in placed:
        hosts, rails = set(one.hosts), set(one.request.rails)
        owner |= {
            adapter.name: one.name
            for adapter in adapters
            if adapter.host in hosts and (not rails or adapter.rail in rails)
        }
    of_job: dict[str, list[PacketFlow]] = {one.name: [] for one in placed}
    for flow in flows:
        if name := owner.get(flow.src) or owner.get(flow.dst):
            of_job[name].append(flow)
    return [_run(one, of_job[one.name]) for one in placed]


def _run(one: PlacedJob, flows: Sequence[PacketFlow]) -> JobRun:
    ends = [flow.start_ns + flow.fct_ns for flow in flows if flow.fct_ns is not None]
    start = round(one.request.start_ns)
    last = max(ends) - start if flows and len(ends) == len(flows) else None
    return JobRun(one.name, len(flows), len(ends), start, last)
