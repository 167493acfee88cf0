"""One plane of a valid tree, as the typed model, with its defaults."""

from collections.abc import Mapping

from fabricgen.bundle.wiring import MANAGEMENT_PURPOSES
from fabricgen.inventory.build_infiniband import build_infiniband, build_partitions
from fabricgen.inventory.build_outside import build_outside, build_static
from fabricgen.inventory.build_parts import build_cable, build_pool, medium_for
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.plane import (
    Addressing,
    Arrangement,
    BalanceSpec,
    CableSpec,
    DragonflySpec,
    EcnSpec,
    LinkSpec,
    LosslessSpec,
    Plane,
    ScalableUnit,
    SwitchSpec,
    Tier,
    TorusSpec,
    TrimmingSpec,
    WatchdogSpec,
)
from fabricgen.inventory.profiles import DEFAULT, NONE, with_profile
from fabricgen.physics import DEFAULT_MTU_BYTES, DEFAULT_ROCE_MTU_BYTES
from fabricgen.units import parse_bytes, parse_speed_mbps
from fabricgen.vocabulary import (
    BalanceMode,
    BalanceUnit,
    BgpAddressing,
    LinkKind,
    Purpose,
    Role,
    Technology,
    WatchdogAction,
)

DEFAULT_CNP_DSCP = 48
DEFAULT_TRIMMED_BYTES = 256  # the least size of Spectrum-4: headers of RoCE v2 over IPv6 fit
DEFAULT_CABLE_M: Mapping[LinkKind, float] = {
    LinkKind.HOST_LEAF: 5.0, LinkKind.LEAF_SPINE: 40.0, LinkKind.SPINE_CORE: 40.0, LinkKind.GLOBAL: 100.0
}  # fmt: skip
DEFAULT_FLOWLET_GAP_US = 256  # SONiC HLD doc/ARS: flowlet_idle_time of ARS_OBJECT
# Adaptive routing of NVIDIA's switches selects per packet; flowlets are what Broadcom's dynamic load balancing adds.
UNIT_OF_MODE: Mapping[BalanceMode, BalanceUnit] = {
    BalanceMode.FLOWLET: BalanceUnit.FLOWLET, BalanceMode.ADAPTIVE: BalanceUnit.PACKET,
    BalanceMode.SPRAY: BalanceUnit.PACKET,
}  # fmt: skip
RFC7938_ASNS = (4_200_000_000, 4_294_967_294)  # RFC 6996: the private 4-byte range of RFC 7938 section 5.2.1

# The default purpose of a plane, by its name.
PURPOSE_OF_NAME: Mapping[str, Purpose] = {**{word.value: word for word in Purpose}, "management": Purpose.IN_BAND}

_ROLE_LISTS = {Role.LEAF: "leaves", Role.SPINE: "spines", Role.CORE: "cores"}


