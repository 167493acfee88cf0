"""The bundle for rules: switches with role and layout, wired ports with their far ends. Derived once."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Protocol, TypeVar, cast

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.bundle.wiring import WiredHost, WiredLink, WiredPlane
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.platforms.ports_in_use import PortsInUse
from fabricgen.rules.defects import Place
from fabricgen.rules.view.addresses import HeldAddress, held_address
from fabricgen.rules.view.lossy import lossy_switches
from fabricgen.rules.view.networks import joined_switches
from fabricgen.rules.view.shape import Shapes, well_shaped
from fabricgen.sonic.device_types import OUTSIDE_ROLE, OUTSIDE_TYPE, ROLES, SERVER_TYPE, buffer_role
from fabricgen.sonic.tables import Row
from fabricgen.units import whole_number
from fabricgen.vocabulary import LinkKind

LayoutLookup = Callable[[str], tuple[SwitchPlatform, Layout] | None]

T = TypeVar("T")

Network = tuple[str, int, bool]  # plane, part, is_lossy: see Switch.network


class Keep(Protocol):
    """How values are kept that several rules use: `key` in a memo, made at the first use. `of` is the only switch that
    the value depends on."""

    def __call__(self, memo: dict[Any, Any], key: Hashable, make: Callable[[], T], of: str = "", /) -> T:
        """The value."""


def kept(memo: dict[Any, Any], key: Hashable, make: Callable[[], T], _: str = "") -> T:
    """The value, without a record of who uses it."""
    if key not in memo:
        memo[key] = make()
    return cast(T, memo[key])


def number(text: object) -> int | None:
    """The value of a decimal string; None for anything else. The schema rules report other values."""
    return _number(text) if type(text) is str else whole_number(text)


_number = lru_cache(maxsize=1 << 14)(whole_number)  # most numbers of a fabric are one of a few


def majority(values: Iterable[T]) -> T | None:
    """The value that more than half of at least three values equal; None if there is no such value."""
    counts = Counter(values)
    top = counts.most_common(1)
    return top[0][0] if top and counts.total() >= 3 and 2 * top[0][1] > counts.total() else None


@dataclass(eq=False)
class Switch:
    """One switch with the properties that many rules use."""

    device: ObservedDevice
    platform: SwitchPlatform | None
    layout: Layout | None
    is_lossy: bool = False  # no class of its network is lossless
    part: int = 0  # for loose files, the number of the network that cables form; 0 without such cables
    keep: Keep = kept
    _memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def name(self) -> str:
        """Name of the device."""
        return self.device.name

    @cached_property
    def role(self) -> str:
        """leaf | spine | core; "" if neither fabric.json nor the type defines it."""
        wired = self.device.wired
        return wired.role if wired else ROLES.get(self.type, "")

    @cached_property
    def buffer_role(self) -> str:
        """The role whose buffers of the SKU it has: SONiC selects them by the type."""
        return buffer_role(self.type, self.role)

    def declared_role(self, neighbor: str) -> str:
        """The role of a neighbour by DEVICE_NEIGHBOR_METADATA: leaf | spine | core | host | external, or ""."""
        found = self.device.text_of("DEVICE_NEIGHBOR_METADATA", neighbor, "type")
        return {SERVER_TYPE: "host", OUTSIDE_TYPE: OUTSIDE_ROLE}.get(found) or ROLES.get(found, "")

    @cached_property
    def plane(self) -> str:
        """Plane by fabric.json, or ""."""
        return self.device.wired.plane if self.device.wired else ""

    @property
    def network(self) -> Network:
        """What comparable switches have in common: the plane, the network that cables form if no plane is known, and
        whether the network has no PFC."""
        return self.plane, self.part, self.is_lossy

    @cached_property
    def hwsku(self) -> str:
        """DEVICE_METADATA.hwsku."""
        return self.device.text_of("DEVICE_METADATA", "localhost", "hwsku")

    @cached_property
    def type(self) -> str:
        """DEVICE_METADATA.type."""
        return self.device.text_of("DEVICE_METADATA", "localhost", "type")

    @cached_property
    def port_set(self) -> str:
        """The name of its layout: the planned one of fabric.json, else that of the ports in its file; "" if unknown."""
        wired = self.device.wired
        return wired.layout if wired else self.layout.name if self.layout else ""

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether buffermgrd computes the buffers (dynamic model)."""
        return self.device.text_of("DEVICE_METADATA", "localhost", "buffer_model") == "dynamic"

    @cached_property
    def asn(self) -> str:
        """DEVICE_METADATA.bgp_asn."""
        return self.device.text_of("DEVICE_METADATA", "localhost", "bgp_asn")

    def place(self, table: str, key: str = "", field: str = "") -> Place:
        """A place in this switch's file."""
        return Place(self.device, table, key, field)

    def speed_mbps(self, port: str) -> int | None:
        """PORT.speed."""
        return number(self.device.row("PORT", port).get("speed"))

    def _cable_rows(self) -> Mapping[str, str]:
        """Port -> the key of the first row of CABLE_LENGTH that has it."""
        found: dict[str, str] = {}
        for key, row in self.device.table("CABLE_LENGTH").items():
            for port in row:
                found.setdefault(port, key)
        return found

    @property
    def _row_of_cable(self) -> Mapping[str, str]:
        return self.keep(self._memo, "cable rows", self._cable_rows, self.name)

    def cable_row(self, port: str) -> str:
        """The key of the row of CABLE_LENGTH that has a port, else of the first row, usually AZURE."""
        return self._row_of_cable.get(port) or next(iter(self.device.table("CABLE_LENGTH")), "AZURE")

    def _texts_of_cables(self) -> Mapping[str, str]:
        return {port: self.device.text_of("CABLE_LENGTH", key, port) for port, key in self._row_of_cable.items()}

    def cable_text(self, port: str) -> str:
        """CABLE_LENGTH of a port, or ""."""
        return self.cable_texts.get(port, "")

    @property
    def cable_texts(self) -> Mapping[str, str]:
        """Port -> its text in the first row of CABLE_LENGTH that has it."""
        return self.keep(self._memo, "cable texts", self._texts_of_cables, self.name)

    @property
    def addresses(self) -> tuple[HeldAddress, ...]:
        """Every address of an interface, a VLAN, a port channel and a loopback; other values are left out."""
        return self.keep(self._memo, "addresses", self._held, self.name)

    def _held(self) -> tuple[HeldAddress, ...]:
        return tuple(
            held
            for table in ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE")
            for key in self.device.table(table)
            if "|" in key and (held := held_address(table, key))
        )

    @property
    def addresses_of(self) -> Mapping[str, tuple[HeldAddress, ...]]:
        """interface -> its addresses."""
        return self.keep(self._memo, "addresses of", self._by_interface, self.name)

    def _by_interface(self) -> Mapping[str, tuple[HeldAddress, ...]]:
        found: dict[str, tuple[HeldAddress, ...]] = {}
        for held in self.addresses:
            found[held.interface] = (*found.get(held.interface, ()), held)
        return found


