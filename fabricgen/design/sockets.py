"""Which leaf of its unit each NIC of a host is plugged into: the one thing that the Clos designs do differently.

By rail: NIC r goes to the leaf of rail r, or of the group of rails that r is in. By side: the ports of a NIC go to as
many leaves of the rail (dual-ToR). By host: a host's NICs go to one leaf, or are dealt out evenly over a few. Ports of
a NIC may lead to subplanes instead: copies of the fabric that share no switch.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabricgen.design.model import Host
from fabricgen.design.parts import PartsList, plane_nics
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.references import error
from fabricgen.platforms.model import HostModel, HostNic
from fabricgen.units import format_speed


class Socket(NamedTuple):
    """A leaf, as subplane and column of its unit, and which of a host's ports on that leaf it is."""

    subplane: int
    column: int
    ordinal: int


class Column(NamedTuple):
    """The leaf of a column in every unit: its (first) rail, and the NIC port it serves where leaves of one rail share
    their spines. None where there is no such thing.
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
    models = _models(hosts)
    found = [(_rails(model, plane), _sides(model, plane)) for model in models]
    if not _check_nics(plane, [*models, *_models(appliances)], parts, rails=True):
        return None
    if len(set(found)) > 1:
        counts = sorted({len(rails) for rails, _ in found})
        differ = f"have {' and '.join(map(str, counts))} rails" if len(counts) > 1 else "differ in rails or NIC ports"
        message = f"the hosts of plane {plane.name} {differ}"
        parts.findings.append(error("FG209", message, plane, "hosts", hint="one plane needs one set of rails"))
        return None
    rails, sides = found[0]
    if not _check_appliances(plane, _models(appliances), rails, sides, parts):
        return None
    group = plane.rails_per_leaf
    if len(rails) % group:
        message = f"{len(rails)} rails cannot be split into groups of {group} to a leaf"
        hint = f"`rails_per_leaf:` one of {_divisors(len(rails))}"
        parts.findings.append(error("FG213", message, plane, "rails_per_leaf", hint=hint))
        return None
    subplanes = plane.subplanes or (len(sides) if by_side else 1)
    if not _check_subplanes(plane, subplanes, sides, parts):
        return None
    shared_sides = sides if by_side and subplanes == 1 else (0,)
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
    """Sockets by host, dealt out over the leaves of a unit; None, with findings, where that cannot be."""
    models = _models([*hosts, *appliances])
    if not _check_nics(plane, models, parts, rails=False):
        return None
    leaves, subplanes = plane.leaves_per_unit, plane.subplanes or 1
    for model in models:
        if not _check_subplanes(plane, subplanes, _sides(model, plane), parts):
            return None
        ports = len(_nics(model, plane)) // subplanes
        if ports % leaves and model in _models(hosts):
            message = (
                f"{model.name} has {ports} ports for the {leaves} leaves of a unit: they cannot be dealt out evenly"
            )
            hint = f"`leaves_per_unit:` one of {_divisors(ports)}"
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
    """The sockets of each model. `column_of` takes a NIC, its place among the host's on its subplane, their count."""
    by_nic: dict[str, dict[str, Socket]] = {}
    widest = 1
    for model in models:
        nics = _nics(model, plane)
        seen: Counter[int] = Counter()
        taken: Counter[tuple[int, int]] = Counter()
        sockets = by_nic.setdefault(model.name, {})
        for nic in nics:
            subplane = nic.port if subplanes > 1 else 0
            leaf = subplane, column_of(nic, seen[subplane], len(nics) // subplanes)
            sockets[nic.name] = Socket(*leaf, taken[leaf])
            seen[subplane] += 1
            taken[leaf] += 1
        widest = max([widest, *taken.values()])
    return Sockets(by_nic, columns, subplanes, widest)


def _models(hosts: Sequence[Host]) -> list[HostModel]:
    return list({host.model.name: host.model for host in hosts}.values())


def _nics(model: HostModel, plane: Plane) -> list[HostNic]:
    """The NICs of a model on a plane; where it has rails there, those on a rail."""
    nics = plane_nics(model, plane)
    return [nic for nic in nics if nic.rail is not None] or nics


def _rails(model: HostModel, plane: Plane) -> tuple[int, ...]:
    return tuple(sorted({nic.rail for nic in plane_nics(model, plane) if nic.rail is not None}))


def _sides(model: HostModel, plane: Plane) -> tuple[int, ...]:
    return tuple(sorted({nic.port for nic in _nics(model, plane)}))


def _check_nics(plane: Plane, models: Sequence[HostModel], parts: PartsList, *, rails: bool) -> bool:
    """Every model has NICs for the plane, at its speed; one finding tells of the first that has not."""
    for model in models:
        nics = [nic for nic in _nics(model, plane) if not rails or nic.rail is not None]
        wrong = sorted({nic.speed_mbps for nic in nics} - {plane.speed_mbps})
        if wrong or not nics:
            has = f"NICs of {format_speed(wrong[0])}" if wrong else f"no NIC{' on a rail' if rails else ''}"
            message = f"{model.name} has {has}, plane {plane.name} runs at {format_speed(plane.speed_mbps or 0)}"
            hint = "set the plane's `speed` to that of the NICs, or give such hosts a plane of their own"
            parts.findings.append(error("FG209", message, plane, "hosts", hint=hint))
            return False
    return True


def _check_appliances(
    plane: Plane, models: Sequence[HostModel], rails: tuple[int, ...], sides: tuple[int, ...], parts: PartsList
) -> bool:
    """Appliances have leaves of the hosts' rails and sides, and no others."""
    for model in models:
        odd = sorted({*_rails(model, plane)} - {*rails}) + sorted({*_sides(model, plane)} - {*sides})
        if odd:
            message = f"appliance {model.name} has a NIC of rail or port {odd[0]}, which the plane's hosts have not"
            hint = f"the hosts have rails {rails[0]} to {rails[-1]}, ports 0 to {sides[-1]}"
            parts.findings.append(error("FG209", message, plane.unit or plane, "appliances", hint=hint))
            return False
    return True


def _check_subplanes(plane: Plane, subplanes: int, sides: tuple[int, ...], parts: PartsList) -> bool:
    if subplanes == 1 or sides == tuple(range(subplanes)):
        return True
    message = f"{subplanes} subplanes need a port in each, the NICs of plane {plane.name} have {len(sides)}"
    hint = f"`subplanes: {len(sides)}`" if sides == tuple(range(len(sides))) else "number the NICs' ports from 0"
    parts.findings.append(error("FG214", message, plane, "subplanes", hint=hint))
    return False


def _divisors(number: int) -> str:
    return ", ".join(str(each) for each in range(1, number + 1) if number % each == 0)
