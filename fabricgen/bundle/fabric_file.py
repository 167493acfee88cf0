"""fabric.json: reading and writing the wiring."""

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Any

from fabricgen.bundle.columns import Columns
from fabricgen.bundle.listing import Items, dump_listing, read_listing
from fabricgen.bundle.names import check_names, refuse_hidden
from fabricgen.bundle.typed import checked, each, require, unique
from fabricgen.bundle.wiring import (
    Checks,
    MaintenanceSet,
    WiredAdapter,
    WiredBalance,
    WiredBond,
    WiredCable,
    WiredDevice,
    WiredExternal,
    WiredHost,
    WiredLink,
    WiredModel,
    WiredNic,
    WiredPlaceholders,
    WiredPlane,
    WiredSpeaker,
    WiredTenant,
    WiredVlan,
    Wiring,
)
from fabricgen.bundle.wiring_values import check_values
from fabricgen.vocabulary import (
    BalanceMode,
    BalanceUnit,
    DeviceState,
    Isolation,
    LinkKind,
    Medium,
    NicSettings,
    Purpose,
    RdmaNames,
    Repair,
    Role,
    Technology,
    Word,
)

FORMAT_VERSION = "1"
_HOST_DEFAULTS = {"nic_settings": NicSettings.SCRIPT.value, "rdma_names": RdmaNames.DRIVER.value}


def dump_wiring(wiring: Wiring) -> bytes:
    """The bytes of fabric.json."""
    lists = {name: getattr(wiring, name) for name in ("planes", "devices", "hosts", "links", "cables")}
    lists["planes"] = tuple(_without_unknown(plane, "load_balancing", "isolation") for plane in wiring.planes)
    lists["devices"] = tuple(_without_unknown(device, "mmu_bytes", "coordinates") for device in wiring.devices)
    lists["hosts"] = tuple(_host_keys(host) for host in wiring.hosts)
    lists["cables"] = tuple(_without_unknown(cable, "legs") for cable in wiring.cables)
    lists |= {
        name: items
        for name in ("host_models", "externals", "placeholders", "tenants", "speakers", "cordoned")
        if (items := getattr(wiring, name))
    }
    head: dict[str, object] = {"format_version": FORMAT_VERSION, "fabric": wiring.fabric}
    if wiring.checks != Checks():
        head["checks"] = _without_unknown(wiring.checks, "min_busbw_after_failure")
    return dump_listing(head, lists)


def _without_unknown(
    item: WiredPlane | WiredDevice | WiredHost | WiredCable | Checks, *optional: str
) -> dict[str, object]:
    """The keys of an item; the optional ones only where they are known."""
    keys = {field.name: getattr(item, field.name) for field in fields(item)}
    return {name: value for name, value in keys.items() if name not in optional or value not in ("", None, ())}


def _host_keys(host: WiredHost) -> dict[str, object]:
    keys = _without_unknown(host, "rack", "unit", "serial", "nvlink_domain", "bonds", "vlans")
    return {key: value for key, value in keys.items() if value != _HOST_DEFAULTS.get(key)}


def load_wiring(text: bytes) -> Wiring:
    """The wiring in the bytes of fabric.json. Raises ValueError, KeyError or TypeError if they have another form."""
    return read_listing(text, partial(_wiring, text))


