"""The list of acceptance tests, one JSON object per line: what each measures, what it must show, and where."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import orjson

from fabricgen.bundle.wiring import Endpoint


class Stage(enum.StrEnum):
    """The stages, in the order in which they run: each needs the ones before."""

    LLDP = "lldp"
    LOOPBACK = "loopback"
    NEAR = "near"  # pairs at one leaf, one rail
    BACK = "back"  # the same pairs, in the other direction
    FAR = "far"  # pairs across spines, one at a time for each leaf
    BISECTION = "bisection"  # the same pairs at the same time, in each direction
    RAILS = "rails"  # a collective with one GPU of each host
    COLLECTIVES = "collectives"
    INCAST = "incast"
    WATCHDOG = "watchdog"
    FAILOVER = "failover"


GBPS, GBYTES, STORMS = "Gb/s", "GB/s", "storms"


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """One test. Its result is the file with the path `id` and a suffix, below the folder of the results.

    A value from `limit` passes, a value below `floor` is a defect, one between them is measured again; all are in
    `unit`. `a` writes to `b`; a collective has `hosts`. `round` numbers what runs at the same time. An incast has
    `writers`, whose results `id.0`, `id.1` … are added up. `at` is the switch port of a watchdog or failover test.
    `must_rise` and `must_not_rise` are counters of the switches during the test.
    """

    id: str
    stage: Stage
    unit: str = ""
    expected: float | None = None
    limit: float | None = None
    floor: float | None = None
    plane: str = ""
    rail: int | None = None
    a: Endpoint | None = None
    b: Endpoint | None = None
    hosts: tuple[str, ...] = ()
    writers: tuple[Endpoint, ...] = ()
    collective: str = ""
    ranks_of_host: int = 0
    round: int = 0
    at: Endpoint | None = None
    must_rise: tuple[str, ...] = ()
    must_not_rise: tuple[str, ...] = ()


_DEFAULTS = {field.name: field.default for field in fields(PlannedTest)}
_ENDS = ("a", "b", "at")


def dump_tests(tests: Iterable[PlannedTest]) -> bytes:
    """The tests as lines of JSON, without fields that have no value."""
    return b"".join(orjson.dumps(_row(test), option=orjson.OPT_APPEND_NEWLINE) for test in tests)


def _row(test: PlannedTest) -> dict[str, object]:
    values = {name: getattr(test, name) for name in _DEFAULTS}
    return {name: value for name, value in values.items() if value != _DEFAULTS[name]}


def load_tests(text: bytes) -> tuple[PlannedTest, ...]:
    """The tests in such lines. Raises ValueError with the number of a line that is not a test."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found.append(_test(orjson.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"line {number}: {error}") from error
    return tuple(found)


def _test(raw: dict[str, Any]) -> PlannedTest:
    row: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()}
    row["writers"] = tuple((host, nic) for host, nic in row.get("writers", ()))
    for name in _ENDS:
        if name in row:
            device, port = row[name]
            row[name] = (str(device), str(port))
    for name in ("expected", "limit", "floor"):
        if name in row:
            row[name] = float(row[name])
    return PlannedTest(**{**row, "id": str(row["id"]), "stage": Stage(row["stage"])})
