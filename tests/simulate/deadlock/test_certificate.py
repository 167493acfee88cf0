"""Certificates, and the independent checker that reads only them and the configuration files."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fabricgen.resources import resource
from fabricgen.simulate.deadlock import analyse_deadlock
from fabricgen.simulate.deadlock.certificate import certificate, certificate_text, next_hops, seal
from tests.bgp_fabric import ConfigDbs, Fabric, add_discards, add_ways_out, from_case, open_configs
from tests.conftest import Cli
from tests.frr_cases import CASES
from tests.handoff.rendered import render, vteps
from tests.shared_material import shared
from tests.simulate.deadlock.test_fabrics import clos, pods

CHECKER = resource("docs", "certificate_check.py")


def _roce_examples() -> list[str]:
    files = resource("inventories").glob("*/fabric.yaml")
    return sorted(file.parent.name for file in files if "technology: infiniband" not in file.read_text())


def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("certificate_check", CHECKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checked(content: dict[str, Any], folder: Path) -> str:
    """What the checker says."""
    module = checker()
    try:
        return "\n".join(module.check(json.loads(json.dumps(content)), folder))
    except module.RefusedError as refusal:
        return f"refused: {refusal}"


def certified(configs: ConfigDbs, folder: Path) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    return certificate(analyse_deadlock(open_configs(configs, folder)))


@pytest.mark.parametrize("name", _roce_examples())
def test_certificate_of_every_example_holds(cli: Cli, tmp_path: Path, name: str) -> None:
    shutil.copytree(resource("inventories", name), tmp_path / name)
    bundle, file = tmp_path / "bundle", tmp_path / "certificate.json"
    inventory = tmp_path / name
    assert cli("render", inventory, "--output", bundle, "-q").code == 0
    assert cli("simulate", "deadlock", bundle, "--certificate", file).code == 0
    run = subprocess.run([sys.executable, "-I", CHECKER, file, bundle], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    content = json.loads(file.read_text())
    assert len(run.stdout.splitlines()) == len(content["planes"])
    always = [plane["holds"] == "whatever fails" for plane in content["planes"]]
    assert all(always) == (name != "border"), "only a way out lets packets follow another prefix than their own"


@pytest.mark.parametrize("case", [name for name in CASES if "mixedspine" not in name])
def test_certificate_of_what_frr_does_not_find_cyclic(case: str, tmp_path: Path) -> None:
    content = json.loads(shared("data", "bgp", f"{case}.json").read_text())
    found = certified(from_case(content).configs(), tmp_path)
    refusal = checked(found, tmp_path)
    if content["verdict"]["cycle"]:
        assert "has no order: its dependencies are cyclic" in refusal
    else:
        assert "channels are in order" in refusal


def test_history_is_beyond_the_checker(tmp_path: Path) -> None:
    content = json.loads(shared("data", "bgp", "ls4x3_mixedspine_history__l1-s3.json").read_text())
    found = certified(from_case(content).configs(), tmp_path)
    assert found["planes"][0]["claim"] == "possible"
    assert "depends on the order of events" in checked(found, tmp_path)


def swapped(found: dict[str, Any], one: int, other: int) -> dict[str, Any]:
    copy = json.loads(json.dumps(found))
    order = copy["planes"][0]["order"]
    order[one], order[other] = order[other], order[one]
    return copy


def test_swapped_channels_are_refused(tmp_path: Path) -> None:
    found = certified(clos(4, 2).configs(), tmp_path)
    assert "in order" in checked(found, tmp_path)
    last = len(found["planes"][0]["order"]) - 1
    for one, other in ((0, last), (0, 1), (3, 4)):
        copy = swapped(found, one, other)
        assert "sealed" in checked(copy, tmp_path)
    copy = swapped(found, 0, last)
    copy["planes"][0]["seal"] = seal(copy["planes"][0]["order"])
    assert "does not come later" in checked(copy, tmp_path)


def test_paths_between_vteps_are_followed(cli: Cli, tmp_path: Path) -> None:
    """All hosts are in VRFs: without the addresses of VTEPs no packet would be followed."""
    bundle, file = render(cli, tmp_path, vteps()), tmp_path / "certificate.json"
    assert cli("simulate", "deadlock", bundle, "--certificate", file).code == 0
    found = json.loads(file.read_text())
    assert "dependencies checked; holds whatever fails" in checked(found, bundle)
    assert " 0 dependencies checked" not in checked(found, bundle)
    found["planes"][0]["order"].reverse()
    found["planes"][0]["seal"] = seal(found["planes"][0]["order"])
    assert "does not come later" in checked(found, bundle)
    module, folder = checker(), bundle / "sonic"
    fabric = module.Fabric(module.read_switches([folder]))
    origins = fabric.origins()
    leaves = sorted(name for name in fabric.switches if name.endswith("leaf"))
    assert sorted(name for one in fabric.host_prefixes(origins) for name in origins[one]) == leaves
    for leaf in leaves:  # without the VLAN of a VNI the leaf is not a VTEP
        config = json.loads((folder / leaf / "config_db.json").read_text())
        (folder / leaf / "config_db.json").write_text(json.dumps(config | {"VLAN_INTERFACE": {}}))
        assert module.read_switches([folder])[leaf].vtep() is None


def test_missing_and_invented_channels_are_refused(tmp_path: Path) -> None:
    found = certified(clos(4, 2).configs(), tmp_path)
    for change, refusal in (
        (lambda order: order.pop(), "missing in the order"),
        (lambda order: order.append(["l0", "Ethernet400", [3]]), "is not a lossless link"),
        (lambda order: order.append(["l0", "Ethernet0", [5]]), "is not a lossless link"),
    ):
        copy = json.loads(json.dumps(found))
        change(copy["planes"][0]["order"])
        copy["planes"][0]["seal"] = seal(copy["planes"][0]["order"])
        assert refusal in checked(copy, tmp_path)


def _without(fabric: Fabric, *links: tuple[str, str]) -> Fabric:
    return Fabric(fabric.asn, [link for link in fabric.links if link not in links], fabric.prefixes, fabric.kinds)


def test_certificate_of_other_files_is_refused(tmp_path: Path) -> None:
    """The ASN of one spine is edited after the certificate was written: now leaves carry transit and close a cycle."""
    failed = ("l0", "s0"), ("l1", "s1")
    found = certified(_without(clos(4, 2), *failed).configs(), tmp_path)
    assert found["planes"][0]["holds"] == "whatever fails"
    other = _without(clos(4, 2, lambda spine: 65000 + spine), *failed).configs()
    result = analyse_deadlock(open_configs(other, tmp_path))
    assert result[0].verdict == "cyclic"
    assert "does not come later" in checked(found, tmp_path)


def test_failure_independence_is_refused_where_asns_allow_valleys(tmp_path: Path) -> None:
    """Acyclic as configured, not after every failure: a stronger claim is refused."""
    found = certified(clos(4, 2, lambda spine: 65000 + spine).configs(), tmp_path)
    assert found["planes"][0]["holds"] == "as configured"
    assert "holds as configured" in checked(found, tmp_path)
    found["planes"][0]["holds"] = "whatever fails"
    assert "have several ASNs" in checked(found, tmp_path)


@pytest.mark.parametrize("kind", ["ToRRouter", "LeafRouter"])
def test_lenient_spines_rule_nothing_out(tmp_path: Path, kind: str) -> None:
    fabric = clos(4, 2)
    spines = [name for name in fabric.asn if name.startswith("s")]
    lenient = Fabric(fabric.asn, fabric.links, fabric.prefixes, dict.fromkeys(spines, kind), bbr=spines)
    found = certified(lenient.configs(), tmp_path)
    assert found["planes"][0]["holds"] == "as configured"
    found["planes"][0]["holds"] = "whatever fails"
    assert "accepts paths with its own ASN" in checked(found, tmp_path)


def test_three_tiers_hold_whatever_fails(tmp_path: Path) -> None:
    found = certified(pods(3, 2, 2, 2).configs(), tmp_path)
    assert found["planes"][0]["holds"] == "whatever fails"
    assert "holds whatever fails" in checked(found, tmp_path)


def test_way_out_holds_as_configured_only(tmp_path: Path) -> None:
    configs = clos(4, 2).configs()
    add_ways_out(configs, ["l0", "l3"])
    add_discards(configs, "10.0.0.0/8")
    found = certified(configs, tmp_path)
    assert found["planes"][0]["holds"] == "as configured"
    assert "in order" in checked(found, tmp_path)
    found["planes"][0]["holds"] = "whatever fails"
    assert "may follow 0.0.0.0/0" in checked(found, tmp_path)


def test_other_switches_are_refused(tmp_path: Path) -> None:
    found = certified(clos(4, 2).configs(), tmp_path)
    (tmp_path / "l3.json").unlink()
    assert "not the same switches: l3" in checked(found, tmp_path)


def test_a_plane_cannot_be_cut_into_parts_without_dependencies(tmp_path: Path) -> None:
    """Each part would be in order, because nothing follows a packet into another one."""
    found = certified(clos(4, 2).configs(), tmp_path)
    (plane,) = found["planes"]
    found["planes"] = [
        {**plane, "name": name, "switches": [name], "order": [], "holds": "as configured", "seal": seal([])}
        for name in plane["switches"]
    ]
    assert "which is in another plane" in checked(found, tmp_path)
    found["planes"] = [{**one, "name": "all"} for one in found["planes"]]
    assert "two planes have one name" in checked(found, tmp_path)


def test_other_words_of_what_holds_are_refused(tmp_path: Path) -> None:
    found = certified(clos(4, 2).configs(), tmp_path)
    found["planes"][0]["holds"] = "whatever happens"
    assert "holds 'whatever happens', expected one of" in checked(found, tmp_path)
    found["planes"][0] |= {"holds": "as configured", "claim": "observed"}
    assert "dependencies checked; the claim 'observed' is not checked; holds as configured" in checked(found, tmp_path)


def test_a_lossless_link_without_a_session_is_named(cli: Cli, tmp_path: Path) -> None:
    bundle, file = render(cli, tmp_path, vteps()), tmp_path / "certificate.json"
    assert cli("simulate", "deadlock", bundle, "--certificate", file).code == 0
    assert "without a session" not in checked(json.loads(file.read_text()), bundle)
    leaf = next(one for one in (bundle / "sonic").iterdir() if one.name.endswith("leaf")) / "config_db.json"
    config = json.loads(leaf.read_text())
    del config["BGP_NEIGHBOR"][min(config["BGP_NEIGHBOR"])]
    leaf.unlink()
    leaf.write_text(json.dumps(config))
    assert cli("simulate", "deadlock", bundle, "--certificate", file).code == 1
    found = json.loads(file.read_text())
    found["planes"][0]["holds"] = "as configured"
    assert "1 lossless links without a session are not checked; holds as configured" in checked(found, bundle)


def test_text_is_the_certificate(tmp_path: Path) -> None:
    results = analyse_deadlock(open_configs(clos(3, 2).configs(), tmp_path))
    assert json.loads(certificate_text(results)) == json.loads(json.dumps(certificate(results)))


def test_routes_are_the_next_hops_of_every_switch(cli: Cli, tmp_path: Path) -> None:
    configs = clos(3, 2).configs()
    folder, file = tmp_path / "configs", tmp_path / "routes.json"
    folder.mkdir()
    results = analyse_deadlock(open_configs(configs, folder))
    assert cli("simulate", "deadlock", folder, "--routes", file).code == 0
    found = json.loads(file.read_text())
    assert found == next_hops(results)
    assert found["l0"] == {"10.0.1.0/24": ["s0", "s1"], "10.0.2.0/24": ["s0", "s1"]}
    assert found["s0"] == {f"10.0.{leaf}.0/24": [f"l{leaf}"] for leaf in range(3)}
