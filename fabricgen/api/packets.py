"""The packet simulation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.coverage import add_coverage
from fabricgen.api.jobs import JobsSource, planes_of_jobs
from fabricgen.api.judgement import (
    DEFAULT_POLICY,
    SILENT,
    Judgement,
    Judging,
    Policy,
    Progress,
    codes_of,
    open_judging,
    outcome_of_inventory,
)
from fabricgen.api.requests import TrafficRequest, with_connections
from fabricgen.api.subnets import forwarding_of
from fabricgen.findings import Location
from fabricgen.quantities import time_text
from fabricgen.report.summary import Counts
from fabricgen.results import Compat, PacketsResult
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.simulate.packets.failed_link import FailedLink
    from fabricgen.simulate.packets.network import PacketNetwork
    from fabricgen.simulate.packets.simulation import Observer
    from fabricgen.simulate.patterns import Adapter
    from fabricgen.simulate.workload import PlacedJob

CODES = ("FG64", "FG708", "FG720", "FG75", "FG76", "FG79")
DEFAULT_BYTES = 4 * 2**20
_LONG_HOPS = 10_000_000  # a run that takes seconds is announced
_HOPS_PER_S = 4_000_000  # of one processor core, for the estimate


@dataclass(frozen=True, kw_only=True)
class PacketSimulation(Judgement):
    """`runs` are the results, one for each plane; of a scenario there is one."""

    runs: tuple[PacketsResult, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PacketsRequest(TrafficRequest):
    """A packet run of a pattern, by default of 4 MiB a rank.

    The `draws` use `seed` and the next ones, in `jobs` processes. A run of more than `max_hops` packet hops takes a
    slice of the hosts. The pattern runs on each of `priorities` at the same time, by default on the first lossless one.
    `failed` is a link that goes down: only its plane runs. `series` is a folder for time series of the first draw and
    their pictures, `svg` one for the pictures only.
    """

    seed: int = 1
    jobs: int = 1
    max_hops: int | None = None
    priorities: Sequence[int] = ()
    failed: "FailedLink | None" = None
    series: Path | None = None


def simulate_packets(
    request: PacketsRequest, *, policy: Policy = DEFAULT_POLICY, progress: Progress = SILENT
) -> PacketSimulation:
    """Run a traffic pattern packet by packet, per plane.

    See `validate` for the other arguments. Raises UsageError if numba is not installed.
    """
    from fabricgen.simulate.packets import prepare
    from fabricgen.simulate.patterns import DEFAULT_PATTERN, Placement, check_pattern, uses_storage
    from fabricgen.simulate.plane.names import require_roce
    from fabricgen.simulate.workload import runs_of

    begin = prepare(progress.note)
    judging = open_judging(request.paths, request.links, request.lldp, policy, request.neighbors)
    request, connections = with_connections(request, judging.bundle)
    judging.findings += connections
    name, plane, subnets = request.pattern or DEFAULT_PATTERN, request.plane, request.subnets
    size_bytes = DEFAULT_BYTES if request.size_bytes is None else request.size_bytes
    check_pattern(name)
    from fabricgen.simulate.packets.analysis import simulate_bundle
    from fabricgen.simulate.packets.ensemble import Draw, draw_of, in_draws, run_draws, with_spread
    from fabricgen.simulate.packets.findings import left_out, packet_findings
    from fabricgen.simulate.packets.probes import probe
    from fabricgen.simulate.packets.slicing import DEFAULT_MAX_HOPS
    from fabricgen.simulate.packets.subnets import choose_subnets

    seed, draws = request.seed, request.draws
    limit = DEFAULT_MAX_HOPS if request.max_hops is None else request.max_hops
    stores = uses_storage(name)
    placed: tuple[PlacedJob, ...] = ()
    adapters: dict[str, Sequence[Adapter]] = {}
    if request.jobs_file is None:
        add_coverage(judging, plane, to_storage=stores)
    else:
        source = JobsSource(request.jobs_file, name, size_bytes, Placement.ALIGNED)
        found_jobs = planes_of_jobs(judging, source, seed, plane, subnets, request.queue_pairs, request.hash_model)
        if found_jobs.mistakes:
            return _outcome(judging, request.inventory)
        name, placed = "jobs", found_jobs.placed
        stores = all(uses_storage(one.request.pattern) for one in placed)
        adapters = {plane_name: site.adapters for plane_name, site in found_jobs.sites.items()}
    for_roce = {"--priorities": request.priorities, "--queue-pairs": request.queue_pairs, "--balance": request.balance}
    if given := [option for option, value in for_roce.items() if value]:
        require_roce(judging.bundle, plane, given, to_storage=stores)
    forwarding = forwarding_of(judging, subnets, plane, to_storage=stores)
    chosen = choose_subnets(judging.bundle, plane, forwarding, to_storage=stores)

    def run_one(own: int) -> Draw:
        """One draw; the first one also probes the ports."""
        watch = _watching(progress, begin, request.series, request.svg) if own == seed else _unwatched
        runs = simulate_bundle(
            judging.bundle, name, size_bytes, plane, own, watch, request.priorities, limit, chosen,
            request.queue_pairs, request.hash_model, placed, request.balance, request.failed,
        )  # fmt: skip
        results = [run.result for run in runs]
        if placed:
            results = [replace(one, jobs=tuple(runs_of(adapters[one.name], placed, one.flows))) for one in results]
        found = [finding for result in results for finding in packet_findings(result, None, judging.bundle)]
        is_first = own == seed
        return draw_of(results, found, probe(judging.bundle, runs) if is_first else (), is_first=is_first)

    drawn = list(run_draws(run_one, range(seed, seed + draws), request.jobs))
    results = with_spread(drawn)
    hops = sum(draw.hops for draw in drawn)
    progress.step("simulated", f"{hops} packet hops in {counted(draws, 'draw')}, and each kind of port")
    judging.findings += [*in_draws(drawn), *drawn[0].probed, *left_out(chosen.left_out)]
    judging.codes |= codes_of(*CODES)
    return _outcome(judging, request.inventory, results)


def _outcome(judging: Judging, inventory: Path | None, results: Sequence[PacketsResult] = ()) -> PacketSimulation:
    return PacketSimulation(**judging.judged(judging.outcome(inventory)), runs=tuple(results))


def simulate_packets_of_scenario(
    file: Path,
    request: PacketsRequest = PacketsRequest(paths=()),
    *,
    compat: Compat | None = None,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> PacketSimulation:
    """Run the flows of a scenario file, with the clock and tie rules of `compat`, by default those of the file.

    Of the request it has `balance`, by default that of the file, `seed` and `draws`, `jobs`, `series` and `svg`. Each
    mistake in the file is a finding. Such a file is not simulated, so the result has findings only.
    """
    from fabricgen.simulate.packets import prepare

    begin = prepare(progress.note)
    from fabricgen.simulate.packets.analysis import simulate_scenario
    from fabricgen.simulate.packets.ensemble import Draw, draw_of, in_draws, run_draws, with_spread
    from fabricgen.simulate.packets.findings import packet_findings
    from fabricgen.simulate.scenario import check_scenario, read_scenario

    if mistakes := check_scenario(file):
        outcome = outcome_of_inventory(mistakes, (), Location, policy)
        return PacketSimulation(findings=outcome.findings, suppressed=outcome.suppressed, codes=codes_of(*CODES))
    scenario, seed = read_scenario(file), request.seed
    if compat is not None:
        scenario = replace(scenario, compat=compat)
    if request.balance is not None:
        scenario = replace(scenario, balance=replace(scenario.balance, mode=request.balance))
    place = Location(str(file))

    def run_one(own: int) -> Draw:
        watch = _watching(progress, begin, request.series, request.svg) if own == seed else _unwatched
        result = simulate_scenario(scenario, own, watch)
        return draw_of([result], packet_findings(result, place), is_first=own == seed)

    drawn = list(run_draws(run_one, range(seed, seed + request.draws), request.jobs))
    (result,) = with_spread(drawn)
    hops = f"{time_text(result.simulated_ns)}, {result.wire_transmissions} packet hops"
    progress.step("simulated", hops)
    outcome = outcome_of_inventory(in_draws(drawn), (), Location, policy)
    switches = sum(node.kind == "switch" for node in scenario.nodes)
    return PacketSimulation(
        findings=outcome.findings,
        suppressed=outcome.suppressed,
        counts=Counts(devices=switches, links=len(scenario.links)),
        codes=codes_of(*CODES),
        runs=(result,),
    )


def _watching(
    progress: Progress, begin: Callable[[], None], series: Path | None, svg: Path | None
) -> "Callable[[PacketNetwork], Sequence[Observer]]":
    """The observers of each run: those of the caller, and a writer of time series. A further plane has a subfolder."""
    runs = 0

    def observers(network: "PacketNetwork") -> "Sequence[Observer]":
        nonlocal runs
        runs += 1
        begin()
        hops = network.expected_hops
        if hops >= _LONG_HOPS:
            took = f"about {hops / 1e6:.0f} million packet hops, {hops / _HOPS_PER_S:.0f} s"
            progress.note(f"{network.scenario.name}: {took}")
        below = "." if runs == 1 else network.scenario.name
        folders = {folder / below: suffix for folder, suffix in ((series, ""), (svg, ".svg")) if folder is not None}
        return [*progress.watch(network), *([SeriesWriter(network, folders)] if folders else [])]

    return observers


def _unwatched(_: "PacketNetwork") -> "Sequence[Observer]":
    return ()


class SeriesWriter:
    """An observer that samples a run, and writes the files with a suffix into each folder when the run is over."""

    def __init__(self, network: "PacketNetwork", folders: Mapping[Path, str]) -> None:
        from fabricgen.simulate.packets.series import Sampler

        self._sampler = Sampler(network)
        self._folders = folders

    @property
    def period(self) -> int:
        """The ticks between two samples."""
        return self._sampler.period

    @property
    def first(self) -> int:
        """The tick of the first sample."""
        return self._sampler.first

    def look(self, network: "PacketNetwork") -> None:
        """Take a sample."""
        self._sampler.look(network)

    def close(self) -> None:
        """Write the files."""
        from fabricgen.report.picture_folder import write_pictures
        from fabricgen.report.series import PICTURES, series_files

        self._sampler.close()
        files = dict(series_files(self._sampler.series()))
        for folder, suffix in self._folders.items():
            chosen = {name: content for name, content in files.items() if name.endswith(suffix)}
            write_pictures(folder, chosen, [name for name in PICTURES if name not in files])
