"""The config_db.json of every switch: forms for what switches and ports share, stamped with what is theirs alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_interface

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.bgp import ControlPlane, LinkEnd
from fabricgen.control_plane.outside import OutsideLink
from fabricgen.design.model import Fabric, Link, Switch
from fabricgen.inventory.outside import discards
from fabricgen.lossless.plan import LosslessPlan, LosslessPlanner
from fabricgen.platforms.model import PlatformPort
from fabricgen.render.build_contexts import link_context, management_context, port_context, switch_context
from fabricgen.render.build_outside import outside_context
from fabricgen.render.contexts import ManagementContext, SonicContext
from fabricgen.render.forms import Tables
from fabricgen.render.templates import TemplateLibrary

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
    stamp: bool = True  # False: the forms are expanded and noted, and `tables` stays empty


@dataclass
class SwitchRenderer:
    """Renders the switches of one fabric, one at a time and in any order."""

    fabric: Fabric
    allocation: Allocation
    control: ControlPlane
    planner: LosslessPlanner
    library: TemplateLibrary

    def render(self, switch: Switch, *, stamp: bool = True) -> RenderedSwitch | None:
        """The tables of a switch; None where the planner has reported why there is no plan for it."""
        plan = self.planner.plan(switch)
        if plan is None:
            return None
        rendered = RenderedSwitch(self.allocation.names[switch.key], stamp=stamp)
        self._render_device(switch, plan, rendered)
        ends = self.control.ends[switch.key]
        for port in switch.layout.ports:
            end = ends.get(port.name)
            slots = _port_slots(port, end)
            self._render_port(switch, port, end, slots, rendered)
            link = end.link if end else None
            if isinstance(link, OutsideLink):
                self._render_outside(switch, port, link, plan, slots, rendered)
            elif end and link:
                self._render_link(switch, port, end, link, plan, slots, rendered)
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
        families = [tuple(ip_interface(text).version for text in texts) for texts in lists.values()]
        bgp = key in self.control.asns
        kind = (switch.identity.plane, switch.platform.name, switch.layout.name, switch.role, switch.spec.path)
        profile: tuple[object, ...] = (*kind, *families, bool(mac), bgp)

        routes = self.control.outside.routes.get(key, ())
        own = {*lists["aggregates"], *(route.prefix for route in routes)}
        kept = tuple(prefix for prefix in self._discards[switch.identity.plane] if prefix not in own)
        profile = (*profile, kept, tuple((route.prefix, route.next_hop, route.port) for route in routes))

        def context() -> dict[str, object]:
            own = switch_context(
                switch, self.fabric.inventory, **lists, discards=kept, routes=routes, mac=bool(mac), bgp=bgp
            )
            return {"switch": own, "plan": plan, "management": self._management}

        for template in DEVICE_TEMPLATES:
            rendered.forms.append(self._stamp(rendered, template, profile, slots, context))

    def _render_port(
        self, switch: Switch, port: PlatformPort, end: LinkEnd | None, slots: Slots, rendered: RenderedSwitch
    ) -> None:
        plane = self.fabric.inventory.planes[switch.identity.plane]
        cable = end.link.cable if end else None
        alike = (plane.name, switch.platform.name, switch.layout.name, port.speed_mbps, port.fec, port.breakout_mode)

        def context() -> dict[str, object]:
            return {"port": port_context(switch, plane, port, cable)}

        training = (cable.link_training, cable.path) if cable and cable.link_training is not None else ()
        index = self._stamp(rendered, PORT_TEMPLATE, (*alike, end is None, training), slots, context)
        rendered.port_forms.setdefault(index, []).append(port.name)

    def _render_link(
        self,
        switch: Switch,
        port: PlatformPort,
        end: LinkEnd,
        link: Link,
        plan: LosslessPlan,
        slots: Slots,
        rendered: RenderedSwitch,
    ) -> None:
        buffers = self.planner.port(switch, link)
        if buffers is None:
            return
        plane = self.fabric.inventory.planes[switch.identity.plane]
        sessions = tuple((address.length, address.peer_asn is None) for address in end.addresses)
        peer_type = end.peer_switch.device_type if end.peer_switch else None

        def context() -> dict[str, object]:
            own = port_context(switch, plane, port, end.link.cable)
            return {"port": own, "link": link_context(end, plane, buffers), "plan": plan}

        index = self._stamp(rendered, LINK_TEMPLATE, (id(plan), id(buffers), peer_type, sessions), slots, context)
        rendered.port_forms.setdefault(index, []).append(port.name)

    def _render_outside(
        self,
        switch: Switch,
        port: PlatformPort,
        link: OutsideLink,
        plan: LosslessPlan,
        slots: Slots,
        rendered: RenderedSwitch,
    ) -> None:
        plane = self.fabric.inventory.planes[switch.identity.plane]

        def context() -> dict[str, object]:
            own = port_context(switch, plane, port, link.cable)
            return {"port": own, "link": outside_context(link, plane), "plan": plan}

        index = self._stamp(rendered, OUTSIDE_TEMPLATE, (id(plan), link.id), slots, context)
        rendered.port_forms.setdefault(index, []).append(port.name)

    def _stamp(
        self,
        rendered: RenderedSwitch,
        template: str,
        profile: tuple[object, ...],
        slots: Mapping[str, str],
        context: Callable[[], dict[str, object]],
    ) -> int:
        """Stamp one form onto the switch; it is expanded first if nobody with that profile came before."""

        def whole() -> dict[str, object]:
            return {"sonic": SonicContext(self.fabric.inventory.sonic.release), **context()}

        index = self.library.form(template, profile, whole, rendered.name)
        if rendered.stamp:
            self.library.stamp(index, rendered.tables, slots, rendered.name)
        return index

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
