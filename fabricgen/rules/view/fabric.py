"""The bundle for rules: switches with role and layout, wired ports with their far ends. Derived once."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredHost, WiredLink, WiredPlane
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.platforms.ports_in_use import PortsInUse
from fabricgen.rules.defects import Place
from fabricgen.rules.view.lossy import lossy_switches
from fabricgen.rules.view.networks import joined_switches
from fabricgen.rules.view.shape import Shapes, well_shaped
from fabricgen.rules.view.switch import Keep, Network, Switch, kept
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.tables import Row
from fabricgen.vocabulary import LinkKind

if TYPE_CHECKING:
    from fabricgen.routing.fabric import RoutedFabric

LayoutLookup = Callable[[str], tuple[SwitchPlatform, Layout] | None]

T = TypeVar("T")
_NO_FIELDS: Row = {}


def majority(values: Iterable[T]) -> T | None:
    """The value that more than half of at least three values equal; None if there is no such value."""
    counts = Counter(values)
    top = counts.most_common(1)
    return top[0][0] if top and counts.total() >= 3 and 2 * top[0][1] > counts.total() else None


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

    @property
    def row(self) -> Row:
        """The PORT row."""
        if self._row is None:
            self.fabric.read_ports(self.switch)
        if self._row is None:  # two cables at one port
            self._row = self.switch.device.row("PORT", self.port)
        return self._row

    def text(self, field: str) -> str:
        """A field of the PORT row."""
        value = (self._row or self.row).get(field)
        return value if isinstance(value, str) else ""

    def read(self, row: Row) -> None:
        """Keep the row until it is forgotten."""
        self._row = row

    def forget(self) -> None:
        """Free the row."""
        self._row = None

    @property
    def kind(self) -> "Kind":
        """Ports of one kind are expected to have the same configuration."""
        length_m = self.fabric.bundle.cable_length_m.get(self.link.id)  # not kept, so that each reader is recorded
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
        self.routed: dict[str, RoutedFabric] | None = None  # the routing models that were read, by plane, if shared
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

    def forget(self, *, derived: bool = True) -> None:
        """Free what is read again if it is needed: rows and values of ports and switches, and if `derived`, the values
        that rules share."""
        if derived:
            self.derived.clear()
        self._usual_values.clear()
        for end in self.__dict__.get("ends", ()):
            end.forget()
        for switch in self.switches.values():
            switch.forget()

    def forget_ends(self) -> None:
        """Free the ends of links; they are made again if they are needed."""
        for end in self.__dict__.get("ends", ()):
            end.far = None  # each end refers to the other, and only the garbage collector, which is off, frees those
        for name in ("ends", "ends_of", "pairs"):
            self.__dict__.pop(name, None)

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

    def read_ports(self, switch: Switch) -> None:
        """Give each wired port of a switch its row: what asks for one of them usually goes through all ports."""
        rows = switch.device.table("PORT")
        for port, end in self.ends_of[switch.name].items():
            end.read(rows.get(port, _NO_FIELDS))

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