def build_plane(name: str, node: Node, profiles: Mapping[str, Node]) -> Plane:
    path = f"planes.{name}"
    lossless = node.part("lossless")
    unit = node.mapping.get("scalable_unit")
    purpose = Purpose(node.scalar("purpose", PURPOSE_OF_NAME.get(name, Purpose.COMPUTE)))
    default_profile = NONE if purpose in MANAGEMENT_PURPOSES else DEFAULT
    return Plane(
        node=node,
        path=path,
        name=name,
        technology=Technology(node.scalar("technology", Technology.ROCE)),
        purpose=purpose,
        design=node.scalar("design"),
        hosts=node.texts("hosts"),
        unit=ScalableUnit(
            node=unit,
            path=f"{path}.scalable_unit",
            hosts=unit.scalar("hosts"),
            planned=unit.scalar("planned"),
            appliances=unit.texts("appliances"),
            places={name: count.value for name, count in unit.part("places").mapping.items()},  # type: ignore[misc]
        )
        if unit
        else None,
        tier_count=node.scalar("tiers"),
        subplanes=node.scalar("subplanes"),
        rails_per_leaf=node.scalar("rails_per_leaf", 1),
        leaves_per_unit=node.scalar("leaves_per_unit", 1),
        pod_units=node.part("pod").scalar("units"),
        tiers={role: _tier(node.mapping[role], f"{path}.{role}") for role in _ROLE_LISTS if role in node.mapping},
        speed_mbps=_speed(node, "speed"),
        uplink_speed_mbps=_speed(node, "uplink_speed"),
        oversubscription=_oversubscription(node),
        cables=_cables(node, path),
        mtu_bytes=node.scalar("mtu", DEFAULT_MTU_BYTES),
        roce_mtu_bytes=node.scalar("roce_mtu", DEFAULT_ROCE_MTU_BYTES),
        lossless=_lossless(with_profile(lossless, profiles, default_profile), f"{path}.lossless"),
        balance=_balance(node.part("load_balancing"), f"{path}.load_balancing"),
        bgp=BgpAddressing(node.scalar("bgp", BgpAddressing.NUMBERED)),
        addressing=_addressing(node.mapping["addressing"], f"{path}.addressing")
        if "addressing" in node.mapping
        else None,
        switches={role: _switches(node, key, path) for role, key in _ROLE_LISTS.items() if key in node.mapping},
        links=tuple(_link(item, f"{path}.links[{index}]") for index, item in enumerate(node.list_of("links"))),
        dragonfly=_dragonfly(node.mapping["dragonfly"], f"{path}.dragonfly", node.scalar("design"))
        if "dragonfly" in node.mapping
        else None,
        torus=_torus(node.mapping["torus"], f"{path}.torus") if "torus" in node.mapping else None,
        infiniband=build_infiniband(node.part("infiniband"), f"{path}.infiniband"),
        partitions=build_partitions(node, path),
        trimming=_trimming(node.mapping["trimming"], f"{path}.trimming") if "trimming" in node.mapping else None,
        queue_pairs=node.scalar("queue_pairs"),
        external=tuple(
            build_outside(item, f"{path}.external[{index}]", "peer")
            for index, item in enumerate(node.list_of("external"))
        ),
        static=tuple(
            build_static(item, f"{path}.static[{index}]") for index, item in enumerate(node.list_of("static"))
        ),
    )


def _dragonfly(node: Node, path: str, design: str) -> DragonflySpec | None:
    """None if a count that the design needs is missing; other checks report it."""
    plus = design == "dragonfly-plus"
    leaves, global_links = node.scalar("leaves" if plus else "switches", None), node.scalar("global_links")
    spines = node.scalar("spines") if plus else 0
    if leaves is None or global_links is None or spines is None:
        return None
    return DragonflySpec(
        node=node,
        path=path,
        leaves=leaves,
        spines=spines,
        global_links=global_links,
        local_links=node.scalar("local_links", 1),
        arrangement=Arrangement(node.scalar("arrangement", Arrangement.ABSOLUTE)),
    )


def _torus(node: Node, path: str) -> TorusSpec | None:
    """None if the size is missing or wrong; the schema check reports it."""
    size = tuple(int(str(text)) for text in node.texts("size"))
    if not size:
        return None
    each = node.scalar("links", 1)
    links = tuple(map(int, node.texts("links"))) or (int(each),) * len(size)
    datelines = tuple(map(int, node.texts("datelines"))) or (0,) * len(size)
    return TorusSpec(node=node, path=path, size=size, links=links, datelines=datelines)


def _tier(node: Node, path: str) -> Tier:
    fields = {key: node.scalar(key) for key in ("layout", "count", "type")}
    spare = node.scalar("spare_ports", 0)
    newer = [_newer(item, f"{path}.newer[{index}]", spare) for index, item in enumerate(node.list_of("newer"))]
    return Tier(
        node=node,
        path=path,
        platform=node.scalar("platform"),
        spare_ports=spare,
        newer=tuple(sorted(newer, key=lambda tier: tier.from_unit)),
        ports=node.text_mapping("ports"),
        **fields,
    )


def _newer(node: Node, path: str, spare_ports: int) -> Tier:
    platform, layout, unit = (node.scalar(key) for key in ("platform", "layout", "from_unit"))
    return Tier(
        node=node,
        path=path,
        platform=platform,
        layout=layout,
        spare_ports=spare_ports,
        from_unit=unit,
        ports=node.text_mapping("ports"),
    )


def _speed(node: Node, key: str) -> int | None:
    text = node.scalar(key)
    return parse_speed_mbps(text) if text else None


def _oversubscription(node: Node) -> dict[Role, float]:
    """Role -> ratio; a single number applies to the leaves."""
    given = node.part("oversubscription")
    leaf = given.value if isinstance(given.value, int | float) else given.scalar("leaf", 1)
    return {Role.LEAF: float(leaf), Role.SPINE: float(given.scalar("spine", 1))}


