"""One packet run with a setting, as the few numbers that a search compares.

The modules of the packet simulator are imported in a run: on a worker of another machine `prepare` comes first.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.results import PacketsResult, Setting
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.tuning.files import TunedFiles
from fabricgen.spread import connected, spread

if TYPE_CHECKING:
    from fabricgen.simulate.packets.from_bundle import PlaneScenario
    from fabricgen.simulate.packets.network import PacketNetwork

_SAMPLE_NS = 5000
_MOST_BUNDLES = 4  # that a process keeps

Item = tuple[Setting, int]  # with the seed of the run


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run; the fields are those of a `Trial`. A run that has not ended has the time at which it was stopped."""

    p99_ns: int
    time_ns: int
    pauses: int
    queue_ns: float
    faults: int
    hops: int


@dataclass(frozen=True)
class Runner:
    """Runs a pattern on a plane of the files. Each of the `channels` of two NICs has the queue pairs of a setting."""

    files: TunedFiles
    plane: HostNetwork
    priority: int
    pattern: str
    size_bytes: float
    max_hops: int
    channels: int = 1
    _bundles: OrderedDict[Setting, Bundle] = field(default_factory=OrderedDict, compare=False, repr=False)

    def __call__(self, item: Item) -> MeasuredRun:
        """The run of a setting with a seed."""
        setting, seed = item
        made = self.scenario(setting, seed)
        from fabricgen.simulate.packets.outcome import outcome
        from fabricgen.simulate.packets.simulation import run

        queues: list[LongestQueue] = []

        def watch(network: "PacketNetwork") -> list[LongestQueue]:
            queues.append(LongestQueue(network))
            return queues

        result = outcome(run(made.scenario, seed, watch), seed)
        return MeasuredRun(
            p99_ns=result.percentiles[1] or result.simulated_ns,
            time_ns=result.collective_ns or result.simulated_ns,
            pauses=sum(kind for _, _, kind in result.pfc_frames),
            queue_ns=queues[0].mean_ns,
            faults=_faults(result),
            hops=result.wire_transmissions,
        )

    def scenario(self, setting: Setting, seed: int) -> "PlaneScenario":
        """What runs. Raises UsageError if the pattern sends nothing over the plane."""
        _prepare_once()
        from fabricgen.simulate.packets.from_bundle import TrafficChoice, plane_scenario

        choice = TrafficChoice(self.pattern, self.size_bytes, seed, self.max_hops, self.channels * setting.queue_pairs)
        made = plane_scenario(self._bundle(setting), self.plane, self.priority, choice, (self.priority,))
        if made is None:
            raise UsageError(f"{self.pattern} sends no traffic over this plane")
        return made

    def _bundle(self, setting: Setting) -> Bundle:
        if setting not in self._bundles:
            self._bundles[setting] = self.files.with_setting(setting)
            while len(self._bundles) > _MOST_BUNDLES:
                self._bundles.popitem(last=False)
        return self._bundles[setting]


@cache
def _prepare_once() -> None:
    from fabricgen.simulate.packets import prepare

    prepare(lambda _: None)


class LongestQueue:
    """An observer: the mean over the run of the bytes of each queue of a switch, in time of the port's line rate."""

    def __init__(self, network: "PacketNetwork") -> None:
        self.period = self.first = _SAMPLE_NS * network.ticks_per_ns
        is_switch = network.run.nodes["is_switch"][network.run.ports["node"]].astype(bool)
        speeds = np.array([link.speed_gbps for link in network.scenario.links for _ in (link.a, link.b)])
        self._ns_per_byte: NDArray[np.float64] = np.where(is_switch, 8 / speeds, 0.0)
        self._bytes = np.zeros(len(speeds), np.int64)
        self._samples = 0

    def look(self, network: "PacketNetwork") -> None:
        """Take a sample."""
        self._bytes += network.run.queues["bytes"].sum(axis=1)
        self._samples += 1

    def close(self) -> None:
        """Nothing is left to do."""

    @property
    def mean_ns(self) -> float:
        """Of the port with the most; 0 for a run that ended before the first sample."""
        return float((self._bytes * self._ns_per_byte).max(initial=0.0)) / max(self._samples, 1)


def _faults(result: PacketsResult) -> int:
    """Lost packets of lossless priorities, flows that did not finish, and a freeze."""
    lost = sum(one.drops for one in result.dropped if one.lossless)
    return lost + len(result.flows) - result.finished + (result.freeze is not None)


Spread = Callable[[Runner, Sequence[Item]], Iterable[MeasuredRun]]


def in_processes(jobs: int) -> Spread:
    """Runs items in this process if `jobs` is 1, otherwise in that many processes."""

    is_loaded = False

    def spread_items(runner: Runner, items: Sequence[Item]) -> Iterator[MeasuredRun]:
        nonlocal is_loaded
        if not is_loaded and items:  # before the first fork: the processes share the machine code, which takes a second
            yield runner(items[0])
            items, is_loaded = items[1:], True
        yield from spread(runner, items, jobs)

    return spread_items


@contextmanager
def on_dask(url: str) -> Iterator[Spread]:
    """Runs items on the workers of a Dask scheduler, tcp://HOST:PORT. Raises UsageError if it cannot be used."""
    with connected(url) as client:

        def on_workers(runner: Runner, items: Sequence[Item]) -> Iterable[MeasuredRun]:
            held = client.scatter(
                replace(runner, files=runner.files.portable, _bundles=OrderedDict()), broadcast=True, hash=False
            )
            yield from client.gather(client.map(_on_worker, [held] * len(items), items, pure=False))

        yield on_workers


def _on_worker(runner: Runner, item: Item) -> MeasuredRun:
    return runner(item)
