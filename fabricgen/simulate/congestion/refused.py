"""The parts of a scenario file that the congestion model does not have: it refuses them, each at its line."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabricgen.bundle.read import parse_object
from fabricgen.findings import Finding, Location, Severity
from fabricgen.inputs import read_bytes
from fabricgen.simulate.scenario.places import Mistake, Step, TextPlaces, dotted
from fabricgen.vocabulary import BalanceMode

_EVENTS = {
    "storms": "a pause storm begins and ends during the run",
    "failures": "a link fails during the run",
}
_OF_BUFFERS = {
    "watchdog": "the watchdog drops packets of a paused queue",
    "egress_pool_bytes": "a queue with a limit drops packets",
}
_DEFAULT_PRIORITY = 3  # of a flow


def refused_parts(file: Path) -> list[Finding]:
    """FG791 for each part of a scenario file that the model does not have. The file has no mistakes (FG790)."""
    text = read_bytes(file)
    found = list(_parts(parse_object(text, file)))
    places = TextPlaces(text) if found else None
    return [
        Finding(
            code="FG791",
            severity=Severity.ERROR,
            message=f"{dotted(path)}: {reason}, which this model does not have",
            path=dotted(path),
            location=Location(str(file), *(places.of(path) if places else (0, 0))),
            hint="remove the key, or run `fabricgen simulate packets --scenario`",
        )
        for path, reason in found
    ]


def _parts(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    for key, reason in _EVENTS.items():
        if tree.get(key):
            yield (key,), reason
    if tree.get("pfc", {}).get("refresh_ns"):
        yield ("pfc", "refresh_ns"), "a pause may end before it is repeated"
    if tree.get("balance", {}).get("mode", BalanceMode.ECMP) != BalanceMode.ECMP:
        yield ("balance", "mode"), "packets of a flow take several paths"
    yield from _classes(tree)
    for path, buffers in _buffers(tree):
        for key, reason in _OF_BUFFERS.items():
            if buffers.get(key):
                yield (*path, key), reason


def _classes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """Several priorities of flows, and lossy ones."""
    priorities = [flow.get("priority", _DEFAULT_PRIORITY) for flow in tree["flows"]]
    other = next((index for index, priority in enumerate(priorities) if priority != priorities[0]), None)
    if other is not None:
        path: tuple[Step, ...] = ("flows", other, "priority")
        yield path, f"priorities {priorities[0]} and {priorities[other]} share the ports"
    for index, each in enumerate(tree.get("classes", ())):
        if each["priority"] in priorities and not each.get("lossless", True):
            yield ("classes", index, "lossless"), "packets of a lossy class are dropped"


def _buffers(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[Step, ...], Mapping[str, Any]]]:
    """(path, settings) of every place with settings of buffers."""
    yield ("switch_defaults",), tree.get("switch_defaults", {})
    yield from ((("nodes", index), node) for index, node in enumerate(tree["nodes"]))
    for index, link in enumerate(tree["links"]):
        for end in ("a_buffers", "b_buffers"):
            if end in link:
                yield ("links", index, end), link[end]
