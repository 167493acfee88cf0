"""Which findings explain which: causes first, the consequences below them.

A rule declares what its fault breaks (rules/breaks.py). A finding is caused by the faults that break what it needs: its
session, its port, its device or its plane.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.shape import oversubscription
from fabricgen.codes import code_names, codes
from fabricgen.findings import Finding, Severity
from fabricgen.rules.breaks import EXPLAINED, Breaks, Effect
from fabricgen.sonic.secrets import without_forms
from fabricgen.units import counted
from fabricgen.visible import visible

_SESSIONS = ("BGP_NEIGHBOR", "BGP_INTERNAL_NEIGHBOR")
_MOST_CAUSES = 5  # lines at the head of a text
_EXAMPLE = re.compile(r", for example|: ")  # what follows in a message is an example or a detail
_SHARES = "FG701"  # is by design where the plan is oversubscribed


@dataclass(frozen=True)
class Cause:
    """A finding that no other one explains, and those that it explains."""

    finding: Finding
    explains: tuple[Finding, ...]

    @property
    def places(self) -> int:
        """Its own places and those that it explains."""
        return self.finding.count + sum(one.count for one in self.explains)

    @property
    def rank(self) -> tuple[object, ...]:
        """Worst first: by the severity of the fault or of what follows from it, by how much it explains, then by how
        wide its effect is."""
        worst = min(one.severity.rank for one in (self.finding, *self.explains))
        breaks = _breaks(self.finding)
        width = [*Breaks].index(breaks) if breaks else -1
        return (worst, self.finding.severity.rank, -self.places, -width, self.finding.sort_key)

    @property
    def broken(self) -> str:
        """What it breaks, in the words of the first finding that it explains; "" for notes only."""
        kept = [each for each in self.explains if each.code not in Breaks.VALUE.value.device]
        found = sorted((each for each in kept if each.severity is not Severity.NOTE), key=lambda each: each.sort_key)
        return _EXAMPLE.split(found[0].message)[0] if found else ""

    def sentence(self, of: int) -> str:
        """What to set, where, what it breaks, and how many of `of` places it explains."""
        one = self.finding
        where = ", ".join(filter(None, (one.code, str(one.location or one.device))))
        parts = [f"{one.device}: {one.message}" if one.device else one.message, *([one.hint] if one.hint else [])]
        if self.broken:
            parts.append(f"breaks: {self.broken}")
        if self.explains:
            parts.append(f"explains {self.places:,} of {of:,} places")
        return visible(without_forms(f"{'; '.join(parts)} ({where})"))


def causes(findings: Sequence[Finding]) -> list[Cause]:
    """The causes among findings with `caused_by`, worst first. A finding whose causes are not among them is one."""
    known = {one.fingerprint for one in findings if not one.caused_by}
    below: dict[str, list[Finding]] = defaultdict(list)
    for one in findings:
        for cause in one.caused_by:
            below[cause].append(one)
    found = [Cause(one, tuple(below[one.fingerprint])) for one in findings if known.isdisjoint(one.caused_by)]
    return sorted(found, key=lambda cause: cause.rank)


def cause_lines(findings: Sequence[Finding]) -> list[str]:
    """'cause 1: leaf-01: bgp_asn is 65001, …; breaks: …; explains 201 of 208 places (FG331, file:line)', worst first.

    One line for each error, and each warning that explains others; nothing where no finding explains another one.
    """
    if not any(one.caused_by for one in findings):
        return []
    of = sum(one.count for one in findings)
    shown = [one for one in causes(findings) if one.finding.severity is Severity.ERROR or one.explains]
    lines = [f"cause {number}: {one.sentence(of)}" for number, one in enumerate(shown[:_MOST_CAUSES], 1)]
    left = len(shown) - _MOST_CAUSES
    return [*lines, f"{counted(left, 'more cause')} below"] if left > 0 else lines


def causes_first(findings: Sequence[Finding]) -> list[Finding]:
    """The findings of `causes`, then the consequences, in the given order."""
    if not any(one.caused_by for one in findings):
        return list(findings)
    return list(dict.fromkeys([*(cause.finding for cause in causes(findings)), *findings]))


def with_causes(findings: Sequence[Finding], bundle: Bundle | None) -> list[Finding]:
    """The findings, each with the fingerprints of those that explain it, if any does."""
    if bundle is None or not any(one.code in EXPLAINED for one in findings):
        return list(findings)
    places = _Places(bundle)
    faults = _Faults(places)
    for number, one in enumerate(findings):
        if (breaks := _breaks(one)) is not None:
            faults.add(number, one, breaks.value)
    direct: dict[int, list[int]] = {}  # number of a finding -> those of its causes
    for number, one in enumerate(findings):
        if one.code in EXPLAINED and (met := faults.explaining(one)):
            direct[number] = met
    for number, one in enumerate(findings):
        if met := [fault for fault in faults.on_device(one) if fault not in direct]:
            direct[number] = met
    found = []
    for number, one in enumerate(findings):
        roots = tuple(dict.fromkeys(findings[root].fingerprint for root in _roots(number, direct) if root != number))
        found.append(replace(one, caused_by=roots) if roots else one)
    return found


def _roots(number: int, direct: Mapping[int, Sequence[int]]) -> list[int]:
    """The findings without causes to which the causes of a finding lead, in order."""
    seen, waiting = {number}, [number]
    while waiting:
        for cause in direct.get(waiting.pop(), ()):
            if cause not in seen:
                seen.add(cause)
                waiting.append(cause)
    return sorted(one for one in seen if one not in direct)


def _breaks(one: Finding) -> Breaks | None:
    """What a finding breaks; None if it explains nothing: notes, and warnings about a value."""
    breaks = _declared(one.code)
    if one.severity is Severity.NOTE or (breaks is Breaks.VALUE and one.severity is not Severity.ERROR):
        return None
    return breaks


@cache
def _declared(code: str) -> Breaks | None:
    """What the rule with a code, or its entry in codes.yaml, declares."""
    from fabricgen.rules.registry import all_rules

    if code not in code_names():
        return next((rule.breaks for rule in all_rules() if rule.code == code), None)
    named = codes()[code].get("breaks", "")
    return Breaks[named.upper()] if named else None


@dataclass(frozen=True)
class _Reach:
    """Where a finding is: its devices, the ends of its link, if it is about one, and the pairs of neighbors that it
    concerns: of a port or session that one, of another row all of its switches."""

    devices: frozenset[str]
    ports: tuple[tuple[str, str], ...]  # the port of the finding, then the far end of its link
    pairs: frozenset[frozenset[str]]


class _Places:
    """The bundle as places: which devices a link or a session joins."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.peers: dict[str, set[str]] = defaultdict(set)
        for link in bundle.switch_links:
            self.peers[link.a[0]].add(link.b[0])
            self.peers[link.b[0]].add(link.a[0])

    @cached_property
    def planes(self) -> dict[str, str]:
        """Switch -> plane; empty without a wiring."""
        return {one.name: one.plane for one in self.bundle.wiring.devices} if self.bundle.wiring else {}

    @cached_property
    def switches(self) -> Counter[str]:
        """Plane -> the number of its switches."""
        return Counter(self.planes.get(name, "") for name in self.bundle.devices)

    @cached_property
    def oversubscribed(self) -> frozenset[str]:
        """The planes that are oversubscribed by design."""
        wiring = self.bundle.wiring
        ratios = {one.name: oversubscription(wiring, one.name).values() for one in wiring.planes} if wiring else {}
        return frozenset(name for name, found in ratios.items() if max(found, default=1) > 1)

    def planes_of(self, devices: Iterable[str]) -> frozenset[str]:
        """The planes of switches; groups of hosts are on none."""
        return frozenset(self.planes.get(name, "") for name in devices if name in self.bundle.devices)

    def of(self, one: Finding) -> _Reach:
        """The reach of a finding."""
        devices = frozenset(one.devices or filter(None, (one.device,)))
        table, _, rest = one.path.partition("|")
        key = rest.split("|")[0]
        link = self.bundle.link_at.get((one.device, key)) if key else None
        if link is not None and len(devices) == 1 and one.count == 1:
            here = (one.device, key)
            far = link.b if link.a == here else link.a
            return _Reach(devices, (here, far), frozenset({frozenset((one.device, far[0]))}))
        if table in _SESSIONS:
            device = self.bundle.devices.get(one.device)
            name = device.row(table, key).get("name") if device else None
            is_one = len(devices) == 1 and one.count == 1
            if isinstance(name, str) and name in self.bundle.devices and (is_one or name in one.message):
                return _Reach(devices, (), frozenset(frozenset((each, name)) for each in devices))
        pairs = frozenset(frozenset((name, peer)) for name in devices for peer in self.peers[name])
        return _Reach(devices, (), pairs)


