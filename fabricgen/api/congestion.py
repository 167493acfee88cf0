"""The congestion analysis: which flows delay which, by arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.coverage import add_coverage
from fabricgen.api.jobs import SEARCH, JobsSource, simulate_jobs
from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Judging, Policy, Progress, codes_of, open_judging
from fabricgen.api.outages import with_outages
from fabricgen.api.requests import TrafficRequest, with_connections
from fabricgen.api.subnets import DEFAULT_SUBNETS, SubnetOptions, forwarding_of
from fabricgen.errors import UsageError
from fabricgen.findings import Location
from fabricgen.report.summary import Counts
from fabricgen.results import CongestionModel, CongestionResult
from fabricgen.units import counted
from fabricgen.vocabulary import TRACE

if TYPE_CHECKING:
    from fabricgen.simulate.bandwidth.sizes import SizesOptions
    from fabricgen.simulate.congestion.analysis import CongestionOptions


FAMILY = "FG7"


@dataclass(frozen=True, kw_only=True)
class CongestionSimulation(Judgement):
    """`planes` are the results, worst first; of a scenario there is one."""

    planes: tuple[CongestionResult, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CongestionRequest(TrafficRequest):
    """The analysis of a pattern, by default of 256 MiB a rank.

    `placement` is aligned, fragmented, the hosts in the order of their ranks, or search: a better one is proposed, and
    written to `save_jobs`. `failures` (0 to 2; None: 1 with `switch_failures`): what all sets of up to this many links
    between switches, with `switch_failures` of switches too, leave of the bandwidth after BGP has converged. `sizes`
    are buffers in bytes: the bandwidth for each, of `pattern` or of all collectives. Without `follow` flows are not
    followed to their completion: the results have loads only.
    """

    placement: str | Sequence[str] = "aligned"
    save_jobs: Path | None = None
    failures: int | None = None
    switch_failures: bool = False
    sizes: Sequence[int] = ()
    follow: bool = True

    @property
    def most_failures(self) -> int:
        """The failures at a time, with their default."""
        return int(self.switch_failures) if self.failures is None else self.failures


def simulate_congestion(
    request: CongestionRequest, *, policy: Policy = DEFAULT_POLICY, progress: Progress = SILENT
) -> CongestionSimulation:
    """Compute link loads, fair rates, congestion trees and victims of a traffic pattern, per plane.

    See `validate` for the other arguments and the errors.
    """
    from fabricgen.simulate.bandwidth.sizes import COLLECTIVES
    from fabricgen.simulate.bandwidth.sizes import SizesOptions as SizeOptions
    from fabricgen.simulate.congestion.analysis import CongestionOptions
    from fabricgen.simulate.jobs.analysis import PATTERN
    from fabricgen.simulate.jobs.options import JobsOptions as JobOptions
    from fabricgen.simulate.outages.options import OutageOptions as OutageOptions
    from fabricgen.simulate.patterns import DEFAULT_BYTES, DEFAULT_PATTERN, check_pattern, read_order

    name = request.pattern or DEFAULT_PATTERN
    seed, draws, balance = request.seed, request.draws, request.balance
    check_pattern(name)
    size = DEFAULT_BYTES if request.size_bytes is None else request.size_bytes
    judging = open_judging(request.paths, request.links, request.lldp, policy, request.neighbors)
    request, connections = with_connections(request, judging.bundle)
    judging.findings += connections
    hashed = request.queue_pairs, request.hash_model
    if request.jobs_file is not None or request.placement == SEARCH:
        if request.sizes:
            raise UsageError("--sizes: jobs have their sizes: give it without --jobs-file and search")
        searches = request.placement == SEARCH
        order = read_order("aligned" if searches else request.placement)
        results = simulate_jobs(
            judging,
            JobsSource(request.jobs_file, name, size, order),
            JobOptions(*hashed, balance, seed, draws, search=searches),
            OutageOptions(PATTERN, request.most_failures, request.switch_failures, seed=seed, draws=draws),
            request.plane,
            request.subnets,
            request.save_jobs,
            progress,
        )
        _draw(request.svg, results)
        return _judgement(judging, results, request.inventory)
    with progress.stage(name):
        ranks = read_order(request.placement)
        basic = CongestionOptions(
            name, size, ranks, request.queue_pairs, seed, draws, hash_model=request.hash_model, each_link=True,
            balance=balance, follow=request.follow,
        )  # fmt: skip
        results = analyse(judging, basic, request.plane, request.subnets)
    progress.step("simulated", f"{name} on {counted(len(judging.bundle.devices), 'device')}")
    if request.most_failures:
        chosen = OutageOptions(
            name, request.most_failures, request.switch_failures, size, ranks, *hashed, seed, draws, balance
        )
        with progress.stage("failures"):
            results = with_outages(judging, results, chosen, request.plane)
        progress.step("simulated", f"{name} after up to {counted(request.most_failures, 'failure')}")
    if request.sizes:
        patterns = (name,) if request.pattern else COLLECTIVES
        options = SizeOptions(request.sizes, patterns, ranks, *hashed, seed, draws, balance)
        with progress.stage("sizes"):
            results = with_sizes(judging, results, options, request.plane, request.subnets)
        progress.step("simulated", counted(len(request.sizes), "size"))
    _draw(request.svg, results)
    return _judgement(judging, results, request.inventory)


def _judgement(judging: Judging, results: Sequence[CongestionResult], inventory: Path | None) -> CongestionSimulation:
    return CongestionSimulation(**judging.judged(judging.outcome(inventory)), planes=tuple(results))


def simulate_congestion_of_scenario(file: Path, *, svg: Path | None = None) -> CongestionSimulation:
    """Compute the same for the flows and routes of a scenario file.

    Each mistake in the file, and each setting that the model does not have, is a finding. Such a file is not
    simulated, so the result has findings only.
    """
    from fabricgen.simulate.congestion.analysis import analyse_scenario
    from fabricgen.simulate.congestion.findings import congestion_findings
    from fabricgen.simulate.congestion.refused import refused_parts
    from fabricgen.simulate.scenario import check_scenario, read_scenario

    if mistakes := check_scenario(file) or refused_parts(file):
        return CongestionSimulation(findings=tuple(mistakes))
    scenario = read_scenario(file)
    results = [analyse_scenario(scenario)]
    _draw(svg, results)
    place = Location(str(file))
    return CongestionSimulation(
        findings=tuple(replace(one, location=place) for one in congestion_findings(None, results)),
        counts=Counts(sum(node.kind == "switch" for node in scenario.nodes), len(scenario.links)),
        codes=codes_of(FAMILY),
        planes=tuple(results),
    )


def analyse(
    judging: Judging,
    options: "CongestionOptions",
    plane: str | None = None,
    subnets: SubnetOptions = DEFAULT_SUBNETS,
    *,
    report_skipped: bool = True,
) -> Sequence[CongestionResult]:
    """The results of the planes, worst first; their findings are added to `judging`."""
    from fabricgen.simulate.congestion.analysis import analyse_congestion
    from fabricgen.simulate.congestion.findings import congestion_findings
    from fabricgen.simulate.patterns import uses_storage

    add_coverage(judging, plane, to_storage=uses_storage(options.pattern))
    forwarding = forwarding_of(judging, subnets, plane, to_storage=uses_storage(options.pattern))
    results = analyse_congestion(judging.bundle, options, plane, forwarding)
    computed = [one for one in results if one.model is not CongestionModel.SKIPPED]
    # Planes for other traffic are findings only if nothing has a verdict.
    reported = [one for one in results if not (one.is_for_others and computed)] if report_skipped else computed
    judging.findings += congestion_findings(judging.bundle, reported)
    judging.codes |= codes_of(FAMILY)
    return results


def _draw(folder: Path | None, results: Sequence[CongestionResult]) -> None:
    if folder is None:
        return
    from fabricgen.report.congestion_svg import tree_pictures
    from fabricgen.report.picture_folder import write_pictures

    write_pictures(folder, {name: picture.encode() for name, picture in tree_pictures(results)})


# Bandwidth by message size in the congestion analysis.


def with_sizes(
    judging: Judging,
    results: Sequence[CongestionResult],
    options: "SizesOptions",
    plane: str | None,
    subnets: SubnetOptions,
) -> list[CongestionResult]:
    """The results of planes with the tables of bandwidths by size. Raises UsageError for a trace."""
    from fabricgen.simulate.bandwidth.sizes import analyse_sizes
    from fabricgen.simulate.patterns import uses_storage

    if any(pattern.startswith(TRACE) for pattern in options.patterns):
        raise UsageError("--sizes: the messages of a trace have sizes already")
    storage = any(map(uses_storage, options.patterns))
    forwarding = forwarding_of(judging, subnets, plane, to_storage=storage)
    found = analyse_sizes(judging.bundle, options, plane, forwarding)
    return [replace(one, sizes=tuple(each for each in found if each.name == one.name)) for one in results]
