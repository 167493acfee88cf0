"""The stages of the roll-out from the file of a plan, in place of those from the fabric."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.handoff.ansible_groups import Play, is_absent
from fabricgen.inputs import read_bytes

if TYPE_CHECKING:
    from fabricgen.bundle.read import ObservedDevice


def planned_stages(file: Path, devices: Mapping[str, "ObservedDevice"]) -> list[Play]:
    """The stages of plan.json, or of the JSON of `diff --format plan`, with their switches one after the other.

    Raises UnreadableInputError for another file, UsageError for a plan of other switches or one that is not safe.
    """
    from fabricgen.bundle.device import parse_object  # it reads JSON, which the options do not need

    content = parse_object(read_bytes(file), file)
    stages = content.get("rollout")
    if not isinstance(stages, list) or not all(map(_is_stage, stages)):
        raise UnreadableInputError("is not a plan of `fabricgen diff --format plan`", Location(str(file), 1, 1))
    if findings := content.get("findings"):
        raise UsageError(f"{file}: no safe order was found ({len(findings)} findings)")
    if content.get("asns"):
        raise UsageError(f"{file} changes ASNs step by step, which the role does not: apply its patches in their order")
    strangers = [name for stage in stages for name in stage["devices"] if name not in devices]
    if strangers:
        raise UsageError(f"{file} is a plan for other switches: {strangers[0]} is not among those of the handoff")
    found = []
    for number, stage in enumerate(stages, start=1):
        present = [name for name in stage["devices"] if not is_absent(devices[name])]
        if present:
            found.append(Play(f"{number} of the plan, {stage['stage']}", ",".join(present)))
    return found


def _is_stage(stage: Any) -> bool:
    return (
        isinstance(stage, dict)
        and isinstance(stage.get("stage"), str)
        and isinstance(stage.get("devices"), list)
        and all(isinstance(name, str) for name in stage["devices"])
    )
