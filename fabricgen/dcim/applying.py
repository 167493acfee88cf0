"""The changes of a plan, made in a source of truth. A run that is interrupted leaves what the next one continues."""

from collections.abc import Callable
from dataclasses import replace

from fabricgen.dcim.changes import DcimPlan, ObjectChange, ObjectOp
from fabricgen.dcim.objects import KINDS, FoundObject, ObjectKind, Ref
from fabricgen.dcim.system import Record, System, marks

_PLACE = ("name", "rack", "position")  # of a device: no two have the same


def apply(system: System, plan: DcimPlan, stage: Callable[[ObjectKind], None] = lambda _: None) -> None:
    """Make the changes: release what moves, delete from cables to devices, then create and change from sites to cables.

    Every object is complete when it is written, with its identity, so a second run finds it. Raises UsageError for what
    the server refuses, and ValueError for a plan with obstacles that block it.
    """
    if plan.blocked:
        raise ValueError("the plan has obstacles")
    system.prepare()
    _vacate(system, plan)
    moved = [change for change in plan.of(ObjectOp.CHANGE, ObjectKind.CABLE) if "ends" in change.fields]
    for kind in reversed(KINDS):
        doomed = [*plan.of(ObjectOp.DELETE, kind), *(moved if kind is ObjectKind.CABLE else ())]
        system.delete(kind, [change.found for change in doomed if change.found])
    for kind in KINDS:
        stage(kind)
        created = plan.of(ObjectOp.CREATE, kind)
        changed = [change for change in plan.of(ObjectOp.CHANGE, kind) if change not in moved]
        if kind is ObjectKind.INTERFACE:
            created, found = _from_templates(system, created, plan)
            changed += found
        if kind is ObjectKind.PRIMARY:
            changed = [*changed, *(_on_new_device(change, plan) for change in created), *_primaries(plan)]
            created = []
        _create(system, kind, [*created, *(moved if kind is ObjectKind.CABLE else ())], plan)
        if kind is ObjectKind.ADDRESS:
            moving = _moving(plan)
            system.assign(
                [(change.found.id, change.item) for change in moving if change.found and change.item], plan.ids
            )
        system.change(
            kind, [(change.found, body) for change in changed if (body := _body(system, change, plan)) and change.found]
        )


def _create(system: System, kind: ObjectKind, changes: list[ObjectChange], plan: DcimPlan) -> None:
    """Create objects; interfaces after the port channels that they refer to, which need an id first."""
    items = [change.item for change in changes if change.item]
    for members in (False, True):
        wave = [item for item in items if ("lag" in item.fields) is members]
        for item, number in system.create(kind, wave, plan.ids):
            plan.ids[item.ref] = number


def _body(system: System, change: ObjectChange, plan: DcimPlan) -> Record:
    """The body of the request that changes an object; empty if nothing is left to change."""
    if change.item is None:
        return {}
    left = {name: value for name, value in change.item.fields.items() if name in change.fields}
    if change.kind is ObjectKind.ADDRESS:
        left.pop("interface", None)
    body = system.payload(change.kind, left, plan.ids)
    return {**body, "custom_fields": marks(change.item.identity, made=change.made)} if change.adopts else body


def _vacate(system: System, plan: DcimPlan) -> None:
    """Free names and places that devices exchange, and the addresses that move.

    NetBox does not move the primary address of a device, and deletes an address with its interface.
    """
    devices = [change for change in plan.of(ObjectOp.CHANGE, ObjectKind.DEVICE) if change.found]
    names = {change.found.name for change in devices if change.found and "name" in change.fields}
    freed: list[tuple[FoundObject, Record]] = []
    for change in devices:
        found, item = change.found, change.item
        assert found and item
        body: Record = {}
        if "name" in change.fields and item.name in names:
            body["name"] = f"{found.name} (renamed to {item.name})"[:64]
        if {"rack", "position"} & change.fields.keys() and found.fields.get("position") is not None:
            body["position"] = None
        if body:
            freed.append((found, body))
    system.change(ObjectKind.DEVICE, freed)
    moving = [change.found for change in _moving(plan) if change.found]
    released = [
        (change.found, dict.fromkeys(change.fields)) for change in _primaries(plan) if change.found and change.fields
    ]
    system.change(ObjectKind.PRIMARY, released)
    system.release(moving)


def _moving(plan: DcimPlan) -> list[ObjectChange]:
    """The addresses that get another interface."""
    return [change for change in plan.of(ObjectOp.CHANGE, ObjectKind.ADDRESS) if "interface" in change.fields]


def _primaries(plan: DcimPlan) -> list[ObjectChange]:
    """The primary addresses of devices that move to another interface, which are set again when they have moved."""
    moving = {change.found.id for change in _moving(plan) if change.found}
    return [
        ObjectChange(ObjectOp.CHANGE, ObjectKind.PRIMARY, item.name, item, found, dict.fromkeys(names, (None, None)))
        for item, found in plan.primaries
        if (names := [name for name in item.fields if found.fields.get(name) in moving])
    ]


def _from_templates(
    system: System, created: list[ObjectChange], plan: DcimPlan
) -> tuple[list[ObjectChange], list[ObjectChange]]:
    """(interfaces to create, interfaces that new devices got from templates of their types)."""
    new = [change.item.ref for change in plan.of(ObjectOp.CREATE, ObjectKind.DEVICE) if change.item]
    at = system.at_devices([plan.ids[ref] for ref in new]) if new else []
    there = {(one.parent, one.name): one for one in at}
    left, found = [], []
    for change in created:
        item = change.item
        assert item and item.parent
        one = there.get((plan.ids[item.parent], str(item.fields["name"])))
        if one is None:
            left.append(change)
            continue
        plan.ids[item.ref] = one.id
        differs = {name: (one.fields.get(name), value) for name, value in item.fields.items()}
        found.append(replace(change, op=ObjectOp.CHANGE, found=one, fields=differs, adopts=True, made=True))
    return left, found


def _on_new_device(change: ObjectChange, plan: DcimPlan) -> ObjectChange:
    device = plan.ids[Ref(ObjectKind.DEVICE, change.item.identity if change.item else "")]
    return replace(change, found=FoundObject(ObjectKind.PRIMARY, device, change.name))
