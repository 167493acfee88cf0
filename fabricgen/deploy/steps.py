"""The steps of the module sonic_config_db, from its parameters to its result."""

import enum
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import transaction
from .disguise import Disguise
from .restore import Device, DeviceError
from .target import Preference, Source
from .transaction import Request, Transition


class DeployStep(enum.StrEnum):
    """What the module does."""

    COMPARE = "compare"
    PREPARE = "prepare"
    APPLY = "apply"
    VERIFY = "verify"
    SAVE = "save"
    UNDO = "undo"


@dataclass
class StepOutcome:
    """What the module returns; `problem` is the message of a failure, "" after success."""

    changed: bool = False
    result: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    hidden: set[str] = field(default_factory=set)  # secrets that must not appear in the output


def take(parameters: Mapping[str, Any], *, check: bool) -> StepOutcome:
    """Take the step that the module's parameters name. `check` is Ansible's check mode: nothing is changed."""
    request = _request(parameters)
    try:
        outcome = _take(DeployStep(parameters["step"]), Device(Path(parameters["work_folder"])), request, check)
    except DeviceError as error:
        outcome = StepOutcome(problem=str(error))
    given = map(str, request.secrets.values())
    outcome.hidden = {spelling for secret in (*request.disguise.seen, *given) for spelling in _spellings(secret)}
    return outcome


def _request(parameters: Mapping[str, Any]) -> Request:
    rendered = parameters["rendered"]
    return Request(
        rendered=rendered,
        disguise=Disguise(rendered, parameters["secret_tables"], parameters["secret_fields"]),
        secrets=parameters["secrets"],
        shared=parameters["shared_tables"],
        source=Source(parameters["source"]),
        route=Preference(parameters["route"]),
        startup_file=parameters["startup_file"],
        checkpoint=parameters["checkpoint"],
        restore_after_s=parameters["restore_after_s"],
        settle_s=parameters["settle_s"],
        frr_conf=parameters["frr_conf"],
        frr_file=parameters["frr_file"],
    )


def _spellings(secret: str) -> Iterator[str]:
    """A secret as text, in JSON, and as Python prints it."""
    yield from (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1])


def _take(step: DeployStep, device: Device, request: Request, check: bool) -> StepOutcome:
    hidden = request.disguise.seen
    if step in (DeployStep.COMPARE, DeployStep.PREPARE):
        plan, problem = transaction.prepare(device, request, check=check or step is DeployStep.COMPARE)
        if step is DeployStep.COMPARE and plan.changes_frr:
            problem = "frr.conf differs from the rendered file"
        if step is DeployStep.COMPARE and plan.tables:
            frr = f"; {problem}" if problem else ""
            problem = f"these tables differ from the rendered file: {', '.join(plan.tables)}{frr}"
        return StepOutcome(check and plan.differs, _compared(plan, request.disguise), problem)
    if check:
        return StepOutcome()
    if step is DeployStep.VERIFY:
        return StepOutcome(problem="; ".join(transaction.deviations(device, hidden)))
    if step is DeployStep.UNDO:
        return StepOutcome(changed=transaction.undo(device, hidden))
    if step is DeployStep.APPLY:
        transaction.apply(device, hidden)
    else:
        transaction.save(device, hidden)
    return StepOutcome(changed=True)


def _compared(plan: Transition, disguise: Disguise) -> dict[str, Any]:
    """The result of a comparison, with Ansible's `diff` of the tables that differ."""
    result: dict[str, Any] = {
        "differs": plan.differs,
        "tables": plan.tables,
        "frr_conf": plan.changes_frr,
        "route": str(plan.way.route),
        "way": str(plan.way) if plan.tables or not plan.changes_frr else "the file and vtysh",
        "patch_seconds": plan.way.seconds,
        "ports": plan.way.ports,
        "saved": plan.is_saved,
    }
    diffs = []
    if plan.tables:
        before, after = (
            {table: disguise.shown(table, side.get(table, {})) for table in plan.tables}
            for side in (plan.running, plan.target)
        )
        diffs.append({
            "before": json.dumps(before, indent=4, sort_keys=True) + "\n",
            "after": json.dumps(after, indent=4, sort_keys=True) + "\n",
            "before_header": "running configuration",
            "after_header": f"target configuration, by {plan.way}",
        })  # fmt: skip
    if plan.changes_frr:
        headers = {"before_header": "frr.conf of the switch", "after_header": "target frr.conf"}
        diffs.append({"before": plan.frr_found or "", "after": plan.frr_target or "", **headers})
    return result | ({"diff": diffs if diffs[1:] else diffs[0]} if diffs else {})
