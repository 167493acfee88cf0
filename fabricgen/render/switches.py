"""The config_db.json of every switch: forms that switches and ports share, stamped with the values of each."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from ipaddress import ip_interface

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.bgp import ControlPlane, LinkEnd
from fabricgen.control_plane.cordons import Cordons
from fabricgen.control_plane.outside import OutsideLink
from fabricgen.design.model import Fabric, Link, Switch
from fabricgen.inventory.outside import discards
from fabricgen.lossless.plan import LosslessPlan, LosslessPlanner
from fabricgen.platforms.model import PlatformPort
from fabricgen.render.build_contexts import link_context, management_context, port_context, switch_context
from fabricgen.render.build_outside import outside_context
from fabricgen.render.contexts import ManagementContext, PortContext, SonicContext
from fabricgen.render.forms import Tables
from fabricgen.render.templates import TemplateLibrary
from fabricgen.vocabulary import BgpAddressing

DEVICE_TEMPLATES = ("switch.json.j2", "bgp.json.j2", "management.json.j2", "qos.json.j2", "buffers.json.j2")
PORT_TEMPLATE = "port.json.j2"
LINK_TEMPLATE = "link.json.j2"
OUTSIDE_TEMPLATE = "outside.json.j2"

Slots = dict[str, str]


@dataclass
class RenderedSwitch:
    """A switch's tables and the forms that made them: those of the switch, and each port form with its ports."""

    name: str
    tables: Tables = field(default_factory=dict)
    forms: list[int] = field(default_factory=list)
    port_forms: dict[int, list[str]] = field(default_factory=dict)
    stamp: bool = True  # False: the forms are expanded and recorded, and `tables` stays empty


