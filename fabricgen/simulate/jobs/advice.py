"""What a scheduler should avoid, in words: pairs of jobs that slow each other, and where one of them fits."""

from collections.abc import Iterator, Mapping, Sequence

from fabricgen.results import JobAdvice, JobBlock, JobPair
from fabricgen.simulate.workload import PlacedJob, PlaneSite
from fabricgen.simulate.workload.sites import Unit
from fabricgen.units import counted

SLOWER = 1.05  # times as long beside another job; less is not reported
_MOST = 5  # pairs, and blocks


def advice_of(
    site: PlaneSite, placed: Sequence[PlacedJob], pairs: Sequence[JobPair], blocks: Sequence[JobBlock]
) -> tuple[JobAdvice, ...]:
    """The advice on the pairs that slow each other most, then on jobs that only pauses connect."""
    return (*_on_pairs(site, placed, pairs), *_on_blocks(blocks))


def _on_pairs(site: PlaneSite, placed: Sequence[PlacedJob], pairs: Sequence[JobPair]) -> Iterator[JobAdvice]:
    by_name = {one.name: one for one in placed}
    slowed = [one for one in pairs if max(one.slowdown.mean, one.other_slowdown.mean) >= SLOWER]
    for one in slowed[:_MOST]:
        text = f"jobs {one.job} and {one.other} share {counted(one.links, 'link')} {_where(one)}: {_effect(one)}"
        if move := _move(site, placed, by_name[one.job], by_name[one.other]):
            text += f"; {move}"
        yield JobAdvice((one.job, one.other), text)
    if rest := slowed[_MOST:]:
        named = tuple(dict.fromkeys(name for one in rest for name in (one.job, one.other)))
        yield JobAdvice(named, f"{counted(len(rest), 'more pair')} of jobs slow each other by 5 % or more")


def _on_blocks(blocks: Sequence[JobBlock]) -> Iterator[JobAdvice]:
    for one in [one for one in blocks if not one.shares_links][:_MOST]:
        device, port = one.root
        flows = counted(one.victims, "flow")
        text = f"jobs {one.job} and {one.by} do not share a link, but {flows} of {one.job} wait for pauses behind "
        text += f"{port} of {device}, which {one.by} fills: place them below different leaves"
        yield JobAdvice((one.job, one.by), text)


def _where(one: JobPair) -> str:
    device, most = one.places[0]
    return f"of {device}" if len(one.places) == 1 else f"of {len(one.places)} switches, {most} of {device}"


def _effect(one: JobPair) -> str:
    effects = [(one.job, one.slowdown.mean, one.other), (one.other, one.other_slowdown.mean, one.job)]
    slower = [
        f"{name} takes {factor:.2f} times as long beside {other}" for name, factor, other in effects if factor >= SLOWER
    ]
    return ", and ".join(slower)


def _move(site: PlaneSite, placed: Sequence[PlacedJob], one: PlacedJob, other: PlacedJob) -> str:
    """A unit with room for one of two jobs, the smaller one first; "" if neither has one."""
    free = _free(site, placed)
    for job in sorted((one, other), key=lambda job: (len(job.hosts), job.name)):
        own = [site.unit[host] for host in job.hosts]
        if job.request.pinned or job.request.rails or len(set(own)) < 2:
            continue
        room = {unit: free.get(unit, 0) + own.count(unit) for unit in site.units}
        fitting = [unit for unit, hosts in room.items() if hosts >= len(job.hosts)]
        if fitting:
            best = min(fitting, key=lambda unit: (room[unit], unit))
            kept = own.count(best)
            there = f", where it has {kept} already" if kept else ""
            return f"put all {len(job.hosts)} hosts of {job.name} into {best.name}{there}"
    return ""


def _free(site: PlaneSite, placed: Sequence[PlacedJob]) -> Mapping[Unit, int]:
    taken = {host for one in placed for host in one.hosts}
    found: dict[Unit, int] = {}
    for host in site.hosts:
        if host not in taken:
            found[site.unit[host]] = found.get(site.unit[host], 0) + 1
    return found
