"""The schema of scenarios: no number can be so large or so small that arithmetic on it overflows."""

import json
from collections.abc import Iterator
from typing import Any

from fabricgen.resources import resource


def _numbers(node: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        if node.get("type") in ("integer", "number"):
            yield path, node
        for name, inner in node.items():
            yield from _numbers(inner, f"{path}/{name}")
    elif isinstance(node, list):
        for number, inner in enumerate(node):
            yield from _numbers(inner, f"{path}/{number}")


def test_each_number_has_a_least_and_a_greatest_value() -> None:
    schema = json.loads(resource("schemas", "scenario.schema.json").read_text(encoding="utf-8"))
    found = dict(_numbers(schema, ""))
    assert len(found) >= 30
    for path, number in found.items():
        assert "maximum" in number or "enum" in number, path
        least = [number, *number.get("anyOf", ())]
        assert any("minimum" in one or "exclusiveMinimum" in one or "enum" in one for one in least), path
