"""What changes from another bundle: moved cables first, then switches and rows, with the cost to apply them."""

from collections.abc import Iterator, Mapping
from typing import Any

from fabricgen import __version__
from fabricgen.bundle.cable_changes import CableChanges
from fabricgen.diff.difference import Difference
from fabricgen.diff.groups import grouped
from fabricgen.report.diff_json import diff_object
from fabricgen.report.diff_words import SIGNS, row_words
from fabricgen.report.growth import growth_object

_MOST_ROWS = 400


def differences_object(old: str, difference: Difference, cables: CableChanges) -> dict[str, Any]:
    """`summary`, `cost` and `devices` as `diff` has them, `cables` as `check --against` has them, and `groups`: rows
    that switches have in common, in words. `more_rows` counts those that are left out."""
    whole = diff_object(__version__, difference)
    groups = list(_groups({device.name: device.changes for device in difference.changed}))
    shown, left = [], _MOST_ROWS
    for group in groups:
        if left > 0:
            shown.append({**group, "rows": group["rows"][:left]})
            left -= len(group["rows"])
    return {
        "old": old,
        "summary": whole["summary"],
        "cost": whole["cost"],
        "devices": whole["devices"],
        "cables": growth_object(whole["summary"]["devices"], cables)["cables"],
        "groups": shown,
        "more_rows": max(0, sum(len(group["rows"]) for group in groups) - _MOST_ROWS),
    }


def _groups(changes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for group in grouped(changes):
        rows = []
        for row in group.rows:
            place, text = row_words(row)
            verdict = row.change.verdict
            rows.append({"sign": SIGNS[row.change.op], "place": place, "change": text, "cost": verdict.cost.value,
                         "reason": verdict.reason})  # fmt: skip
        yield {"devices": list(group.devices), "rows": rows}
