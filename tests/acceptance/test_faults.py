"""30 runs with a fault: accept names the part, and reports nothing on good runs."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import Bundle
from tests.acceptance.runs import Run
from tests.conftest import Cli

Seed = Callable[[Run], None]


def judged(cli: Cli, fabric: Path, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    outcome = cli("-q", "accept", fabric, folder, "--format", "json", *options)
    assert outcome.code in (0, 1), outcome.err
    return outcome.code, json.loads(outcome.out)


def slow_nic(host: str, nic: str, share: float, *, alone: bool = False) -> Seed:
    def seed(run: Run) -> None:
        run.speed[host, nic] = share
        run.alone |= {(host, nic)} if alone else set()

    return seed


def slow_host(host: str, share: float) -> Seed:
    def seed(run: Run) -> None:
        run.speed |= {end: share for end in run.leaf_of if end[0] == host}

    return seed


def crossed(one: tuple[str, str], other: tuple[str, str]) -> Seed:
    """Two cables are exchanged at the switch: LLDP sees it, and tests with these NICs have no result."""

    def seed(run: Run) -> None:
        at_one, at_other = run.leaf_of[one], run.leaf_of[other]
        run.neighbors |= {at_one: other, at_other: one}
        run.absent |= {
            test.id
            for test in run.tests
            if {test.a, test.b} & {one, other} and test.stage not in ("loopback", "watchdog")
        }

    return seed


def collision(leaf: str, share: float) -> Seed:
    return lambda run: run.together.update({leaf: share})


def wrong_class(host: str, nic: str = "") -> Seed:
    return lambda run: run.lossy.update({end: 800_000 for end in run.leaf_of if end[0] == host and nic in ("", end[1])})


def overflow(host: str, nic: str, packets: int) -> Seed:
    return lambda run: run.dropped.update({(*run.leaf_of[host, nic], 3): packets})


def short(host: str, ranks: int, form: str) -> Seed:
    def seed(run: Run) -> None:
        run.ranks[host], run.form = ranks, form

    return seed


L0, L3 = "compute-su00-r0-leaf", "compute-su01-r3-leaf"
FAULTS: list[tuple[Seed, str, str]] = [
    (slow_nic("gpu-000", "rail0", 0.5), "FG961", "gpu-000 rail0"),
    (slow_nic("gpu-003", "rail7", 0.8, alone=True), "FG961", "gpu-003 rail7"),
    (slow_nic("gpu-005", "rail2", 0.25), "FG961", "gpu-005 rail2"),
    (slow_nic("gpu-007", "rail4", 0.92), "FG961", "gpu-007 rail4"),
    (slow_host("gpu-002", 0.6), "FG961", "all NICs of gpu-002"),
    (crossed(("gpu-000", "rail0"), ("gpu-001", "rail0")), "FG261", "gpu-000"),
    (crossed(("gpu-002", "rail3"), ("gpu-002", "rail4")), "FG261", "gpu-002"),
    (crossed(("gpu-004", "rail1"), ("gpu-006", "rail1")), "FG261", "gpu-004"),
    (crossed(("gpu-000", "rail5"), ("gpu-004", "rail5")), "FG261", "gpu-000"),
    (crossed(("gpu-007", "rail0"), ("gpu-007", "rail7")), "FG261", "gpu-007"),
    (collision(L0, 0.2), "FG964", L0),
    (collision(L3, 0.3), "FG964", L3),
    (collision("compute-su01-r0-leaf", 0.1), "FG964", "compute-su01-r0-leaf"),
    (collision("compute-su01-r7-leaf", 0.25), "FG964", "compute-su01-r7-leaf"),
    (collision("compute-su01-r5-leaf", 0.15), "FG964", "compute-su01-r5-leaf"),
    (wrong_class("gpu-000"), "FG965", "gpu-000"),
    (wrong_class("gpu-003", "rail2"), "FG965", "gpu-003 rail2"),
    (wrong_class("gpu-006"), "FG965", "gpu-006"),
    (wrong_class("gpu-005", "rail0"), "FG965", "gpu-005 rail0"),
    (wrong_class("gpu-001", "rail7"), "FG965", "gpu-001 rail7"),
    (overflow("gpu-000", "rail0", 12), "FG966", L0),
    (overflow("gpu-007", "rail3", 900), "FG966", L3),
    (overflow("gpu-004", "rail6", 1), "FG966", "gpu-004 rail6"),
    (overflow("gpu-002", "rail1", 31), "FG966", "gpu-002 rail1"),
    (overflow("gpu-006", "rail5", 12_345), "FG966", "gpu-006 rail5"),
    (short("gpu-003", 7, "text"), "FG967", "gpu-003"),
    (short("gpu-000", 0, "text"), "FG967", "gpu-000"),
    (short("gpu-005", 7, "json"), "FG967", "gpu-005"),
    (short("gpu-007", 0, "json"), "FG967", "gpu-007"),
    (short("gpu-001", 4, "json"), "FG967", "gpu-001"),
]


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_a_fault_is_named(number: int, fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    seed, code, culprit = FAULTS[number]
    run = Run(opened, seed=number)
    seed(run)
    found_code, report = judged(cli, fabric, run.write(tmp_path))
    named = [
        one for one in report["findings"] if one["code"] == code and culprit in f"{one['device']} {one['message']}"
    ]
    assert named, [f"{one['code']} {one['message']}" for one in report["findings"]]
    assert found_code == 1 or {one["severity"] for one in named} == {"warning"}
    # Nothing else is blamed: at most what the fault itself leaves without a result.
    others = {one["code"] for one in report["findings"]} - {code, "FG260", "FG960", "FG970"}
    assert others == set()
    _no_wrong_cause(code, culprit, report["acceptance"]["causes"])


# What the sentence may say of each code: the true cause, or that it cannot tell.
SAID = {
    "FG961": {"nic", "host"}, "FG261": {"cabling"}, "FG964": {"hash collisions", "uplinks"},
    "FG965": {"traffic class", "unknown"}, "FG966": {"lost packets"}, "FG967": {"unknown"},
}  # fmt: skip


def _no_wrong_cause(code: str, culprit: str, causes: list[dict[str, Any]]) -> None:
    said = [f"{one['part']} {one['sentence']}" for one in causes]
    assert {one["cause"] for one in causes} <= SAID[code], said
    assert len(causes) == 1 and all(culprit in text for text in said), said


@pytest.mark.parametrize("form", ["text", "json", "rccl"])
@pytest.mark.parametrize("number", range(2))
def test_a_good_run_has_no_findings(
    form: str, number: int, fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli
) -> None:
    unit = "MiB/s" if number else "Gb/s"
    run = Run(opened, seed=100 + number, form=form, unit=unit)
    code, report = judged(cli, fabric, run.write(tmp_path), "--unit", unit)
    assert (code, report["findings"]) == (0, [])
    assert report["acceptance"]["verdicts"] == {"pass": len(run.tests) - len(opened.devices)}


def test_the_work_order_of_crossed_cables(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    """Two swapped cables of hosts: the switch ends change places, and the ends at the hosts stay."""
    one, other = ("gpu-000", "rail0"), ("gpu-001", "rail0")
    run = Run(opened, seed=1)
    crossed(one, other)(run)
    order = tmp_path / "order.csv"
    judged(cli, fabric, run.write(tmp_path / "run"), "--work-order", order)
    rows = list(csv.DictReader(order.read_text().splitlines()))
    assert [row["action"] for row in rows] == ["Swap two cables"] * 2
    moved = {(row["fixed_device"], row["fixed_ports"]): (row["planned_device"], row["planned_ports"]) for row in rows}
    assert moved == {one: run.leaf_of[one], other: run.leaf_of[other]}
    outcome = cli("accept", fabric, tmp_path / "run", "--stages", "near", "--work-order", order)
    assert outcome.code == 2 and "no LLDP dumps" in outcome.err
