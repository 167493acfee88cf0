"""Seconds and memory that `config apply-patch` takes on a switch, as a range.

The model is fitted to runs of the real sorters on one core of an AMD EPYC. A switch is slower: a factor of 3 to 6 is
assumed. All is sorted before the first change is applied.

Source: measured with sonic-utilities @7511bf2f (202505) and @92c565b3 (202605); 150 changes in 2 minutes, one by one:
sonic-buildimage issue 22370. The statements below say why the two differ, and in which releases.

The Ansible role contains this module: only the standard library and relative imports.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..sonic.releases import MASTER
from ..sonic.statements import ProgramStatement
from .sorting import Generation, Sorting

_READ = (202305, 202311, 202405, 202411, 202505, 202511, 202605, MASTER)
READS_AGAIN = ProgramStatement(
    "the updater reads the whole CONFIG_DB before and after each change (about 0.8 s)",
    "sonic-utilities generic_config_updater/change_applier.py apply, get_config_db_as_json",
    _READ,
    before=202605,
)
SLEEPS = ProgramStatement(
    "the updater sleeps for one second after each change",
    "sonic-utilities generic_config_updater/change_applier.py apply (time.sleep)",
    _READ,
    since=202605,
)
LEAKS = ProgramStatement(
    "each load of the configuration leaves the tree of the one before in memory",
    "sonic-buildimage src/sonic-yang-mgmt/sonic_yang_ext.py loadData (self.root, never freed there with libyang 3)",
    _READ,
    since=202605,
)

_START_S = 10.0  # of one `config apply-patch`: Python, models of YANG
_SLOWER = (3.0, 6.0)  # a switch, compared with the core of the measurement
_WAIT_S = {Generation.ONE_BY_ONE: 0.8, Generation.GROUPED: 1.0}  # READS_AGAIN, SLEEPS
_LOADS_PER_TRY = {Generation.ONE_BY_ONE: 2.75, Generation.GROUPED: 4.5}
_BASE_S = 0.1  # reading and comparing, without a try
_LEAK_KB = 0.4  # per field and load (LEAKS)
_BASE_MB = 110


@dataclass(frozen=True, slots=True)
class Price:
    """The `changes` that the updater applies, its `seconds` on a switch (lowest, highest), its memory in `megabytes`.

    `cpu_seconds` is the time of the search on the core of the measurement.
    """

    changes: int
    cpu_seconds: float
    seconds: tuple[int, int]
    megabytes: int


def price(sorting: Sorting) -> Price:
    """The price of one patch."""
    grouped = sorting.generation is Generation.GROUPED
    load_s = 11e-6 * sorting.fields if grouped else 1e-8 * sorting.fields**2
    loads = _LOADS_PER_TRY[sorting.generation] * (sorting.changes + sorting.rejected) + 2 * sorting.grouped
    cpu_s = _BASE_S + loads * load_s
    wait_s = _START_S + _WAIT_S[sorting.generation] * sorting.changes
    low, high = (round(wait_s + factor * cpu_s) for factor in _SLOWER)
    kept = 2 * (sorting.changes + sorting.rejected + sorting.grouped) if grouped else 0
    return Price(
        sorting.changes, round(cpu_s, 1), (low, high), round(_BASE_MB + kept * sorting.fields * _LEAK_KB / 1000)
    )


def total(prices: Iterable[Price]) -> Price:
    """The price of several patches in sequence: each is a process, so the memory is the largest."""
    found = list(prices)
    return Price(
        sum(one.changes for one in found),
        round(sum(one.cpu_seconds for one in found), 1),
        (sum(one.seconds[0] for one in found), sum(one.seconds[1] for one in found)),
        max((one.megabytes for one in found), default=0),
    )
