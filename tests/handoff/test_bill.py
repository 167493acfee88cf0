"""The bill has each cage and each cable once, in lengths that are sold, with spares."""

import csv
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.handoff.bill import bill_files
from fabricgen.platforms.catalog import host_model, nic_cage
from tests.conftest import Cli
from tests.handoff.rendered import placed, render
from tests.handoff.test_cabling import sheets
from tests.inventories import QUICKSTART, rail_optimized


def bill(bundle: Path, **options: str) -> dict[str, list[dict[str, str]]]:
    files = dict(bill_files(open_bundle([bundle]), **options))
    assert b"# Bill of " in files["bill.md"]
    return {name: list(csv.DictReader(StringIO(files[name].decode()))) for name in ("bill.csv", "racks.csv")}


def total(rows: list[dict[str, str]], item: str) -> int:
    return sum(int(row["needed"]) for row in rows if row["item"] == item)


def test_transceivers_are_the_cages_with_fibre_and_cables_those_of_the_sheets(cli: Cli, tmp_path: Path) -> None:
    tree = rail_optimized()
    tree["planes"]["compute"]["cables"] = {"host-leaf": {"length": "5m", "medium": "mmf"}}
    bundle = render(cli, tmp_path, tree)
    found, opened = bill(bundle)["bill.csv"], open_bundle([bundle])
    assert opened.wiring is not None
    cages = set()
    for link in opened.wiring.links:
        for name, port in (link.a, link.b):
            device = opened.devices.get(name)
            model = host_model("dgx-h100")
            assert model is not None
            cages.add((name, device.text_of("PORT", port, "index") if device else nic_cage(model, port)))
    assert total(found, "transceiver") == len(cages)
    order = csv.DictReader(StringIO(sheets(bundle)["order.csv"].decode()))
    counts: Counter[str] = Counter()
    for row in order:
        counts[row["item"]] += int(row["count"])
    assert {item: total(found, item) for item in counts} == counts
    assert total(found, "switch") == len(opened.wiring.devices)


def test_copper_with_legs_is_a_breakout_cable_and_lengths_are_those_sold(cli: Cli, tmp_path: Path) -> None:
    tree = placed(cables={"host-leaf": {"length": "2.2m", "medium": "dac"}, "leaf-spine": {"length": "31m"}})
    bundle = render(cli, tmp_path, tree)
    found = bill(bundle, spares="10")["bill.csv"]
    by_kind = {(row["item"], row["kind"]): row for row in found}
    assert {row["length"] for row in found if row["kind"] == "dac"} == {"2.5m"}
    assert by_kind["cable", "mmf"]["length"] == "40m"
    for row in found:
        needed, spares = int(row["needed"]), int(row["spares"])
        assert spares == (0 if row["item"] == "switch" else -(-needed * 10 // 100))
        assert int(row["to buy"]) == needed + spares
    assert {row["length"] for row in bill(bundle, lengths="3m, 50m")["bill.csv"] if row["item"] == "cable"} <= {
        "3m", "50m"
    }  # fmt: skip


def test_racks_add_up_to_the_bill(cli: Cli, tmp_path: Path) -> None:
    found = bill(render(cli, tmp_path, placed()))
    assert {row["rack"] for row in found["racks.csv"]} == {"R0", "R1", ""}
    for item in ("switch", "cable", "breakout cable", "transceiver"):
        assert total(found["racks.csv"], item) == total(found["bill.csv"], item)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"spares": "many"}, "--spares many: not a whole number of percent"),
        ({"lengths": "1m,long"}, "--lengths 1m,long"),
        ({"lengths": "1m"}, "the longest that is sold 1m"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, tmp_path: Path, options: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        bill(render(cli, tmp_path, placed()), **options)


def test_the_command_writes_three_files(cli: Cli, tmp_path: Path) -> None:
    assert cli("render", QUICKSTART, "--output", tmp_path / "bundle", "-q").code == 0
    assert cli("handoff", "bill", tmp_path / "bundle", "--output", tmp_path / "bill").code == 0
    assert sorted(one.name for one in (tmp_path / "bill").glob("[a-z]*")) == ["bill.csv", "bill.md", "racks.csv"]