# A value that differs from those of the peers. A fault of a switch as a whole, or of several ports, says nothing about
# the values of other tables.
_VALUES = Breaks.VALUE.value.port


def _table(one: Finding) -> str:
    return one.path.partition("|")[0]


class _Faults:
    """The faults among findings by their places, so that a consequence finds its causes without trying each."""

    def __init__(self, places: _Places) -> None:
        self.places = places
        self._known: dict[int, tuple[str, Effect]] = {}
        self._tables: dict[int, str] = {}
        self._of_pair: dict[frozenset[str], list[int]] = defaultdict(list)
        self._of_port: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._without_port: dict[str, list[int]] = defaultdict(list)
        self._of_device: dict[str, list[int]] = defaultdict(list)
        self._of_plane: dict[str, list[int]] = defaultdict(list)
        self._of_hosts: list[int] = []
        self._of_file: dict[str, list[int]] = defaultdict(list)

    def add(self, number: int, one: Finding, effect: Effect) -> None:
        """A fault with the number of its finding."""
        self._known[number] = (one.code, effect)
        self._tables[number] = _table(one)
        reach = self.places.of(one)
        for pair in reach.pairs if effect.session else ():
            self._of_pair[pair].append(number)
        for port in reach.ports:
            self._of_port[port].append(number)
        for name in reach.devices:
            self._of_device[name].append(number)
            if not reach.ports:
                self._without_port[name].append(number)
        planes = self.places.planes_of(reach.devices)
        for plane in planes:
            self._of_plane[plane].append(number)
        if one.location and effect.file:
            self._of_file[one.location.file].append(number)
        if effect.hosts and any(2 * len(reach.devices) > self.places.switches[plane] for plane in planes):
            self._of_hosts.append(number)

    def explaining(self, one: Finding) -> list[int]:
        """The numbers of the faults that explain a finding, in order."""
        reach, found = self.places.of(one), set[int]()
        planes = self.places.planes_of(reach.devices)
        if one.code != _SHARES or self.places.oversubscribed.isdisjoint(planes):
            found.update(self._of_pairs(one.code, reach.pairs))
        if reach.ports:
            found.update(self._of(one.code, "port", [self._of_port[reach.ports[0]]]))
        of_device = self._without_port if reach.ports else self._of_device
        wide = self._of(one.code, "port", [of_device[name] for name in reach.devices])
        found.update(fault for fault in wide if one.code not in _VALUES or self._tables[fault] == _table(one))
        around = reach.devices.union(*(self.places.peers[name] for name in reach.devices))
        found.update(self._of(one.code, "near", (self._of_device[name] for name in around)))
        found.update(self._of(one.code, "plane", [self._of_plane[plane] for plane in planes or [*self._of_plane]]))
        found.update(self._of(one.code, "hosts", [self._of_hosts]))
        found.update(self._of(one.code, "file", [self._of_file[one.location.file]] if one.location else ()))
        return sorted(found)

    def _of_pairs(self, code: str, pairs: Collection[frozenset[str]]) -> list[int]:
        """The faults at sessions of these pairs; if some are at all of them, only these."""
        met = Counter(fault for pair in pairs for fault in set(self._of(code, "session", [self._of_pair[pair]])))
        most = max(met.values(), default=0)
        return [number for number, count in met.items() if count == most or most < len(pairs)]

    def on_device(self, one: Finding) -> list[int]:
        """The numbers of the faults of a device that explain a finding about its file as a whole, in order."""
        devices = self.places.of(one).devices if one.code in _AT_LEVEL["device"] else ()
        return sorted(set(self._of(one.code, "device", (self._of_device[name] for name in devices))))

    def _of(self, code: str, level: str, groups: Iterable[Sequence[int]]) -> Iterator[int]:
        """The faults of the groups that explain this code at this level. No code explains itself."""
        if code not in _AT_LEVEL[level]:
            return
        for number in itertools.chain.from_iterable(groups):
            own, effect = self._known[number]
            if own != code and code in getattr(effect, level):
                yield number


_AT_LEVEL = {
    level: frozenset().union(*(getattr(each.value, level) for each in Breaks))
    for level in ("session", "port", "device", "near", "plane", "hosts", "file")
}
