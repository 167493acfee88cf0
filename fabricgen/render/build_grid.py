"""The grid of a torus or mesh for torus-2QoS.conf: its size, and the seeds by which OpenSM finds it.

A seed is a switch with its neighbours. OpenSM cannot find the grid by a seed that has lost a switch, so the file has
two seeds without a common switch. The datelines of the second seed give the same coordinates, datelines and SLs as the
first: a failover or a failure changes no SL of a path.

Source: opensm 3.3.23 torus-2QoS.conf(5), next_seed and x_dateline.
"""

from collections.abc import Iterator
from itertools import product
from math import prod

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.grid import is_ring
from fabricgen.design.subnets import SubnetDesign
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import TorusSpec
from fabricgen.render.contexts_infiniband import DatelineContext, GridContext, SeedContext, SeedLink

_DIMENSIONS = 3
_SHORT_RING = 4  # torus-2QoS needs both neighbours: in a ring of four it cannot distinguish them (ERR 4E23)

Point = tuple[int, ...]


def grid_context(subnet: SubnetDesign, grid: TorusSpec, allocation: Allocation) -> dict[str, object]:
    """`grid`: the coordinates of a switch are its number in the design (design.grid)."""
    plane = subnet.plane.plane
    switches = {switch.identity.number: switch for switch in subnet.switches}

    def named(point: Point) -> str:
        return switches[_number(grid, point)].key

    def seed(origin: Point) -> SeedContext:
        guids, names = allocation.guids.switches, allocation.names
        links = [
            SeedLink(axis, direction, guids[named(origin)], guids[named(point)], names[named(point)])
            for axis, direction, point in _neighbours(plane, grid, origin)
        ]
        datelines = [
            DatelineContext(axis, place - at)
            for axis, size, place, at in zip("xyz", grid.size, grid.datelines, origin, strict=False)
            if is_ring(plane, size) or at
        ]
        return SeedContext(names[named(origin)], links, datelines)

    endpoints: dict[str, int] = {}
    for link in subnet.host_links:
        endpoints[link.b.key] = endpoints.get(link.b.key, 0) + 1
    sizes = [*grid.size, *[1] * (_DIMENSIONS - len(grid.size))]
    most = max([max(endpoints.values(), default=0) + 1, *grid.links])
    return {"grid": GridContext(plane.design, sizes, [seed(origin) for origin in _origins(plane, grid)], most)}


def _origins(plane: Plane, grid: TorusSpec) -> Iterator[Point]:
    """The switches of the seeds: the first of the grid, and the farthest whose seed has no switch of the first seed."""
    first = tuple(0 for _ in grid.size)
    yield first
    taken = _seed(plane, grid, first)
    farthest = [size // 2 if is_ring(plane, size) else size - 1 for size in grid.size]
    others = product(
        *((far, *(at for at in range(size) if at != far)) for far, size in zip(farthest, grid.size, strict=True))
    )
    second = next((point for point in others if taken.isdisjoint(_seed(plane, grid, point))), None)
    if second is not None:
        yield second


def _seed(plane: Plane, grid: TorusSpec, origin: Point) -> set[Point]:
    return {origin, *(point for _, _, point in _neighbours(plane, grid, origin))}


def _neighbours(plane: Plane, grid: TorusSpec, origin: Point) -> Iterator[tuple[str, str, Point]]:
    """(axis, direction, switch) of each neighbour that a seed names: one of each dimension, or both of a short ring."""
    for index, (axis, size) in enumerate(zip("xyz", grid.size, strict=False)):
        ring = is_ring(plane, size)
        steps = {"p": 1, "m": -1} if ring and size == _SHORT_RING else {"p": 1}
        if not ring and origin[index] == size - 1:
            steps = {"m": -1}
        for direction, step in steps.items():
            yield axis, direction, (*origin[:index], (origin[index] + step) % size, *origin[index + 1 :])


def _number(grid: TorusSpec, point: Point) -> int:
    """The number of the switch at a point: x + X y + X Y z."""
    return sum(at * prod(grid.size[:index]) for index, at in enumerate(point))
