"""Values of YAML files that another tool wrote, each with its place. Texts stay as they are written: 65101, '65101'."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from fabricgen.findings import Location
from fabricgen.inputs import YAML_BYTES, read_text
from fabricgen.plain_yaml import compose_all, place_of

_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"


@dataclass(frozen=True)
class Tree:
    """A value. What is not a mapping has no members, and what is not a list has no items."""

    node: yaml.Node
    file: str

    @property
    def place(self) -> Location:
        """Where the value begins."""
        return place_of(self.file, self.node.start_mark)

    @property
    def text(self) -> str:
        """The text of a scalar; "" for null and for collections."""
        is_text = isinstance(self.node, yaml.ScalarNode) and self.node.tag != _NULL
        return str(self.node.value) if is_text else ""

    @property
    def is_mapping(self) -> bool:
        """Whether the value is a mapping."""
        return isinstance(self.node, yaml.MappingNode)

    @cached_property
    def members(self) -> "dict[str, Tree]":
        """Key -> value of a mapping. Its own keys come before those of a merged mapping (`<<`)."""
        found: dict[str, Tree] = {}
        pairs = self.node.value if isinstance(self.node, yaml.MappingNode) else ()
        merged: dict[str, Tree] = {}
        for key, value in pairs:
            if key.tag == _MERGE:
                merged |= Tree(value, self.file).members
            elif isinstance(key, yaml.ScalarNode):
                found[str(key.value)] = Tree(value, self.file)
        return merged | found

    @property
    def items(self) -> "list[Tree]":
        """The items of a list."""
        values = self.node.value if isinstance(self.node, yaml.SequenceNode) else ()
        return [Tree(value, self.file) for value in values]

    def at(self, *keys: str) -> "Tree":
        """The value at a path of keys; one without text, members and items where a key is missing."""
        found = self
        for key in keys:
            found = found.members.get(key) or Tree(yaml.ScalarNode(_NULL, "", self.node.start_mark), self.file)
        return found

    def texts(self, *keys: str) -> list[str]:
        """The texts of a list at a path of keys."""
        return [item.text for item in self.at(*keys).items]

    def named(self, name: str = "name") -> "Iterator[tuple[str, Tree]]":
        """(name, value) of a list of mappings that have a `name`, or of a mapping by name."""
        yield from self.members.items()
        yield from ((item.at(name).text, item) for item in self.items)


def read_trees(file: Path) -> list[Tree]:
    """The documents of a YAML file without empty ones. Raises UnreadableInputError."""
    return [Tree(node, str(file)) for node in compose_all(read_text(file, YAML_BYTES), str(file))]
