"""A comparison as a JSON object, and its patches as another."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from fabricgen.diff.changes import Change
from fabricgen.diff.counts import ChangeCounts, PlanCounts, count, count_plans
from fabricgen.diff.difference import DeviceDifference, Difference
from fabricgen.diff.groups import merged
from fabricgen.diff.patch import Route, worst
from fabricgen.sonic.secrets import shown_key, shown_value

FORMAT_VERSION = "1"


def diff_object(tool_version: str, difference: Difference) -> dict[str, Any]:
    """format_version, tool, compared, summary, and the differences, each with its devices."""
    counts = count(difference)
    return {
        **_head(tool_version),
        "compared": "drift" if difference.is_drift else "configurations",
        "old": str(difference.old.path),
        "new": str(difference.new.path),
        "summary": {
            "devices": counts.devices,
            **counts.changes,
            "made_by_switch": counts.made,
            "secrets_not_compared": counts.secrets,
            "files": len(difference.files),
        },
        "cost": _cost(difference, counts),
        "plan": _plan(count_plans(difference)) if difference.is_plan else None,
        "devices": {
            "added": [{"name": name, "rows": rows} for name, rows in difference.added.items()],
            "removed": [{"name": name, "rows": rows} for name, rows in difference.removed.items()],
            "changed": [device.name for device in difference.changed],
            "unseen": list(difference.unseen),
        },
        "changes": [
            {**_change(change), "class": change.verdict.cost.value, "reason": change.verdict.reason, "devices": devices}
            for change, devices in _listed({device.name: device.changes for device in difference.changed})
        ],
        "made_by_switch": [
            {**_change(change), "by": change.verdict.reason, "devices": devices}
            for change, devices in _listed({device.name: device.drift.made for device in difference.devices})
        ],
        "files": [{"path": path, "change": what} for path, what in difference.files.items()],
    }


def patch_object(tool_version: str, difference: Difference, counts: ChangeCounts) -> dict[str, Any]:
    """format_version, tool, the cost of all changes, and for each device its patch with the cost of each operation."""
    devices = {device.name: _patch(device) for device in difference.changed}
    return {**_head(tool_version), "cost": _cost(difference, counts), "devices": devices}


def patch_files(difference: Difference) -> Mapping[str, bytes]:
    """File name -> patch of a device in the format of `config apply-patch`."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return {
        f"{device.name}.json": orjson.dumps([operation.json for operation in device.work.patch], option=options)
        for device in difference.changed
        if not device.work.problem
    }


def _head(tool_version: str) -> dict[str, Any]:
    return {"format_version": FORMAT_VERSION, "tool": {"name": "fabricgen", "version": tool_version}}


def _cost(difference: Difference, counts: ChangeCounts) -> dict[str, Any]:
    return {
        "class": worst(device.work.cost for device in difference.changed).value if difference.changed else None,
        "changes": counts.costs,
        "devices": counts.routes,
        "port_flaps": counts.flaps,
        "patch_seconds": counts.patch_seconds,
        "patch_megabytes": counts.patch_megabytes,
    }


def _plan(plans: PlanCounts) -> dict[str, Any]:
    return {
        "devices": plans.routes,
        "patches": plans.patches,
        "ports_down": plans.ports,
        "seconds": plans.seconds,
        "megabytes": plans.megabytes,
        "uplink_share": plans.kept_share,
    }


def _patch(device: DeviceDifference) -> dict[str, Any]:
    return {
        "cost": device.work.cost.value,
        "route": device.work.route,
        "release": device.work.release,
        "seconds": device.work.price.seconds if device.work.route is Route.APPLY_PATCH else None,
        "megabytes": device.work.price.megabytes if device.work.route is Route.APPLY_PATCH else None,
        "updater_changes": device.work.price.changes if device.work.route is Route.APPLY_PATCH else None,
        "problem": device.work.problem,
        "withheld": device.work.withheld,
        "patch": [operation.json for operation in device.work.patch],
        "ops": [
            {
                "op": operation.op,
                "path": operation.path,
                "class": operation.verdict.cost.value,
                "reason": operation.verdict.reason,
                "refused_by": operation.verdict.refused_by,
            }
            for operation in device.work.patch
        ],
    }


def _listed(changes: Mapping[str, Sequence[Change]]) -> Sequence[tuple[Change, tuple[str, ...]]]:
    """By table, row and field; a change of more devices first."""
    return sorted(merged(changes), key=lambda found: (found[0].order, -len(found[1]), found[1]))


def _change(change: Change) -> dict[str, Any]:
    return {
        "op": change.op,
        "table": change.table,
        "key": shown_key(change.table, change.key),
        "field": change.field,
        "old": _masked(change, change.old),
        "new": _masked(change, change.new),
    }


def _masked(change: Change, value: Any) -> Any:
    if change.field is not None or not isinstance(value, dict):
        return shown_value(change.table, change.field or "", value)
    return {name: shown_value(change.table, name, item) for name, item in value.items()}
