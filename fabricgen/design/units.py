"""The scalable unit of each host, and its place in the unit.

A group of hosts keeps its units; a new unit is the first free one. Appliances (subnet managers, fabric managers) take
the last places of unit 0. A full pod has that many fewer hosts, and no host moves when units are added: the 31, 63, 95
and 127 nodes of the DGX SuperPOD.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fabricgen.design.model import Host
from fabricgen.design.parts import PartsList
from fabricgen.inventory.plane import Plane, ScalableUnit
from fabricgen.inventory.references import error


class Place(NamedTuple):
    """A host's unit, and its place in it, both from 0."""

    unit: int
    place: int


class Seating(NamedTuple):
    """The place of every host of a plane. `units` has each group's units, `used` all of them in order."""

    places: Mapping[Host, Place]
    units: Mapping[str, tuple[int, ...]]
    used: tuple[int, ...]
    planned: int


def seat_hosts(plane: Plane, unit: ScalableUnit, hosts: Sequence[Host], parts: PartsList) -> Seating | None:
    """The places of the hosts of a plane; None, with a finding, if the planned units are too few."""
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
        places[host] = Place(0, unit.hosts - 1 - number)
    return Seating(places, units, used, unit.planned or needed)


def give_units(
    plane: Plane, unit: ScalableUnit, hosts: Sequence[Host], parts: PartsList, kept: int = 0
) -> dict[str, tuple[int, ...]]:
    """group -> its units; `kept` places of unit 0 are reserved."""
    prefix = f"{plane.name}/"
    given = {key.removeprefix(prefix): units for key, units in parts.units.items() if key.startswith(prefix)}
    taken = {number for units in given.values() for number in units}
    free = (number for number in itertools.count() if number not in taken)
    found = {}
    for group, size in Counter(host.group for host in hosts).items():
        chosen: list[int] = []
        for number in itertools.chain(given.get(group, ()), free):
            chosen.append(number)
            size -= unit.hosts - (kept if number == 0 else 0)
            if size <= 0:
                break
        found[group] = tuple(chosen)
    return found


def give_places(
    unit: ScalableUnit, hosts: Sequence[Host], units: Mapping[str, Sequence[int]], kept: int = 0
) -> dict[Host, Place]:
    """Every host in the next place of its group's units."""

    def places(numbers: Sequence[int]) -> Iterator[Place]:
        for number in numbers:
            for place in range(unit.hosts - (kept if number == 0 else 0)):
                yield Place(number, place)

    free = {group: places(numbers) for group, numbers in units.items()}
    return {host: next(free[host.group]) for host in hosts}
