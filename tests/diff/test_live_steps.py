"""Changes that were made on running daemons of 202505: the stand-in ends as they did, and each plan as a cold boot."""

import gzip
import json
from functools import cache
from typing import Any

import pytest

from fabricgen.diff.lookup import profiles
from fabricgen.diff.patch import Route
from fabricgen.diff.patched import patched
from fabricgen.diff.plan import make_plan
from fabricgen.diff.stand_in import StandIn, differences
from tests.shared_material import shared

RELEASE = 202505
EMPTY = "('0:null', None)"  # an empty list of profiles, where a cold boot sets none: no profile either way
LISTS = {
    "QOS_INGRESS_BUFFER_PROFILE_LIST": "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "QOS_EGRESS_BUFFER_PROFILE_LIST": "BUFFER_PORT_EGRESS_PROFILE_LIST",
}


@cache
def steps() -> dict[str, dict[str, Any]]:
    found = json.loads(shared("data", "sonic", "live_steps_202505.json").read_text())
    return {step["change"]: step for step in found}


def inputs(change: str) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
    found = json.loads(gzip.decompress(shared("data", "sonic", "live_inputs", f"{change}.json.gz").read_bytes()))
    return found["old"], found["new"], [move for phase in found["phases"] for move in phase["moves"]]


def booted(config: dict[str, Any], lookup: Any) -> StandIn:
    switch = StandIn(RELEASE, lookup)
    switch.boot(config)
    return switch


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "change" in metafunc.fixturenames:
        folder = shared("data", "sonic", "live_inputs")
        metafunc.parametrize("change", sorted(file.name.removesuffix(".json.gz") for file in folder.iterdir()))


def test_the_measured_moves_end_as_measured(change: str) -> None:
    old, new, moves = inputs(change)
    lookup = profiles(old)
    switch = booted(old, lookup)
    assert switch.config == old
    for move in moves:
        switch.write({table: rows for table, rows in patched(switch.config, move).items() if rows})
    expected = booted(new, lookup)
    found = list(differences(switch, expected))
    measured = steps()[change]
    emptied = {place for place, values in measured["differences"] if values == EMPTY}
    others = [place for place, _ in measured["differences"] if place not in emptied]
    assert {place for place, names in switch.daemons.lists.items() if not names} == {
        (LISTS[attribute], port) for port, attribute in map(str.split, sorted(emptied))
    }
    assert bool(found) == bool(measured["differences_to_cold_boot"] - len(emptied)), found
    rewritten = {f"CONFIG_DB: {path.partition('|')[0]} differs" for path in measured["config_db_differs"]}
    assert {line for line in found if line.startswith("CONFIG_DB")} == rewritten
    for place in others:
        assert any(line.startswith(said(place)) for line in found), (place, found)


def said(place: str) -> tuple[str, ...]:
    """How lines of the stand-in begin that show a difference which was measured at a place such as 'Ethernet0 pg3'."""
    first, *others = place.split()
    if first in ("wd", "wdc"):
        return (f"watchdog: {others[0]} ",)
    if first == "switch":
        return ("watchdog",)
    if first == "appl":
        return ("BUFFER_PG: ", "headroom: ")
    table = "BUFFER_PG" if others[0].startswith("pg") else "BUFFER_QUEUE"
    return (f"{table}: {first} {others[0].lstrip('pgq')} ", "headroom: ")


def test_the_plan_ends_as_a_cold_boot(change: str) -> None:
    old, new, _ = inputs(change)
    lookup = profiles(old)
    plan = make_plan(old, new, RELEASE, lookup=lookup)
    measured = steps()[change]
    if measured["route"] in ("reload", "reboot") and measured["differences_to_cold_boot"]:
        assert plan.route is Route.RELOAD  # what was applied all the same did not end as a cold boot
    switch = booted(old, lookup)
    for step in plan.steps:
        switch.apply([operation.json for operation in step.patch(with_secrets=True)])
        assert switch.config == step.new, step.purpose
    if plan.steps:
        assert list(differences(switch, booted(new, lookup))) == []
