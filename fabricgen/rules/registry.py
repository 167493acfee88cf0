"""The rules and how they run: one rule, one function, one code, one doc page (its docstring)."""

import enum
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import fabricgen.rules
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.rules.defects import Defect, FilePlace, Place, grouped
from fabricgen.rules.fabric import Fabric, LayoutLookup
from fabricgen.suppressions import Suppressions

Check = Callable[[Fabric], Iterable[Defect]]


class Basis(enum.IntEnum):
    """On what ground a rule speaks. A place that one ground has reported is not reported again on a weaker one."""

    SCHEMA = 0  # the value is not legal
    MEANING = 1  # it is legal, and wrong
    PEERS = 2  # it is unusual among its peers, which is all that is known
    AGREEMENT = 3  # it disagrees with a file of another kind, which may be the wrong one
    FORM = 4  # it means the right thing, in a form that will not do


@dataclass(frozen=True, slots=True)
class Rule:
    """A check with its code and its usual severity."""

    code: str
    severity: Severity
    title: str
    check: Check
    basis: Basis

    @property
    def page(self) -> str:
        """The rule's doc page, for `fabricgen explain`."""
        return f"{self.code}  {self.title}  ({self.severity})\n\n{inspect.getdoc(self.check)}\n"


_RULES: dict[str, Rule] = {}


def rule(code: str, severity: Severity, title: str, basis: Basis = Basis.MEANING) -> Callable[[Check], Check]:
    """Register a check under a code that no other rule has."""

    def register(check: Check) -> Check:
        if code in _RULES:
            raise ValueError(f"{code} is taken by {_RULES[code].title!r}")
        _RULES[code] = Rule(code, severity, title, check, basis)
        return check

    return register


def all_rules() -> tuple[Rule, ...]:
    """Every rule of the package's modules, by code."""
    for module in pkgutil.iter_modules(fabricgen.rules.__path__):
        if module.name != "__main__":
            importlib.import_module(f"fabricgen.rules.{module.name}")
    return tuple(_RULES[code] for code in sorted(_RULES))


def explain_text(code: str) -> str | None:
    """The doc page of a rule; None for a code that no rule has."""
    return next((rule.page for rule in all_rules() if rule.code == code.upper()), None)


def chosen_rules(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The rules whose code starts with a selected prefix (all when none is given) and with no ignored one."""
    wanted = tuple(prefix.upper() for prefix in select) or ("",)
    unwanted = tuple(prefix.upper() for prefix in ignore)
    return tuple(rule for rule in all_rules() if rule.code.startswith(wanted) and not rule.code.startswith(unwanted))


def run(
    bundle: Bundle,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    layout_lookup: LayoutLookup | None = None,
    suppressions: Suppressions | None = None,
) -> list[Finding]:
    """Judge a bundle: located findings, worst first, one per defect and device.

    `layout_lookup` finds a platform's layout by hwsku and defaults to the catalog. What one of the `suppressions`
    covers is marked with it, and stays in the list. Raises UnreadableInputError when a device's file is no JSON.
    """
    fabric = Fabric(bundle, layout_lookup)
    rules = chosen_rules(select, ignore)
    found: list[tuple[Rule, Defect]] = []
    reported: set[tuple[str, ...]] = set()
    for basis in Basis:
        known = frozenset(reported)
        for rule in (rule for rule in rules if rule.basis is basis):
            defects = [defect for defect in rule.check(fabric) if known.isdisjoint(_covering(defect))]
            if basis is Basis.PEERS:
                defects = [defect for defect in defects if not _asked_for(bundle, defect)]
            reported.update(_key(one) for one in defects if (one.severity or rule.severity) is not Severity.NOTE)
            if suppressions and suppressions.given:
                defects = [_marked(bundle, rule.code, defect, suppressions) for defect in defects]
            found += [(rule, defect) for defect in grouped(defects)]
    return in_order(defect.finding(rule.code, rule.severity) for rule, defect in found)


def _marked(bundle: Bundle, code: str, defect: Defect, suppressions: Suppressions) -> Defect:
    place, sources = defect.place, bundle.sources

    def causes() -> tuple[str, ...]:
        if sources is None:
            return ()
        if isinstance(place, FilePlace):
            return sources.option_causes(place.device.name_of(place.table), place.key)
        return sources.causes(*_key(defect))

    return replace(defect, suppression=suppressions.match(code, place.device.name, str(place.shown), causes))


def _asked_for(bundle: Bundle, defect: Defect) -> bool:
    """Whether an override of the inventory made the difference, here or at the peer: then it is no slip."""
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


def _covering(defect: Defect) -> tuple[tuple[str, ...], ...]:
    """The place itself, its row and its table: a finding there already tells of the defect."""
    device, table, key, field = _key(defect)
    return ((device, table, key, field), (device, table, key, ""), (device, table, "", ""))
