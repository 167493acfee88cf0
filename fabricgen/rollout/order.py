"""The order in which the switches of a fabric change, with the state of the fabric at each step."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.bundle.stages import stage_label, staged, title
from fabricgen.bundle.wiring import Endpoint
from fabricgen.diff.difference import DeviceDifference, Difference
from fabricgen.diff.patch import Route
from fabricgen.diff.renumbering import AsnWork, Renumbering
from fabricgen.diff.step import applied
from fabricgen.diff.tenants import wirings_of
from fabricgen.diff.work import Work
from fabricgen.rollout.danger import Danger, dangers
from fabricgen.rollout.mixture import Between, Mixture, Wires
from fabricgen.rollout.moments import Moment, moments
from fabricgen.rollout.tenants import MovingTenants
from fabricgen.sonic.admin import shut_interfaces

# Switches of a plane that are read again, in all states of a change of routes; reading one takes about a millisecond.
MOST, MOST_SAFE = 4_000, 100_000


@dataclass(frozen=True, slots=True)
class RolloutStage:
    """Switches that change one after the other, before the next stage begins."""

    title: str
    devices: Sequence[str]


@dataclass(frozen=True)
class Rollout:
    """The stages, then the new ASNs, in order. `between` has a state for each step of a plan, one for a reload.
    `blocked` are the switches without a place in a safe order. `was_cyclic`: buffers could wait for each other before
    the change."""

    stages: Sequence[RolloutStage]
    between: Mapping[str, Sequence[Between]]
    blocked: Sequence[str] = ()
    was_cyclic: bool = False
    renumberings: Sequence[Renumbering] = ()

    def dangers(self, name: str) -> list[list[Danger]]:
        """What is dangerous about each step of a switch."""
        return [list(dangers(one, self.was_cyclic)) for one in self.between[name]]


def roll_out(difference: Difference, *, safe: bool = False) -> Rollout:
    """The roll-out of the plans of a comparison: rail by rail, then the tiers above, switch by switch.

    With `safe`, the first order in which no step is dangerous; `blocked` are the switches that have no place in it.
    Raises UnreadableInputError.
    """
    changed = {one.name: one for one in difference.changed if one.work.plan.route is not Route.NONE}
    if not changed:
        return Rollout((), {})
    old = _bundle(difference, changed)
    changed = {name: one for name, one in changed.items() if name in old.devices}
    every = {work: moments(work) for work in {one.work: None for one in changed.values()}}
    steps = {work: found[: _number_of_others(work)] for work, found in every.items()}
    apart = [name for name, one in changed.items() if steps[one.work]]
    ordered = [one.name for members in staged(old.devices[name] for name in apart).values() for one in members]
    rerouted = _rerouted(old, changed, steps, difference.renumberings)
    after = _after(old, changed) if rerouted else old
    count = sum(len(steps[one.work]) for one in changed.values())
    most, moving = MOST_SAFE if safe else MOST, _moving(difference)
    mixture = Mixture.of(old, Wires(old, _shut(old, changed)), after, rerouted, most, moving, count)
    cyclic = bool(mixture.cyclic_planes)
    found: dict[str, list[Between]] = {}
    now = mixture
    for name in ordered:
        now, found[name] = _changed(now, name, steps[changed[name].work])
    rollout = Rollout(_stages(old, ordered), found, was_cyclic=cyclic)
    if safe and any(any(rollout.dangers(name)) for name in ordered):
        now, rollout = _safe(mixture, ordered, {name: steps[changed[name].work] for name in ordered}, cyclic)
    return _with_new_asns(
        now, rollout, difference.renumberings, {name: every[changed[name].work] for name in changed}, safe=safe
    )


def _number_of_others(work: Work) -> int | None:
    """The number of steps before those of the ASNs; None for all."""
    return len(work.others.steps) if isinstance(work, AsnWork) else None


def _with_new_asns(
    now: Mixture,
    rollout: Rollout,
    renumberings: Sequence[Renumbering],
    steps: Mapping[str, Sequence[Moment]],
    *,
    safe: bool,
) -> Rollout:
    """The roll-out with the ASNs, one switch at a time; with `safe`, also the switches whose ASN is not safe."""
    found = {name: list(states) for name, states in rollout.between.items()}
    blocked = list(rollout.blocked)
    for one in renumberings:
        last = {name: steps[name][number - 1] for name, number in one.steps}
        now, between = now.together(one.switch, last)
        for name, _ in one.steps:
            found.setdefault(name, []).append(between)
        if safe and any(dangers(between, rollout.was_cyclic)):
            blocked.append(one.switch)
    return replace(rollout, between=found, blocked=tuple(dict.fromkeys(blocked)), renumberings=renumberings)


def _safe(
    mixture: Mixture, ordered: Sequence[str], steps: Mapping[str, Sequence[Moment]], cyclic: bool
) -> tuple[Mixture, Rollout]:
    """Again and again the first switch whose steps are safe in the present state."""
    left, done = list(ordered), list[str]()
    found: dict[str, list[Between]] = {}
    tried: dict[str, list[Between]] = {}
    now = mixture
    while left:
        for name in left:
            then, tried[name] = _changed(now, name, steps[name])
            if not any(any(dangers(one, cyclic)) for one in tried[name]):
                break
        else:
            break
        now, found[name] = then, tried[name]
        left.remove(name)
        done.append(name)
    rollout = Rollout(_stages(mixture.start, [*done, *left]), {**tried, **found}, tuple(left), cyclic)
    for name in left:  # what comes after them sees their end
        now = _changed(now, name, steps[name])[0]
    return now, rollout


def _changed(now: Mixture, name: str, steps: Sequence[Moment]) -> tuple[Mixture, list[Between]]:
    """The fabric after a switch has changed, and the states in between."""
    found = []
    for moment in steps:
        now, between = now.step(name, moment)
        found.append(between)
    return now, found


def _stages(bundle: Bundle, names: Sequence[str]) -> list[RolloutStage]:
    """Neighbors in the order that belong to one stage."""
    found: list[tuple[str, list[str]]] = []
    for name in names:
        label = title(stage_label(bundle.devices[name]))
        if not found or found[-1][0] != label:
            found.append((label, []))
        found[-1][1].append(name)
    return [RolloutStage(label, members) for label, members in found]


def _bundle(difference: Difference, changed: Mapping[str, DeviceDifference]) -> Bundle:
    """The fabric before the change, with the wiring of the side that has it."""
    sides = (difference.old.path, difference.new.path)
    path = next((side for side in sides if (side / "fabric.json").is_file()), sides[0])
    bundle = open_bundle([Path(path)])
    devices = {
        name: device.with_config(changed[name].old, b"") if name in changed else device
        for name, device in bundle.devices.items()
    }
    return replace(bundle, devices=devices)


def _after(bundle: Bundle, changed: Mapping[str, DeviceDifference]) -> Bundle:
    devices = dict(bundle.devices)
    for name, one in changed.items():
        devices[name] = devices[name].with_config(applied(one.old, one.changes), b"")
    return replace(bundle, devices=devices)


def _moving(difference: Difference) -> MovingTenants | None:
    """The tenants of a comparison; None if no host goes from one to another. Raises UnreadableInputError."""
    wirings = wirings_of(difference)
    return MovingTenants.of(*wirings) if wirings else None


def _shut(bundle: Bundle, changed: Mapping[str, DeviceDifference]) -> set[Endpoint]:
    """The interfaces that are down before or after the change."""
    configs = [(name, device.config) for name, device in bundle.devices.items()]
    configs += [(name, one.new) for name, one in changed.items() if one.new.get("PORT") is not one.old.get("PORT")]
    return {(name, interface) for name, config in configs for interface in shut_interfaces(config)}


def _rerouted(
    bundle: Bundle,
    changed: Mapping[str, DeviceDifference],
    steps: Mapping[Work, Sequence[Moment]],
    renumberings: Sequence[Renumbering],
) -> Mapping[str, int]:
    """The planes with steps that change routes, and the number of these steps."""
    found: Counter[str] = Counter()
    for name, one in changed.items():
        if times := sum(moment.reroutes for moment in steps[one.work]):
            found[_plane(bundle, name)] += times
    found.update(_plane(bundle, one.switch) for one in renumberings)
    return found


def _plane(bundle: Bundle, name: str) -> str:
    return wired.plane if (wired := bundle.devices[name].wired) else ""
