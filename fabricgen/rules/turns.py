"""The order in which one process, or two, check the rules, so that the tables of thousands of switches fit into memory.

Rules of one subject read the same tables and share what they derive from them. After the last subject that reads a
table of all ports, the table is forgotten. A rule that reads it later still gets it, because it is read again: the
order changes time and memory, not the findings.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from operator import itemgetter

from fabricgen.bundle.forgetful import forget_tables
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Rule, module_of, subject_of
from fabricgen.rules.view.fabric import Fabric

LEAST_FORGOTTEN = 1024  # switches; the tables of fewer take 100 MiB, and to read them again takes longer than a rule


@dataclass(frozen=True, slots=True)
class RuleStage:
    """Folders or modules of rules that are checked together, and what later ones do not need: tables, values that were
    derived, the ends of links.

    A second process can check all stages of one number `apart`, beside those of this process up to the next number.
    What it reads and derives is freed when it ends.
    """

    members: tuple[str, ...]
    tables: tuple[str, ...] = ()
    derived: bool = True
    ends: bool = False
    apart: int | None = None


_ON_ROUTES = ("bgp.reachability", "bgp.dual_homing")
_STAGES = (
    RuleStage(("schema", "bundle", "hosts.mtu"), derived=False, apart=1),
    RuleStage(("links",), ("DEVICE_NEIGHBOR",)),
    RuleStage(("peers",), derived=False, apart=1),
    RuleStage(
        ("schema.daemons", "ports", "buffers", "qos", "opensm"),
        ("PORT", "DEVICE_NEIGHBOR_METADATA"),
        derived=False,
    ),
    RuleStage(("hosts",), apart=2),
    RuleStage(("bgp", "control"), apart=2),
    RuleStage(("addresses",), ends=True),
    # The routing model of these takes as much memory as all addresses do.
    RuleStage(_ON_ROUTES),
    RuleStage(()),  # the rules of other packages
)
_MEMBERS = {member: number for number, stage in enumerate(_STAGES) for member in stage.members}


# Begins to check rules in a second process. What the context gives waits for the defects of each code.
Second = Callable[[Sequence[Rule]], AbstractContextManager[Callable[[], dict[str, list[Defect]]]]]


class Turns:
    """The defects of each rule, found stage by stage, by this process or with a `second` one."""

    def __init__(self, fabric: Fabric, rules: Sequence[Rule], second: Second | None = None) -> None:
        self._fabric, self._second = fabric, second
        self._found: dict[str, list[Defect]] = {}
        places = [(_place(one), one) for one in rules]
        places.sort(key=itemgetter(0))
        self._left = [
            (stage, [one for place, one in places if place[0] == number]) for number, stage in enumerate(_STAGES)
        ]

    def defects(self, rule: Rule) -> Iterable[Defect]:
        """Those of one rule. The rules of all subjects before its own are checked first."""
        while rule.code not in self._found:
            self._check_next()
        return self._found.pop(rule.code)

    def _check_next(self) -> None:
        stage, rules = self._left.pop(0)
        if stage.apart and self._second:
            for other in [one for one in self._left if one[0].apart == stage.apart]:
                rules += other[1]
                self._left.remove(other)
            with self._second(rules) if rules else nullcontext(dict) as answer:
                while self._left and not self._left[0][0].apart:
                    self._check_next()
                self._found |= answer()
        else:
            for one in rules:
                self._found[one.code] = list(one.check(self._fabric))
            self._forget(stage)

    def _forget(self, stage: RuleStage) -> None:
        fabric = self._fabric
        if not are_forgotten(len(fabric.switches)):
            return
        fabric.forget(derived=stage.derived)
        if stage.ends:
            fabric.forget_ends()
        for switch in fabric.switches.values() if stage.tables else ():
            forget_tables(switch.device, stage.tables)
        for hosts in fabric.bundle.hosts.values() if "hosts" in stage.members else ():
            hosts.forget()


def are_forgotten(switches: int) -> bool:
    """Whether the tables of so many switches are forgotten, stage by stage."""
    return switches >= LEAST_FORGOTTEN


def is_on_routes(rule: Rule) -> bool:
    """Whether a rule reads the routing model."""
    return module_of(rule) in _ON_ROUTES


def _place(rule: Rule) -> tuple[int, int, str]:
    """The number of the stage of a rule, and its place there: rules of one member are checked together. A member is the
    module of the rule if a stage names it, else its folder. Rules of other packages are in the last stage."""
    module = module_of(rule)
    member = module if module in _MEMBERS else subject_of(rule)
    number = _MEMBERS.get(member)
    if number is None:
        return len(_STAGES) - 1, 0, ""
    return number, _STAGES[number].members.index(member), module
