"""The packet simulation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.coverage import add_coverage
from fabricgen.api.judgement import (
    DEFAULT_POLICY,
    SILENT,
    Judgement,
    Policy,
    Progress,
    codes_of,
    open_judging,
    outcome_of_inventory,
)
from fabricgen.atomic.folder import write_files
from fabricgen.findings import Location
from fabricgen.report.summary import Counts
from fabricgen.results import Compat, PacketsResult

if TYPE_CHECKING:
    from fabricgen.simulate.packets.network import Network
    from fabricgen.simulate.packets.simulation import Observer

CODES = ("FG64", "FG708", "FG75", "FG76", "FG79")
DEFAULT_BYTES = 4 * 2**20


@dataclass(frozen=True, kw_only=True)
class PacketSimulation(Judgement):
    """`runs` are the results, one for each plane; of a scenario there is one."""

    runs: tuple[PacketsResult, ...] = ()


def simulate_packets(
    paths: Sequence[Path],
    *,
    links: Path | None = None,
    lldp: Path | None = None,
    pattern: str | None = None,
    size_bytes: int = DEFAULT_BYTES,
    plane: str | None = None,
    seed: int = 1,
    priorities: Sequence[int] = (),
    series: Path | None = None,
    svg: Path | None = None,
    inventory: Path | None = None,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> PacketSimulation:
    """Run a traffic pattern packet by packet, per plane or for one `plane`.

    `pattern` and `size_bytes` are those of `simulate_congestion`, by default 4 MiB. `seed` is that of marking and
    hashing. The pattern runs on each of `priorities` at the same time, by default on the first lossless one. `series`
    is a folder for time series and their pictures, `svg` one for the pictures only. See `validate` for the other
    arguments. Raises UsageError if numba is not installed.
    """
    from fabricgen.simulate.packets import prepare
    from fabricgen.simulate.patterns import DEFAULT_PATTERN, check_pattern, uses_storage

    prepare(progress.note)
    judging = open_judging(paths, links, lldp, policy)
    name = pattern or DEFAULT_PATTERN
    check_pattern(name)
    from fabricgen.simulate.packets.analysis import simulate_bundle
    from fabricgen.simulate.packets.findings import left_out, packet_findings
    from fabricgen.simulate.packets.probes import probe

    add_coverage(judging, plane, to_storage=uses_storage(name))
    watch = _watching(progress, series, svg)
    runs = simulate_bundle(judging.bundle, name, size_bytes, plane, seed, watch, priorities)
    results = [run.result for run in runs]
    progress.step("simulated", f"{sum(result.wire_transmissions for result in results)} packet hops")
    for result in results:
        judging.findings += packet_findings(result, None, judging.bundle)
    judging.findings += [*probe(judging.bundle, runs), *left_out(judging.bundle, plane)]
    progress.step("simulated", "headroom and watchdog of each kind of port")
    judging.codes |= codes_of(*CODES)
    outcome = judging.outcome(inventory)
    return PacketSimulation(
        findings=outcome.findings,
        suppressed=outcome.suppressed,
        counts=judging.counts,
        codes=frozenset(judging.codes),
        runs=tuple(results),
    )


def simulate_packets_of_scenario(
    file: Path,
    *,
    compat: Compat | None = None,
    seed: int = 1,
    series: Path | None = None,
    svg: Path | None = None,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> PacketSimulation:
    """Run the flows of a scenario file, with the clock and tie rules of `compat`, by default those of the file.

    Mistakes in the file are findings; there is no result then.
    """
    from fabricgen.simulate.packets import prepare

    prepare(progress.note)
    from fabricgen.simulate.packets.analysis import simulate_scenario
    from fabricgen.simulate.packets.findings import packet_findings
    from fabricgen.simulate.scenario import check_scenario, read_scenario

    if mistakes := check_scenario(file):
        outcome = outcome_of_inventory(mistakes, (), Location, policy)
        return PacketSimulation(findings=outcome.findings, suppressed=outcome.suppressed, codes=codes_of(*CODES))
    scenario = read_scenario(file)
    if compat is not None:
        scenario = replace(scenario, compat=compat)
    result = simulate_scenario(scenario, seed, _watching(progress, series, svg))
    hops = f"{result.simulated_ns / 1000:.1f} us, {result.wire_transmissions} packet hops"
    progress.step("simulated", hops)
    outcome = outcome_of_inventory(packet_findings(result, Location(str(file))), (), Location, policy)
    switches = sum(node.kind == "switch" for node in scenario.nodes)
    return PacketSimulation(
        findings=outcome.findings,
        suppressed=outcome.suppressed,
        counts=Counts(devices=switches, links=len(scenario.links)),
        codes=codes_of(*CODES),
        runs=(result,),
    )


def _watching(progress: Progress, series: Path | None, svg: Path | None) -> "Callable[[Network], Sequence[Observer]]":
    """The observers of each run: those of the caller, and a writer of time series. A further plane has a subfolder."""
    runs = 0

    def observers(network: "Network") -> "Sequence[Observer]":
        nonlocal runs
        runs += 1
        below = "." if runs == 1 else network.scenario.name
        folders = {folder / below: suffix for folder, suffix in ((series, ""), (svg, ".svg")) if folder is not None}
        return [*progress.watch(network), *([SeriesWriter(network, folders)] if folders else [])]

    return observers


class SeriesWriter:
    """An observer that samples a run, and writes the files with a suffix into each folder when the run is over."""

    def __init__(self, network: "Network", folders: Mapping[Path, str]) -> None:
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

    def look(self, network: "Network") -> None:
        """Take a sample."""
        self._sampler.look(network)

    def close(self) -> None:
        """Write the files."""
        from fabricgen.report.series import series_files

        self._sampler.close()
        files = list(series_files(self._sampler.series()))
        for folder, suffix in self._folders.items():
            write_files(folder, {name: content for name, content in files if name.endswith(suffix)})
