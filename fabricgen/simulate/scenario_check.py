"""A scenario file against its JSON Schema and against itself: every mistake as a finding, with its line."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabricgen.bundle.read import parse_object, read_bytes
from fabricgen.findings import Finding, Location, Severity
from fabricgen.resources import resource

Step = str | int
Mistake = tuple[tuple[Step, ...], str]  # where, what


def check_scenario(file: Path) -> list[Finding]:
    """FG790 for every mistake in a scenario file. Raises UnreadableInputError where it is no JSON object."""
    text = read_bytes(file)
    tree = parse_object(text, file)
    mistakes = list(_schema_mistakes(tree)) or list(_name_mistakes(tree))
    if not mistakes:
        return []
    places = Places(text)
    return [
        Finding(
            code="FG790",
            severity=Severity.ERROR,
            message=f"{dotted(path)}: {what}",
            path=dotted(path),
            location=Location(str(file), *places.of(path)),
            hint="`fabricgen schema scenario` prints what may stand in a scenario file.",
        )
        for path, what in mistakes
    ]


def _schema_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """What the schema says. Of list items that differ by nothing but names it is asked once: ten thousand routes are
    alike to it."""
    from jsonschema import Draft202012Validator

    schema = json.loads(resource("schemas", "scenario.schema.json").read_text(encoding="utf-8"))
    shorter, number = dict(tree), {}
    for key, items in tree.items():
        if isinstance(items, list) and all(isinstance(item, dict) for item in items):
            first: dict[str, int] = {}
            for index, item in enumerate(items):
                first.setdefault(repr([(name, _without_name(value)) for name, value in item.items()]), index)
            number[key] = list(first.values())
            shorter[key] = [items[index] for index in number[key]]
    for error in Draft202012Validator(schema).iter_errors(shorter):
        path = list(error.absolute_path)
        if len(path) > 1 and path[0] in number and isinstance(path[1], int):
            path[1] = number[str(path[0])][path[1]]
        yield tuple(path), error.message if len(error.message) < 200 else f"breaks {error.validator}"


def _without_name(value: object) -> object:
    return bool(value) if isinstance(value, str) and value not in ("host", "switch") else value


def _name_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """Names that are no node's, or not of the kind that is needed there; routes along no link."""
    kinds = {node["name"]: node["kind"] for node in tree["nodes"]}
    for name, times in Counter(node["name"] for node in tree["nodes"]).items():
        if times > 1:
            yield ("nodes",), f"{times} nodes are called {name!r}"
    wanted: Sequence[tuple[str, tuple[str, ...], str | None]] = (
        ("links", ("a", "b"), None),
        ("flows", ("src", "dst"), "host"),
        ("routes", ("at",), "switch"),
        ("routes", ("to",), "host"),
        ("routes", ("via",), None),
        ("storms", ("host",), "host"),
        ("failures", ("a", "b"), None),
    )
    for key, fields, kind in wanted:
        for index, item in enumerate(tree.get(key, ())):
            for field in fields:
                found = kinds.get(item[field])
                if found is None or kind not in (None, found):
                    yield (key, index, field), f"{item[field]!r} is no {kind or 'node'}"
    for index, flow in enumerate(tree["flows"]):
        if flow["src"] == flow["dst"]:
            yield ("flows", index, "dst"), "a flow goes from a host to itself"
    yield from _link_mistakes(tree)


def _link_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """Routes and failures along no link."""
    linked = {(link["a"], link["b"]) for link in tree["links"]}
    for index, route in enumerate(tree["routes"]):
        if (route["at"], route["via"]) not in linked and (route["via"], route["at"]) not in linked:
            yield ("routes", index, "via"), f"no link joins {route['at']} and {route['via']}"
    for index, failure in enumerate(tree.get("failures", ())):
        if (failure["a"], failure["b"]) not in linked and (failure["b"], failure["a"]) not in linked:
            yield ("failures", index), f"no link joins {failure['a']} and {failure['b']}"


class Places:
    """Lines and columns of a JSON text. YAML's reader knows them, and JSON is YAML."""

    def __init__(self, text: bytes) -> None:
        import yaml

        try:
            self._root = yaml.compose(text.decode(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except (yaml.YAMLError, UnicodeDecodeError):  # tabs between tokens
            self._root = None

    def of(self, path: Sequence[Step]) -> tuple[int, int]:
        """(line, column) of the deepest part of a path that is there; (0, 0) where nothing is known."""
        node, mark = self._root, getattr(self._root, "start_mark", None)
        for step in path:
            if node is None:
                break
            if isinstance(step, int):
                node = node.value[step]
                mark = node.start_mark
            else:
                found = [(key, value) for key, value in node.value if key.value == step]
                node = found[0][1] if found else None
                mark = found[0][0].start_mark if found else mark
        return (mark.line + 1, mark.column + 1) if mark else (0, 0)


def dotted(path: Sequence[Step]) -> str:
    """flows[2].src."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.lstrip(".") or "the scenario"
