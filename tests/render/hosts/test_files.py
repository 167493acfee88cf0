"""What is rendered for hosts: the same figures as the switches', by group, plane and host."""

import json
from pathlib import Path

import pytest
import yaml

from fabricgen.render.plans import make_plans
from tests.conftest import Cli
from tests.render.hosts.rendered import STORAGE, files_of, inventory, write_bundle
from tests.rules.hosts.inventories import BY_PCI, NAMED, RDMA_RULES

GROUP = "hosts/gpu"


def settings(text: str, file: str) -> dict[str, str]:
    """KEY=VALUE lines of a file of the group."""
    lines = files_of(text)[f"{GROUP}/{file}"].decode().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def names(text: str) -> set[str]:
    """The files of the group, those of hosts as one."""
    found = (path.removeprefix(f"{GROUP}/") for path in files_of(text) if path.startswith(f"{GROUP}/"))
    return {"netplan" if path.startswith("netplan/") else path for path in found}


def test_the_figures_are_those_of_the_switches() -> None:
    text = inventory(classes="5: {dscp: [40]}, 2: {dscp: [18, 10]}", cnp=50)
    found = settings(text, "roce/compute.conf")
    config = json.loads(files_of(text)["sonic/compute-su00-r0-leaf/config_db.json"])
    port, maps = config["PORT_QOS_MAP"]["Ethernet0"], config["DSCP_TO_TC_MAP"]["AZURE"]
    paused = [str(n) for n, bit in enumerate(found["PFC"].split(",")) if bit == "1"]
    assert ",".join(paused) == port["pfc_enable"] == "2,5"
    pairs = dict(pair.split(":") for pair in found["DSCP_PRIORITY"].strip('"').split())
    assert pairs == {dscp: maps[dscp] for dscp in ("18", "10", "40", "50")}
    assert int(found["TOS"]) == 18 * 4 + 2
    assert found["CNP_PRIORITY"] == maps[found["CNP_DSCP"]] == "6"
    assert found["CABLE_M"] + "m" == config["CABLE_LENGTH"]["AZURE"]["Ethernet0"]
    assert int(found["STALL_MS"]) < int(config["PFC_WD"]["Ethernet0"]["detection_time"])
    nccl, ucx = settings(text, "nccl.conf"), settings(text, "ucx.conf")
    assert (nccl["NCCL_IB_TC"], nccl["NCCL_IB_SL"], ucx["UCX_IB_TRAFFIC_CLASS"]) == (found["TOS"], "2", found["TOS"])
    host = yaml.safe_load(files_of(text)[f"{GROUP}/netplan/gpu-000.yaml"])["network"]["ethernets"]["rail0"]
    assert str(host["mtu"]) == config["PORT"]["Ethernet0"]["mtu"]


def test_a_watchdog_faster_than_the_nic_leaves_the_nic_s_time_out() -> None:
    text = inventory().replace("cnp: {dscp: 48}", "cnp: {dscp: 48}, watchdog: {detection_ms: 100}")
    assert "STALL_MS" not in settings(text, "roce/compute.conf")


def test_devices_are_listed_exactly_and_in_the_order_of_the_rails() -> None:
    found = settings(inventory(), "nccl.conf")
    devices = ["mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11"]
    assert found["NCCL_IB_HCA"] == "=" + ",".join(devices)
    assert settings(inventory(), "ucx.conf")["UCX_NET_DEVICES"] == ",".join(f"{one}:1" for one in devices)
    assert "NCCL_IB_GID_INDEX" not in found and found["NCCL_IB_ADDR_RANGE"] == "10.64.0.0/10"
    unknown = settings(inventory("hgx-h100"), "nccl.conf")
    assert "NCCL_IB_HCA" not in unknown and unknown["NCCL_IB_TC"] == "106"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("model: hgx-h100, count: 2, rdma_names: nic}", "has no PCI address of rail0, by which the udev rule finds it"),
        ("model: box, count: 2}", "rocep64s0 is not the RDMA device of rail1 at 0000:41:00.0"),
    ],
)
def test_names_that_no_device_can_have_are_refused(tmp_path: Path, change: str, message: str) -> None:
    text = BY_PCI.replace("0000:40:00.0", "0000:41:00.0").replace("model: box, count: 2}", change)
    (tmp_path / "fabric.yaml").write_text(text)
    found = [one for one in make_plans(tmp_path).findings if one.code == "FG925"]
    assert found and message in found[0].message
    if "rocep" in message:
        assert found[0].hint == "set `rdma` to rocep65s0"


