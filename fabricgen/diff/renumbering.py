"""New ASNs without a reload: one switch after the other, and its neighbors with it.

bgpcfgd has no local-as (docker-fpm-frr/frr/bgpd/templates/general), so a session is up only while both ends have the
same two ASNs, and FRR takes another ASN only when it starts: docker_init.sh renders bgpd.conf from CONFIG_DB. So the
switch gets its ASN by a patch, its BGP container restarts, and each neighbor changes the rows of its sessions with the
switch. Meanwhile the switch is without routes, and all others keep theirs. With frrcfgd the sessions of an unnumbered
plane take any ASN, so each switch reloads by itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from fabricgen.diff.changes import Change, Op
from fabricgen.diff.lookup import profiles
from fabricgen.diff.patch import Route
from fabricgen.diff.plan import Plan, make_plan
from fabricgen.diff.sorting import size
from fabricgen.diff.step import PatchStep, StepPurpose, applied
from fabricgen.diff.work import Work
from fabricgen.sonic.image import uses_frr_framework
from fabricgen.sonic.tables import ConfigDb

_ADDRESSED = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "VLAN_SUB_INTERFACE", "LOOPBACK_INTERFACE")
_ROWS_TOGETHER = 8  # of sessions in one patch: the tries of the sorter grow with their square


class ChangedDevice(Protocol):
    """A switch whose files differ."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def old(self) -> ConfigDb:
        """Its configuration before."""
        ...

    @property
    def new(self) -> ConfigDb:
        """Its configuration after."""
        ...

    @property
    def work(self) -> Work:
        """Its changes."""
        ...


@dataclass(frozen=True)
class Renumbering:
    """A `switch` whose ASN changes. `steps` are the patches, in order, as (device, number of the step in its plan, from
    1): first that of the switch, after which its BGP container restarts, then those of its neighbors."""

    switch: str
    old: str
    new: str
    steps: Sequence[tuple[str, int]]


@dataclass(frozen=True, eq=False)
class AsnWork(Work):
    """The work of a switch that takes part. `apart` are the changes of ASNs, with the switch that gets the ASN, in the
    order of the roll-out. `others` is the plan of all other changes."""

    apart: Sequence[tuple[str, Sequence[Change]]]
    others: Plan

    @cached_property
    def plan(self) -> Plan:
        """The patches of the other changes, then those of the ASNs."""
        steps = [*self.others.steps, *(step for _, step in self.asn_steps)]
        return replace(self.others, route=Route.APPLY_PATCH if len(steps) == 1 else Route.PLAN, steps=steps)

    @cached_property
    def asn_steps(self) -> Sequence[tuple[str, PatchStep]]:
        """The steps of the ASNs, with the switch that gets the ASN."""
        found: list[tuple[str, PatchStep]] = []
        now = self.others.steps[-1].new if self.others.steps else self.old
        for switch, changes in self.apart:
            purpose = StepPurpose.ASN if changes[0].table == "DEVICE_METADATA" else StepPurpose.NEIGHBOR
            for first in range(0, len(changes), _ROWS_TOGETHER):
                chunk = changes[first : first + _ROWS_TOGETHER]
                after = applied(now, chunk)
                found.append((switch, PatchStep(purpose, 0, chunk, now, after, self.others.release, size(self.old))))
                now = after
        return found


def new_asns(devices: Sequence[ChangedDevice]) -> tuple[Mapping[str, AsnWork], Sequence[Renumbering]]:
    """The works of the devices whose plans change ASNs step by step, and the order of these steps.

    If a switch that takes part reloads for another change, all keep their plans, and no order keeps the sessions.
    """
    asns = {device.name: change for device in devices for change in device.work.changes if _is_asn(device, change)}
    if not asns:
        return {}, ()
    owners = dict(_owners(device for device in devices if device.name in asns))
    works: dict[str, AsnWork] = {}
    for device in devices:
        if apart := _apart(device, asns, owners):
            work = _work(device, apart)
            if work is None:
                return {}, ()
            works[device.name] = work
    return works, tuple(_renumberings(asns, works))


def _is_asn(device: ChangedDevice, change: Change) -> bool:
    is_asn = (change.table, change.key, change.field, change.op) == (
        "DEVICE_METADATA", "localhost", "bgp_asn", Op.REPLACE,
    )  # fmt: skip
    return is_asn and not uses_frr_framework(device.old)


def _owners(devices: Iterable[ChangedDevice]) -> Iterator[tuple[str, str]]:
    """(address, switch) of each address of an interface."""
    for device in devices:
        for table in _ADDRESSED:
            for key in device.new.get(table, {}):
                if (prefix := key.partition("|")[2]) and (address := prefix.partition("/")[0]):
                    yield address, device.name


def _apart(
    device: ChangedDevice, asns: Mapping[str, Change], owners: Mapping[str, str]
) -> list[tuple[str, list[Change]]]:
    """The changes of the ASN of the switch, and of those of neighbors, by switch in natural order."""
    found: dict[str, list[Change]] = {}
    for change in device.work.changes:
        if asns.get(device.name) is change:
            found.setdefault(device.name, []).append(change)
        elif (change.table, change.field, change.op) == ("BGP_NEIGHBOR", "asn", Op.REPLACE):
            name = str(device.new["BGP_NEIGHBOR"][change.key].get("name", ""))
            switch = name if name in asns else owners.get(change.key, "")
            own = asns.get(switch)
            if own and (own.old, own.new) == (change.old, change.new):
                found.setdefault(switch, []).append(change)
    return [(switch, found[switch]) for switch in asns if switch in found]


def _work(device: ChangedDevice, apart: Sequence[tuple[str, Sequence[Change]]]) -> AsnWork | None:
    """None if the other changes need a reload."""
    taken = {change for _, changes in apart for change in changes}
    others = [change for change in device.work.changes if change not in taken]
    work = device.work
    target = applied(device.old, others)
    plan = make_plan(device.old, target, work.release, others, profiles(target, work.release))
    if plan.route in (Route.RELOAD, Route.REBOOT):
        return None
    return AsnWork(work.drift, device.old, device.new, work.release, apart, plan)


def _renumberings(asns: Mapping[str, Change], works: Mapping[str, AsnWork]) -> Iterator[Renumbering]:
    steps: dict[str, list[tuple[str, int]]] = {switch: [] for switch in asns}
    for name, work in works.items():
        for number, (switch, _) in enumerate(work.asn_steps, start=1 + len(work.others.steps)):
            steps[switch].insert(0 if name == switch else len(steps[switch]), (name, number))
    for switch, change in asns.items():
        yield Renumbering(switch, str(change.old), str(change.new), steps[switch])
