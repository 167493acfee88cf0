"""A person's own flows: {"flows": [{"src": "gpu-000|rail0", "dst": "gpu-001|rail0", "bytes": 1000000}]}.

An end is HOST|NIC, or a host, of which the first adapter on the plane is meant. `start_ns` is 0 where it is left out.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

import numpy as np

from fabricgen.bundle.read import parse_object, read_bytes
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.simulate.patterns.job import Adapter
from fabricgen.simulate.patterns.traffic import Messages

_MOST_TOLD = 5


def read_trace(file: Path, adapters: Sequence[Adapter]) -> Messages:
    """The messages of a trace file. Raises UnreadableInputError."""
    tree = parse_object(read_bytes(file), file)
    number: dict[str, int] = {}
    for index, adapter in enumerate(adapters):
        number.setdefault(adapter.host, index)
        number[f"{adapter.host}|{adapter.nic}"] = index
    flows = tree.get("flows")
    if not isinstance(flows, list):
        raise UnreadableInputError('not a trace: {"flows": [...]} is missing', Location(str(file)))
    wrong = [f"flows[{index}]: {text}" for index, flow in enumerate(flows) if (text := _mistake(flow, number))]
    if wrong:
        more = f"; and {len(wrong) - _MOST_TOLD} more" if len(wrong) > _MOST_TOLD else ""
        raise UnreadableInputError("; ".join(wrong[:_MOST_TOLD]) + more, Location(str(file)))
    rows = [(number[flow["src"]], number[flow["dst"]], flow["bytes"], flow.get("start_ns", 0)) for flow in flows]
    table = np.array(rows, float).reshape(-1, 4)
    return Messages(table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2], table[:, 3])


def _mistake(flow: object, number: Mapping[str, int]) -> str:
    """What is wrong with a flow, "" where nothing is."""
    if not isinstance(flow, dict):
        return "no object"
    for end in ("src", "dst"):
        if not isinstance(flow.get(end), str):
            return f"{end} is missing"
        if flow[end] not in number:
            return f"{end} {flow[end]!r} is no host or HOST|NIC of this plane, such as {max(number, key=len)!r}"
    if number[flow["src"]] == number[flow["dst"]]:
        return f"ends where it begins, at {flow['src']!r}"
    if not _is_number(flow.get("bytes")) or flow["bytes"] < 1:
        return f"bytes is {flow.get('bytes')!r}, not a number of at least 1"
    if not _is_number(flow.get("start_ns", 0)) or flow.get("start_ns", 0) < 0:
        return f"start_ns is {flow['start_ns']!r}, not a number of at least 0"
    unknown = [name for name in flow if name not in ("src", "dst", "bytes", "start_ns")]
    return f"{unknown[0]!r} is no field of a flow" if unknown else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
