"""Watermarks of buffers against the files."""

import json
from pathlib import Path

import pytest

from fabricgen.api import accept, render
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.platforms.dynamic_buffers import buffers_of
from tests.acceptance.runs import Run
from tests.acceptance.test_faults import Seed
from tests.conftest import Cli
from tests.inventories import NVIDIA, rail_optimized, write

L0 = "compute-su00-r0-leaf"


def xoff(bundle: Bundle, name: str, port: str) -> int:
    device = bundle.devices[name]
    return int(device.text_of("BUFFER_PROFILE", device.text_of("BUFFER_PG", f"{port}|3-4", "profile"), "xoff"))


def used(share: float) -> Seed:
    return lambda run: run.headroom.update({(L0, "Ethernet0", 3): round(share * xoff(run.bundle, L0, "Ethernet0"))})


CASES: list[tuple[Seed, str, str]] = [
    (used(1.0), "FG980", "100% of xoff"),
    (used(0.85), "FG981", "85% of xoff"),
    (lambda run: run.__dict__.update(headroom_bytes=0, queue_bytes=0), "FG982", "used neither headroom"),
    (lambda run: run.shared.update({(L0, "Ethernet0", 3): 160_000_000}), "FG983", "above its threshold of"),
    (lambda run: run.__dict__.update(queue_bytes=100_000), "FG984", "no queue reached Kmin 131072: at most 100000"),
]  # fmt: skip


@pytest.mark.parametrize(("seed", "code", "text"), CASES, ids=[case[1] for case in CASES])
def test_a_finding(seed: Seed, code: str, text: str, fabric: Path, opened: Bundle, tmp_path: Path) -> None:
    run = Run(opened)
    seed(run)
    found = accept(fabric, [run.write(tmp_path)], watermarks=True).findings
    assert {one.code for one in found} == {code} and text in found[0].message


def test_a_good_run_and_its_absence(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    folder = Run(opened).write(tmp_path)
    outcome = cli("-q", "accept", fabric, folder, "--watermarks", "--format", "json")
    assert (outcome.code, json.loads(outcome.out)["findings"]) == (0, [])
    outcome = cli("accept", fabric, folder / "tests.jsonl", "--watermarks")
    assert (outcome.code, "no counters of switches" in outcome.err) == (2, True)


def test_xoff_is_predicted_on_switches_that_compute_it(tmp_path: Path) -> None:
    render(write(tmp_path / "in", rail_optimized(platform=NVIDIA)), tmp_path / "bundle")
    bundle = open_bundle([tmp_path / "bundle"])
    link = bundle.host_links[0]
    device = bundle.devices[link.b[0]]
    computed = buffers_of(device)
    headroom = computed.headroom(link.b[1]) if computed else None
    assert headroom is not None
    run = Run(bundle)
    run.headroom[(*link.b, 3)] = headroom.xoff_bytes
    (found,) = accept(tmp_path / "bundle", [run.write(tmp_path / "run")], watermarks=True).findings
    assert found.code == "FG980" and f"100% of predicted xoff {headroom.xoff_bytes}" in found.message
