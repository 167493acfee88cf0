"""Time series of a run: samples of queue depths, thresholds and flow rates, and the intervals of all pauses.

Samples are one microsecond apart at first. When there are too many, every second one is removed and the distance
doubles, so a run of any length has some hundred samples.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import QueueSeries, Series
from fabricgen.simulate.packets.network import PacketNetwork
from fabricgen.simulate.packets.queues import ALPHA_ONE, UNMARKED

MOST_SAMPLES = 1000
_FIRST_NS = 1000


@dataclass
class Sampler:
    """An observer that takes the samples of a run."""

    network: PacketNetwork
    most_queues: int = 12
    most_flows: int = 24
    period: int = field(init=False)
    first: int = field(init=False)

    def __post_init__(self) -> None:
        self.period = self.first = _FIRST_NS * self.network.ticks_per_ns
        self._times: list[int] = []
        self._queued: list[NDArray[np.int32]] = []
        self._acked: list[NDArray[np.int32]] = []
        self._free: list[NDArray[np.int64]] = []

    def look(self, network: PacketNetwork) -> None:
        """Take a sample."""
        self.network, run = network, network.run
        self._times.append(network.now)
        self._queued.append(run.queues["bytes"].copy())
        self._acked.append(run.flows["acked"].copy())
        self._free.append(network.free_bytes())
        if len(self._times) >= MOST_SAMPLES:
            self.period *= 2
            for samples in (self._times, self._queued, self._acked, self._free):
                del samples[::2]

    def close(self) -> None:
        """Take the last sample."""
        if not self._times or self._times[-1] != self.network.now:
            self.look(self.network)

    def series(self) -> Series:
        """The time series."""
        network, run = self.network, self.network.run
        queued = np.array(self._queued)
        order = np.argsort(-queued.max(axis=0).reshape(-1), kind="stable")[: self.most_queues]
        places = [(int(place) // run.settings.classes, int(place) % run.settings.classes) for place in order]
        places = [place for place in places if queued[:, place[0], place[1]].any()]
        return Series(
            name=network.scenario.name,
            times_ns=[network.ns(time) for time in self._times],
            queues=[self._queue(queued, *place) for place in places],
            xoff_bytes=self._xoff(places),
            pauses=self._pauses(),
            rates=self._rates(),
        )

    def _queue(self, queued: NDArray[np.int32], port: int, lane: int) -> QueueSeries:
        queue = self.network.run.queues[port, lane]
        marks = queue["kmin"] < UNMARKED
        name = " ".join(self.network.ports[port])
        if self.network.run.settings.classes > 1:
            name += f" priority {self.network.classes[lane]}"
        return QueueSeries(
            name, queued[:, port, lane].tolist(), int(queue["kmin"]) if marks else None,
            int(self.network.run.profiles["kmax"][port, lane]) if marks else None,
        )  # fmt: skip

    def _xoff(self, places: list[tuple[int, int]]) -> list[int]:
        """The thresholds over time of a lossless group on the switch of the fullest queue that has one."""
        run = self.network.run
        found = [
            (node, run.groups[port, lane])
            for place, lane in places
            for node in (int(run.ports["node"][place]),)
            for port in np.flatnonzero(run.ports["node"] == node).tolist()
            if run.groups["lossless"][port, lane]
        ]
        if not found:
            return []
        node, group = found[0]
        if group["static"]:
            return [int(group["static"])] * len(self._times)
        return [max(0, int(free[node]) * int(group["alpha"]) // ALPHA_ONE) for free in self._free]

    def _pauses(self) -> dict[str, list[tuple[int, int]]]:
        network = self.network
        begun: dict[tuple[int, int], int] = {}
        found: dict[str, list[tuple[int, int]]] = {}
        for frame in network.run.frames[: int(network.run.clock["frames"][0])]:
            key, time = (int(frame["port"]), int(frame["queue"])), network.ns(frame["time"])
            if frame["pause"]:
                begun.setdefault(key, time)
            elif key in begun:
                found.setdefault(" ".join(network.ports[key[0]]), []).append((begun.pop(key), time))
        for (port, _), time in begun.items():
            found.setdefault(" ".join(network.ports[port]), []).append((time, network.ns(network.now)))
        return found

    def _rates(self) -> dict[str, list[float]]:
        acked = np.array(self._acked, np.int64) * self.network.run.settings.payload
        times = np.array(self._times, float) / self.network.ticks_per_ns
        steps = np.diff(times, prepend=0.0)
        rates = np.diff(acked, axis=0, prepend=0) * 8 / np.maximum(steps, 1e-9)[:, None]
        flows = self.network.scenario.flows[: self.most_flows]
        return {
            f"{index}: {flow.src} to {flow.dst}": np.round(rates[:, index], 3).tolist()
            for index, flow in enumerate(flows)
        }
