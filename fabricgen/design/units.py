"""Which scalable units each group of hosts has, and where a host sits in them. Growth moves nobody."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from fabricgen.design.model import Host
from fabricgen.design.parts import PartsList
from fabricgen.inventory.model import Plane, ScalableUnit


def give_units(plane: Plane, unit: ScalableUnit, hosts: list[Host], parts: PartsList) -> dict[str, tuple[int, ...]]:
    """group -> its units: those it was given before, then the first that nobody was given."""
    prefix = f"{plane.name}/"
    given = {key.removeprefix(prefix): units for key, units in parts.units.items() if key.startswith(prefix)}
    free = (number for number in itertools.count() if all(number not in units for units in given.values()))
    found = {}
    for group, size in Counter(host.group for host in hosts).items():
        needed = -(-size // unit.hosts)
        held = given.get(group, ())[:needed]
        found[group] = (*held, *itertools.islice(free, needed - len(held)))
    return found


def places(unit: ScalableUnit, hosts: list[Host], units: Mapping[str, Sequence[int]]) -> dict[Host, tuple[int, int]]:
    """host -> (unit, place in it)."""
    return {host: (units[host.group][host.number // unit.hosts], host.number % unit.hosts) for host in hosts}
