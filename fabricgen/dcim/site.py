"""A site of a source of truth: its devices with interfaces and addresses, and the cables between them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricgen.dcim.objects import FoundObject, Id, ObjectKind
from fabricgen.dcim.system import System
from fabricgen.errors import UsageError

_METRES = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254}

End = tuple[str, str]  # device, interface


@dataclass(frozen=True, slots=True)
class SitePort:
    """An interface. `speed_mbps` and `mtu` are None if they are not stated; addresses have a prefix length."""

    name: str
    label: str = ""
    speed_mbps: int | None = None
    mtu: int | None = None
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteDevice:
    """A device. `role`, `model` and `part_number` are those of its role and type; what is not stated is ""."""

    name: str
    role: str
    model: str
    part_number: str
    rack: str = ""
    unit: str = ""
    serial: str = ""
    status: str = ""
    ports: Mapping[str, SitePort] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SiteCable:
    """A cable between two interfaces. `type` is "" and the length None if they are not stated."""

    a: End
    b: End
    type: str = ""
    length_m: float | None = None


@dataclass(frozen=True)
class Site:
    """What a source of truth has of a site. `left_out` are cables that do not join two interfaces of its devices."""

    name: str
    devices: tuple[SiteDevice, ...]
    cables: tuple[SiteCable, ...]
    left_out: int = 0


def read_site(system: System, name: str) -> Site:
    """Read a site. Raises UsageError for an unknown site, and for what the server refuses."""
    devices = system.in_site(name)
    if not devices:
        raise UsageError(f"{system.name} has no site {name}, or no devices there")
    interfaces = system.at_devices([device.id for device in devices])
    names = {kind: _names(system, kind, devices, key) for kind, key in _REFERENCES.items()}
    addresses = _texts(system.addresses_at([one.id for one in interfaces]))
    ports: dict[object, dict[str, SitePort]] = {}
    for one in interfaces:
        ports.setdefault(one.parent, {})[one.name] = _port(one, addresses.get(one.id, ()))
    found = [_device(device, names, ports.get(device.id, {})) for device in devices]
    owners = {device.id: device.name for device in devices}
    ends = {one.id: (owners[one.parent], one.name) for one in interfaces if one.parent in owners}
    laid = {one.fields.get("cable") for one in interfaces} - {None}
    cables = [_cable(one, ends) for one in system.by_id(ObjectKind.CABLE, sorted(laid, key=str))]  # type: ignore[arg-type]
    kept = sorted((cable for cable in cables if cable), key=lambda cable: (cable.a, cable.b))
    return Site(name, tuple(sorted(found, key=lambda device: device.name)), tuple(kept), len(cables) - len(kept))


_REFERENCES = {ObjectKind.ROLE: "role", ObjectKind.DEVICE_TYPE: "device_type", ObjectKind.RACK: "rack"}


def _names(system: System, kind: ObjectKind, devices: list[FoundObject], key: str) -> dict[object, FoundObject]:
    """Id -> the role, type or rack with it."""
    wanted = {device.fields.get(key) for device in devices} - {None}
    return {one.id: one for one in system.by_id(kind, sorted(wanted, key=str))}  # type: ignore[arg-type]


def _device(
    device: FoundObject, names: Mapping[ObjectKind, Mapping[object, FoundObject]], ports: Mapping[str, SitePort]
) -> SiteDevice:
    role, kind, rack = (names[each].get(device.fields.get(key)) for each, key in _REFERENCES.items())
    position = device.fields.get("position")
    return SiteDevice(
        device.name,
        role.name if role else "",
        str(kind.fields.get("model") or "") if kind else "",
        str(kind.fields.get("part_number") or "") if kind else "",
        str(rack.fields.get("name") or "") if rack else "",
        f"{position:g}" if isinstance(position, int | float) else "",
        str(device.fields.get("serial") or ""),
        str(device.fields.get("status") or ""),
        ports,
    )


def _port(one: FoundObject, addresses: tuple[str, ...]) -> SitePort:
    speed, mtu = one.fields.get("speed"), one.fields.get("mtu")
    return SitePort(
        one.name,
        str(one.fields.get("label") or ""),
        speed // 1000 if isinstance(speed, int) else None,
        mtu if isinstance(mtu, int) else None,
        addresses,
    )


def _texts(addresses: list[FoundObject]) -> dict[object, tuple[str, ...]]:
    """Interface -> its addresses with prefix length."""
    found: dict[object, tuple[str, ...]] = {}
    for one in addresses:
        interface = one.fields["interface"]
        found[interface] = (*found.get(interface, ()), str(one.fields["address"]))
    return found


def _cable(one: FoundObject, ends: Mapping[Id, End]) -> SiteCable | None:
    at = one.fields["ends"]
    known = sorted(ends[end] for end in at if end in ends) if isinstance(at, frozenset) else []
    if len(known) != 2:
        return None
    length, unit = one.fields.get("length"), _METRES.get(str(one.fields.get("length_unit")))
    metres = round(length * unit, 3) if isinstance(length, int | float) and unit else None
    return SiteCable(known[0], known[1], str(one.fields.get("type") or ""), metres)
