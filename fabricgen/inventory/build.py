"""A tree of nodes that conforms to the schema, as the typed model. Defaults are filled in here and nowhere else."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from fabricgen.bundle.wiring import MANAGEMENT_PURPOSES, PURPOSES
from fabricgen.findings import Finding, Related, Severity
from fabricgen.inventory.host_models import build_host_model
from fabricgen.inventory.model import (
    Addressing,
    CableSpec,
    DeviceNote,
    DragonflySpec,
    EcnSpec,
    Gnmi,
    HostGroup,
    InfinibandSpec,
    Inventory,
    LinkSpec,
    LosslessSpec,
    Management,
    OutsideDevice,
    Override,
    Part,
    Plane,
    PoolSpec,
    ScalableUnit,
    Snmp,
    SonicTarget,
    StaticSpec,
    SwitchSpec,
    Tacacs,
    Tier,
    TorusSpec,
    WatchdogSpec,
)
from fabricgen.inventory.nodes import Node, SecretReference
from fabricgen.inventory.profiles import DEFAULT, NONE, with_profile
from fabricgen.units import parse_bytes, parse_length_m, parse_speed_mbps

DEFAULT_RELEASE = 202505
DEFAULT_CNP_DSCP = 48
DEFAULT_GNMI_PORT = 8080
DEFAULT_MTU_BYTES = 9100  # SONiC's own default
DEFAULT_ROCE_MTU_BYTES = 4096
DEFAULT_CABLE_M = {"host-leaf": 5.0, "leaf-spine": 40.0, "spine-core": 40.0, "global": 100.0}
OUTSIDE_CABLE_M = 40.0
ALL = "all"  # instead of a list of prefixes
DEFAULT_VLS = 8  # data VLs that current switches and adapters have
RFC7938_ASNS = (4_200_000_000, 4_294_967_294)  # RFC 6996: the private 4-byte range that RFC 7938 section 5.2.1 uses

# The purpose of a plane whose name is one of these.
PURPOSE_OF_NAME = {**{word: word for word in PURPOSES}, "management": "in-band"}

_EMPTY = Node({}, None)  # type: ignore[arg-type]
_ROLE_LISTS = {"leaf": "leaves", "spine": "spines", "core": "cores"}


def build_inventory(root: Node, findings: list[Finding]) -> Inventory:
    """The model of a conforming tree; what the schema cannot see is added to `findings`."""
    top = root.mapping
    planes = {name: _plane(name, node, top.get("profiles", _EMPTY).mapping) for name, node in _members(top, "planes")}
    notes = [_device(node, index) for index, node in enumerate(_list(root, "devices"))]
    return Inventory(
        node=root,
        path="",
        fabric=_value(root, "fabric", "unnamed"),
        sonic=_sonic(top.get("sonic", Node({}, root.location))),
        platform_files=_texts(root, "platforms"),
        host_models={name: build_host_model(name, node) for name, node in _members(top, "host_models")},
        hosts={
            name: HostGroup(
                node=node, path=f"hosts.{name}", name=name, model=_value(node, "model"), count=_value(node, "count")
            )
            for name, node in _members(top, "hosts")
        },
        planes=planes,
        management=_management(top["management"], findings) if "management" in top else None,
        names={role: str(node.value) for role, node in _members(top, "names")},
        devices=_unique(notes, findings),
        overrides=tuple(_override(node, index) for index, node in enumerate(_list(root, "overrides"))),
        digest=hashlib.sha256(json.dumps(root.plain(), sort_keys=True, default=str).encode()).hexdigest(),
    )


def _sonic(node: Node) -> SonicTarget:
    return SonicTarget(
        node=node,
        path="sonic",
        release=_value(node, "release", DEFAULT_RELEASE),
        base=_value(node, "base", None),
        owned_tables=_texts(node, "owned_tables"),
    )


def _plane(name: str, node: Node, profiles: Mapping[str, Node]) -> Plane:
    path = f"planes.{name}"
    lossless = node.mapping.get("lossless", Node({}, node.location))
    unit = node.mapping.get("scalable_unit")
    purpose = _value(node, "purpose", PURPOSE_OF_NAME.get(name, "compute"))
    default_profile = NONE if purpose in MANAGEMENT_PURPOSES else DEFAULT
    return Plane(
        node=node,
        path=path,
        name=name,
        technology=_value(node, "technology", "roce"),
        purpose=purpose,
        design=_value(node, "design"),
        hosts=_texts(node, "hosts"),
        unit=ScalableUnit(
            node=unit,
            path=f"{path}.scalable_unit",
            hosts=_value(unit, "hosts"),
            planned=_value(unit, "planned", None),
            appliances=_texts(unit, "appliances"),
        )
        if unit
        else None,
        tier_count=_value(node, "tiers", None),
        subplanes=_value(node, "subplanes", None),
        rails_per_leaf=_value(node, "rails_per_leaf", 1),
        leaves_per_unit=_value(node, "leaves_per_unit", 1),
        pod_units=_value(node.mapping["pod"], "units") if "pod" in node.mapping else None,
        tiers={role: _tier(node.mapping[role], f"{path}.{role}") for role in _ROLE_LISTS if role in node.mapping},
        speed_mbps=_speed(node, "speed"),
        uplink_speed_mbps=_speed(node, "uplink_speed"),
        oversubscription=_oversubscription(node),
        cables=_cables(node, path),
        mtu_bytes=_value(node, "mtu", DEFAULT_MTU_BYTES),
        roce_mtu_bytes=_value(node, "roce_mtu", DEFAULT_ROCE_MTU_BYTES),
        lossless=_lossless(with_profile(lossless, profiles, default_profile), f"{path}.lossless"),
        bgp=_value(node, "bgp", "numbered"),
        addressing=_addressing(node.mapping["addressing"], f"{path}.addressing")
        if "addressing" in node.mapping
        else None,
        switches={role: _switches(node, key, path) for role, key in _ROLE_LISTS.items() if key in node.mapping},
        links=tuple(_link(item, f"{path}.links[{index}]") for index, item in enumerate(_list(node, "links"))),
        dragonfly=_dragonfly(node.mapping["dragonfly"], f"{path}.dragonfly", _value(node, "design"))
        if "dragonfly" in node.mapping
        else None,
        torus=_torus(node.mapping["torus"], f"{path}.torus") if "torus" in node.mapping else None,
        infiniband=_infiniband(node.mapping.get("infiniband", Node({}, node.location)), f"{path}.infiniband"),
        external=tuple(
            _outside(item, f"{path}.external[{index}]", "peer") for index, item in enumerate(_list(node, "external"))
        ),
        static=tuple(_static(item, f"{path}.static[{index}]") for index, item in enumerate(_list(node, "static"))),
    )


def _dragonfly(node: Node, path: str, design: str) -> DragonflySpec | None:
    """None where a count that the design needs is missing, which the references report."""
    plus = design == "dragonfly-plus"
    leaves, global_links = _value(node, "leaves" if plus else "switches", None), _value(node, "global_links", None)
    spines = _value(node, "spines", None) if plus else 0
    if leaves is None or global_links is None or spines is None:
        return None
    return DragonflySpec(
        node=node,
        path=path,
        leaves=leaves,
        spines=spines,
        global_links=global_links,
        local_links=_value(node, "local_links", 1),
        arrangement=_value(node, "arrangement", "absolute"),
    )


def _torus(node: Node, path: str) -> TorusSpec | None:
    """None where the size is missing or wrong, which the schema reports."""
    size = tuple(int(str(text)) for text in _texts(node, "size"))
    if not size:
        return None
    each = _value(node, "links", 1)
    links = tuple(map(int, _texts(node, "links"))) or (int(each),) * len(size)
    datelines = tuple(map(int, _texts(node, "datelines"))) or (0,) * len(size)
    return TorusSpec(node=node, path=path, size=size, links=links, datelines=datelines)


def _infiniband(node: Node, path: str) -> InfinibandSpec:
    fields = {"vls": _value(node, "vls", DEFAULT_VLS), "lmc": _value(node, "lmc", 0)}
    return InfinibandSpec(node=node, path=path, engine=_value(node, "engine", None), **fields)


def _tier(node: Node, path: str) -> Tier:
    fields = {key: _value(node, key, None) for key in ("layout", "count", "type")}
    newer = [_newer(item, f"{path}.newer[{index}]") for index, item in enumerate(_list(node, "newer"))]
    return Tier(
        node=node,
        path=path,
        platform=_value(node, "platform"),
        spare_ports=_value(node, "spare_ports", 0),
        newer=tuple(sorted(newer, key=lambda tier: tier.from_unit)),
        **fields,
    )


def _newer(node: Node, path: str) -> Tier:
    platform, layout, unit = (_value(node, key, None) for key in ("platform", "layout", "from_unit"))
    return Tier(node=node, path=path, platform=platform, layout=layout, from_unit=unit)


def _speed(node: Node, key: str) -> int | None:
    text = _value(node, key, None)
    return parse_speed_mbps(text) if text else None


def _oversubscription(node: Node) -> dict[str, float]:
    """By tier; one number is that of the leaves."""
    given = node.mapping.get("oversubscription", _EMPTY)
    leaf = given.value if isinstance(given.value, int | float) else _value(given, "leaf", 1)
    return {"leaf": float(leaf), "spine": float(_value(given, "spine", 1))}


def _cables(node: Node, path: str) -> dict[str, CableSpec]:
    given = node.mapping.get("cables", Node({}, node.location))
    cables = {
        kind: _cable(given.mapping[kind], f"{path}.cables.{kind}")
        if kind in given.mapping
        else CableSpec(node=given, path=f"{path}.cables", length_m=length_m, medium=_medium(length_m))
        for kind, length_m in DEFAULT_CABLE_M.items()
    }
    peer = given.mapping.get("peer")
    return {**cables, "peer": _cable(peer, f"{path}.cables.peer") if peer else cables["leaf-spine"]}


def _cable(node: Node, path: str) -> CableSpec:
    length_m = parse_length_m(str(node.mapping["length"].value if node.mapping else node.value))
    medium = _value(node, "medium", _medium(length_m))
    training = _value(node, "link_training", None)
    return CableSpec(node=node, path=path, length_m=length_m, medium=medium, link_training=training)


def _medium(length_m: float) -> str:
    """Copper to 3 m, multi-mode to 50 m, single mode beyond: the reach of 400G optics."""
    return "dac" if length_m <= 3 else "mmf" if length_m <= 50 else "smf"


def _lossless(node: Node, path: str) -> LosslessSpec:
    ecn = node.mapping.get("ecn", Node({}, node.location))
    watchdog = node.mapping.get("watchdog", Node({}, node.location))
    classes = {
        int(priority): tuple(int(str(dscp.value)) for dscp in member.mapping["dscp"].items)
        for priority, member in _members(node.mapping, "classes")
    }
    return LosslessSpec(
        node=node,
        path=path,
        classes=dict(sorted(classes.items())),
        cnp_dscp=_value(node.mapping.get("cnp", _EMPTY), "dscp", DEFAULT_CNP_DSCP),
        shared_headroom=_value(node, "shared_headroom", None),
        ecn=EcnSpec(
            node=ecn,
            path=f"{path}.ecn",
            min_bytes=_bytes(ecn, "min"),
            max_bytes=_bytes(ecn, "max"),
            probability_percent=_value(ecn, "probability", None),
        ),
        watchdog=WatchdogSpec(
            node=watchdog,
            path=f"{path}.watchdog",
            **{key: _value(watchdog, key, None) for key in ("action", "detection_ms", "restoration_ms", "poll_ms")},
        ),
    )


def _addressing(node: Node, path: str) -> Addressing:
    asn = node.mapping.get("asn", _EMPTY)
    return Addressing(
        node=node,
        path=path,
        **{name: _pool(node.mapping[name], f"{path}.{name}") for name in ("loopbacks", "hosts")},
        links=_pool(node.mapping["links"], f"{path}.links") if "links" in node.mapping else None,
        asn_first=_value(asn, "first", RFC7938_ASNS[0]),
        asn_last=_value(asn, "last", RFC7938_ASNS[1]),
    )


def _pool(node: Node, path: str) -> PoolSpec:
    prefixes = node.mapping.get("prefixes", node)
    texts = [item.value for item in prefixes.items] or [prefixes.value]
    return PoolSpec(node=node, path=path, prefixes=tuple(str(text) for text in texts), reserve=_texts(node, "reserve"))


def _switches(node: Node, key: str, path: str) -> tuple[SwitchSpec, ...]:
    fields = ("platform", "layout", "pod", "su", "rail")
    return tuple(
        SwitchSpec(
            node=item,
            path=f"{path}.{key}[{index}]",
            name=_value(item, "name"),
            **{name: _value(item, name, None) for name in fields},
        )
        for index, item in enumerate(_list(node, key))
    )


def _link(node: Node, path: str) -> LinkSpec:
    a, b = node.items or node.mapping["ends"].items
    cable = _cable(node.mapping["cable"], f"{path}.cable") if "cable" in node.mapping else None
    ends = str(a.value), str(b.value)
    return LinkSpec(node=node, path=path, ends=ends, cable=cable, speed_mbps=_speed(node, "speed"))


def _outside(node: Node, path: str, peer: str) -> OutsideDevice:
    """A device outside; `peer` is the key that has its own addresses."""
    speed, cable = _value(node, "speed", None), node.mapping.get("cable")
    default = CableSpec(node=node, path=path, length_m=OUTSIDE_CABLE_M, medium=_medium(OUTSIDE_CABLE_M))
    return OutsideDevice(
        node=node,
        path=path,
        asn=_value(node, "asn", None),
        **{key: _value(node, key) for key in ("name", "switch", "port")},
        peer_port=_value(node, "peer_port", "outside"),
        addresses=_one_or_more(node, "address"),
        peers=_one_or_more(node, peer),
        accepts=_filter(node, "in"),
        announces=_filter(node, "out"),
        cable=_cable(cable, f"{path}.cable") if cable else default,
        speed_mbps=parse_speed_mbps(speed) if speed else None,
    )


def _static(node: Node, path: str) -> StaticSpec:
    whole = {"name", "switch", "port", "address"} <= node.mapping.keys()
    return StaticSpec(
        node=node,
        path=path,
        prefixes=_one_or_more(node, "prefix"),
        via=_value(node, "via", None),
        device=_outside(node, path, "next_hop") if whole else None,
    )


def _filter(node: Node, key: str) -> tuple[str, ...] | None:
    found = _one_or_more(node, key)
    return None if found == (ALL,) else found


def _one_or_more(node: Node, key: str) -> tuple[str, ...]:
    """A text, or a list of texts."""
    if key not in node.mapping:
        return ()
    return _texts(node, key) or (str(node.mapping[key].value),)


def _management(node: Node, findings: list[Finding]) -> Management:
    snmp = node.mapping.get("snmp")
    return Management(
        node=node,
        path="management",
        addresses=_pool(node.mapping["addresses"], "management.addresses"),
        gateways=_texts(node, "gateway") or (str(_value(node, "gateway")),),
        vrf=_value(node, "vrf", True),
        **{key: _texts(node, key) for key in ("ntp", "syslog", "dns", "allow")},
        snmp=_snmp(snmp, findings) if snmp else None,
        tacacs=_tacacs(node.mapping["tacacs"], findings) if "tacacs" in node.mapping else None,
        gnmi=_gnmi(node.mapping["gnmi"]) if "gnmi" in node.mapping else None,
    )


def _tacacs(node: Node, findings: list[Finding]) -> Tacacs:
    key = _secret(node, "key", "management.tacacs", findings)
    return Tacacs(node=node, path="management.tacacs", servers=_texts(node, "servers"), key=key)


def _gnmi(node: Node) -> Gnmi:
    return Gnmi(node=node, path="management.gnmi", port=_value(node, "port", DEFAULT_GNMI_PORT))


def _secret(node: Node, key: str, path: str, findings: list[Finding]) -> SecretReference | None:
    """A member that must be a reference; a literal secret is a finding, and is not kept."""
    secret = _value(node, key, None)
    if secret is None or isinstance(secret, SecretReference):
        return secret
    findings.append(literal_secret(f"{path}.{key}", node.mapping[key]))
    return None


def _snmp(node: Node, findings: list[Finding]) -> Snmp:
    community = _secret(node, "community", "management.snmp", findings)
    location, contact = (_value(node, key, None) for key in ("location", "contact"))
    return Snmp(node=node, path="management.snmp", community=community, location=location, contact=contact)


def literal_secret(path: str, node: Node) -> Finding:
    """A secret that stands in the inventory as it is. The finding does not show it."""
    return Finding(
        "FG108", Severity.ERROR, f"{path} holds a literal secret", path=path, location=node.location,
        hint=f"refer to it: `{path.rsplit('.', 1)[-1]}: !secret path/of/the/secret`, and change the secret itself",
    )  # fmt: skip


def _device(node: Node, index: int) -> DeviceNote:
    fields = {key: _value(node, key) for key in node.mapping if key != "unit"}
    return DeviceNote(node=node, path=f"devices[{index}]", unit=str(_value(node, "unit", "")), **fields)


def _unique(notes: list[DeviceNote], findings: list[Finding]) -> tuple[DeviceNote, ...]:
    kept: dict[str, DeviceNote] = {}
    for note in notes:
        if note.name in kept:
            findings.append(name_twice(note.name, note, kept[note.name]))
        kept.setdefault(note.name, note)
    return tuple(kept.values())


def name_twice(name: str, second: Part, first: Part) -> Finding:
    """Two things of one name."""
    return Finding(
        "FG102", Severity.ERROR, f"the name {name!r} is given twice", path=second.path, location=second.at("name"),
        related=(Related("the first one", first.at("name")),), hint="rename or remove one of the two",
    )  # fmt: skip


def _override(node: Node, index: int) -> Override:
    match = {key: child.value for key, child in _members(node.mapping, "match")}
    config: Any = node.mapping["config_db"].plain()
    return Override(node=node, path=f"overrides[{index}]", match=match, config_db=config)


def _members(mapping: Mapping[str, Node], key: str) -> list[tuple[str, Node]]:
    return sorted(mapping[key].mapping.items()) if key in mapping else []


def _list(node: Node, key: str) -> list[Node]:
    return node.mapping[key].items if key in node.mapping else []


def _texts(node: Node, key: str) -> tuple[str, ...]:
    return tuple(str(item.value) for item in _list(node, key))


_REQUIRED: Any = object()


def _value(node: Node, key: str, default: Any = _REQUIRED) -> Any:
    """A scalar member; its type is what the schema says. Raises KeyError for a required one that is not there."""
    if key in node.mapping or default is _REQUIRED:
        return node.mapping[key].value
    return default


def _bytes(node: Node, key: str) -> int | None:
    value = _value(node, key, None)
    return None if value is None else value if isinstance(value, int) else parse_bytes(value)
