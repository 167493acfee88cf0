"""Contexts for the templates, built when a form is first expanded."""

from collections.abc import Iterable, Sequence
from ipaddress import ip_address

from fabricgen.control_plane.bgp import HostSessions
from fabricgen.control_plane.outside import StaticRoute
from fabricgen.control_plane.pairs import PairPlan
from fabricgen.control_plane.srv6 import Srv6Switch
from fabricgen.control_plane.tenants import TenantTable, TenantVrf
from fabricgen.control_plane.vlans import ChannelPlan, VlanPlan
from fabricgen.design.model import Switch
from fabricgen.inventory.management import Management
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.routing import BgpTimers, MaxPrefixes, Srv6Spec
from fabricgen.lossless.plan import PortBuffers
from fabricgen.origin import Origin, Value, value
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.render.build_outside import discard_routes, host_policies, static_routes
from fabricgen.render.contexts import (
    ChannelContext,
    Gateway,
    HostSessionsContext,
    LeakedRouteContext,
    LinkAddress,
    LinkContext,
    LocatorContext,
    ManagementAddress,
    PairContext,
    PlaneContext,
    PortContext,
    Prefix,
    SessionContext,
    Srv6Context,
    SwitchContext,
    TenantContext,
    UsidRouteContext,
    VlanContext,
    VrfContext,
)
from fabricgen.render.forms import Slot
from fabricgen.render.secrets import placeholder
from fabricgen.sonic.device_types import SERVER_TYPE
from fabricgen.sonic.frr_framework import LISTEN_LIMIT
from fabricgen.sonic.hashing import ROCE_HASH_FIELDS
from fabricgen.sonic.vrfs import vlan_of
from fabricgen.vocabulary import BgpAddressing, Isolation

_LOCK = Origin(steps=("allocations.lock.yaml",))
_WIRING = Origin(steps=("the wiring of the design",))


def switch_context(
    switch: Switch,
    inventory: Inventory,
    *,
    loopbacks: Sequence[int],
    aggregates: Sequence[int],
    discards: Sequence[str],
    routes: Sequence[StaticRoute],
    management: Sequence[int],
    mac: bool,
    bgp: bool,
    drained: str,
    vtep: bool,
    roles: Sequence[str],
) -> SwitchContext:
    """The context of a switch with addresses of these IP versions, of each kind.

    `drained` is the source of the state of a drained switch. `roles` are the upper ends of its links, where tiers have
    settings of BGP.
    """
    platform, layout = switch.platform, switch.layout
    plane = inventory.planes[switch.identity.plane]
    unnumbered = plane.bgp == BgpAddressing.UNNUMBERED
    source = switch.spec.source("platform")
    return SwitchContext(
        hostname=Slot("switch.hostname", Origin(inventory="names", steps=_LOCK.steps)),
        asn=Slot("switch.asn", _LOCK) if bgp else None,
        router_id=Slot("switch.router_id", _LOCK) if bgp and unnumbered else None,
        unnumbered=unnumbered,
        loopbacks=_prefixes("switch.loopbacks", loopbacks),
        aggregates=_prefixes("switch.aggregates", aggregates),
        discards=discard_routes(plane, discards),
        statics=static_routes(routes),
        management=tuple(
            ManagementAddress(Slot(f"switch.management.{index}", _LOCK), _gateway(inventory.management, version))
            for index, version in enumerate(management)
        ),
        mac=Slot("switch.mac", Origin(inventory="devices")) if mac else None,
        type=value(switch.device_type, f"the device type of a {switch.role}", inventory=switch.spec.source("type")),
        hwsku=value(layout.hwsku, inventory=source, platform=layout.sources.get("ports", "")),
        platform=value(platform.onie_platform, inventory=source, platform=platform.sources.get("asic", "")),
        buffer_model=value(platform.buffer_model, inventory=source, platform=platform.sources.get("buffer_model", "")),
        ecmp_hash=_ecmp_hash(platform, source),
        weighted=value("true", "link bandwidths by BGP", inventory=plane.balance.source("wcmp"))
        if bgp and plane.balance.weighted
        else None,
        drained=value("true", "the switch is drained", inventory=drained) if bgp and drained else None,
        vtep=vtep,
        groups=tuple({one.name: one for one in (session_context(plane, role) for role in roles or ("",))}.values()),
        restart=_restart(plane, switch.role),
    )


def _ecmp_hash(platform: SwitchPlatform, chosen: str) -> tuple[Value, ...]:
    if not set(ROCE_HASH_FIELDS) <= set(platform.capabilities.get("ecmp_hash_fields", ())):
        return ()
    facts = platform.sources.get("ecmp_hash_fields", "")
    return tuple(
        value(name, "what tells RoCE flows apart", inventory=chosen, platform=facts) for name in ROCE_HASH_FIELDS
    )


