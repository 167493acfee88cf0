"""The rules on hosts: rendered files have no finding; a changed value has one, with its place and the switch's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.host_mutants import is_found, mutants
from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding
from fabricgen.rules.run import run
from tests.render.hosts.rendered import inventory, write_bundle
from tests.rules.hosts.inventories import BY_PCI, DGX, IN_BAND, INFINIBAND, NAMED, RAIL_ONLY, SIX, TWO_PLANES

BOTH = SIX.replace("hosts: 'fd00:64::/64'", "hosts: [10.64.0.0/10, 'fd00:64::/64']")
CLEAN = {
    "dgx": DGX,
    "storage": TWO_PLANES,
    "in-band": IN_BAND,
    "rail-only": RAIL_ONLY,
    "amd": inventory("mi300x", classes="3: {dscp: [24, 26]}", cnp=46),
    "ipv6": SIX,
    "both families": BOTH,
    "no rdma names": inventory("hgx-h100"),
    "names of rdma-core": BY_PCI,
    "names of NICs": NAMED,
    "gaudi": inventory("gaudi-3").replace("speed: 400G", "speed: 200G"),
}


def judge(folder: Path, *select: str) -> list[Finding]:
    """The findings of a bundle, without notes."""
    return [one for one in run(open_bundle([folder]), select) if one.severity.value != "note"]


@pytest.mark.parametrize("name", CLEAN)
def test_rendered_files_have_no_finding(tmp_path: Path, name: str) -> None:
    assert judge(write_bundle(tmp_path / "bundle", CLEAN[name])) == []


def change(bundle: Path, edit: Callable[[str, Any], None]) -> None:
    """Edit the configuration of switches."""
    for file in sorted(bundle.glob("sonic/*/config_db.json")):
        config = json.loads(file.read_text())
        edit(file.parent.name, config)
        file.write_text(json.dumps(config, indent=4))


def test_the_example_of_a_stall_time_is_less_than_the_detection_time(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "bundle")

    def edit(_: str, config: Any) -> None:
        for row in config["PFC_WD"].values():
            row |= {"detection_time": "100"} if "detection_time" in row else {}

    change(bundle, edit)
    [found] = judge(bundle, "FG907")
    assert found.message == "a stuck NIC pauses for 100 ms, but the watchdog of the switch acts after 100 ms"
    assert found.hint == "set STALL_MS to a time below the detection time, for example 80"
    file = bundle / "hosts" / "gpu" / "roce" / "compute.conf"
    file.write_text(file.read_text().replace("STALL_MS=100", "STALL_MS=80"))
    assert judge(bundle, "FG907") == []


def test_a_change_of_all_switches_is_reported_at_the_hosts(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "bundle")
    (bundle / "fabric.json").write_text((bundle / "fabric.json").read_text().replace('"4":[34]', '"4":[40]'))

    def edit(_: str, config: Any) -> None:
        config["DSCP_TO_TC_MAP"]["AZURE"] |= {"34": "0", "40": "4"}

    change(bundle, edit)
    found = [one for one in judge(bundle) if one.code == "FG902"]
    assert {(one.device, one.path) for one in found} == {("hosts/gpu", "roce/compute.conf|DSCP_PRIORITY")}
    assert {one.related[0].location.file.rpartition("/")[2] for one in found} == {"config_db.json"}


@pytest.mark.parametrize(("mtu", "found"), [(4192, False), (4191, True)])
def test_the_least_mtu_for_roce(tmp_path: Path, mtu: int, found: bool) -> None:
    """Packets of 4096 bytes and their headers of 96 bytes."""
    bundle = write_bundle(tmp_path / "bundle")
    for file in bundle.glob("hosts/gpu/netplan/*.yaml"):
        file.write_text(file.read_text().replace("mtu: 9100", f"mtu: {mtu}"))
    assert bool(judge(bundle, "FG906")) is found


@pytest.mark.parametrize(("text", "expected"), [(SIX, ["FG911"]), (DGX, [])])
def test_ipv6_is_disabled_only_where_no_nic_has_it(tmp_path: Path, text: str, expected: list[str]) -> None:
    bundle = write_bundle(tmp_path / "bundle", text)
    file = bundle / "hosts/gpu/sysctl.conf"
    file.write_text(file.read_text() + "net.ipv6.conf.all.disable_ipv6 = 1\n")
    found = judge(bundle, "FG9")
    assert [one.code for one in found] == expected
    assert all(one.location and one.location.line == len(file.read_text().splitlines()) for one in found)


def test_one_different_switch_is_reported_at_the_switch(tmp_path: Path) -> None:
    """Rules on switches report it, and rules on hosts report the rest, all of it at the switch."""
    bundle = write_bundle(tmp_path / "bundle")

    def edit(name: str, config: Any) -> None:
        if name == "compute-su00-r0-leaf":
            for row in config["PORT_QOS_MAP"].values():
                row |= {"pfc_enable": "3"} if "pfc_enable" in row else {}
            config["PORT"]["Ethernet0"]["mtu"] = "9000"

    change(bundle, edit)
    found = judge(bundle)
    assert {one.device for one in found} == {"compute-su00-r0-leaf"}
    assert {"PORT_QOS_MAP|Ethernet0|pfc_enable", "PORT|Ethernet0|mtu"} <= {one.path for one in found}


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "bundle")
    for name in ("roce/compute.conf", "netplan/gpu-001.yaml", "fabricgen-roce", "ucx.conf"):
        (bundle / "hosts/gpu" / name).unlink()
    (bundle / "hosts/gpu/netplan/gpu-007.yaml").write_text("network: {ethernets: {}}\n")
    found = {one.path for one in judge(bundle) if one.code == "FG900"}
    assert found == {"roce/compute.conf", "netplan/gpu-001.yaml", "netplan/gpu-007.yaml", "fabricgen-roce", "ucx.conf"}


def test_infiniband_hosts_set_no_traffic_class(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "bundle", INFINIBAND)
    assert judge(bundle) == []
    conf = bundle / "hosts/gpu/nccl.conf"
    assert "NCCL_IB_HCA==mlx5_0,mlx5_3" in conf.read_text() and "NCCL_IB_TC" not in conf.read_text()
    conf.write_text(conf.read_text() + "NCCL_IB_TC=106\n")
    assert {(one.code, one.path) for one in judge(bundle)} == {("FG910", "nccl.conf|NCCL_IB_TC")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("network: [", "not YAML"),
        ("- 1\n", "not a netplan file"),
        ("network: {ethernets: {rail0: 1}}\n", "not a netplan file"),
    ],
)
def test_a_file_that_is_not_a_netplan_file(tmp_path: Path, text: str, message: str) -> None:
    bundle = write_bundle(tmp_path / "bundle")
    (bundle / "hosts/gpu/netplan/gpu-000.yaml").write_text(text)
    with pytest.raises(UnreadableInputError, match=message):
        judge(bundle)


@pytest.mark.parametrize("one_of", [5, 15])
def test_every_value_is_guarded(tmp_path: Path, one_of: int) -> None:
    """A part of the seeded faults of benchmarks.host_mutants."""
    bundle = open_bundle([write_bundle(tmp_path / "bundle", TWO_PLANES)])
    hosts = bundle.hosts["gpu"]
    some = list(mutants(hosts, "gpu-000"))[::one_of]
    missed = [str(one) for one in some if not one.reason and not is_found(bundle, hosts, one)]
    assert len(some) > 250 / one_of and missed == []
