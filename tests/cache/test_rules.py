"""Rules find the same of a recorded fabric, now and from the store, as of the fabric itself."""

from pathlib import Path

import pytest

from fabricgen.cache import Store
from fabricgen.cache.recorded import Recordable
from fabricgen.rules.registry import all_rules
from fabricgen.rules.remembered import RememberedRules
from fabricgen.rules.run import run
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
        judge = RememberedRules(store, Recordable(bundle), all_rules(), lookup, repr(case.clean).encode())
        assert run(bundle, layout_lookup=lookup, prepare=judge.prepare) == expected


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One store for all cases: the entries of one must not answer another."""
    return Store(tmp_path_factory.mktemp("store"))


@pytest.mark.parametrize("case", of_switches()[::ONE_IN], ids=lambda case: case.code)
def test_a_recorded_fabric_gives_the_same_findings(case: Case, tmp_path: Path, store: Store) -> None:
    compare(case, tmp_path, store)
