"""The packet runs of the report: the time series of `simulate packets --series`, thinned to what can be seen."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes

_FILE = "series.json"
_POINTS = 300  # of a line
_WINDOWS = 80  # of a run: a rate is a mean, because single packets of many flows would look like bursts
_LINES, _PORTS, _SPANS = 8, 24, 400  # of a run, and of a paused port


def packet_runs(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """The runs in these folders; a further plane of a run has a subfolder. Each has its first `_LINES` queues and
    rates, and the `_PORTS` ports with the longest pauses; `more` counts those that are left out.

    Raises UnreadableInputError for a folder without a series.json, and for a file with another content.
    """
    return [_run(file) for folder in folders for file in _files(folder)]


def _files(folder: Path) -> Iterator[Path]:
    found = [folder / _FILE, *sorted(folder.glob(f"*/{_FILE}"))]
    found = [file for file in found if file.is_file()]
    if not found:
        problem = f"no {_FILE} in this folder; `fabricgen simulate packets --series {folder}` writes it"
        raise UnreadableInputError(problem, Location(str(folder)))
    yield from found


def _run(file: Path) -> dict[str, Any]:
    try:
        return _thinned(orjson.loads(read_bytes(file)))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        raise UnreadableInputError("not a series of `simulate packets`", Location(str(file))) from problem


def _thinned(series: Mapping[str, Any]) -> dict[str, Any]:
    times: Sequence[int] = series["times_ns"]
    # The fullest moment of each interval is kept: a short peak is what a reader looks for.
    at = list(_moments(len(times), [queue["bytes"] for queue in series["queues"][:_LINES]]))
    pauses = {port: [(int(start), int(end)) for start, end in spans] for port, spans in series["pauses"].items()}
    longest = sorted(pauses, key=lambda port: (-sum(end - start for start, end in pauses[port]), port))
    ends = [end for spans in pauses.values() for _, end in spans]
    rates: Mapping[str, Sequence[float]] = series["rates"]
    window_ns = max(times, default=0) // _WINDOWS
    return {
        "name": str(series["name"]),
        "end_ns": max([*times, *ends], default=0),
        "times_ns": [times[index] for index in at],
        "queues": [
            {**{key: queue[key] for key in ("name", "kmin_bytes", "kmax_bytes")},
             "bytes": [queue["bytes"][index] for index in at]}
            for queue in series["queues"][:_LINES]
        ],
        "xoff_bytes": [series["xoff_bytes"][index] for index in at] if series["xoff_bytes"] else [],
        "pauses": {port: list(joined(pauses[port])) for port in longest[:_PORTS]},
        "rates": {flow: list(smooth(times, rates[flow], at, window_ns)) for flow in list(rates)[:_LINES]},
        "rate_window_ns": window_ns,
        "more": {
            "queues": max(0, len(series["queues"]) - _LINES),
            "pauses": max(0, len(longest) - _PORTS),
            "rates": max(0, len(rates) - _LINES),
        },
    }  # fmt: skip


def smooth(times: Sequence[int], rates: Sequence[float], at: Sequence[int], window_ns: int) -> Iterator[float]:
    """The mean rate of the window that ends at each of the moments `at`; a rate is that since the moment before."""
    bits = [0.0, *accumulate(rate * step for rate, step in zip(rates, np.diff(times, prepend=0).tolist(), strict=True))]
    first = 0
    for index in at:
        while times[first] < times[index] - window_ns:
            first += 1
        begin = times[first - 1] if first else 0
        length = times[index] - begin
        yield round((bits[index + 1] - bits[first]) / length, 3) if length else rates[index]


def _moments(count: int, lines: Sequence[Sequence[int]]) -> Iterator[int]:
    """At most `_POINTS` places of `count`: of each interval the one with the fullest queue; the first and the last."""
    each = -(-count // _POINTS) or 1
    for start in range(0, count, each):
        places = range(start, min(count, start + each))
        if start == 0 or places[-1] == count - 1:
            yield places[0] if start == 0 else places[-1]
        else:
            yield max(places, key=lambda place: max((line[place] for line in lines), default=0))


def joined(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The intervals; if there are very many, neighbours become one, those with the shortest gaps first."""
    gaps = sorted(later[0] - earlier[1] for earlier, later in pairwise(spans))
    least = gaps[-_SPANS] if len(gaps) >= _SPANS else -1
    start, end = None, 0
    for one in spans:
        if start is None:
            start, end = one
        elif one[0] - end <= least:
            end = one[1]
        else:
            yield start, end
            start, end = one
    if start is not None:
        yield start, end
