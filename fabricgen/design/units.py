"""The scalable unit of each host, and its place in the unit.

A group of hosts keeps its units; a new unit is the first free one. Groups with `places` share units, and each has its
own places there, so no host moves when one of them grows. Appliances (subnet managers, fabric managers) take the last
places of unit 0. A full pod has that many fewer hosts, and no host moves when units are added: the 31, 63, 95 and 127
nodes of the DGX SuperPOD.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fabricgen.design.model import Host
from fabricgen.design.parts import PartsList
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import ScalableUnit


class UnitPlace(NamedTuple):
    """A host's unit, and its place in it, both from 0."""

    unit: int
    place: int


class Seating(NamedTuple):
    """The place of every host of a plane. `units` has each group's units, `used` all of them in order."""

    places: Mapping[Host, UnitPlace]
    units: Mapping[str, tuple[int, ...]]
    used: tuple[int, ...]
    planned: int


def seat_hosts(plane: Plane, unit: ScalableUnit, hosts: Sequence[Host], parts: PartsList) -> Seating | None:
    """The places of the hosts of a plane; None, with a finding, if the planned units are too few."""
    problems = list(_check_places(plane, unit))
    parts.findings.extend(problems)
    if problems:
        return None
    appliances = parts.hosts(plane, unit.appliances)
    if len(appliances) >= unit.hosts:
        message = f"{len(appliances)} appliances leave no place in unit 0, which has {unit.hosts}"
        parts.findings.append(
            error(
                "FG212",
                message,
                unit,
                "appliances",
                hint="increase `scalable_unit.hosts`, or remove groups from `appliances`",
            )
        )
        return None
    units = give_units(plane, unit, hosts, parts, len(appliances))
    used = tuple(sorted({unit for given in units.values() for unit in given} | ({0} if appliances else set())))
    needed = used[-1] + 1
    if unit.planned is not None and needed > unit.planned:
        kept = f", {len(appliances)} reserved for appliances" if appliances else ""
        message = f"{len(hosts)} hosts, {unit.hosts} in a unit{kept}, make {needed} units, `planned` is {unit.planned}"
        hint = f"set `planned: {needed}` or more; a change moves spines, so plan ahead"
        parts.findings.append(error("FG207", message, unit, "planned", hint=hint))
        return None
    places = give_places(unit, hosts, units, len(appliances))
    for number, host in enumerate(appliances):
        places[host] = UnitPlace(0, unit.hosts - 1 - number)
    return Seating(places, units, used, unit.planned or needed)


def give_units(
    plane: Plane, unit: ScalableUnit, hosts: Sequence[Host], parts: PartsList, kept: int = 0
) -> dict[str, tuple[int, ...]]:
    """group -> its units; `kept` places of unit 0 are reserved."""
    prefix = f"{plane.name}/"
    given = {key.removeprefix(prefix): units for key, units in parts.units.items() if key.startswith(prefix)}
    taken = {number for units in given.values() for number in units}
    free = (number for number in itertools.count() if number not in taken)
    sizes = Counter(host.group for host in hosts)
    shared = tuple(group for group in sizes if group in unit.places)
    found: dict[str, tuple[int, ...]] = {}
    for group in sizes:
        members = shared if group in shared else (group,)
        if group not in found:
            held = max((given.get(member, ()) for member in members), key=len)
            chosen = _units_for({each: sizes[each] for each in members}, itertools.chain(held, free), unit, kept)
            found |= dict.fromkeys(members, chosen)
    return {group: found[group] for group in sizes}


def _units_for(sizes: Mapping[str, int], numbers: Iterable[int], unit: ScalableUnit, kept: int) -> tuple[int, ...]:
    """As many of the numbers as groups that share units need."""
    left, chosen = dict(sizes), []
    for number in numbers:
        chosen.append(number)
        left = {group: size - len(_room(unit, group, number, kept)) for group, size in left.items()}
        if max(left.values()) <= 0:
            break
    return tuple(chosen)


def give_places(
    unit: ScalableUnit, hosts: Sequence[Host], units: Mapping[str, Sequence[int]], kept: int = 0
) -> dict[Host, UnitPlace]:
    """Every host in the next place of its group's units."""

    def places(group: str, numbers: Sequence[int]) -> Iterator[UnitPlace]:
        for number in numbers:
            for place in _room(unit, group, number, kept):
                yield UnitPlace(number, place)

    free = {group: places(group, numbers) for group, numbers in units.items()}
    return {host: next(free[host.group]) for host in hosts}


def _room(unit: ScalableUnit, group: str, number: int, kept: int) -> range:
    """The places of a group in one of its units: all, or its part where groups share units."""
    end = unit.hosts - (kept if number == 0 else 0)
    if group not in unit.places:
        return range(end)
    before = itertools.takewhile(lambda other: other != group, unit.places)
    first = sum(unit.places[other] for other in before)
    return range(first, min(first + unit.places[group], end))


def _check_places(plane: Plane, unit: ScalableUnit) -> Iterator[Finding]:
    """`places` of groups that are not on the plane, and more places than a unit has."""
    for group in unit.places:
        if group not in plane.hosts:
            message = f"{group} has places in the units of plane {plane.name}, and is not among its hosts"
            hint = f"add {group} to `{plane.path}.hosts`, or remove its places"
            yield error("FG853", message, unit, "places", group, hint=hint)
    total = sum(unit.places.values())
    if total > unit.hosts:
        message = f"the groups of `places` have {total} places, a unit has {unit.hosts}"
        yield error("FG853", message, unit, "places", hint=f"set `scalable_unit.hosts: {total}`, or reduce places")
