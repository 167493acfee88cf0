"""The hosts of each job. First the jobs that name their hosts, then those of units, then aligned and fragmented ones,
each in the order of the file. A job with `count` takes hosts that no other job has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from fabricgen.findings import Finding, Related
from fabricgen.hostlist import expanded, hostlist
from fabricgen.simulate.patterns import Placement
from fabricgen.simulate.workload.model import OVERLAP, JobRequest, PlacedJob
from fabricgen.simulate.workload.sites import PlaneSite
from fabricgen.units import counted, listed

_ALL_RAILS = None
_MOST_NAMES = 80  # characters of a list of hosts in a message

Part = tuple[str, int | None]  # a host and a rail, or all rails


def place_jobs(
    requests: Iterable[JobRequest], planes: Mapping[str, Sequence[str]], sites: Mapping[str, PlaneSite], seed: int
) -> tuple[list[PlacedJob], list[Finding]]:
    """The jobs with their hosts, in the order of `requests`, and the mistakes: unknown hosts, too few free ones, and
    hosts of two jobs. `planes` are those of each job by its name; a job without a plane is a mistake."""
    asked = list(requests)
    placing = _Placing(planes, sites, seed)
    for number in sorted(range(len(asked)), key=lambda number: _turn(asked[number])):
        placing.add(asked[number])
    order = {one.name: number for number, one in enumerate(asked)}
    placed = sorted(placing.placed, key=lambda one: order[one.name])
    return placed, [*placing.mistakes, *_overlaps(placed)]


def _turn(one: JobRequest) -> int:
    if one.hosts:
        return 0
    return 1 if one.units else 2 + (one.placement is Placement.FRAGMENTED)


@dataclass
class _Placing:
    planes: Mapping[str, Sequence[str]]
    sites: Mapping[str, PlaneSite]
    seed: int
    placed: list[PlacedJob] = field(default_factory=list)
    mistakes: list[Finding] = field(default_factory=list)
    taken: set[Part] = field(default_factory=set)

    def add(self, one: JobRequest) -> None:
        planes = self.planes[one.name]
        if not planes:
            self.mistakes.append(one.mistake("pattern", f"no plane with hosts carries {one.pattern}"))
            return
        site = self.sites[planes[0]]
        before = len(self.mistakes)
        self.mistakes += _unknown_rails(one, site)
        hosts = self._named(one, site) if one.hosts else self._free(one, site)
        if len(self.mistakes) == before:
            self.placed.append(PlacedJob(one, hosts, planes))
            self.taken.update(_parts(one, hosts))

    def _named(self, one: JobRequest, site: PlaneSite) -> tuple[str, ...]:
        known = dict.fromkeys(site.hosts)
        found, seen = list[str](), set[str]()
        twice: list[str] = []
        second = ""  # the item with the first host that is named twice
        for number, text in enumerate(one.hosts):
            key = one.item("hosts", number)
            try:
                names = _matching(text, site.hosts)
            except ValueError as error:
                self.mistakes.append(one.mistake(key, str(error)))
                continue
            unknown = [name for name in names if name not in known]
            if unknown and not set(unknown) - site.all_hosts:
                self.mistakes.append(one.mistake(key, f"{_short(unknown)}: storage, not compute"))
            elif unknown or not names:
                what = _short(unknown) if unknown else repr(text)
                hint = f"the hosts are {_short(site.hosts)}"
                self.mistakes.append(one.mistake(key, f"{what} is not a host of the plane", hint))
            before = len(twice)
            for name in names:
                (twice if name in seen else found).append(name)
                seen.add(name)
            if twice and not before:
                second = key
        if twice:
            self.mistakes.append(one.mistake(second, f"{_short(list(dict.fromkeys(twice)))}: a job uses a host once"))
        return tuple(found)

    def _free(self, one: JobRequest, site: PlaneSite) -> tuple[str, ...]:
        numbers = {unit.number for unit in site.units}
        if unknown := [number for number in one.units if number not in numbers]:
            known = listed([f"{unit.number} ({unit.name})" for unit in site.units], 8)
            key = one.item("unit", one.units.index(unknown[0]))
            self.mistakes.append(one.mistake(key, f"unit {unknown[0]} is not in the plane", f"the units are {known}"))
            return ()
        free = [host for host in site.hosts if self._is_free(one, host)]
        if one.units:
            free = [host for host in free if site.unit[host].number in one.units]
        if len(free) < one.count:
            where = f"unit {', '.join(map(str, one.units))}" if one.units else "the plane"
            problem = f"{counted(one.count, 'host')} requested, {where} has {len(free)} free"
            self.mistakes.append(one.mistake("count", problem, "use fewer hosts, or other units"))
            return ()
        if one.placement is Placement.FRAGMENTED:
            chance = np.random.default_rng([self.seed, len(self.placed)])
            free = [free[number] for number in chance.permutation(len(free)).tolist()]
        return tuple(free[: one.count])

    def _is_free(self, one: JobRequest, host: str) -> bool:
        if (host, _ALL_RAILS) in self.taken:
            return False
        if one.rails:
            return all((host, rail) not in self.taken for rail in one.rails)
        return not any(name == host for name, _ in self.taken)


def _unknown_rails(one: JobRequest, site: PlaneSite) -> Iterator[Finding]:
    known = sorted({adapter.rail for adapter in site.adapters if adapter.rail is not None})
    if unknown := [rail for rail in one.rails if rail not in known]:
        hint = f"the rails are {', '.join(map(str, known))}" if known else "the plane has no rails: remove the key"
        key = one.item("rails", one.rails.index(unknown[0]))
        yield one.mistake(key, f"rail {unknown[0]} is not in the plane", hint)


def _parts(one: JobRequest, hosts: Iterable[str]) -> Iterator[Part]:
    yield from ((host, rail) for host in hosts for rail in (one.rails or (_ALL_RAILS,)))


def _matching(text: str, hosts: Sequence[str]) -> list[str]:
    """The hosts of an expression. Raises ValueError for one that is not valid."""
    found = []
    for name in expanded(text):
        wild = "*" in name or "?" in name
        found += [host for host in hosts if fnmatchcase(host, name)] if wild else [name]
    return found


def _overlaps(placed: Sequence[PlacedJob]) -> Iterator[Finding]:
    """An error for each job that has hosts of an earlier one on the same plane and rails."""
    for number, one in enumerate(placed):
        for other in placed[:number]:
            rails, others = set(one.request.rails), set(other.request.rails)
            apart = bool(rails and others) and not rails & others
            shared = [host for host in one.hosts if host in set(other.hosts)]
            if apart or not shared or not set(one.planes) & set(other.planes):
                continue
            key = "hosts" if one.request.hosts else "count"
            message = f"{counted(len(shared), 'host')} of job {other.name} as well: {_short(shared)}"
            place = other.request.locations.get("hosts", other.request.locations.get(""))
            found = one.request.mistake(
                key, message, "give the jobs different hosts, or different `rails` of the same hosts", OVERLAP
            )
            related = (Related(f"the hosts of job {other.name}", place),) if place else ()
            yield _with_related(found, related)


def _with_related(found: Finding, related: tuple[Related, ...]) -> Finding:
    from dataclasses import replace

    return replace(found, related=related)


def _short(names: Sequence[str]) -> str:
    text = hostlist(names)
    return text if len(text) <= _MOST_NAMES else f"{names[0]} and {len(names) - 1} more"
