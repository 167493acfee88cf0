"""One inventory tree over another, and single values over a tree: how a layer changes its base."""

import re

from fabricgen.findings import Finding, Severity
from fabricgen.inventory.nodes import Node
from fabricgen.units import counted

_INDEX = re.compile(r"\[(\d+)\]")


def overlay(base: Node, layer: Node, path: str = "") -> list[Finding]:
    """Change `base`, which is at `path`, by a layer. The findings report what changes nothing in it.

    Mappings merge. A list of values replaces that of the base. A list of entries is added to it, and entries with the
    same `name` merge. Any other value replaces that of the base, and null removes it. A mapping of plain values
    that the layer changes, such as a cable with length and medium, has the place of the layer.
    """
    findings: list[Finding] = []
    for key, child in layer.mapping.items():
        own, where = base.mapping.get(key), f"{path}.{key}" if path else key
        if child.value is None:
            if own is None:
                findings.append(_without_effect(where, child, Severity.WARNING, "removes what no earlier layer sets"))
            base.mapping.pop(key, None)
            base.keys.pop(key, None)
        elif own is not None and isinstance(own.value, dict) and isinstance(child.value, dict):
            if own.value and not child.value:
                findings.append(_without_effect(where, child, Severity.ERROR, "merges with {}, which changes nothing"))
            findings += overlay(own, child, where)
            if child.value and not any(isinstance(one.value, dict | list) for one in own.mapping.values()):
                own.location, base.keys[key] = child.location, layer.keys[key]
        elif own is not None and isinstance(own.value, list) and _has_entries(child):
            findings += _add_entries(own, child, where)
        else:
            base.mapping[key], base.keys[key] = child, layer.keys[key]
    return findings


def _without_effect(path: str, node: Node, severity: Severity, why: str) -> Finding:
    is_empty = node.value == {}
    hint = "set the keys that you want to remove to null, one by one" if is_empty else "remove it from the layer"
    return Finding("FG137", severity, f"{path} {why}", path=path, location=node.location, hint=hint)


def _has_entries(node: Node) -> bool:
    """Whether a list has mappings or lists as items."""
    return any(isinstance(item.value, dict | list) for item in node.items)


def _add_entries(base: Node, layer: Node, path: str) -> list[Finding]:
    findings: list[Finding] = []
    named = {name: item for item in base.items if isinstance(name := item.scalar("name"), str)}
    for item in layer.items:
        twin = named.get(str(item.scalar("name")))
        if twin is not None and item.mapping:
            findings += overlay(twin, item, f"{path}[{twin.scalar('name')}]")
        else:
            base.items.append(item)
    return findings


def set_value(tree: Node, path: str, made: Node) -> str:
    """Set the value at a dotted path, and make the mappings that are missing on the way. Returns the reason if the path
    leads nowhere, else "".

    Keys may contain dots: the longest key that exists is meant.
    """
    node, rest = tree, path
    while True:
        index = _INDEX.match(rest)
        if index:
            if int(index[1]) >= len(node.items):
                return (
                    f"the list has {counted(len(node.items), 'item')}"
                    if node.items
                    else f"{index[0]} is not an item of a list"
                )
            number, rest = int(index[1]), rest[index.end() :].removeprefix(".")
            if not rest:
                node.items[number] = made
                return ""
            node = node.items[number]
            continue
        if not isinstance(node.value, dict):
            return f"the value before {rest!r} is not a mapping"
        known = [key for key in node.mapping if rest == key or rest.startswith((f"{key}.", f"{key}["))]
        key = max(known, key=len) if known else re.split(r"[.\[]", rest, maxsplit=1)[0]
        if not key:
            return "a key of the path is empty"
        rest = rest[len(key) :].removeprefix(".")
        if not rest:
            found = overlay(node, Node({key: made}, made.location, {key: made.location}))
            return next((one.message for one in found), "")
        if key not in node.mapping:
            node.mapping[key], node.keys[key] = Node({}, made.location), made.location
        node = node.mapping[key]
