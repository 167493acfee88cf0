"""Tuning by packet runs: marking thresholds, alpha and queue pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.aside import render_aside
from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Policy, Progress, codes_of, open_judging
from fabricgen.api.reporting import files_of
from fabricgen.api.requests import connections_finding
from fabricgen.atomic import temporary_folder
from fabricgen.bundle.manifest import read_manifest
from fabricgen.results import TuningResult
from fabricgen.units import counted
from fabricgen.vocabulary import Goal

if TYPE_CHECKING:
    from fabricgen.api.aside import Aside
    from fabricgen.inventory.read_files import InventorySource
    from fabricgen.simulate.tuning.measure import Item, MeasuredRun, Runner, Spread

CODES = ("FG77",)
DEFAULT_DRAWS = 12
DEFAULT_SIZE_BYTES = 4 << 20
DEFAULT_QUEUE_PAIRS = (1, 2, 4, 8)
DEFAULT_BUDGET_HOPS = 400_000_000


@dataclass(frozen=True, kw_only=True)
class Tuning(Judgement):
    """`result` is None if the inventory has errors, which are the findings.

    `profile` is the name of the plane's lossless profile if its inventory has only that, and `digest` that of the
    inventory in the manifest; None where they are not known. `left_out` are the planes that cannot be tuned, with the
    reason.
    """

    result: TuningResult | None = None
    profile: str | None = None
    digest: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)


def tune(
    source: "InventorySource",
    *,
    pattern: str,
    goal: Goal = Goal.P99,
    size_bytes: int = DEFAULT_SIZE_BYTES,
    plane: str | None = None,
    draws: int = DEFAULT_DRAWS,
    seed: int = 1,
    queue_pairs: Sequence[int] = DEFAULT_QUEUE_PAIRS,
    nccl: str | None = None,
    budget_hops: int = DEFAULT_BUDGET_HOPS,
    scheduler: str | None = None,
    jobs: int = 1,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> Tuning:
    """Search for the settings with which a pattern runs best on one plane of a bundle or an inventory.

    The best one is confirmed on `draws` draws that the search did not see. `plane` is by default the first one that
    can be tuned. `queue_pairs` are the numbers to try. With a version of `nccl`, two NICs have as many connections as
    channels of that version of NCCL or RCCL, and the result has its variables. `budget_hops` is about the number of
    packet hops of all runs, which take place in `jobs` processes, or on the workers of a Dask `scheduler`,
    tcp://HOST:PORT; the result depends on neither. Raises UsageError if nothing can be tuned, for an unknown version,
    and if numba is not installed.
    """
    from fabricgen.simulate.packets import prepare
    from fabricgen.simulate.patterns import check_pattern

    check_pattern(pattern)
    begin = prepare(progress.note)
    from fabricgen.simulate.plane.queue_pairs import nccl_connections
    from fabricgen.simulate.tuning.analysis import TuningOptions, library_settings, tunable_plane
    from fabricgen.simulate.tuning.analysis import tune as tune_plane
    from fabricgen.simulate.tuning.findings import tuning_findings

    options = TuningOptions(pattern, goal, size_bytes, draws, seed, tuple(queue_pairs), budget_hops)
    with _opened(source, jobs, policy, progress) as (folder, aside):
        if aside is not None and not aside.is_rendered:
            return Tuning(findings=aside.outcome.findings, suppressed=aside.outcome.suppressed)
        judging = open_judging([folder], None, None, policy)
        tunable, left_out = tunable_plane(judging.bundle, plane, pattern)
        connections = None
        if nccl is not None:
            connections = nccl_connections(judging.bundle, nccl, tunable.plane.name, None)
            options = replace(options, channels=connections.channels)
        begin()
        with _spread(scheduler, jobs, progress) as spread:
            result = tune_plane(judging.bundle, tunable, options, spread)
        if connections is not None:
            result = replace(result, libraries=library_settings(result, connections, judging.bundle))
            judging.findings.append(connections_finding(connections))
            judging.codes |= codes_of("FG720")
        tried = f"{counted(result.tried, 'setting')} in {counted(result.runs, 'run')}, {result.hops} packet hops"
        progress.step("tuned", tried)
        judging.findings += tuning_findings(result)
        judging.codes |= codes_of(*CODES)
        outcome = judging.outcome(None) if aside is None else judging.outcome_at(aside.places, ())
        manifest = read_manifest(folder) if folder.is_dir() else None
        return Tuning(
            **judging.judged(outcome),
            result=result,
            profile=_profile(aside, result.plane) if aside else None,
            digest=manifest.inventory_digest if manifest else None,
            left_out=left_out,
        )


@contextmanager
def _opened(
    source: "InventorySource", jobs: int, policy: Policy, progress: Progress
) -> "Iterator[tuple[Path, Aside | None]]":
    """The folder with the files, and the rendering of an inventory. Raises UnreadableInputError for a missing path."""
    files = files_of(source)
    if files is not None:
        yield files, None
        return
    with temporary_folder("tune") as folder:
        aside = render_aside(source, folder / "bundle", jobs=jobs, policy=policy, progress=progress)
        yield folder / "bundle", aside


@contextmanager
def _spread(scheduler: str | None, jobs: int, progress: Progress) -> "Iterator[Spread]":
    """Raises UsageError if the scheduler cannot be used."""
    from fabricgen.simulate.tuning.measure import in_processes, on_dask

    with on_dask(scheduler) if scheduler else nullcontext(in_processes(jobs)) as spread:

        def tracked(runner: "Runner", items: "Sequence[Item]") -> "Iterable[MeasuredRun]":
            return progress.track(spread(runner, items), len(items), "packet runs")

        yield tracked


def _profile(aside: "Aside", plane: str) -> str | None:
    """The profile that a plane names with no other values."""
    from fabricgen.inventory.profiles import profile_name

    lossless = aside.plans.fabric.inventory.planes[plane].node.mapping.get("lossless")
    return profile_name(lossless) if lossless and not lossless.mapping else None
