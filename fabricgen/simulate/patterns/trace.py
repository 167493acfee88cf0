"""Flows from a trace file: {"flows": [{"src": "gpu-000|rail0", "dst": "gpu-001|rail0", "bytes": 1000000}]}.

An end is HOST|NIC, or a host, which is its first adapter on the plane. The default of `start_ns` is 0, that of
`priority` is the priority of the run.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from fabricgen.bundle.read import parse_object
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.simulate.patterns.traffic import Messages
from fabricgen.simulate.plane.adapters import Adapter
from fabricgen.simulate.scenario.places import Mistake, TextPlaces, dotted

MOST_REPORTED = 10
LAST_NS = 10**12
_FIELDS = ("src", "dst", "bytes", "start_ns", "priority")
_PRIORITIES = 8


def read_trace(file: Path, adapters: Sequence[Adapter]) -> Messages:
    """The messages of a trace file. Raises UnreadableInputError with its mistakes, at the place of the first one."""
    text = read_bytes(file)
    tree = parse_object(text, file)
    number: dict[str, int] = {}
    for index, adapter in enumerate(adapters):
        number.setdefault(adapter.host, index)
        number[f"{adapter.host}|{adapter.nic}"] = index
    if mistakes := list(_mistakes(tree, number)):
        listed = "; ".join(f"{dotted(path)}: {problem}" for path, problem in mistakes[:MOST_REPORTED])
        more = f"; and {len(mistakes) - MOST_REPORTED} more" if len(mistakes) > MOST_REPORTED else ""
        place = Location(str(file), *TextPlaces(text).of(mistakes[0][0]))
        raise UnreadableInputError(f"not a trace of this plane: {listed}{more}", place)
    flows = tree["flows"]
    return Messages(
        np.array([number[flow["src"]] for flow in flows], np.int64),
        np.array([number[flow["dst"]] for flow in flows], np.int64),
        np.array([flow["bytes"] for flow in flows], float),
        np.array([flow.get("start_ns", 0) for flow in flows], float),
        np.array([flow.get("priority", -1) for flow in flows], np.int64),
    )


def _mistakes(tree: Mapping[str, Any], number: Mapping[str, int]) -> Iterator[Mistake]:
    """The mistakes of a trace, in its order."""
    flows = tree.get("flows")
    if not isinstance(flows, list) or not flows:
        yield ("flows",), "must be a list of at least one flow"
        return
    for index, flow in enumerate(flows):
        if not isinstance(flow, dict):
            yield ("flows", index), "is not an object with src, dst and bytes"
            continue
        for field, problem in _flow_mistakes(flow, number):
            yield ("flows", index, field), problem


def _flow_mistakes(flow: Mapping[str, Any], number: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """(field, problem)."""
    for field in flow:
        if field not in _FIELDS:
            yield field, f"is not one of {', '.join(_FIELDS)}"
    for end in ("src", "dst"):
        if not isinstance(flow.get(end), str) or flow[end] not in number:
            yield end, f"{flow.get(end)!r} is not a host or HOST|NIC with a port on this plane"
    if isinstance(flow.get("src"), str) and number.get(flow["src"], -1) == number.get(str(flow.get("dst")), -2):
        yield "dst", "the flow ends where it begins"
    if not _is_number(flow.get("bytes")) or flow["bytes"] <= 0:
        yield "bytes", f"{flow.get('bytes')!r} is not a number of bytes above 0"
    if not _is_number(flow.get("start_ns", 0)) or not 0 <= flow.get("start_ns", 0) <= LAST_NS:
        yield "start_ns", f"{flow['start_ns']!r} is not a time from 0 to {LAST_NS} ns"
    if "priority" in flow and (type(flow["priority"]) is not int or not 0 <= flow["priority"] < _PRIORITIES):
        yield "priority", f"{flow['priority']!r} is not a priority from 0 to 7"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
