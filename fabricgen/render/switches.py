"""The config_db.json of every switch: forms that switches and ports share, stamped with the values of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_interface
from typing import NamedTuple

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.bgp import ControlPlane, HostSessions, LinkEnd
from fabricgen.control_plane.cordons import Cordons
from fabricgen.control_plane.outside import OutsideLink, StaticRoute
from fabricgen.control_plane.pairs import PairPlan
from fabricgen.control_plane.srv6 import Srv6Switch
from fabricgen.control_plane.tenants import TenantPlan, TenantTable, TenantVrf
from fabricgen.control_plane.vlans import ChannelPlan, VlanPlan
from fabricgen.design.model import Fabric, Switch
from fabricgen.inventory.access import HostBgp, MclagSpec, PortAccess
from fabricgen.inventory.outside import discards
from fabricgen.inventory.routing import Srv6Spec
from fabricgen.lossless.plan import LosslessPlan, LosslessPlanner, PortBuffers
from fabricgen.platforms.model import Layout, PlatformPort, SwitchPlatform
from fabricgen.render.build_contexts import (
    channel_context,
    channel_slots,
    host_sessions_context,
    host_sessions_slots,
    link_context,
    pair_context,
    plane_context,
    port_context,
    session_context,
    srv6_context,
    srv6_slots,
    switch_context,
    tenant_context,
    vlan_context,
    vlan_slots,
    vrf_context,
)
from fabricgen.render.build_management import management_context
from fabricgen.render.build_outside import outside_context
from fabricgen.render.context import Context
from fabricgen.render.contexts import ManagementContext, PlaneContext, SonicContext
from fabricgen.render.formed import FormedSwitch, Slots, fixed_slots, own_slots
from fabricgen.render.forms import Tables
from fabricgen.render.templates import TemplateLibrary
from fabricgen.same import Same
from fabricgen.vocabulary import BgpAddressing, DeviceState

DEVICE_TEMPLATES = ("switch.json.j2", "bgp.json.j2", "management.json.j2", "qos.json.j2", "buffers.json.j2")
PORT_TEMPLATE = "port.json.j2"
LINK_TEMPLATE = "link.json.j2"
OUTSIDE_TEMPLATE = "outside.json.j2"
TENANT_TEMPLATE = "tenant.json.j2"
VRF_TEMPLATE = "vrf.json.j2"
VLAN_TEMPLATE = "vlan.json.j2"
BOND_TEMPLATE = "bond.json.j2"
PAIR_TEMPLATE = "mclag.json.j2"
HOSTS_TEMPLATE = "hosts.json.j2"
SRV6_TEMPLATE = "srv6.json.j2"


@dataclass
class RenderedSwitch:
    """A switch's tables and the forms that made them: those of the switch, and each port form with its ports."""

    name: str
    tables: Tables = field(default_factory=dict)
    forms: Sequence[int] = ()
    port_forms: Mapping[int, Sequence[str]] = field(default_factory=dict)


class _SwitchKind(NamedTuple):
    """All that the templates can see of a switch, except for what fills blanks. Objects stand for themselves."""

    plan: LosslessPlan
    spec: Same[object]
    platform: Same[SwitchPlatform]
    layout: Same[Layout]
    role: str
    device_type: str
    plane: str
    loopbacks: tuple[int, ...]  # IP versions, as those below
    aggregates: tuple[int, ...]
    management: tuple[int, ...]
    discards: tuple[str, ...]
    routes: tuple[tuple[str, str, str, Same[object]], ...]  # prefix, next hop, port, entry of the inventory
    mac: bool
    bgp: bool
    drained: str
    vtep: bool
    roles: tuple[str, ...]  # of the upper ends of its links, where tiers have settings of BGP


class _LinkKind(NamedTuple):
    """All that the templates can see of a link, except for what fills blanks."""

    peer_type: str | None
    families: tuple[tuple[int, bool], ...]
    buffers: PortBuffers
    routed: bool
    tier: str  # of the upper end, where tiers have settings of BGP


