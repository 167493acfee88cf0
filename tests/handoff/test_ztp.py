"""Zero touch provisioning: what the switch asks for is there, and DHCP servers take their files."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.handoff.ztp import ztp_files
from fabricgen.sonic.secrets import without_secrets
from tests.components import tool
from tests.conftest import Cli
from tests.handoff.rendered import placed, render, vteps
from tests.handoff.small_bundle import SECRET_NAME, device, write_bundle

MACS = {"leaf1": "02:00:00:00:00:0A", "spine2": "02:00:00:00:00:0b"}


@pytest.fixture
def bundle(cli: Cli, tmp_path: Path) -> Path:
    return render(cli, tmp_path, placed(MACS))


def files(bundle: Path, **options: Any) -> dict[str, bytes]:
    return dict(ztp_files(open_bundle([bundle]), **options))


def fetched(found: dict[str, bytes], url: str, answer: str) -> bytes:
    """What a switch gets that answers the identifier with `answer`."""
    source = json.loads(found["ztp.json"])["ztp"]["01-configdb-json"]["dynamic-url"]["source"]
    return found[(source["prefix"] + answer + source["suffix"]).removeprefix(f"{url}/")]


@pytest.mark.parametrize(("by", "identifier"), [("hostname", "hostname"), ("serial", "serial-number")])
def test_every_switch_finds_its_own_file(bundle: Path, by: str, identifier: str) -> None:
    found = files(bundle, url="http://10.255.0.9/ztp/", by=by)
    section = json.loads(found["ztp.json"])["ztp"]["01-configdb-json"]
    assert section["dynamic-url"]["source"]["identifier"] == identifier
    for each in open_bundle([bundle]).devices.values():
        assert each.wired is not None
        answer = each.wired.serial if by == "serial" else each.name
        config = json.loads(fetched(found, "http://10.255.0.9/ztp", answer))
        assert config == without_secrets(each.config)
        assert config["DEVICE_METADATA"]["localhost"]["hostname"] == each.name
        assert any(key.startswith("eth0|") for key in config["MGMT_INTERFACE"])


def test_the_switch_keeps_its_mac_and_platform_and_is_reachable_afterwards(bundle: Path) -> None:
    sections = json.loads(files(bundle)["ztp.json"])["ztp"]
    assert list(sections) == sorted(sections), "sections run in the order of their names"
    assert sections["01-configdb-json"]["overwrite-device-metadata"] is False
    assert sections["01-configdb-json"]["clear-config"] is sections["01-configdb-json"]["save-config"] is True
    assert sections["02-connectivity-check"] == {"ping-hosts": ["10.255.0.1"]}


def test_no_secret_and_no_placeholder_is_served(bundle: Path) -> None:
    assert b"secret" in (bundle / "sonic/leaf1/config_db.json").read_bytes()
    assert not [path for path, content in files(bundle).items() if b"secret" in content]


def test_rows_that_lose_everything_are_gone() -> None:
    secret = f"${{secret:{SECRET_NAME}}}"
    tables = {
        "SNMP_COMMUNITY": {secret: {"TYPE": "RO"}},
        "TACPLUS": {"global": {"passkey": secret}, "timeout": {"x": "5", "passkey": secret}},
        "LOOPBACK_INTERFACE": {"Loopback0": {}},
        "SNMP_USER": {"a": {"list": ["x", secret]}},
    }
    assert without_secrets(tables) == {"TACPLUS": {"timeout": {"x": "5"}}, "LOOPBACK_INTERFACE": {"Loopback0": {}}}


def test_dhcp_reserves_the_management_addresses(bundle: Path) -> None:
    found = files(bundle)
    subnet = json.loads(found["kea-dhcp4.json"])["Dhcp4"]["subnet4"][0]
    address = {name: each.wired.management[0].partition("/")[0]
               for name, each in open_bundle([bundle]).devices.items() if each.wired}  # fmt: skip
    assert subnet["reservations"] == [
        {"hw-address": mac.lower(), "ip-address": address[name], "hostname": name} for name, mac in MACS.items()
    ]
    by_serial = {pool["pool"]: pool["client-class"] for pool in subnet["pools"]}
    assert by_serial == {f"{address['leaf2']}/32": "serial-SN1", f"{address['spine1']}/32": "serial-SN2"}
    lines = found["dnsmasq.conf"].decode().splitlines()
    assert f"dhcp-host=02:00:00:00:00:0a,{address['leaf1']},leaf1" in lines
    assert f"# dhcp-host=MAC,{address['leaf2']},leaf2" in lines
    assert "dhcp-range=set:net1,10.255.0.0,static,255.255.240.0" in lines


def test_dnsmasq_takes_its_file(bundle: Path, tmp_path: Path) -> None:
    dnsmasq = tool("dnsmasq", "dnsmasq-base")
    text = files(bundle)["dnsmasq.conf"]
    for content, code in ((text, 0), (text + b"dhcp-host=02:00:00:00:00:zz,10.0.0.1\n", 1)):
        (tmp_path / "dnsmasq.conf").write_bytes(content)
        outcome = subprocess.run([dnsmasq, "--test", "-C", tmp_path / "dnsmasq.conf"], capture_output=True, check=False)
        assert outcome.returncode == code, outcome.stderr.decode()


def test_kea_takes_its_file(bundle: Path, tmp_path: Path) -> None:
    kea = tool("kea-dhcp4", "kea-dhcp4-server")
    text = files(bundle)["kea-dhcp4.json"]
    for content, code in ((text, 0), (text.replace(b"substring(", b"substr("), 1)):
        (tmp_path / "kea.json").write_bytes(content)
        outcome = subprocess.run([kea, "-t", tmp_path / "kea.json"], capture_output=True, check=False)
        assert bool(outcome.returncode) == bool(code), (outcome.stdout + outcome.stderr).decode()


def test_switches_in_onie_get_the_installer(bundle: Path, tmp_path: Path) -> None:
    url = "http://10.0.0.1/sonic.bin"
    found = files(bundle, onie_url=url)
    content = json.loads(found["kea-dhcp4.json"])["Dhcp4"]
    (onie,) = [one for one in content["client-classes"] if one["name"] == "onie"]
    assert onie["test"] == "substring(option[60].hex, 0, 12) == 'onie_vendor:'"
    assert {one["name"]: one["data"] for one in onie["option-data"]} == {
        "v4-captive-portal": url, "vivso-suboptions": "42623", "onie-installer-url": url,
    }  # fmt: skip
    lines = found["dnsmasq.conf"].decode().splitlines()
    assert f"dhcp-option-force=tag:onie,114,{url}" in lines
    assert f"dhcp-option-force=tag:onie,vi-encap:42623,1,{url}" in lines
    assert b"onie" not in b"".join(files(bundle).values())
    for wrong in ("sonic.bin", f"http://10.0.0.1/{'x' * 250}"):
        with pytest.raises(UsageError, match="not the URL of an installer"):
            files(bundle, onie_url=wrong)
    with pytest.raises(UsageError, match="more than 248 characters"):
        files(bundle, onie_url=f"http://10.0.0.1/{'x' * 220}{{platform}}")
    both_take(found, tmp_path)


def test_each_platform_has_its_installer(bundle: Path, tmp_path: Path) -> None:
    found = files(bundle, onie_url="http://10.0.0.1/onie-installer-{platform}")
    platforms = {str(each.metadata["platform"]) for each in open_bundle([bundle]).devices.values()}
    onie = {one["test"]: one["option-data"] for one in json.loads(found["kea-dhcp4.json"])["Dhcp4"]["client-classes"]
            if one["name"].startswith("onie")}  # fmt: skip
    assert onie.keys() == {f"option[60].hex == 'onie_vendor:{platform}'" for platform in platforms}
    for platform in platforms:
        url = f"http://10.0.0.1/onie-installer-{platform}"
        assert onie[f"option[60].hex == 'onie_vendor:{platform}'"][0]["data"] == url
        assert f",114,{url}\n" in found["dnsmasq.conf"].decode()
    both_take(found, tmp_path)
    lone = write_bundle(
        tmp_path / "lone", (device("leaf-r0", rail=0),), leaf_r0={"MGMT_INTERFACE": {"eth0|10.0.0.2/24": {}}}
    )
    with pytest.raises(UsageError, match="no platform in DEVICE_METADATA"):
        files(lone, onie_url="http://10.0.0.1/{platform}")


def both_take(found: dict[str, bytes], folder: Path) -> None:
    """Kea and dnsmasq accept their files."""
    for command, name in (
        ([tool("kea-dhcp4", "kea-dhcp4-server"), "-t"], "kea-dhcp4.json"),
        ([tool("dnsmasq", "dnsmasq-base"), "--test", "-C"], "dnsmasq.conf"),
    ):
        (folder / name).write_bytes(found[name])
        outcome = subprocess.run([*command, folder / name], capture_output=True, check=False)
        assert outcome.returncode == 0, (outcome.stdout + outcome.stderr).decode()


@pytest.mark.parametrize("also_ipv4", [True, False])
def test_switches_get_ipv6_addresses(also_ipv4: bool, cli: Cli, tmp_path: Path) -> None:
    tree = placed(MACS)
    ipv4 = (["10.255.0.0/20"], ["10.255.0.1"]) if also_ipv4 else ([], [])
    own = {"addresses": [*ipv4[0], "fd00:255::/64"], "gateway": [*ipv4[1], "fd00:255::1"]}
    tree["management"] = tree["management"] | own
    found = files(render(cli, tmp_path, tree), onie_url="http://10.0.0.1/sonic.bin")
    assert ("kea-dhcp4.json" in found, b"\ndhcp-vendorclass=" in found["dnsmasq.conf"]) == (also_ipv4, also_ipv4)
    pinged = json.loads(found["ztp.json"])["ztp"]["02-connectivity-check"]
    assert pinged == {"ping6-hosts": ["fd00:255::1"]} | ({"ping-hosts": ipv4[1]} if also_ipv4 else {})
    (only,) = json.loads(found["kea-dhcp6.json"])["Dhcp6"]["subnet6"]
    assert only["id"] == 1 and only["subnet"] == "fd00:255::/64"
    by_name = {row["hostname"]: row for row in only["reservations"]}
    (address,) = by_name["leaf1"]["ip-addresses"]
    assert by_name.keys() == MACS.keys() and address.startswith("fd00:255::")
    assert f"dhcp-host={MACS['leaf1'].lower()},[{address}],leaf1".encode() in found["dnsmasq.conf"]
    kea = [tool("kea-dhcp6", "kea-dhcp6-server"), "-t"]
    for command, name in ((kea, "kea-dhcp6.json"), ([tool("dnsmasq", "dnsmasq-base"), "--test", "-C"], "dnsmasq.conf")):
        (tmp_path / name).write_bytes(found[name])
        outcome = subprocess.run([*command, tmp_path / name], capture_output=True, check=False)
        assert outcome.returncode == 0, (outcome.stdout + outcome.stderr).decode()
    (tmp_path / "bad.json").write_bytes(found["kea-dhcp6.json"].replace(b"substring(", b"substr("))
    assert subprocess.run([*kea, tmp_path / "bad.json"], capture_output=True, check=False).returncode


def test_vteps_get_frr_conf_before_their_configuration(cli: Cli, tmp_path: Path) -> None:
    """sonic-ztp has a plugin for it (plugins/download); a switch without the file would end with an error."""
    found = files(render(cli, tmp_path, vteps()), url="http://10.0.0.1/ztp")
    sections = json.loads(found["ztp.json"])["ztp"]
    assert list(sections) == sorted(sections) == ["00-download", "01-configdb-json", "02-connectivity-check"]
    assert sections["00-download"]["halt-on-failure"] is True
    (one,) = sections["00-download"]["files"]
    source = one["dynamic-url"]["source"]
    assert one["dynamic-url"]["destination"] == "/etc/sonic/frr/frr.conf"
    for each in open_bundle([tmp_path / "bundle"]).devices.values():
        content = found[(source["prefix"] + each.name + source["suffix"]).removeprefix("http://10.0.0.1/ztp/")]
        assert content.decode() == (each.frr_conf or "! FRR of this switch reads CONFIG_DB.\n")
        assert (b"advertise ipv4 unicast" in content) == each.name.endswith("leaf")
    (tmp_path / "bundle/sonic/compute-su00-r0-leaf/frr.conf").unlink()
    with pytest.raises(UsageError, match=r"compute-su00-r0-leaf reads frr.conf, which is not beside its file"):
        files(tmp_path / "bundle")


def test_what_cannot_boot_is_refused(tmp_path: Path) -> None:
    lone = write_bundle(tmp_path / "lone", (device("leaf-r0", rail=0),), leaf_r0={"PORT": {}})
    with pytest.raises(UsageError, match="no address in MGMT_INTERFACE"):
        files(lone)
    two = write_bundle(tmp_path / "two")
    with pytest.raises(UsageError, match="the same address"):
        files(two)
    one = write_bundle(tmp_path / "one", (device("leaf-r0", rail=0),))
    with pytest.raises(UsageError, match="no serial of leaf-r0"):
        files(one, by="serial")
    with pytest.raises(UsageError, match="not the URL"):
        files(one, url="ztp/here")
    odd = write_bundle(tmp_path / "odd", (device("leaf-r0", rail=0, serial="a'b"),))
    with pytest.raises(UsageError, match="serial of leaf-r0"):
        files(odd)


def test_the_command(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    outcome = cli(
        "handoff", "ztp", bundle, "-o", tmp_path / "out", "--only", "leaf*,spine1", "--url", "http://10.0.0.1"
    )
    assert outcome.code == 0 and "6 files" in outcome.out
    assert "2 switches without a MAC address" in outcome.err
    names = [path.parent.name for path in (tmp_path / "out").glob("sonic/*/config_db.json")]
    assert sorted(names) == ["leaf1", "leaf2", "spine1"]
    assert cli("handoff", "ztp", bundle, "-o", tmp_path / "out", "--only", "x").code == 2
