"""Jobs files, YAML or JSON, to requests: every mistake is a finding with its line."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location, Severity
from fabricgen.inputs import read_text
from fabricgen.resources import resource
from fabricgen.simulate.patterns import Placement
from fabricgen.simulate.scenario.places import Mistake, Step, TextPlaces, dotted
from fabricgen.simulate.workload.model import MISTAKE, JobRequest, JobsFile
from fabricgen.units import parse_bytes, parse_time_ns

_HINT = "run `fabricgen schema jobs` for the JSON Schema of jobs files"
_LONGEST = 200  # characters of a message of the schema
_OF_NAMES = ("hosts", "unit", "rails")  # keys whose values are names or numbers of parts of the fabric
_BY_COUNT = ("placement", "unit")  # keys that need `count`


def read_jobs(file: Path, pattern: str, size_bytes: int, placement: Placement = Placement.ALIGNED) -> JobsFile:
    """The jobs of a file; those without a pattern, size or placement have the given ones. Raises UnreadableInputError
    for a file that is missing, or neither YAML nor JSON."""
    from fabricgen.plain_yaml import load_yaml_node

    text = read_text(file)
    root, tree = load_yaml_node(text, str(file))
    if not isinstance(tree, Mapping):
        raise UnreadableInputError("expected a mapping with the list `jobs`", Location(str(file)))
    mistakes = [*_repeated(root), *_schema_mistakes(tree)]
    wrong = {path[1] for path, _ in mistakes if len(path) > 1 and path[0] == "jobs"}
    jobs = tree.get("jobs")
    items = {
        number: item
        for number, item in enumerate(jobs if isinstance(jobs, list) else ())
        if number not in wrong and isinstance(item, Mapping)
    }
    for number, item in items.items():
        mistakes += [(("jobs", number, *path), problem) for path, problem in _contradictions(item)]
    mistakes += _equal_names(items)
    wrong = {path[1] for path, _ in mistakes if len(path) > 1 and path[0] == "jobs"}
    places = TextPlaces(text.encode())

    def at(path: tuple[Step, ...]) -> Location:
        return Location(str(file), *places.of(path))

    def values(path: tuple[Step, ...], value: object) -> Iterator[tuple[str, Location]]:
        """The place of a key, or of each value that a message can name: the items of a list, and a single one."""
        name = str(path[-1])
        if name not in _OF_NAMES:
            yield name, at(path)
        elif isinstance(value, list):
            yield name, at(path)
            yield from ((f"{name}[{item}]", at((*path, item))) for item in range(len(value)))
        else:
            yield name, Location(str(file), *places.of_value(path))

    findings = tuple(
        Finding(MISTAKE, Severity.ERROR, f"{_path(path)}: {problem}", path=_path(path), location=at(path), hint=_HINT)
        for path, problem in mistakes
    )
    found = []
    for number, item in items.items():
        if number not in wrong:
            locations = {"": at(("jobs", number))}
            for key, value in item.items():
                locations |= values(("jobs", number, key), value)
            found.append(_request(item, locations, pattern, size_bytes, placement))
    return JobsFile(file.name, tuple(found), findings)


def whole_fabric(pattern: str, size_bytes: int) -> JobsFile:
    """One job on all compute hosts, as without a jobs file."""
    return JobsFile("", (JobRequest("all", hosts=("*",), pattern=pattern, size_bytes=size_bytes),))


def _request(
    item: Mapping[str, Any], locations: Mapping[str, Location], pattern: str, size_bytes: int, placement: Placement
) -> JobRequest:
    hosts, unit, size = item.get("hosts", ()), item.get("unit", ()), item.get("size", size_bytes)
    return JobRequest(
        name=item["name"],
        hosts=(hosts,) if isinstance(hosts, str) else tuple(hosts),
        count=int(item.get("count", 0)),
        placement=Placement(item.get("placement", placement)),
        units=(int(unit),) if isinstance(unit, int | float) else tuple(map(int, unit)),
        rails=tuple(map(int, item.get("rails", ()))),
        pattern=item.get("pattern", pattern),
        size_bytes=parse_bytes(size) if isinstance(size, str) else int(size),
        start_ns=parse_time_ns(item.get("start", "0ns")),
        repetitions=int(item.get("repetitions", 1)),
        pinned=item.get("pinned", False),
        locations=locations,
    )


def _schema_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    from fabricgen.json_schema import SchemaValidator, problem_in_words

    schema = json.loads(resource("schemas", "jobs.schema.json").read_text(encoding="utf-8"))
    for error in SchemaValidator(schema).iter_errors(tree):
        path = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            known = error.schema["properties"]
            for key in error.instance:
                if key not in known:
                    yield (*path, key), f"unknown key; the keys are {', '.join(known)}"
            continue
        if error.validator == "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            yield path, f"{', '.join(missing)} is missing"
            continue
        found = problem_in_words(error)
        if error.validator in ("anyOf", "pattern") or len(found) > _LONGEST:
            found = f"{_short(error.instance)} is not valid here: {_expected(error.schema)}"
        yield path, found


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"a value of {len(text)} characters"


def _expected(schema: Mapping[str, Any]) -> str:
    """What a value must be: the description of its key, else its pattern."""
    text = str(schema.get("description") or f"expected a text that matches {schema.get('pattern')}")
    return text[0].lower() + text[1:].rstrip(".")


def _contradictions(item: Mapping[str, Any]) -> Iterator[Mistake]:
    """Keys that exclude or need each other."""
    if "hosts" in item and "count" in item:
        yield ("count",), "a job has either hosts or count"
    if "hosts" not in item and "count" not in item:
        yield (), f"job {item['name']} has neither hosts nor count"
    for key in _BY_COUNT:
        if key in item and "count" not in item:
            yield (key,), f"{key} is for jobs with count"
    if "placement" in item and "unit" in item:
        yield ("placement",), "a job has either a placement or a unit"


def _equal_names(items: Mapping[int, Mapping[str, Any]]) -> Iterator[Mistake]:
    times = Counter(item["name"] for item in items.values())
    seen = set()
    for number, item in items.items():
        name = item["name"]
        if name in seen:
            yield ("jobs", number, "name"), f"{times[name]} jobs have the name {name}"
        seen.add(name)


def _repeated(node: yaml.Node, path: tuple[Step, ...] = ()) -> Iterator[Mistake]:
    """Keys that a mapping has twice."""
    if isinstance(node, yaml.MappingNode):
        times = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        yield from (((*path, key), "this key is given twice") for key, number in times.items() if number > 1)
        for key, value in node.value:
            yield from _repeated(value, (*path, key.value) if isinstance(key, yaml.ScalarNode) else path)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _repeated(value, (*path, number))


def _path(path: tuple[Step, ...]) -> str:
    return dotted(path) if path else "the file"
