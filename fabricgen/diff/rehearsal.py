"""A plan against a stand-in of its switch: what each patch does, and whether the end equals a cold boot."""

from collections.abc import Sequence
from dataclasses import dataclass

from fabricgen.diff.difference import DeviceDifference, Difference
from fabricgen.diff.lookup import profiles
from fabricgen.diff.patch import Route
from fabricgen.diff.patched import PatchError
from fabricgen.diff.stand_in import RefusedError, StandIn, differences, unwatched
from fabricgen.diff.step import StepPurpose, applied
from fabricgen.diff.target_findings import invalid


@dataclass(frozen=True)
class Rehearsal:
    """The outcome for a device. `steps` are the patches that the stand-in took, `problems` what went wrong."""

    device: str
    route: Route
    release: int
    steps: int
    problems: Sequence[str]


def rehearse(device: DeviceDifference, difference: Difference) -> Rehearsal:
    """Apply the plan of a device to a stand-in that has booted its old configuration."""
    plan = device.work.plan
    lookup = profiles(device.old, plan.release)
    if errors := [f"the target is not valid: {one.path}: {one.message}" for one in invalid(device, difference)]:
        return Rehearsal(device.name, plan.route, plan.release, 0, errors)
    target = applied(device.old, device.changes)
    expected, switch = StandIn(plan.release, lookup), StandIn(plan.release, lookup)
    expected.boot(target)
    switch.boot(device.old)
    if not plan.steps:  # a reload and a reboot are cold boots of the new file
        return Rehearsal(device.name, plan.route, plan.release, 0, ())
    watched = frozenset(device.old.get("PFC_WD", {}).keys() & target.get("PFC_WD", {}).keys())
    problems: list[str] = []
    taken = 0
    for number, step in enumerate(plan.steps, start=1):
        try:
            patch = [operation.json for operation in step.patch(with_secrets=True)]
            switch.apply(patch, restarts_bgp=step.purpose is StepPurpose.ASN)
        except (RefusedError, PatchError) as error:
            problems.append(f"patch {number} ({step.purpose}) is refused: {error}")
            break
        taken = number
        problems += [f"after patch {number}: {port} has a lossless queue without watchdog"
                     for port in unwatched(switch, watched)]  # fmt: skip
    problems += differences(switch, expected)
    return Rehearsal(device.name, plan.route, plan.release, taken, tuple(problems))
