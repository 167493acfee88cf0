"""The base of all parts of an inventory: the node from which a part was read, with its location."""

from dataclasses import dataclass, field

from fabricgen.findings import Location
from fabricgen.inventory.nodes import Node


@dataclass(frozen=True, kw_only=True)
class Part:
    """The base of all parts. `path` is the dotted path from the top of the inventory."""

    node: Node = field(repr=False, compare=False)
    path: str = field(compare=False)

    def at(self, *steps: str | int) -> Location:
        """The location of a value; for a default value, that of the nearest enclosing value."""
        node = self.node
        for step in steps:
            if str(step) in node.keys:
                place = node.keys[str(step)]
                child = node.find((step,))
                node = Node(child.value, place, child.keys)
            else:
                node = node.find((step,))
        return node.location

    def source(self, *steps: str | int) -> str:
        """File and dotted path of a value, as in source maps. They do not change with line numbers."""
        return f"{self.at(*steps).file}#{self.path_of(*steps)}"

    def path_of(self, *steps: str | int) -> str:
        """The dotted path of a value in this part, with items of lists as [index]."""
        path, node = self.path, self.node
        for step in steps:
            path += f"[{step}]" if node.items else f".{step}" if path else str(step)
            node = node.find((step,))
        return path
