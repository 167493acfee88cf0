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


SECURE = {
    **MANAGEMENT,
    "ntp_key": {"id": 10, "key": SecretReference("ntp/key")},
    "syslog": ["10.255.15.3", {"server": "10.255.15.4", "port": 6514, "protocol": "tcp", "severity": "info"}],
    "snmp": {
        "users": [
            {
                "name": "monitor",
                "authentication_password": SecretReference("snmp/auth"),
                "encryption_password": SecretReference("snmp/priv"),
            }
        ]
    },
    "timezone": "Europe/Berlin",
    "banner": {"login": "Authorized use only."},
    "ssh": {},
    "passwords": {"least_length": 16},
    "sflow": {"collectors": ["10.255.15.9", "10.255.15.10"]},
    "kdump": {},
}


def test_what_a_security_team_asks_for_is_one_key_each(tmp_path: Path) -> None:
    config = leaf(tmp_path, {**explicit(), "management": SECURE})
    assert config["NTP"]["global"]["authentication"] == "enabled"
    assert config["NTP_KEY"] == {"10": {"trusted": "yes", "type": "sha256", "value": "${secret:ntp/key}"}}
    assert {row["key"] for row in config["NTP_SERVER"].values()} == {"10"}
    assert config["SYSLOG_SERVER"] == {
        "10.255.15.3": {"vrf": "mgmt"},
        "10.255.15.4": {"port": "6514", "protocol": "tcp", "severity": "info", "vrf": "mgmt"},
    }
    user = config["SNMP_USER"]["monitor"]
    assert user["SNMP_USER_AUTH_PASSWORD"] == "${secret:snmp/auth}" and user["SNMP_USER_TYPE"] == "Priv"
    assert "SNMP_COMMUNITY" not in config
    assert config["DEVICE_METADATA"]["localhost"]["timezone"] == "Europe/Berlin"
    assert config["BANNER_MESSAGE"]["global"]["state"] == "enabled"
    assert config["SSH_SERVER"]["POLICIES"] == {
        "authentication_retries": "4", "inactivity_timeout": "15", "login_timeout": "60", "max_sessions": "10",
        "ports": "22",
    }  # fmt: skip
    assert config["PASSW_HARDENING"]["POLICIES"]["len_min"] == "16"
    assert config["FEATURE"] == {"sflow": {"state": "enabled"}} and config["SFLOW"]["global"]["admin_state"] == "up"
    assert [row["collector_ip"] for row in config["SFLOW_COLLECTOR"].values()] == ["10.255.15.9", "10.255.15.10"]
    assert config["KDUMP"]["config"]["enabled"] == "true"


def test_a_release_gets_the_settings_that_it_has(tmp_path: Path) -> None:
    tree = {**explicit(), "management": SECURE, "sonic": {"release": 202511}}
    policies = leaf(tmp_path / "new", tree)["SSH_SERVER"]["POLICIES"]
    assert (policies["permit_root_login"], policies["password_authentication"]) == ("no", "true")
    tree = {**explicit(), "management": {**MANAGEMENT, "ssh": {"root_login": False}}}
    (found,) = make_plans(write(tmp_path / "old", tree)).findings
    assert (found.code, found.path) == ("FG274", "management.ssh.root_login")
    assert "permit_root_login of SSH_SERVER exists since release 202511" in found.message


def test_servers_of_login_decide_and_log_commands(tmp_path: Path) -> None:
    tacacs = {"servers": ["10.255.15.7"], "key": SecretReference("tacacs/key"), "timeout_s": 3}
    tacacs |= {"authorization": True, "accounting": True}
    config = leaf(tmp_path / "tacacs", {**explicit(), "management": {**MANAGEMENT, "tacacs": tacacs}})
    assert {kind: row["login"] for kind, row in config["AAA"].items()} == dict.fromkeys(
        ("authentication", "authorization", "accounting"), "tacacs+,local"
    )
    assert config["TACPLUS"]["global"]["timeout"] == "3"
    radius = {"servers": ["10.255.15.7", "10.255.15.8"], "key": SecretReference("radius/key"), "authentication": "chap"}
    config = leaf(tmp_path / "radius", {**explicit(), "management": {**MANAGEMENT, "radius": radius}})
    assert config["AAA"] == {"authentication": {"login": "radius,local"}}
    assert config["RADIUS"]["global"] == {"auth_type": "chap", "passkey": "${secret:radius/key}"}
    assert [row["priority"] for row in config["RADIUS_SERVER"].values()] == ["2", "1"]
    both = {**MANAGEMENT, "radius": radius, "tacacs": tacacs}
    (found,) = make_plans(write(tmp_path / "both", {**explicit(), "management": both})).findings
    assert found.code == "FG275"