@dataclass(eq=False, slots=True)
class End:
    """A wired switch port and the far end of its cable. `far` is None for a host and for a switch without a file.

    A large fabric has half a million of them, so what is kept of each is small.
    """

    switch: Switch
    port: str
    link: WiredLink
    far_name: str
    far_port: str
    far_role: str  # host | leaf | spine | core | external | ""
    fabric: "Fabric"
    far: "End | None" = None
    _row: Row | None = field(default=None, init=False)
    _kind: "Kind | None" = field(default=None, init=False)

    def place(self, table: str, field: str = "") -> Place:
        """The port's row of a table that is keyed by port."""
        return self.switch.place(table, self.port, field)

    @property
    def cable_m(self) -> float | None:
        """The true length of the cable; None if it is unknown."""
        return self.fabric.cable_length_m.get(self.link.id)

    def text(self, field: str) -> str:
        """A field of the PORT row."""
        row = self._row
        if row is None:
            row = self._row = self.switch.device.row("PORT", self.port)
        value = row.get(field)
        return value if isinstance(value, str) else ""

    def forget(self) -> None:
        """Free the row."""
        self._row = None

    @property
    def kind(self) -> "Kind":
        """Ports of one kind are expected to have the same configuration."""
        length_m = self.cable_m  # not kept, so that each reader is recorded
        if self._kind is None or self._kind[-1] != length_m:
            switch = self.switch
            kind = (switch.network, switch.role, switch.hwsku, self.far_role, self.link.speed_mbps, length_m)
            self._kind = self.fabric.kinds.setdefault(kind, kind)
        return self._kind


Kind = tuple[Network, str, str, str, int, float | None]


def far_end(end: End, table: str, field: str = "") -> tuple[tuple[str, Place], ...]:
    """The row of the port at the other end of a cable, as a related place; none if the far end has no file."""
    return ((f"the far end, {end.far_name}", end.far.place(table, field)),) if end.far else ()


