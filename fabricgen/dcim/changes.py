"""The objects of a bundle compared with those of a source of truth: the changes, and what is in their way."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from fabricgen.dcim.objects import KINDS, SHARED, FoundObject, Id, Item, ObjectKind, Ref, Value
from fabricgen.dcim.planned import PlannedObjects
from fabricgen.dcim.slugs import slug
from fabricgen.dcim.system import OWNED, System
from fabricgen.vocabulary import Word


class ObjectOp(Word):
    """What happens to an object."""

    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """One object that differs. `fields` are name -> (value there, value of the bundle), as people read them.

    `adopts` is whether fabricgen did not know the object; `made` whether it is then one that fabricgen created.
    """

    op: ObjectOp
    kind: ObjectKind
    name: str
    item: Item | None = None
    found: FoundObject | None = None
    fields: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    adopts: bool = False
    made: bool = False


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """An object that fabricgen leaves alone, and the reason. `blocks` is whether it is in the way of another one."""

    kind: ObjectKind
    name: str
    reason: str
    blocks: bool


@dataclass
class DcimPlan:
    """The difference. `ids` are those of the objects that are there; `custom_fields` are not defined yet."""

    custom_fields: list[str] = field(default_factory=list)
    changes: list[ObjectChange] = field(default_factory=list)
    obstacles: list[ForeignObject] = field(default_factory=list)
    ids: dict[Ref, Id] = field(default_factory=dict)
    counts: dict[ObjectKind, int] = field(default_factory=dict)  # objects of the bundle
    primaries: list[tuple[Item, FoundObject]] = field(default_factory=list)  # those of devices that are there

    @property
    def blocked(self) -> bool:
        """Whether an object is in the way, so that nothing can be applied."""
        return any(one.blocks for one in self.obstacles)

    def of(self, op: ObjectOp, kind: ObjectKind) -> list[ObjectChange]:
        """The changes of one sort."""
        return [change for change in self.changes if change.op is op and change.kind is kind]


def compare(
    system: System,
    planned: PlannedObjects,
    *,
    adopt: bool = False,
    delete: bool = True,
    stage: Callable[[ObjectKind], None] = lambda _: None,
) -> DcimPlan:
    """The difference between a bundle and a source of truth. `adopt` takes over objects of the same name.

    Without `delete` nothing is deleted. Raises UsageError for what the server refuses.
    """
    comparison = _Comparison(system, planned, adopt)
    for kind in KINDS:
        stage(kind)
        comparison.compare(kind)
    if delete:
        comparison.find_doomed()
    return comparison.plan


class _Comparison:
    def __init__(self, system: System, planned: PlannedObjects, adopt: bool) -> None:
        self.plan = DcimPlan(system.missing_custom_fields())
        self._system, self._planned, self._adopt = system, planned, adopt
        self._own: dict[ObjectKind, dict[str, FoundObject]] = {}  # with an identity of this fabric
        self._labels: dict[Id, str] = {}
        self._devices: dict[str, FoundObject] = {}  # identity -> device that is there
        self._cable_at: dict[Id, Id] = {}  # interface -> its cable
        self._wanted: dict[ObjectKind, set[str]] = {}

    def compare(self, kind: ObjectKind) -> None:
        """Compare the objects of a kind; those of the kinds before are compared."""
        items = list(self._planned.items(kind))
        self.plan.counts[kind] = len(items)
        self._wanted[kind] = {item.identity for item in items}
        if kind is ObjectKind.PRIMARY:
            for item in items:
                found = self._devices.get(item.identity)
                self._differ(item, found)
                self.plan.primaries += [(item, found)] if found else []
            return
        own = self._own[kind] = self._known(kind) if kind in OWNED and not self.plan.custom_fields else {}
        missing = [item for item in items if item.identity not in own]
        named = self._named(kind, missing)
        for item in items:
            if found := own.get(item.identity):
                self._differ(item, found)
            else:
                self._missing(item, named(item))
        if kind is ObjectKind.CABLE:
            self._check_cables()

    def _known(self, kind: ObjectKind) -> dict[str, FoundObject]:
        known: dict[str, FoundObject] = {}
        for one in self._system.of_fabric(kind, self._planned.fabric):
            self._remember(one)
            if known.setdefault(one.identity, one) is not one:
                reason = f"a second {kind} has its identity {one.identity}; delete one of the two"
                self._obstruct(kind, one.name, reason)
        return known

    def _remember(self, one: FoundObject) -> None:
        self._labels[one.id] = one.name
        if one.kind is ObjectKind.INTERFACE and one.fields.get("cable") is not None:
            self._cable_at[one.id] = one.fields["cable"]  # type: ignore[assignment]

    def _named(self, kind: ObjectKind, missing: list[Item]) -> Callable[[Item], FoundObject | None]:
        """Item -> the object with its name that has no identity of this fabric."""
        ids = self.plan.ids
        key: Callable[[Item], object] = lambda item: item.name  # noqa: E731
        if kind is ObjectKind.CABLE:
            return self._laid(missing)
        if kind is ObjectKind.INTERFACE:
            devices = {ids[item.parent]: None for item in missing if item.parent in ids}
            found = self._system.at_devices(devices)
            by_key: dict[object, FoundObject] = {(one.parent, one.name): one for one in found}
            key = lambda item: (ids.get(item.parent) if item.parent else None, item.fields["name"])  # noqa: E731
        elif kind is ObjectKind.VLAN:
            known = [item for item in missing if item.initial["group"] in ids]
            found = self._system.by_name(kind, known, ids)
            by_key = {(one.fields.get("group"), one.fields.get("vid")): one for one in found}
            key = lambda item: (self._ids_of(item.initial["group"]), item.initial["vid"])  # noqa: E731
        elif kind in (ObjectKind.RACK, ObjectKind.DEVICE) and not any(ref.kind is ObjectKind.SITE for ref in ids):
            found, by_key = [], {}
        else:
            found = self._system.by_name(kind, missing, ids)
            by_key = {slug(one.name) if kind in SHARED else one.name: one for one in found}
            key = lambda item: slug(item.name) if kind in SHARED else item.name  # noqa: E731
        for one in found:
            self._remember(one)
        own = self._own[kind]
        return lambda item: one if (one := by_key.get(key(item))) and one.identity not in own else None

    def _laid(self, missing: list[Item]) -> Callable[[Item], FoundObject | None]:
        """Item -> the cable between its interfaces that has no identity of this fabric."""
        own = {one.id for one in self._own[ObjectKind.CABLE].values()}
        ends = [end for item in missing for end in self._ids_of(item.fields["ends"])]  # type: ignore[attr-defined]
        at = dict.fromkeys(self._cable_at[end] for end in ends if end in self._cable_at)
        laid = self._system.by_id(ObjectKind.CABLE, [one for one in at if one not in own])
        by_ends = {one.fields["ends"]: one for one in laid}
        return lambda item: by_ends.get(self._ids_of(item.fields["ends"]))

    def _check_cables(self) -> None:
        """A cable that fabricgen does not keep is in the way of one that is new or moves."""
        own = {one.id for one in self._own[ObjectKind.CABLE].values()}
        own |= {change.found.id for change in self.plan.changes if change.kind is ObjectKind.CABLE and change.found}
        for change in [
            *self.plan.of(ObjectOp.CREATE, ObjectKind.CABLE),
            *self.plan.of(ObjectOp.CHANGE, ObjectKind.CABLE),
        ]:
            if change.item is None or (change.op is ObjectOp.CHANGE and "ends" not in change.fields):
                continue
            for end in change.item.fields["ends"]:  # type: ignore[union-attr]
                interface = self.plan.ids.get(end)  # type: ignore[arg-type]
                if interface is not None and self._cable_at.get(interface, interface) not in (interface, *own):
                    reason = f"another cable is at {self._labels[interface]}; remove it, or correct the inventory"
                    self._obstruct(ObjectKind.CABLE, change.name, reason)

    def _missing(self, item: Item, named: FoundObject | None) -> None:
        if named is None:
            self.plan.changes.append(ObjectChange(ObjectOp.CREATE, item.kind, item.name, item))
            return
        if item.kind in SHARED:
            self.plan.ids[item.ref] = named.id
            self._labels[named.id] = named.name
            return
        device = self._device_of(item)
        made = item.kind is ObjectKind.INTERFACE and device is not None and device.made
        if named.identity:
            self._obstruct(item.kind, item.name, f"it has the identity {named.identity}")
        elif made or self._adopt:
            self._differ(item, named, adopts=True, made=made)
        else:
            reason = "fabricgen did not create it; take it over with --adopt-objects, or rename or delete it"
            self._obstruct(item.kind, item.name, reason)

    def _device_of(self, item: Item) -> FoundObject | None:
        return self._devices.get(item.parent.identity) if item.parent else None

    def _differ(self, item: Item, found: FoundObject | None, *, adopts: bool = False, made: bool = False) -> None:
        """Record the fields that differ. A device that is missing gets its primary address when it is there."""
        if found is not None and item.kind is not ObjectKind.PRIMARY:
            self.plan.ids[item.ref] = found.id
            self._labels[found.id] = found.name
            if item.kind is ObjectKind.DEVICE:
                self._devices[item.identity] = found
        differs = {
            name: (self._shown(found.fields.get(name)) if found else None, self._planned_text(value))
            for name, value in item.fields.items()
            if found is None or self._ids_of(value) != found.fields.get(name)
        }
        if differs or adopts:
            op = ObjectOp.CREATE if found is None else ObjectOp.CHANGE
            self.plan.changes.append(ObjectChange(op, item.kind, item.name, item, found, differs, adopts, made))

    def _ids_of(self, value: Value) -> object:
        """A value with ids in place of references; an object that is missing has none, and equals nothing."""
        if isinstance(value, tuple):
            return frozenset(self.plan.ids.get(ref, ref) for ref in value)
        return self.plan.ids.get(value, value) if isinstance(value, Ref) else value

    def _planned_text(self, value: Value) -> object:
        if isinstance(value, tuple):
            return " -- ".join(sorted(str(self._planned_text(ref)) for ref in value))
        return value.identity.removeprefix(f"{self._planned.fabric}:") if isinstance(value, Ref) else value

    def _shown(self, value: object) -> object:
        if isinstance(value, frozenset):
            return " -- ".join(sorted(str(self._shown(each)) for each in value))
        return self._labels.get(value, value) if isinstance(value, str | int) else value

    def _obstruct(self, kind: ObjectKind, name: str, reason: str) -> None:
        self.plan.obstacles.append(ForeignObject(kind, name, reason, blocks=True))

    def find_doomed(self) -> None:
        """What fabricgen created and the bundle does not have is deleted, unless it has parts of others."""
        doomed = {
            kind: [one for identity, one in own.items() if identity not in self._wanted[kind]]
            for kind, own in self._own.items()
        }
        reasons = self._kept(doomed)
        for kind, found in doomed.items():
            for one in found:
                if reason := reasons.get(one.id, "") if one.made else "fabricgen did not create it":
                    self.plan.obstacles.append(
                        ForeignObject(kind, one.name, f"it is not deleted: {reason}", blocks=False)
                    )
                else:
                    self.plan.changes.append(ObjectChange(ObjectOp.DELETE, kind, one.name, found=one))

    def _kept(self, doomed: Mapping[ObjectKind, Iterable[FoundObject]]) -> dict[Id, str]:
        """Id -> why it stays. With a device or an interface, NetBox deletes what is in it."""
        made = {one.id for own in self._own.values() for one in own.values() if one.made}
        addresses: dict[object, int] = {}
        for one in self._own.get(ObjectKind.ADDRESS, {}).values():
            addresses[one.fields.get("interface")] = addresses.get(one.fields.get("interface"), 0) + 1
        reasons: dict[Id, str] = {}
        devices = {one.id for one in doomed.get(ObjectKind.DEVICE, ())}
        inside = self._system.at_devices(sorted(devices, key=str)) if devices else []
        for one in (*inside, *doomed.get(ObjectKind.INTERFACE, ())):
            reason = ""
            cable, count = one.fields.get("cable"), one.fields.get("count_ipaddresses")
            if one.id not in made:
                reason = f"interface {one.name} was not created by fabricgen"
            elif cable is not None and cable not in made:
                reason = f"interface {one.name} has a cable that fabricgen did not create"
            elif isinstance(count, int) and count > addresses.get(one.id, 0):
                reason = f"interface {one.name} has an address that fabricgen did not create"
            if reason:
                reasons[one.id] = reason
                if one.parent in devices:
                    reasons[one.parent] = reason
        return reasons
