"""Whether lists of SRv6 uSIDs take the paths that the wiring has: each list is followed through the tables of switches.

The paths are those of a Clos: from a leaf over each of its links upwards, and down to the NIC. Each hop has the uSID
whose route leads over that link alone. A list is wrong if a hop has no such uSID, or if the tables send it another way.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Finding, Severity
from fabricgen.results import PathsResult, WrongList
from fabricgen.routing.usids import UsidList, UsidPlane, usid_planes
from fabricgen.simulate.plane.findings import finding_at
from fabricgen.simulate.plane.steering import MOST_LISTS, wrong_lists


def analyse_paths(bundle: Bundle, plane: str | None = None, most: int = MOST_LISTS) -> list[PathsResult]:
    """The result of each plane with uSIDs, wrong ones first. With more than `most` lists, those of every n-th pair of a
    leaf and a NIC are walked."""
    found = [_judged(name, switches, most) for name, switches in usid_planes(bundle, plane)]
    return sorted(found, key=lambda one: one.is_proved)


def _judged(name: str, plane: UsidPlane, most: int) -> PathsResult:
    leaves = list(dict.fromkeys(link.b[0] for link in plane.nics))
    total = sum(plane.path_count(source, link.b[0]) for source in leaves for link in plane.nics)
    step = max(1, -(-total // most))
    wrong: dict[tuple[Endpoint, str], WrongList] = {}
    used, left, walked = Counter[Endpoint](), dict[tuple[str, str], int](), 0
    for number, source in enumerate(leaves):
        for link in plane.nics[number % step :: step]:
            lists = list(plane.lists(source, link))
            walked += len(lists)
            for one in lists:
                used.update(one.hops[:-1])
                walk = plane.walk(source, one.destination) if one.destination else None
                if problem := plane.problem(source, one, walk):
                    shown = one.destination.ip if one.destination else ""
                    first = wrong.get(problem) or WrongList(source, one.nic, shown, *problem, 0)
                    wrong[problem] = replace(first, lists=first.lists + 1)
            if source != link.b[0] and lists and (source, link.b[0]) not in left:
                left[source, link.b[0]] = len(lists) - _most_on_a_link(plane, lists)
    known = {*plane.switches}
    directions = [end for one in plane.bundle.switch_links if {one.a[0], one.b[0]} <= known for end in (one.a, one.b)]
    worst = min(left, key=lambda pair: left[pair], default=("", ""))
    uses = [used[end] for end in directions] if walked == total else []
    return PathsResult(
        name=name,
        block=str(plane.block or ""),
        switches=len(plane.switches),
        nics=len(plane.nics),
        lists=total,
        walked=walked,
        links=len(directions),
        wrong=tuple(sorted(wrong.values(), key=lambda one: -one.lists)),
        least=min(uses, default=None),
        most=max(uses, default=None),
        after_failure=left.get(worst),
        worst=worst,
    )


def _most_on_a_link(plane: UsidPlane, lists: Sequence[UsidList]) -> int:
    """The most of the lists that one link between switches has."""
    used = Counter(plane.bundle.link_at[hop].id for one in lists for hop in one.hops[:-1])
    return max(used.values(), default=0)


def paths_findings(bundle: Bundle, results: Sequence[PathsResult]) -> Iterator[Finding]:
    """FG749 for wrong lists and for planes that a failure divides; FG708 where nothing is judged."""
    if not results:
        yield finding_at(bundle, "FG708", Severity.ERROR, "not simulated: no switch has a row of SRV6_MY_LOCATORS", "")
    for result in results:
        plane = f"plane {result.name}: " if result.name else ""
        if not result.lists:
            message = f"{plane}not simulated: the files contain no hosts, so no list has an end"
            yield finding_at(bundle, "FG708", Severity.ERROR, message, "", certain=True)
        yield from wrong_lists(bundle, result.wrong)
        if result.after_failure == 0:
            message = f"{plane}one link that fails leaves no list from {result.worst[0]} to {result.worst[1]}"
            hint = "add a second spine or link, or let hosts use another plane meanwhile"
            yield finding_at(bundle, "FG749", Severity.WARNING, message, result.worst[0], hint, certain=True)