def test_devices_named_by_udev_are_listed_by_their_names() -> None:
    devices = [f"mlx5_rail{rail}" for rail in range(8)]
    assert settings(NAMED, "nccl.conf")["NCCL_IB_HCA"] == "=" + ",".join(devices)
    assert settings(NAMED, "nvshmem.conf")["NVSHMEM_HCA_LIST"] == ",".join(f"{one}:1" for one in devices)
    assert '"*/0000:40:00.0/infiniband/*", PROGRAM="rdma_rename %k NAME_FIXED mlx5_rail1"' in (
        files_of(NAMED)[f"{GROUP}/{RDMA_RULES}"].decode()
    )
    assert f"{GROUP}/{RDMA_RULES}" not in files_of(inventory())


def test_nccl_uses_no_rail_for_its_sockets() -> None:
    assert settings(inventory(), "nccl.conf")["NCCL_SOCKET_IFNAME"] == "^rail,docker,lo,virbr"


def test_queue_pairs_of_a_plane_are_those_of_nccl() -> None:
    text = inventory()
    assert "NCCL_IB_QPS_PER_CONNECTION" not in settings(text, "nccl.conf")
    several = text.replace("    lossless:", "    queue_pairs: 4\n    lossless:")
    assert settings(several, "nccl.conf")["NCCL_IB_QPS_PER_CONNECTION"] == "4"


def test_amd_hosts_have_rccl() -> None:
    text = inventory("mi300x", classes="3: {dscp: [26]}")
    assert "nccl.conf" not in names(text)
    assert settings(text, "rccl.conf")["NCCL_IB_HCA"] == "=" + ",".join(f"bnxt_re{n}" for n in range(8))


@pytest.mark.parametrize("model", ["dgx-h100", "hgx-h100"])
def test_comments_are_none_to_tools_that_know_no_comments(model: str) -> None:
    """NCCL's own reader takes every line with an equals sign for a variable."""
    for line in files_of(inventory(model, "rail-only"))[f"{GROUP}/nccl.conf"].decode().splitlines():
        assert not (line.startswith("#") and "=" in line)


@pytest.mark.parametrize(("model", "script"), [("dgx-h100", "mlnx_qos"), ("mi300x", "bnxt_re")])
def test_the_script_has_the_group_s_drivers_and_no_others(model: str, script: str) -> None:
    text = files_of(inventory(model, classes="3: {dscp: [26]}"))[f"{GROUP}/fabricgen-roce"].decode()
    assert {word for word in ("mlnx_qos", "bnxt_re") if word in text} == {script}


def test_a_plane_without_pfc_has_addresses_and_no_settings() -> None:
    text = inventory(more=STORAGE.format(name="in-band"))
    assert "roce/in-band.conf" not in names(text)
    host = yaml.safe_load(files_of(text)[f"{GROUP}/netplan/gpu-001.yaml"])["network"]["ethernets"]
    assert list(host) == [f"rail{n}" for n in range(8)] + ["inband0", "inband1"]
    main = [route for route in host["inband1"]["routes"] if "table" not in route]
    assert [route["to"] for route in main] == ["10.224.0.0/12"] and "metric" in main[0]
    assert all("table" in route for route in host["rail0"]["routes"])
    assert settings(text, "nccl.conf")["NCCL_SOCKET_IFNAME"] == "=inband0,inband1"


def test_infiniband_and_unknown_nics_get_what_applies() -> None:
    gaudi = inventory("gaudi-3").replace("speed: 400G", "speed: 200G")
    assert names(gaudi) == set()


