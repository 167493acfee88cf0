"""An explicit design: switches and links exactly as the inventory lists them.

A link's end is `switch:port` or `host:nic`, hosts by their identity, `group/number`. Both ends of a link between
switches are ordered by tier, so that the lower one is `a`. Each link between switches has its own address block. The
host ports of a switch share one, so that the switch can announce them as one prefix.
"""

from collections.abc import Mapping

from fabricgen.design.design import Design
from fabricgen.design.model import ROLES, Block, Host, Identity, Link, PlaneDesign, Switch
from fabricgen.design.parts import PartsList, plane_nics
from fabricgen.inventory.mistakes import error, suggest
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import LinkSpec, SwitchSpec, Tier
from fabricgen.platforms.model import HostNic
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.units import format_speed
from fabricgen.vocabulary import LinkKind, Role

_KINDS: Mapping[tuple[Role, Role], LinkKind] = {
    (Role.LEAF, Role.SPINE): LinkKind.LEAF_SPINE,
    (Role.SPINE, Role.CORE): LinkKind.SPINE_CORE,
}
End = tuple[Switch | Host, str, HostNic | None]


def expand_explicit(plane: Plane, parts: PartsList) -> PlaneDesign:
    """The plane as listed; what refers to nothing is left out, with a finding."""
    switches: dict[str, Switch] = {}
    for role in ROLES:
        for spec in plane.switches.get(role, ()):
            switch = _switch(plane, role, spec, parts)
            if switch and spec.name not in switches:
                switches[spec.name] = switch
    hosts = {host.key: host for host in parts.hosts(plane, plane.hosts)}
    wiring = _Wiring(plane, parts, switches, hosts)
    links = wiring.links()
    used = {link.a.key for link in links}
    on_plane = tuple(host for host in hosts.values() if host.key in used)
    counts = {role: sum(switch.role == role for switch in switches.values()) for role in ROLES}
    return PlaneDesign(plane, tuple(switches.values()), links, on_plane, counts)


def _switch(plane: Plane, role: Role, spec: SwitchSpec, parts: PartsList) -> Switch | None:
    tier = plane.tiers.get(role)
    name = spec.platform or (tier.platform if tier else None)
    if name is None:
        parts.findings.append(
            error(
                "FG106",
                f"switch {spec.name} has no platform",
                spec,
                hint=f"add `platform:`, or a `{role}:` tier to the plane",
            )
        )
        return None
    at: SwitchSpec | Tier = spec if spec.platform or tier is None else tier
    platform = parts.platform(name, at)
    if platform and not parts.serves(platform, plane, at):
        return None
    layout_name = spec.layout or (tier.layout if tier else None)
    ports, source = _ports(spec, tier, at)
    layout = parts.layout(platform, layout_name, ports, [plane.speed_mbps], source) if platform else None
    if platform is None or layout is None:
        return None
    identity = Identity(plane.name, role, pod=spec.pod, su=spec.su, rail=spec.rail, label=spec.name)
    pod = "" if spec.pod is None else f"/pod{spec.pod}"
    owner = {Role.LEAF: str(identity), Role.SPINE: f"{plane.name}{pod}/spine", Role.CORE: f"{plane.name}/core"}[role]
    return Switch(identity, platform, layout, (tier.type if tier else None) or DEVICE_TYPES[role], owner, spec)


def _ports(spec: SwitchSpec, tier: Tier | None, at: SwitchSpec | Tier) -> tuple[Mapping[str, str], SwitchSpec | Tier]:
    """The modes of the cages, and where they are written: the switch's own, else those of its tier."""
    if spec.ports:
        return spec.ports, spec
    if tier and tier.ports and (spec.platform, spec.layout) == (None, None):
        return tier.ports, tier
    return {}, at