class Fabric:
    """All switches, wired ports and planes of a bundle."""

    def __init__(self, bundle: Bundle, layout_lookup: LayoutLookup | None = None, keep: Keep = kept) -> None:
        self.bundle = bundle
        self.keep = keep
        self.derived: dict[Hashable, object] = {}  # see derived.py
        lookup = layout_lookup or layout_by_hwsku
        self._usual_values: dict[Callable[[End], object] | str, object] = {}
        self.kinds: dict[Kind, Kind] = {}  # one object for equal kinds of ports
        self.switches: dict[str, Switch] = {}
        shapes: Shapes = {}
        in_use = PortsInUse()
        for name, device in ((name, well_shaped(device, shapes)) for name, device in bundle.devices.items()):
            hwsku = device.text_of("DEVICE_METADATA", "localhost", "hwsku")
            platform, layout = (lookup(hwsku) if hwsku else None) or (None, None)
            if platform and layout:
                layout = in_use.layout(platform, layout, device.table("PORT"), device.table("BREAKOUT_CFG"))
            self.switches[name] = Switch(device, platform, layout, keep=keep)
        networks = [] if bundle.wiring else joined_switches(bundle)
        for part, names in enumerate((names for names in networks if len(names) > 1), 1):
            for name in names:
                self.switches[name].part = part
        devices = {name: switch.device for name, switch in self.switches.items()}
        for name in lossy_switches(bundle, devices, networks):
            self.switches[name].is_lossy = True

    def forget(self) -> None:
        """Free what was derived, and the rows that ports keep; both are read again if they are needed."""
        self.derived.clear()
        self._usual_values.clear()
        for end in self.__dict__.get("ends", ()):
            end.forget()

    @property
    def cable_length_m(self) -> Mapping[str, float]:
        """link id -> true cable length, where known."""
        return self.bundle.cable_length_m

    @cached_property
    def planes(self) -> Mapping[str, WiredPlane]:
        """Planes by name; empty without fabric.json."""
        wiring = self.bundle.wiring
        return {plane.name: plane for plane in wiring.planes} if wiring else {}

    @cached_property
    def hosts(self) -> Mapping[str, WiredHost]:
        """Hosts by name; empty without fabric.json."""
        wiring = self.bundle.wiring
        return {host.name: host for host in wiring.hosts} if wiring else {}

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """Every wired switch port, in the order of the links."""
        ends: list[End] = []
        for link in self.bundle.links:
            mine = []
            for (name, port), (far_name, far_port) in ((link.a, link.b), (link.b, link.a)):
                if name in self.switches:
                    far = self.switches.get(far_name)
                    far_role = far.role if far else self._role_outside(self.switches[name], far_name, link)
                    mine.append(End(self.switches[name], port, link, far_name, far_port, far_role, self))
            if len(mine) == 2:
                mine[0].far, mine[1].far = mine[1], mine[0]
            ends += mine
        return tuple(ends)

    def _role_outside(self, switch: Switch, neighbor: str, link: WiredLink) -> str:
        """The role of a neighbour without a file: by the switch's own tables, else by the link."""
        if link.kind == LinkKind.EXTERNAL:
            return OUTSIDE_ROLE
        return switch.declared_role(neighbor) or ("host" if link.kind == LinkKind.HOST_LEAF else "")

    @cached_property
    def ends_of(self) -> Mapping[str, Mapping[str, End]]:
        """switch -> port -> wired end."""
        found: dict[str, dict[str, End]] = {name: {} for name in self.switches}
        for end in self.ends:
            found[end.switch.name][end.port] = end
        return found

    @cached_property
    def pairs(self) -> tuple[tuple[End, End], ...]:
        """The links whose two ends are known switches."""
        return tuple((end, end.far) for end in self.ends if end.far and (end.switch.name, end.port) == end.link.a)

    def blamed(self, pair: tuple[End, End], value: Callable[[End], object]) -> tuple[End, End]:
        """Two ends that disagree, with the end whose value is unusual for its kind first."""
        near, far = pair
        usual_near, usual_far = (self._usual(end.kind, value) for end in pair)
        far_is_unusual = usual_far is not None and value(far) != usual_far
        near_is_unusual = usual_near is not None and value(near) != usual_near
        return (far, near) if far_is_unusual and not near_is_unusual else (near, far)

    def is_unusual(self, end: End, value: Callable[[End], object]) -> bool:
        """Whether most ports of the end's kind have another value."""
        usual = self._usual(end.kind, value)
        return usual is not None and value(end) != usual

    def _usual(self, kind: tuple[object, ...], value: Callable[[End], object]) -> object | None:
        def usual() -> Mapping[tuple[object, ...], object | None]:
            by_kind = self.keep(self._usual_values, "by kind", self._by_kind)
            return {kind: majority(map(value, ends)) for kind, ends in by_kind.items()}

        return self.keep(self._usual_values, value, usual)[kind]

    def _by_kind(self) -> Mapping[tuple[object, ...], tuple[End, ...]]:
        found: dict[tuple[object, ...], list[End]] = defaultdict(list)
        for end in self.ends:
            found[end.kind].append(end)
        return {kind: tuple(ends) for kind, ends in found.items()}
