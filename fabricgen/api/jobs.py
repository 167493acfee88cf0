"""Jobs files in the analyses of traffic."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.coverage import add_coverage
from fabricgen.api.judgement import Judging, Progress, codes_of
from fabricgen.api.subnets import SubnetOptions, forwarding_of
from fabricgen.errors import UsageError
from fabricgen.results import CongestionResult
from fabricgen.units import counted
from fabricgen.vocabulary import BalanceMode, HashModel

if TYPE_CHECKING:
    from fabricgen.simulate.jobs.options import JobsOptions
    from fabricgen.simulate.outages.options import OutageOptions as OutageOptions
    from fabricgen.simulate.patterns.job import Order
    from fabricgen.simulate.workload import JobPlanes, JobsFile

SEARCH = "search"  # a placement that is proposed
FAMILY, CODES = "FG7", ("FG79",)


@dataclass(frozen=True)
class JobsSource:
    """A jobs file, or None for one job on all compute hosts. `pattern`, `size_bytes` and `placement` are those of jobs
    without their own."""

    file: Path | None
    pattern: str
    size_bytes: int
    placement: "Order"

    def read(self) -> "JobsFile":
        """The jobs. Raises UnreadableInputError for a file that is not YAML, UsageError for a list of hosts or a trace
        beside a file."""
        from fabricgen.simulate.patterns import Placement
        from fabricgen.simulate.workload import read_jobs, whole_fabric
        from fabricgen.vocabulary import TRACE

        if self.pattern.startswith(TRACE):
            raise UsageError("a trace has its hosts and sizes: give it without --jobs-file and search")
        if self.file is None:
            return whole_fabric(self.pattern, self.size_bytes)
        if not isinstance(self.placement, Placement):
            raise UsageError("a jobs file has the hosts of its jobs: --placement cannot be a list of hosts")
        return read_jobs(self.file, self.pattern, self.size_bytes, self.placement)


def planes_of_jobs(
    judging: Judging,
    source: JobsSource,
    seed: int,
    plane: str | None,
    subnets: SubnetOptions,
    queue_pairs: int | None,
    hash_model: HashModel,
    balance: BalanceMode | None = None,
) -> "JobPlanes":
    """The jobs on their planes; the mistakes of the file are findings of `judging`."""
    from fabricgen.simulate.patterns import uses_storage
    from fabricgen.simulate.workload import jobs_on_planes

    read = source.read()
    storage = {uses_storage(one.pattern) for one in read.jobs} or {False}
    for stored in sorted(storage):
        add_coverage(judging, plane, to_storage=stored)
        forwarding = forwarding_of(judging, subnets, plane, to_storage=stored)  # adds tables to those of before
    found = jobs_on_planes(judging.bundle, read, seed, plane, forwarding, hash_model, queue_pairs, balance)
    judging.findings += found.mistakes
    judging.codes |= codes_of(*CODES)
    return found


def simulate_jobs(
    judging: Judging,
    source: JobsSource,
    options: "JobsOptions",
    failures: "OutageOptions",
    plane: str | None,
    subnets: SubnetOptions,
    save_to: Path | None,
    progress: Progress,
) -> Sequence[CongestionResult]:
    """The results of the planes of jobs, after `failures.depth` failures too; a better placement is written to
    `save_to`. Findings are added to `judging`. Jobs with mistakes are not simulated."""
    jobs = planes_of_jobs(
        judging, source, options.seed, plane, subnets, options.queue_pairs, options.hash_model, options.balance
    )
    if jobs.mistakes:
        return ()
    with progress.stage("jobs"):
        results = _analyse(judging, jobs, options)
    devices = counted(len(judging.bundle.devices), "device")
    progress.step("simulated", f"{counted(len(jobs.placed), 'job')} on {devices}")
    if failures.depth:
        with progress.stage("failures"):
            results = _with_outages(judging, results, failures, jobs)
        progress.step("simulated", f"jobs after up to {counted(failures.depth, 'failure')}")
    if save_to is not None and not _save_proposal(results, save_to):
        progress.note(f"{save_to} is not written: no better placement was found")
    return results


def _analyse(judging: Judging, jobs: "JobPlanes", options: "JobsOptions") -> list[CongestionResult]:
    """The results of the planes; their findings are added to `judging`."""
    from fabricgen.simulate.congestion.findings import congestion_findings
    from fabricgen.simulate.jobs.analysis import analyse_jobs
    from fabricgen.simulate.jobs.findings import job_findings

    results = analyse_jobs(judging.bundle, jobs, options)
    judging.findings += [*congestion_findings(judging.bundle, results), *job_findings(jobs.placed, results)]
    judging.codes |= codes_of(FAMILY)
    return results


def _with_outages(
    judging: Judging, results: Sequence[CongestionResult], options: "OutageOptions", jobs: "JobPlanes"
) -> list[CongestionResult]:
    """The results with those of all sets of 1 to `options.depth` failures, and the jobs that they hit."""
    from fabricgen.simulate.jobs.findings import failure_findings
    from fabricgen.simulate.outages.analysis import analyse_outages
    from fabricgen.simulate.outages.findings import outage_findings

    found = [
        one
        for depth in range(1, options.depth + 1)
        for one in analyse_outages(judging.bundle, replace(options, depth=depth), jobs=jobs)
    ]
    judging.findings += [*outage_findings(judging.bundle, found), *failure_findings(jobs.placed, found)]
    return [replace(one, failures=tuple(each for each in found if each.name == one.name)) for one in results]


def _save_proposal(results: Sequence[CongestionResult], file: Path) -> bool:
    """Write the proposed jobs file; returns whether there is one."""
    from fabricgen.atomic import write_atomically

    for one in results:
        if one.jobs is not None and one.jobs.proposal is not None and one.jobs.proposal.jobs_file:
            write_atomically(file, one.jobs.proposal.jobs_file.encode())
            return True
    return False
