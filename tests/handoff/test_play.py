"""The project run by ansible-playbook over ssh, against stand-ins of real processes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.deploy.restore import text_of
from fabricgen.diff.cables import compare_cables
from tests.handoff.site import LEAVES, Site, assert_holds, counts, fabricgen, filled, opened, rendered
from tests.handoff.switch.config_db import merge


@pytest.fixture(scope="module")
def running_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with opened(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture
def site(running_site: Site) -> Site:
    """Both leaves have an older configuration."""
    running_site.reset()
    return running_site


def test_check_changes_nothing(site: Site) -> None:
    before = {name: site.switches[name].running for name in LEAVES}
    output = site.play("check")
    assert re.search(r'-\s+"mtu": "1500"', output)
    assert re.search(r'\+\s+"mtu": "9100"', output)
    assert re.search(r"target configuration, by \d times config apply-patch, at most ", output)
    assert "2 ports down and up: Ethernet8 Ethernet0" in output or "2 ports down and up: Ethernet0 Ethernet8" in output
    assert "config reload: traffic stops; BUFFER_POOL: the pools of a switch add up only together" in output
    assert "${secret:snmp/read}" in output
    assert [counts(output, name)["changed"] for name in LEAVES] == [1, 1]
    assert {name: site.switches[name].running for name in LEAVES} == before
    assert [site.switches[name].log() for name in LEAVES] == [[], []]


def test_apply(site: Site) -> None:
    before = {name: site.switches[name].running for name in LEAVES}
    output = site.play("apply")
    for name, switch in site.switches.items():
        assert_holds(switch.running, filled(site.tables(name)), before[name])
        assert switch.startup == switch.running
        assert switch.timers() == []
        work = list((switch.folder / "etc" / "fabricgen").iterdir())
        kept = {"before.json", "lock", "owned_tables.json", "previous.json", "restore.py"}
        assert {file.name for file in work} == kept
        assert [file.stat().st_mode & 0o077 for file in work if file.name != "lock"] == [0] * 4
    *patches, last = site.switches["leaf1"].log()  # two batches of ports, without a checkpoint
    assert last == "config save -y saved.json" and patches == ["config apply-patch patch.json"] * len(patches)
    assert len(patches) > 4
    assert site.switches["leaf2"].log() == ["config reload -y target.json", "config save -y saved.json"]
    assert output.index("Apply plane compute rail 0") < output.index("Apply plane compute rail 1")


def test_a_second_apply_changes_nothing_and_a_rollback_all(site: Site) -> None:
    before = site.switches["leaf1"].running
    site.play("apply")
    for switch in site.switches.values():
        switch.log()
    output = site.play("apply")
    assert [counts(output, name)["changed"] for name in LEAVES] == [0, 0]
    assert [site.switches[name].log() for name in LEAVES] == [[], []]
    assert not (site.switches["leaf1"].folder / "qos_reload").exists()

    output = site.play("rollback", "--limit", "leaf1")
    assert site.switches["leaf1"].running == site.switches["leaf1"].startup == before
    assert "config apply-patch patch.json" in site.switches["leaf1"].log()


def test_a_failing_switch_is_restored_and_ends_the_run(site: Site) -> None:
    leaf1, leaf2 = (site.switches[name] for name in LEAVES)
    before, second = leaf1.running, leaf2.running
    (leaf1.folder / "mishap").write_text("apply-patch")
    output = site.play("apply", code=2)
    assert "leaf1 was rolled back" in output
    assert 'Task "Apply" failed: `config apply-patch' in output
    assert counts(output, "leaf1")["failed"] == 1
    assert leaf1.running == leaf1.startup == before
    assert leaf1.timers() == []
    assert leaf2.running == second
    assert leaf2.log() == []
    assert "Apply plane compute rail 1" not in output


def test_nothing_is_changed_before_all_files_and_secrets_are_checked(site: Site) -> None:
    assert "fabricgen_secrets has no value for snmp/read" in site.play("apply", secrets={"other": "x"}, code=2)
    file = site.project / "files/leaf2/config_db.json"
    content = file.read_bytes()
    try:
        file.write_bytes(content + b"\n")  # only white space, in the file of the last switch
        assert "files/leaf2/config_db.json was changed after" in site.play("apply", code=2)
    finally:
        file.write_bytes(content)
    assert [site.switches[name].log() for name in LEAVES] == [[], []]


def test_a_reload_can_be_refused(site: Site) -> None:
    output = site.play("apply", "--limit", "leaf2", "-e", "sonic_config_route=patch", code=2)
    assert "nothing was changed: BUFFER_POOL: the pools of a switch add up only together" in output
    assert site.switches["leaf2"].log() == []


def test_verify_and_collect_find_wrong_sessions_and_cables(site: Site) -> None:
    switch = site.switches["leaf1"]  # leaf2 has drifted
    tables = filled(site.tables("leaf1"))
    switch.hold(tables)
    dump = json.loads((switch.folder / "lldp.json").read_text())
    one, other = dump["lldp"][0]["interface"][:2]
    one["name"], other["name"] = other["name"], one["name"]
    (switch.folder / "lldp.json").write_text(json.dumps(dump))
    peer = next(iter(tables["BGP_NEIGHBOR"]))
    (switch.folder / "down").write_text(peer)
    (switch.folder / "storm").touch()
    (switch.folder / "no_group").write_text("Ethernet0|3-4")
    (switch.folder / "lost_profile").write_text("Ethernet8")
    output = site.play("verify", code=2)
    for problem in (
        f"BGP: no session with {peer}",
        "LLDP: the neighbor of Ethernet256 is spine2 etp1a, expected spine1 etp1a",
        "PFC watchdog: a storm is in progress",
        "lossless priority group Ethernet0|3-4 is not in APPL_DB",
        "BUFFER_QUEUE Ethernet8 3 has no buffer profile, expected egress_lossless_profile",
        "these tables differ from the rendered file: BGP_NEIGHBOR, BUFFER_PG, BUFFER_POOL, DEVICE_NEIGHBOR",
    ):
        assert problem in output

    tables["PORT"]["Ethernet0"]["mtu"] = "1500"
    switch.hold(tables)
    site.play("collect", "--limit", "leaf1")
    bundle, collected = str(site.bundle.root), site.project / "collected"
    assert [found.kind for found in compare_cables(site.bundle, collected / "lldp").miscablings] == ["swapped"]
    assert fabricgen("diff", bundle, str(collected / "running"), "--exit-code") == 4
    assert fabricgen("-q", "validate", bundle, "--lldp", str(collected / "lldp"), "--fail-on", "never") == 0
    assert json.loads((collected / "counters/leaf1/pg-headroom.json").read_text()) == {}
    assert (collected / "running/leaf1.json").stat().st_mode & 0o077 == 0


def test_drain_and_undrain_of_unnumbered_sessions(site: Site, tmp_path: Path) -> None:
    """The rows that `state: drained` renders, under another name; a later apply.yml keeps them. The lock file has a
    subnet for each link of the time before."""
    bundle = open_bundle([rendered(tmp_path, "--set", "planes.compute.bgp=unnumbered")])
    site = Site(tmp_path, bundle, site.switches)
    site.hand_off()
    leaf1, tables = site.switches["leaf1"], filled(site.tables("leaf1"))
    leaf1.hold(tables)
    before = leaf1.running
    site.play("drain", "--limit", "leaf1")
    drained = leaf1.running
    assert leaf1.startup == drained
    assert leaf1.log() == ["config save -y"]
    outbound = {row["route_map_out"][0] for row in drained["BGP_PEER_GROUP_AF"].values()}
    assert outbound == {"ISOLATED"}
    assert drained["PREFIX"] == {"ISOLATED-IPv4|10.0.0.1/32|exact": {"action": "permit"}}
    assert drained["ROUTE_MAP"]["ISOLATED|10"] == {"match_prefix_set": "ISOLATED-IPv4", "route_operation": "permit"}
    assert counts(site.play("drain", "--limit", "leaf1"), "leaf1")["changed"] == 0

    assert counts(site.play("apply", "--limit", "leaf1"), "leaf1")["changed"] == 0
    assert leaf1.running == drained
    merge(leaf1.redis, {"PORT": {"Ethernet0": {"mtu": "1500"}}})
    site.play("apply", "--limit", "leaf1")
    assert leaf1.running == drained

    leaf1.log()
    site.play("undrain", "--limit", "leaf1")
    assert leaf1.running == leaf1.startup == before
    assert leaf1.log() == ["config save -y"]


def test_a_vtep_gets_its_frr_conf(site: Site, tmp_path: Path) -> None:
    """The first VTEP by a reload, which FRR's mode needs; a statement that FRR lost by vtysh; a drain in the file."""
    tenants = "tenants.blue={hosts: [gpu], vni: 5001}"
    settings = ("planes.compute.bgp=unnumbered", "planes.compute.isolation=evpn", tenants)
    bundle = open_bundle([rendered(tmp_path, *(word for one in settings for word in ("--set", one)))])
    site = Site(tmp_path, bundle, site.switches)
    site.hand_off()
    leaf1 = site.switches["leaf1"]
    file, wanted = leaf1.folder / "etc/frr/frr.conf", bundle.devices["leaf1"].frr_conf
    assert wanted and "advertise ipv4 unicast" in wanted
    output = site.play("check", "--limit", "leaf1")
    assert "+  advertise ipv4 unicast" in output and ", frr.conf: config reload: traffic stops" in output
    site.play("apply", "--limit", "leaf1")
    assert text_of(file) == wanted and file.read_text() != wanted
    assert counts(site.play("apply", "--limit", "leaf1"), "leaf1")["changed"] == 0

    handed = site.project / "files/leaf1/frr.conf"
    handed.write_text(f"{wanted}!\n")
    assert "files/leaf1/frr.conf was changed after" in site.play("apply", "--limit", "leaf1", code=2)
    handed.write_text(wanted)
    file.write_text(wanted.replace("  advertise ipv4 unicast\n", ""))
    (leaf1.folder / "statements").write_text("[]")
    assert "frr.conf differs from the rendered file" in site.play("verify", "--limit", "leaf1", code=2)
    leaf1.log()
    assert "frr.conf: the file and vtysh" in site.play("check", "--limit", "leaf1")
    site.play("apply", "--limit", "leaf1")
    assert leaf1.log() == ["config save -y saved.json"] and text_of(file) == wanted
    assert len(json.loads((leaf1.folder / "statements").read_text())) == 2

    site.play("drain", "--limit", "leaf1")
    assert "  neighbor FABRIC route-map ISOLATED out\n" in file.read_text()
    assert counts(site.play("apply", "--limit", "leaf1"), "leaf1")["changed"] == 0
    site.play("undrain", "--limit", "leaf1")
    assert text_of(file) == wanted


def test_drain_undrain_and_replace(site: Site) -> None:
    leaf1, leaf2 = (site.switches[name] for name in LEAVES)
    for book, command, isolated in (("drain", "TSA", "true"), ("undrain", "TSB", "false")):
        site.play(book, "--limit", "leaf1")
        assert leaf1.startup["BGP_DEVICE_GLOBAL"]["STATE"]["tsa_enabled"] == isolated
        assert leaf1.log() == [command, "config save -y"]
    assert leaf2.log() == []

    factory = {"DEVICE_METADATA": {"localhost": {"hwsku": "Other"}}, "PORT": {"Ethernet0": {"lanes": "1"}}}
    leaf1.hold(factory)
    assert "the switch runs Other" in site.play("replace-device", "--limit", "leaf1", code=2)
    factory["DEVICE_METADATA"]["localhost"]["hwsku"] = site.tables("leaf1")["DEVICE_METADATA"]["localhost"]["hwsku"]
    leaf1.hold(factory)
    before = leaf1.running
    site.play("replace-device", "--limit", "leaf1")
    assert_holds(leaf1.running, filled(site.tables("leaf1")), before)
    assert leaf1.startup == leaf1.running
