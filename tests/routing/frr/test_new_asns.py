"""New ASNs step by step: real FRR takes the patches of a plan, and switches that do not change keep their routes."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.diff.patched import patched
from tests.conftest import Cli
from tests.routing.frr.fabrics import leaf_spine, rendered, three_tiers
from tests.routing.frr.lab import Lab, Table, require_lab
from tests.routing.frr.sonic_frr import Config
from tests.routing.frr.test_real_frr import judged

FABRICS = {"leaf and spine": leaf_spine(3, 2), "three tiers": three_tiers()}


@pytest.fixture(autouse=True)
def _real_frr() -> None:
    require_lab()


def unreached(table: Table, hosts: dict[str, str], without: str) -> list[str]:
    """The pairs of leaves of which the first has no route to the hosts of the second."""
    leaves = [name for name in hosts if name != without]
    return [f"{a} to {b}" for a in leaves for b in leaves if a != b and not table[a].get(hosts[b])]


@pytest.mark.parametrize("name", FABRICS)
def test_other_switches_keep_their_routes(cli: Cli, tmp_path: Path, name: str) -> None:
    tree = FABRICS[name]
    configs = rendered(cli, tree, tmp_path)
    hosts = {
        switch: next(key.rpartition("|")[2] for key in config["STATIC_ROUTE"])
        for switch, config in configs.items()
        if "STATIC_ROUTE" in config
    }
    other = copy.deepcopy(tree)
    other["planes"]["compute"]["addressing"]["asn"] = {"first": 65100, "last": 65500}
    (tmp_path / "fabric.yaml").write_text(json.dumps(other))
    assert cli("render", tmp_path / "fabric.yaml", "-o", tmp_path / "new", "--renumber", "compute", "-q").code == 0
    outcome = cli("diff", tmp_path / "bundle", tmp_path / "new", "--format", "plan", "--safe")
    assert outcome.code == 0, outcome.err
    plan = json.loads(outcome.out)
    assert len(plan["asns"]) == len(configs) and plan["summary"]["devices"]["plan"] == len(configs)
    with Lab(configs) as lab:
        assert lab.settled(lambda table: unreached(table, hosts, "")) == []
        for number, asn in enumerate(plan["asns"]):
            for step in asn["steps"]:
                _apply(lab, configs, plan, step)
                assert unreached(lab.table(), hosts, asn["switch"]) == []
            ours = judged(configs, tmp_path / f"judged-{number}")
            assert lab.settled(ours.differences) == [] and unreached(lab.table(), hosts, "") == []
    final = json.loads((tmp_path / "new" / "sonic" / "l1" / "config_db.json").read_text())
    assert configs["l1"] == final


def _apply(lab: Lab, configs: dict[str, Config], plan: dict[str, Any], step: dict[str, Any]) -> None:
    """A patch on its switch: the restart of its container, or what bgpcfgd does with the rows of the sessions."""
    device = step["device"]
    patch = plan["devices"][device]["steps"][step["step"] - 1]["patch"]
    configs[device] = patched(configs[device], patch)
    if step.get("then"):
        lab.restart_bgp(device, configs[device])
        return
    asn = configs[device]["DEVICE_METADATA"]["localhost"]["bgp_asn"]
    rows = [operation["path"].split("/")[2].replace("~1", "/") for operation in patch]
    lines = [f"neighbor {row} remote-as {configs[device]['BGP_NEIGHBOR'][row]['asn']}" for row in rows]
    lab.configure(device, f"router bgp {asn}", *lines)