class _Wiring:
    """The links of one plane, each port used once."""

    def __init__(self, plane: Plane, parts: PartsList, switches: dict[str, Switch], hosts: dict[str, Host]) -> None:
        self.plane, self.parts, self.switches, self.hosts = plane, parts, switches, hosts
        self.taken: dict[tuple[str, str], LinkSpec] = {}
        self.host_slots: dict[str, int] = {}

    def links(self) -> tuple[Link, ...]:
        ends = [(spec, self._end(spec, 0), self._end(spec, 1)) for spec in self.plane.links]
        whole = [(spec, a, b) for spec, a, b in ends if a and b]
        host_ports: dict[str, int] = {}
        for _, a, b in whole:
            for end, far in ((a, b), (b, a)):
                if isinstance(end[0], Switch) and isinstance(far[0], Host):
                    host_ports[end[0].key] = host_ports.get(end[0].key, 0) + 1
        return tuple(link for spec, a, b in whole if (link := self._link(spec, a, b, host_ports)))

    def _end(self, spec: LinkSpec, index: int) -> End | None:
        text = spec.ends[index]
        name, colon, port = text.rpartition(":")
        switch, host = self.switches.get(name), self.hosts.get(name)
        place = (index,) if spec.node.items else ("ends", index)
        if not colon:
            hint = "write switch:port, for example leaf1:Ethernet0, or host:nic, for example gpu/0:rail0"
            self.parts.findings.append(error("FG204", f"{text!r} has no port", spec, *place, hint=hint))
            return None
        if switch is None and host is None:
            hint = suggest(name, sorted([*self.switches, *self.hosts]))
            self.parts.findings.append(
                error("FG204", f"no device of plane {self.plane.name} is called {name!r}", spec, *place, hint=hint)
            )
            return None
        nic = None
        if switch:
            known = [port.name for port in switch.layout.ports]
        else:
            assert host
            nics = {nic.name: nic for nic in plane_nics(host.model, self.plane)}
            nic, known = nics.get(port), list(nics)
        if port not in known:
            self.parts.findings.append(
                error("FG204", f"{name} has no port {port!r}", spec, *place, hint=suggest(port, known))
            )
            return None
        if (name, port) in self.taken:
            message = f"{text} has two links"
            other = self.taken[name, port]
            self.parts.findings.append(error("FG205", message, spec, *place, hint=f"see {other.path} at {other.at()}"))
            return None
        self.taken[name, port] = spec
        return switch or host, port, nic  # type: ignore[return-value]

    def _link(self, spec: LinkSpec, a: End, b: End, host_ports: dict[str, int]) -> Link | None:
        plane = self.plane
        speed = self._speed(spec, a, b)
        if speed is None:
            return None
        if _tier(a) > _tier(b):
            a, b = b, a
        low, high = a[0], b[0]
        if isinstance(high, Host):
            self.parts.findings.append(
                error(
                    "FG204",
                    "a link needs a switch at one end",
                    spec,
                    hint="name a switch of `leaves`, `spines` or `cores` in `ends`",
                )
            )
            return None
        name = f"{low.key}:{a[1]}--{high.key}:{b[1]}"
        if isinstance(low, Host):
            kind, pool, owner = LinkKind.HOST_LEAF, "hosts", high.key
            block = Block(f"{owner}/hosts", plane.name, pool, host_ports[owner], owner)
            slot = self.host_slots.setdefault(owner, 0)
            self.host_slots[owner] += 1
        else:
            kind = _KINDS.get((low.role, high.role), LinkKind.PEER)
            block, slot = Block(name, plane.name, "links", 1, low.key), 0
        cable = spec.cable or plane.cables.get(kind) or plane.cables[LinkKind.LEAF_SPINE]
        rail = a[2].rail if a[2] else None
        return Link(name, plane.name, kind, low, a[1], high, b[1], speed, cable, block, slot, rail, a[2])

    def _speed(self, spec: LinkSpec, a: End, b: End) -> int | None:
        """The speed of both ends; None, with a finding, if they differ from each other or from the link's own speed."""
        speeds = dict(zip(spec.ends, map(_speed_mbps, (a, b)), strict=True))
        if spec.speed_mbps is not None:
            speeds["the link"] = spec.speed_mbps
        if len(set(speeds.values())) == 1:
            return next(iter(speeds.values()))
        speeds_text = ", ".join(f"{name} {format_speed(mbps)}" for name, mbps in speeds.items())
        hint = "choose another port, or give its cage another breakout mode with `ports:`"
        self.parts.findings.append(error("FG206", f"the speeds of a link differ: {speeds_text}", spec, hint=hint))
        return None


def _speed_mbps(end: End) -> int:
    node, port, nic = end
    if nic is not None:
        return nic.speed_mbps
    assert isinstance(node, Switch)
    return node.layout.port_by_name[port].speed_mbps


def _tier(end: End) -> int:
    return ROLES.index(end[0].role) if isinstance(end[0], Switch) else -1


DESIGN = Design(
    name="explicit",
    summary="switches and links are listed one by one",
    expand=expand_explicit,
    needs=("leaves", "links", "leaf", "speed"),
    takes=("hosts", "spine", "core", "spines", "cores"),
)
