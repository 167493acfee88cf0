"""How far a packet run is: a line on the terminal that is written again and again."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fabricgen.atomic import write_atomically
from fabricgen.cli.settings import Settings, interactive

if TYPE_CHECKING:
    from fabricgen.simulate.packets.network import Network
    from fabricgen.simulate.packets.simulation import Observer

_STRETCH_NS = 20_000
_LEAST_S = 0.2


Watch: TypeAlias = "Callable[[Network], Sequence[Observer]]"


def watching(settings: Settings, series: Path | None, svg: Path | None) -> Watch:
    """Progress for people who watch; time series, or their pictures alone, where a folder is named, in it one for each
    further plane."""
    runs = 0

    def observers(network: "Network") -> "Sequence[Observer]":
        nonlocal runs
        runs += 1
        found: list[Observer] = [Progress(network)] if interactive() and not settings.quiet else []
        below = "." if runs == 1 else network.scenario.name
        folders = {folder / below: suffix for folder, suffix in ((series, ""), (svg, ".svg")) if folder is not None}
        if folders:
            found.append(SeriesWriter(network, folders))
        return found

    return observers


class SeriesWriter:
    """Samples a run and writes the series when it is over: into each folder the files with its suffix."""

    def __init__(self, network: "Network", folders: Mapping[Path, str]) -> None:
        from fabricgen.simulate.packets.series import Sampler

        self._sampler = Sampler(network)
        self._folders = folders

    @property
    def period(self) -> int:
        """Of the sampler."""
        return self._sampler.period

    @property
    def first(self) -> int:
        """Of the sampler."""
        return self._sampler.first

    def look(self, network: "Network") -> None:
        """Sample."""
        self._sampler.look(network)

    def close(self) -> None:
        """Write."""
        from fabricgen.report.series import series_files

        self._sampler.close()
        files = list(series_files(self._sampler.series()))
        for folder, suffix in self._folders.items():
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in files:
                if name.endswith(suffix):
                    write_atomically(folder / name, content)


class Progress:
    """Simulated time, its share of the run's end, flows done, and packet hops per second."""

    def __init__(self, network: "Network") -> None:
        self.period = self.first = _STRETCH_NS * network.ticks_per_ns
        self._begun = self._told = time.perf_counter()

    def look(self, network: "Network") -> None:
        """Write the line, a few times a second at most."""
        now = time.perf_counter()
        if now - self._told < _LEAST_S:
            return
        self._told = now
        clock, simulated_ns = network.run.clock[0], network.ns(network.now)
        rate = clock["transmissions"] / (now - self._begun) / 1e6
        share = simulated_ns / network.scenario.stop_ns
        flows = f"{clock['finished']}/{len(network.run.flows)} flows"
        text = f"{simulated_ns / 1000:.0f} us simulated ({share:.0%} of the longest), {flows}, {rate:.1f} M hops/s"
        sys.stderr.write(f"\r{text:<100}")

    def close(self) -> None:
        """Leave the line empty."""
        if self._told != self._begun:
            sys.stderr.write(f"\r{'':<100}\r")
