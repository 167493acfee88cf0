"""Torus and mesh of one to three dimensions: a switch at every point of a grid, linked to the next in each dimension.

- Switches: the product of `size`, all built at once. Switch n has the coordinates x = n mod X,
  y = n / X mod Y, z = n / (X x Y). A scalable unit is the hosts of one switch, and has its number.
- A hop has `links` parallel links, of all dimensions or of each. In a torus the last switch of a dimension is linked to
  the first. A dimension of size 2 has one hop and no ring, as in OpenSM.
- Links of a dimension: rows x hops x parallel; rows are the product of the other sizes, hops are size in a ring of more
  than 2, else size - 1.
- A switch needs p endpoints + 2 x parallel ports for each dimension, also at the rim of a mesh. The ports are the
  endpoints, then for each dimension the links to the next switch and the links to the previous one.
- Bisection: the narrowest cut across one dimension, rows x parallel, twice that through rings.

Each switch has its own ASN. `datelines` are for routing by dimension with virtual lanes (control_plane.opensm).

Sources: Dally, Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks (1987); opensm 3.3.23
torus-2QoS(8), torus-2QoS.conf(5) and osm_torus.c ("a torus of radix two is also a mesh of radix two").
"""

from collections.abc import Iterator
from math import prod

from fabricgen.design.endpoints import Endpoints, half_of_hosts_gbps, host_links, place_endpoints
from fabricgen.design.model import Block, Identity, Link, PlaneDesign, Switch
from fabricgen.design.parts import PartsList, TierParts, make_switch
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import ScalableUnit, TorusSpec
from fabricgen.vocabulary import LinkKind, Role

# The unicast LIDs of a subnet (InfiniBand Architecture Specification, volume 1, section 4.1.3). All switches are laid
# out at once, so a size with some digits too many would not end.
_MOST_SWITCHES = 49_151


def expand_grid(plane: Plane, parts: PartsList) -> PlaneDesign | None:
    """The plane as a grid; None, with findings, when it cannot be laid out."""
    leaf, grid, unit = parts.tier(plane, Role.LEAF), plane.torus, plane.unit
    if leaf is None or grid is None or unit is None or plane.speed_mbps is None:
        return None  # a finding exists for what is missing
    if len(grid.links) != len(grid.size):
        return None
    endpoints = place_endpoints(plane, unit, 1, parts)
    if endpoints is None or not (
        _has_room(unit, grid, endpoints, parts) and _ports_suffice(plane.speed_mbps, grid, endpoints, leaf, parts)
    ):
        return None
    switches = [make_switch(Identity(plane.name, Role.LEAF, number), leaf) for number in range(prod(grid.size))]
    links = (
        *host_links(plane, endpoints, lambda unit, _: switches[unit]),
        *_grid_links(plane, grid, endpoints.per_switch, switches),
    )
    cut = min(
        prod(grid.size) // size * parallel * (2 if is_ring(plane, size) else 1)
        for size, parallel in zip(grid.size, grid.links, strict=True)
    )
    bisection = min(half_of_hosts_gbps(plane, endpoints), cut * plane.speed_mbps // 1000)
    planned = {Role.LEAF: len(switches), Role.SPINE: 0, Role.CORE: 0}
    return PlaneDesign(plane, tuple(switches), links, endpoints.hosts, planned, endpoints.units, bisection)


def is_ring(plane: Plane, size: int) -> bool:
    """Whether a dimension of that size closes into a ring."""
    return plane.design == "torus" and size > 2


def _has_room(unit: ScalableUnit, grid: TorusSpec, endpoints: Endpoints, parts: PartsList) -> bool:
    """Whether every unit has a switch, and `planned` agrees with the size; a finding if not."""
    switches = prod(grid.size)
    counted = f"{' x '.join(map(str, grid.size))} = {switches} switches"
    if unit.planned is not None and unit.planned != switches:
        message = f"`planned` is {unit.planned}, `size` has {counted}"
        hint = "remove `planned`: all switches of the size are built"
        parts.findings.append(error("FG207", message, unit, "planned", hint=hint))
        return False
    needed = endpoints.used[-1] + 1
    if needed > switches:
        message = (
            f"{len(endpoints.hosts)} hosts, {unit.hosts} on a switch, need {needed} switches, `size` has {counted}"
        )
        hint = "increase `torus.size`, or `scalable_unit.hosts`"
        parts.findings.append(error("FG207", message, grid, "size", hint=hint))
    if switches > _MOST_SWITCHES:
        message = f"`size` has {counted}, at most {_MOST_SWITCHES} are laid out"
        parts.findings.append(error("FG207", message, grid, "size", hint="reduce `torus.size`"))
    return needed <= switches <= _MOST_SWITCHES


def _ports_suffice(speed_mbps: int, grid: TorusSpec, endpoints: Endpoints, leaf: TierParts, parts: PartsList) -> bool:
    hops = " + ".join(f"2 x {parallel}" for parallel in grid.links)
    needed, radix = endpoints.per_switch + 2 * sum(grid.links), len(leaf.layout.ports_at(speed_mbps))
    if needed > radix:
        message = f"a switch needs {needed} ports ({endpoints.per_switch} endpoints + {hops}), its platform has {radix}"
        hint = "reduce `scalable_unit.hosts`, or `torus.links`"
        parts.findings.append(error("FG201", message, leaf.tier, "platform", hint=hint))
    return needed <= radix


def _grid_links(plane: Plane, grid: TorusSpec, first_port: int, switches: list[Switch]) -> Iterator[Link]:
    """The links from every switch to the next one of each dimension."""
    for number, low in enumerate(switches):
        block = Block(f"{low.key}/peers", plane.name, "links", sum(grid.links), low.key)
        step, slot, port = 1, 0, first_port
        for size, parallel in zip(grid.size, grid.links, strict=True):
            place = number // step % size
            if place + 1 < size or is_ring(plane, size):
                high = switches[number + ((place + 1) % size - place) * step]
                low_ports, high_ports = (switch.layout.ports_at(plane.speed_mbps or 0) for switch in (low, high))
                for lane in range(parallel):
                    near, far = low_ports[port + lane], high_ports[port + parallel + lane]
                    yield Link(
                        f"{low.key}/peer{slot + lane}", plane.name, LinkKind.PEER, low, near.name, high, far.name,
                        near.speed_mbps, plane.cables[LinkKind.PEER], block, slot + lane,
                    )  # fmt: skip
            step, slot, port = step * size, slot + parallel, port + 2 * parallel
