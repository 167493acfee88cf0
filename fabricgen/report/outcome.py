"""From findings to a report: suppressions, severities of the settings, causes in the inventory, and grouping."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fabricgen.bundle.hosts import FOLDER as HOSTS
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.report.causes import with_causes
from fabricgen.report.grouping import grouped, numbered
from fabricgen.report.pages import pages
from fabricgen.suppressions import Suppression, Suppressions

OFF = "off"
MOST_CAUSES = 3


@dataclass(frozen=True)
class Outcome:
    """The reported findings, in order, and the suppressed ones."""

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()


def _as_recorded(place: str) -> Location:
    return Location(place.partition("#")[0])


@dataclass(frozen=True)
class Reporter:
    """The settings of a report.

    `severities` maps codes to error, warning, note or off. `checked` are the codes that the run can find; a suppression
    of another code is not reported as unused, and with None no suppression is. `expand` reports each device separately.
    `place_of` returns the location of an inventory value, which is given as file#dotted.path.
    """

    suppressions: Suppressions = field(default_factory=Suppressions)
    severities: Mapping[str, str] = field(default_factory=dict)
    checked: Collection[str] | None = None
    expand: bool = False
    place_of: Callable[[str], Location] = _as_recorded

    def outcome(
        self, findings: Iterable[Finding], bundle: Bundle | None = None, inventory: Sequence[Finding] = ()
    ) -> Outcome:
        """The outcome of `findings` about a bundle and those about its inventory, whose errors are never suppressed."""
        errors = [one for one in inventory if one.severity is Severity.ERROR]
        others = [*findings, *(one for one in inventory if one.severity is not Severity.ERROR)]
        marked = [*errors, *self._with_severity(self._marked(one, bundle) for one in others)]
        notes = list(self._with_severity(self._notes()))
        reported = [*(one for one in marked if one.suppression is None), *notes]
        accepted = [one for one in marked if one.suppression is not None]
        return Outcome(self._shown(reported, bundle), self._shown(accepted, bundle))

    def _shown(self, findings: Sequence[Finding], bundle: Bundle | None) -> tuple[Finding, ...]:
        chosen = list(findings) if self.expand else grouped(dict.fromkeys(findings))
        return tuple(with_causes(numbered(self._traced(one, bundle) for one in chosen), bundle))

    def _marked(self, one: Finding, bundle: Bundle | None) -> Finding:
        """The finding with its suppression. Findings of rules already have theirs, port by port."""
        if one.suppression or not self.suppressions.given:
            return one

        def causes() -> tuple[str, ...]:
            return _causes(one, bundle)

        return replace(one, suppression=self.suppressions.match(one.code, one.device, one.path, causes))

    def _with_severity(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        for one in findings:
            chosen = self.severities.get(one.code)
            if chosen != OFF:
                yield replace(one, severity=Severity(chosen)) if chosen else one

    def _traced(self, one: Finding, bundle: Bundle | None) -> Finding:
        """The finding with the inventory values that caused it as related places."""
        causes = (_causes(one, bundle) or _causes_of_related(one, bundle))[:MOST_CAUSES] if one.device else ()
        related = [Related(f"caused by {cause.partition('#')[2]}", self.place_of(cause)) for cause in causes]
        return replace(one, causes=causes, related=(*one.related, *related)) if causes else one

    def _notes(self) -> Iterator[Finding]:
        known = self.suppressions
        for one in known.given:
            if one in known.used and one in known.expired:
                message = f"the suppression of {one.code} expired on {one.expires}: {one.reason}"
                yield self._note("FG130", one, message, "correct the defect, or set a later day")
            elif one in known.used or self.checked is None:
                continue
            elif one.code not in pages():
                yield self._note(
                    "FG129", one, f"no finding has the code {one.code}", "`fabricgen explain --list` shows all codes"
                )
            elif one.code in self.checked:
                message = f"the suppression of {one.code} covers no finding"
                yield self._note("FG129", one, message, "remove it")

    def _note(self, code: str, one: Suppression, message: str, hint: str) -> Finding:
        path = one.place.partition("#")[2]
        return Finding(code, Severity.NOTE, message, path=path, location=self.place_of(one.place), hint=hint)


def _causes_of_related(one: Finding, bundle: Bundle | None) -> tuple[str, ...]:
    """The inventory values of the related rows; overrides first, because the plan seldom is the cause."""
    rows = [replace(one, device=each.device, place=each.place) for each in one.related if each.device]
    found = dict.fromkeys(cause for row in rows for cause in _causes(row, bundle))
    return tuple(sorted(found, key=lambda cause: not cause.partition("#")[2].startswith("overrides")))


def _causes(one: Finding, bundle: Bundle | None) -> tuple[str, ...]:
    """The inventory values of a finding, as file#dotted.path; those of a rendered row are in the source map."""
    if not one.device:
        return (f"{one.location.file.rpartition('/')[2]}#{one.path}",) if one.location and one.path else ()
    if bundle is None or bundle.sources is None or one.place is None:
        return ()
    table, key, field = one.place.table, one.place.key, one.place.field
    if one.device in bundle.devices or one.device.startswith(f"{HOSTS}/"):
        return bundle.sources.causes(one.device, table, key, field) if key else ()
    folder = table.rpartition("/")[0]  # of a subnet manager: [standby-N/]opensm.conf
    return bundle.sources.option_causes("/".join(filter(None, (one.device, folder))), key)
