"""NetBox 4: its endpoints, and the shape of its records. Read at NetBox 4.6.8."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from fabricgen.dcim.batches import chunks
from fabricgen.dcim.objects import FoundObject, Id, Item, ObjectKind
from fabricgen.dcim.slugs import slug
from fabricgen.dcim.system import (
    CUSTOM_FIELDS,
    IDENTITY,
    PATHS,
    Fields,
    Ids,
    Record,
    System,
    site_of,
    translated,
    vlan_filters,
)

_TERMINATION = "dcim.interface"


class NetBox(System):
    """NetBox over pynetbox."""

    name = "NetBox"
    token = "NETBOX_TOKEN"
    address = "NETBOX_URL"
    paths: ClassVar[Mapping[ObjectKind, tuple[str, str]]] = {
        **PATHS,
        ObjectKind.SITE: ("dcim", "sites"),
        ObjectKind.ROLE: ("dcim", "device_roles"),
    }

    def custom_fields(self) -> dict[str, tuple[Id, set[str]]]:
        """Name -> id and types of objects."""
        records = self.records("extras", "custom_fields", {"name": list(CUSTOM_FIELDS)})
        return {record["name"]: (record["id"], set(record["object_types"])) for record in records}

    def prepare(self) -> None:
        """Create the custom fields. The identity is unique: the server refuses a second object with it."""
        self.define(
            lambda name: {"name": name, "type": CUSTOM_FIELDS[name], "unique": name == IDENTITY}, "object_types"
        )

    def fields_of(self, kind: ObjectKind, record: Record) -> dict[str, object]:
        """The fields of a record. A cable has its ends, an address its interface; without one, None."""
        fields = super().fields_of(kind, record)
        if kind is ObjectKind.CABLE:
            both = (record.get("a_terminations") or (), record.get("b_terminations") or ())
            ends = [end for side in both for end in side]
            fields["ends"] = frozenset(end["object_id"] for end in ends if end["object_type"] == _TERMINATION)
        elif kind is ObjectKind.ADDRESS:
            is_interface = record.get("assigned_object_type") == _TERMINATION
            fields["interface"] = record.get("assigned_object_id") if is_interface else None
        return fields

    def payload(self, kind: ObjectKind, fields: Fields, ids: Ids) -> Record:
        """Fields as the body of a request."""
        body = dict(fields)
        match kind:
            case ObjectKind.INTERFACE:
                body.pop("status", None)  # Nautobot alone has it
            case ObjectKind.PREFIX if body.pop("container", False):
                body["status"] = "container"
            case ObjectKind.CABLE if "ends" in body:
                for side, end in zip("ab", body.pop("ends"), strict=True):  # type: ignore[call-overload]
                    body[f"{side}_terminations"] = [{"object_type": _TERMINATION, "object_id": ids[end]}]
            case ObjectKind.ADDRESS if "interface" in body:
                end = body.pop("interface")
                body |= {"assigned_object_type": _TERMINATION, "assigned_object_id": ids[end]}  # type: ignore[index]
        return translated(body, {}, ids)

    def created(self, item: Item, ids: Ids) -> Record:
        """The body that creates an object. NetBox has a slug for each name."""
        body = super().created(item, ids)
        match item.kind:
            case ObjectKind.SITE | ObjectKind.MANUFACTURER | ObjectKind.ROLE | ObjectKind.VLAN_GROUP:
                body |= {"name": item.name, "slug": slug(item.name)}
            case ObjectKind.DEVICE_TYPE:
                body |= {"model": item.name, "slug": slug(item.name)}
            case ObjectKind.RACK | ObjectKind.VLAN:
                body |= {"name": item.name}
        return body

    def release(self, addresses: Iterable[FoundObject]) -> None:
        """Take addresses from their interfaces."""
        body = {"assigned_object_type": None, "assigned_object_id": None}
        self.change(ObjectKind.ADDRESS, [(one, body) for one in addresses])

    def assign(self, addresses: Iterable[tuple[Id, Item]], ids: Ids) -> None:
        """Give addresses that have no interface to the interfaces of their items."""
        bodies = (
            (
                item.name,
                {"id": number, **self.payload(ObjectKind.ADDRESS, {"interface": item.fields["interface"]}, ids)},
            )
            for number, item in addresses
        )
        self.update(ObjectKind.ADDRESS, "setting the interface of address", bodies)

    def in_site(self, name: str) -> list[FoundObject]:
        """The devices of a site."""
        sites = self.records("dcim", "sites", {"slug": [slug(name)]})
        return [one for site in sites for one in self.read(ObjectKind.DEVICE, {"site_id": [site["id"]]})]

    def addresses_at(self, interfaces: Iterable[Id]) -> list[FoundObject]:
        """The addresses of interfaces."""
        return [one for chunk in chunks(interfaces) for one in self.read(ObjectKind.ADDRESS, {"interface_id": chunk})]

    def by_name_filters(self, kind: ObjectKind, items: Sequence[Item], ids: Ids) -> dict[str, object]:
        """The filters that find objects by their names; racks and devices of the site, addresses outside VRFs."""
        names = [item.name for item in items]
        match kind:
            case ObjectKind.SITE | ObjectKind.MANUFACTURER | ObjectKind.ROLE | ObjectKind.VLAN_GROUP:
                return {"slug": [slug(name) for name in names]}
            case ObjectKind.DEVICE_TYPE:
                return {"model": names}
            case ObjectKind.RACK | ObjectKind.DEVICE:
                return {"name": names, "site_id": sorted({ids[site_of(item)] for item in items}, key=str)}
            case ObjectKind.VLAN:
                return vlan_filters("group_id", items, ids)
            case ObjectKind.PREFIX:
                return {"prefix": names, "vrf_id": "null"}
            case ObjectKind.ADDRESS:
                return {"address": names, "vrf_id": "null"}
        raise ValueError(f"{kind} is not found by name")
