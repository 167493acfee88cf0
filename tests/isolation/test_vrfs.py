"""Tenants in VRFs through the command line: rendered rows, the verdict, counter-examples, and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fabricgen.api import render
from tests.conftest import Cli
from tests.inventories import DUAL_STACK, Tree, rail_optimized, write
from tests.isolation.test_exactness import checker
from tests.isolation.test_tenants import edit, isolation_of

TO_BLUE = {"nexthop": "10.64.0.1", "ifname": "Ethernet0", "nexthop-vrf": "Vrf_blue"}
LEAF = "sonic/compute-su00-r0-leaf/config_db.json"


def rented(**plane: Any) -> Tree:
    """Eight hosts on one leaf for each rail; gpu/7 has no tenant, and gpu/6 serves both tenants."""
    tree = rail_optimized(unit=8, planned=1, isolation="vrf", design="rail-only", **plane)
    tree["planes"]["compute"].pop("spine")
    tree["tenants"] = {
        "blue": {"hosts": ["gpu/0-2"]},
        "red": {"hosts": ["gpu/3-5"]},
        "store": {"hosts": ["gpu/6"], "shared_with": ["ALL"]},
    }
    return tree


@pytest.fixture(scope="module")
def _rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rented")
    render(write(folder / "inventory", rented(addressing=DUAL_STACK)), folder / "bundle")
    return folder / "bundle"


@pytest.fixture
def bundle(_rendered: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_rendered, tmp_path / "bundle"))


def test_rows_of_a_leaf(bundle: Path) -> None:
    config = json.loads((bundle / LEAF).read_text())
    assert set(config["VRF"]) == {"Vrf_blue", "Vrf_red", "Vrf_store"}
    assert {key: row["vrf_name"] for key, row in config["INTERFACE"].items() if "vrf_name" in row} == {
        **{f"Ethernet{number}": "Vrf_blue" for number in (0, 4, 8)},
        **{f"Ethernet{number}": "Vrf_red" for number in (12, 16, 20)},
        "Ethernet24": "Vrf_store",
    }
    assert config["STATIC_ROUTE"]["Vrf_blue|10.64.0.13/32"] == {
        "ifname": "Ethernet24", "nexthop": "10.64.0.13", "nexthop-vrf": "Vrf_store",
    }  # fmt: skip
    assert len(config["STATIC_ROUTE"]) == 2 * (1 + 1 + 3 + 3)  # each family: to the store, and back to each host
    assert config["ACL_TABLE"]["NO_TENANT"]["ports"] == ["Ethernet28"]


@pytest.mark.parametrize("release", [202411, 202605])
def test_own_rendering_is_proved_apart(cli: Cli, tmp_path: Path, release: int) -> None:
    found = cli("check", write(tmp_path, {**rented(), "sonic": {"release": release}}))
    assert found.code == 0, found.out
    assert "3 tenants, apart: proved" in found.out.splitlines()[0]
    assert "error" not in found.out.partition("Checked")[0]


def test_pairs_are_counted(cli: Cli, bundle: Path) -> None:
    verdict, findings = isolation_of(cli, bundle)
    own = 8 * (2 * 3 * 2 + 2 * 6)  # on each rail within both tenants, and with the store in both directions
    assert verdict["pairs"] == {"apart": verdict["pairs"]["apart"], "together": 2 * own, "leaks": 0, "cut": 0}
    assert (verdict["verdict"], verdict["addresses"], findings) == ("apart", 128, [])
    assert "default VRF" not in verdict["not_covered"]  # nothing connects the leaves


def test_port_in_the_vrf_of_another_tenant(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: config["INTERFACE"]["Ethernet0"].update(vrf_name="Vrf_red"), LEAF)
    verdict, findings = isolation_of(cli, bundle)
    assert verdict["verdict"] == "leaks"
    leak = next(one for one in findings if one["code"] == "FG647")
    assert (leak["device"], leak["path"]) == ("compute-su00-r0-leaf", "INTERFACE|Ethernet0")
    assert "both are in one VRF" in leak["message"]
    assert leak["hint"] == "put each port into the VRF of its tenant"
    assert {one["code"] for one in findings} == {"FG647", "FG648"}


@pytest.mark.parametrize(
    ("table", "key", "row"),
    [
        ("STATIC_ROUTE", "Vrf_red|10.64.0.0/30", TO_BLUE),
        ("STATIC_ROUTE", "default|10.64.0.0/30", TO_BLUE),
        ("BGP_GLOBALS_AF", "Vrf_red|ipv4_unicast", {"import_vrf": "Vrf_blue"}),
        ("VRF", "Vrf_red", {"fallback": "true"}),
    ],
)  # fmt: skip
def test_a_route_to_another_vrf(cli: Cli, bundle: Path, table: str, key: str, row: Any) -> None:
    def leak(config: Any) -> None:
        config.setdefault(table, {}).setdefault(key, {}).update(row)
        if "default" in key:
            config.pop("ACL_TABLE")  # that of the host without a tenant

    edit(bundle, leak, LEAF)
    if table == "VRF":  # the host without a tenant is in the default VRF
        edit(bundle, lambda config: config["INTERFACE"]["Ethernet0"].pop("vrf_name"), LEAF)
    verdict, findings = isolation_of(cli, bundle)
    assert verdict["verdict"] == "leaks"
    assert {one["path"] for one in findings if one["code"] == "FG647"} >= {f"{table}|{key}"}


def test_a_missing_route_cuts_a_service(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: config["STATIC_ROUTE"].pop("Vrf_store|10.64.0.1/32"), LEAF)
    verdict, (finding,) = isolation_of(cli, bundle)
    assert (verdict["verdict"], finding["code"], verdict["pairs"]["cut"]) == ("apart", "FG648", 1)
    assert "gpu-006/rail0 (10.64.0.13, tenant store) does not reach gpu-000/rail0" in finding["message"]


def test_flows_follow_routes_between_vrfs(cli: Cli, bundle: Path) -> None:
    """Without tenants in fabric.json all hosts run one job; only pairs with routes send."""
    file = bundle / "fabric.json"
    wiring = json.loads(file.read_text())
    wiring["tenants"] = []
    del wiring["planes"][0]["isolation"]
    file.write_text(json.dumps(wiring))
    found = json.loads(cli("simulate", "congestion", bundle, "--pattern", "all-to-all", "--format", "json").out)
    pairs = {(flow["src"][6], flow["dst"][6]) for flow in found["congestion"]["flows"]}
    blue, red = "012", "345"
    assert pairs == {
        *((a, b) for group in (blue, red) for a in group for b in group if a != b),
        *((a, "6") for a in blue + red),
        *(("6", a) for a in blue + red),
    }


def test_leaves_that_spines_connect_are_refused(cli: Cli, tmp_path: Path) -> None:
    tree = rail_optimized(isolation="vrf")
    tree["tenants"] = rented()["tenants"]
    found = cli("check", write(tmp_path, tree))
    assert found.code == 1
    assert "FG651" in found.out
    assert "a VRF ends at its switch" in found.out


def test_a_name_that_is_too_long_for_a_vrf(cli: Cli, tmp_path: Path) -> None:
    found = cli("check", write(tmp_path, {**rented(), "tenants": {"a-long-tenant": {"hosts": ["gpu/0"]}}}))
    assert "FG653" in found.out
    assert "at most 11 characters" in found.out


@pytest.mark.parametrize("access", ["vlan", {"kind": "routed", "groups": {"gpu": "bond"}}])
def test_hosts_in_a_vlan_are_refused(cli: Cli, tmp_path: Path, access: Any) -> None:
    assert "FG661" in cli("check", write(tmp_path, rented(access=access))).out


def test_routes_outside_are_refused(cli: Cli, tmp_path: Path) -> None:
    tree = rented(static=[{"prefixes": ["10.200.0.0/16"], "behind": "gpu/0"}])
    assert "FG652" in cli("check", write(tmp_path, tree)).out


def test_certificate_is_verified_without_fabricgen(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    file, verdict = tmp_path / "tenants.json", isolation_of(cli, bundle)[0]
    assert cli("validate", bundle, "--select", "FG647", "--certificate", file).code == 0
    assert checker().main(file, bundle) == verdict["pairs"]["apart"]
    edit(bundle, lambda config: config["STATIC_ROUTE"].update({"Vrf_red|10.64.0.0/31": TO_BLUE}), LEAF)
    with pytest.raises(AssertionError, match=r"has a route from Vrf_red to 10\.64\.0\.1"):
        checker().main(file, bundle)
