"""Switches on which others depend alone."""

from collections import defaultdict
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.units import listed
from fabricgen.vocabulary import DeviceState, Role

_ABOVE = (Role.SPINE, Role.CORE)


def _counts(switch: Switch) -> bool:
    wired = switch.device.wired
    return wired is None or wired.state in (DeviceState.ACTIVE, DeviceState.PLANNED)


@rule("FG285", Severity.WARNING, "Several switches depend on a single one above them")
def only_switch_above(fabric: Fabric) -> Iterator[Defect]:
    """What: A leaf is connected to two spines in service, and pods to two cores, if there is a tier above. Switches
    whose state is drained or failed do not count; planned ones do, as in all verdicts.

    Why: If the only switch above them fails, or is reloaded for an upgrade, the switches below it lose each other, and
    every job that runs on them stops.

    Example: All 16 uplinks of each of four leaves lead to spine1.

    Fix: Add a second spine, and connect half of the uplinks to it.

    Source: Derived from the wiring.
    """
    below: dict[str, list[str]] = defaultdict(list)
    cores: dict[str, set[str]] = defaultdict(set)
    spines: dict[str, list[str]] = defaultdict(list)
    for switch in fabric.switches.values():
        if not switch.is_in_service or switch.role not in (Role.LEAF, Role.SPINE):
            continue
        above = Role.SPINE if switch.role == Role.LEAF else Role.CORE
        found = {end.far_name for end in fabric.ends_of[switch.name].values() if end.far_role == above}
        alive = {name for name in found if name not in fabric.switches or _counts(fabric.switches[name])}
        if switch.role == Role.SPINE:  # one of several spines of a pod usually has its own core
            cores[switch.plane] |= alive
            spines[switch.plane] += [switch.name] if alive else []
        elif len(alive) == 1:
            below[alive.pop()].append(switch.name)
    for plane, names in cores.items():
        if len(names) == 1:
            below[names.pop()] += spines[plane]
    for name, others in below.items():
        if len(others) > 1 and name in fabric.switches:
            switch = fabric.switches[name]
            message = f"{name} is the only {switch.role} in service of {listed(others, 3)}"
            hint = "add a second switch to the tier, and share the uplinks"
            yield Defect(switch.place("DEVICE_NEIGHBOR"), message, hint)


@rule("FG431", Severity.ERROR, "No switch above several leaves is in service")
def none_above(fabric: Fabric) -> Iterator[Defect]:
    """What: A leaf with uplinks has a spine or core in service, unless it is the only one without. Switches whose state
    is planned, drained or failed are not in service.

    Why: No packet passes between hosts behind these leaves, although each file is right.

    Example: Both spines of a plane are drained.

    Fix: Keep one of them active, and drain the others.

    Source: Derived from the wiring and the states of devices.
    """
    alone = []
    for switch in fabric.switches.values():
        if switch.is_in_service and switch.role == Role.LEAF:
            found = {end.far_name for end in fabric.ends_of[switch.name].values() if end.far_role in _ABOVE}
            if found and not any(name not in fabric.switches or fabric.switches[name].is_in_service for name in found):
                alone.append(switch)
    if len(alone) > 1:
        message = f"{listed([one.name for one in alone], 3)} have no spine in service: no packet passes between them"
        yield Defect(alone[0].place("DEVICE_NEIGHBOR"), message, "keep a spine of each leaf active in `devices`")
