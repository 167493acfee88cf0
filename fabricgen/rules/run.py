"""Run rules on a bundle: located findings, worst first."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.rules.defects import Defect, FilePlace, Place, grouped
from fabricgen.rules.parallel import checked
from fabricgen.rules.registry import chosen_rules
from fabricgen.rules.rule import Basis, Rule
from fabricgen.rules.view.fabric import Fabric, LayoutLookup
from fabricgen.suppressions import Suppressions

Track = Callable[[Sequence[Rule]], Iterable[Rule]]
View = Callable[[], Fabric]
Prepare = Callable[[View, Sequence[Rule]], Callable[[Rule], Iterable[Defect]]]


def run(
    bundle: Bundle,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    layout_lookup: LayoutLookup | None = None,
    suppressions: Suppressions | None = None,
    track: Track = iter,
    prepare: Prepare = checked,
) -> list[Finding]:
    """Judge a bundle. Returns located findings, worst first, one for each defect and device.

    `layout_lookup` finds a platform's layout by hwsku; the default is the catalog. A finding that one of the
    `suppressions` covers stays in the list and refers to it. `track` passes on the rules, each as its turn comes.
    `prepare` gets the rules before the first of them is checked, and finds the defects of each: here, in processes, or
    among those that were kept. Raises UnreadableInputError if a file is not JSON.
    """

    made: list[Fabric] = []

    def view() -> Fabric:
        if not made:
            made.append(viewed(bundle, layout_lookup))
        return made[0]

    rules = sorted(chosen_rules(select, ignore), key=lambda rule: rule.basis)
    defects_of = prepare(view, rules)
    found: list[tuple[Rule, Defect]] = []
    reported: dict[Severity, set[tuple[str, ...]]] = {Severity.ERROR: set(), Severity.WARNING: set()}
    for basis, members in groupby(track(rules), key=lambda rule: rule.basis):
        errors = frozenset(reported[Severity.ERROR])
        if basis is Basis.CONSEQUENCE:  # an error in a field of the row is enough
            errors |= {(*place[:3], "") for place in errors}
        known = errors | reported[Severity.WARNING]
        for rule in members:
            defects = [
                defect
                for defect in defects_of(rule)
                if (errors if _severity(rule, defect) is Severity.ERROR else known).isdisjoint(_covering(defect, basis))
            ]
            if basis is Basis.PEERS:
                defects = [defect for defect in defects if not _is_intended(bundle, defect)]
            for one in defects:
                reported.setdefault(_severity(rule, one), set()).add(_key(one))
            if suppressions and suppressions.given:
                defects = [_marked(bundle, rule.code, defect, suppressions) for defect in defects]
            found += [(rule, defect) for defect in grouped(defects)]
    return in_order(defect.finding(rule.code, rule.severity) for rule, defect in found)


def viewed(bundle: Bundle, layout_lookup: LayoutLookup | None = None) -> Fabric:
    """The view of the rules. The files are judged by the planned cables; FG260 and FG261 judge the observed ones."""
    return Fabric(replace(bundle, links=bundle.cabling.links) if bundle.cabling else bundle, layout_lookup)


def _severity(rule: Rule, defect: Defect) -> Severity:
    return defect.severity or rule.severity


def _marked(bundle: Bundle, code: str, defect: Defect, suppressions: Suppressions) -> Defect:
    place, sources = defect.place, bundle.sources

    def causes() -> tuple[str, ...]:
        if sources is None:
            return ()
        if isinstance(place, FilePlace):
            return sources.option_causes(place.device.name_of(place.table), place.key)
        return sources.causes(*_key(defect))

    return replace(defect, suppression=suppressions.match(code, place.device.name, str(place.shown), causes))


def _is_intended(bundle: Bundle, defect: Defect) -> bool:
    """Whether an override of the inventory causes the difference, here or at the peer, so that it is intended."""
    return any(_is_override(bundle, place) for place in (defect.place, *(place for _, place in defect.related)))


def _is_override(bundle: Bundle, place: Place | FilePlace) -> bool:
    if bundle.sources is None or isinstance(place, FilePlace):
        return False
    path = "|".join(step for step in (place.table, place.key, place.field) if step)
    asked = bundle.sources.overrides(place.device.name)
    return any(one == path or one.startswith(f"{path}|") or path.startswith(f"{one}|") for one in asked)


def _key(defect: Defect) -> tuple[str, ...]:
    place = defect.place
    return (place.device.name, place.table, place.key, place.field)


def _covering(defect: Defect, basis: Basis) -> tuple[tuple[str, ...], ...]:
    """The place itself, its row and its table: a finding at one of them already covers the defect.

    That a table has no model says nothing about what its rows mean, so it does not cover them.
    """
    device, table, key, field = _key(defect)
    row = ((device, table, key, field), (device, table, key, ""))
    return row if basis is Basis.MEANING else (*row, (device, table, "", ""))
