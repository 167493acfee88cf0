"""What a rule is: one function, one code, one page (its docstring)."""

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fabricgen.codes import code_names
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.view.fabric import Fabric

Check = Callable[[Fabric], Iterable[Defect]]


class Basis(enum.IntEnum):
    """What a rule bases its findings on. A place reported on one basis is not reported again on a weaker one. A warning
    does not hide an error."""

    SCHEMA = 0  # the value is not legal
    MEANING = 1  # it is legal, but wrong
    PEERS = 2  # it differs from its peers; nothing else is known
    AGREEMENT = 3  # it disagrees with another kind of file, and either may be wrong
    FORM = 4  # it has the right meaning in a form that SONiC does not accept
    CONSEQUENCE = 5  # what the fabric cannot do because of it; left out where an error is at the same row


@dataclass(frozen=True, slots=True)
class Rule:
    """A check with its code and its default severity."""

    code: str
    severity: Severity
    title: str
    check: Check
    basis: Basis
    breaks: Breaks = Breaks.VALUE


_ROOM = "fabricgen.rules."


def module_of(rule: Rule) -> str:
    """The module of a rule of fabricgen below `rules`, such as bgp.timers; "" for rules of other packages."""
    module = rule.check.__module__
    return module.removeprefix(_ROOM) if module.startswith(_ROOM) else ""


def subject_of(rule: Rule) -> str:
    """The folder of a rule of fabricgen; "" for rules of other packages."""
    return module_of(rule).partition(".")[0]


RULES_BY_CODE: dict[str, Rule] = {}


def rule(
    code: str, severity: Severity, title: str, basis: Basis = Basis.MEANING, *, breaks: Breaks = Breaks.VALUE
) -> Callable[[Check], Check]:
    """Register a check under a code; `breaks` says which other findings its faults explain. Raises ValueError
    if a rule, or an entry of codes.yaml, has the code already."""

    def register(check: Check) -> Check:
        if code in RULES_BY_CODE:
            raise ValueError(f"{code} is already used by {RULES_BY_CODE[code].title!r}")
        if code in code_names():
            raise ValueError(f"{code} is already used: codes.yaml describes it")
        RULES_BY_CODE[code] = Rule(code, severity, title, check, basis, breaks)
        return check

    return register
