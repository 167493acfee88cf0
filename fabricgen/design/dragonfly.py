"""Dragonfly: groups of leaves that are fully joined within, and links between all groups (`groups`)."""

from functools import partial
from math import ceil

from fabricgen.design.design import Design
from fabricgen.design.first_layout import (
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
    """A host on each switch, and the smallest group that needs at most MOST_GROUPS groups. Raises NoLayoutError."""
    hosts, radix = demand.hosts, demand.spine_ports
    for switches in (4, 8, 16, 32):
        planned = planned_units(ceil(hosts / switches))
        links = ceil((planned - 1) / switches)
        if planned <= MOST_GROUPS and NICS + switches - 1 + links <= radix:
            keys = {"dragonfly": f"{{switches: {switches}, global_links: {links}}}"}
            cables = {"host-leaf": "5m", "peer": "10m", **GLOBAL_CABLE}
            return FirstLayout(("leaf",), cables, switches, ceil(hosts / switches), planned, keys)
    raise NoLayoutError(f"no dragonfly of up to {MOST_GROUPS} groups holds {hosts} hosts on switches of {radix} ports")


DESIGN = Design(
    name="dragonfly",
    summary="hosts fill the switches of a group one after the other; all switches of a group and all groups are joined",
    expand=partial(expand_groups, roles=(Role.LEAF,)),
    needs=("hosts", "scalable_unit", "dragonfly", "leaf", "speed"),
    check=partial(check_groups, counts=("switches",)),
    first_layout=first_layout,
    graph=lambda _: Graph.DRAGONFLY,
    cyclic=True,
)
