"""The model that NetBox and Nautobot share: objects with an identity, fields, and references to other objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fabricgen.vocabulary import Word

Scalar = str | int | float | bool | None
Id = str | int  # of a source of truth: a number in NetBox, a UUID in Nautobot


class ObjectKind(Word):
    """What an object is. An object refers to objects of earlier kinds only."""

    SITE = "site"
    MANUFACTURER = "manufacturer"
    DEVICE_TYPE = "device type"
    ROLE = "role"
    RACK = "rack"
    VLAN_GROUP = "VLAN group"  # of a plane: a number is a VLAN of one group
    VLAN = "VLAN"
    DEVICE = "device"
    INTERFACE = "interface"
    PREFIX = "prefix"
    ADDRESS = "address"
    PRIMARY = "primary address"  # of a device, which can refer to an address only when that exists
    CABLE = "cable"


KINDS = tuple(ObjectKind)
# What other devices of the site use, too: created where it is missing, and never changed or deleted.
SHARED = frozenset(KINDS[: KINDS.index(ObjectKind.DEVICE)])


@dataclass(frozen=True, slots=True)
class Ref:
    """Another object, by its identity."""

    kind: ObjectKind
    identity: str


Value = Scalar | Ref | tuple[Ref, ...]


_NONE: Mapping[str, Value] = {}


class Item(NamedTuple):
    """An object that the source of truth should have.

    `identity` is its unique key: of a switch `FABRIC:` and its identity in the lock file. `name` is what people call
    it, and by which an object without an identity is found. `fields` are kept equal, without what the bundle does not
    state. `initial` are values of a new object, which people may change. `parent` is the device of an interface.
    """

    kind: ObjectKind
    identity: str
    name: str
    fields: Mapping[str, Value] = _NONE
    initial: Mapping[str, Value] = _NONE
    parent: Ref | None = None

    @property
    def stated(self) -> list[str]:
        """The names of the fields that are not empty: a new object has the others empty."""
        return [name for name, value in self.fields.items() if value not in (None, ())]

    @property
    def ref(self) -> Ref:
        """The reference to it."""
        return Ref(self.kind, self.identity)


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object that a source of truth has. References are ids, and a cable's `ends` a set of them.

    `identity` is "" for an object that fabricgen does not know; `made` is whether fabricgen created it.
    """

    kind: ObjectKind
    id: Id
    name: str
    identity: str = ""
    made: bool = False
    fields: Mapping[str, object] = field(default_factory=dict)
    parent: Id | None = None
