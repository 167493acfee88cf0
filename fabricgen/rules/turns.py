"""The order in which one process checks the rules, so that the tables of thousands of switches fit into memory.

Rules of one subject read the same tables and share what they derive from them. After the last subject that reads a
table of all ports, the table is forgotten. A rule that reads it later still gets it, because it is read again: the
order changes time and memory, not the findings.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fabricgen.bundle.forgetful import forget_tables
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Rule, subject_of
from fabricgen.rules.view.fabric import Fabric

LEAST_SWITCHES = 64  # below, all tables fit into memory


@dataclass(frozen=True, slots=True)
class Stage:
    """Subjects that are checked together, and the tables that later ones do not need."""

    subjects: tuple[str, ...]
    forgotten: tuple[str, ...] = ()


_STAGES = (
    Stage(("schema", "bundle", "links"), ("DEVICE_NEIGHBOR",)),
    Stage(("ports", "buffers", "qos", "opensm", "peers", "hosts"), ("PORT",)),
    Stage(("addresses", "bgp")),
)


class Turns:
    """The defects of each rule, found stage by stage."""

    def __init__(self, fabric: Fabric, rules: Sequence[Rule]) -> None:
        self._fabric = fabric
        self._found: dict[str, list[Defect]] = {}
        self._left = list(_in_stages(rules))

    def defects(self, rule: Rule) -> Iterable[Defect]:
        """Those of one rule. The rules of all subjects before its own are checked first."""
        while rule.code not in self._found:
            stage, those = self._left.pop(0)
            for one in those:
                self._found[one.code] = list(one.check(self._fabric))
            self._fabric.forget()
            if len(self._fabric.switches) >= LEAST_SWITCHES:
                for switch in self._fabric.switches.values() if stage.forgotten else ():
                    forget_tables(switch.device, stage.forgotten)
                for hosts in self._fabric.bundle.hosts.values():
                    hosts.forget()
        return self._found.pop(rule.code)


def _in_stages(rules: Sequence[Rule]) -> Iterable[tuple[Stage, list[Rule]]]:
    """The stages with their rules, those of one subject together; last the rules of other packages."""
    known = [subject for stage in _STAGES for subject in stage.subjects]
    for stage in _STAGES:
        yield stage, sorted((one for one in rules if subject_of(one) in stage.subjects), key=_place_in(stage))
    yield Stage(()), [one for one in rules if subject_of(one) not in known]


def _place_in(stage: Stage) -> Callable[[Rule], tuple[int, str]]:
    return lambda rule: (stage.subjects.index(subject_of(rule)), rule.check.__module__)
