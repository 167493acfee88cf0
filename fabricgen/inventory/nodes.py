"""A YAML document as a tree of nodes with their file, line and column."""

import re
from dataclasses import dataclass, field
from typing import Any

from fabricgen.findings import Location

_INDEX = re.compile(r"\[(\d+)\]")


class SecretReference(str):
    """The name in `!secret name`. The name is not secret, and fabricgen never reads the secret itself."""

    __slots__ = ()


@dataclass(slots=True)
class Node:
    """A scalar, list or mapping of an inventory.

    `keys` are the locations of the keys of a mapping. `cut` are wrong keys that were removed: they are not reported as
    missing.
    """

    value: object  # scalar | list[Node] | dict[str, Node]
    location: Location
    keys: dict[str, Location] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)

    @property
    def mapping(self) -> dict[str, "Node"]:
        """The members; empty if the node is not a mapping."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list["Node"]:
        """The items; empty if the node is not a list."""
        return self.value if isinstance(self.value, list) else []

    def scalar(self, key: str, default: Any = None) -> Any:
        """The value of a scalar member, or the default if the member is missing."""
        return self.mapping[key].value if key in self.mapping else default

    def members(self, key: str) -> list[tuple[str, "Node"]]:
        """The members of the mapping `key`, in alphabetical order."""
        return sorted(self.part(key).mapping.items())

    def list_of(self, key: str) -> list["Node"]:
        """The items of the list `key`."""
        return self.part(key).items

    def texts(self, key: str) -> tuple[str, ...]:
        """The items of the list of scalars `key`, as text."""
        return tuple(str(item.value) for item in self.list_of(key))

    def part(self, key: str) -> "Node":
        """A member, or an empty mapping with the location of this node."""
        return self.mapping.get(key) or Node({}, self.location)

    def find(self, path: tuple[str | int, ...]) -> "Node":
        """The deepest node that exists along `path`."""
        node = self
        for step in path:
            if isinstance(step, int) and step < len(node.items):
                node = node.items[step]
            elif str(step) in node.mapping:
                node = node.mapping[str(step)]
            else:
                break
        return node

    def plain(self) -> object:
        """The values without locations, for a JSON Schema validator."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value


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
