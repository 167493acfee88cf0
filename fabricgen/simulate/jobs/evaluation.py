"""How good a placement is by evenly spread load, quickly: loads are kept by the hosts of a job in each class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabricgen.simulate.bandwidth.times import EvenLoad
from fabricgen.simulate.jobs.places import Counts, HostClasses
from fabricgen.simulate.jobs.sharing import JobLoads, progress
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Flags, Floats
from fabricgen.simulate.workload import ranks_of
from fabricgen.simulate.workload.messages import sent_by

Score = tuple[float, float, float]  # the worst slowdown, the mean time, the share of bytes that leave the leaves
_DIGITS = 4  # of slowdowns; smaller differences are ignored


class Evaluation:
    """Scores of placements while all jobs run: the worst time of a job over its time at line rate, then the mean time
    in ns, then the bytes between switches over those that NICs send, which collisions of hashes grow with."""

    def __init__(self, plane: HostNetwork, places: HostClasses, seed: int) -> None:
        self.plane, self.places, self.seed = plane, places, seed
        self.evaluated = 0
        self._even = EvenLoad(plane)
        self._shared = self._shared_ports()
        self._weights = np.random.default_rng(seed).random(len(places.placed))  # to find equal rows
        self._columns: dict[tuple[int, tuple[int, ...]], _Column] = {}
        self._scores: dict[Counts, Score] = {}
        self._fixed = {
            number: self._column_of(number, one.hosts)
            for number, one in enumerate(places.placed)
            if number not in places.movable
        }

    def score(self, counts: Counts) -> Score:
        """The score of a placement; less is better."""
        if counts not in self._scores:
            self._scores[counts] = self._score(counts)
            self.evaluated += 1
        return self._scores[counts]

    def _score(self, counts: Counts) -> Score:
        own = dict(zip(self.places.movable, counts, strict=True))
        columns = [
            self._fixed[number] if number in self._fixed else self._kept(number, own[number])
            for number in range(len(self.places.placed))
        ]
        sending = np.array([column.flow_bytes > 0 for column in columns])
        if not sending.any():
            return 1.0, 0.0, 0.0
        needed = _distinct(np.stack([column.shared for column in columns], axis=1), self._weights)
        limits = np.diag([column.limit_ns for column in columns])
        zero = np.zeros(len(columns))
        loads = JobLoads(
            np.concatenate([needed, limits]), np.array([column.flow_bytes for column in columns]), zero, zero
        )
        speed = progress(loads, sending)[sending]
        line = np.array([column.line_ns for column in columns])[sending]
        crossing = float(np.mean([column.crossing for column in columns]))
        worst = float((1.0 / (speed * line)).max())
        return round(max(1.0, worst), _DIGITS), round(float((1.0 / speed).mean()), 1), round(crossing, 6)

    def _kept(self, job: int, row: tuple[int, ...]) -> "_Column":
        if (job, row) not in self._columns:
            self._columns[job, row] = self._column_of(job, self.places.first_hosts(row))
        return self._columns[job, row]

    def _column_of(self, job: int, hosts: Sequence[str]) -> "_Column":
        request = self.places.placed[job].request
        messages = sent_by(self.plane.adapters, request, ranks_of(self.plane.adapters, request, hosts), self.seed + job)
        messages = messages.only(self._even.has_path(messages))
        if not len(messages):
            return _Column(np.zeros(int(self._shared.sum())), 0.0, 0.0, 0.0, 0.0)
        links = self.plane.network.links
        needed = self._even.needed_ns(messages)
        wire = messages.bytes * self.plane.wire_share
        between = float((needed[:links] * self.plane.ports.bytes_per_ns[:links]).sum())
        return _Column(
            shared=needed[self._shared],
            limit_ns=float(needed[~self._shared].max(initial=0.0)),
            line_ns=float(needed[links:].max(initial=0.0)),
            flow_bytes=float(wire.mean()),
            crossing=between / float(wire.sum()),
        )

    def _shared_ports(self) -> Flags:
        """The ports that several jobs may use: links between switches, and the ports of storage hosts."""
        plane = self.plane
        found = np.zeros(len(plane.ports), bool)
        found[: plane.network.links] = True
        for one in self.places.placed:
            ranks = ranks_of(plane.adapters, one.request, one.hosts)
            if not ranks.stand_in:
                found[plane.host_port(ranks.targets)] = found[plane.nic_port(ranks.targets)] = True
        return found


@dataclass(frozen=True)
class _Column:
    """The load of one job: the ns that each shared port needs, and the most of the others; the time at line rate; the
    mean bytes of a flow; and the bytes between switches over those sent."""

    shared: Floats
    limit_ns: float
    line_ns: float
    flow_bytes: float
    crossing: float


def _distinct(needed: Floats, weights: Floats) -> Floats:
    """The different rows of a table, of ports with load."""
    mark = (needed * weights).sum(axis=1)
    _, first = np.unique(mark[mark > 0], return_index=True)
    found: Floats = needed[mark > 0][first]
    return found
