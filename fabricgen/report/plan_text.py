"""The plans of a comparison for the terminal: devices with equal plans once, and a line for each patch."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from fabricgen.diff.counts import count_plans
from fabricgen.diff.difference import DeviceDifference, Difference
from fabricgen.diff.patch import Route
from fabricgen.diff.plan import Plan
from fabricgen.diff.sorting import generation_of
from fabricgen.diff.step import RESTART, PatchStep, StepPurpose
from fabricgen.findings import Finding, Location, Severity
from fabricgen.report import diff_words as words
from fabricgen.report.name_runs import device_runs
from fabricgen.rollout.mixture import Between, worst
from fabricgen.rollout.order import Rollout
from fabricgen.sonic.releases import release_name
from fabricgen.units import counted
from fabricgen.visible import visible

_RELOADS = {Route.RELOAD: "`config reload`: traffic stops", Route.REBOOT: "reboot: traffic stops"}


def plan_text(difference: Difference, rollout: Rollout) -> str:
    """Groups of devices with their steps and what is in between, then the counts and the order."""
    groups = _groups(difference, rollout)
    lines = [line for devices in groups for line in (*_group(devices, difference, rollout), "")]
    return "\n".join([*lines, *_tail(difference, rollout)])


def plan_findings(difference: Difference, rollout: Rollout, folder: Path) -> Iterator[Finding]:
    """A note with the totals, the order and what is in between, then one for each group of switches with its cost. The
    bundle of the switches is `folder`."""
    if not difference.changed:
        return
    yield Finding("FG859", Severity.NOTE, _on_one_line(_tail(difference, rollout)))
    for devices in _groups(difference, rollout):
        name = devices[0].name
        place = Location(str(folder / "sonic" / name / "config_db.json"))
        text = _on_one_line(_group(devices, difference, rollout))
        yield Finding("FG859", Severity.NOTE, text, name, location=place)


def _on_one_line(lines: Iterable[str]) -> str:
    """Lines as one sentence: columns with commas, and `patch` before the number of one."""
    columns = (", ".join(filter(None, re.split(" {2,}", line))) for line in lines)
    numbered = (re.sub(r"^(\d+(?: to \d+)?), ", r"patch \1: ", line) for line in columns)
    return "; ".join(numbered).replace(":; ", ": ")


def _groups(difference: Difference, rollout: Rollout) -> list[list[DeviceDifference]]:
    """The devices with equal plans and equal effects."""
    groups: dict[tuple[object, ...], list[DeviceDifference]] = {}
    plans = {device.work: _likeness(device.work.plan) for device in difference.changed}
    for device in difference.changed:
        states = tuple(map(_state, rollout.between.get(device.name, ())))
        groups.setdefault((plans[device.work], states), []).append(device)
    return list(groups.values())


def _likeness(plan: Plan) -> tuple[object, ...]:
    steps = tuple((step.purpose, step.batch, len(step.down), step.price) for step in plan.steps)
    return plan.route, plan.release, tuple(plan.reasons), plan.kept_share, steps


def _state(between: Between) -> str:
    """What a step does to the fabric, if anything."""
    words = []
    if between.uplink_share < 1 and not between.is_whole:
        words.append(f"{between.uplink_share:.0%} of the uplinks")
    if between.cut_off:
        words.append(f"cuts off {counted(len(between.cut_off), 'host')}")
    if between.lost:
        words.append(f"loses routes of {counted(len(between.lost), 'switch')}")
    if between.cyclic:
        words.append("cyclic buffer dependency")
    return ", ".join([*words, *([] if between.is_judged else ["not judged"])])


def _group(devices: list[DeviceDifference], difference: Difference, rollout: Rollout) -> Iterator[str]:
    plan = devices[0].work.plan
    runs = device_runs([device.name for device in devices], difference.names)
    number = f" ({len(devices)})" if len(devices) > 1 else ""
    yield f"{visible(words.shortened(runs))}{number}, {release_name(plan.release)}: {_way(plan)}"
    for reason in plan.reasons:
        yield f"  {visible(reason)}"
    states = [_state(one) for one in rollout.between.get(devices[0].name, ())]
    if states and states[0] and not plan.steps:
        yield f"  during it: {states[0]}"
    lines = []
    for place, step in enumerate(plan.steps):
        cost = f"{counted(step.price.changes, 'change'):>12}  {_time(step.price.seconds)}"
        lines.append(f"{_what(step):38} {cost:32}{states[place] if states else ''}".rstrip())
    first = 1
    for line, equal in groupby(lines):
        last = first + len(list(equal)) - 1
        yield f"  {first:2}  {line}" if first == last else f"  {first} to {last}  {line}"
        first = last + 1


def _way(plan: Plan) -> str:
    if plan.route in _RELOADS:
        return _RELOADS[plan.route]
    price = plan.price
    patches = counted(len(plan.steps), "patch")
    kept = f", {plan.kept_share:.0%} of the uplinks stay up" if any(step.down for step in plan.steps) else ""
    return f"{patches}, {_time(price.seconds)}, {price.megabytes} MB, {generation_of(plan.release)}{kept}"


def _what(step: PatchStep) -> str:
    if step.purpose is StepPurpose.SESSION:
        return f"{step.purpose} {step.changes[0].key}"
    if step.purpose is StepPurpose.ASN:
        return f"{step.purpose}, then {RESTART}"
    if step.purpose is StepPurpose.NEIGHBOR:
        return f"{step.purpose}: {counted(len(step.changes), 'session')}"
    if step.purpose is StepPurpose.DOWN:
        return f"{step.purpose}, batch {step.batch}: {counted(len(step.down), 'port')}"
    return f"{step.purpose}, batch {step.batch}" if step.batch else step.purpose


def _time(seconds: tuple[int, int]) -> str:
    low, high = seconds
    return f"{low} s" if low == high else f"{low} to {high} s"


def _tail(difference: Difference, rollout: Rollout) -> Iterator[str]:
    if not difference.changed:
        yield "No differences."
    yield from words.plan_lines(count_plans(difference))
    yield from words.restart_lines(difference)
    for names, what in ((difference.added, "new"), (difference.removed, "removed")):
        if names:
            yield f"{counted(len(names), 'device')} {what}: without a plan"
    yield from words.move_lines(difference)
    if withheld := sum(device.work.withheld for device in difference.changed):
        changes = counted(withheld, "change")
        yield f"{changes} of secrets are not in the patches: copy them to the switches from your secret store"
    if rollout.stages:
        yield "one switch at a time, in this order:"
        for stage in rollout.stages:
            runs = device_runs(list(stage.devices), difference.names)
            yield f"  {visible(stage.title)} ({len(stage.devices)}): {visible(words.shortened(runs))}"
    if rollout.renumberings:
        yield "then the new ASNs, each by a patch of the switch, a restart of its BGP, and patches of its neighbors:"
        count, most = len(rollout.renumberings), max(len(one.steps) for one in rollout.renumberings) - 1
        runs = device_runs([one.switch for one in rollout.renumberings], difference.names)
        yield f"  {visible(words.shortened(runs))} ({count}), each with up to {counted(most, 'patch')} of neighbors"
        yield "  until the last of them, the switch has no routes, and its hosts reach only each other over it"
    if rollout.between:
        states = (one for states in rollout.between.values() for one in states)
        yield f"in between: {_in_between(worst(states), others=bool(rollout.renumberings))}"


def _in_between(between: Between, *, others: bool) -> str:
    """The worst of all steps in words; `others`: of all switches except the one that gets a new ASN."""
    if between.cut_off is None:
        hosts = "hosts are not known"
    else:
        hosts = f"{counted(len(between.cut_off), 'host')} cut off" if between.cut_off else "every host keeps a path"
    if not between.is_judged:
        return f"{hosts}; not all states are judged: they are too many"
    stay = "the routes of all other switches stay" if others else "all routes stay"
    routes = f"{counted(len(between.lost), 'switch')} without some routes" if between.lost else stay
    joined = f", joins tenants {', '.join(between.joined)}" if between.joined else ""
    return f"{hosts}, {routes}, {'a' if between.cyclic else 'no'} cyclic buffer dependency{joined}"
