"""Host ports of designs without rails: the NICs of a unit's hosts fill its switches one after the other, host by host.

A host with 8 NICs is on one switch if a switch has 8 endpoints, and on four if it has 2. Every NIC of the host for the
plane counts, on a rail or not. Endpoints use the first ports of a switch.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fabricgen.design.model import Block, Host, Link, Switch
from fabricgen.design.parts import PartsList, plane_nics
from fabricgen.design.units import UnitPlace, give_places, give_units
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import ScalableUnit
from fabricgen.units import format_speed
from fabricgen.vocabulary import LinkKind


@dataclass(frozen=True)
class Endpoints:
    """The hosts of a plane with their places. Each switch of a full unit has `per_switch` host ports."""

    hosts: tuple[Host, ...]
    per_switch: int
    units: dict[str, tuple[int, ...]]  # group -> its units
    placed: dict[Host, UnitPlace]

    @property
    def used(self) -> list[int]:
        """The units that have hosts, in order."""
        return sorted({unit for given in self.units.values() for unit in given})


def place_endpoints(plane: Plane, unit: ScalableUnit, switches: int, parts: PartsList) -> Endpoints | None:
    """The hosts of a plane on `switches` switches of each unit; None, with a finding, if they do not divide evenly."""
    hosts = parts.hosts(plane, plane.hosts)
    nics = _nics_per_host(plane, hosts, parts)
    if not hosts or nics is None:
        return None
    endpoints = unit.hosts * nics
    if endpoints % switches:
        message = (
            f"{unit.hosts} hosts x {nics} NICs = {endpoints} endpoints of a unit cannot be spread over its {switches} "
            f"switches evenly: {endpoints} / {switches} = {endpoints / switches:.2f}"
        )
        hint = f"choose `hosts` so that hosts x {nics} is a multiple of {switches}"
        parts.findings.append(error("FG209", message, unit, "hosts", hint=hint))
        return None
    units = give_units(plane, unit, hosts, parts)
    return Endpoints(tuple(hosts), endpoints // switches, units, give_places(unit, hosts, units))


def _nics_per_host(plane: Plane, hosts: list[Host], parts: PartsList) -> int | None:
    """NICs of each host for the plane; every model must have the same number, at the plane's speed."""
    counts = set()
    for model in {host.model.name: host.model for host in hosts}.values():
        nics = plane_nics(model, plane)
        counts.add(len(nics))
        wrong = sorted({nic.speed_mbps for nic in nics} - {plane.speed_mbps})
        if wrong or not nics:
            has = f"NICs of {format_speed(wrong[0])}" if wrong else "no NIC for it"
            message = f"{model.name} has {has}, plane {plane.name} runs at {format_speed(plane.speed_mbps or 0)}"
            hint = "set the plane's `speed` to that of the NICs, or move these hosts to another plane"
            parts.findings.append(error("FG209", message, plane, "hosts", hint=hint))
            return None
    if len(counts) > 1:
        message = f"the hosts of plane {plane.name} have {' and '.join(map(str, sorted(counts)))} NICs"
        parts.findings.append(
            error(
                "FG209",
                message,
                plane,
                "hosts",
                hint="a plane needs one NIC count: name in `hosts` only groups that have the same",
            )
        )
        return None
    return counts.pop() if counts else None


def host_links(plane: Plane, endpoints: Endpoints, switch_of: Callable[[int, int], Switch]) -> Iterator[Link]:
    """A link for each NIC; `switch_of` gives the switch of a unit by its number in the unit."""
    cable, each = plane.cables[LinkKind.HOST_LEAF], endpoints.per_switch
    for host, (unit, place) in endpoints.placed.items():
        nics = plane_nics(host.model, plane)
        for slot, nic in enumerate(nics, place * len(nics)):
            switch, number = switch_of(unit, slot // each), slot % each
            block = Block(f"{switch.key}/hosts", plane.name, "hosts", each, switch.key)
            port = switch.layout.ports_at(nic.speed_mbps)[number].name
            yield Link(
                f"{plane.name}/{host.key}/{nic.name}", plane.name, LinkKind.HOST_LEAF, host, nic.name, switch, port,
                nic.speed_mbps, cable, block, number, nic.rail, nic,
            )  # fmt: skip


def half_of_hosts_gbps(plane: Plane, endpoints: Endpoints) -> int:
    """Bandwidth of half of the endpoints."""
    count = sum(len(plane_nics(host.model, plane)) for host in endpoints.hosts)
    return count * (plane.speed_mbps or 0) // 2000
