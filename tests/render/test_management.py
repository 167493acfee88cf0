"""Who may log in, and how: control-plane ACLs, TACACS+, gNMI; and links that are trained."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.inventory.nodes import SecretReference
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.sonic.control_acl import translate
from fabricgen.sonic.gnmi import GnmiTransport, transport
from fabricgen.sonic.schema import check
from tests.inventories import MANAGEMENT, Tree, explicit, write


def leaf(folder: Path, tree: Tree) -> dict[str, Any]:
    """leaf1's file; SONiC's schema takes it."""
    plans = make_plans(write(folder, tree))
    assert plans.findings == []
    config: dict[str, Any] = json.loads(dict(BundleContent(plans).files())["sonic/leaf1/config_db.json"])
    assert check(config) == []
    return config


CERTIFICATES = {"server_crt": "/etc/sonic/telemetry/server.cer", "server_key": "/etc/sonic/telemetry/server.key"}


def test_only_who_is_allowed_reaches_a_service(tmp_path: Path) -> None:
    """A table for each service and family: caclmgrd reads a table as one of one family."""
    allow = ["10.255.0.0/20", "fd00::/48", "192.0.2.0/24"]
    management = {**MANAGEMENT, "allow": allow, "gnmi": {"port": 50051, "certificates": CERTIFICATES}}
    config = leaf(tmp_path, {**explicit(), "management": management})
    assert sorted(config["ACL_TABLE"]) == [f"{name}_V{family}" for name in ("GNMI", "SNMP", "SSH") for family in (4, 6)]
    rules = [config["ACL_RULE"][f"SSH_V4|RULE_{number}"] for number in (1, 2)]
    assert [rule["SRC_IP"] for rule in rules] == ["10.255.0.0/20", "192.0.2.0/24"]
    assert int(rules[0]["PRIORITY"]) > int(rules[1]["PRIORITY"])
    for release in (202411, 202505, None):
        acl = translate(config, release)
        assert acl.ignored == []
        for protocol, port in (("tcp", "22"), ("udp", "161"), ("tcp", "50051")):
            assert acl.sources(4, protocol, port) == ["10.255.0.0/20", "192.0.2.0/24"]
            assert acl.sources(6, protocol, port) == ["fd00::/48"]
        assert acl.sources(4, "tcp", "443") == []
    assert "ACL_TABLE" not in leaf(tmp_path / "without", explicit())


def test_gnmi_has_the_certificates_of_the_inventory(tmp_path: Path) -> None:
    gnmi = {"certificates": {**CERTIFICATES, "ca_crt": "/etc/sonic/telemetry/ca.cer"}}
    config = leaf(tmp_path / "with", {**explicit(), "management": {**MANAGEMENT, "gnmi": gnmi}})
    assert config["GNMI"]["certs"] == gnmi["certificates"]
    assert transport(config, None) is GnmiTransport.TLS
    config = leaf(tmp_path / "without", {**explicit(), "management": {**MANAGEMENT, "gnmi": {}}})
    assert transport(config, 202605) is GnmiTransport.CLEAR_TEXT and transport(config, None) is GnmiTransport.LOOPBACK


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
