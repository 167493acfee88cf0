"""The lists of uSIDs that hosts get. tests/routing/test_usids_in_kernel.py sends packets with them."""

import csv
import json
from pathlib import Path

from tests.conftest import Cli
from tests.inventories import explicit, write
from tests.render.test_srv6 import sprayed
from tests.routing.test_usids_in_kernel import rendered as small


def rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))


def test_a_row_for_each_path_to_each_nic(tmp_path: Path, cli: Cli) -> None:
    cli("render", write(tmp_path / "in", sprayed()), "-o", tmp_path / "build", "-q")
    outcome = cli("handoff", "paths", tmp_path / "build", "--output", tmp_path / "out", "--only", "gpu-00[01]")
    assert outcome.code == 0, outcome.err
    assert sorted(file.name for file in (tmp_path / "out" / "paths").iterdir()) == ["gpu-000.csv", "gpu-001.csv"]
    nics = {(row["host"], row["nic"]): row for row in rows(tmp_path / "out" / "nics.csv")}
    assert len(nics) == 4 * 8
    paths = rows(tmp_path / "out" / "paths" / "gpu-000.csv")
    assert {row["far_host"] for row in paths} == {"gpu-001", "gpu-002", "gpu-003"}
    for row in paths:  # the last uSID of a list is that of the NIC
        sid = nics[row["far_host"], row["far_nic"]]["sid"]
        last = row["outer_destination"].removesuffix("::").rpartition(":")[2]
        assert sid == f"fcbb:bb00:{last}::"
    addresses = [row["outer_destination"] for row in paths if row["far_host"] == "gpu-001" and row["nic"] == "rail0"]
    assert len(addresses) == len({*addresses})


def test_what_is_refused(tmp_path: Path, cli: Cli) -> None:
    cli("render", write(tmp_path / "in", explicit()), "-o", tmp_path / "plain", "-q")
    build = small(tmp_path, cli)

    def refused(*words: object) -> str:
        outcome = cli("handoff", "paths", *words, "--output", tmp_path / "out")
        assert (outcome.code, (tmp_path / "out").exists()) == (2, False)
        return outcome.err

    assert "no switch has a row of SRV6_MY_LOCATORS: set `srv6` of the plane" in refused(tmp_path / "plain")
    assert "--only none: no host matches" in refused(build, "--only", "none")
    file = build / "sonic" / "spine2" / "config_db.json"
    config = json.loads(file.read_text())
    del config["SRV6_MY_SIDS"]
    file.write_text(json.dumps(config))
    assert "leaf1 Ethernet272: no uSID leads over this link" in refused(build)
