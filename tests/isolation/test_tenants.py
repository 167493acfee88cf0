"""Tenants through the command line: rendered ACLs, the verdict, counter-examples, and mistakes in an inventory."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli
from tests.inventories import DUAL_STACK, Tree, rail_optimized, write
from tests.isolation.test_exactness import checker

LEAF = "sonic/compute-su00-r0-leaf/config_db.json"


def rented(**plane: Any) -> Tree:
    """Eight hosts on two units; gpu/3 and gpu/7 have no tenant, and gpu/6 serves both tenants."""
    tree = rail_optimized(isolation="acl", **plane)
    tree["tenants"] = {
        "blue": {"hosts": ["gpu/0-1", "gpu/4"]},
        "red": {"hosts": ["gpu/2", "gpu/5"]},
        "store": {"hosts": ["gpu/6"], "shared_with": ["ALL"]},
    }
    return tree


@pytest.fixture(scope="module")
def _rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from fabricgen.api import render

    folder = tmp_path_factory.mktemp("rented")
    render(write(folder / "inventory", rented(addressing=DUAL_STACK)), folder / "bundle")
    return folder / "bundle"


@pytest.fixture
def bundle(_rendered: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(_rendered, tmp_path / "bundle"))


def edit(bundle: Path, change: Any, file: str = LEAF) -> None:
    config = json.loads((bundle / file).read_text())
    change(config)
    (bundle / file).write_text(json.dumps(config, indent=4))


def isolation_of(cli: Cli, bundle: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    found = json.loads(cli("validate", bundle, "--select", "FG647,FG648,FG649", "--format", "json").out)
    return found["isolation"], found["findings"]


def test_one_table_a_tenant_and_family(bundle: Path) -> None:
    config = json.loads((bundle / LEAF).read_text())
    tables = {name: (row["type"], row["ports"]) for name, row in config["ACL_TABLE"].items() if "TENANT" in name}
    assert tables == {
        "NO_TENANT": ("L3", ["Ethernet12"]),
        "NO_TENANT_V6": ("L3V6", ["Ethernet12"]),
        "TENANT_BLUE": ("L3", ["Ethernet0", "Ethernet4"]),
        "TENANT_BLUE_V6": ("L3V6", ["Ethernet0", "Ethernet4"]),
        "TENANT_RED": ("L3", ["Ethernet8"]),
        "TENANT_RED_V6": ("L3V6", ["Ethernet8"]),
    }
    assert [key for key in config["ACL_RULE"] if key.startswith("NO_TENANT|")] == ["NO_TENANT|DROP_1"]


def test_own_rendering_is_proved_apart(cli: Cli, tmp_path: Path) -> None:
    found = cli("check", write(tmp_path, rented(spine={"platform": "arista-7060x6-64pe"})))
    assert found.code == 0, found.out
    assert "3 tenants, apart: proved" in found.out.splitlines()[0]
    assert "FG647" not in found.out
    assert "FG363" not in found.out
    assert "FG719" not in found.out  # each tenant has the pattern for itself


def test_a_pattern_stays_within_its_tenant(cli: Cli, bundle: Path) -> None:
    found = json.loads(cli("simulate", "congestion", bundle, "--pattern", "all-to-all", "--format", "json").out)
    pairs = {(flow["src"][:7], flow["dst"][:7]) for flow in found["congestion"]["flows"]}
    blue, red = {"gpu-000", "gpu-001", "gpu-004"}, {"gpu-002", "gpu-005"}
    assert pairs == {(a, b) for group in (blue, red) for a in group for b in group if a != b}


def test_pairs_are_counted(cli: Cli, bundle: Path) -> None:
    verdict, findings = isolation_of(cli, bundle)
    together = (3 * 8) ** 2 + (2 * 8) ** 2 + 8**2 - 48 + 2 * 8 * 40  # within tenants, and with the store
    assert verdict["pairs"] == {"apart": 2 * (64 * 63 - together), "together": 2 * together, "leaks": 0, "cut": 0}
    assert (verdict["verdict"], verdict["tenants"], verdict["addresses"], findings) == ("apart", 3, 128, [])


def test_matrix_of_who_reaches_whom(cli: Cli, bundle: Path) -> None:
    matrix = {(one["from"], one["to"]): one for one in isolation_of(cli, bundle)[0]["matrix"]}
    passing = {ends for ends, one in matrix.items() if one["passing"] == one["pairs"]}
    closed = {ends for ends, one in matrix.items() if not one["passing"]}
    names = ("", "blue", "red", "store")
    assert passing == {(one, one) for one in names[1:]} | {
        pair for one in ("blue", "red") for pair in ((one, "store"), ("store", one))
    }
    assert passing | closed == {(one, other) for one in names for other in names}


def test_port_without_its_acl(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: config["ACL_TABLE"]["TENANT_BLUE"]["ports"].remove("Ethernet4"))
    verdict, (finding,) = isolation_of(cli, bundle)
    assert verdict["verdict"] == "leaks"
    assert finding["code"] == "FG647"
    assert finding["device"] == "compute-su00-r0-leaf"
    assert "gpu-001/rail0 (10.64.0.3, tenant blue) reaches gpu-002/rail0" in finding["message"]
    assert "no ACL is bound to Ethernet4" in finding["message"]


def test_rule_that_forwards_to_others(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: config["ACL_RULE"].update({"TENANT_RED|LEAK": {
        "PRIORITY": "9999", "PACKET_ACTION": "FORWARD", "DST_IP": "10.64.0.0/30", "IP_PROTOCOL": "1",
    }}))  # fmt: skip
    verdict, (finding,) = isolation_of(cli, bundle)
    assert verdict["pairs"]["leaks"] == 2
    assert finding["path"] == "ACL_RULE|TENANT_RED|LEAK"
    line = (bundle / LEAF).read_text().splitlines()[finding["location"]["line"] - 1]
    assert "TENANT_RED|LEAK" in line


def test_rule_that_cuts_a_tenant(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: config["ACL_RULE"]["TENANT_BLUE|PERMIT_1"].update(PACKET_ACTION="DROP"))
    verdict, (finding,) = isolation_of(cli, bundle)
    assert (verdict["verdict"], finding["code"]) == ("apart", "FG648")
    assert finding["path"] == "ACL_RULE|TENANT_BLUE|PERMIT_1"


def test_port_in_a_vrf_is_cut_off(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: config["INTERFACE"]["Ethernet0"].update(vrf_name="Vrf_x"))
    verdict, findings = isolation_of(cli, bundle)
    assert verdict["pairs"]["cut"] > 0
    assert {one["path"] for one in findings} == {"INTERFACE|Ethernet0"}


def test_missing_address_is_not_proved(cli: Cli, bundle: Path) -> None:
    file = bundle / "fabric.json"
    text = file.read_text()
    second = json.loads(text)["hosts"][1]["name"]
    start = text.index(f'{{"name":"{second}"')
    file.write_text(text[:start] + re.sub(r'"addresses":\[[^]]*]', '"addresses":[]', text[start:], count=1))
    verdict, findings = isolation_of(cli, bundle)
    assert verdict["verdict"] == "unknown"
    assert [(one["code"], Path(one["location"]["file"]).name) for one in findings] == [("FG649", "fabric.json")]
    assert findings[0]["location"]["line"] == text.count("\n", 0, start) + 1
    assert "not proved apart on compute" in cli("validate", bundle, "--select", "FG649").out


def test_all_tables_removed(cli: Cli, bundle: Path) -> None:
    for file in sorted((bundle / "sonic").glob("*leaf/config_db.json")):
        edit(
            bundle,
            lambda config: [config.pop(name) for name in ("ACL_TABLE", "ACL_RULE")],
            str(file.relative_to(bundle)),
        )
    verdict, findings = isolation_of(cli, bundle)
    assert verdict["pairs"]["leaks"] == verdict["pairs"]["apart"]
    assert {one["code"] for one in findings} == {"FG647"}


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        ({"hosts": ["gpu/9"]}, "FG645", "gpu has the hosts 0 to 7"),
        ({"hosts": ["gpux"]}, "FG645", "did you mean 'gpu'?"),
        ({"hosts": ["gpu/2-3"]}, "FG646", "gpu/2/rail0 has two tenants, blue and red"),
        ({"hosts": ["gpu/0"], "shared_with": ["green"]}, "FG107", "the tenant 'green' is not defined"),
        ({"hosts": ["gpu/0"], "planes": ["storage"]}, "FG107", "the plane 'storage' is not defined"),
        ({"hosts": []}, "FG105", "tenants.blue.hosts"),
    ],
)
def test_mistakes(cli: Cli, tmp_path: Path, change: Tree, code: str, text: str) -> None:
    tree = rented()
    tree["tenants"] = {"red": {"hosts": ["gpu/2"]}, "blue": change}
    found = cli("check", write(tmp_path, tree))
    assert found.code == 1
    assert code in found.out
    assert text in found.out


def test_tenants_without_isolation(cli: Cli, tmp_path: Path) -> None:
    tree = rented()
    del tree["planes"]["compute"]["isolation"]
    assert "FG644" in cli("check", write(tmp_path, tree)).out


def test_isolation_without_tenants(cli: Cli, tmp_path: Path) -> None:
    tree = rented()
    del tree["tenants"]
    assert "has `isolation`, and no tenants" in cli("check", write(tmp_path, tree)).out


def test_single_gpus(cli: Cli, tmp_path: Path) -> None:
    tree = rented()
    tree["tenants"] = {"even": {"hosts": [f"rail{rail}" for rail in (0, 2, 4, 6)]}, "odd": {"hosts": ["gpu/0-7/rail1"]}}
    inventory = write(tmp_path / "inventory", tree)
    found = cli("check", inventory)
    assert "2 tenants, apart: proved" in found.out
    tree["tenants"]["even"]["hosts"] += ["gpu/0/rail3"]
    write(tmp_path / "inventory", tree)
    assert cli("render", inventory, "--output", tmp_path / "bundle").code == 0
    files = {
        str(file.parent.relative_to(tmp_path / "bundle/hosts/gpu/tenants")): dict(
            line.split("=", 1) for line in file.read_text().splitlines() if "=" in line and not line.startswith("#")
        )
        for file in (tmp_path / "bundle/hosts/gpu/tenants").rglob("nccl.conf")
    }
    devices = {place: one["NCCL_IB_HCA"].removeprefix("=").split(",") for place, one in files.items()}
    whole = (tmp_path / "bundle/hosts/gpu/nccl.conf").read_text()
    listed = next(line for line in whole.splitlines() if line.startswith("NCCL_IB_HCA=="))
    rails = listed.removeprefix("NCCL_IB_HCA==").split(",")
    assert len(rails) == 8
    assert devices == {
        "odd": [rails[1]],
        "even/rail0-rail2-rail4-rail6": [rails[rail] for rail in (0, 2, 4, 6)],
        "even/rail0-rail2-rail3-rail4-rail6": [rails[rail] for rail in (0, 2, 3, 4, 6)],
    }
    assert {name: one["NCCL_IB_TC"] for name, one in files.items()} == dict.fromkeys(files, "106")
    assert cli("validate", tmp_path / "bundle").code == 0


def test_whole_hosts_have_no_settings_of_tenants(bundle: Path) -> None:
    assert not (bundle / "hosts/gpu/tenants").exists()


def test_own_addresses_need_two_rules_a_family(cli: Cli, tmp_path: Path) -> None:
    tree = rented(addressing=DUAL_STACK)
    tree["tenants"]["blue"]["addresses"] = {"compute": ["10.65.0.0/16", "fd00:0:0:2:1::/80"]}
    inventory = write(tmp_path / "inventory", tree)
    assert cli("render", inventory, "--output", tmp_path / "bundle").code == 0
    config = json.loads((tmp_path / "bundle" / LEAF).read_text())
    rules = {key: row["DST_IP"] for key, row in config["ACL_RULE"].items() if key.startswith("TENANT_BLUE|")}
    stored = {
        key for key in rules if rules[key].startswith("10.64.")
    }  # the store has addresses of the pool of all hosts
    assert {rules[key] for key in rules.keys() - stored} == {"10.65.0.0/16"}
    assert "TENANT_BLUE|DROP_1" in stored
    assert isolation_of(cli, tmp_path / "bundle")[0]["verdict"] == "apart"
    before = {file.parent.name: file.read_bytes() for file in (tmp_path / "bundle" / "sonic").glob("*/config_db.json")}
    tree["tenants"]["blue"]["hosts"] = ["gpu/0-1", "gpu/3", "gpu/4"]  # gpu/3 moves; the addresses of others stay
    write(tmp_path / "inventory", tree)
    assert cli("render", inventory, "--output", tmp_path / "bundle").code == 0
    after = json.loads((tmp_path / "bundle" / LEAF).read_text())
    old = json.loads(before["compute-su00-r0-leaf"])
    gone = {key.partition("|")[0] for key in old["INTERFACE"].keys() - after["INTERFACE"].keys()}
    assert gone == {"Ethernet12"}
    assert isolation_of(cli, tmp_path / "bundle")[0]["verdict"] == "apart"


@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        ("192.168.0.0/16", "is not in the host pool of plane compute"),
        (["10.65.0.0/16", "fd00::/64"], "have different families"),
        ("10.66.0.0/16", "overlaps 10.66.0.0/24 of tenant red"),
    ],
)
def test_wrong_addresses(cli: Cli, tmp_path: Path, prefix: Any, text: str) -> None:
    tree = rented()
    tree["tenants"]["red"]["addresses"] = {"compute": "10.66.0.0/24"}
    tree["tenants"]["store"]["addresses"] = {"compute": prefix}
    found = cli("check", write(tmp_path, tree))
    assert found.code == 1
    assert "FG650" in found.out
    assert text in " ".join(found.out.split())


def test_certificate_is_verified_without_fabricgen(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    file, verdict = tmp_path / "tenants.json", isolation_of(cli, bundle)[0]
    assert cli("validate", bundle, "--select", "FG647", "--certificate", file).code == 0
    assert checker().main(file, bundle) == verdict["pairs"]["apart"]
    edit(bundle, lambda config: config["ACL_TABLE"]["TENANT_BLUE"]["ports"].remove("Ethernet4"))
    with pytest.raises(AssertionError, match="DROP_1 of compute-su00-r0-leaf Ethernet4"):
        checker().main(file, bundle)


def test_certificate_without_an_address(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    file = tmp_path / "tenants.json"
    assert cli("validate", bundle, "--select", "FG647", "--certificate", file).code == 0
    content = json.loads(file.read_text())
    content["planes"][0]["classes"][0]["members"].pop()
    file.write_text(json.dumps(content))
    with pytest.raises(AssertionError, match="do not have each address"):
        checker().main(file, bundle)


def test_certificate_without_tenants(cli: Cli, tmp_path: Path) -> None:
    assert cli("render", write(tmp_path / "inventory", rail_optimized()), "--output", tmp_path / "bundle").code == 0
    found = cli("validate", tmp_path / "bundle", "--select", "FG647", "--certificate", tmp_path / "file")
    assert (found.code, (tmp_path / "file").exists()) == (2, False)


@pytest.mark.parametrize("ports", [[], None])
def test_tables_of_no_port(cli: Cli, bundle: Path, ports: list[str] | None) -> None:
    def unbind(config: Any) -> None:
        for row in config["ACL_TABLE"].values():
            row.pop("ports")
            if ports is not None:
                row["ports"] = ports

    for file in sorted((bundle / "sonic").glob("*leaf/config_db.json")):
        edit(bundle, unbind, str(file.relative_to(bundle)))
    verdict, _ = isolation_of(cli, bundle)
    assert verdict["pairs"]["leaks"] == verdict["pairs"]["apart"]


@pytest.mark.parametrize(
    ("table", "field", "value"),
    [("ACL_TABLE", "type", "L2"), ("ACL_TABLE", "type", "SITE"), ("ACL_RULE", "PACKET_ACTION", "DENY")],
)
def test_what_aclorch_does_not_know_drops_nothing(cli: Cli, bundle: Path, table: str, field: str, value: str) -> None:
    def change(config: Any) -> None:
        for key, row in config[table].items():
            if "PERMIT" not in key:
                row[field] = value

    edit(bundle, change)
    assert isolation_of(cli, bundle)[0]["verdict"] == "leaks"
    if value == "SITE":  # unless the file defines it
        edit(bundle, lambda config: config.update(ACL_TABLE_TYPE={"SITE": {"MATCHES": "DST_IP"}}))
        assert isolation_of(cli, bundle)[0]["verdict"] == "apart"


def test_hosts_without_their_subnet_are_not_reached(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: [config["INTERFACE"].pop(key) for key in list(config["INTERFACE"]) if "|" in key])
    verdict, findings = isolation_of(cli, bundle)
    assert (verdict["verdict"], verdict["pairs"]["leaks"]) == ("apart", 0)
    assert verdict["pairs"]["cut"] == 2 * (2 * (23 + 8) + 15 + 8)  # gpu/0-2 on a rail, both families
    assert {one["code"] for one in findings} == {"FG648"}
    assert "no subnet of Ethernet0 of compute-su00-r0-leaf has this address" in findings[0]["message"]


@pytest.mark.parametrize("change", ["no tenants", "no NICs", "no isolation"])
def test_nothing_to_judge_is_no_pass(cli: Cli, bundle: Path, change: str) -> None:
    file = bundle / "fabric.json"
    wiring = json.loads(file.read_text())
    if change == "no tenants":
        wiring["tenants"] = []
    elif change == "no NICs":
        for tenant in wiring["tenants"]:
            tenant["nics"] = []
    else:
        del wiring["planes"][0]["isolation"]
    file.write_text(json.dumps(wiring))
    verdict, findings = isolation_of(cli, bundle)
    if change == "no isolation":  # tenants have NICs there, so it is judged
        assert (verdict["verdict"], verdict["tenants"], findings) == ("apart", 3, [])
        return
    assert (verdict["verdict"], verdict["tenants"]) == ("leaks", 0)  # hosts without tenants reach each other
    assert "no tenant has a NIC of the plane" in next(one["message"] for one in findings if one["code"] == "FG649")
    for leaf in (bundle / "sonic").glob("*leaf/config_db.json"):
        edit(bundle, lambda config: [config["ACL_RULE"].pop(key) for key in list(config["ACL_RULE"]) if "|P" in key],
             str(leaf.relative_to(bundle)))  # fmt: skip
    verdict, findings = isolation_of(cli, bundle)
    assert (verdict["verdict"], [one["code"] for one in findings]) == ("unknown", ["FG649"])
    assert "not proved" in cli("validate", bundle, "--select", "FG649").out.splitlines()[0]
