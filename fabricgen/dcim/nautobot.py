"""Nautobot 3: its endpoints, and the shape of its records. Read at Nautobot 3.2.7.

Unlike NetBox it has locations with a type, references for states, and separate objects that give an address to an
interface. The id of a new object is a hash of its identity, because custom fields are not unique there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar
from uuid import NAMESPACE_URL, uuid5

from fabricgen.dcim.batches import chunks
from fabricgen.dcim.objects import SHARED, FoundObject, Id, Item, ObjectKind, Ref
from fabricgen.dcim.system import (
    CUSTOM_FIELDS,
    PATHS,
    Fields,
    Ids,
    Record,
    System,
    plain,
    site_of,
    translated,
    vlan_filters,
)

_LOCATION_TYPE, _NAMESPACE, _TERMINATION = "Site", "Global", "dcim.interface"
_ASSIGNED = ("ipam", "ip_address_to_interface")
_NAMES = {"site": "location", "group": "vlan_group"}


class Nautobot(System):
    """Nautobot over pynautobot."""

    name = "Nautobot"
    token = "NAUTOBOT_TOKEN"
    address = "NAUTOBOT_URL"
    paths: ClassVar[Mapping[ObjectKind, tuple[str, str]]] = {
        **PATHS,
        ObjectKind.SITE: ("dcim", "locations"),
        ObjectKind.ROLE: ("extras", "roles"),
    }

    def custom_fields(self) -> dict[str, tuple[Id, set[str]]]:
        """Name -> id and types of objects."""
        records = self.records("extras", "custom_fields", {})
        return {
            each["key"]: (each["id"], set(each["content_types"])) for each in records if each["key"] in CUSTOM_FIELDS
        }

    def prepare(self) -> None:
        """Create the custom fields and the type of location, or add the types of objects that they need."""
        self.define(lambda name: {"key": name, "label": name, "type": CUSTOM_FIELDS[name]}, "content_types")
        types = self._endpoint("dcim", "location_types")
        needed = {"dcim.device", "dcim.rack"}
        with self.reported(f"creating the location type {_LOCATION_TYPE}"):
            for record in self.records("dcim", "location_types", {"name": [_LOCATION_TYPE]}):
                if missing := needed - set(record["content_types"]):
                    types.update([{"id": record["id"], "content_types": sorted(missing | {*record["content_types"]})}])
                return
            types.create([{"name": _LOCATION_TYPE, "content_types": sorted(needed)}])

    @cached_property
    def _statuses(self) -> Mapping[str, Id]:
        """Name in lower case -> id."""
        return {record["name"].lower(): record["id"] for record in self.records("extras", "statuses", {})}

    @cached_property
    def _status_names(self) -> Mapping[Id, str]:
        return {number: name for name, number in self._statuses.items()}

    @cached_property
    def _location_type(self) -> Id:
        found: Id = self.records("dcim", "location_types", {"name": [_LOCATION_TYPE]})[0]["id"]
        return found

    @cached_property
    def _namespace(self) -> Id:
        found: Id = self.records("ipam", "namespaces", {"name": [_NAMESPACE]})[0]["id"]
        return found

    def read(self, kind: ObjectKind, filters: Mapping[str, object]) -> list[FoundObject]:
        """All objects that the filters find. Addresses get the interfaces of their assignments, if there is one."""
        if kind is ObjectKind.INTERFACE:
            filters = {**filters, "exclude_m2m": "false"}  # else an answer has no tagged VLANs
        found = super().read(kind, filters)
        if kind is ObjectKind.ADDRESS:
            assigned: dict[Id, list[Id]] = {}
            for record in self._assignments(one.id for one in found):
                assigned.setdefault(plain(record["ip_address"]), []).append(plain(record["interface"]))
            for one in found:
                interfaces = assigned.get(one.id, [])
                one.fields["interface"] = interfaces[0] if len(interfaces) == 1 else None  # type: ignore[index]
        return found

    def _assignments(self, addresses: Iterable[Id]) -> Iterator[Record]:
        for chunk in chunks(addresses):
            yield from self.records(*_ASSIGNED, {"ip_address": chunk})

    def fields_of(self, kind: ObjectKind, record: Record) -> dict[str, object]:
        """The fields of a record, with the name of its status. A cable has its ends."""
        fields = super().fields_of(kind, record)
        if "status" in fields:
            fields["status"] = self._status_names.get(fields["status"], "")
        if kind is ObjectKind.CABLE:
            sides = [(record[f"termination_{side}_type"], record[f"termination_{side}_id"]) for side in "ab"]
            fields["ends"] = frozenset(number for end, number in sides if end == _TERMINATION)
        elif kind is ObjectKind.VLAN:
            fields["group"] = fields.get("vlan_group")
        return fields

    def payload(self, kind: ObjectKind, fields: Fields, ids: Ids) -> Record:
        """Fields as the body of a request; without the interface of an address, which `assign` gives it."""
        body = dict(fields)
        if "status" in body:
            body["status"] = self._statuses[str(body["status"])]
        match kind:
            case ObjectKind.PREFIX if body.pop("container", False):
                body["type"] = "container"
            case ObjectKind.ADDRESS:
                body.pop("interface", None)
            case ObjectKind.CABLE if "ends" in body:
                for side, end in zip("ab", body.pop("ends"), strict=True):  # type: ignore[call-overload]
                    body |= {f"termination_{side}_type": _TERMINATION, f"termination_{side}_id": ids[end]}
        return translated(body, _NAMES, ids)

    def created(self, item: Item, ids: Ids) -> Record:
        """The body that creates an object, with its id."""
        body = super().created(item, ids)
        match item.kind:
            case ObjectKind.SITE:
                body |= {"name": item.name, "location_type": self._location_type, "status": self._statuses["active"]}
            case ObjectKind.MANUFACTURER | ObjectKind.RACK | ObjectKind.VLAN_GROUP | ObjectKind.VLAN:
                body |= {"name": item.name}
            case ObjectKind.ROLE:
                body |= {"name": item.name, "content_types": ["dcim.device"]}
            case ObjectKind.DEVICE_TYPE:
                body |= {"model": item.name}
            case ObjectKind.PREFIX | ObjectKind.ADDRESS:
                body |= {"namespace": self._namespace}
        return (
            body if item.kind in SHARED else {"id": str(uuid5(NAMESPACE_URL, f"{item.kind}/{item.identity}")), **body}
        )

    def create(self, kind: ObjectKind, items: Iterable[Item], ids: Ids) -> Iterator[tuple[Item, Id]]:
        """Create objects, batch by batch, and give addresses to their interfaces."""
        for chunk in chunks(items):
            done = list(super().create(kind, chunk, ids))
            if kind is ObjectKind.ADDRESS:
                self.assign([(number, item) for item, number in done], ids)
            yield from done

    def release(self, addresses: Iterable[FoundObject]) -> None:
        """Take addresses from their interfaces."""
        by_id = {one.id: one.name for one in addresses}
        old = [(by_id[plain(one["ip_address"])], one["id"]) for one in self._assignments(by_id)]
        for chunk in chunks(old):
            self.send("removing the interface of address", chunk, self._endpoint(*_ASSIGNED).delete)

    def assign(self, addresses: Iterable[tuple[Id, Item]], ids: Ids) -> None:
        """Give addresses that have no interface to the interfaces of their items."""
        ends = [(item.name, number, item.fields["interface"]) for number, item in addresses]
        bodies = [
            (name, {"ip_address": number, "interface": ids[end]}) for name, number, end in ends if isinstance(end, Ref)
        ]
        for chunk in chunks(bodies):
            self.send("setting the interface of address", chunk, self._endpoint(*_ASSIGNED).create)

    def in_site(self, name: str) -> list[FoundObject]:
        """The devices of a location, and of the locations in it."""
        sites = self.records("dcim", "locations", {"name__ie": [name]})
        return [one for site in sites for one in self.read(ObjectKind.DEVICE, {"location": [site["id"]]})]

    def addresses_at(self, interfaces: Iterable[Id]) -> list[FoundObject]:
        """The addresses of interfaces."""
        assigned: dict[Id, None] = {}
        for chunk in chunks(interfaces):
            assigned |= {plain(each["ip_address"]): None for each in self.records(*_ASSIGNED, {"interface": chunk})}
        return self.by_id(ObjectKind.ADDRESS, assigned)

    def by_name_filters(self, kind: ObjectKind, items: Sequence[Item], ids: Ids) -> dict[str, object]:
        """The filters that find objects by their names; racks and devices of the location, addresses outside VRFs."""
        names = [item.name for item in items]
        match kind:
            case ObjectKind.SITE | ObjectKind.MANUFACTURER | ObjectKind.ROLE | ObjectKind.VLAN_GROUP:
                return {"name__ie": names}
            case ObjectKind.DEVICE_TYPE:
                return {"model": names}
            case ObjectKind.RACK | ObjectKind.DEVICE:
                return {"name": names, "location": sorted({ids[site_of(item)] for item in items}, key=str)}
            case ObjectKind.VLAN:
                return vlan_filters("vlan_group", items, ids)
            case ObjectKind.PREFIX:
                return {"prefix": names, "namespace": [_NAMESPACE]}
            case ObjectKind.ADDRESS:
                return {"address": names, "namespace": [_NAMESPACE]}
        raise ValueError(f"{kind} is not found by name")
