"""What a rule is: one function, one code, one page (its docstring)."""

import enum
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.view.fabric import Fabric

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


RULES_BY_CODE: dict[str, Rule] = {}


def rule(code: str, severity: Severity, title: str, basis: Basis = Basis.MEANING) -> Callable[[Check], Check]:
    """Register a check under a code that no other rule has."""

    def register(check: Check) -> Check:
        if code in RULES_BY_CODE:
            raise ValueError(f"{code} is taken by {RULES_BY_CODE[code].title!r}")
        RULES_BY_CODE[code] = Rule(code, severity, title, check, basis)
        return check

    return register
