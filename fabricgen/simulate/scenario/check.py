"""Checks a scenario file against its JSON Schema and its own names: every mistake is a finding with its line."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fabricgen.bundle.read import parse_object
from fabricgen.findings import Finding, Location, Severity
from fabricgen.inputs import read_bytes
from fabricgen.resources import resource
from fabricgen.results import Compat
from fabricgen.simulate.scenario.model import CongestionControl, NodeKind
from fabricgen.simulate.scenario.places import Mistake, TextPlaces, dotted
from fabricgen.simulate.scenario.route_mistakes import route_mistakes
from fabricgen.simulate.scenario.spread_mistakes import spread_mistakes

_LONGEST = 200  # characters of a message
_NEEDED_KINDS: Sequence[tuple[str, tuple[str, ...], NodeKind | None]] = (
    ("links", ("a", "b"), None),
    ("flows", ("src", "dst"), NodeKind.HOST),
    ("routes", ("at",), NodeKind.SWITCH),
    ("routes", ("to",), NodeKind.HOST),
    ("routes", ("via",), None),
    ("storms", ("host",), NodeKind.HOST),
    ("failures", ("a", "b"), None),
)


def check_scenario(file: Path) -> list[Finding]:
    """FG790 for every mistake in a scenario file. Raises UnreadableInputError for a file without a JSON object."""
    text = read_bytes(file)
    tree = parse_object(text, file)
    mistakes = list(_schema_mistakes(tree)) or [*_name_mistakes(tree), *credit_mistakes(tree), *spread_mistakes(tree)]
    mistakes = mistakes or list(route_mistakes(tree))
    if not mistakes:
        return []
    places = TextPlaces(text)
    return [
        Finding(
            code="FG790",
            severity=Severity.ERROR,
            message=f"{dotted(path)}: {problem}",
            path=dotted(path),
            location=Location(str(file), *places.of(path)),
            hint="run `fabricgen schema scenario` for the JSON Schema of scenario files",
        )
        for path, problem in mistakes
    ]


def _schema_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """Mistakes against the schema. List items that differ only in names are checked once: a file may have ten thousand
    routes, which are all equal to the schema."""
    from fabricgen.json_schema import SchemaValidator

    schema = json.loads(resource("schemas", "scenario.schema.json").read_text(encoding="utf-8"))
    shorter, number = dict(tree), {}
    for key, items in tree.items():
        if isinstance(items, list) and all(isinstance(item, dict) for item in items):
            first: dict[str, int] = {}
            for index, item in enumerate(items):
                first.setdefault(repr([(name, _without_name(value)) for name, value in item.items()]), index)
            number[key] = list(first.values())
            shorter[key] = [items[index] for index in number[key]]
    for error in SchemaValidator(schema).iter_errors(shorter):
        for found, problem in _problems(error, schema["$defs"]):
            path = list(found)
            if len(path) > 1 and path[0] in number and isinstance(path[1], int):
                path[1] = number[str(path[0])][path[1]]
            yield tuple(path), problem


def _problems(error: Any, definitions: Mapping[str, Any]) -> Iterator[Mistake]:
    """The mistakes behind a ValidationError of jsonschema: unknown keys, and those in an object that may be null."""
    from fabricgen.json_schema import problem_in_words

    path = tuple(error.absolute_path)
    if error.validator in ("additionalProperties", "unevaluatedProperties"):
        known = _keys(error.schema, definitions)
        for key in sorted(set(error.instance) - known):
            yield (*path, key), f"unknown key {key!r}{_hint(key, known)}"
    elif error.validator == "oneOf" and error.context:
        for each in error.context:
            if each.relative_schema_path[0] == 0:
                yield from _problems(each, definitions)
    else:
        problem = problem_in_words(error)
        yield path, f"does not match {error.validator!r} of the schema" if len(problem) >= _LONGEST else problem


def _keys(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[str]:
    """The keys of an object, with those of the definition that it refers to."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return {*schema.get("properties", ()), *definitions.get(name, {}).get("properties", ())}


def _hint(key: str, known: set[str]) -> str:
    close = get_close_matches(key, sorted(known), 1)
    return f": did you mean {close[0]!r}?" if close else ""


def _without_name(value: object) -> object:
    return bool(value) if isinstance(value, str) and value not in ("host", "switch") else value


