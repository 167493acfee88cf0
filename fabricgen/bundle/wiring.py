"""fabric.json: the planned wiring. Devices, ports, links, cables with true lengths, hosts, planes.

One JSON object. Every list has one item per line, so that a change is easy to read in a pull request.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import orjson

from fabricgen.bundle.names import check_names
from fabricgen.bundle.typed import checked, each, require, unique
from fabricgen.bundle.wiring_values import check_values
from fabricgen.vocabulary import DeviceState, LinkKind, Medium, Purpose, Repair, Role, Technology, Word

FORMAT_VERSION = "1"

# Management traffic must never pause or be paused.
MANAGEMENT_PURPOSES = (Purpose.IN_BAND, Purpose.OUT_OF_BAND)

Endpoint = tuple[str, str]  # (switch, EthernetN) or (host, NIC)


@dataclass(frozen=True, slots=True)
class WiredDevice:
    """A switch. `identity` does not change when the switch is renamed or replaced."""

    name: str
    identity: str
    plane: str
    role: Role
    platform: str
    layout: str
    hwsku: str
    technology: Technology = Technology.ROCE
    subplane: int | None = None  # one of several copies of a plane without a common switch
    pod: int | None = None
    su: int | None = None
    rail: int | None = None
    rack: str = ""
    unit: str = ""
    serial: str = ""
    state: DeviceState = DeviceState.ACTIVE
    loopbacks: tuple[str, ...] = ()  # addresses of Loopback0
    management: tuple[str, ...] = ()  # addresses of eth0, with prefix length
    node_guid: str = ""  # of an InfiniBand switch, 0x and 16 hex digits
    mmu_bytes: int | None = None  # the memory of the ASIC where the platform states it


@dataclass(frozen=True, slots=True)
class WiredLink:
    """A logical link. `a` is the lower end: the host of a host link, the outside device of an external link, else the
    switch nearer to the hosts."""

    id: str
    plane: str
    kind: LinkKind
    a: Endpoint
    b: Endpoint
    speed_mbps: int
    cable: str
    rail: int | None = None


@dataclass(frozen=True, slots=True)
class WiredCable:
    """A physical cable and the links it carries."""

    id: str
    length_m: float
    medium: Medium
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WiredNic:
    """One NIC port of a host. The link that names it has the switch port at its far end."""

    name: str
    plane: str
    rail: int | None
    speed_mbps: int
    addresses: tuple[str, ...] = ()
    node_guid: str = ""  # of an InfiniBand adapter, like `port_guid`
    port_guid: str = ""


@dataclass(frozen=True, slots=True)
class WiredHost:
    """A host with its NICs. Hosts of one `nvlink_domain` share NVLink; it is "" where NVLink joins one host only."""

    name: str
    group: str
    model: str
    nics: tuple[WiredNic, ...]
    rack: str = ""
    unit: str = ""
    serial: str = ""
    nvlink_domain: str = ""


@dataclass(frozen=True, slots=True)
class WiredAdapter:
    """One NIC port of a host model. `pci` and `rdma` are "" if they differ between machines."""

    name: str
    model: str
    pci: str
    rdma: str
    gpu: int | None


@dataclass(frozen=True, slots=True)
class WiredModel:
    """A host model: the properties that all its hosts share."""

    name: str
    vendor: str
    gpus: int
    nics: tuple[WiredAdapter, ...]


@dataclass(frozen=True, slots=True)
class WiredExternal:
    """One port of a device outside the fabric. `asn` is None if no session runs; `addresses` are its own."""

    name: str
    port: str
    plane: str
    asn: int | None
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WiredPlane:
    """A plane with its lossless priorities and the DSCP values of the RoCE classes and of CNPs."""

    name: str
    technology: Technology
    design: str
    lossless: tuple[int, ...] = ()
    roce_dscp: Mapping[str, tuple[int, ...]] | None = None  # priority -> DSCP values
    cnp_dscp: int | None = None
    roce_mtu: int | None = None
    purpose: Purpose | None = None  # None if the file does not say
    host_prefixes: tuple[str, ...] = ()  # the pools of the addresses of its hosts

    @property
    def is_management(self) -> bool:
        """Whether the plane carries management traffic."""
        return self.purpose in MANAGEMENT_PURPOSES


@dataclass(frozen=True, slots=True)
class WiredPlaceholders:
    """The numbers of placeholder GUIDs of an InfiniBand plane, which cannot be deployed with them."""

    plane: str
    switches: int
    adapters: int


@dataclass(frozen=True, slots=True)
class MaintenanceSet:
    """Switches and links, by shell patterns of their names, that are out of service at the same time."""

    name: str
    switches: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checks:
    """The failures that `check` simulates: how many at a time, whether switches fail too, and how switches repair."""

    failures: int = 1
    switch_failures: bool = False
    repair: Repair = Repair.NONE
    maintenance: tuple[MaintenanceSet, ...] = ()


@dataclass(frozen=True)
class Wiring:
    """The content of fabric.json."""

    fabric: str
    planes: tuple[WiredPlane, ...]
    devices: tuple[WiredDevice, ...]
    hosts: tuple[WiredHost, ...]
    links: tuple[WiredLink, ...]
    cables: tuple[WiredCable, ...]
    externals: tuple[WiredExternal, ...] = ()
    host_models: tuple[WiredModel, ...] = ()
    placeholders: tuple[WiredPlaceholders, ...] = ()
    checks: Checks = Checks()

    @cached_property
    def infiniband_planes(self) -> frozenset[str]:
        """The names of the planes that subnet managers run: their switches do not have a config_db.json."""
        return frozenset(plane.name for plane in self.planes if plane.technology == Technology.INFINIBAND)


def dump_listing(head: Mapping[str, object], lists: Mapping[str, Iterable[object]]) -> bytes:
    """The bytes of a JSON object of scalars and lists, one list item per line."""
    parts = [b"  %s: %s" % (orjson.dumps(key), orjson.dumps(value)) for key, value in head.items()]
    for key, items in lists.items():
        lines = b",\n".join(b"    " + orjson.dumps(item) for item in items)
        parts.append(b"  %s: [\n%s\n  ]" % (orjson.dumps(key), lines) if lines else b"  %s: []" % orjson.dumps(key))
    return b"{\n" + b",\n".join(parts) + b"\n}\n"


def dump_wiring(wiring: Wiring) -> bytes:
    """The bytes of fabric.json."""
    lists = {name: getattr(wiring, name) for name in ("planes", "devices", "hosts", "links", "cables")}
    lists["devices"] = tuple(_without_unknown(device, "mmu_bytes") for device in wiring.devices)
    lists["hosts"] = tuple(_without_unknown(host, "rack", "unit", "serial", "nvlink_domain") for host in wiring.hosts)
    lists |= {name: items for name in ("host_models", "externals", "placeholders") if (items := getattr(wiring, name))}
    head: dict[str, object] = {"format_version": FORMAT_VERSION, "fabric": wiring.fabric}
    if wiring.checks != Checks():
        head["checks"] = wiring.checks
    return dump_listing(head, lists)


def _without_unknown(item: WiredDevice | WiredHost, *optional: str) -> dict[str, object]:
    """The keys of an item; the optional ones only where they are known."""
    keys = {field.name: getattr(item, field.name) for field in fields(item)}
    return {name: value for name, value in keys.items() if name not in optional or value not in ("", None)}


def load_wiring(text: bytes) -> Wiring:
    """The wiring in the bytes of fabric.json. Raises ValueError, KeyError or TypeError if they have another form."""
    raw = orjson.loads(text)
    if not isinstance(raw, dict):
        raise ValueError("not a JSON object")
    if (found := raw.get("format_version")) != FORMAT_VERSION:
        raise ValueError(f"fabric.json has format_version {found!r}, this fabricgen reads {FORMAT_VERSION!r}")
    check_names(raw, text)
    raw = {"externals": [], "host_models": [], "placeholders": [], "checks": {}, **raw}
    wiring = Wiring(
        fabric=raw["fabric"],
        planes=each(raw, "planes", _plane),
        devices=each(raw, "devices", _device),
        hosts=each(raw, "hosts", _host),
        links=each(raw, "links", lambda row: WiredLink(**_words(_tuples(row, "a", "b"), kind=LinkKind))),
        cables=each(raw, "cables", lambda row: WiredCable(**_words(_tuples(row, "links"), medium=Medium))),
        externals=each(raw, "externals", lambda row: WiredExternal(**_tuples(row, "addresses"))),
        host_models=each(raw, "host_models", _model),
        placeholders=each(raw, "placeholders", lambda row: WiredPlaceholders(**row)),
        checks=_checks(raw["checks"]),
    )
    unique((device.name for device in wiring.devices), "devices")
    unique((host.name for host in wiring.hosts), "hosts")
    unique((plane.name for plane in wiring.planes), "planes")
    planes = {plane.name for plane in wiring.planes}
    nics = (nic for host in wiring.hosts for nic in host.nics)
    items: tuple[Any, ...] = (*wiring.devices, *nics, *wiring.links, *wiring.externals, *wiring.placeholders)
    for item in items:
        if item.plane not in planes:
            raise ValueError(f"{item} is of a plane that the file does not have")
    checked(wiring, "fabric.json")
    check_values(wiring)
    return wiring


def _plane(raw: Mapping[str, Any]) -> WiredPlane:
    row = _words(_tuples({"host_prefixes": [], **raw}, "lossless", "host_prefixes"), technology=Technology)
    return WiredPlane(**{**row, "purpose": Purpose.read(raw["purpose"]) if raw.get("purpose") else None})


def _device(raw: Mapping[str, Any]) -> WiredDevice:
    row = _tuples(raw, "loopbacks", "management")
    return WiredDevice(**_words(row, role=Role, technology=Technology, state=DeviceState))


def _host(raw: Mapping[str, Any]) -> WiredHost:
    return WiredHost(**{**raw, "nics": each(raw, "nics", lambda row: WiredNic(**_tuples(row, "addresses")))})


def _model(raw: Mapping[str, Any]) -> WiredModel:
    return WiredModel(**{**raw, "nics": each(raw, "nics", lambda row: WiredAdapter(**row))})


def _checks(raw: object) -> Checks:
    given = {"maintenance": [], **require(raw, dict[str, Any], "checks")}
    sets = each(given, "maintenance", lambda row: MaintenanceSet(**_tuples(row, "switches", "links")))
    return checked(Checks(**_words({**given, "maintenance": sets}, repair=Repair)), "checks")


def _tuples(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {**row, **{name: tuple(require(row[name], list[Any], name)) for name in names}}


def _words(row: dict[str, Any], **kinds: type[Word]) -> dict[str, Any]:
    for name, kind in kinds.items():
        if name in row:
            row[name] = kind.read(row[name])
    return row
