"""Rules find the same of a recorded fabric, now and from the store, as of the fabric itself."""

from pathlib import Path

import pytest

from fabricgen.cache import Store
from fabricgen.cache.readings import Readings
from fabricgen.cache.recorded import Recordable
from fabricgen.rules.registry import all_rules
from fabricgen.rules.remembered import RememberedRules
from fabricgen.rules.rule import Rule, subject_of
from fabricgen.rules.run import run
from fabricgen.rules.view.fabric import Fabric
from tests.rules.case import Case, Switches
from tests.rules.test_cases import CASES

ONE_IN = 24  # cases of switches; benchmarks/incremental.py compares all


def of_switches() -> list[Case]:
    """The cases that change tables of switches."""
    return [case for case in CASES if isinstance(case.clean, Switches)]


def compare(case: Case, folder: Path, store: Store) -> None:
    """The findings of a case without a store, with an empty one, and from what that has stored."""
    assert isinstance(case.clean, Switches)
    bundle, lookup = case.clean.broken(case.change, folder), case.clean.layout
    if bundle.wiring is None:  # loose files are not recorded
        return
    expected = run(bundle, layout_lookup=lookup)
    for _ in range(2):
        judge = RememberedRules(store, Recordable(bundle), lookup, repr(case.clean).encode())
        assert run(bundle, layout_lookup=lookup, prepare=judge.prepare) == expected
        judge.finish()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One store for all cases: the entries of one must not answer another."""
    return Store(tmp_path_factory.mktemp("store"))


@pytest.mark.parametrize("case", of_switches()[::ONE_IN], ids=lambda case: case.code)
def test_a_recorded_fabric_gives_the_same_findings(case: Case, tmp_path: Path, store: Store) -> None:
    compare(case, tmp_path, store)


def readings_of(rule: Rule, fabric: Fabric, readings: Readings) -> tuple[list[str], bool]:
    """The names of what a rule reads of a recorded fabric, and whether all that it reads has a name."""
    readings.restart()
    for _ in rule.check(fabric):
        pass
    return readings.all_names, readings.is_complete


@pytest.mark.parametrize("case", of_switches()[7 :: 3 * ONE_IN], ids=lambda case: case.code)
def test_a_rule_reads_the_same_after_other_rules(case: Case, tmp_path: Path) -> None:
    """What other rules have derived before, and kept, is recorded for each rule that uses it."""
    assert isinstance(case.clean, Switches)
    bundle, lookup = case.clean.broken(case.change, tmp_path), case.clean.layout
    if bundle.wiring is None:
        return
    shared = Readings()
    fabric = Fabric(Recordable(bundle).recorded(shared), lookup, shared.kept)
    rules = [rule for rule in all_rules() if subject_of(rule)]
    together = {rule.code: readings_of(rule, fabric, shared) for rule in (*rules, *rules)}
    for rule in rules:
        alone = Readings()
        own = Fabric(Recordable(bundle).recorded(alone), lookup, alone.kept)
        assert together[rule.code] == readings_of(rule, own, alone), rule.code