def _name_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """Names without a node or with a node of the wrong kind, and routes and failures without a link."""
    kinds = {node["name"]: node["kind"] for node in tree["nodes"]}
    for name, times in Counter(node["name"] for node in tree["nodes"]).items():
        if times > 1:
            yield ("nodes",), f"{times} nodes have the name {name!r}"
    for key, fields, kind in _NEEDED_KINDS:
        for index, item in enumerate(tree.get(key, ())):
            for field in fields:
                found = kinds.get(item[field])
                if found is None or kind not in (None, found):
                    yield (key, index, field), f"{item[field]!r} is not a {kind or 'node'}"
    for host, storms in Counter(storm["host"] for storm in tree.get("storms", ())).items():
        if storms > 1:
            yield ("storms",), f"{host!r} has {storms} storms; a host can have one"
    for index, flow in enumerate(tree["flows"]):
        if flow["src"] == flow["dst"]:
            yield ("flows", index, "dst"), "the flow ends where it begins"
    yield from _link_mistakes(tree)


def _link_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """Routes and failures without a link, and buffers at the end of a host."""
    hosts = {node["name"] for node in tree["nodes"] if node["kind"] == NodeKind.HOST}
    for index, link in enumerate(tree["links"]):
        for end in ("a", "b"):
            if f"{end}_buffers" in link and link[end] in hosts:
                yield ("links", index, f"{end}_buffers"), f"{link[end]!r} is a host: only switches have these buffers"
    linked = {(link["a"], link["b"]) for link in tree["links"]}
    for index, route in enumerate(tree["routes"]):
        if (route["at"], route["via"]) not in linked and (route["via"], route["at"]) not in linked:
            yield ("routes", index, "via"), f"no link between {route['at']} and {route['via']}"
    for index, failure in enumerate(tree.get("failures", ())):
        if (failure["a"], failure["b"]) not in linked and (failure["b"], failure["a"]) not in linked:
            yield ("failures", index), f"no link between {failure['a']} and {failure['b']}"
        yield from _flap_mistakes(index, failure)


def _flap_mistakes(index: int, failure: Mapping[str, Any]) -> Iterator[Mistake]:
    """Times of a link that comes up again."""
    up_ns, back_ns = failure.get("up_at_ns"), failure.get("routes_back_at_ns")
    routes_ns = failure.get("routes_at_ns", failure["at_ns"])
    if up_ns is not None and up_ns <= failure["at_ns"]:
        yield ("failures", index, "up_at_ns"), f"{up_ns} is not after at_ns {failure['at_ns']}"
    elif back_ns is not None and up_ns is None:
        yield ("failures", index, "routes_back_at_ns"), "the link does not come up: expected up_at_ns, too"
    elif up_ns is not None and (up_ns if back_ns is None else back_ns) <= routes_ns:
        where = "up_at_ns" if back_ns is None else "routes_back_at_ns"
        yield ("failures", index, where), f"the routes are back before they change at {routes_ns} ns"


# The parts of a scenario file that credits replace, and buffers that are too small for a packet.

_REPLACED = {
    "switch_defaults": "credits.buffer_bytes is the buffer of each port and class",
    "pfc": "credits replace pause frames",
    "storms": "only pause frames can begin a storm",
    "failures": "the model of credits has no links that fail",
}


def credit_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """The mistakes of a scenario with credits, which matches the schema; none without credits."""
    if "credits" not in tree:
        return
    yield from _of_transport(tree)
    for key, reason in _REPLACED.items():
        if tree.get(key):
            yield (key,), f"the scenario has credits: {reason}"
    if tree.get("compat") == Compat.HPCC:
        yield ("compat",), "HPCC's simulator does not have credits"
    for index, link in enumerate(tree["links"]):
        for end in ("a_buffers", "b_buffers"):
            if link.get(end):
                yield ("links", index, end), f"the scenario has credits: {_REPLACED['switch_defaults']}"
    for index, each in enumerate(tree.get("classes", ())):
        if not each.get("lossless", True):
            yield ("classes", index, "lossless"), "with credits no class drops packets: expected true"


def _of_transport(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    transport, buffer_bytes = tree["transport"], tree["credits"]["buffer_bytes"]
    if transport["congestion_control"] != CongestionControl.NONE:
        yield ("transport", "congestion_control"), "the model of credits has no congestion control"
    if not transport["ack_lossless"]:
        yield ("transport", "ack_lossless"), "with credits, ACKs travel in the class of their flow: expected true"
    packet = transport["payload_bytes"] + transport["header_bytes"]
    if buffer_bytes < packet:
        yield ("credits", "buffer_bytes"), f"{buffer_bytes} bytes do not hold a packet of {packet} bytes"
