"""fabric.json: the wiring that was meant. Devices, ports, links, cables with true lengths, hosts, planes.

One JSON object; every list holds one item per line, so that a change reads well in a pull request.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

FORMAT_VERSION = "1"

# What a plane is for. The last two carry management traffic, which must never pause or be paused.
PURPOSES = ("compute", "storage", "in-band", "out-of-band")
MANAGEMENT_PURPOSES = ("in-band", "out-of-band")

Endpoint = tuple[str, str]  # (switch, EthernetN) or (host, NIC)


@dataclass(frozen=True, slots=True)
class WiredDevice:
    """A switch. `identity` never changes over a rename or a replacement."""

    name: str
    identity: str
    plane: str
    role: str  # leaf | spine | core
    platform: str
    layout: str
    hwsku: str
    technology: str = "roce"
    subplane: int | None = None  # of several copies of a plane that share no switch
    pod: int | None = None
    su: int | None = None
    rail: int | None = None
    rack: str = ""
    unit: str = ""
    serial: str = ""
    state: str = "active"  # planned | active | drained | failed
    loopbacks: tuple[str, ...] = ()  # addresses of Loopback0 that it was given
    management: tuple[str, ...] = ()  # addresses of eth0, with prefix length
    node_guid: str = ""  # of an InfiniBand switch: 0x and 16 hex digits


@dataclass(frozen=True, slots=True)
class WiredLink:
    """A logical link. `a` is the lower end: the host of a host link, the device outside of an external one, else the
    switch nearer to the hosts."""

    id: str
    plane: str
    kind: str  # host-leaf | leaf-spine | spine-core | peer | global | external
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
    medium: str
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WiredNic:
    """One NIC port of a host: what it is plugged into is the link that names it."""

    name: str
    plane: str
    rail: int | None
    speed_mbps: int
    addresses: tuple[str, ...] = ()
    node_guid: str = ""  # of an InfiniBand adapter, as is `port_guid`
    port_guid: str = ""


@dataclass(frozen=True, slots=True)
class WiredHost:
    """A host with its NICs."""

    name: str
    group: str
    model: str
    nics: tuple[WiredNic, ...]


@dataclass(frozen=True, slots=True)
class WiredAdapter:
    """One NIC port of a host model. `pci` and `rdma` are "" where they differ by machine."""

    name: str
    model: str
    pci: str
    rdma: str
    gpu: int | None


@dataclass(frozen=True, slots=True)
class WiredModel:
    """A host model: what all hosts of it have in common."""

    name: str
    vendor: str
    gpus: int
    nics: tuple[WiredAdapter, ...]


@dataclass(frozen=True, slots=True)
class WiredExternal:
    """One port of a device outside the fabric. `asn` is None where no session runs; `addresses` are its own."""

    name: str
    port: str
    plane: str
    asn: int | None
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WiredPlane:
    """A plane and what its traffic needs: the lossless priorities, the DSCP values of the RoCE classes and of CNPs."""

    name: str
    technology: str
    design: str
    lossless: tuple[int, ...] = ()
    roce_dscp: Mapping[str, tuple[int, ...]] | None = None  # priority -> DSCP values
    cnp_dscp: int | None = None
    roce_mtu: int | None = None
    purpose: str = ""  # one of PURPOSES; "" in files of a version that did not tell
    host_prefixes: tuple[str, ...] = ()  # the pools of its hosts' addresses

    @property
    def is_management(self) -> bool:
        """Whether the plane is for management traffic."""
        return self.purpose in MANAGEMENT_PURPOSES


@dataclass(frozen=True, slots=True)
class WiredPlaceholders:
    """How many GUIDs of an InfiniBand plane were made up for design work: such a plane cannot be deployed."""

    plane: str
    switches: int
    adapters: int


@dataclass(frozen=True, slots=True)
class MaintenanceSet:
    """Switches and links, by shell patterns of their names, that are taken out of service together."""

    name: str
    switches: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checks:
    """What `check` shall do beyond the usual: failures at once to go through, whether switches fail, too, and whether
    struck switches repair by themselves ("local") or not ("none")."""

    failures: int = 1
    switch_failures: bool = False
    repair: str = "none"
    maintenance: tuple[MaintenanceSet, ...] = ()


@dataclass(frozen=True)
class Wiring:
    """All of fabric.json."""

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
        """The planes whose switches have no file: subnet managers run them."""
        return frozenset(plane.name for plane in self.planes if plane.technology == "infiniband")


def dump_listing(head: Mapping[str, object], lists: Mapping[str, Iterable[object]]) -> bytes:
    """A JSON object of scalars and lists, one list item per line."""
    parts = [b"  %s: %s" % (orjson.dumps(key), orjson.dumps(value)) for key, value in head.items()]
    for key, items in lists.items():
        lines = b",\n".join(b"    " + orjson.dumps(item) for item in items)
        parts.append(b"  %s: [\n%s\n  ]" % (orjson.dumps(key), lines) if lines else b"  %s: []" % orjson.dumps(key))
    return b"{\n" + b",\n".join(parts) + b"\n}\n"


def dump_wiring(wiring: Wiring) -> bytes:
    """The bytes of fabric.json."""
    lists = {name: getattr(wiring, name) for name in ("planes", "devices", "hosts", "links", "cables")}
    lists |= {name: items for name in ("host_models", "externals", "placeholders") if (items := getattr(wiring, name))}
    head: dict[str, object] = {"format_version": FORMAT_VERSION, "fabric": wiring.fabric}
    if wiring.checks != Checks():
        head["checks"] = wiring.checks
    return dump_listing(head, lists)


def load_wiring(text: bytes) -> Wiring:
    """fabric.json back to `Wiring`. Raises ValueError or KeyError when it is none."""
    raw = orjson.loads(text)
    if not isinstance(raw, dict):
        raise ValueError("no JSON object")
    if (found := raw.get("format_version")) != FORMAT_VERSION:
        raise ValueError(f"fabric.json has format_version {found!r}, this fabricgen reads {FORMAT_VERSION!r}")
    return Wiring(
        fabric=raw["fabric"],
        planes=tuple(
            WiredPlane(**_tuples({"host_prefixes": (), **plane}, "lossless", "host_prefixes"))
            for plane in raw["planes"]
        ),
        devices=tuple(WiredDevice(**_tuples(device, "loopbacks", "management")) for device in raw["devices"]),
        hosts=tuple(
            WiredHost(**{**host, "nics": tuple(WiredNic(**_tuples(nic, "addresses")) for nic in host["nics"])})
            for host in raw["hosts"]
        ),
        links=tuple(WiredLink(**_tuples(link, "a", "b")) for link in raw["links"]),
        cables=tuple(WiredCable(**_tuples(cable, "links")) for cable in raw["cables"]),
        externals=tuple(WiredExternal(**_tuples(one, "addresses")) for one in raw.get("externals", ())),
        host_models=tuple(
            WiredModel(**{**one, "nics": tuple(WiredAdapter(**nic) for nic in one["nics"])})
            for one in raw.get("host_models", ())
        ),
        placeholders=tuple(WiredPlaceholders(**one) for one in raw.get("placeholders", ())),
        checks=_checks(raw.get("checks", {})),
    )


def _checks(raw: Mapping[str, Any]) -> Checks:
    sets = tuple(MaintenanceSet(**_tuples(one, "switches", "links")) for one in raw.get("maintenance", ()))
    return Checks(**{**raw, "maintenance": sets})


def _tuples(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {**row, **{name: tuple(row[name]) for name in names}}
