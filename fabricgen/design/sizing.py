"""The Clos with the fewest switches for a number of hosts: a search over the keys that decide its counts.

The keys are the hosts of a unit, `planned`, `rails_per_leaf` or `leaves_per_unit`, `subplanes`, and `pod`. Candidates
are judged in the order of a lower bound of their switches, so that few of them are counted in full. Of layouts with
equally many switches, the one with the fewest tiers is taken, then the default of the design's own keys (a leaf for
each rail), then the fewest uplinks. Leaves with more than one uplink have more than one spine above them, so that the
failure of a spine disconnects no host.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import NamedTuple

from fabricgen.design.clos import (
    ClosIntent,
    ClosPlan,
    DoesNotFitError,
    exact_ratio,
    plan_clos,
    plan_columns,
    ports_below,
    uplinks_for,
)
from fabricgen.design.first_layout import CLOS_CABLES, CORE_CABLE, Demand, FirstLayout, NoLayoutError
from fabricgen.vocabulary import LinkKind, Role

_CABLES = (LinkKind.HOST_LEAF, LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE)  # with each further tier
_MOST_FREE_UNITS = 64  # planned units that are tried because they need no further switch


class Seats(NamedTuple):
    """How the NIC ports of a host spread over the leaves of its unit, and the keys of the plane that say so.

    Rules give the default of the design first.
    """

    columns: int  # leaves of a unit in a subplane
    width: int  # ports of a host on one of them
    subplanes: int
    pods_by_column: bool
    keys: Mapping[str, int]


SeatRule = Callable[[Demand], Iterable[Seats]]


def rail_seats(demand: Demand, *, by_side: bool = False) -> Iterator[Seats]:
    """Leaves by rail, or by rail and side (dual-ToR), for every `rails_per_leaf` and number of subplanes."""
    sides = demand.nics // demand.rails if demand.rails else 0
    if not sides:
        return
    default = sides if by_side else 1
    for subplanes in dict.fromkeys((default, 1, sides)):
        shared = by_side and subplanes == 1 and sides > 1  # both sides below the same spines
        chosen = {} if subplanes == default else {"subplanes": subplanes}
        for group in _divisors(demand.rails):
            keys = {"rails_per_leaf": group} if group > 1 else {}
            columns = demand.rails // group * (sides if shared else 1)
            width = group if shared else group * sides // subplanes
            yield Seats(columns, width, subplanes, not shared, {**chosen, **keys})


def host_seats(demand: Demand, *, homes: int | None = None) -> Iterator[Seats]:
    """The NICs of a host on one leaf, or spread over a few; with `homes`, over that many."""
    for leaves in _divisors(demand.nics):
        if homes in (None, leaves):
            yield Seats(leaves, demand.nics // leaves, 1, False, {"leaves_per_unit": leaves} if leaves > 1 else {})


@dataclass(frozen=True)
class Size:
    """A layout with its counts. `switches` are those of the units that the hosts need now."""

    seats: Seats
    preference: int  # of the seats: the default of the design is 0
    unit_hosts: int
    units: int
    planned: int
    pod_units: int | None
    plan: ClosPlan
    spines: int | None = None  # of a pod, where the plane must state them

    @property
    def leaves(self) -> int:
        """Leaves of the units in use."""
        return self.units * self.seats.columns * self.seats.subplanes

    @property
    def switches(self) -> int:
        """All switches that are built for the units in use."""
        plan, columns = self.plan, self.seats.columns if self.plan.pods_by_column else 1
        spines = ceil(self.units / plan.units_per_pod) * columns * plan.spines_per_pod
        return self.leaves + self.seats.subplanes * (spines + plan.spines_per_pod * plan.cores_per_group)

    @property
    def keys(self) -> dict[str, str]:
        """The keys of the plane beside its scalable unit, as text."""
        pod = {"pod": f"{{units: {self.pod_units}}}"} if self.pod_units else {}
        return {**{key: str(number) for key, number in self.seats.keys.items()}, **pod}

    @property
    def order(self) -> tuple[int, ...]:
        """What is better comes first."""
        plan = self.plan
        return (
            self.switches, plan.tiers, self.preference, self.leaves * plan.uplinks, self.pod_units is not None,
            -self.unit_hosts,
        )  # fmt: skip


@dataclass(frozen=True)
class FirstClos:
    """The first layout of a design of the Clos family. `joined`: spines join all columns."""

    rule: SeatRule
    joined: bool = True

    def __call__(self, demand: Demand) -> FirstLayout:
        """The keys of the layout with the fewest switches. Raises NoLayoutError."""
        size = smallest(demand, self.rule, joined=self.joined)
        tiers = ("leaf", "spine", "core")[: size.plan.tiers]
        cables = {kind: cable for kind, cable in {**CLOS_CABLES, **CORE_CABLE}.items() if kind in _CABLES[: len(tiers)]}
        counts: dict[str, int] = {Role.SPINE: size.spines} if size.spines else {}
        return FirstLayout(tiers, cables, size.unit_hosts, size.units, size.planned, size.keys, counts, size.switches)


def smallest(demand: Demand, rule: SeatRule, *, joined: bool = True) -> Size:
    """The layout with the fewest switches. `joined`: spines join all columns. Raises NoLayoutError."""
    candidates = sorted(
        (_bound(demand, seats, unit, joined), number, seats, unit)
        for number, seats in enumerate(rule(demand))
        for unit in range(1, demand.leaf_host_ports // seats.width + 1)
    )
    best: Size | None = None
    for bound, number, seats, unit in candidates:
        if best and bound > best.switches:
            break
        for size in _sizes(demand, seats, number, unit, joined):
            if best is None or size.order < best.order:
                best = size
    if best is None:
        raise NoLayoutError(
            f"no layout joins {demand.planned_hosts} hosts x {demand.nics} NICs with leaves of "
            f"{demand.leaf_host_ports} ports and spines of {demand.spine_ports}"
        )
    return _with_free_units(demand, best, joined)


def _units(demand: Demand, unit: int) -> tuple[int, int]:
    """Units in use, and planned."""
    units = ceil(demand.hosts / unit)
    return units, max(units, ceil(demand.planned_hosts / unit))


def _uplinks(demand: Demand, seats: Seats, unit: int) -> int:
    return uplinks_for(unit * seats.width, demand.host_mbps, demand.uplink_mbps, demand.leaf_oversubscription)


def _bound(demand: Demand, seats: Seats, unit: int, joined: bool) -> int:
    """Fewer switches than this cannot join the hosts: all leaves, and the ports above that their uplinks need."""
    units, planned = _units(demand, unit)
    leaves = units * seats.columns
    if not joined and planned == 1:
        return leaves * seats.subplanes
    uplinks = leaves * _uplinks(demand, seats, unit)
    above = max(1, ceil(uplinks / demand.spine_ports))
    if joined and planned * seats.columns > demand.spine_ports and demand.core_ports:
        cores = ceil(uplinks / exact_ratio(demand.spine_oversubscription) / demand.core_ports)
        above = ceil(uplinks / ports_below(demand.spine_ports, demand.spine_oversubscription)) + cores
    return (leaves + above) * seats.subplanes


def _sizes(demand: Demand, seats: Seats, number: int, unit: int, joined: bool) -> Iterator[Size]:
    """The layouts with this unit: of two tiers, else of three tiers with pods of any size."""
    units, planned = _units(demand, unit)
    make = partial(_size, demand, seats, number, unit, units, planned)
    if not joined and planned == 1:
        yield Size(seats, number, demand.leaf_host_ports // seats.width, units, 1, None, ClosPlan(0, 0, 0, 1, 1))
        return
    two = make(None, tiers=None if not joined else 2, joined=joined)
    if two or not joined or demand.core_ports is None:
        yield from [two] if two else []
        return
    for pod_units in (None, *range(1, planned + 1)):
        if pod_units and pod_units * (1 if seats.pods_by_column else seats.columns) > demand.spine_ports:
            break
        three = make(pod_units, tiers=None, joined=True)
        yield from [three] if three else []


def _size(
    demand: Demand, seats: Seats, number: int, unit: int, units: int, planned: int, pod_units: int | None,
    tiers: int | None, joined: bool,
) -> Size | None:  # fmt: skip
    """The layout; None if it does not fit the ports."""
    uplinks, host_ports = _uplinks(demand, seats, unit), unit * seats.width
    shared = demand.host_mbps == demand.uplink_mbps
    if uplinks > demand.leaf_uplink_ports or host_ports + (uplinks if shared else 0) > demand.leaf_host_ports:
        return None
    intent = ClosIntent(
        columns=seats.columns,
        units=planned,
        uplinks=uplinks,
        spine_radix=demand.spine_ports,
        core_radix=demand.core_ports,
        spine_oversubscription=demand.spine_oversubscription,
        tiers=tiers,
        pod_units=pod_units,
        pods_by_column=seats.pods_by_column,
    )
    made = plan_clos if joined else plan_columns
    try:
        plan = made(intent)
        spines = _second_spine(plan)
        return Size(seats, number, unit, units, planned, pod_units, made(replace(intent, spines=spines)), spines)
    except DoesNotFitError:
        return None


def _second_spine(plan: ClosPlan) -> int | None:
    """The spines of a pod for a plan with one: the fewest that share a leaf's uplinks evenly. None: the plan's own."""
    if plan.spines_per_pod != 1:
        return None
    return next((count for count in _divisors(plan.uplinks) if count > 1), None)


def _with_free_units(demand: Demand, size: Size, joined: bool) -> Size:
    """The layout with the most planned units for which neither a switch nor an uplink is added."""
    for planned in range(size.planned + 1, size.planned + _MOST_FREE_UNITS):
        if size.plan.tiers == 1:
            break
        tiers = 2 if joined and size.plan.tiers == 2 else None
        more = _size(
            demand, size.seats, size.preference, size.unit_hosts, size.units, planned, size.pod_units, tiers, joined
        )
        if more is None or more.order != size.order:
            break
        size = more
    return size


def _divisors(number: int) -> list[int]:
    return [part for part in range(1, number + 1) if number % part == 0]
