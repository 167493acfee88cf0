"""The lists of uSIDs, followed through the tables of the switches."""

from dataclasses import dataclass

from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Policy, Progress, open_judging
from fabricgen.api.requests import SimulationRequest
from fabricgen.errors import UsageError
from fabricgen.results import PathsResult
from fabricgen.units import counted


@dataclass(frozen=True, kw_only=True)
class PathsSimulation(Judgement):
    """`planes` are the results of the planes with uSIDs, wrong ones first."""

    planes: tuple[PathsResult, ...]


def simulate_paths(
    request: SimulationRequest, *, policy: Policy = DEFAULT_POLICY, progress: Progress = SILENT
) -> PathsSimulation:
    """Follow each list of SRv6 uSIDs through the tables of the switches, and compare its way with the wiring.

    See `validate` for the other arguments and the errors.
    """
    from fabricgen.simulate.plane.names import require_plane
    from fabricgen.simulate.usid_paths import analyse_paths, paths_findings

    if not request.paths:
        raise UsageError("nothing to judge: give a bundle or config_db files")
    judging = open_judging(request.paths, request.links, request.lldp, policy, request.neighbors)
    require_plane(judging.bundle, request.plane)
    with progress.stage("lists"):
        results = analyse_paths(judging.bundle, request.plane)
    judging.findings += paths_findings(judging.bundle, results)
    judging.codes |= {"FG708", "FG749"}
    lists = sum(one.walked for one in results)
    progress.step("simulated", f"{counted(lists, 'list')} of uSIDs on {counted(len(judging.bundle.devices), 'device')}")
    return PathsSimulation(**judging.judged(judging.outcome(request.inventory)), planes=tuple(results))
