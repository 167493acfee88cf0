"""Existing names, ASNs and addresses from a table into the lock file: what is kept, and every mistake at its line."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricgen.api.importing import import_addresses
from fabricgen.render.plans import make_plans
from tests.conftest import Cli
from tests.inventories import ADDRESSING, DUAL_STACK, rail_optimized, write

LEAF, SPINE = "compute-su00-r0-leaf", "compute-spine-00"
UP, UPLINK = "compute/su0/rail0/leaf0/up0", "Ethernet448"


def tree(**plane: Any) -> dict[str, Any]:
    addressing = {**ADDRESSING, "asn": {"first": 65000, "last": 65535}}
    return rail_optimized(16, 16, 4, **{"addressing": addressing, **plane})


def table(folder: Path, *rows: str, columns: str = "device,asn,loopback,port,address") -> Path:
    file = folder / "table.csv"
    file.write_text("\n".join([columns, *rows]) + "\n")
    return file


def found(folder: Path, *rows: str, **columns: str) -> list[tuple[str, str, str]]:
    findings = import_addresses(table(folder, *rows, **columns), write(folder / "f", tree())).findings
    return [(one.code, str(one.location).partition("table.csv:")[2], one.message) for one in findings]


def test_rendering_keeps_what_the_table_gives(tmp_path: Path, cli: Cli) -> None:
    inventory = write(tmp_path / "f", tree())
    rows = [f"{SPINE},65000,10.0.9.1,,", f"{LEAF},65077,10.0.9.77,,", f"{LEAF},,,{UPLINK},10.130.7.1/31",
            f"{LEAF},,,Ethernet0,10.65.0.0/31", f"{LEAF},,,Ethernet4,10.65.0.2"]  # fmt: skip
    outcome = cli("import", "addresses", table(tmp_path, *rows), inventory)
    assert outcome.code == 0 and "2 asns, 2 loopbacks, 2 blocks" in outcome.err
    assert cli("-q", "render", inventory, "--output", tmp_path / "b", "--locked").code == 0
    leaf, spine = (json.loads((tmp_path / f"b/sonic/{name}/config_db.json").read_text()) for name in (LEAF, SPINE))
    assert leaf["DEVICE_METADATA"]["localhost"]["bgp_asn"] == "65077"
    assert {"Loopback0|10.0.9.77/32"} <= leaf["LOOPBACK_INTERFACE"].keys()
    assert leaf["BGP_NEIGHBOR"]["10.130.7.0"]["local_addr"] == "10.130.7.1"
    assert spine["BGP_NEIGHBOR"]["10.130.7.1"]["asn"] == "65077"
    assert {"Ethernet0|10.65.0.0/31", "Ethernet4|10.65.0.2/31"} <= leaf["INTERFACE"].keys()
    assert cli("check", inventory, "--locked").code == 0


@pytest.mark.parametrize("switch", [LEAF, "compute/su0/rail0/leaf0"])
@pytest.mark.parametrize(("end", "text"), [("low", "10.130.7.1/31"), ("high", "10.130.7.0")])
def test_either_end_gives_the_subnet_in_its_orientation(end: str, text: str, switch: str, tmp_path: Path) -> None:
    row = f"{switch},,,{UPLINK},{text}" if end == "low" else f"{SPINE},,,Ethernet0,{text}"
    result = import_addresses(table(tmp_path, row), write(tmp_path / "f", tree()))
    assert result.findings == () and result.lock.blocks[UP] == ["10.130.7.1/31"]


def test_a_row_with_an_identity_names_the_switch(tmp_path: Path) -> None:
    rows = ["old-leaf-1,,65055,,,", "old-leaf-1,compute/su0/rail0/leaf0,,,,"]
    columns = "device,identity,asn,loopback,port,address"
    result = import_addresses(table(tmp_path, *rows, columns=columns), write(tmp_path / "f", tree()))
    assert result.findings == () and result.entries == {"names": 1, "asns": 1}
    assert result.lock.names["compute/su0/rail0/leaf0"] == "old-leaf-1"
    assert result.lock.asns["compute/su0/rail0/leaf0"] == 65055


def test_a_cell_has_an_address_of_each_family(tmp_path: Path) -> None:
    inventory = write(tmp_path / "f", rail_optimized(16, 16, 4, addressing=DUAL_STACK))
    rows = [f"{LEAF},,10.0.9.9 fd00::99,,", f"{LEAF},,,{UPLINK},10.130.7.0/31 fd00:0:0:1::70/127"]
    result = import_addresses(table(tmp_path, *rows), inventory)
    assert result.findings == ()
    assert result.lock.loopbacks["compute/su0/rail0/leaf0"] == ["10.0.9.9", "fd00::99"]
    assert result.lock.blocks[UP] == ["10.130.7.0/31", "fd00:0:0:1::70/127"]


def test_all_mistakes_of_a_table_are_reported_at_their_lines(tmp_path: Path) -> None:
    rows = [
        f"{SPINE},65000,,,", "compute-spine-01,65001,,,", "compute-spine-99,65000,,,", ",65000,,,", f"{LEAF},-1,,,",
        f"{LEAF},,10.0.0.1x,,", f"{LEAF},,,Ethernet1,10.130.7.0", f"{LEAF},,,{UPLINK},10.130.7.0/30",
        f"{LEAF},,,{UPLINK},", f"{LEAF},,,,", f"{LEAF},,,,10.130.7.0", f"{LEAF},65000,,{UPLINK},10.130.7.0",
        f"{LEAF},,10.0.0.1 10.0.0.2,,", f"{LEAF},,,Ethernet4,10.65.0.0/31", f"{SPINE},,,Ethernet0,10.130.8.0/31",
    ]  # fmt: skip
    assert sorted(found(tmp_path, *rows), key=lambda one: int(one[1].partition(":")[0])) == [
        ("FG135", "3:1", "compute/spine has 65001 here and 65000 in line 2"),
        ("FG107", "4:1", "the device 'compute-spine-99' does not exist"),
        ("FG106", "5:1", "the row has no device"),
        ("FG105", "6:1", "'-1' is not an ASN"),
        ("FG105", "7:1", "'10.0.0.1x' is not an address"),
        ("FG131", "8:1", f"{LEAF} has no link at port 'Ethernet1'"),
        ("FG135", "9:1", "10.130.7.0/30 is not a /31"),
        ("FG106", "10:1", "the port has no address"),
        ("FG106", "11:1", "the row gives nothing to keep"),
        ("FG106", "12:1", "the row gives nothing to keep"),
        ("FG106", "12:1", "the address has no port"),
        ("FG105", "13:1", "a row with a port has no asn"),
        ("FG105", "14:1", "'10.0.0.1 10.0.0.2' has two addresses of one family"),
        ("FG135", "15:1", "10.65.0.0 of Ethernet4 does not fit: the host ports of a leaf have consecutive subnets, in "
         "the order of the ports, from a multiple of 32 addresses"),
        ("FG135", "16:1", f"{UP} has 10.130.8.1/31 here and 10.130.7.0/31 in line 13"),
    ]  # fmt: skip


def test_a_table_without_a_row_is_reported(tmp_path: Path) -> None:
    assert found(tmp_path) == found(tmp_path, columns="") == [("FG106", "1:1", "the table has no row")]


def test_an_unknown_column_and_identity_are_reported(tmp_path: Path) -> None:
    rows = ["x,compute/leaf9,1", "-x,compute/su0/rail0/leaf0,1"]
    assert [(code, place) for code, place, _ in found(tmp_path, *rows, columns="device,identity,vlan")] == [
        ("FG101", "1"), ("FG107", "2:1"), ("FG105", "3:1"),
    ]  # fmt: skip


def test_what_does_not_fit_the_pools_is_an_error_at_its_row(tmp_path: Path, cli: Cli) -> None:
    inventory = write(tmp_path / "f", tree())
    rows = [f"{SPINE},100,10.9.0.1,,", f"{LEAF},,10.0.9.2,,", "compute-spine-01,,10.0.9.2,,",
            f"{LEAF},,,{UPLINK},11.1.1.0/31"]  # fmt: skip
    outcome = cli("import", "addresses", table(tmp_path, *rows), inventory)
    assert outcome.code == 1 and not (inventory / "allocations.lock.yaml").exists()
    for line, code, text in (
        (2, "FG398", "compute/spine has 100, which is outside the range 65000-65535"),
        (2, "FG398", "compute/spine0 has 10.9.0.1, which is outside the pool 10.0.0.0/16"),
        (5, "FG398", f"{UP} has 11.1.1.0/31, which is outside the pool 10.128.0.0/10"),
    ):
        assert any(f"table.csv:{line}:1  error {code}" in one and text in one for one in outcome.out.splitlines())
    assert "has 10.0.9.2, which compute/" in outcome.out and "also has" in outcome.out


def test_the_errors_of_the_inventory_come_first(tmp_path: Path, cli: Cli) -> None:
    inventory = write(tmp_path / "f", tree(speed="401G"))
    outcome = cli("import", "addresses", table(tmp_path, "x,,,,"), inventory)
    assert outcome.code == 1 and "FG202" in outcome.out and "FG107" not in outcome.out


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 2**20), min_size=16, max_size=16, unique=True), st.booleans())
def test_any_subnets_of_the_pool_are_kept(tmp_path: Path, subnets: list[int], is_odd: bool) -> None:
    """And a second import of what was kept changes nothing."""
    inventory = write(tmp_path / "f", tree())
    plans = make_plans(inventory)
    links = [link for link in plans.fabric.links if link.a.key == "compute/su0/rail0/leaf0"]
    texts = [f"10.{128 + (2 * n >> 16)}.{2 * n >> 8 & 255}.{(2 * n & 255) + is_odd}" for n in subnets]
    rows = [f"{LEAF},,,{link.a_port},{text}" for link, text in zip(links, texts, strict=True)]
    result = import_addresses(table(tmp_path, *rows), inventory)
    assert result.findings == () and "compute/su0/rail0/leaf0/uplinks" not in result.lock.blocks
    (inventory / "allocations.lock.yaml").write_text(result.lock.dump())
    again = make_plans(inventory)
    assert not again.lock_changed and again.findings == []
    assert [again.allocation.link_addresses(link)[0][0] for link in again.fabric.links
            if link.a.key == "compute/su0/rail0/leaf0"] == texts  # fmt: skip
    assert import_addresses(tmp_path / "table.csv", inventory).lock == result.lock
    (inventory / "allocations.lock.yaml").unlink()


def test_an_existing_lock_keeps_its_other_entries(tmp_path: Path, cli: Cli) -> None:
    inventory = write(tmp_path / "f", tree())
    assert cli("-q", "render", inventory, "--output", tmp_path / "b").code == 0
    lock = inventory / "allocations.lock.yaml"
    before = yaml.safe_load(lock.read_text())
    assert (
        cli("import", "addresses", table(tmp_path, f"{LEAF},65077,,,"), inventory, "-o", tmp_path / "new.yaml").code
        == 0
    )
    after = yaml.safe_load((tmp_path / "new.yaml").read_text())
    assert yaml.safe_load(lock.read_text()) == before
    before["asns"]["compute/su0/rail0/leaf0"] = 65077
    assert after == before
