"""The leaf of each NIC of a host within its unit: the one thing that differs between the Clos designs.

By rail: NIC r goes to the leaf of rail r, or of the group of rails that contains r. By side: each port of a NIC goes
to another leaf of the rail (dual-ToR). By host: a host's NICs go to one leaf, or are spread evenly over a few. Instead,
the ports of a NIC may go to subplanes: copies of the fabric that share no switch.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabricgen.design.model import Host
from fabricgen.design.parts import PartsList, plane_nics
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane
from fabricgen.platforms.model import HostModel, HostNic
from fabricgen.units import format_speed


class Socket(NamedTuple):
    """A leaf, as subplane and column of its unit, and the number of the NIC among the host's ports on that leaf."""

    subplane: int
    column: int
    ordinal: int


class Column(NamedTuple):
    """The leaf of a column in every unit: its (first) rail, and its NIC port if leaves of one rail share spines.

    None for a design without rails or sides.
    """

    rail: int | None
    side: int | None


@dataclass(frozen=True)
class Sockets:
    """The sockets of all host models of a plane."""

    by_nic: Mapping[str, Mapping[str, Socket]]  # model -> NIC
    columns: tuple[Column, ...]
    subplanes: int
    ports_per_host: int  # of one host on one leaf, at most


def rail_sockets(
    plane: Plane, hosts: Sequence[Host], appliances: Sequence[Host], parts: PartsList, *, by_side: bool = False
) -> Sockets | None:
    """Sockets by rail; None, with findings, where the NICs do not fit the design."""
    models, others = _models(hosts), _models(appliances)
    found = [(_rails(model, plane), _sides(model, plane)) for model in models]
    if not (_check_nics(plane, models, parts, rails=True) and _check_nics(plane, others, parts, rails=True, own=False)):
        return None
    if len(set(found)) > 1:
        counts = sorted({len(rails) for rails, _ in found})
        differ = f"have {' and '.join(map(str, counts))} rails" if len(counts) > 1 else "differ in rails or NIC ports"
        message = f"the hosts of plane {plane.name} {differ}"
        parts.findings.append(
            error(
                "FG209",
                message,
                plane,
                "hosts",
                hint="a plane needs one set of rails: name in `hosts` only groups that have the same",
            )
        )
        return None
    rails, sides = found[0]
    group = plane.rails_per_leaf
    if len(rails) % group:
        message = f"{len(rails)} rails cannot be divided into groups of {group} for a leaf"
        hint = f"set `rails_per_leaf:` to one of {_divisors(len(rails))}"
        parts.findings.append(error("FG213", message, plane, "rails_per_leaf", hint=hint))
        return None
    if by_side and len(sides) < 2:
        message = f"a dual-tor design needs NICs with at least 2 ports, the NICs of plane {plane.name} have 1"
        parts.findings.append(
            error("FG214", message, plane, "design", hint="set `design: rail-optimized`, or choose other hosts")
        )
        return None
    subplanes = plane.subplanes or (len(sides) if by_side else 1)
    if not all(_check_subplanes(plane, subplanes, model, parts) for model in models):
        return None
    shared_sides = sides if by_side and subplanes == 1 else (0,)
    if not _check_appliances(plane, others, rails, sides if subplanes > 1 or len(shared_sides) > 1 else None, parts):
        return None
    columns = [
        Column(rails[first], side if len(shared_sides) > 1 else None)
        for first in range(0, len(rails), group)
        for side in shared_sides
    ]

    def column(nic: HostNic, _: int, __: int) -> int:
        assert nic.rail is not None
        side = nic.port if len(shared_sides) > 1 else 0
        return rails.index(nic.rail) // group * len(shared_sides) + side

    return _sockets(plane, _models([*hosts, *appliances]), tuple(columns), subplanes, column)


def host_sockets(plane: Plane, hosts: Sequence[Host], appliances: Sequence[Host], parts: PartsList) -> Sockets | None:
    """Sockets by host, spread over the leaves of a unit; None, with findings, where the NICs do not fit."""
    models = _models([*hosts, *appliances])
    own, others = _models(hosts), _models(appliances)
    if not (_check_nics(plane, own, parts, rails=False) and _check_nics(plane, others, parts, rails=False, own=False)):
        return None
    leaves, subplanes = plane.leaves_per_unit, plane.subplanes or 1
    for model in models:
        if not _check_subplanes(plane, subplanes, model, parts):
            return None
        ports = len(_nics(model, plane)) // subplanes
        if ports % leaves and model in own:
            message = f"{model.name} has {ports} ports for the {leaves} leaves of a unit: they cannot be spread evenly"
            hint = f"set `leaves_per_unit:` to one of {_divisors(ports)}"
            parts.findings.append(error("FG213", message, plane, "leaves_per_unit", hint=hint))
            return None

    def column(_: HostNic, place: int, count: int) -> int:
        return place * leaves // count

    return _sockets(plane, models, (Column(None, None),) * leaves, subplanes, column)


