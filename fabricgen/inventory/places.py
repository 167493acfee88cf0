"""Lines of inventory values that are known by their dotted path, as a source map names them."""

import re

from fabricgen.findings import Location
from fabricgen.inventory.nodes import Node

_INDEX = re.compile(r"\[(\d+)\]")


def place_of(root: Node, path: str) -> Location:
    """Where a value stands; of a value that was left to its default, the nearest that encloses it."""
    node, place = root, root.location
    while path:
        path = path.removeprefix(".")
        index = _INDEX.match(path)
        if index and int(index[1]) < len(node.items):
            node = node.items[int(index[1])]
            place, path = node.location, path[index.end() :]
            continue
        # keys may hold dots themselves: the longest that fits
        fitting = [key for key in node.mapping if path == key or path.startswith((f"{key}.", f"{key}["))]
        if not fitting:
            break
        key = max(fitting, key=len)
        node, place, path = node.mapping[key], node.keys.get(key, node.mapping[key].location), path[len(key) :]
    return place