def _cables(node: Node, path: str) -> dict[LinkKind, CableSpec]:
    given = node.part("cables")
    below, above = _speed(node, "speed"), _speed(node, "uplink_speed") or _speed(node, "speed")
    speeds = {kind: below if kind == LinkKind.HOST_LEAF else above for kind in DEFAULT_CABLE_M}
    cables = {
        kind: build_cable(given.mapping[kind], f"{path}.cables.{kind}", speeds[kind])
        if kind in given.mapping
        else CableSpec(node=given, path=f"{path}.cables", length_m=length_m, medium=medium_for(length_m, speeds[kind]))
        for kind, length_m in DEFAULT_CABLE_M.items()
    }
    peer = given.mapping.get("peer")
    return {**cables, LinkKind.PEER: build_cable(peer, f"{path}.cables.peer") if peer else cables[LinkKind.LEAF_SPINE]}


def _lossless(node: Node, path: str) -> LosslessSpec:
    ecn = node.part("ecn")
    watchdog = node.part("watchdog")
    classes = {
        int(priority): tuple(int(str(dscp.value)) for dscp in member.mapping["dscp"].items)
        for priority, member in node.members("classes")
    }
    return LosslessSpec(
        node=node,
        path=path,
        classes=dict(sorted(classes.items())),
        cnp_dscp=node.part("cnp").scalar("dscp", DEFAULT_CNP_DSCP),
        shared_headroom=node.scalar("shared_headroom"),
        ecn=EcnSpec(
            node=ecn,
            path=f"{path}.ecn",
            min_bytes=_bytes(ecn, "min"),
            max_bytes=_bytes(ecn, "max"),
            probability_percent=ecn.scalar("probability"),
        ),
        watchdog=WatchdogSpec(
            node=watchdog,
            path=f"{path}.watchdog",
            action=WatchdogAction(watchdog.scalar("action")) if "action" in watchdog.mapping else None,
            **{key: watchdog.scalar(key) for key in ("detection_ms", "restoration_ms", "poll_ms")},
        ),
    )


def _trimming(node: Node, path: str) -> TrimmingSpec:
    size = node.scalar("size", DEFAULT_TRIMMED_BYTES)
    return TrimmingSpec(node=node, path=path, dscp=node.scalar("dscp"), size_bytes=size)


def _balance(node: Node, path: str) -> BalanceSpec:
    given = node.scalar("mode") if node.mapping else node.value
    mode = BalanceMode(str(given or BalanceMode.ECMP))
    unit = UNIT_OF_MODE.get(mode)
    if mode == BalanceMode.ADAPTIVE:
        unit = BalanceUnit(node.scalar("per", unit))
    gap_us = node.scalar("flowlet_gap_us", DEFAULT_FLOWLET_GAP_US) if unit == BalanceUnit.FLOWLET else None
    return BalanceSpec(
        node=node,
        path=path,
        mode=mode,
        unit=unit,
        flowlet_gap_us=gap_us,
        weighted=node.scalar("wcmp", False),
        by_platform="configured_by" in node.mapping,
    )


def _addressing(node: Node, path: str) -> Addressing:
    asn = node.part("asn")
    return Addressing(
        node=node,
        path=path,
        **{name: build_pool(node.mapping[name], f"{path}.{name}") for name in ("loopbacks", "hosts")},
        links=build_pool(node.mapping["links"], f"{path}.links") if "links" in node.mapping else None,
        asn_first=asn.scalar("first", RFC7938_ASNS[0]),
        asn_last=asn.scalar("last", RFC7938_ASNS[1]),
    )


def _switches(node: Node, key: str, path: str) -> tuple[SwitchSpec, ...]:
    fields = ("platform", "layout", "pod", "su", "rail")
    return tuple(
        SwitchSpec(
            node=item,
            path=f"{path}.{key}[{index}]",
            name=item.scalar("name"),
            ports=item.text_mapping("ports"),
            **{name: item.scalar(name) for name in fields},
        )
        for index, item in enumerate(node.list_of(key))
    )


def _link(node: Node, path: str) -> LinkSpec:
    a, b = node.items or node.mapping["ends"].items
    cable = build_cable(node.mapping["cable"], f"{path}.cable") if "cable" in node.mapping else None
    ends = str(a.value), str(b.value)
    return LinkSpec(node=node, path=path, ends=ends, cable=cable, speed_mbps=_speed(node, "speed"))


def _bytes(node: Node, key: str) -> int | None:
    value = node.scalar(key)
    return None if value is None else value if isinstance(value, int) else parse_bytes(value)