def test_nothing_is_rendered_in_silence(tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(inventory("gaudi-3").replace("speed: 400G", "speed: 200G"))
    (found,) = [one for one in make_plans(tmp_path).findings if one.code.startswith("FG93")]
    assert (found.code, found.severity.value) == ("FG930", "note") and "Gaudi-3" in found.message
    assert "gaudinet.json" in (found.hint or "")
    own = """\
host_models:
  box:
    gpus: 1
    nics: [{name: a-very-long-name, model: ConnectX-7, speed: 400G, plane: compute, rails: 1}]
"""
    (tmp_path / "fabric.yaml").write_text(own + inventory("box"))
    assert [one.code for one in make_plans(tmp_path).findings if one.code.startswith("FG93")] == ["FG931"]


def test_growth_changes_no_file_of_another_host() -> None:
    small, large = files_of(inventory()), files_of(inventory().replace("count: 2}}", "count: 4}}"))
    assert {path for path in small if path.startswith("hosts/") and small[path] != large[path]} == set()
    assert len([path for path in large if path.startswith("hosts/") and path not in small]) == 2


def test_an_overlay_changes_a_template(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(inventory())
    overlay = tmp_path / "mine/hosts"
    overlay.mkdir(parents=True)
    (overlay / "ucx.conf.j2").write_text("UCX_IB_TRAFFIC_CLASS={{ collective.tos }}\nUCX_TLS=rc\n")
    done = cli("render", tmp_path / "fabric.yaml", "-o", tmp_path / "b", "--templates", tmp_path / "mine")
    assert done.code == 0
    assert (tmp_path / "b/hosts/gpu/ucx.conf").read_text() == "UCX_IB_TRAFFIC_CLASS=106\nUCX_TLS=rc\n"
    (overlay / "netplan.yaml.j2").write_text("network: [{{ host }}\n")
    done = cli("render", tmp_path / "fabric.yaml", "-o", tmp_path / "b", "--templates", tmp_path / "mine")
    assert done.code == 1 and "FG150" in done.out and "not YAML" in done.out


def test_explain_shows_the_origin_of_a_setting(cli: Cli, tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "bundle")
    done = cli("explain", bundle, "hosts/gpu:roce/compute.conf|TOS")
    assert "roce/compute.conf|TOS = 106" in done.out and "planes.compute.lossless.classes.3" in done.out
    done = cli("explain", bundle, "hosts/gpu:netplan/gpu-001.yaml|ethernets.rail2.mtu")
    assert "= 9100" in done.out and "netplan.yaml.j2" in done.out and "as PORT mtu of the switches" in done.out
    assert cli("explain", bundle, "hosts/gpu:netplan/gpu-001.yaml|ethernets.rail9.mtu").code == 2


def test_render_check_names_files_of_hosts(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(inventory())
    assert cli("render", tmp_path / "fabric.yaml", "-o", tmp_path / "b").code == 0
    assert cli("render", tmp_path / "fabric.yaml", "-o", tmp_path / "b", "--check").code == 0
    (tmp_path / "b/hosts/gpu/nccl.conf").write_text("NCCL_IB_TC=0\n")
    done = cli("render", tmp_path / "fabric.yaml", "-o", tmp_path / "b", "--check")
    assert done.code == 1 and "hosts/gpu/nccl.conf differs from what the inventory renders" in done.out


def test_check_reports_an_override_that_the_hosts_do_not_follow(cli: Cli, tmp_path: Path) -> None:
    override = """\
overrides:
  - match: {role: leaf}
    config_db: {DSCP_TO_TC_MAP: {AZURE: {"26": "4"}}}
"""
    (tmp_path / "fabric.yaml").write_text(inventory() + override)
    done = cli("check", tmp_path / "fabric.yaml", "--format", "json", "--select", "FG9")
    found = {(one["code"], one["path"]): one for one in json.loads(done.out)["findings"] if one["severity"] == "error"}
    one = found["FG902", "roce/compute.conf|DSCP_PRIORITY"]
    assert done.code == 1 and one["device"] == "hosts/gpu"
    places = [each["location"]["file"] for each in one["related"]]
    assert any(place.endswith("config_db.json") for place in places)
    assert any(place.endswith("fabric.yaml") for place in places), "the origin of the setting"
    accepted = inventory() + override + "suppressions: [{code: FG902, device: hosts/*, reason: a test}]\n"
    (tmp_path / "fabric.yaml").write_text(accepted)
    report = json.loads(cli("check", tmp_path / "fabric.yaml", "--format", "json", "--select", "FG902").out)
    assert report["summary"]["suppressed"] == 1 and report["summary"]["errors"] == 0
