"""Short names of switches, and the groups that a picture separates."""

from fabricgen.draw.scene import LETTER
from fabricgen.draw.topology import Topology


def unit_of(topology: Topology, index: int) -> tuple[object, ...]:
    """What the gaps of a tier separate: subplane, pod and scalable unit."""
    switch = topology.switches[index]
    return switch.subplane, topology.pods[index], switch.su


def short_name(topology: Topology, index: int, width: float, unit: int | None = None) -> str:
    """The longest name of a switch that fits into a box: its name, its role and number, its rail, its number. Of the
    only switch of a scalable `unit` the number is that of the unit."""
    switch = topology.switches[index]
    number = switch.name[len(switch.name.rstrip("0123456789")) :].lstrip("0") or "0"
    number = number if switch.name[-1:].isdigit() else ""
    if switch.name.rstrip("0123456789").endswith(("rail", "rails")):
        number = ""  # it is the rail
    number = number if unit is None else f"{unit}"
    rail = "" if switch.rail is None else f"r{switch.rail}"
    names = (switch.name, f"{switch.role} {number}" if number and not rail else "", f"{rail} {number}".strip(), rail)
    fitting = (name for name in (*names, number) if name and LETTER * len(name) + 6 <= width)
    return next(fitting, "")
