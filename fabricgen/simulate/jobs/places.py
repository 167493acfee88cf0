"""The hosts of a plane as classes of equal hosts, and placements as numbers of hosts.

Hosts of a class have the same leaves, rates and model, so which of them a job takes changes no load between switches.
A placement is a table: how many hosts of each class each job has. Jobs use hosts in the order of classes, which is that
of units, so ranks of one leaf are neighbours.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabricgen.simulate.patterns.job import nvlink_domains
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Ints
from fabricgen.simulate.workload import PlacedJob, PlaneSite, Unit

Counts = tuple[tuple[int, ...], ...]  # of each job, of each class


@dataclass(frozen=True)
class HostClass:
    """Equal hosts. `levels` are what they are part of, the widest first: the pod, the unit, the leaves. A job keeps its
    number of hosts of each `kind`, a group and a model."""

    hosts: tuple[str, ...]
    kind: tuple[str, str]
    levels: tuple[object, ...]


class HostClasses:
    """The classes of hosts that jobs can have: those of the placed jobs that may move, and free ones."""

    def __init__(
        self, plane: HostNetwork, site: PlaneSite, placed: Sequence[PlacedJob], others: Sequence[PlacedJob] = ()
    ) -> None:
        """`others` are jobs of other planes: their hosts are not free, and a job on them stays where it is."""
        self.placed = placed
        users = Counter(host for one in (*placed, *others) for host in one.hosts)

        def stays(one: PlacedJob) -> bool:
            return one.request.pinned or bool(one.request.rails) or any(users[host] > 1 for host in one.hosts)

        fixed = {host for one in (*placed, *others) if one in others or stays(one) for host in one.hosts}
        self.movable = [number for number, one in enumerate(placed) if not stays(one)]
        members: dict[tuple[Unit, Shape], list[str]] = {}
        shape = _shapes(plane)
        for host in site.hosts:
            if host not in fixed:
                members.setdefault((site.unit[host], shape[host]), []).append(host)
        ordered = sorted(members.items(), key=lambda item: item[0][0])
        self.classes = [HostClass(tuple(hosts), own.kind, (unit.pod, unit, own)) for (unit, own), hosts in ordered]
        self._class = {host: number for number, one in enumerate(self.classes) for host in one.hosts}
        self.room = np.array([len(one.hosts) for one in self.classes], np.int64)

    def given(self) -> Counts:
        """The placement of the file; a row for each job that may move."""
        table = np.zeros((len(self.movable), len(self.classes)), np.int64)
        for row, number in enumerate(self.movable):
            np.add.at(table[row], [self._class[host] for host in self.placed[number].hosts], 1)
        return as_counts(table)

    def moves(self, counts: Counts) -> int:
        """The hosts that jobs get in addition to those that they have."""
        pairs = ((new, old) for own, given in zip(counts, self.given(), strict=True)
                 for new, old in zip(own, given, strict=True))  # fmt: skip
        return sum(max(0, new - old) for new, old in pairs)

    def kinds(self) -> list[dict[tuple[str, str], int]]:
        """The hosts of each kind that each job has; a search keeps these numbers."""
        found = []
        for row in self.given():
            own: dict[tuple[str, str], int] = {}
            for one, count in zip(self.classes, row, strict=True):
                own[one.kind] = own.get(one.kind, 0) + count
            found.append({kind: count for kind, count in own.items() if count})
        return found

    def first_hosts(self, row: Sequence[int]) -> tuple[str, ...]:
        """Hosts for a row of a placement: the first of each class, which stand for any."""
        return tuple(host for one, count in zip(self.classes, row, strict=True) for host in one.hosts[:count])

    def hosts_of(self, counts: Counts) -> list[tuple[str, ...]]:
        """The hosts of all placed jobs. A job keeps those that it has, in the order of classes."""
        kept: list[dict[int, list[str]]] = []
        taken: set[str] = set()
        for row, number in zip(counts, self.movable, strict=True):
            own: dict[int, list[str]] = {}
            for host in self.placed[number].hosts:
                at = self._class[host]
                if len(own.get(at, ())) < row[at]:
                    own.setdefault(at, []).append(host)
                    taken.add(host)
            kept.append(own)
        free = [[host for host in one.hosts if host not in taken] for one in self.classes]
        found = {number: one.hosts for number, one in enumerate(self.placed)}
        for row, number, own in zip(counts, self.movable, kept, strict=True):
            hosts: list[str] = []
            for at, one in enumerate(self.classes):
                missing = row[at] - len(own.get(at, ()))
                chosen = set(own.get(at, ())) | set(free[at][:missing])
                free[at] = free[at][missing:]
                hosts += [host for host in one.hosts if host in chosen]
            found[number] = tuple(hosts)
        return [found[number] for number in range(len(self.placed))]


def as_counts(table: Ints) -> Counts:
    """A table as tuples."""
    return tuple(tuple(row) for row in table.tolist())


@dataclass(frozen=True)
class Shape:
    """What equal hosts have in common: their group and model, their NVLink domain if several hosts share one, and
    the (NIC, leaf, rate) of their adapters."""

    kind: tuple[str, str]
    domain: int
    ends: tuple[tuple[str, int, float], ...]


def _shapes(plane: HostNetwork) -> Mapping[str, Shape]:
    domains = nvlink_domains(plane.adapters)
    wide = {domain for domain, hosts in Counter(domains.values()).items() if hosts > 1}
    ends: dict[str, list[tuple[str, int, float]]] = {}
    kind: dict[str, tuple[str, str]] = {}
    rates = plane.line_rate.tolist()
    for adapter, leaf, rate in zip(plane.adapters, plane.leaf.tolist(), rates, strict=True):
        ends.setdefault(adapter.host, []).append((adapter.nic, leaf, rate))
        kind[adapter.host] = adapter.group, adapter.model
    return {
        host: Shape(kind[host], domains[host][1] if domains[host] in wide else -1, tuple(sorted(own)))
        for host, own in ends.items()
    }
