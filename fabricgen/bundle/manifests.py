"""The objects of Kubernetes in the folder kubernetes/ of a bundle, read back for judging, with their lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_text
from fabricgen.plain_yaml import Loader, compose_all

FOLDER = "kubernetes"


@dataclass(frozen=True, eq=False)
class Manifest:
    """An object. `file` is relative to the folder."""

    file: str
    kind: str
    name: str
    tree: Mapping[str, Any]
    node: yaml.Node

    @property
    def key(self) -> str:
        """How findings name it: KIND/NAME."""
        return f"{self.kind}/{self.name}"

    def get(self, *steps: str | int) -> Any:
        """The value at a path; None where the object has none, or another structure."""
        found: Any = self.tree
        for step in steps:
            if isinstance(step, int):
                found = found[step] if isinstance(found, list) and step < len(found) else None
            else:
                found = found.get(step) if isinstance(found, Mapping) else None
        return found

    def rows(self, *steps: str | int) -> list[Mapping[str, Any]]:
        """The mappings of the list at a path."""
        found = self.get(*steps)
        return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


@dataclass(frozen=True, eq=False)
class ObservedManifests:
    """The objects of a bundle. In the place of a finding, the file is the table and KIND/NAME the key."""

    folder: Path

    @property
    def name(self) -> str:
        """The name in findings."""
        return FOLDER

    @cached_property
    def objects(self) -> tuple[Manifest, ...]:
        """All objects. Raises UnreadableInputError, with the line, for a file that is not YAML or not an object."""
        return tuple(one for file in sorted(self.folder.rglob("*.yaml")) for one in self._read(file))

    def _read(self, file: Path) -> Iterator[Manifest]:
        for node in compose_all(read_text(file), str(file)):
            tree = Loader("").construct_document(node)
            metadata = tree.get("metadata") if isinstance(tree, dict) else None
            name = metadata.get("name") if isinstance(metadata, dict) else None
            if not (isinstance(tree, dict) and isinstance(tree.get("kind"), str) and isinstance(name, str)):
                mark = node.start_mark
                place = Location(str(file), mark.line + 1, mark.column + 1)
                raise UnreadableInputError("not an object of Kubernetes: it has no kind or no metadata.name", place)
            yield Manifest(file.relative_to(self.folder).as_posix(), tree["kind"], name, tree, node)

    def locate(self, *path: str) -> Location:
        """The location of a file, an object and a dotted path, or of the deepest part of it that exists."""
        file, key, dotted = (*path, "", "")[:3]
        own = next((one for one in self.objects if (one.file, one.key) == (file, key)), None)
        if own is None:
            return Location(str(self.folder / file))
        mark = _mark(own.node, dotted.split(".") if dotted else [])
        return Location(str(self.folder / file), mark.line + 1, mark.column + 1)


def _mark(node: yaml.Node, steps: Sequence[str]) -> yaml.Mark:
    mark = node.start_mark
    for step in steps:
        if isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
            node = node.value[int(step)]
            mark = node.start_mark
            continue
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        pair = next((pair for pair in pairs if pair[0].value == step), None)
        if pair is None:
            break
        mark, node = pair[0].start_mark, pair[1]
    return mark
