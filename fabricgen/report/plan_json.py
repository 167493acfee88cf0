"""The plans of a comparison and their roll-out as one JSON object, and as a file for each patch."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import orjson

from fabricgen.diff.batches import KEPT_SHARE
from fabricgen.diff.counts import count_plans
from fabricgen.diff.difference import Difference
from fabricgen.diff.sorting import generation_of
from fabricgen.diff.step import RESTART, PatchStep, StepPurpose
from fabricgen.diff.tenants import move_cost, tenant_moves
from fabricgen.diff.work import Work
from fabricgen.findings import Finding
from fabricgen.report.formats.json import finding_object
from fabricgen.rollout.mixture import Between, worst
from fabricgen.rollout.order import Rollout

FORMAT_VERSION = "1"
_OF_SESSIONS = (StepPurpose.SESSION, StepPurpose.NEIGHBOR)
_RESTORE_AFTER_S = 900  # and the time of the patch: sonic_config_restore_after_s of the Ansible role


def plan_object(
    tool_version: str, difference: Difference, rollout: Rollout, findings: Iterable[Finding] = ()
) -> dict[str, Any]:
    """format_version, tool, summary, findings; the order of the roll-out; and for each device its route, the steps with
    their patches, and the fabric in between."""
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "fabricgen", "version": tool_version},
        "old": str(difference.old.path),
        "new": str(difference.new.path),
        "summary": _summary(difference, rollout),
        "findings": [finding_object(finding) for finding in findings],
        **(_tenants(difference) if tenant_moves(difference) else {}),
        "rollout": [{"stage": stage.title, "devices": stage.devices} for stage in rollout.stages],
        **({"asns": list(_asns(rollout))} if rollout.renumberings else {}),
        "devices": _devices(difference, rollout),
    }


def _asns(rollout: Rollout) -> Iterator[dict[str, Any]]:
    """The patches of each switch that gets another ASN, in order, after those of `rollout`."""
    for one in rollout.renumberings:
        steps = [{"device": name, "step": number, "file": step_file(name, number)} for name, number in one.steps]
        steps[0]["then"] = RESTART
        yield {"switch": one.switch, "old": one.old, "new": one.new, "steps": steps}


def step_file(device: str, number: int) -> str:
    """The path of a patch in the folder of a plan."""
    return f"{device}/{number:02}.json"


def _tenants(difference: Difference) -> dict[str, Any]:
    switches, rows = move_cost(difference)
    moves = [asdict(move) for move in tenant_moves(difference)]
    return {"tenants": moves, "tenants_cost": {"switches": switches, "rows": rows}}


def plan_files(plan: Mapping[str, Any]) -> Mapping[str, bytes]:
    """The plan as plan.json, and DEVICE/NN.json for each patch, in the format of `config apply-patch`."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    found = {"plan.json": orjson.dumps(plan, option=options)}
    for name, device in plan["devices"].items():
        for step in device["steps"]:
            found[step_file(name, step["step"])] = orjson.dumps(step["patch"], option=options)
    return found


def _devices(difference: Difference, rollout: Rollout) -> dict[str, Any]:
    """The plan of each device, with the fabric at its steps. Devices with the same work share the patches."""
    known: dict[Work, dict[str, Any]] = {}
    found = {}
    for device in difference.changed:
        shared = known.get(device.work) or known.setdefault(device.work, _device(device.work))
        states = rollout.between.get(device.name, ())
        steps = [{**step, "between": _between(one)} for step, one in zip(shared["steps"], states, strict=False)]
        found[device.name] = {
            **shared,
            "between": _between(worst(states)) if states else None,
            "steps": steps or shared["steps"],
        }
    return found


def _between(state: Between) -> dict[str, Any]:
    words = {True: "cyclic", False: "free", None: "unknown"}
    return {
        "uplink_share": round(state.uplink_share, 4),
        "hosts_cut_off": state.cut_off,
        "routes_lost": state.lost,
        "deadlock": words[state.cyclic],
        "tenants_joined": state.joined,
    }


def _summary(difference: Difference, rollout: Rollout) -> dict[str, Any]:
    plans = count_plans(difference)
    return {
        "devices": {**plans.routes, "added": len(difference.added), "removed": len(difference.removed)},
        "patches": plans.patches,
        "seconds": plans.seconds,
        "megabytes": plans.megabytes,
        "uplink_share": {"wanted": KEPT_SHARE, "kept": plans.kept_share},
        "between": _between(worst(one for states in rollout.between.values() for one in states)),
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


def _step(number: int, step: PatchStep) -> dict[str, Any]:
    price = step.price
    return {
        "step": number,
        "purpose": step.purpose,
        "batch": step.batch,
        "ports_down": step.down,
        "sessions": sorted({change.key for change in step.changes}) if step.purpose in _OF_SESSIONS else [],
        "updater_changes": price.changes,
        "seconds": price.seconds,
        "megabytes": price.megabytes,
        "restore_after_s": _RESTORE_AFTER_S + price.seconds[1],
        "written_by_buffermgrd": sorted({f"{change.table}|{change.key}" for change in step.made}),
        "patch": [operation.json for operation in step.patch()],
    }
