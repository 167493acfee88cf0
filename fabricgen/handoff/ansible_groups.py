"""The groups of the Ansible inventory, and the stages of the roll-out."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricgen.bundle.stages import TIERS, Label, stage_label, staged, title
from fabricgen.errors import UsageError
from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import DeviceState

if TYPE_CHECKING:
    from fabricgen.bundle.read import ObservedDevice
    from fabricgen.bundle.wiring import WiredDevice

ALL = "sonic"
ABSENT_STATES = (DeviceState.PLANNED, DeviceState.FAILED)  # of switches that Ansible cannot log in to


@dataclass(frozen=True)
class Play:
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
        for label in (stage_label(device), *_labels(device.wired)):
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
    for what, name in (*names, *((title(label), _group_name(label)) for label in labels)):
        if (other := owners.setdefault(name, what)) != what:
            raise UsageError(f"{what} and {other} have the same name in Ansible, {name}; rename one of them")


def stages_of(devices: list["ObservedDevice"]) -> list[Play]:
    """The order of the roll-out: planes, their subplanes, each rail by itself, then the tiers above."""
    return [
        Play(title(label), present_pattern(_group_name(label), members)) for label, members in staged(devices).items()
    ]


def present_pattern(group: str, devices: Iterable["ObservedDevice"]) -> str:
    """The host pattern for the switches of a group that Ansible can log in to."""
    states = {device.wired.state for device in devices if device.wired}
    absent = (f"!{_group_name(('state', state))}" for state in ABSENT_STATES if state in states)
    return ":".join([group, *absent])


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
