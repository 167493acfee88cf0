"""The plans of a comparison for the terminal: devices with equal plans once, and a line for each patch."""

from collections.abc import Iterator

from fabricgen.diff.difference import DeviceDifference, Difference
from fabricgen.diff.patch import Route
from fabricgen.diff.plan import Plan
from fabricgen.diff.sorting import generation_of
from fabricgen.diff.step import Purpose, Step
from fabricgen.report import diff_words as words
from fabricgen.report.name_runs import device_runs
from fabricgen.units import counted
from fabricgen.visible import visible

_RELOADS = {Route.RELOAD: "`config reload`: traffic stops", Route.REBOOT: "reboot: traffic stops"}


def plan_text(difference: Difference) -> str:
    """Groups of devices with their steps, then the counts."""
    groups: dict[tuple[object, ...], list[DeviceDifference]] = {}
    for device in difference.changed:
        groups.setdefault(_likeness(device.work.plan), []).append(device)
    lines = [line for devices in groups.values() for line in (*_group(devices, difference), "")]
    return "\n".join([*lines, *_tail(difference)])


def _likeness(plan: Plan) -> tuple[object, ...]:
    steps = tuple((step.purpose, step.batch, len(step.down), step.price) for step in plan.steps)
    return plan.route, plan.release, tuple(plan.reasons), plan.kept_share, steps


def _group(devices: list[DeviceDifference], difference: Difference) -> Iterator[str]:
    plan = devices[0].work.plan
    runs = device_runs([device.name for device in devices], difference.names)
    number = f" ({len(devices)})" if len(devices) > 1 else ""
    yield f"{visible(words.shortened(runs))}{number}, release {plan.release}: {_way(plan)}"
    for reason in plan.reasons:
        yield f"  {visible(reason)}"
    for place, step in enumerate(plan.steps, start=1):
        yield f"  {place:2}  {_what(step):38} {counted(step.price.changes, 'change'):>12}  {_time(step.price.seconds)}"


def _way(plan: Plan) -> str:
    if plan.route in _RELOADS:
        return _RELOADS[plan.route]
    price = plan.price
    patches = "1 patch" if len(plan.steps) == 1 else f"{len(plan.steps)} patches"
    kept = f", {plan.kept_share:.0%} of the uplinks stay up" if any(step.down for step in plan.steps) else ""
    return f"{patches}, {_time(price.seconds)}, {price.megabytes} MB, {generation_of(plan.release)}{kept}"


def _what(step: Step) -> str:
    if step.purpose is Purpose.SESSION:
        return f"{step.purpose} {step.changes[0].key}"
    if step.purpose is Purpose.DOWN:
        return f"{step.purpose}, batch {step.batch}: {counted(len(step.down), 'port')}"
    return f"{step.purpose}, batch {step.batch}" if step.batch else step.purpose


def _time(seconds: tuple[int, int]) -> str:
    low, high = seconds
    return f"{low} s" if low == high else f"{low} to {high} s"


def _tail(difference: Difference) -> Iterator[str]:
    plans = [device.work.plan for device in difference.changed]
    if not plans:
        yield "No differences."
    patched = [plan for plan in plans if plan.steps]
    if patched:
        number = sum(len(plan.steps) for plan in patched)
        yield f"{counted(len(patched), 'device')} by {number} patches of `config apply-patch`"
    for route, what in _RELOADS.items():
        if number := sum(plan.route is route for plan in plans):
            yield f"{counted(number, 'device')} by {what}"
    for names, what in ((difference.added, "new"), (difference.removed, "removed")):
        if names:
            yield f"{counted(len(names), 'device')} {what}: without a plan"
    if withheld := sum(device.work.withheld for device in difference.changed):
        yield f"{counted(withheld, 'change')} of secrets in no patch: copy them to the switches from your secret store"
