"""A source of truth over its REST API: reads in pages whose number of objects is checked, and writes in batches.

NetBox and Nautobot descend from one program. What they name differently is in `netbox` and `nautobot`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from fabricgen.dcim.batches import chunks, sent
from fabricgen.dcim.objects import SHARED, FoundObject, Id, Item, ObjectKind, Ref
from fabricgen.errors import UsageError

PAGE = 1000  # objects: both cut a longer answer by default, silently
IDENTITY, MADE = "fabricgen_identity", "fabricgen_made"
CUSTOM_FIELDS = {IDENTITY: "text", MADE: "boolean"}
# The kinds that have the custom fields, by their names in the API.
OWNED = {
    ObjectKind.DEVICE: "dcim.device",
    ObjectKind.INTERFACE: "dcim.interface",
    ObjectKind.PREFIX: "ipam.prefix",
    ObjectKind.ADDRESS: "ipam.ipaddress",
    ObjectKind.CABLE: "dcim.cable",
}
_FACE = "front"  # of a device in a rack, until people turn it

Record = dict[str, Any]
Ids = Mapping[Ref, Id]
Fields = Mapping[str, object]
# Kind -> app and endpoint, where both programs have the same.
PATHS: Mapping[ObjectKind, tuple[str, str]] = {
    ObjectKind.MANUFACTURER: ("dcim", "manufacturers"),
    ObjectKind.DEVICE_TYPE: ("dcim", "device_types"),
    ObjectKind.RACK: ("dcim", "racks"),
    ObjectKind.VLAN_GROUP: ("ipam", "vlan_groups"),
    ObjectKind.VLAN: ("ipam", "vlans"),
    ObjectKind.DEVICE: ("dcim", "devices"),
    ObjectKind.INTERFACE: ("dcim", "interfaces"),
    ObjectKind.PREFIX: ("ipam", "prefixes"),
    ObjectKind.ADDRESS: ("ipam", "ip_addresses"),
    ObjectKind.PRIMARY: ("dcim", "devices"),
    ObjectKind.CABLE: ("dcim", "cables"),
}


class System(ABC):
    """NetBox or Nautobot. `api` is that of pynetbox or pynautobot, `refused` their exceptions."""

    name: ClassVar[str]
    token: ClassVar[str]  # environment variable
    address: ClassVar[str]  # environment variable of the URL
    paths: ClassVar[Mapping[ObjectKind, tuple[str, str]]]  # app and endpoint

    def __init__(self, api: Any, refused: tuple[type[Exception], ...]) -> None:
        self._api, self._refused = api, refused

    @abstractmethod
    def prepare(self) -> None:
        """Create what the objects need: custom fields, and in Nautobot the type of location."""

    @abstractmethod
    def custom_fields(self) -> dict[str, tuple[Id, set[str]]]:
        """Name -> id and types of objects, of the custom fields that are defined."""

    def fields_of(self, kind: ObjectKind, record: Record) -> dict[str, Any]:
        """The fields of a record, by the names of `Item.fields`; a reference is an id. An interface has its tagged
        VLANs as a set."""
        fields = {name: plain(value) for name, value in record.items()}
        if kind is ObjectKind.INTERFACE:
            fields["tagged_vlans"] = frozenset(map(plain, record.get("tagged_vlans") or ()))
        return fields

    @abstractmethod
    def payload(self, kind: ObjectKind, fields: Fields, ids: Ids) -> Record:
        """Fields of `Item` as the body of a request."""

    @abstractmethod
    def by_name_filters(self, kind: ObjectKind, items: Sequence[Item], ids: Ids) -> dict[str, object]:
        """The filters that find objects by their names. Interfaces are found by their devices."""

    @abstractmethod
    def release(self, addresses: Iterable[FoundObject]) -> None:
        """Take addresses from their interfaces."""

    @abstractmethod
    def assign(self, addresses: Iterable[tuple[Id, Item]], ids: Ids) -> None:
        """Give addresses that have no interface to the interfaces of their items."""

    @abstractmethod
    def in_site(self, name: str) -> list[FoundObject]:
        """The devices of a site."""

    @abstractmethod
    def addresses_at(self, interfaces: Iterable[Id]) -> list[FoundObject]:
        """The addresses of interfaces."""

    def missing_custom_fields(self) -> list[str]:
        """The names of custom fields that are not defined for all kinds."""
        defined = self.custom_fields()
        return [name for name in CUSTOM_FIELDS if not {*OWNED.values()} <= defined.get(name, ("", set()))[1]]

    def define(self, body: Callable[[str], Record], types: str) -> None:
        """Create the missing custom fields, or add the missing kinds; `types` is their field in the API."""
        defined, wanted = self.custom_fields(), set(OWNED.values())
        source = self._endpoint("extras", "custom_fields")
        with self.reported("defining custom fields"):
            for name in self.missing_custom_fields():
                if name in defined:
                    number, known = defined[name]
                    source.update([{"id": number, types: sorted(known | wanted)}])
                else:
                    source.create([{**body(name), types: sorted(wanted)}])

    def of_fabric(self, kind: ObjectKind, fabric: str) -> list[FoundObject]:
        """The objects with an identity of this fabric."""
        found = self.read(kind, {f"cf_{IDENTITY}__isw": f"{fabric}:"})
        return [one for one in found if one.identity.startswith(f"{fabric}:")]

    def by_name(self, kind: ObjectKind, items: Iterable[Item], ids: Ids) -> list[FoundObject]:
        """The objects with the names of these items, with any identity or none."""
        return [one for chunk in chunks(items) for one in self.read(kind, self.by_name_filters(kind, chunk, ids))]

    def at_devices(self, devices: Iterable[Id]) -> list[FoundObject]:
        """All interfaces of these devices."""
        return [one for chunk in chunks(devices) for one in self.read(ObjectKind.INTERFACE, {"device_id": chunk})]

    def by_id(self, kind: ObjectKind, ids: Collection[Id]) -> list[FoundObject]:
        """The objects with these ids."""
        return [one for chunk in chunks(ids) for one in self.read(kind, {"id": chunk})]

    def read(self, kind: ObjectKind, filters: Mapping[str, object]) -> list[FoundObject]:
        """All objects that the filters find."""
        return [self._found(kind, record) for record in self.records(*self.paths[kind], filters)]

    def records(self, app: str, endpoint: str, filters: Mapping[str, object]) -> list[Record]:
        """The records of an endpoint, page by page.

        Raises UsageError if their number is not the one that the server counts.
        """
        source = self._endpoint(app, endpoint)
        with self.reported(f"reading {endpoint}"):
            found = source.filter(limit=PAGE, **filters) if filters else source.all(limit=PAGE)
            records = {record["id"]: record for record in map(dict, found)}
            expected = source.count(**filters)
        if len(records) != expected:
            raise UsageError(
                f"{self.name} counts {expected} objects of {endpoint} and returned {len(records)}: another program "
                "changes them, or the server cuts its lists; run the command again"
            )
        return list(records.values())

    def create(self, kind: ObjectKind, items: Iterable[Item], ids: Ids) -> Iterator[tuple[Item, Id]]:
        """Create objects, batch by batch; yields each batch when the server has it."""
        for chunk in chunks(items):
            bodies = [(item.name, self.created(item, ids)) for item in chunk]
            made = self.send(f"creating {kind}", bodies, self._endpoint(*self.paths[kind]).create)
            for item, record in zip(chunk, map(dict, made), strict=True):
                self._check_identity(item, record)
                yield item, record["id"]

    def _check_identity(self, item: Item, record: Record) -> None:
        """Without its identity, the next run would not know the object."""
        if item.kind in OWNED and (record.get("custom_fields") or {}).get(IDENTITY) != item.identity:
            raise UsageError(
                f"{self.name} created the {item.kind} {item.name} without its custom field {IDENTITY}, for example "
                "because a cache is out of date: delete the object there, and run the command again"
            )

    def created(self, item: Item, ids: Ids) -> Record:
        """The body that creates an object."""
        fields: dict[str, object] = {**item.initial, **{name: item.fields[name] for name in item.stated}}
        if item.parent:
            fields["device"] = item.parent
        if "position" in fields:
            fields["face"] = _FACE
        body = self.payload(item.kind, fields, ids)
        return body if item.kind in SHARED else {**body, "custom_fields": marks(item.identity, made=True)}

    def change(self, kind: ObjectKind, changes: Iterable[tuple[FoundObject, Record]]) -> None:
        """Change objects: each with the body of the request."""
        bodies = ((found.name, {"id": found.id, **_with_face(found, body)}) for found, body in changes)
        self.update(kind, f"changing {kind}", bodies)

    def update(self, kind: ObjectKind, action: str, bodies: Iterable[tuple[str, Record]]) -> None:
        """Change the objects of a kind, batch by batch: (name, body with the id)."""
        for chunk in chunks(bodies):
            changed = self.send(action, chunk, self._endpoint(*self.paths[kind]).update)
            if len(changed) != len(chunk):
                raise UsageError(
                    f"{self.name}, {action}: {len(changed)} of {len(chunk)} objects are changed, because another "
                    "program deleted the others; run the command again"
                )

    def delete(self, kind: ObjectKind, doomed: Iterable[FoundObject]) -> None:
        """Delete objects."""
        for chunk in chunks(doomed):
            bodies = [(found.name, found.id) for found in chunk]
            self.send(f"deleting {kind}", bodies, self._endpoint(*self.paths[kind]).delete)

    def _found(self, kind: ObjectKind, record: Record) -> FoundObject:
        custom = record.get("custom_fields") or {}
        fields = self.fields_of(kind, record)
        known = ("slug", "name", "model", "prefix", "address", "label", "display")
        name = next((str(record[key]) for key in known if record.get(key)), "")
        if kind is ObjectKind.ADDRESS:
            name = name.partition("/")[0]
        identity, made = custom.get(IDENTITY) or "", bool(custom.get(MADE))
        return FoundObject(kind, record["id"], name, identity, made, fields, plain(record.get("device")))

    def _endpoint(self, app: str, endpoint: str) -> Any:
        return getattr(getattr(self._api, app), endpoint)

    def send(self, action: str, bodies: Sequence[tuple[str, Any]], request: Callable[[list[Any]], Any]) -> list[Any]:
        """The answers to one request with the (name, body) of several objects.

        Raises UsageError with the name of each object that the server refuses, and the reason.
        """
        with self.reported(f"{action} {bodies[0][0]} and {len(bodies) - 1} more"):
            answers, refusals = sent(bodies, request, self._refused)
        if len(refusals) == 1:
            raise UsageError(f"{self.name}, {action} {': '.join(refusals[0])}")
        if refusals:
            lines = "".join(f"\n  {name}: {reason}" for name, reason in refusals)
            raise UsageError(f"{self.name}, {action}: {len(refusals)} of {len(bodies)} are refused:{lines}")
        return answers

    @contextmanager
    def reported(self, action: str) -> Iterator[None]:
        """What the server refuses within the block is a UsageError with its answer."""
        try:
            yield
        except self._refused as error:
            answer = str(getattr(error, "error", "") or error)
            raise UsageError(f"{self.name}, {action}: {answer[:1000]}") from error


def marks(identity: str, *, made: bool) -> Record:
    """The custom fields of an object that fabricgen keeps."""
    return {IDENTITY: identity, MADE: made}


def plain(value: object) -> Any:
    """The value of a field of a record: of a choice its value, of a reference its id."""
    if isinstance(value, dict):
        return value.get("value", value.get("id"))
    return value


def translated(fields: Fields, names: Mapping[str, str], ids: Ids) -> Record:
    """Fields by the names of an API, and references as ids."""
    return {names.get(name, name): _with_ids(value, ids) for name, value in fields.items()}


def _with_ids(value: object, ids: Ids) -> object:
    if isinstance(value, tuple):
        return [ids[each] for each in value]
    return ids[value] if isinstance(value, Ref) else value


def site_of(item: Item) -> Ref:
    """The site of a rack or device."""
    site = item.initial["site"]
    assert isinstance(site, Ref)
    return site


def vlan_filters(group: str, vlans: Sequence[Item], ids: Ids) -> dict[str, object]:
    """The filters that find VLANs by number in their groups, which are there; `group` is the filter of the API."""
    groups = {ids[one]: None for vlan in vlans if isinstance(one := vlan.initial["group"], Ref)}
    return {group: sorted(groups, key=str), "vid": list(dict.fromkeys(vlan.initial["vid"] for vlan in vlans))}


def _with_face(found: FoundObject, body: Record) -> Record:
    """A device has a face where it has a position."""
    return {"face": _FACE, **body} if body.get("position") and not found.fields.get("face") else body
