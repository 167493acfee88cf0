"""From what was found to what is told: suppressed, with the severities that a person chose, traced and grouped."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fabricgen.bundle.hosts import FOLDER as HOSTS
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.report.grouping import grouped, numbered
from fabricgen.report.pages import pages
from fabricgen.suppressions import Suppression, Suppressions

OFF = "off"
MOST_CAUSES = 3


@dataclass(frozen=True)
class Outcome:
    """What a report tells, in order, and what a person accepts."""

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()


def _as_recorded(place: str) -> Location:
    return Location(place.partition("#")[0])


@dataclass(frozen=True)
class Telling:
    """How findings are to be told.

    `severities`: code -> error | warning | note | off. `asked`: the codes that this run looked for, which tells what
    suppressions are unused; None where it cannot.
    `place_of`: the line of an inventory value, given as file#dotted.path.
    """

    suppressions: Suppressions = field(default_factory=Suppressions)
    severities: Mapping[str, str] = field(default_factory=dict)
    asked: Collection[str] | None = None
    expand: bool = False
    place_of: Callable[[str], Location] = _as_recorded

    def outcome(
        self, findings: Iterable[Finding], bundle: Bundle | None = None, inventory: Sequence[Finding] = ()
    ) -> Outcome:
        """What is told of `findings` about a bundle, and of those about its inventory: whose errors nobody accepts."""
        firm = [one for one in inventory if one.severity is Severity.ERROR]
        soft = [*findings, *(one for one in inventory if one.severity is not Severity.ERROR)]
        marked = [*firm, *self._levelled(self._marked(one, bundle) for one in soft)]
        notes = list(self._levelled(self._notes()))
        told = [*(one for one in marked if one.suppression is None), *notes]
        accepted = [one for one in marked if one.suppression is not None]
        return Outcome(self._shown(told, bundle), self._shown(accepted, bundle))

    def _shown(self, findings: Sequence[Finding], bundle: Bundle | None) -> tuple[Finding, ...]:
        chosen = list(findings) if self.expand else grouped(dict.fromkeys(findings))
        return tuple(numbered(self._traced(one, bundle) for one in chosen))

    def _marked(self, one: Finding, bundle: Bundle | None) -> Finding:
        """With its suppression; the rules have marked theirs already, port by port."""
        if one.suppression or not self.suppressions.given:
            return one

        def causes() -> tuple[str, ...]:
            return _causes(one, bundle)

        return replace(one, suppression=self.suppressions.match(one.code, one.device, one.path, causes))

    def _levelled(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        for one in findings:
            chosen = self.severities.get(one.code)
            if chosen != OFF:
                yield replace(one, severity=Severity(chosen)) if chosen else one

    def _traced(self, one: Finding, bundle: Bundle | None) -> Finding:
        """With the inventory values that caused it as related places."""
        causes = (_causes(one, bundle) or _causes_beside(one, bundle))[:MOST_CAUSES] if one.device else ()
        related = [Related(f"caused by {cause.partition('#')[2]}", self.place_of(cause)) for cause in causes]
        return replace(one, causes=causes, related=(*one.related, *related)) if causes else one

    def _notes(self) -> Iterator[Finding]:
        known = self.suppressions
        for one in known.given:
            if one in known.used and one in known.expired:
                message = f"the suppression of {one.code} expired on {one.expires}: {one.reason}"
                yield self._note("FG130", one, message, "correct what was accepted, or set a later day")
            elif one in known.used or self.asked is None:
                continue
            elif one.code not in pages():
                yield self._note("FG129", one, f"no finding has the code {one.code}", "docs/findings.md has all codes")
            elif one.code in self.asked:
                message = f"nothing is found that this suppression of {one.code} covers"
                yield self._note("FG129", one, message, "remove it")

    def _note(self, code: str, one: Suppression, message: str, hint: str) -> Finding:
        path = one.place.partition("#")[2]
        return Finding(code, Severity.NOTE, message, path=path, location=self.place_of(one.place), hint=hint)


def _causes_beside(one: Finding, bundle: Bundle | None) -> tuple[str, ...]:
    """The values behind the rows beside a finding; a person's own rows first, as the plan seldom is the reason."""
    rows = [replace(one, device=each.device, place=each.place) for each in one.related if each.device]
    found = dict.fromkeys(cause for row in rows for cause in _causes(row, bundle))
    return tuple(sorted(found, key=lambda cause: not cause.partition("#")[2].startswith("overrides")))


def _causes(one: Finding, bundle: Bundle | None) -> tuple[str, ...]:
    """The inventory values behind a finding, as file#dotted.path: a row's by the source map, an inventory's its own."""
    if not one.device:
        return (f"{one.location.file.rpartition('/')[2]}#{one.path}",) if one.location and one.path else ()
    if bundle is None or bundle.sources is None or one.place is None:
        return ()
    table, key, field = one.place.table, one.place.key, one.place.field
    if one.device in bundle.devices or one.device.startswith(f"{HOSTS}/"):
        return bundle.sources.causes(one.device, table, key, field) if key else ()
    folder = table.rpartition("/")[0]  # of a subnet manager: [standby-N/]opensm.conf
    return bundle.sources.option_causes("/".join(filter(None, (one.device, folder))), key)
