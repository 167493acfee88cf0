"""Who may log in, and how: control-plane ACLs, TACACS+, gNMI; and links that are trained."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.inventory.nodes import SecretReference
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.sonic.schema import check
from tests.inventories import MANAGEMENT, Tree, explicit, write


def leaf(folder: Path, tree: Tree) -> dict[str, Any]:
    """leaf1's file; SONiC's schema takes it."""
    plans = make_plans(write(folder, tree))
    assert plans.findings == []
    config: dict[str, Any] = json.loads(dict(BundleContent(plans).files())["sonic/leaf1/config_db.json"])
    assert check(config) == []
    return config


def test_only_who_is_allowed_reaches_ssh_and_snmp(tmp_path: Path) -> None:
    management = {**MANAGEMENT, "allow": ["10.255.0.0/20", "fd00::/48"]}
    config = leaf(tmp_path, {**explicit(), "management": management})
    assert {row["services"][0] for row in config["ACL_TABLE"].values()} == {"SSH", "SNMP"}
    for table in config["ACL_TABLE"]:
        rules = [config["ACL_RULE"][f"{table}|RULE_{number}"] for number in (1, 2)]
        assert [rule["PACKET_ACTION"] for rule in rules] == ["ACCEPT", "ACCEPT"]
        assert rules[0]["SRC_IP"] == "10.255.0.0/20" and rules[1]["SRC_IPV6"] == "fd00::/48"
        assert int(rules[0]["PRIORITY"]) > int(rules[1]["PRIORITY"])
    assert "ACL_TABLE" not in leaf(tmp_path / "without", explicit())


def test_tacacs_servers_are_asked_in_their_order(tmp_path: Path) -> None:
    tacacs = {"servers": ["10.255.15.7", "10.255.15.8"], "key": SecretReference("tacacs/key")}
    config = leaf(tmp_path, {**explicit(), "management": {**MANAGEMENT, "tacacs": tacacs, "gnmi": {"port": 50051}}})
    assert config["AAA"] == {"authentication": {"login": "tacacs+,local"}}
    assert config["TACPLUS"]["global"]["passkey"] == "${secret:tacacs/key}"
    first, second = (int(config["TACPLUS_SERVER"][server]["priority"]) for server in tacacs["servers"])
    assert first > second  # hostcfgd asks the highest priority first
    assert config["GNMI"]["gnmi"]["port"] == "50051"


@pytest.mark.parametrize(("asked", "rendered"), [(True, "on"), (False, "off"), (None, None)])
def test_link_training_is_what_the_cable_says(asked: bool | None, rendered: str | None, tmp_path: Path) -> None:
    cable = {"length": "5m", "medium": "dac", **({} if asked is None else {"link_training": asked})}
    ports = leaf(tmp_path, explicit(cables={"leaf-spine": cable}))["PORT"]
    assert {ports[name].get("link_training") for name in ("Ethernet256", "Ethernet264")} == {rendered}
    assert "link_training" not in ports["Ethernet0"] and "link_training" not in ports["Ethernet8"]