@dataclass
class SwitchRenderer:
    """Renders the switches of one fabric, one at a time and in any order."""

    fabric: Fabric
    allocation: Allocation
    control: ControlPlane
    planner: LosslessPlanner
    library: TemplateLibrary
    cordons: Cordons = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Most ports have the same few contexts. The builders see only their arguments, so these are the whole key.
        self._port_context = cache(port_context)
        self._link_context = cache(link_context)

    def render(self, switch: Switch, *, stamp: bool = True) -> RenderedSwitch | None:
        """The tables of a switch; None where the planner has reported why it has no plan."""
        plan = self.planner.plan(switch)
        if plan is None:
            return None
        rendered = RenderedSwitch(self.allocation.names[switch.key], stamp=stamp)
        self._render_device(switch, plan, rendered)
        ends = self.control.ends[switch.key]
        for port in switch.layout.ports:
            self._render_port(switch, port, ends.get(port.name), plan, rendered)
        return rendered

    def _render_device(self, switch: Switch, plan: LosslessPlan, rendered: RenderedSwitch) -> None:
        allocation, key = self.allocation, switch.key
        note = allocation.notes.get(key)
        mac = note.mac.lower() if note else ""
        lists = {
            "loopbacks": [str(ip_interface(text)) for text in allocation.loopbacks.get(key, ())],
            "aggregates": list(self.control.host_aggregates.get(key, ())),
            "management": list(allocation.management.get(key, ())),
        }
        slots = {
            "switch.hostname": rendered.name,
            "switch.mac": mac,
            "switch.asn": str(self.control.asns.get(key)),
            "switch.router_id": self.control.router_ids.get(key, ""),
        }
        for name, texts in lists.items():
            slots |= {f"switch.{name}.{index}": text for index, text in enumerate(texts)}
        routes = self.control.outside.routes.get(key, ())
        own = {*lists["aggregates"], *(route.prefix for route in routes)}
        kept = [prefix for prefix in self._discards[switch.identity.plane] if prefix not in own]
        context = switch_context(
            switch,
            self.fabric.inventory,
            **lists,
            discards=kept,
            routes=routes,
            mac=bool(mac),
            bgp=key in self.control.asns,
        )
        for template in DEVICE_TEMPLATES:
            index = self._stamp(rendered, template, slots, switch=context, plan=plan, management=self._management)
            rendered.forms.append(index)

    def _render_port(
        self, switch: Switch, port: PlatformPort, end: LinkEnd | None, plan: LosslessPlan, rendered: RenderedSwitch
    ) -> None:
        slots = _port_slots(port, end)
        context = self._port(switch, port, end.link if end else None)
        forms = [self._stamp(rendered, PORT_TEMPLATE, slots, port=context)]
        link = end.link if end else None
        if isinstance(link, OutsideLink):
            outside = outside_context(link, self.fabric.inventory.planes[switch.identity.plane])
            forms.append(self._stamp(rendered, OUTSIDE_TEMPLATE, slots, port=context, link=outside, plan=plan))
        elif end and link and (buffers := self.planner.port(switch, link)):
            peer_type = end.peer_switch.device_type if end.peer_switch else None
            families = tuple((address.length, address.peer_asn is not None) for address in end.addresses)
            unnumbered = self.fabric.inventory.planes[switch.identity.plane].bgp == BgpAddressing.UNNUMBERED
            wired = self._link_context(peer_type, unnumbered, families, buffers)
            forms.append(self._stamp(rendered, LINK_TEMPLATE, slots, port=context, link=wired, plan=plan))
        for form in forms:
            rendered.port_forms.setdefault(form, []).append(port.name)

    def _port(self, switch: Switch, port: PlatformPort, link: Link | OutsideLink | None) -> PortContext:
        training, cable = None, link.cable if link else None
        cordon = self.cordons.get(link.id) if link else None
        if cable and cable.link_training is not None:
            training = cable.link_training, cable.source("link_training")
        mtu = self._mtu[switch.identity.plane]
        source = switch.layout.sources.get("ports", "")
        return self._port_context(
            source,
            port.speed_mbps,
            port.fec,
            port.breakout_mode,
            mtu,
            cable is not None,
            training,
            cordon.source("state") if cordon else "",
        )

    def _stamp(self, rendered: RenderedSwitch, template: str, slots: Mapping[str, str], **context: Hashable) -> int:
        """Stamp one form onto the switch; the first switch or port with a context expands it."""
        index = self.library.form(template, {"sonic": self._sonic, **context}, rendered.name)
        if rendered.stamp:
            self.library.stamp(index, rendered.tables, slots, rendered.name)
        return index

    @cached_property
    def _sonic(self) -> SonicContext:
        return SonicContext(self.fabric.inventory.sonic.release)

    @cached_property
    def _mtu(self) -> Mapping[str, tuple[int, str]]:
        return {name: (plane.mtu_bytes, plane.source("mtu")) for name, plane in self.fabric.inventory.planes.items()}

    @cached_property
    def _discards(self) -> Mapping[str, tuple[str, ...]]:
        planes = self.fabric.inventory.planes
        return {name: tuple(map(str, discards(plane))) for name, plane in planes.items()}

    @cached_property
    def _management(self) -> ManagementContext | None:
        management = self.fabric.inventory.management
        return management_context(management) if management else None


def _port_slots(port: PlatformPort, end: LinkEnd | None) -> Slots:
    slots = {
        "port.name": port.name,
        "port.lanes": ",".join(map(str, port.lanes)),
        "port.alias": port.alias,
        "port.index": str(port.index),
        "port.subport": str(port.subport),
        "port.parent": port.parent,
    }
    if end is not None:
        slots |= {
            "port.description": f"{end.peer}:{end.peer_port}",
            "link.peer": end.peer,
            "link.peer_port": end.peer_port,
        }
        if end.peer_switch is not None:
            slots["link.peer_hwsku"] = end.peer_switch.layout.hwsku
        for index, address in enumerate(end.addresses):
            slot = f"link.addresses.{index}"
            slots |= {
                f"{slot}.local": address.local,
                f"{slot}.peer": address.peer,
                f"{slot}.asn": str(address.peer_asn),
            }
    return slots
