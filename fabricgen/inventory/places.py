"""The locations of inventory values with dotted paths, as in source maps."""

import re

from fabricgen.findings import Location
from fabricgen.inventory.nodes import Node

_INDEX = re.compile(r"\[(\d+)\]")


def place_of(root: Node, path: str) -> Location:
    """The location of a value; for a default value, that of the nearest enclosing value."""
    node, place = root, root.location
    while path:
        path = path.removeprefix(".")
        index = _INDEX.match(path)
        if index and int(index[1]) < len(node.items):
            node = node.items[int(index[1])]
            place, path = node.location, path[index.end() :]
            continue
        # keys may contain dots, so the longest matching key is right
        matching = [key for key in node.mapping if path == key or path.startswith((f"{key}.", f"{key}["))]
        if not matching:
            break
        key = max(matching, key=len)
        node, place, path = node.mapping[key], node.keys.get(key, node.mapping[key].location), path[len(key) :]
    return place
