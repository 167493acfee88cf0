"""Why a roll-out is not safe, as findings."""

from collections.abc import Iterator, Sequence

from fabricgen.diff.batches import KEPT_SHARE
from fabricgen.diff.difference import Difference
from fabricgen.diff.step import StepPurpose
from fabricgen.diff.work import Work
from fabricgen.findings import Finding, Severity
from fabricgen.rollout.danger import Danger
from fabricgen.rollout.mixture import Between
from fabricgen.rollout.order import Rollout
from fabricgen.units import counted

_MOST_NAMES = 4
_CODES = {
    Danger.CUTS_OFF: ("FG947", "move the jobs of these hosts away, or give each host a second switch"),
    Danger.LOSES_ROUTES: ("FG948", "change the routes of both ends in a maintenance window, or in two changes"),
    Danger.MAKES_CYCLE: ("FG949", "make the change without traffic, or in two changes that each keep the routes"),
    Danger.TAKES_UPLINKS: ("FG950", "move traffic away from the switch first: drain.yml, or TSA"),
    Danger.JOINS_TENANTS: (
        "FG678",
        "make two changes: first remove the host from its tenant, then add it to the other",
    ),
    Danger.NOT_JUDGED: ("FG951", "change fewer switches at a time"),
}
CODES = frozenset(code for code, _ in _CODES.values())


def rollout_findings(difference: Difference, rollout: Rollout) -> list[Finding]:
    """A finding for each danger of each switch that has no place in a safe order."""
    works = {device.name: device.work for device in difference.changed}
    return [finding for name in rollout.blocked for finding in _of_switch(name, works[name], rollout)]


def _of_switch(name: str, work: Work, rollout: Rollout) -> Iterator[Finding]:
    by_step = rollout.dangers(name)
    for danger, (code, hint) in _CODES.items():
        steps = [
            number
            for number, found in enumerate(by_step)
            if danger in found and not (work.plan.steps and work.plan.steps[number].purpose is StepPurpose.NEIGHBOR)
        ]
        if steps:
            first = rollout.between[name][steps[0]]
            message = f"{_step(work, steps[0])} {_effect(danger, first)}: no order of the switches is safe"
            yield Finding(code, Severity.ERROR, message, name, hint=hint, count=len(steps))


def _step(work: Work, number: int) -> str:
    steps = work.plan.steps
    return f"patch {number + 1} ({steps[number].purpose})" if steps else f"the {work.plan.route}"


def _effect(danger: Danger, between: Between) -> str:
    if danger is Danger.CUTS_OFF:
        return f"cuts off {_names(between.cut_off or (), 'host', 'hosts')}"
    if danger is Danger.LOSES_ROUTES:
        return f"loses routes to hosts on {_names(between.lost, 'switch', 'switches')}"
    if danger is Danger.JOINS_TENANTS:
        return f"joins tenants {', '.join(between.joined or ())} through hosts that move"
    if danger is Danger.TAKES_UPLINKS:
        return f"leaves {between.uplink_share:.0%} of the bandwidth to other switches, less than {KEPT_SHARE:.0%}"
    return str(danger)


def _names(names: Sequence[str], noun: str, many: str) -> str:
    shown = ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
    return f"{counted(len(names), noun, many)} ({shown})"
