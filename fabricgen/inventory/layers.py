"""Layers of an inventory: a site file that extends a base, further layers, and values set on the command line."""

import os
from collections.abc import Iterator
from pathlib import Path

from fabricgen.errors import UsageError
from fabricgen.findings import Finding, Location, Severity
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.overlay import overlay, set_value
from fabricgen.inventory.read_files import (
    SETTING,
    InventorySource,
    inventory_files,
    inventory_layers,
    inventory_root,
    read_files,
)
from fabricgen.inventory.read_yaml import read_yaml

EXTENDS = "extends"


def read_layers(source: InventorySource, findings: list[Finding]) -> tuple[Node, dict[str, str]]:
    """The tree of all layers, and the texts of their YAML files by name. Names are relative to the last layer's folder.

    Raises UnreadableInputError for a layer that is missing or not YAML, UsageError for a setting without PATH=VALUE.
    """
    root = inventory_root(source)
    reader = _Reader(root, findings)
    for path in inventory_layers(source).inventories:
        reader.add(path)
    tree, *layers = reader.trees
    for layer in layers:
        findings += overlay(tree, layer)
    for text in inventory_layers(source).settings:
        _set(tree, text, findings)
    return tree, reader.texts


class _Reader:
    """Reads each layer once, what it extends before it."""

    def __init__(self, root: Path, findings: list[Finding]) -> None:
        self.root, self.findings = root, findings
        self.trees: list[Node] = []
        self.texts: dict[str, str] = {}
        self._known: set[Path] = set()
        self._open: list[Path] = []  # the layers around the current one

    def add(self, path: Path) -> None:
        """Add a layer, and before it the layers that it extends."""
        where = path.resolve()
        if where in self._known:
            return
        self._known.add(where)
        self._open.append(where)
        tree, texts = read_files(path, self.root, self.findings)
        extended = tree.mapping.pop(EXTENDS, None)
        tree.keys.pop(EXTENDS, None)
        for node in _listed(extended, self.findings):
            base = inventory_root(path) / str(node.value)
            if problem := self._problem(path, base):
                self._report(f"{EXTENDS}: {node.value} {problem}", node, "name a file or folder beneath this one")
            else:
                self.add(base)
        if inventory_root(path).resolve() != self.root.resolve():
            _move_paths(tree, os.path.relpath(inventory_root(path), self.root))
        self.trees.append(tree)
        self.texts |= texts
        self._open.pop()

    def _problem(self, path: Path, base: Path) -> str:
        """Why a layer cannot extend `base`; "" if it can."""
        if not base.exists():
            return "does not exist"
        if base.resolve() in self._open:
            return "is this inventory itself" if base.resolve() == self._open[-1] else "extends this inventory"
        if path.is_dir() and base.resolve() in {file.resolve() for file in inventory_files(path)}:
            return f"is part of the folder {path}, whose files are one inventory"
        return ""

    def _report(self, message: str, node: Node, hint: str) -> None:
        self.findings.append(Finding("FG137", Severity.ERROR, message, path=EXTENDS, location=node.location, hint=hint))


def _listed(node: Node | None, findings: list[Finding]) -> Iterator[Node]:
    """The paths under `extends`: a text or a list of texts."""
    for one in () if node is None else node.items or [node]:
        if isinstance(one.value, str):
            yield one
        else:
            message = "extends must be a path, or a list of paths, relative to this file"
            findings.append(Finding("FG104", Severity.ERROR, message, path=EXTENDS, location=one.location))


def _move_paths(tree: Node, folder: str) -> None:
    """Make the paths of a layer in another folder relative to the folder of the inventory."""
    paths = [*tree.list_of("platforms"), *filter(None, [tree.part("sonic").mapping.get("base")])]
    for plane in tree.part("planes").mapping.values():
        paths += plane.part("infiniband").list_of("discovered")
    for node in paths:
        if isinstance(node.value, str):
            node.value = os.path.normpath(f"{folder}/{node.value}")


def _set(tree: Node, text: str, findings: list[Finding]) -> None:
    path, equals, value = text.partition("=")
    if not (path.strip() and equals):
        raise UsageError(f"--set {text}: write PATH=VALUE, for example planes.compute.cables.leaf-spine=60m")
    name = f"{SETTING}{text}"
    node, twice = read_yaml(f"value: {value}" if value.strip() else "value:", name)
    findings += twice
    made = node.mapping["value"]
    _place(made, Location(name))
    if problem := set_value(tree, path.strip(), made):
        hint = "write the path as in messages, for example planes.compute.cables.leaf-spine or devices[0].rack"
        if made.value == {}:
            hint = "set the keys that you want to remove to null, one by one"
        findings.append(
            Finding("FG137", Severity.ERROR, f"{name}: {problem}", path=path, location=Location(name), hint=hint)
        )


def _place(node: Node, place: Location) -> None:
    node.location = place
    node.keys = dict.fromkeys(node.keys, place)
    for child in (*node.mapping.values(), *node.items):
        _place(child, place)
