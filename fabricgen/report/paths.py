"""The verdict on lists of uSIDs as a JSON object and as text."""

from collections.abc import Iterator, Sequence
from typing import Any

from fabricgen.report.planes import of_planes
from fabricgen.results import NOT_JUDGED, PathsResult
from fabricgen.units import counted


def paths_object(results: Sequence[PathsResult]) -> dict[str, Any]:
    """The `paths` object: that of the worst plane; several planes are all under `planes`."""
    return of_planes([_plane(result) for result in results])


def _plane(result: PathsResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "verdict": _word(result),
        "claim": _claim(result),
        "block": result.block,
        "switches": result.switches,
        "nics": result.nics,
        "lists": result.lists,
        "walked": result.walked,
        "links": {"directions": result.links, "least_lists": result.least, "most_lists": result.most},
        "after_one_failure": {"least_lists": result.after_failure, "pair": [*filter(None, result.worst)]},
        "wrong": [
            {
                "from": one.source,
                "to": list(one.nic),
                "destination": one.destination or None,
                "at": list(one.at),
                "reason": one.reason,
                "lists": one.lists,
            }
            for one in result.wrong
        ],
    }


def _word(result: PathsResult) -> str:
    if result.wrong:
        return "wrong"
    return "as-wired" if result.walked else "unknown"


def _claim(result: PathsResult) -> str | None:
    """A list that was walked is proved to be wrong; that all are right only if all were walked."""
    if not result.walked:
        return None
    return "proved" if result.wrong or result.is_proved else "possible"


def paths_lines(results: Sequence[PathsResult]) -> Iterator[str]:
    """A line for each plane, which also says what the verdict does not cover."""
    for result in results:
        if result.wrong:
            verdict = f"WRONG, proved: {counted(sum(one.lists for one in result.wrong), 'list')} take another way"
        elif result.walked:
            verdict = f"each list takes its path: {_claim(result)}"
        else:
            verdict = NOT_JUDGED
        parts = [f"{result.walked:,} of {result.lists:,} lists", counted(result.nics, "NIC")]
        parts += [f"{counted(result.links, 'link direction')}"]
        if result.most is not None:
            parts.append(f"{result.least} to {result.most} lists over each")
        if result.after_failure is not None:
            parts.append(f"at least {result.after_failure} left between two leaves after one link fails")
        yield f"paths  plane {result.name or '(files)'}, block {result.block}: {verdict} ({'; '.join(parts)})"