class _VlanKind(NamedTuple):
    """All that the template can see of a VLAN, except for what fills blanks."""

    name: str
    plane: str
    versions: tuple[int, ...]
    members: tuple[str, ...]
    tagged: tuple[str, ...]
    channels: tuple[tuple[str, tuple[str, ...], bool], ...]
    dhcp: tuple[str, ...]
    spec: Same[PortAccess]


class _ChannelKind(NamedTuple):
    """All that the template can see of a port channel with addresses, except for what fills blanks."""

    name: str
    plane: str
    ports: tuple[str, ...]
    versions: tuple[int, ...]
    spec: Same[PortAccess]


class _PairKind(NamedTuple):
    """All that the template can see of a leaf of a pair, except for what fills blanks."""

    channel: str
    ports: tuple[str, ...]
    vlans: tuple[str, ...]
    bonds: tuple[str, ...]
    plane: str
    spec: Same[MclagSpec]


class _Srv6Kind(NamedTuple):
    """All that the template can see of the SRv6 of a switch, except for what fills blanks."""

    locators: int
    routes: int
    spec: Same[Srv6Spec]


class _PortKind(NamedTuple):
    """All that the templates can see of a port, except for what fills blanks."""

    plan: LosslessPlan
    plane: str
    source: str
    speed_mbps: int
    fec: str
    breakout_mode: str
    wired: bool
    link_training: tuple[bool, str] | None
    cordon: str
    link: _LinkKind | str | None  # the identity of a link to an external device


class _SessionsKind(NamedTuple):
    """All that the template can see of sessions with hosts, except for what fills blanks."""

    name: str
    plane: str
    ranges: tuple[tuple[int, int], ...]  # IP version and length
    spec: Same[HostBgp]


_Kind = (
    _SwitchKind | _PortKind | _VlanKind | _ChannelKind | _PairKind | _SessionsKind | _Srv6Kind | TenantTable | TenantVrf
)


def _far_fec(end: LinkEnd | None) -> str:
    """The FEC of the switch at the far end: a port whose SKU names none gets it, because both ends need the same."""
    return end.peer_switch.layout.port_by_name[end.peer_port].fec if end and end.peer_switch else ""


