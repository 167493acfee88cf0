"""Which findings explain which: causes first, the consequences below them.

A rule declares what its fault breaks (rules/breaks.py). A finding is caused by the faults that break what it needs: its
session, its port, its device or its plane.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.shape import oversubscription
from fabricgen.codes import codes
from fabricgen.findings import Finding, Severity
from fabricgen.rules.breaks import EXPLAINED, Breaks
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
        """Worst first: by the severity of the fault or of what follows from it, then by how much it explains."""
        worst = min(one.severity.rank for one in (self.finding, *self.explains))
        return (worst, self.finding.severity.rank, -self.places, self.finding.sort_key)

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
    view = _View(bundle)
    faults = [
        (number, breaks, view.of(one)) for number, one in enumerate(findings) if (breaks := _breaks(one)) is not None
    ]
    direct: dict[int, list[int]] = {}  # number of a finding -> those of its causes
    for number, one in enumerate(findings):
        if one.code in EXPLAINED:
            reach = view.of(one)
            met = [
                cause
                for cause, breaks, where in faults
                if findings[cause].code != one.code and view.explains(breaks, where, one, reach)
            ]
            if met:
                direct[number] = met
    found = []
    for number, one in enumerate(findings):
        roots = dict.fromkeys(findings[root].fingerprint for root in _roots(number, direct, ()) if root != number)
        found.append(replace(one, caused_by=tuple(roots)) if roots else one)
    return found


def _roots(number: int, direct: dict[int, list[int]], path: tuple[int, ...]) -> Iterable[int]:
    if number not in direct:
        yield number
    elif number not in path:
        for cause in direct[number]:
            yield from _roots(cause, direct, (*path, number))


def _breaks(one: Finding) -> Breaks | None:
    """What a finding breaks; None if it explains nothing: notes, and warnings about a value."""
    from fabricgen.rules.registry import all_rules
    from fabricgen.rules.rule import RULES_BY_CODE

    all_rules()
    rule = RULES_BY_CODE.get(one.code)
    named = codes().get(one.code, {}).get("breaks", "")
    breaks = rule.breaks if rule else Breaks[named.upper()] if named else None
    if one.severity is Severity.NOTE or (breaks is Breaks.VALUE and one.severity is not Severity.ERROR):
        return None
    return breaks


@dataclass(frozen=True)
class _Reach:
    """Where a finding is: its devices, the port, and the far ends of what it is about."""

    devices: frozenset[str]
    port: tuple[str, str] | None
    far: frozenset[str]
    far_port: tuple[str, str] | None = None


class _View:
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

    def of(self, one: Finding) -> _Reach:
        """The reach of a finding: of a row of a port or session that one, of another row all of the switch."""
        devices = frozenset(one.devices or filter(None, (one.device,)))
        table, _, rest = one.path.partition("|")
        key = rest.split("|")[0]
        link = self.bundle.link_at.get((one.device, key)) if key else None
        if link is not None:
            port = (one.device, key)
            other = link.b if link.a == port else link.a
            return _Reach(devices, port, frozenset({other[0]}), other)
        if table in _SESSIONS and len(devices) == 1 and one.count == 1:
            device = self.bundle.devices.get(one.device)
            row = device.config.get(table, {}).get(key, {}) if device else {}
            name = row.get("name") if isinstance(row, dict) else None
            if isinstance(name, str) and name in self.bundle.devices:
                return _Reach(devices, None, frozenset({name}))
        return _Reach(devices, None, frozenset().union(*(self.peers[name] for name in devices)))

    def explains(self, breaks: Breaks, cause: _Reach, one: Finding, reach: _Reach) -> bool:
        """Whether a fault there explains this finding."""
        effect = breaks.value
        same = not cause.devices.isdisjoint(reach.devices)
        if one.code in effect.session:
            joined = same and not cause.far.isdisjoint(reach.far)
            crossed = not cause.devices.isdisjoint(reach.far) and not cause.far.isdisjoint(reach.devices)
            return (joined or crossed) and not (one.code == _SHARES and self._is_planned(reach))
        if one.code in effect.port:
            if cause.port is None or reach.port is None:
                return same
            return reach.port in (cause.port, cause.far_port)
        if one.code in effect.device:
            return same
        return one.code in effect.plane and self._on_one_plane(cause, reach)

    def _on_one_plane(self, cause: _Reach, reach: _Reach) -> bool:
        mine = {self.planes.get(name, "") for name in cause.devices}
        return not reach.devices or not mine.isdisjoint({self.planes.get(name, "") for name in reach.devices})

    def _is_planned(self, reach: _Reach) -> bool:
        wiring = self.bundle.wiring
        planes = {self.planes.get(name, "") for name in reach.devices}
        return wiring is not None and any(
            ratio > 1 for plane in planes for ratio in oversubscription(wiring, plane).values()
        )
