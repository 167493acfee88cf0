"""frr.conf of a VTEP through the steps of a change, and what a real bgpd makes of the commands of the role."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricgen.deploy import state, transaction
from fabricgen.deploy.frr import announce, missing_statements, statements, with_isolation
from fabricgen.deploy.isolation import isolation
from fabricgen.deploy.restore import Device, DeviceError, restore, text_of
from fabricgen.deploy.target import Source
from fabricgen.deploy.transaction import Request
from fabricgen.sonic.frr_lines import frr_conf
from tests.components import tool
from tests.deploy.switch import Switch, Tables, tables

NEWER = {"DATABASE": {"VERSION": "version_202511_01"}}  # whose updater reads the tables of frrcfgd
APPENDED = "no fpm use-next-hop-groups\nfpm address 127.0.0.1\n"  # docker_init.sh of sonic-buildimage


def vtep(*tenants: int, mtu: str = "9100") -> Tables:
    """The tables of a VTEP with the VRFs Vrf_t1, Vrf_t2 …."""
    own = tables(mtu=mtu)
    own["DEVICE_METADATA"]["localhost"] |= {
        "docker_routing_config_mode": "split-unified", "frr_mgmt_framework_config": "true", "bgp_asn": "65001",
    }  # fmt: skip
    own["BGP_NEIGHBOR"] = {"default|Ethernet0": {"peer_group_name": "FABRIC", "peer_type": "external"}}
    own["BGP_PEER_GROUP"] = {"default|FABRIC": {"peer_type": "external"}}
    own["ROUTE_MAP"], own["ROUTE_MAP_SET"] = {"PASS|10": {"route_operation": "permit"}}, {"PASS": {}}
    own["BGP_PEER_GROUP_AF"] = {
        f"default|FABRIC|{family}": {"admin_status": "up", "route_map_in": ["PASS"], "route_map_out": ["PASS"]}
        for family in ("ipv4_unicast", "l2vpn_evpn")
    }
    instance = {"local_asn": "65001", "router_id": "10.0.0.1", "default_ipv4_unicast": "false"}
    own["BGP_GLOBALS"] = {"default": instance, **{f"Vrf_t{number}": instance for number in tenants}}
    own["LOOPBACK_INTERFACE"] = {"Loopback0": {}, "Loopback0|10.0.0.1/32": {}}
    own["VXLAN_TUNNEL"], own["VXLAN_EVPN_NVO"] = {"vtep": {"src_ip": "10.0.0.1"}}, {"nvo": {"source_vtep": "vtep"}}
    if tenants:
        own["VRF"] = {f"Vrf_t{number}": {"vni": str(5000 + number)} for number in tenants}
        own["VLAN"] = {f"Vlan300{number}": {"vlanid": f"300{number}"} for number in tenants}
        own["VLAN_INTERFACE"] = {f"Vlan300{number}": {"vrf_name": f"Vrf_t{number}"} for number in tenants}
        own["ROUTE_REDISTRIBUTE"] = {f"Vrf_t{number}|connected|bgp|ipv4": {} for number in tenants}
        own["VXLAN_TUNNEL_MAP"] = {
            f"vtep|map_{5000 + number}_Vlan300{number}": {"vlan": f"Vlan300{number}", "vni": str(5000 + number)}
            for number in tenants
        }
    return own


class Vtep(Switch):
    """A switch whose FRR reads frr.conf as it starts, and then takes the commands of vtysh."""

    def __init__(self, folder: Path, running: Tables) -> None:
        super().__init__(folder, running)
        self.config["VERSIONS"] = NEWER
        self.up = ["Ethernet0"]
        self.frr_file = folder / "frr" / "frr.conf"
        self.frr_file.parent.mkdir()
        self.frr_file.write_text(frr_conf(running))
        self.frr = ""
        self.start_frr()

    def start_frr(self) -> None:
        if self.config["DEVICE_METADATA"]["localhost"].get("docker_routing_config_mode") != "split-unified":
            self.frr_file.write_text("! of sonic-cfggen\n")
        elif APPENDED not in self.frr_file.read_text():
            self.frr_file.write_text(self.frr_file.read_text() + APPENDED)
        self.frr = self.frr_file.read_text()

    def run(self, *command: str, timeout_s: float = 0, stdin: Path | None = None) -> str:
        match command:
            case ("vtysh", "-c", "show running-config"):
                return self.frr
            case ("vtysh", "-c", "configure terminal", "-c", instance, "-c", family, "-c", line):
                if "mishap" in self.ignored:
                    return ""
                if line.startswith("no "):
                    self.frr = self.frr.replace(f"  {line[3:]}\n", "")
                else:
                    self.frr += f"{instance}\n {family}\n  {line}\n exit-address-family\nexit\n"
                self.log.append(f"{instance}: {line}")
                return ""
        found = super().run(*command, timeout_s=timeout_s, stdin=stdin)
        if command[:2] == ("config", "reload"):
            self.config["VERSIONS"] = NEWER
            self.start_frr()
        return found

    def asks(self, rendered: Tables, **more: Any) -> Request:
        return self.request(rendered, **{"frr_conf": frr_conf(rendered), "frr_file": str(self.frr_file), **more})


def begun(switch: Vtep, rendered: Tables, **more: Any) -> None:
    plan, refusal = transaction.prepare(switch, switch.asks(rendered, **more), check=False)
    assert plan.differs and not refusal
    transaction.apply(switch, set())


def test_a_tenant_comes_without_a_reload_and_goes_by_a_rollback(tmp_path: Path) -> None:
    switch, old, new = Vtep(tmp_path, vtep(1)), vtep(1), vtep(1, 2)
    assert not transaction.prepare(switch, switch.asks(old), check=False)[0].differs
    begun(switch, new)
    assert "router bgp 65001 vrf Vrf_t2: advertise ipv4 unicast" in switch.log
    assert not [line for line in switch.log if "reload" in line]
    assert transaction.deviations(switch, set()) == []
    transaction.save(switch, set())
    assert text_of(switch.frr_file) == frr_conf(new)
    assert not transaction.prepare(switch, switch.asks(new), check=False)[0].differs

    begun(switch, new, source=Source.PREVIOUS)
    transaction.save(switch, set())
    assert text_of(switch.frr_file) == frr_conf(old)
    assert switch.config["VRF"] == old["VRF"]


def test_a_first_vtep_needs_a_reload_and_the_way_back_restores_the_file(tmp_path: Path) -> None:
    plain = vtep()
    plain["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] = "unified"
    del plain["VXLAN_EVPN_NVO"]
    switch = Vtep(tmp_path, plain)
    begun(switch, vtep(1))
    assert "config reload -y target.json" in switch.log
    assert transaction.deviations(switch, set()) == []
    assert missing_statements(switch, frr_conf(vtep(1))) == []
    assert transaction.undo(switch, set())
    assert switch.frr_file.read_text() == "! of sonic-cfggen\n"
    assert switch.config["DEVICE_METADATA"] == plain["DEVICE_METADATA"]


def test_a_statement_that_frr_does_not_have_undoes_the_change(tmp_path: Path) -> None:
    switch, old = Vtep(tmp_path, vtep(1)), vtep(1)
    switch.ignored = ("mishap",)
    begun(switch, vtep(1, 2))
    assert transaction.deviations(switch, set()) == [
        "FRR does not have `advertise ipv4 unicast` in `router bgp 65001 vrf Vrf_t2`"
    ]
    assert transaction.undo(switch, set())
    assert text_of(switch.frr_file) == frr_conf(old) and switch.config["VRF"] == old["VRF"]
    assert [line for line in switch.log if "config reload" in line], "FRR must read the old file"


def test_verify_finds_a_statement_that_frr_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = vtep(1)
    switch = Vtep(tmp_path, own)
    monkeypatch.setattr(state, "sessions", lambda device: [])
    for name in ("cable_problems", "pfc_problems", "group_problems", "held_problems"):
        monkeypatch.setattr(state, name, lambda *_: [])
    monkeypatch.setattr(Switch, "run", lambda *_, **__: "{}")
    own["BGP_NEIGHBOR"] = {}
    assert state.problems_of(switch, own, {}, [], frr_conf(own)) == []
    switch.frr = switch.frr.replace("  advertise ipv4 unicast\n", "")
    assert state.problems_of(switch, own, {}, [], frr_conf(own)) == [
        "FRR does not have `advertise ipv4 unicast` in `router bgp 65001 vrf Vrf_t1`"
    ]


@pytest.mark.parametrize("applied", [False, True])
def test_a_timer_restores_frr_only_after_the_change_began(tmp_path: Path, applied: bool) -> None:
    switch, new = Vtep(tmp_path, vtep(1)), vtep(1)
    new["BGP_GLOBALS"]["default"] = {**new["BGP_GLOBALS"]["default"]}
    changed = frr_conf(new) + "! a line of the next release\n"
    transaction.prepare(switch, switch.asks(new, frr_conf=changed), check=False)
    if applied:
        transaction.apply(switch, set())
    with switch.locked():
        assert restore(switch)
    assert text_of(switch.frr_file) == frr_conf(vtep(1))
    assert bool([line for line in switch.log if "reload" in line]) == applied


def test_a_killed_run_is_completed(tmp_path: Path) -> None:
    switch, new = Vtep(tmp_path, vtep(1)), vtep(1, 2)
    switch.failing = ("config apply-patch",)
    with pytest.raises(DeviceError):
        begun(switch, new)  # frr.conf is new, CONFIG_DB and FRR are old
    switch.failing = ()
    begun(switch, new)
    assert transaction.deviations(switch, set()) == []
    transaction.save(switch, set())
    begun(switch, new, source=Source.PREVIOUS)
    assert text_of(switch.frr_file) == frr_conf(vtep(1))


def test_other_switches_keep_their_file(tmp_path: Path) -> None:
    plain = tables(mtu="1500")
    switch = Vtep(tmp_path, plain)
    switch.up = []
    begun(switch, tables(), frr_conf="")
    transaction.save(switch, set())
    assert switch.frr_file.read_text() == "! of sonic-cfggen\n"
    assert not list(switch.folder.glob("frr*"))


def test_an_isolated_vtep_stays_isolated_when_frr_starts(tmp_path: Path) -> None:
    own = vtep(1)
    switch = Vtep(tmp_path, own)
    rows = isolation(own)
    isolated = with_isolation(frr_conf(own), own, rows)
    assert "  neighbor FABRIC route-map ISOLATED out\n" in isolated
    assert with_isolation(isolated, own, {}) == frr_conf(own)
    assert with_isolation(isolated, own, rows) == isolated
    switch.config |= {table: switch.config.get(table, {}) | found for table, found in rows.items()}
    switch.frr_file.write_text(isolated)
    switch.start_frr()
    plan, _ = transaction.prepare(switch, switch.asks(own), check=True)
    assert not plan.changes_frr


class RealFrr(Device):
    """A bgpd without zebra."""

    def __init__(self, folder: Path, socket: Path) -> None:
        super().__init__(folder)
        self.socket = socket

    def run(self, *command: str, timeout_s: float = 60, stdin: Path | None = None) -> str:
        assert command[0] == "vtysh", command
        done = subprocess.run(
            [tool("vtysh", "frr"), "--vty_socket", str(self.socket), *command[1:]],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        if done.returncode:
            raise DeviceError(done.stdout + done.stderr)
        return done.stdout


@pytest.fixture
def frr(tmp_path: Path) -> Iterator[RealFrr]:
    tool("vtysh", "frr")
    daemon = Path("/usr/lib/frr/bgpd")
    if os.geteuid() or not daemon.exists():
        pytest.skip("needs root and FRR")
    socket = tmp_path / "vty"
    socket.mkdir()
    command = [daemon, "-n", "-p", "0", "-P", "0", "-S", "-Z", "--vty_socket", socket, "-i", tmp_path / "pid"]
    with (tmp_path / "bgpd.log").open("w") as log:
        process = subprocess.Popen([*map(str, command), "-u", "root", "-g", "root"], stdout=log, stderr=log)
    try:
        for _ in range(100):
            if (socket / "bgpd.vty").exists():
                break
            time.sleep(0.1)
        else:
            raise AssertionError((tmp_path / "bgpd.log").read_text())
        yield RealFrr(tmp_path / "work", socket)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def test_a_real_bgpd_has_the_statements_and_the_isolation(frr: RealFrr, tmp_path: Path) -> None:
    """`show running-config` of bgpd is read, and it takes the commands of the role and the lines of a drain."""
    file, own = tmp_path / "frr.conf", vtep(1)
    file.write_text(frr_conf(own))
    frr.run("vtysh", "-f", str(file))
    assert missing_statements(frr, frr_conf(own)) == []
    assert [line for _, line in statements(frr.run("vtysh", "-c", "show running-config"))] == [
        "advertise-all-vni", "advertise ipv4 unicast",
    ]  # fmt: skip
    for line in ("advertise-all-vni", "advertise ipv4 unicast"):
        part = frr_conf(own).replace(f"  {line}\n", "")
        assert part != frr_conf(own)
        announce(frr, part)
        assert len(missing_statements(frr, frr_conf(own))) == 1
        announce(frr, frr_conf(own))
        assert missing_statements(frr, frr_conf(own)) == []
    file.write_text(with_isolation("", own, isolation(own)))
    frr.run("vtysh", "-f", str(file))
    lines = frr.run("vtysh", "-c", "show running-config")
    assert lines.count("  neighbor FABRIC route-map ISOLATED out\n") == 2
    assert "route-map ISOLATED permit 10\n match ip address prefix-list ISOLATED-IPv4\n" in lines
    assert "prefix-list ISOLATED-IPv4 seq 5 permit 10.0.0.1/32" in lines