@dataclass
class SwitchRenderer:
    """Renders the switches of one fabric, one at a time and in any order."""

    fabric: Fabric
    allocation: Allocation
    control: ControlPlane
    planner: LosslessPlanner
    library: TemplateLibrary
    cordons: Cordons = field(default_factory=dict)
    tenants: TenantPlan = field(default_factory=TenantPlan)
    srv6: Mapping[str, Srv6Switch] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Most switches and ports are of the same few kinds. Contexts are made from the kind, so that is the whole key.
        self._known: dict[_Kind, tuple[int, ...]] = {}
        self._fixed: dict[Same[Layout], list[Slots]] = {}

    def render(self, switch: Switch) -> RenderedSwitch | None:
        """The tables of a switch; None where the planner has reported why it has no plan."""
        formed = self.formed(switch)
        return self.stamped(formed) if formed else None

    def stamped(self, formed: FormedSwitch) -> RenderedSwitch:
        """The tables of a switch from its forms. Raises TemplateProblemError where two of them disagree about a row."""
        rendered = RenderedSwitch(formed.name, {}, formed.forms, formed.port_forms)
        stamp, name = self.library.stamp, formed.name
        for form in formed.forms:
            stamp(form, rendered.tables, formed.slots, name)
        for forms, fixed, own in zip(formed.forms_of_ports, formed.fixed, formed.own, strict=True):
            slots = {**fixed, **own}
            for form in forms:
                stamp(form, rendered.tables, slots, name)
        return rendered

    def formed(self, switch: Switch) -> FormedSwitch | None:
        """The forms of a switch, expanded where it is the first that needs one. None as `render`."""
        plan = self.planner.plan(switch)
        if plan is None:
            return None
        layout, ends = switch.layout, self.control.ends[switch.key]
        slots, forms = self._device(switch, plan)
        fixed = self._fixed.get(Same(layout))
        if fixed is None:
            fixed = self._fixed[Same(layout)] = list(map(fixed_slots, layout.ports))
        of_ports, own = [], []
        for port in layout.ports:
            end = ends.get(port.name)
            kind = self._kind(switch, port, end, plan)
            known = self._known.get(kind)
            if known is None:
                known = self._known[kind] = self._expand_port(kind, end, slots["switch.hostname"])
            of_ports.append(known)
            own.append(own_slots(end))
        return FormedSwitch(slots["switch.hostname"], layout, forms, tuple(of_ports), slots, fixed, own)

    def _device(self, switch: Switch, plan: LosslessPlan) -> tuple[Slots, tuple[int, ...]]:
        """What fills the blanks of a switch's own forms, and these forms."""
        allocation, key = self.allocation, switch.key
        note = allocation.notes.get(key)
        mac = note.mac.lower() if note else ""
        lists = {
            "loopbacks": [str(ip_interface(text)) for text in allocation.loopbacks.get(key, ())],
            "aggregates": list(self.control.host_aggregates.get(key, ())),
            "management": list(allocation.management.get(key, ())),
        }
        slots = {
            "switch.hostname": allocation.names[key],
            "switch.mac": mac,
            "switch.asn": str(self.control.asns.get(key)),
            "switch.router_id": self.control.router_ids.get(key, ""),
        }
        for name, texts in lists.items():
            slots |= {f"switch.{name}.{index}": text for index, text in enumerate(texts)}
        routes = self.control.outside.routes.get(key, ())
        announced = {*lists["aggregates"], *(route.prefix for route in routes)}
        kept = [prefix for prefix in self._discards[switch.identity.plane] if prefix not in announced]
        versions = {name: tuple([6 if ":" in text else 4 for text in texts]) for name, texts in lists.items()}
        kind = _SwitchKind(
            plan,
            Same(switch.spec),
            Same(switch.platform),
            Same(switch.layout),
            switch.role,
            switch.device_type,
            switch.identity.plane,
            versions["loopbacks"],
            versions["aggregates"],
            versions["management"],
            tuple(kept),
            tuple([(one.prefix, one.next_hop, one.port, Same(one.spec)) for one in routes]),
            bool(mac),
            key in self.control.asns,
            self._drained(key),
            key in self.tenants.vteps,
            tuple(sorted({tier for end in self.control.ends[key].values() if (tier := self._tier(end))})),
        )
        known = self._known.get(kind)
        if known is None:
            known = self._known[kind] = self._expand_device(kind, switch, routes)
        own: list[TenantTable | TenantVrf] = [*self.tenants.tables.get(key, ()), *self.tenants.vrfs.get(key, ())]
        vlans, bonds = self.control.vlans.get(key, ()), self.control.routed_bonds.get(key, ())
        for vlan in vlans:
            slots |= vlan_slots(vlan)
        for bond in bonds:
            slots |= channel_slots(bond)
        pair = self.control.pairs.get(key)
        if pair:
            slots |= {"pair.source": pair.source, "pair.peer": pair.peer}
        sessions = self.control.host_sessions.get(key, ())
        for one in sessions:
            slots |= host_sessions_slots(one)
        paths, plane = self.srv6.get(key), self.fabric.inventory.planes[switch.identity.plane]
        if paths and plane.srv6:
            slots |= srv6_slots(paths)
            known = (*known, *self._expand_srv6(paths, plane.srv6, allocation.names[key]))
        return slots, (
            *known,
            *[form for one in own for form in self._expand_tenant(one, allocation.names[key])],
            *[form for vlan in vlans for form in self._expand_vlan(vlan, allocation.names[key])],
            *[form for bond in bonds for form in self._expand_bond(bond, allocation.names[key])],
            *(self._expand_pair(pair, allocation.names[key]) if pair else ()),
            *[form for one in sessions for form in self._expand_sessions(one, allocation.names[key])],
        )

    def _expand_vlan(self, vlan: VlanPlan, device: str) -> tuple[int, ...]:
        """The form of a VLAN, which switches with the same members share."""
        kind = _VlanKind(
            vlan.name,
            vlan.plane.name,
            tuple([gateway.version for gateway in vlan.gateways]),
            vlan.members,
            vlan.tagged,
            tuple([(one.name, one.ports, one.falls_back) for one in vlan.channels]),
            vlan.dhcp,
            Same(vlan.spec),
        )
        return self._form_of(kind, VLAN_TEMPLATE, device, vlan=lambda: vlan_context(vlan))

    def _expand_bond(self, bond: ChannelPlan, device: str) -> tuple[int, ...]:
        """The form of a port channel with addresses."""
        versions = tuple([address.version for address in bond.addresses])
        kind = _ChannelKind(bond.name, bond.plane.name, bond.ports, versions, Same(bond.spec))
        return self._form_of(kind, BOND_TEMPLATE, device, bond=lambda: channel_context(bond))

    def _expand_pair(self, pair: PairPlan, device: str) -> tuple[int, ...]:
        """The form of a leaf of a pair, which leaves with the same port channels share."""
        kind = _PairKind(pair.channel, pair.ports, pair.vlans, pair.bonds, pair.plane.name, Same(pair.spec))
        return self._form_of(kind, PAIR_TEMPLATE, device, pair=lambda: pair_context(pair))

    def _expand_sessions(self, sessions: HostSessions, device: str) -> tuple[int, ...]:
        """The form of sessions with hosts, which switches with ranges of the same sizes share."""
        sizes = tuple([(network.version, network.prefixlen) for network in sessions.ranges])
        kind = _SessionsKind(sessions.name, sessions.plane.name, sizes, Same(sessions.spec))
        return self._form_of(kind, HOSTS_TEMPLATE, device, sessions=lambda: host_sessions_context(sessions))

    def _expand_srv6(self, paths: Srv6Switch, spec: Srv6Spec, device: str) -> tuple[int, ...]:
        """The form of the SRv6 of a switch, which switches with as many uSIDs and routes share."""
        kind = _Srv6Kind(len(paths.locators), len(paths.hops), Same(spec))
        return self._form_of(kind, SRV6_TEMPLATE, device, srv6=lambda: srv6_context(spec, kind.locators, kind.routes))

    def _expand_tenant(self, own: TenantTable | TenantVrf, device: str) -> tuple[int, ...]:
        """The form of a table or VRF, which switches with the same ports of a tenant share."""
        if isinstance(own, TenantVrf):
            return self._form_of(own, VRF_TEMPLATE, device, vrf=lambda: vrf_context(own))
        return self._form_of(own, TENANT_TEMPLATE, device, tenant=lambda: tenant_context(own))

    def _form_of(self, kind: _Kind, template: str, device: str, **makes: Callable[[], Context]) -> tuple[int, ...]:
        """The one form of a kind. `makes` are the contexts that the template sees, made for the first of the kind."""
        known = self._known.get(kind)
        if known is None:
            seen = {"sonic": self._sonic, **{name: make() for name, make in makes.items()}}
            known = self._known[kind] = (self.library.form(template, seen, device),)
        return known

    def _expand_device(self, kind: _SwitchKind, switch: Switch, routes: Sequence[StaticRoute]) -> tuple[int, ...]:
        """The forms of the switches of this kind, of which `switch` with its `routes` is one."""
        context = switch_context(
            switch,
            self.fabric.inventory,
            loopbacks=kind.loopbacks,
            aggregates=kind.aggregates,
            discards=kind.discards,
            routes=routes,
            management=kind.management,
            mac=kind.mac,
            bgp=kind.bgp,
            drained=kind.drained,
            vtep=kind.vtep,
            roles=kind.roles,
        )
        seen = {
            "sonic": self._sonic, "plane": self._planes[kind.plane], "switch": context, "plan": kind.plan,
            "management": self._management,
        }  # fmt: skip
        name = self.allocation.names[switch.key]
        return tuple([self.library.form(template, seen, name) for template in DEVICE_TEMPLATES])

    def _tier(self, end: LinkEnd) -> str:
        """The tier whose settings the session of a link has; "" in planes without settings of tiers."""
        link = end.link
        if isinstance(link, OutsideLink) or end.peer_switch is None:
            return ""
        return link.b.role if self.fabric.inventory.planes[link.plane].bgp_tiers else ""

    def _drained(self, key: str) -> str:
        """The source of the state of a drained switch, "" for others."""
        note = self.allocation.notes.get(key)
        return note.source("state") if note and note.state is DeviceState.DRAINED else ""

    def _kind(self, switch: Switch, port: PlatformPort, end: LinkEnd | None, plan: LosslessPlan) -> _PortKind:
        training, cordon = None, None
        seen: _LinkKind | str | None = None
        if end is not None:
            link = end.link
            cordon, cable = self.cordons.get(link.key), link.cable
            if cable.link_training is not None:
                training = cable.link_training, cable.source("link_training")
            if isinstance(link, OutsideLink):
                seen = link.key
            elif buffers := self.planner.port(switch, link):
                peer_type = end.peer_switch.device_type if end.peer_switch else None
                families = tuple([(one.length, one.peer_asn is not None) for one in end.addresses])
                seen = _LinkKind(peer_type, families, buffers, link.is_routed, self._tier(end))
        return _PortKind(
            plan,
            switch.identity.plane,
            switch.layout.sources.get("ports", ""),
            port.speed_mbps,
            port.fec or _far_fec(end),
            port.breakout_mode,
            end is not None,
            training,
            cordon.source("state") if cordon else "",
            seen,
        )

    def _expand_port(self, kind: _PortKind, end: LinkEnd | None, device: str) -> tuple[int, ...]:
        """The forms of the ports of this kind. Of `end`, only an external device is seen, which the kind names."""
        plane, plan, link = self.fabric.inventory.planes[kind.plane], kind.plan, kind.link
        mtu = plane.mtu_bytes, plane.source("mtu")
        port = port_context(
            kind.source, kind.speed_mbps, kind.fec, kind.breakout_mode, mtu, kind.wired, kind.link_training, kind.cordon
        )
        forms = [self.library.form(PORT_TEMPLATE, {"sonic": self._sonic, "port": port}, device)]
        seen = {"sonic": self._sonic, "plane": self._planes[kind.plane], "port": port, "plan": plan}
        if end and isinstance(end.link, OutsideLink):
            outside = outside_context(end.link, plane, drained=self._drained(end.link.switch.key))
            forms.append(self.library.form(OUTSIDE_TEMPLATE, {**seen, "link": outside}, device))
        elif isinstance(link, _LinkKind):
            unnumbered = plane.bgp == BgpAddressing.UNNUMBERED
            wired = link_context(
                link.peer_type,
                unnumbered,
                link.families,
                link.buffers,
                session_context(plane, link.tier),
                routed=link.routed,
            )
            forms.append(self.library.form(LINK_TEMPLATE, {**seen, "link": wired}, device))
        return tuple(forms)

    @cached_property
    def _sonic(self) -> SonicContext:
        return SonicContext(self.fabric.inventory.sonic.release)

    @cached_property
    def _planes(self) -> Mapping[str, PlaneContext]:
        return {name: plane_context(plane) for name, plane in self.fabric.inventory.planes.items()}

    @cached_property
    def _discards(self) -> Mapping[str, tuple[str, ...]]:
        planes = self.fabric.inventory.planes
        return {name: tuple(map(str, discards(plane))) for name, plane in planes.items()}

    @cached_property
    def _management(self) -> ManagementContext | None:
        management = self.fabric.inventory.management
        return management_context(management, self._sonic.release) if management else None
