"""Link layer retry by cable: physics, and that no release reads it."""

import csv
import json
from pathlib import Path

import pytest

from fabricgen.physics import retry_floor_bytes
from tests.conftest import Cli
from tests.inventories import explicit, islands, write


@pytest.mark.parametrize(("speed_mbps", "sample", "needed"), [(200_000, 4768, 8750), (400_000, 8992, 17_500)])
def test_the_sample_rows_of_the_hld_are_below_physics(speed_mbps: int, sample: int, needed: int) -> None:
    """From 5 m to 40 m the sample llr_profile_lookup.ini of SONiC's HLD adds less than a round trip of 35 m holds."""
    assert retry_floor_bytes(speed_mbps, 40) - retry_floor_bytes(speed_mbps, 5) == needed
    assert sample < needed


def test_a_row_for_each_end_of_each_link(tmp_path: Path, cli: Cli) -> None:
    assert cli("render", write(tmp_path / "in", explicit()), "-o", tmp_path / "build", "-q").code == 0
    outcome = cli("handoff", "link-retry", tmp_path / "build", "--output", tmp_path / "out")
    assert outcome.code == 0 and "no release of SONiC reads LLR" in outcome.out
    rows = list(csv.DictReader((tmp_path / "out" / "llr.csv").read_text().splitlines()))
    assert len(rows) == 2 * 4  # four links between leaves and spines
    row = rows[0]
    assert (row["device"], row["port"], row["far_device"]) == ("leaf1", "Ethernet256", "spine1")
    cable_m = float(row["length"].removesuffix("m"))
    response = 905 * 64  # quanta of IEEE 802.3 at 400G
    assert int(row["max_outstanding_bytes"]) == retry_floor_bytes(400_000, cable_m) + response
    assert int(row["replay_timer_ns"]) > 2 * cable_m * 5
    assert {one["status"] for one in rows} == {"planned only: no release of SONiC reads LLR or CBFC"}


def test_a_fabric_without_links_between_switches_is_refused(tmp_path: Path, cli: Cli) -> None:
    cli("render", write(tmp_path / "in", islands()), "-o", tmp_path / "build", "-q")
    outcome = cli("handoff", "link-retry", tmp_path / "build", "--output", tmp_path / "out")
    assert (outcome.code, "no link between switches with a known length" in outcome.err) == (2, True)
    assert not (tmp_path / "out" / "llr.csv").exists()


def test_rows_of_tables_without_a_model_are_judged_too(tmp_path: Path, cli: Cli) -> None:
    """FG401 at the table, and FG721 and FG722 at its rows: both are true, so both are seen."""
    assert cli("render", write(tmp_path / "in", explicit()), "-o", tmp_path / "build", "-q").code == 0
    file = tmp_path / "build" / "sonic" / "leaf1" / "config_db.json"
    config = json.loads(file.read_text())
    config["LLR_PORT"] = {"Ethernet256": {"llr_mode": "static", "llr_remote": "enabled", "llr_profile": "p"}}
    config["LLR_PROFILE"] = {"p": {"max_outstanding_frames": "1000", "max_outstanding_bytes": "99"}}
    file.write_text(json.dumps(config, indent=4))
    report = json.loads(cli("-q", "validate", tmp_path / "build", "--format", "json").out)
    found = {(one["code"], one["path"]) for one in report["findings"] if one["severity"] == "error"}
    assert found == {
        ("FG401", "LLR_PORT"),
        ("FG722", "LLR_PORT|Ethernet256|llr_remote"),
        ("FG401", "LLR_PROFILE"),
        ("FG721", "LLR_PROFILE|p|max_outstanding_bytes"),
    }
