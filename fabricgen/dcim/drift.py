"""Findings about a plan: how a source of truth differs from a bundle."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from fabricgen.dcim.changes import DcimPlan, ForeignObject, ObjectChange, ObjectOp
from fabricgen.dcim.objects import KINDS, ObjectKind
from fabricgen.findings import Confidence, Finding, Severity
from fabricgen.units import counted

_observed = partial(Finding, confidence=Confidence.OBSERVED)


def drift_findings(plan: DcimPlan, system: str) -> Iterator[Finding]:
    """One finding for each object that differs; one for all objects of a kind if none of them is there."""
    for kind in KINDS:
        created = plan.of(ObjectOp.CREATE, kind)
        if created and len(created) == plan.counts[kind]:
            message = f"{system} has no {kind} of the bundle, for example {created[0].name}"
            yield _observed("FG985", Severity.WARNING, message, path=kind, count=len(created))
        elif kind is not ObjectKind.PRIMARY:
            for change in created:
                yield _of(change, "FG985", f"{system} does not have the {kind} {change.name}")
    for change in plan.changes:
        if change.op is ObjectOp.CHANGE:
            yield _of(change, "FG986", f"{change.kind} {change.name} in {system}: {_difference(change)}")
        elif change.op is ObjectOp.DELETE:
            yield _of(change, "FG987", f"{system} has the {change.kind} {change.name}, which fabricgen created")
    for obstacle in plan.obstacles:
        yield _left_alone(obstacle, system)


def _of(change: ObjectChange, code: str, message: str) -> Finding:
    device = (
        change.name.partition(":")[0]
        if change.kind in (ObjectKind.DEVICE, ObjectKind.PRIMARY, ObjectKind.INTERFACE)
        else ""
    )
    return _observed(code, Severity.WARNING, message, device=device, path=f"{change.kind}|{change.name}")


def _difference(change: ObjectChange) -> str:
    if change.adopts and not change.fields:
        return "fabricgen takes it over"
    return ", ".join(f"{name} is {_text(old)}, expected {_text(new)}" for name, (old, new) in change.fields.items())


def _text(value: object) -> str:
    return "not set" if value is None or value in ("", frozenset()) else str(value)


def _left_alone(obstacle: ForeignObject, system: str) -> Finding:
    message = f"{obstacle.kind} {obstacle.name} in {system}: {obstacle.reason}"
    code, severity = ("FG988", Severity.ERROR) if obstacle.blocks else ("FG989", Severity.NOTE)
    return _observed(code, severity, message, path=f"{obstacle.kind}|{obstacle.name}")


def plan_lines(plan: DcimPlan) -> list[str]:
    """What the plan creates, changes and deletes, for people."""
    lines = [f"define    custom fields {', '.join(plan.custom_fields)}"] if plan.custom_fields else []
    for op in ObjectOp:
        numbers = [(len(plan.of(op, kind)), kind) for kind in KINDS]
        if any(number for number, _ in numbers):
            lines.append(f"{op:<10}" + ", ".join(counted(number, kind) for number, kind in numbers if number))
    return lines or ["no changes"]


def plan_json(plan: DcimPlan) -> dict[str, Any]:
    """The plan as JSON: `changes` in their order, `obstacles`, and how many objects the bundle has of each kind."""
    return {
        "custom_fields": plan.custom_fields,
        "objects": {str(kind): number for kind, number in plan.counts.items()},
        "changes": [
            {
                "op": change.op,
                "kind": change.kind,
                "name": change.name,
                "identity": change.item.identity if change.item else change.found.identity if change.found else "",
                "fields": {name: list(values) for name, values in change.fields.items()},
            }
            for change in plan.changes
        ],
        "obstacles": [
            {"kind": each.kind, "name": each.name, "reason": each.reason, "blocks": each.blocks}
            for each in plan.obstacles
        ],
    }
