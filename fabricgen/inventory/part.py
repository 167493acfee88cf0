"""The base of everything in an inventory: what it was read from, so that any value can tell its place."""

from dataclasses import dataclass, field

from fabricgen.findings import Location
from fabricgen.inventory.nodes import Node


@dataclass(frozen=True, kw_only=True)
class Part:
    """Base of all parts. `path` is the dotted path from the top of the inventory."""

    node: Node = field(repr=False, compare=False)
    path: str = field(compare=False)

    def at(self, *steps: str | int) -> Location:
        """Where a value stands; the nearest enclosing one for a value that was left to its default."""
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
        """File and dotted path of a value: what a source map keeps. It moves with the value, not with its line."""
        return f"{self.at(*steps).file}#{self.path_of(*steps)}"

    def path_of(self, *steps: str | int) -> str:
        """The dotted path of a value below this part, items of lists as [index]."""
        path, node = self.path, self.node
        for step in steps:
            path += f"[{step}]" if node.items else f".{step}" if path else str(step)
            node = node.find((step,))
        return path
