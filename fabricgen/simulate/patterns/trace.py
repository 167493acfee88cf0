"""A person's own flows: {"flows": [{"src": "gpu-000|rail0", "dst": "gpu-001|rail0", "bytes": 1000000}]}.

An end is HOST|NIC, or a host, of which the first adapter on the plane is meant. `start_ns` is 0 where it is left out.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fabricgen.bundle.read import parse_object, read_bytes
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.simulate.patterns.job import Adapter
from fabricgen.simulate.patterns.traffic import Messages


def read_trace(file: Path, adapters: Sequence[Adapter]) -> Messages:
    """The messages of a trace file. Raises UnreadableInputError."""
    tree = parse_object(read_bytes(file), file)
    number: dict[str, int] = {}
    for index, adapter in enumerate(adapters):
        number.setdefault(adapter.host, index)
        number[f"{adapter.host}|{adapter.nic}"] = index
    try:
        rows = [
            (number[flow["src"]], number[flow["dst"]], float(flow["bytes"]), float(flow.get("start_ns", 0)))
            for flow in tree["flows"]
        ]
    except KeyError as error:
        raise UnreadableInputError(f"not a trace of this plane: no {error.args[0]!r}", Location(str(file))) from error
    except (AttributeError, TypeError, ValueError) as error:
        raise UnreadableInputError(f"not a trace: {error}", Location(str(file))) from error
    if any(source == target or size <= 0 for source, target, size, _ in rows):
        raise UnreadableInputError("a flow has no bytes, or ends where it begins", Location(str(file)))
    table = np.array(rows, float).reshape(-1, 4)
    return Messages(table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2], table[:, 3])
