"""The plans of a comparison as one JSON object, and as a file for each patch."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson

from fabricgen.diff.batches import KEPT_SHARE
from fabricgen.diff.difference import Difference
from fabricgen.diff.patch import Route
from fabricgen.diff.plan import Plan
from fabricgen.diff.sorting import generation_of
from fabricgen.diff.step import Purpose, Step
from fabricgen.diff.work import Work

FORMAT_VERSION = "1"
_RESTORE_AFTER_S = 900  # and the time of the patch: sonic_config_restore_after_s of the Ansible role
_ROUTES = tuple(route for route in Route if route is not Route.NONE)


def plan_object(tool_version: str, difference: Difference) -> dict[str, Any]:
    """format_version, tool, summary, and for each device its route and the steps with their patches."""
    plans = {device.name: device.work.plan for device in difference.changed}
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "fabricgen", "version": tool_version},
        "old": str(difference.old.path),
        "new": str(difference.new.path),
        "summary": _summary(difference, plans),
        "devices": _devices(difference),
    }


def plan_files(plan: Mapping[str, Any]) -> Mapping[str, bytes]:
    """The plan as plan.json, and DEVICE/NN.json for each patch, in the format of `config apply-patch`."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    found = {"plan.json": orjson.dumps(plan, option=options)}
    for name, device in plan["devices"].items():
        for step in device["steps"]:
            found[f"{name}/{step['step']:02}.json"] = orjson.dumps(step["patch"], option=options)
    return found


def _devices(difference: Difference) -> dict[str, Any]:
    """The plan of each device; devices with the same work share one object."""
    known: dict[Work, dict[str, Any]] = {}
    return {
        device.name: known.get(device.work) or known.setdefault(device.work, _device(device.work))
        for device in difference.changed
    }


def _summary(difference: Difference, plans: Mapping[str, Plan]) -> dict[str, Any]:
    routes = Counter(plan.route for plan in plans.values())
    prices = [plan.price for plan in plans.values() if plan.steps]
    return {
        "devices": {
            **{route.value: routes[route] for route in _ROUTES},
            "added": len(difference.added),
            "removed": len(difference.removed),
        },
        "patches": sum(len(plan.steps) for plan in plans.values()),
        "seconds": max((price.seconds for price in prices), key=lambda range_s: range_s[1], default=(0, 0)),
        "megabytes": max((price.megabytes for price in prices), default=0),
        "uplink_share": {
            "wanted": KEPT_SHARE,
            "kept": min((plan.kept_share for plan in plans.values() if plan.steps), default=1.0),
        },
    }


def _device(work: Work) -> dict[str, Any]:
    plan = work.plan
    return {
        "route": plan.route,
        "release": plan.release,
        "updater": generation_of(plan.release),
        "reasons": plan.reasons,
        "changes": len(work.changes),
        "withheld": work.withheld,
        "seconds": plan.price.seconds if plan.steps else None,
        "megabytes": plan.price.megabytes if plan.steps else None,
        "uplink_share": plan.kept_share,
        "steps": [_step(number, step) for number, step in enumerate(plan.steps, start=1)],
    }


def _step(number: int, step: Step) -> dict[str, Any]:
    price = step.price
    return {
        "step": number,
        "purpose": step.purpose,
        "batch": step.batch,
        "ports_down": step.down,
        "sessions": sorted({change.key for change in step.changes}) if step.purpose is Purpose.SESSION else [],
        "updater_changes": price.changes,
        "seconds": price.seconds,
        "megabytes": price.megabytes,
        "restore_after_s": _RESTORE_AFTER_S + price.seconds[1],
        "written_by_buffermgrd": sorted({f"{change.table}|{change.key}" for change in step.made}),
        "patch": [operation.json for operation in step.patch()],
    }
