"""The groups of the Ansible inventory, and the stages of the roll-out."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import DeviceState, Role

if TYPE_CHECKING:
    from fabricgen.bundle.read import ObservedDevice
    from fabricgen.bundle.wiring import WiredDevice

TIERS: Mapping[str, int] = {Role.LEAF: 1, Role.SPINE: 2, Role.CORE: 3}
ALL = "sonic"
ABSENT_STATES = (DeviceState.PLANNED, DeviceState.FAILED)  # of switches that Ansible cannot log in to

Label = tuple[str | int, ...]  # what the members of a group have in common: ("plane", "compute", "rail", 3)


@dataclass(frozen=True)
class Stage:
    """One play: switches that are changed one by one before the next stage begins."""

    title: str
    hosts: str  # an Ansible host pattern


def is_absent(device: "ObservedDevice") -> bool:
    """Whether Ansible cannot log in to a switch, because of its state."""
    return device.wired is not None and device.wired.state in ABSENT_STATES


def host_groups(devices: list["ObservedDevice"]) -> dict[str, object]:
    """The groups below `all`: every switch; planes with their stages as children; roles, tiers, pods, units, states.

    Raises UsageError when two groups, or a group and a device, have the same name in Ansible.
    """
    members: dict[Label, list[str]] = {}
    stages: dict[Label, list[Label]] = {}
    for device in devices:
        for label in (_stage_label(device), *_labels(device.wired)):
            members.setdefault(label, []).append(device.name)
    for label in members:
        if label[0] == "plane":
            stages.setdefault(label[:2], []).append(label)
    _refuse_equal_names(devices, (*stages, *members))
    all_switches = {
        "vars": {"ansible_python_interpreter": "/usr/bin/python3"},
        "hosts": _names(device.name for device in devices),
    }
    parents = {_group_name(label): {"children": _names(map(_group_name, below))} for label, below in stages.items()}
    groups = {_group_name(label): {"hosts": _names(hosts)} for label, hosts in members.items()}
    return {ALL: all_switches, **_sorted(parents), **_sorted(groups)}


def _refuse_equal_names(devices: Iterable["ObservedDevice"], labels: Iterable[Label]) -> None:
    owners = dict.fromkeys(("all", "ungrouped", ALL), "a group of Ansible itself")
    names = [(f"device {device.name}", device.name) for device in devices]
    for title, name in (*names, *((" ".join(map(str, label)), _group_name(label)) for label in labels)):
        if (other := owners.setdefault(name, title)) != title:
            raise UsageError(f"{title} and {other} have the same name in Ansible, {name}; rename one of them")


def stages_of(devices: list["ObservedDevice"]) -> list[Stage]:
    """The order of the roll-out: planes, their subplanes, each rail by itself, then the tiers above."""
    members: dict[Label, list[ObservedDevice]] = {}
    for device in devices:
        members.setdefault(_stage_label(device), []).append(device)
    return [
        Stage(" ".join(map(str, label)), present_pattern(_group_name(label), members[label]))
        for label in sorted(members, key=lambda label: _rank(members[label][0]))
    ]


def present_pattern(group: str, devices: Iterable["ObservedDevice"]) -> str:
    """The host pattern for the switches of a group that Ansible can log in to."""
    states = {device.wired.state for device in devices if device.wired}
    absent = (f"!{_group_name(('state', state))}" for state in ABSENT_STATES if state in states)
    return ":".join([group, *absent])


def _stage_label(device: "ObservedDevice") -> Label:
    """The switches of one stage: those of a rail; above the rails, those of a role."""
    wired = device.wired
    if wired is None:
        return ("unplaced",)
    subplane = () if wired.subplane is None else ("subplane", wired.subplane)
    return ("plane", wired.plane, *subplane, *(("rail", wired.rail) if wired.rail is not None else (wired.role,)))


def _labels(wired: "WiredDevice | None") -> Iterator[Label]:
    """The other groups of a switch."""
    if wired is None:
        return
    numbers = (("tier", TIERS.get(wired.role)), ("pod", wired.pod), ("su", wired.su))
    yield from (("role", wired.role), ("state", wired.state))
    yield from ((name, number) for name, number in numbers if number is not None)


def _group_name(label: Label) -> str:
    return re.sub(r"[^a-z0-9_]", "_", "_".join(map(str, label)).lower())


def _names(names: Iterable[str]) -> dict[str, object]:
    return {name: {} for name in sorted(names, key=natural_key)}


def _sorted(groups: Mapping[str, object]) -> dict[str, object]:
    return {name: groups[name] for name in sorted(groups, key=natural_key)}


def _rank(device: "ObservedDevice") -> tuple[object, ...]:
    wired = device.wired
    if wired is None:
        return (1,)
    tier = TIERS.get(wired.role, 0)
    return (0, natural_key(wired.plane), wired.subplane or 0, wired.rail is None, wired.rail or 0, tier, wired.role)