def _prefixes(slot: str, versions: Sequence[int]) -> tuple[Prefix, ...]:
    return tuple(
        Prefix(Slot(f"{slot}.{index}", _LOCK), f"ipv{version}_unicast") for index, version in enumerate(versions)
    )


def _gateway(management: Management | None, version: int) -> Value | None:
    for gateway in management.gateways if management else ():
        if management and ip_address(gateway).version == version:
            return value(gateway, inventory=management.source("gateway"))
    return None


def plane_context(plane: Plane) -> PlaneContext:
    """What all switches and ports of a plane have in common."""
    return PlaneContext(session_context(plane, "").session, plane.isolation == Isolation.EVPN)


def session_context(plane: Plane, role: str) -> SessionContext:
    """The sessions of a tier with the tier below, "" for those of tiers without settings.

    Source: sonic-buildimage, instance.conf.j2 of bgpcfgd, and cmn_key_map of frrcfgd.py: fields of a BGP session.
    """
    session: dict[str, Value] = {}
    own = plane.bgp_tiers.get(role)
    name = f"FABRIC_{role.upper()}" if own and own.node.mapping.keys() - {"graceful_restart"} else "FABRIC"
    if (part := plane.bgp_of("bfd", role)).bfd:
        session["bfd"] = value("true", inventory=part.source("bfd"))
    session |= _timers(plane.bgp_of("bgp_timers", role).bgp_timers)
    part = plane.bgp_of("bgp_password", role)
    secret = part.bgp_password
    password = value(placeholder(secret), inventory=part.source("bgp_password")) if secret else None
    return SessionContext(name, session, password, _limits(plane.bgp_of("max_prefixes", role).max_prefixes))


def _restart(plane: Plane, role: str) -> dict[str, Value]:
    graceful = plane.bgp_of("graceful_restart", role).graceful_restart
    if graceful is None:
        return {}
    return {
        "gr_restart_time": value(graceful.restart_s, inventory=graceful.source("restart_s")),
        "gr_stale_routes_time": value(graceful.stale_s, inventory=graceful.source("stale_s")),
        "graceful_restart_enable": value("true", inventory=graceful.source()),
    }


def _timers(timers: BgpTimers | None) -> dict[str, Value]:
    if timers is None:
        return {}
    return {
        "holdtime": value(timers.hold_s, inventory=timers.source("hold_s")),
        "keepalive": value(timers.keepalive_s, inventory=timers.source("keepalive_s")),
    }


def _limits(most: MaxPrefixes | None) -> dict[str, Value]:
    if most is None:
        return {}
    found = {
        "max_prefix_limit": value(most.limit, inventory=most.source("limit")),
        "max_prefix_warning_threshold": value(most.warning_percent, inventory=most.source("warning_percent")),
    }
    if most.warning_only:
        found["max_prefix_warning_only"] = value("true", inventory=most.source("warning_only"))
    elif most.restart_min is not None:
        found["max_prefix_restart_interval"] = value(most.restart_min, inventory=most.source("restart_min"))
    return found


def host_sessions_context(sessions: HostSessions) -> HostSessionsContext:
    """The context of the sessions of a leaf with its hosts; the subnets are slots."""
    spec, plane = sessions.spec, sessions.plane
    numbered = plane.bgp == BgpAddressing.NUMBERED
    addresses = sum(network.size for network in sessions.ranges)
    most = (
        value(addresses, "the addresses of the subnets", inventory=spec.source()) if addresses > LISTEN_LIMIT else None
    )
    return HostSessionsContext(
        name=value(sessions.name, "hosts with BGP", inventory=spec.source()),
        asn=value(spec.asn, inventory=spec.source("asn")),
        ranges=tuple(
            Prefix(Slot(slot, _LOCK), f"ipv{network.version}_unicast")
            for slot, network in zip(host_sessions_slots(sessions), sessions.ranges, strict=True)
        ),
        source=Slot("switch.router_id", _LOCK),
        numbered=numbered,
        policies=() if numbered else host_policies(sessions),
        limits=_limits(spec.max_prefixes),
        timers=_timers(plane.bgp_timers),
        most=most,
    )


def host_sessions_slots(sessions: HostSessions) -> dict[str, str]:
    """What fills the blanks of these sessions on one switch: the subnets of the hosts."""
    name = sessions.name.lower().replace("-", "_")
    return {f"{name}.{index}": str(network) for index, network in enumerate(sessions.ranges)}


