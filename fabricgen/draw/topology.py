"""The graph of a bundle: switches, pairs of switches with their links, and the links of hosts."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fabricgen.bundle.forgetful import shut_of
from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.bundle.wiring import WiredDevice, WiredLink
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.device_types import ROLES
from fabricgen.units import counted
from fabricgen.vocabulary import LinkKind, Role

Pair = tuple[int, int]
RANK: Mapping[str, int] = {Role.LEAF: 0, Role.SPINE: 1, Role.CORE: 2}


@dataclass(frozen=True)
class Topology:
    """`switches` in the order of fabric.json. `pairs` has the links of each two switches, by their indices; `hosts` the
    links to hosts of each switch, by its index, `outside` those to devices outside the fabric, such as routers.

    `down` counts the links of two switches, in both orders, that are cordoned, not seen by LLDP (these are not in
    `pairs`), or shut at an end, if states were read.
    """

    switches: tuple[WiredDevice, ...]
    pairs: Mapping[Pair, tuple[WiredLink, ...]]
    hosts: Mapping[int, tuple[WiredLink, ...]]
    outside: Mapping[int, tuple[WiredLink, ...]] = field(default_factory=dict)
    down: Mapping[Pair, int] = field(default_factory=dict)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Name -> index of a switch."""
        return {switch.name: index for index, switch in enumerate(self.switches)}

    @cached_property
    def planes(self) -> Mapping[str, tuple[int, ...]]:
        """Plane -> the indices of its switches, in the order of the picture."""
        found: dict[str, list[int]] = {}
        for index, switch in enumerate(self.switches):
            found.setdefault(switch.plane, []).append(index)
        return {plane: tuple(sorted(each, key=self.order)) for plane, each in found.items()}

    @cached_property
    def pods(self) -> tuple[int | None, ...]:
        """The pod of each switch; that of a leaf without one is the pod of its spines."""
        found = [switch.pod for switch in self.switches]
        for pair in self.pairs:
            for one, other in (pair, pair[::-1]):
                if self.switches[one].pod is None and self.switches[one].role == Role.LEAF and found[one] is None:
                    found[one] = self.switches[other].pod
        return tuple(found)

    def order(self, index: int) -> tuple[object, ...]:
        """The order of a switch in its tier: copy of the plane, pod, scalable unit, rail, name."""
        switch, pod = self.switches[index], self.pods[index]
        places = (switch.subplane, pod, switch.su, switch.rail)
        return (*((place is not None, place or 0) for place in places), natural_key(switch.name))

    def hosts_of(self, switches: tuple[int, ...]) -> tuple[int, int]:
        """How many hosts are at these switches, and by how many links."""
        links = [link for index in switches for link in self.hosts.get(index, ())]
        return len({link.a[0] for link in links}), len(links)

    def outside_of(self, switches: Iterable[int]) -> dict[str, list[int]]:
        """Device outside the fabric -> the switches that it has links to."""
        found: dict[str, list[int]] = {}
        for index in switches:
            for link in self.outside.get(index, ()):
                found.setdefault(link.a[0], []).append(index)
        return found

    def caption(self, switches: tuple[int, ...]) -> str:
        """'20 switches and 32 hosts', '10 switches, 8 hosts and 2 devices outside the fabric'."""
        hosts, outside = self.hosts_of(switches)[0], len(self.outside_of(switches))
        parts = [counted(len(switches), "switch", "switches"), counted(hosts, "host")]
        if not outside:
            return " and ".join(parts)
        return f"{', '.join(parts)} and {counted(outside, 'device')} outside the fabric"


def read_topology(bundle: Bundle, *, states: bool = False) -> Topology:
    """The graph of all planes of a bundle, or of loose files: then roles come from DEVICE_METADATA. With `states`, the
    files of all switches are read for the states of their ports."""
    if bundle.wiring is not None:
        switches, links = bundle.wiring.devices, bundle.wiring.links
        if bundle.links_from != "fabric.json":
            judged = set(bundle.devices)
            links = (*bundle.links, *(link for link in links if not judged.intersection((link.a[0], link.b[0]))))
    else:
        switches, links = tuple(map(_loose, bundle.devices.values())), bundle.links
    index = {switch.name: number for number, switch in enumerate(switches)}
    pairs: dict[Pair, list[WiredLink]] = {}
    hosts: dict[int, list[WiredLink]] = {}
    outside: dict[int, list[WiredLink]] = {}
    for link in links:
        a, b = index.get(link.a[0]), index.get(link.b[0])
        if a is not None and b is not None:
            pairs.setdefault((b, a) if (b, a) in pairs else (a, b), []).append(link)
        elif b is not None:
            (outside if link.kind == LinkKind.EXTERNAL else hosts).setdefault(b, []).append(link)
    return Topology(
        tuple(switches),
        {pair: tuple(each) for pair, each in pairs.items()},
        {switch: tuple(each) for switch, each in hosts.items()},
        {switch: tuple(each) for switch, each in outside.items()},
        _down(bundle, index, states=states),
    )


def _down(bundle: Bundle, index: Mapping[str, int], *, states: bool) -> dict[Pair, int]:
    """Pair, in both orders, -> its links that are down."""
    planned = bundle.wiring.links if bundle.wiring else bundle.links
    seen = {frozenset((link.a, link.b)) for link in bundle.links}
    out = set(bundle.wiring.cordoned) if bundle.wiring else set[str]()
    shut = {name: shut_of(device) for name, device in bundle.devices.items()} if states else {}
    found: Counter[Pair] = Counter()
    for link in planned:
        a, b = index.get(link.a[0]), index.get(link.b[0])
        is_shut = any(port in shut.get(device, ()) for device, port in (link.a, link.b))
        if a is not None and b is not None and (link.id in out or is_shut or frozenset((link.a, link.b)) not in seen):
            found.update([(a, b), (b, a)])
    return dict(found)


def _loose(device: ObservedDevice) -> WiredDevice:
    """A switch of loose files: its role and hwsku from DEVICE_METADATA."""
    kind, hwsku = (str(device.metadata.get(name, "")) for name in ("type", "hwsku"))
    role = Role.read(ROLES.get(kind, ""))
    return WiredDevice(device.name, device.name, "", role, platform="", layout="", hwsku=hwsku)


def strides(topology: Topology, members: tuple[int, ...]) -> tuple[int, ...]:
    """How far neighbours of a grid are apart in the order of its switches: (1, 4, 16) for 4 x 4 x 4; () for others."""
    place = {index: number for number, index in enumerate(members)}
    steps = Counter(abs(place[a] - place[b]) for a, b in topology.pairs if a in place and b in place)
    found = sorted(step for step, count in steps.items() if count > len(members) / 2)
    whole = all(later % earlier == 0 for earlier, later in itertools.pairwise(found))
    return tuple(found) if found[:1] == [1] and whole and len(found) <= 3 else ()
