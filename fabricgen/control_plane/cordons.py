"""The links that the inventory takes out of service, and the oversubscription that it states and loses with them.

The inventory refers to devices by name or identity, so this plan comes after allocation.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.outside import OutsideLink, OutsidePlan
from fabricgen.design.model import Fabric, Link
from fabricgen.findings import Finding, Related, Severity
from fabricgen.inventory.mistakes import error, suggest
from fabricgen.inventory.model import LinkNote
from fabricgen.inventory.plane import Plane
from fabricgen.units import counted
from fabricgen.vocabulary import LinkKind, LinkState, Role, Technology

Cordons = Mapping[str, LinkNote]  # link id -> the entry of the inventory

_ROUNDING = 1e-6  # of ratios of speeds


def plan_cordons(fabric: Fabric, allocation: Allocation, outside: OutsidePlan) -> tuple[Cordons, list[Finding]]:
    """The cordoned links, and the findings on entries that name no link, or take away stated bandwidth."""
    if not fabric.inventory.links:
        return {}, []
    found = _Resolver(fabric, allocation, outside)
    notes = {link: note for link, note in found.resolve() if note.state is LinkState.CORDONED}
    return notes, [*found.findings, *_broken_promises(fabric, allocation, notes)]


def _is_pattern(note: LinkNote) -> bool:
    """Whether an entry names several links by shell patterns, as in overrides."""
    return any(sign in text for text in (note.cable or "", *note.ends) for sign in "*?[")


class _Resolver:
    """Finds the links of the entries of `links`."""

    def __init__(self, fabric: Fabric, allocation: Allocation, outside: OutsidePlan) -> None:
        self.fabric, self.allocation = fabric, allocation
        self.findings: list[Finding] = []
        self.infiniband = {
            name for name, plane in fabric.inventory.planes.items() if plane.technology == Technology.INFINIBAND
        }
        self.plane_of: dict[str, str] = {}
        self.at: dict[tuple[str, str], str] = {}  # (name or identity, port) -> link id
        self.ends: dict[str, tuple[str, str]] = {}  # link id -> both ends, by name
        self._names_of: dict[str, tuple[set[tuple[str, str]], ...]] = {}  # link id -> both ends, by name and identity
        names = {**allocation.names, **allocation.host_names}
        for link in fabric.links:
            self._add(link, (names[link.a.key], link.a.key, link.a_port), (names[link.b.key], link.b.key, link.b_port))
        for one in outside.links:
            far = (one.device.name, one.device.name, one.device.peer_port)
            self._add(one, far, (names[one.switch.key], one.switch.key, one.port))
        self.cables = {cable.key: cable.links for cable in fabric.cables}
        self.cables |= {one.key: (one.key,) for one in outside.links}

    def _add(self, link: Link | OutsideLink, *ends: tuple[str, str, str]) -> None:
        self.plane_of[link.key] = link.plane
        for name, key, port in ends:
            self.at[name, port] = self.at[key, port] = link.key
        (a, _, a_port), (b, _, b_port) = ends
        self.ends[link.key] = f"{a}:{a_port}", f"{b}:{b_port}"
        self._names_of[link.key] = tuple({(name, port), (key, port)} for name, key, port in ends)

    def resolve(self) -> Iterator[tuple[str, LinkNote]]:
        """(link id, entry) of each link that an entry names."""
        first: dict[str, LinkNote] = {}
        for note in self.fabric.inventory.links:
            for link in self._links_of(note):
                if link in first and _is_pattern(note):
                    continue  # patterns may overlap what is given already
                if link in first:
                    related = (Related("the first one", first[link].at()),)
                    message = f"the link {' to '.join(self.ends[link])} is given twice"
                    self._report("FG102", message, note, (), "keep one of the two", related)
                elif self.plane_of[link] in self.infiniband:
                    self._refuse_infiniband(note, link)
                else:
                    first[link] = note
                    yield link, note

    def _links_of(self, note: LinkNote) -> tuple[str, ...]:
        if _is_pattern(note):
            return self._matching(note)
        if note.cable is not None:
            if note.cable not in self.cables:
                hint = suggest(note.cable, sorted(self.cables))
                self._report("FG107", f"the fabric has no cable {note.cable!r}", note, ("cable",), hint)
            return self.cables.get(note.cable, ())
        links = [link for index in range(2) if (link := self._link_at(note, index))]
        if len(links) < 2 or links[0] == links[1]:
            return tuple(links[1:])
        ends = [self.ends[link] for link in links]
        message = f"no link connects {note.ends[0]} and {note.ends[1]}"
        hint = f"the links of these ports are {' to '.join(ends[0])}, and {' to '.join(ends[1])}"
        self._report("FG131", message, note, ("ends",), hint)
        return ()

    def _matching(self, note: LinkNote) -> tuple[str, ...]:
        """The links in service of the cables, or between the ends, that a shell pattern matches."""
        if note.cable is not None:
            found = [link for cable, links in self.cables.items() if fnmatchcase(cable, note.cable) for link in links]
            hint, step = "cabling.csv has the names of all cables", "cable"
        else:
            near, far = (
                {link for (device, port), link in self.at.items() if fnmatchcase(f"{device}:{port}", end)}
                for end in note.ends
            )
            found = [link for link in self.ends if link in near and link in far and self._are_opposite(note.ends, link)]
            hint, step = "write device:port at each end, where * stands for any text", "ends"
        if not found:
            self._report("FG107", "no link of the fabric matches", note, (step,), hint)
        return tuple(dict.fromkeys(found))

    def _are_opposite(self, patterns: tuple[str, ...], link: str) -> bool:
        """Whether the two patterns match the two ends of a link, not one end twice."""
        names = [{f"{device}:{port}" for (device, port) in self._names_of[link][side]} for side in range(2)]
        sides = [[any(fnmatchcase(name, one) for name in names[side]) for side in range(2)] for one in patterns]
        return (sides[0][0] and sides[1][1]) or (sides[0][1] and sides[1][0])

    def _link_at(self, note: LinkNote, index: int) -> str | None:
        device, _, port = note.ends[index].rpartition(":")
        if link := self.at.get((device, port)):
            return link
        ports = [known for name, known in self.at if name == device]
        if ports:
            hint = suggest(port, ports)
            self._report("FG131", f"{device} has no link at port {port!r}", note, ("ends", index), hint)
        else:
            hint = "write device:port" if not device else suggest(device, sorted({name for name, _ in self.at}))
            message = f"the device {device!r} does not exist" if device else f"{port!r} is not an end of a link"
            self._report("FG107" if device else "FG105", message, note, ("ends", index), hint)
        return None

    def _refuse_infiniband(self, note: LinkNote, link: str) -> None:
        plane = self.plane_of[link]
        message = f"{' to '.join(self.ends[link])} is a link of InfiniBand plane {plane}: no file of a subnet manager "
        message += "disables a port"
        hint = "disable the port on the fabric with `ibportstate LID PORT disable`, and remove this entry; the subnet "
        hint += "manager then routes around the link. A set of `checks: {maintenance}` judges the fabric without it"
        self._report("FG132", message, note, (), hint)

    def _report(
        self, code: str, message: str, note: LinkNote, steps: tuple[str | int, ...], hint: str,
        related: tuple[Related, ...] = (),
    ) -> None:  # fmt: skip
        self.findings.append(error(code, message, note, *steps, hint=hint, related=related))


def _broken_promises(fabric: Fabric, allocation: Allocation, cordons: Cordons) -> Iterator[Finding]:
    """FG133: with its cordoned uplinks a switch has more oversubscription than the plane states."""
    for design in fabric.planes:
        cut: dict[str, list[Link]] = defaultdict(list)
        down, up = defaultdict[str, int](int), defaultdict[str, int](int)
        for link in design.links if "oversubscription" in design.plane.node.mapping else ():
            if link.key not in cordons:
                down[link.b.key] += link.speed_mbps
                up[link.a.key] += link.speed_mbps
            elif link.kind in (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE):
                cut[link.a.key].append(link)
        for key, links in cut.items():
            role = Role.LEAF if links[0].kind == LinkKind.LEAF_SPINE else Role.SPINE
            yield from _above(design.plane, role, allocation.names[key], down[key], up[key], [
                cordons[link.key] for link in links
            ])  # fmt: skip


def _above(
    plane: Plane, role: Role, name: str, down_mbps: int, up_mbps: int, notes: list[LinkNote]
) -> Iterator[Finding]:
    promised = plane.oversubscription[role]
    if up_mbps and down_mbps / up_mbps <= promised + _ROUNDING:
        return
    ratio = f"{down_mbps / up_mbps:.3g}:1" if up_mbps else "no uplink in service"
    uplinks = counted(len(notes), "cordoned uplink")
    message = f"{name} has {ratio} with {uplinks}, plane {plane.name} states an oversubscription of {promised:g}:1"
    related = (
        Related("the stated oversubscription", plane.at("oversubscription")),
        *(Related("another cordoned uplink", note.at("state")) for note in notes[:-1]),
    )
    hint = "replace the cable, or state the oversubscription that the plane has meanwhile"
    yield replace(error("FG133", message, notes[-1], "state", hint=hint, related=related), severity=Severity.WARNING)