def tenant_context(table: TenantTable) -> TenantContext:
    """The context of a table that keeps a tenant from the hosts of others."""
    suffix = "_V6" if table.version == 6 else ""
    name = f"TENANT_{table.tenant.upper()}" if table.tenant else "NO_TENANT"
    words = f"tenant {table.tenant}: no host of others" if table.tenant else "hosts without a tenant: no other host"

    def texts(*steps: str, of: Iterable[str]) -> tuple[Value, ...]:
        return tuple(value(text, *steps, inventory=table.source) for text in of)

    return TenantContext(
        table=value(f"{name}{suffix}", inventory=table.source),
        description=value(words, inventory=table.source),
        type=f"L3{suffix[1:]}",
        field=f"DST_IP{suffix[1:]}",
        ports=texts("the ports of these hosts", of=table.ports),
        permitted=texts("subnets of the tenant", of=table.permitted.of),
        refused=texts("the pool of all hosts of the plane", of=table.refused),
    )


def vrf_context(vrf: TenantVrf) -> VrfContext:
    """The context of the VRF of a tenant."""

    def words(content: str, *steps: str) -> Value:
        return value(content, *steps, inventory=vrf.source)

    shared = "a host of a tenant that shares"
    is_overlay = vrf.vni is not None
    return VrfContext(
        name=words(vrf.name),
        vni=words(str(vrf.vni)) if is_overlay else None,
        vlan=words(str(vlan_of(vrf.vni)), "3000 and the last three digits of the VNI") if vrf.vni is not None else None,
        asn=Slot("switch.asn", _LOCK) if is_overlay else None,
        router_id=Slot("switch.router_id", _LOCK) if is_overlay else None,
        families=tuple(f"ipv{version}" for version in vrf.families),
        ports=tuple(words(port, "the ports of these hosts") for port in vrf.ports),
        leaks=tuple(LeakedRouteContext(*(words(content, shared) for content in leak)) for leak in vrf.leaks),
    )


def srv6_context(spec: Srv6Spec, locators: int, routes: int) -> Srv6Context:
    """The context of a switch with so many locators and routes, whose values are slots."""

    def slots(what: str, number: int, *names: str) -> list[Slot]:
        return [Slot(f"srv6.{what}.{number}.{name}", Origin(inventory=spec.source("block"))) for name in names]

    return Srv6Context(
        locators=tuple(LocatorContext(*slots("locator", one, "name", "prefix", "sid")) for one in range(locators)),
        routes=tuple(UsidRouteContext(*slots("route", one, "prefix", "next_hop", "port")) for one in range(routes)),
        decap_dscp_mode=value(spec.decap_dscp_mode, inventory=spec.source("decap_dscp_mode")),
        counters=value("enable" if spec.counters else "disable", inventory=spec.source("counters")),
    )


def srv6_slots(switch: Srv6Switch) -> dict[str, str]:
    """What fills the blanks of the SRv6 of one switch."""
    found: dict[str, str] = {}
    for what, names, rows in (
        ("locator", ("name", "prefix", "sid"), switch.locators),
        ("route", ("prefix", "next_hop", "port"), switch.hops),
    ):
        for number, row in enumerate(rows):
            found |= {f"srv6.{what}.{number}.{name}": text for name, text in zip(names, row, strict=True)}
    return found


def vlan_context(vlan: VlanPlan) -> VlanContext:
    """The context of a VLAN with these members; its addresses are slots."""
    plane, spec = vlan.plane, vlan.spec
    number = vlan.name.removeprefix("Vlan")
    source, mtu = (
        spec.source("vlan" if vlan.members else "tagged"),
        value(plane.mtu_bytes, inventory=plane.source("mtu")),
    )
    return VlanContext(
        name=value(vlan.name, inventory=source),
        number=value(number, inventory=source),
        mtu=mtu,
        is_listed=plane.bgp == BgpAddressing.UNNUMBERED,
        gateways=tuple(
            Gateway(
                Slot(f"{vlan.name.lower()}.{index}.gateway", _LOCK),
                Slot(f"{vlan.name.lower()}.{index}.subnet", _LOCK),
                f"ipv{gateway.version}_unicast",
            )
            for index, gateway in enumerate(vlan.gateways)
        ),
        members=tuple(value(member, *_WIRING.steps, inventory=spec.source()) for member in vlan.members),
        tagged=tuple(value(member, *_WIRING.steps, inventory=spec.source("tagged")) for member in vlan.tagged),
        channels=tuple(map(channel_context, vlan.channels)),
        dhcp_servers=tuple(value(server, inventory=spec.source("dhcp")) for server in vlan.dhcp),
    )