def _sockets(
    plane: Plane,
    models: Sequence[HostModel],
    columns: tuple[Column, ...],
    subplanes: int,
    column_of: Callable[[HostNic, int, int], int],
) -> Sockets:
    """The sockets of each model.

    `column_of` takes a NIC, its place among the host's NICs of the subplane, and their count.

    The ports of a NIC are adjacent on a leaf, so that one cable can carry them.
    """
    by_nic: dict[str, dict[str, Socket]] = {}
    widest = 1
    for model in models:
        nics = _nics(model, plane)
        seen: Counter[int] = Counter()
        taken: Counter[tuple[int, int]] = Counter()
        leaves: dict[str, tuple[int, int]] = {}
        for nic in nics:
            subplane = nic.port if subplanes > 1 else 0
            leaves[nic.name] = subplane, column_of(nic, seen[subplane], len(nics) // subplanes)
            seen[subplane] += 1
        sockets = by_nic.setdefault(model.name, {})
        for nic in sorted(nics, key=lambda nic: (0, 0) if nic.rail is None else (nic.rail, nic.port)):
            leaf = leaves[nic.name]
            sockets[nic.name] = Socket(*leaf, taken[leaf])
            taken[leaf] += 1
        widest = max([widest, *taken.values()])
    return Sockets(by_nic, columns, subplanes, widest)


def _models(hosts: Sequence[Host]) -> list[HostModel]:
    return list({host.model.name: host.model for host in hosts}.values())


def _nics(model: HostModel, plane: Plane) -> list[HostNic]:
    """The NICs of a model on a plane; if any is on a rail, only those on a rail."""
    nics = plane_nics(model, plane)
    return [nic for nic in nics if nic.rail is not None] or nics


def _rails(model: HostModel, plane: Plane) -> tuple[int, ...]:
    return tuple(sorted({nic.rail for nic in plane_nics(model, plane) if nic.rail is not None}))


def _sides(model: HostModel, plane: Plane) -> tuple[int, ...]:
    return tuple(sorted({nic.port for nic in _nics(model, plane)}))


def _check_nics(plane: Plane, models: Sequence[HostModel], parts: PartsList, *, rails: bool, own: bool = True) -> bool:
    """Whether every model has NICs for the plane at its speed; a finding for the first that does not.

    Models are those of the plane's hosts (`own`), or of its appliances.
    """
    at = (plane, "hosts") if own or plane.unit is None else (plane.unit, "appliances")
    for model in models:
        nics = [nic for nic in _nics(model, plane) if not rails or nic.rail is not None]
        wrong = sorted({nic.speed_mbps for nic in nics} - {plane.speed_mbps})
        if wrong or not nics:
            speed = format_speed(plane.speed_mbps or 0)
            message = (
                f"the NICs of {model.name} for plane {plane.name} are on no rail, {plane.design} connects NICs by rail"
            )
            hint = "give the NICs `rails` or `rail`, or set `design: fat-tree`"
            if wrong:
                message = f"{model.name} has NICs of {format_speed(wrong[0])}, plane {plane.name} runs at {speed}"
                hint = "set the plane's `speed` to that of the NICs, or move these hosts to another plane"
            parts.findings.append(error("FG209", message, *at, hint=hint))
            return False
    return True


def _check_appliances(
    plane: Plane, models: Sequence[HostModel], rails: Sequence[int], sides: Sequence[int] | None, parts: PartsList
) -> bool:
    """Whether every NIC of an appliance has a leaf: hosts have its rail and its port (sides None: any port)."""
    assert plane.unit
    for model in models:
        for nic in _nics(model, plane):
            missing = f"on rail {nic.rail}, which" if nic.rail not in rails else ""
            if not missing and sides is not None and nic.port not in sides:
                missing = f"port {nic.port} of its card, which"
            if missing:
                message = (
                    f"NIC {nic.name} of {model.name} is {missing} no host of plane {plane.name} has: it has no leaf"
                )
                hint = "give the models of `appliances` the rails and NIC ports of the hosts, in `host_models`"
                parts.findings.append(error("FG209", message, plane.unit, "appliances", hint=hint))
                return False
    return True


def _check_subplanes(plane: Plane, subplanes: int, model: HostModel, parts: PartsList) -> bool:
    """Whether the NICs have ports in every subplane, the same number in each."""
    sides, counts = _sides(model, plane), Counter(nic.port for nic in _nics(model, plane))
    if subplanes == 1 or (sides == tuple(range(subplanes)) and len(set(counts.values())) == 1):
        return True
    if sides == tuple(range(subplanes)):
        each = " and ".join(str(counts[side]) for side in sides)
        message = f"{model.name} has {each} NIC ports for the {subplanes} subplanes of plane {plane.name}"
        hint = "give each subplane the same number of ports"
        parts.findings.append(error("FG214", message, plane, "subplanes", hint=hint))
        return False
    message = f"{subplanes} subplanes need a NIC port each, the NICs of plane {plane.name} have {len(sides)}"
    hint = f"set `subplanes: {len(sides)}`" if sides == tuple(range(len(sides))) else "number the NICs' ports from 0"
    parts.findings.append(error("FG214", message, plane, "subplanes", hint=hint))
    return False


def _divisors(number: int) -> str:
    return ", ".join(str(each) for each in range(1, number + 1) if number % each == 0)