def _wiring(text: bytes, raw: Any) -> Wiring:
    if not isinstance(raw, dict):
        raise ValueError("not a JSON object")
    if (found := raw.get("format_version")) != FORMAT_VERSION:
        raise ValueError(f"fabric.json has format_version {found!r}, this fabricgen reads {FORMAT_VERSION!r}")
    raw = {"externals": [], "host_models": [], "placeholders": [], "checks": {}, "tenants": [], "cordoned": [], **raw}
    raw = {"speakers": [], **raw}
    columns = Columns()
    wiring = Wiring(
        fabric=raw["fabric"],
        planes=each(raw, "planes", _plane),
        devices=each(raw, "devices", _device, partial(columns.items, WiredDevice)),
        hosts=each(raw, "hosts", _host, partial(columns.items, WiredHost)),
        links=each(raw, "links", _link, partial(columns.items, WiredLink)),
        cables=each(raw, "cables", _cable, partial(columns.items, WiredCable)),
        externals=each(raw, "externals", lambda row: WiredExternal(**_tuples(row, "addresses"))),
        host_models=each(raw, "host_models", _model),
        placeholders=each(raw, "placeholders", lambda row: WiredPlaceholders(**row)),
        checks=_checks(raw["checks"]),
        tenants=each(raw, "tenants", _tenant),
        speakers=each(raw, "speakers", lambda row: WiredSpeaker(**_tuples(row, "prefixes"))),
        cordoned=tuple(require(_whole(raw["cordoned"]), list[str], "cordoned")),
    )
    check_names(wiring)
    refuse_hidden(raw, text)
    unique((device.name for device in wiring.devices), "devices")
    unique((host.name for host in wiring.hosts), "hosts")
    unique((plane.name for plane in wiring.planes), "planes")
    unique((tenant.name for tenant in wiring.tenants), "tenants")
    planes = {plane.name for plane in wiring.planes}
    nics = (nic for host in wiring.hosts for nic in host.nics)
    items: tuple[Any, ...] = (*wiring.devices, *nics, *wiring.links, *wiring.externals, *wiring.placeholders)
    items = (*items, *wiring.speakers)
    if {item.plane for item in items} - planes:
        lost = next(item for item in items if item.plane not in planes)
        raise ValueError(f"{lost} is of a plane that the file does not have")
    checked(wiring, "fabric.json")
    check_values(wiring)
    return wiring


def _whole(value: object) -> object:
    """A list in place of the items of one; any other value itself."""
    return list(value) if isinstance(value, Items) else value


def _plane(raw: Mapping[str, Any]) -> WiredPlane:
    row = _words(_tuples({"host_prefixes": [], **raw}, "lossless", "host_prefixes"), technology=Technology)
    balance = _balance(raw["load_balancing"]) if raw.get("load_balancing") else None
    purpose = Purpose.read(raw["purpose"]) if raw.get("purpose") else None
    isolation = Isolation.read(raw["isolation"]) if raw.get("isolation") else None
    return WiredPlane(**{**row, "purpose": purpose, "load_balancing": balance, "isolation": isolation})


def _tenant(raw: Mapping[str, Any]) -> WiredTenant:
    row = _tuples({"shared_with": [], **raw}, "nics", "shared_with")
    ends = tuple(tuple(require(end, list[str], "nics")) for end in row["nics"])
    return WiredTenant(**{**row, "nics": ends})


def _balance(raw: object) -> WiredBalance:
    """Raises ValueError for words that no simulator knows: another way to spread gives other results."""
    row = require(raw, dict[str, Any], "load_balancing")
    words = {"mode": BalanceMode(row["mode"]), "per": BalanceUnit(row["per"])}
    return checked(WiredBalance(**{**row, **words}), "load_balancing")


def _device(raw: Mapping[str, Any]) -> WiredDevice:
    row = _tuples(
        {"coordinates": [], "loopbacks": [], "management": [], **raw}, "loopbacks", "management", "coordinates"
    )
    return WiredDevice(**_words(row, role=Role, technology=Technology, state=DeviceState))


def _host(raw: Mapping[str, Any]) -> WiredHost:
    row = {**_HOST_DEFAULTS, **raw}
    nics = each(raw, "nics", lambda nic: WiredNic(**_tuples({"addresses": [], **nic}, "addresses")))
    bonds = each({"bonds": [], **raw}, "bonds", lambda bond: WiredBond(**_tuples(bond, "nics")))
    vlans = each(
        {"vlans": [], **raw}, "vlans", lambda vlan: WiredVlan(**_tuples({"addresses": [], **vlan}, "addresses"))
    )
    words = _words(row, nic_settings=NicSettings, rdma_names=RdmaNames)
    return WiredHost(**{**words, "nics": nics, "bonds": bonds, "vlans": vlans})


def _link(raw: Mapping[str, Any]) -> WiredLink:
    return WiredLink(**_words(_tuples(raw, "a", "b"), kind=LinkKind))


def _cable(raw: Mapping[str, Any]) -> WiredCable:
    row = _words(_tuples({"legs": [], **raw}, "links", "legs"), medium=Medium)
    return WiredCable(**{**row, "legs": tuple(tuple(require(leg, list[str], "legs")) for leg in row["legs"])})


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