def channel_context(channel: ChannelPlan) -> ChannelContext:
    """The context of a port channel to a bond; its addresses are slots."""
    spec, name = channel.spec, channel.name
    fallback = value("true", "hosts boot without LACP", inventory=spec.source("fallback"))
    step = "the number of its first port" + (" at the first leaf of the pair" if channel.is_dual else "")
    return ChannelContext(
        name=value(name, step, inventory=spec.source()),
        ports=tuple(value(port, *_WIRING.steps, inventory=spec.source()) for port in channel.ports),
        fallback=fallback if channel.falls_back else None,
        mtu=value(channel.plane.mtu_bytes, inventory=channel.plane.source("mtu")),
        addresses=tuple(Slot(slot, _LOCK) for slot in channel_slots(channel)),
    )


def channel_slots(channel: ChannelPlan) -> dict[str, str]:
    """What fills the blanks of a port channel on one switch: its addresses."""
    return {f"{channel.name.lower()}.{index}": str(address) for index, address in enumerate(channel.addresses)}


def vlan_slots(vlan: VlanPlan) -> dict[str, str]:
    """What fills the blanks of a VLAN on one switch."""
    found = {}
    for index, gateway in enumerate(vlan.gateways):
        found[f"{vlan.name.lower()}.{index}.gateway"] = str(gateway)
        found[f"{vlan.name.lower()}.{index}.subnet"] = str(gateway.cidr)
    return found


def pair_context(pair: PairPlan) -> PairContext:
    """The context of a leaf of a pair; its addresses are slots."""
    source = pair.spec.source()

    def texts(*steps: str, of: Iterable[str]) -> tuple[Value, ...]:
        return tuple(value(text, *steps, inventory=source) for text in of)

    return PairContext(
        domain=value(pair.spec.domain, inventory=pair.spec.source("domain")),
        source=Slot("pair.source", _LOCK),
        peer=Slot("pair.peer", _LOCK),
        channel=value(pair.channel, "the number of its first port at the first leaf", inventory=source),
        ports=texts("the links between the two leaves", of=pair.ports),
        mtu=value(pair.plane.mtu_bytes, inventory=pair.plane.source("mtu")),
        vlans=texts("the VLANs of bonds", of=pair.vlans),
        bonds=texts("the bonds that end at both leaves", of=pair.bonds),
    )


def port_context(
    ports_source: str,
    speed_mbps: int,
    fec: str,
    breakout_mode: str,
    mtu: tuple[int, str],
    wired: bool,
    link_training: tuple[bool, str] | None,
    cordon: str = "",
) -> PortContext:
    """The context of all ports with these facts. `mtu` (bytes) and `link_training` have their inventory source;
    `cordon` is the source of the state of a cordoned link."""
    facts = Origin(platform=ports_source)
    slots = {name: Slot(f"port.{name}", facts) for name in ("name", "lanes", "alias", "index", "subport", "parent")}
    mtu_bytes, mtu_source = mtu
    training, training_source = link_training or (None, "")
    return PortContext(
        **slots,
        description=Slot("port.description", _WIRING) if wired else None,
        speed=Value(speed_mbps, facts),
        fec=Value(fec, facts) if fec else None,
        mtu=value(mtu_bytes, inventory=mtu_source),
        admin_status=_admin_status(wired, cordon),
        breakout_mode=Value(breakout_mode, facts) if breakout_mode else None,
        link_training=None if training is None else value("on" if training else "off", inventory=training_source),
    )


def _admin_status(wired: bool, cordon: str) -> Value:
    if cordon:
        return value("down", "the link is cordoned", inventory=cordon)
    return value("up", "plugged in") if wired else value("down", "nothing is plugged in")


def link_context(
    peer_type: str | None,
    unnumbered: bool,
    families: Sequence[tuple[int, bool]],
    buffers: PortBuffers,
    group: SessionContext,
    *,
    routed: bool = True,
) -> LinkContext:
    """The context of all links with these facts at this end.

    `peer_type` is the device type of a switch, None for a host; `families` are (prefix length, whether a session runs)
    of its addresses. A port that is not `routed` is in a VLAN or a port channel."""
    to_switch = peer_type is not None
    return LinkContext(
        peer=Slot("link.peer", _WIRING),
        peer_port=Slot("link.peer_port", _WIRING),
        peer_type=value(peer_type if to_switch else SERVER_TYPE),
        peer_hwsku=Slot("link.peer_hwsku", _WIRING) if to_switch else None,
        routed=routed,
        unnumbered=to_switch and routed and unnumbered,
        group=group,
        addresses=tuple(
            LinkAddress(
                local=Slot(f"link.addresses.{index}.local", _LOCK),
                length=value(length),
                peer=Slot(f"link.addresses.{index}.peer", _LOCK),
                asn=Slot(f"link.addresses.{index}.asn", _LOCK) if session else None,
            )
            for index, (length, session) in enumerate(families)
        ),
        buffers=buffers,
    )
