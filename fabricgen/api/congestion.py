"""The congestion analysis: which flows delay which, by arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.coverage import add_coverage
from fabricgen.api.jobs import SEARCH, JobsSource, simulate_jobs
from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Judging, Policy, Progress, codes_of, open_judging
from fabricgen.api.outages import with_outages
from fabricgen.api.sizes import with_sizes
from fabricgen.api.subnets import DEFAULT_SUBNETS, SubnetOptions, forwarding_of
from fabricgen.errors import UsageError
from fabricgen.findings import Location
from fabricgen.report.summary import Counts
from fabricgen.results import CongestionModel, CongestionResult
from fabricgen.units import counted
from fabricgen.vocabulary import BalanceMode, HashModel

if TYPE_CHECKING:
    from fabricgen.simulate.congestion.analysis import CongestionOptions

FAMILY = "FG7"


@dataclass(frozen=True, kw_only=True)
class CongestionSimulation(Judgement):
    """`planes` are the results, worst first; of a scenario there is one."""

    planes: tuple[CongestionResult, ...] = ()


def simulate_congestion(
    paths: Sequence[Path],
    *,
    links: Path | None = None,
    lldp: Path | None = None,
    pattern: str | None = None,
    size_bytes: int | None = None,
    placement: str | Sequence[str] = "aligned",
    queue_pairs: int | None = None,
    hash_model: HashModel = HashModel.DEPLOYED,
    balance: BalanceMode | None = None,
    seed: int = 0,
    draws: int = 1,
    plane: str | None = None,
    subnets: SubnetOptions = DEFAULT_SUBNETS,
    failures: int = 0,
    switch_failures: bool = False,
    sizes: Sequence[int] = (),
    jobs_file: Path | None = None,
    save_jobs: Path | None = None,
    svg: Path | None = None,
    inventory: Path | None = None,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> CongestionSimulation:
    """Compute link loads, fair rates, congestion trees and victims of a traffic pattern, per plane or for one `plane`.

    `pattern` is a name of `fabricgen.simulate.patterns`, by default ring-all-reduce. `size_bytes` is the buffer of one
    rank, by default 256 MiB. `placement` is aligned, fragmented, the hosts in the order of their ranks, or
    search: a better one is proposed, and written to `save_jobs`.
    `queue_pairs` is their number per connection, each of which is hashed; None: that of the files of the hosts.
    `hash_model` is what switches compute, `balance` how they spread packets (None: as fabric.json says). `seed` is that
    of queue pair numbers, shuffles and permutations. `draws` is how many sets of these numbers are drawn for the spread
    of the load. `subnets` are the options of InfiniBand planes. `failures` (0 to 2): what all sets of up to this many
    links between switches, with `switch_failures` of switches too, leave of the bandwidth after BGP has converged.
    `sizes` are buffers in bytes: the bandwidth for each, of `pattern` or of all collectives. `jobs_file` has several
    jobs that run at the same time; `pattern`, `size_bytes` and `placement` are those of jobs without their own. `svg`
    is a folder for
    pictures of the congestion trees. See `validate` for the other arguments and the errors.
    """
    from fabricgen.simulate.bandwidth.sizes import COLLECTIVES
    from fabricgen.simulate.bandwidth.sizes import SizesOptions as SizeOptions
    from fabricgen.simulate.congestion.analysis import CongestionOptions
    from fabricgen.simulate.jobs.analysis import PATTERN
    from fabricgen.simulate.jobs.options import JobsOptions as JobOptions
    from fabricgen.simulate.outages.options import OutageOptions as OutageOptions
    from fabricgen.simulate.patterns import DEFAULT_BYTES, DEFAULT_PATTERN, check_pattern, read_order

    name = pattern or DEFAULT_PATTERN
    check_pattern(name)
    size = DEFAULT_BYTES if size_bytes is None else size_bytes
    judging = open_judging(paths, links, lldp, policy)
    if jobs_file is not None or placement == SEARCH:
        if sizes:
            raise UsageError("--sizes: jobs have their sizes: give it without --jobs-file and search")
        order = read_order("aligned" if placement == SEARCH else placement)
        results = simulate_jobs(
            judging,
            JobsSource(jobs_file, name, size, order),
            JobOptions(queue_pairs, hash_model, balance, seed, draws, search=placement == SEARCH),
            OutageOptions(PATTERN, failures, switch_failures, seed=seed, draws=draws),
            plane,
            subnets,
            save_jobs,
            progress,
        )
        _draw(svg, results)
        return _judgement(judging, results, inventory)
    with progress.stage(name):
        ranks = read_order(placement)
        basic = CongestionOptions(
            name, size, ranks, queue_pairs, seed, draws, hash_model=hash_model, each_link=True, balance=balance
        )
        results = analyse(judging, basic, plane, subnets)
    progress.step("simulated", f"{name} on {counted(len(judging.bundle.devices), 'device')}")
    if failures:
        chosen = OutageOptions(
            name, failures, switch_failures, size, ranks, queue_pairs, hash_model, seed, draws, balance
        )
        with progress.stage("failures"):
            results = with_outages(judging, results, chosen, plane)
        progress.step("simulated", f"{name} after up to {counted(failures, 'failure')}")
    if sizes:
        patterns = (name,) if pattern else COLLECTIVES
        options = SizeOptions(sizes, patterns, ranks, queue_pairs, hash_model, seed, draws, balance)
        with progress.stage("sizes"):
            results = with_sizes(judging, results, options, plane, subnets)
        progress.step("simulated", counted(len(sizes), "size"))
    _draw(svg, results)
    return _judgement(judging, results, inventory)


def _judgement(judging: Judging, results: Sequence[CongestionResult], inventory: Path | None) -> CongestionSimulation:
    outcome = judging.outcome(inventory)
    return CongestionSimulation(
        findings=outcome.findings,
        suppressed=outcome.suppressed,
        counts=judging.counts,
        codes=frozenset(judging.codes),
        planes=tuple(results),
    )


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
    reported = [one for one in results if report_skipped or one.model is not CongestionModel.SKIPPED]
    judging.findings += congestion_findings(judging.bundle, reported)
    judging.codes |= codes_of(FAMILY)
    return results


def _draw(folder: Path | None, results: Sequence[CongestionResult]) -> None:
    if folder is None:
        return
    from fabricgen.report.congestion_svg import tree_pictures
    from fabricgen.report.picture_folder import write_pictures

    write_pictures(folder, {name: picture.encode() for name, picture in tree_pictures(results)})
