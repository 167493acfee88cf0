"""Layouts with fewer switches than a plane has, for the same hosts, planned hosts and bandwidth."""

from collections.abc import Iterator
from typing import Any

from fabricgen.design.first_layout import Demand, NoLayoutError
from fabricgen.design.model import PlaneDesign, Switch
from fabricgen.design.parts import plane_nics
from fabricgen.design.registry import designs
from fabricgen.design.sizing import FirstClos, SeatRule, Seats, Size, smallest
from fabricgen.inventory.plane import Plane
from fabricgen.vocabulary import Role

_WORTH_A_CHANGE = 0.9  # a layout with more than 9 of 10 switches is not named


def waste(design: PlaneDesign) -> list[dict[str, Any]]:
    """Changes of keys, each with the switches that it needs; the first changes only the scalable unit (and pods).

    A change of the rails or hosts of a leaf is a change of the design's character. It is named only where more than
    half of the leaf ports are spare. Empty for designs that are not of the Clos family, and where the inventory sets
    counts itself.
    """
    found: list[dict[str, Any]] = []
    least = len(design.switches)
    for size in _smaller(design):
        if size.switches <= _WORTH_A_CHANGE * least:
            change, least = _keys(design.plane, size), size.switches
            found.append({"change": change, "switches": least, "instead_of": len(design.switches)})
    return found


def _smaller(design: PlaneDesign) -> Iterator[Size]:
    """The least layout with the leaves of a unit as they are, then with any."""
    plane, demand = design.plane, _demand(design)
    first = designs()[plane.design].first_layout
    if demand is None or not isinstance(first, FirstClos):
        return
    rules: list[SeatRule] = [lambda each: (seats for seats in first.rule(each) if _as_now(plane, seats))]
    if _is_mostly_spare(design):
        rules.append(first.rule)
    for rule in rules:
        try:
            yield smallest(demand, rule, joined=first.joined)
        except NoLayoutError:
            continue


def _demand(design: PlaneDesign) -> Demand | None:
    """What the plane connects; None where the inventory sets counts that a layout must keep."""
    plane, unit = design.plane, design.plane.unit
    tiers = {switch.role: switch.layout for switch in design.switches}
    fixed = plane.pod_units or plane.tier_count or any(tier.count or tier.newer for tier in plane.tiers.values())
    if unit is None or unit.appliances or unit.places or fixed or Role.SPINE not in tiers or not plane.speed_mbps:
        return None
    models = {host.model.name: host.model for host in design.hosts}
    if len(models) != 1:
        return None
    (model,) = models.values()
    if model.hosts_per_domain > 1:
        return None  # a unit is a whole number of racks
    nics = plane_nics(model, plane)
    rails = {nic.rail for nic in nics if nic.rail is not None}
    nics = [nic for nic in nics if nic.rail is not None] or nics

    def ports(role: Role, speed_mbps: int) -> int:
        return len(tiers[role].ports_at(speed_mbps)) - plane.tiers[role].spare_ports

    planned = unit.planned or len({number for given in design.units.values() for number in given})
    return Demand(
        hosts=len(design.hosts),
        planned_hosts=max(len(design.hosts), unit.hosts * planned),
        nics=len(nics),
        rails=len(rails),
        host_mbps=plane.speed_mbps,
        uplink_mbps=plane.uplink_mbps,
        leaf_host_ports=ports(Role.LEAF, plane.speed_mbps),
        leaf_uplink_ports=ports(Role.LEAF, plane.uplink_mbps),
        spine_ports=ports(Role.SPINE, plane.uplink_mbps),
        core_ports=ports(Role.CORE, plane.uplink_mbps) if Role.CORE in tiers else None,
        leaf_oversubscription=plane.oversubscription[Role.LEAF],
        spine_oversubscription=plane.oversubscription[Role.SPINE],
    )


def _as_now(plane: Plane, seats: Seats) -> bool:
    """Whether the seats are those of the plane."""
    groups = seats.keys.get("rails_per_leaf", 1), seats.keys.get("leaves_per_unit", 1)
    subplanes = plane.subplanes or seats.subplanes
    is_default = plane.subplanes is not None or "subplanes" not in seats.keys
    return groups == (plane.rails_per_leaf, plane.leaves_per_unit) and subplanes == seats.subplanes and is_default


def _is_mostly_spare(design: PlaneDesign) -> bool:
    """Whether more than half of all leaf ports have no link."""
    leaves = [switch for switch in design.switches if switch.role == Role.LEAF]
    used = sum(isinstance(end, Switch) and end.role == Role.LEAF for link in design.links for end in (link.a, link.b))
    return 2 * used < sum(len(leaf.layout.fabric_ports) for leaf in leaves)


def _keys(plane: Plane, size: Size) -> str:
    """The keys to change, as YAML on one line."""
    now = {"rails_per_leaf": plane.rails_per_leaf, "leaves_per_unit": plane.leaves_per_unit}
    keys = {key: str(size.seats.keys.get(key, 1)) for key in now if size.seats.keys.get(key, 1) != now[key]}
    keys |= {key: text for key, text in size.keys.items() if key not in now}
    planned = f", planned: {size.planned}" if size.planned > size.units else ""
    unit = f"scalable_unit: {{hosts: {size.unit_hosts}{planned}}}"
    spines = [f"spine: {{count: {size.spines}}}"] if size.spines else []
    return ", ".join([*(f"{key}: {text}" for key, text in keys.items()), unit, *spines])
