"""All designs: the modules of this room that define DESIGN, and the designs of installed packages."""

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any

from fabricgen.design.design import Design
from fabricgen.design.graph import Graph, joins_switches
from fabricgen.design.model import PlaneDesign
from fabricgen.extensions import DESIGNS, registered
from fabricgen.inventory.schema import inventory_schema


@cache
def designs() -> Mapping[str, Design]:
    """Name -> design. Raises UsageError for an entry point that is not a design."""
    return registered("fabricgen.design", "DESIGN", DESIGNS, Design)


def graph_of(plane: PlaneDesign) -> Graph:
    """The kind of graph that the switches of a plane form."""
    return designs()[plane.plane.design].graph(plane) if joins_switches(plane) else Graph.SINGLE_SWITCHES


def schema_for_editors() -> dict[str, Any]:
    """The JSON Schema of an inventory with the names of all designs, so that editors can complete them."""
    schema = copy.deepcopy(inventory_schema())
    schema["$defs"]["plane"]["properties"]["design"]["enum"] = list(designs())
    return schema
