"""Which hosts sit in which scalable unit, and where in it.

A group of hosts keeps the units that it was given; new ones come from the first that nobody has. Appliances (subnet
managers, fabric managers) take the last places of unit 0, so that a full pod has as many hosts less and nothing moves
when units are added: the 31, 63, 95 and 127 nodes of the DGX SuperPOD.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fabricgen.design.model import Host
from fabricgen.design.parts import PartsList
from fabricgen.inventory.model import Plane, ScalableUnit
from fabricgen.inventory.references import error


class Place(NamedTuple):
    """A host's unit, and its place in it, both from 0."""

    unit: int
    place: int


class Seating(NamedTuple):
    """Every host of a plane in its place. `units` has each group's units, `used` all of them in order."""

    places: Mapping[Host, Place]
    units: Mapping[str, tuple[int, ...]]
    used: tuple[int, ...]
    planned: int


def seat_hosts(plane: Plane, unit: ScalableUnit, hosts: Sequence[Host], parts: PartsList) -> Seating | None:
    """Seat the hosts of a plane; None, with a finding, where the planned units have no place for all."""
    appliances = parts.hosts(plane, unit.appliances)
    if len(appliances) >= unit.hosts:
        message = f"{len(appliances)} appliances leave no place in unit 0, which has {unit.hosts}"
        parts.findings.append(error("FG212", message, unit, "appliances", hint="larger units, or fewer appliances"))
        return None
    units = _give_units(plane, unit, hosts, len(appliances), parts)
    used = tuple(sorted({unit for given in units.values() for unit in given} | ({0} if appliances else set())))
    needed = used[-1] + 1
    if unit.planned is not None and needed > unit.planned:
        kept = f", {len(appliances)} kept for appliances," if appliances else ""
        message = f"{len(hosts)} hosts at {unit.hosts} to a unit{kept} make {needed} units, `planned` is {unit.planned}"
        hint = f"`planned: {needed}` or more; it changes the spines, so plan ahead"
        parts.findings.append(error("FG207", message, unit, "planned", hint=hint))
        return None
    places: dict[Host, Place] = {}
    seats = {group: _seats(given, unit, len(appliances)) for group, given in units.items()}
    for host in hosts:
        places[host] = next(seats[host.group])
    for number, host in enumerate(appliances):
        places[host] = Place(0, unit.hosts - 1 - number)
    return Seating(places, units, used, unit.planned or needed)


def _give_units(
    plane: Plane, unit: ScalableUnit, hosts: Sequence[Host], kept: int, parts: PartsList
) -> dict[str, tuple[int, ...]]:
    """group -> its units."""
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


def _seats(units: Sequence[int], unit: ScalableUnit, kept: int) -> "itertools.chain[Place]":
    """The places that a group may take, in order."""
    return itertools.chain.from_iterable(
        (Place(number, place) for place in range(unit.hosts - (kept if number == 0 else 0))) for number in units
    )
