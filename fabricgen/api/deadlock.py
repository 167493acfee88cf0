"""The deadlock proof."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Judging, Policy, Progress, codes_of, open_judging
from fabricgen.api.requests import SimulationRequest
from fabricgen.atomic import write_atomically
from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.results import DeadlockResult, PacketsResult
from fabricgen.units import counted
from fabricgen.vocabulary import Repair

if TYPE_CHECKING:
    from fabricgen.simulate.deadlock import Failures
    from fabricgen.simulate.deadlock.failures.sweep import Batch, SetJudge, Verdicts


@dataclass(frozen=True)
class FailureOptions:
    """The failures that the proof goes through.

    `depth` is how many links fail at a time, at most; None: 1 with `switches` or local `repair`, otherwise 0. With
    `switches`, switches fail as well. `seed` chooses samples if there are too many sets. The sets are judged by `jobs`
    processes, or by the workers of a Dask `scheduler`, tcp://HOST:PORT.
    """

    depth: int | None = None
    switches: bool = False
    repair: Repair = Repair.NONE
    seed: int = 0
    scheduler: str | None = None
    jobs: int = 1

    @property
    def most_links(self) -> int:
        """The depth, with its default."""
        return int(self.switches or self.repair != Repair.NONE) if self.depth is None else self.depth


@dataclass(frozen=True, kw_only=True)
class DeadlockSimulation(Judgement):
    """`planes` are the verdicts, worst first. `packets` is the run that demonstrates a cycle, if there is one."""

    planes: tuple[DeadlockResult, ...]
    packets: PacketsResult | None = None


@dataclass(frozen=True, kw_only=True)
class DeadlockRequest(SimulationRequest):
    """The proof, also after `failures`.

    `lfts` is a folder of dumped forwarding tables that replace a run of OpenSM. `demonstrate` runs flows around a cycle
    packet by packet. `certificate` and `routes` are files to write: the proof, and the next hops that it rests on.
    """

    failures: FailureOptions = FailureOptions()
    lfts: Path | None = None
    demonstrate: bool = False
    certificate: Path | None = None
    routes: Path | None = None


def simulate_deadlock(
    request: DeadlockRequest, *, policy: Policy = DEFAULT_POLICY, progress: Progress = SILENT
) -> DeadlockSimulation:
    """Prove that no cyclic buffer dependency can exist, or find one, per plane.

    See `validate` for the other arguments and the errors.
    """
    if not request.paths and request.lfts is None:
        raise UsageError("nothing to judge: give a bundle or config_db files, or dumps with --lfts")
    judging = open_judging(request.paths, request.links, request.lldp, policy, request.neighbors)
    if request.lfts is None:
        from fabricgen.simulate.plane.names import require_plane

        require_plane(judging.bundle, request.plane)
    planes = prove(judging, request.plane, request.lfts, request.failures, progress)
    _name_left_out(judging, planes, {"--certificate": request.certificate, "--routes": request.routes})
    _write_proof(judging.bundle, planes, request.certificate, request.routes, request.svg)
    progress.step("simulated", f"routes and buffer dependencies of {counted(len(judging.bundle.devices), 'device')}")
    packets = _demonstrate(judging, planes, progress) if request.demonstrate else None
    return DeadlockSimulation(
        **judging.judged(judging.outcome(request.inventory)),
        planes=tuple(planes),
        packets=packets,
    )


def prove(
    judging: Judging, plane: str | None, lfts: Path | None, failures: FailureOptions, progress: Progress
) -> Sequence[DeadlockResult]:
    """The verdicts of the planes, worst first; their findings are added to `judging`."""
    with progress.stage("proving"):
        return _prove(judging, plane, lfts, failures, progress)


def _prove(
    judging: Judging, plane: str | None, lfts: Path | None, failures: FailureOptions, progress: Progress
) -> Sequence[DeadlockResult]:
    from fabricgen.simulate.deadlock import analyse_deadlock, deadlock_findings, from_worst

    results: list[DeadlockResult] = []
    subnet_roots = judging.bundle.subnet_roots
    if lfts is not None or subnet_roots:
        from fabricgen.simulate.deadlock.infiniband.analysis import analyse_dumps, analyse_subnets, tables_by_plane
        from fabricgen.simulate.deadlock.infiniband.failures import WantedFailures
        from fabricgen.simulate.deadlock.infiniband.findings import subnet_findings
        from fabricgen.simulate.plane.service_levels import job_levels

        jobs = job_levels(judging.bundle)
        wanted = WantedFailures(failures.most_links, failures.switches, failures.seed, failures.scheduler)
        if lfts is not None:
            subnets = analyse_dumps(lfts, judging.bundle.root, plane, jobs)
        else:
            subnets = [result for folder in subnet_roots for result in analyse_subnets(folder, plane, jobs, wanted)]
        results += subnets
        judging.findings += subnet_findings(subnets, wanted)
        judging.tables |= tables_by_plane(subnets)
        judging.codes |= codes_of("FG80", "FG843", "FG846", "FG847", "FG848")
    if not (plane and results):
        with _failures(failures, progress) as wanted_failures:
            planes = analyse_deadlock(judging.bundle, plane, wanted_failures)
        results += planes
    results.sort(key=from_worst)
    judging.findings += deadlock_findings(judging.bundle, results)
    judging.codes |= codes_of("FG6", "FG708", "FG749")
    return results


@contextmanager
def _failures(options: FailureOptions, progress: Progress) -> "Iterator[Failures]":
    """Raises UsageError if the scheduler cannot be used."""
    from fabricgen.simulate.deadlock import Failures
    from fabricgen.simulate.deadlock.failures.sweep import in_processes, on_dask

    with on_dask(options.scheduler) if options.scheduler else nullcontext(in_processes(options.jobs)) as spread:

        def tracked(judge: "SetJudge", batches: "list[Batch]") -> "Iterable[Verdicts]":
            return progress.track(spread(judge, batches), len(batches), "failures")

        yield Failures(options.most_links, options.switches, options.repair, options.seed, tracked)


def _name_left_out(judging: Judging, results: Sequence[DeadlockResult], files: Mapping[str, Path | None]) -> None:
    """Add the findings about options that InfiniBand planes cannot fulfil."""
    of_tables = [name for name, file in files.items() if file is not None]
    if of_tables:
        from fabricgen.simulate.deadlock.infiniband.findings import without_tables

        judging.findings += without_tables(results, of_tables)


def _write_proof(
    bundle: Bundle, results: Sequence[DeadlockResult], certificate: Path | None, routes: Path | None, svg: Path | None
) -> None:
    """Raises OSError if a file cannot be written."""
    if certificate is not None:
        from fabricgen.simulate.deadlock.certificate import certificate_text

        write_atomically(certificate, certificate_text(results).encode())
    if routes is not None:
        from fabricgen.simulate.deadlock.certificate import next_hops

        option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        write_atomically(routes, orjson.dumps(next_hops(results), option=option))
    if svg is not None:
        from fabricgen.report.cycle_svg import cycle_pictures
        from fabricgen.report.picture_folder import write_pictures

        write_pictures(svg, {name: text.encode() for name, text in cycle_pictures(bundle, results).items()})


def _demonstrate(judging: Judging, results: Sequence[DeadlockResult], progress: Progress) -> PacketsResult | None:
    """Run the first cycle of the worst plane packet by packet; None if no config_db.json has a part in a cycle."""
    from fabricgen.simulate.deadlock import PlaneDeadlock
    from fabricgen.simulate.packets import prepare

    cyclic = [result for result in results if isinstance(result, PlaneDeadlock) and result.cycles]
    if not cyclic:
        progress.note("the config_db.json files do not form a cycle: nothing to demonstrate")
        return None
    begin = prepare(progress.note)
    from fabricgen.simulate.demonstration import demonstrate

    begin()
    result, finding = demonstrate(judging.bundle, cyclic[0])
    judging.findings.append(finding)
    progress.step("simulated", "the worst cycle, packet by packet")
    return result
