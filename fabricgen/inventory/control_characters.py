"""Control characters in an inventory: a newline in a name would begin another line in the files of hosts."""

from collections.abc import Iterator

from fabricgen.findings import Finding, Location, Severity
from fabricgen.inventory.nodes import Node
from fabricgen.sonic.secrets import SECRET_TABLES
from fabricgen.visible import is_visible, visible

_HINT = "remove it; quote texts on one line, because a block of YAML ends in a newline"


def refuse_control_characters(root: Node) -> list[Finding]:
    """Report keys and texts with control characters, and remove them from `root`.

    Texts of people (`reason`, `description`) and the values of CONFIG_DB can have several lines.
    """
    return list(_refused(root, ()))


def _refused(node: Node, path: tuple[str, ...]) -> Iterator[Finding]:
    for key, child in list(node.mapping.items()):
        steps = (*path, key)
        if not is_visible(key):
            yield _finding(steps, node.keys.get(key, child.location))
            del node.mapping[key]
        elif _is_wrong(child, steps):
            yield _finding(steps, child.location)
            del node.mapping[key]
            node.cut.add(key)
        else:
            yield from _refused(child, steps)
    for item in list(node.items):
        if _is_wrong(item, path):
            yield _finding(path, item.location)
            node.items.remove(item)
        else:
            yield from _refused(item, path)


def _is_wrong(node: Node, path: tuple[str, ...]) -> bool:
    text = node.value
    if not isinstance(text, str) or "config_db" in path:
        return False
    return not is_visible(text.replace("\n", "") if path[-1:] in (("reason",), ("description",)) else text)


def _finding(path: tuple[str, ...], place: Location) -> Finding:
    steps = [
        "***" if before in SECRET_TABLES else visible(step) for before, step in zip(("", *path), path, strict=False)
    ]
    name = ".".join(steps)
    return Finding("FG105", Severity.ERROR, f"{name} has a control character", path=name, location=place, hint=_HINT)
