"""The bundle for rules: switches with role and layout, wired ports with their far ends. Derived once."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.bundle.wiring import WiredHost, WiredLink, WiredPlane
from fabricgen.engine.derived import derived, forget, functions_of, kept
from fabricgen.joined import joined
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import IMPORTED
from fabricgen.platforms.ports_in_use import PortsInUse
from fabricgen.rules.defects import Place
from fabricgen.rules.view.shape import Shapes, well_shaped
from fabricgen.rules.view.switch import Model, Network, Switch
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.tables import Row, Table
from fabricgen.vocabulary import LinkKind

LayoutLookup = Callable[[str], Model | None]
Kind = tuple[Network, str, str, str, int, float | None]

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
        return self.switch.port_rows.get(self.port, _NO_FIELDS)

    def text(self, field: str) -> str:
        """A field of the PORT row."""
        value = self.switch.port_rows.get(self.port, _NO_FIELDS).get(field)
        return value if isinstance(value, str) else ""

    @property
    def kind(self) -> Kind:
        """Ports of one kind are expected to have the same configuration."""
        switch = self.switch
        return switch.network, switch.role, switch.hwsku, self.far_role, self.link.speed_mbps, self.cable_m


def far_end(end: End, table: str, field: str = "") -> tuple[tuple[str, Place], ...]:
    """The row of the port at the other end of a cable, as a related place; none if the far end has no file."""
    return ((f"the far end, {end.far_name}", end.far.place(table, field)),) if end.far else ()


class Fabric:
    """All switches, wired ports and planes of a bundle."""

    def __init__(
        self, bundle: Bundle, layout_lookup: LayoutLookup | None = None, *, has_plain_rows: bool = False
    ) -> None:
        """With `has_plain_rows` each table has the shape that rules rely on: see `well_shaped`."""
        self.bundle = bundle
        self._lookup = layout_lookup or layout_by_hwsku
        self._in_use = PortsInUse()
        self._usual_values: dict[object, Mapping[Kind, object]] = {}
        shapes: Shapes = {}
        self.switches: dict[str, Switch] = {
            name: Switch(device if has_plain_rows else well_shaped(device, shapes), self)
            for name, device in bundle.devices.items()
        }

    def forget(self, *, derived: bool = True) -> None:
        """Free what is worked out again if it is needed: of switches, and if `derived` what rules share."""
        if derived:
            forget(self, functions_of(self))
        self._usual_values.clear()
        forget(self, ["_by_kind", "pair_rows"])
        for switch in self.switches.values():
            switch.forget()

    def forget_ends(self) -> None:
        """Free the ends of links; they are made again if they are needed."""
        for end in self.__dict__.get("ends", ()):
            end.far = None  # each end refers to the other, so only a garbage collector would free them
        forget(self, ["ends", "ends_of", "pairs"])

    def model_of(self, device: ObservedDevice) -> Model | None:
        """The platform and the layout of a switch by its HwSKU and the ports in its file; None if unknown."""
        hwsku = device.text_of("DEVICE_METADATA", "localhost", "hwsku")
        found = self._lookup(hwsku) if hwsku else None
        if found is None:
            return None
        platform, layout = found[0], found[1]
        if platform.vendor == IMPORTED:  # an import made its layouts, one for each set of ports of its files
            ports = device.table("PORT").keys()
            layout = next((one for one in platform.layouts if one.port_by_name.keys() == ports), layout)
        layout = layout.at(device.release)
        return platform, self._in_use.layout(platform, layout, device.table("PORT"), device.table("BREAKOUT_CFG"))

    @derived
    def _networks(self) -> list[tuple[str, ...]]:
        """The switches of each network that cables form; empty with fabric.json, which names the planes."""
        return [] if self.bundle.wiring else joined_switches(self.bundle)

    @derived
    def parts(self) -> Mapping[str, int]:
        """switch -> the number of its network, if this has several switches."""
        several = (names for names in self._networks if len(names) > 1)
        return {name: part for part, names in enumerate(several, 1) for name in names}

    @derived
    def connected(self) -> Mapping[str, int]:
        """switch -> the number of the network that cables between switches form, with or without fabric.json."""
        return {name: number for number, names in enumerate(joined_switches(self.bundle), 1) for name in names}

    @derived
    def is_one_network(self) -> bool:
        """Whether cables connect all switches."""
        return len(set(self.connected.values())) <= 1

    @derived
    def lossy(self) -> frozenset[str]:
        """The switches of networks without a lossless class."""
        devices = {name: switch.device for name, switch in self.switches.items()}
        return frozenset(lossy_switches(self.bundle, devices, self._networks))

    @property
    def cable_length_m(self) -> Mapping[str, float]:
        """link id -> true cable length, where known."""
        return self.bundle.cable_length_m

    @derived
    def planes(self) -> Mapping[str, WiredPlane]:
        """Planes by name; empty without fabric.json."""
        wiring = self.bundle.wiring
        return {plane.name: plane for plane in wiring.planes} if wiring else {}

    @derived
    def hosts(self) -> Mapping[str, WiredHost]:
        """Hosts by name; empty without fabric.json."""
        wiring = self.bundle.wiring
        return {host.name: host for host in wiring.hosts} if wiring else {}

    @derived
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

    @derived
    def ends_of(self) -> Mapping[str, Mapping[str, End]]:
        """switch -> port -> wired end."""
        found: dict[str, dict[str, End]] = {name: {} for name in self.switches}
        for end in self.ends:
            found[end.switch.name][end.port] = end
        return found

    @derived
    def pairs(self) -> tuple[tuple[End, End], ...]:
        """The links whose two ends are known switches."""
        return tuple((end, end.far) for end in self.ends if end.far and (end.switch.name, end.port) == end.link.a)

    @derived
    def pair_rows(self) -> tuple[tuple[Row, Row], ...]:
        """The PORT rows of both ends of each of `pairs`: rules compare field by field."""
        return tuple((one.row, other.row) for one, other in self.pairs)

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

    def _usual(self, kind: Kind, value: Callable[[End], object]) -> object | None:
        """The value that most ports of a kind have."""
        return kept(partial(self._usual_of_kinds, value), "usual", value, memo=self._usual_values)[kind]

    def _usual_of_kinds(self, value: Callable[[End], object]) -> Mapping[Kind, object]:
        return {kind: majority(map(value, ends)) for kind, ends in self._by_kind.items()}

    @derived
    def _by_kind(self) -> Mapping[Kind, tuple[End, ...]]:
        found: dict[Kind, list[End]] = defaultdict(list)
        for end in self.ends:
            found[end.kind].append(end)
        return {kind: tuple(ends) for kind, ends in found.items()}


# Networks without PFC: by fabric.json, or, for loose files, if the files show it without doubt.

_NO_HEADROOM = "0m"


def lossy_switches(
    bundle: Bundle, devices: Mapping[str, ObservedDevice], networks: Iterable[tuple[str, ...]]
) -> Iterator[str]:
    """The names of the switches of networks in which no class is lossless. `devices` have well-shaped rows.

    For loose files this is a network in which no switch requests headroom anywhere. A single switch without PFC among
    switches with PFC is not included, because that is a fault.
    """
    if bundle.wiring:
        lossy = {plane.name for plane in bundle.wiring.planes if not plane.lossless}
        yield from (name for name, device in devices.items() if device.wired and device.wired.plane in lossy)
        return
    for network in networks:
        if all(_requests_no_headroom(devices[name]) for name in network):
            yield from network


def _requests_no_headroom(device: ObservedDevice) -> bool:
    """Whether all cable lengths are 0m, which makes SONiC create no headroom, and the file uses no PFC, no watchdog and
    no lossless profile."""
    lengths = {text for row in device.table("CABLE_LENGTH").values() for text in row.values()}
    port_maps = device.table("PORT_QOS_MAP").values()
    return (
        lengths == {_NO_HEADROOM}
        and not any(row.get(name) for row in port_maps for name in ("pfc_enable", "pfcwd_sw_enable"))
        and not device.table("PFC_WD")
        and not _has_headroom(device.table("BUFFER_PG"), device.table("BUFFER_PROFILE"))
        and not any("lossless" in str(row.get("profile")) for row in device.table("BUFFER_QUEUE").values())
    )


def _has_headroom(groups: Table, profiles: Table) -> bool:
    names = {str(row.get("profile")) for row in groups.values()}
    return any(name == "NULL" or name.startswith("pg_lossless_") or "xoff" in profiles.get(name, {}) for name in names)


# Groups of switches that cables connect. Loose files have nothing else that separates planes.


def joined_switches(bundle: Bundle) -> list[tuple[str, ...]]:
    """The switches of each network, in the order of the devices.

    Cables connect them directly or through other switches, even if the files of these are missing. Hosts do not
    connect networks, because planes share hosts.
    """
    pairs = (
        (link.a[0], link.b[0]) for link in bundle.links if link.kind not in (LinkKind.HOST_LEAF, LinkKind.EXTERNAL)
    )
    networks = (tuple(name for name in names if name in bundle.devices) for names in joined(bundle.devices, pairs))
    return [network for network in networks if network]
