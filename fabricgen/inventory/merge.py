"""The YAML files of a folder as one tree."""

from fabricgen.findings import Finding, Related, Severity
from fabricgen.inventory.nodes import Node


def merge(base: Node, other: Node, path: str = "") -> list[Finding]:
    """Merge `other` (a later file) into `base`. The findings report values that both files set.

    Mappings merge. Lists of named items merge by name; other lists are concatenated. A scalar in two files is a
    mistake, even if the values are equal.
    """
    if isinstance(base.value, dict) and isinstance(other.value, dict):
        findings: list[Finding] = []
        for key, child in other.value.items():
            if key in base.value:
                findings += merge(base.value[key], child, f"{path}.{key}" if path else key)
            else:
                base.value[key], base.keys[key] = child, other.keys[key]
        return findings
    if isinstance(base.value, list) and isinstance(other.value, list):
        return _merge_lists(base.value, other.value, path)
    if path == "fabricgen" and base.value == other.value:
        return []  # each file of a folder may state the format version
    return [
        Finding(
            "FG103", Severity.ERROR, f"{path} is set in two files", location=other.location, path=path,
            related=(Related("the other file", base.location),), hint="keep it in one of them",
        )
    ]  # fmt: skip


def _merge_lists(base: list[Node], other: list[Node], path: str) -> list[Finding]:
    findings: list[Finding] = []
    named = {name: item for item in base if (name := _name_of(item)) is not None}
    for item in other:
        name = _name_of(item)
        twin = named.get(name) if name is not None else None
        if twin is None:
            base.append(item)
            continue
        for key, child in item.mapping.items():
            if key == "name":
                continue
            if key in twin.mapping:
                findings += merge(twin.mapping[key], child, f"{path}[{name}].{key}")
            else:
                twin.mapping[key], twin.keys[key] = child, item.keys[key]
    return findings


def _name_of(item: Node) -> str | None:
    name = item.mapping["name"].value if "name" in item.mapping else None
    return name if isinstance(name, str) else None
