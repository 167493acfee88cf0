"""Dragonfly+: groups of leaves and spines, and links between the spines of all groups (`groups`)."""

from functools import partial
from math import ceil

from fabricgen.design.design import Design
from fabricgen.design.first_layout import (
    CLOS_CABLES,
    GLOBAL_CABLE,
    MOST_GROUPS,
    NICS,
    Demand,
    FirstLayout,
    NoLayoutError,
    planned_units,
)
from fabricgen.design.graph import Graph
from fabricgen.design.group_checks import check_groups
from fabricgen.design.groups import expand_groups
from fabricgen.vocabulary import Role


def first_layout(demand: Demand) -> FirstLayout:
    """A host on each leaf, as many spines as leaves, and a link from every spine to every group.

    If spines reached different groups, the paths of BGP would depend on the order of events. Raises NoLayoutError.
    """
    hosts, radix = demand.hosts, demand.spine_ports
    for leaves in (4, 8, 16, 32):
        units = ceil(hosts / leaves)
        planned = planned_units(units)
        links = planned - 1
        if planned <= MOST_GROUPS and NICS + leaves <= radix and leaves + links <= radix:
            keys = {"dragonfly": f"{{leaves: {leaves}, spines: {leaves}, global_links: {links}}}"}
            return FirstLayout(("leaf", "spine"), {**CLOS_CABLES, **GLOBAL_CABLE}, leaves, units, planned, keys)
    raise NoLayoutError(f"no dragonfly+ of up to {MOST_GROUPS} groups holds {hosts} hosts on switches of {radix} ports")


DESIGN = Design(
    name="dragonfly-plus",
    summary="the NICs of hosts fill the leaves of a group; spines join its leaves, and join it to all groups",
    expand=partial(expand_groups, roles=(Role.LEAF, Role.SPINE)),
    needs=("hosts", "scalable_unit", "dragonfly", "leaf", "spine", "speed"),
    check=partial(check_groups, counts=("leaves", "spines")),
    first_layout=first_layout,
    graph=lambda _: Graph.DRAGONFLY_PLUS,
)
