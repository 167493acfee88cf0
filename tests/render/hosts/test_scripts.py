"""The rendered scripts, run on stand-ins: they set what is meant, say what they change, and change nothing twice."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.components import tool
from tests.render.hosts.machine import Machine
from tests.render.hosts.rendered import inventory, write_bundle

RAILS = {f"rail{n}": (f"mlx5_{n}", f"0000:{16 + n:02x}:00.0") for n in range(8)}
AMD = inventory("mi300x", classes="3: {dscp: [24, 26]}")


def machine(folder: Path, text: str | None = None, driver: str = "mlx5_core", *, ofed: bool = True) -> Machine:
    """A host of the group with the NICs that its settings name."""
    hosts = write_bundle(folder / "bundle", text) / "hosts/gpu"
    found = Machine(folder, hosts / "roce", driver)
    for interface, (device, slot) in RAILS.items():
        found.plug(interface, device, slot, ofed=ofed)
    if driver == "bnxt_en":
        (found.sys / "kernel/config/bnxt_re").mkdir()
    if not ofed or driver != "mlx5_core":
        (found.tools / "mlnx_qos").unlink()
    return found


def script(one: Machine) -> Path:
    """The rendered script."""
    return one.conf.parent / "fabricgen-roce"


def test_a_nic_is_set_up_like_the_switches(tmp_path: Path) -> None:
    host = machine(tmp_path)
    done = host.run(script(host), "rail0", "rail5")
    assert done.returncode == 0, done.stderr
    rail0 = host.nics()["rail0"]
    assert (rail0["dcbx"], rail0["trust"], rail0["pause"], rail0["cable"]) == ("os", "dscp", "off", 5)
    assert rail0["pfc"] == [0, 0, 0, 1, 1, 0, 0, 0]
    assert rail0["tunables"] == {"pfc-prevention-tout": 100}
    assert host.read("class/infiniband/mlx5_0/tc/1/traffic_class") == "106"
    assert host.read("kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos") == "106"
    assert host.read("kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode") == "RoCE v2"
    ecn = "class/net/rail0/ecn"
    assert [host.read(f"{ecn}/roce_{end}/enable/{n}") for end in ("np", "rp") for n in (2, 3, 4)] == list("011011")
    assert (host.read(f"{ecn}/roce_np/cnp_dscp"), host.read(f"{ecn}/roce_np/cnp_802p_prio")) == ("48", "6")
    assert host.nics()["rail1"]["trust"] == "pcp", "an interface that was not requested"
    assert "rail0: PFC 0,0,0,0,0,0,0,0 -> 0,0,0,1,1,0,0,0" in done.stdout


@pytest.mark.parametrize(
    ("text", "driver", "ofed"),
    [(None, "mlx5_core", True), (None, "mlx5_core", False), (AMD, "bnxt_en", False)],
    ids=["doca", "inbox", "broadcom"],
)
def test_a_second_run_changes_nothing(tmp_path: Path, text: str | None, driver: str, ofed: bool) -> None:
    host = machine(tmp_path, text, driver, ofed=ofed)
    fresh = host.everything()
    assert host.run(script(host), "--check", "rail0").returncode == 1
    assert host.everything() == fresh and not list((host.sys / "kernel/config").glob("*/*"))
    first = host.run(script(host), "rail0")
    assert first.returncode == 0 and not first.stdout.endswith("\n0 changes on 1 interfaces\n"), first.stderr
    before, calls = host.everything(), (tmp_path / "calls").read_text()
    second = host.run(script(host), "rail0")
    assert (second.returncode, second.stdout) == (0, "0 changes on 1 interfaces\n")
    assert host.everything() == before
    reading = ("-a", "--get-tunable", "show", "mlnx_qos -i rail0")
    news = (tmp_path / "calls").read_text().removeprefix(calls).splitlines()
    assert all(any(f" {word}" in call or call == word for word in reading) for call in news), news
    assert host.run(script(host), "--check", "rail0").returncode == 0


def test_the_kernel_s_own_driver_is_served_by_dcb(tmp_path: Path) -> None:
    host = machine(tmp_path, ofed=False)
    assert host.run(script(host), "rail0").returncode == 0
    assert host.nics()["rail0"]["dscp"] == {"26": "3", "34": "4", "48": "6"}
    assert host.nics()["rail0"]["pfc"] == [0, 0, 0, 1, 1, 0, 0, 0]
    params = f"kernel/debug/mlx5/{RAILS['rail0'][1]}/cc_params"
    assert (host.read(f"{params}/np_cnp_dscp"), host.read(f"{params}/np_cnp_prio")) == ("48", "6")


def test_broadcom_applies_the_settings(tmp_path: Path) -> None:
    host = machine(tmp_path, AMD, "bnxt_en", ofed=False)
    assert host.run(script(host), "rail0").returncode == 0
    cc = "kernel/config/bnxt_re/mlx5_0/ports/1/cc"
    names = ("ecn_enable", "roce_dscp", "roce_prio", "cnp_dscp", "cnp_prio", "apply")
    assert [host.read(f"{cc}/{name}") for name in names] == ["1", "24", "3", "48", "6", "1"]
    assert host.nics()["rail0"]["dscp"] == {"24": "3", "26": "3", "48": "6"}


def test_an_unusual_dscp_is_mapped(tmp_path: Path) -> None:
    host = machine(tmp_path, inventory(classes="3: {dscp: [3]}", cnp=46))
    assert host.run(script(host), "rail0").returncode == 0
    assert host.nics()["rail0"]["dscp"] == {"3": 3, "46": 6}


def test_a_failed_set_up_is_reported(tmp_path: Path) -> None:
    host = machine(tmp_path)
    host.tool("mlnx_qos", "exit 1")
    done = host.run(script(host), "rail0")
    assert done.returncode == 1 and "rail0: mlnx_qos cannot read it" in done.stderr
    done = host.run(script(host), "rail9")
    assert done.returncode == 1 and "no settings name rail9" in done.stderr
    driver = host.sys / "class/net/rail0/device/driver"
    driver.unlink()
    driver.symlink_to(host.sys / "drivers/ice")
    done = host.run(script(host), "rail0")
    assert done.returncode == 1 and "rail0 runs on ice" in done.stderr


def test_a_refused_write_ends_the_run(tmp_path: Path) -> None:
    host = machine(tmp_path)
    host.conf.joinpath("compute.conf").write_text(
        host.conf.joinpath("compute.conf").read_text().replace("STALL_MS=100", "STALL_MS=9")
    )
    done = host.run(script(host), "rail0")
    assert done.returncode == 1 and "cannot set pfc-prevention-tout" in done.stderr


@pytest.mark.parametrize("text", [inventory(), AMD, inventory("hgx-h100", "rail-only")], ids=["dgx", "amd", "hgx"])
def test_shellcheck_is_content(tmp_path: Path, text: str) -> None:
    checker = Path(sys.executable).with_name("shellcheck")  # of the extra [dev]
    hosts = write_bundle(tmp_path / "bundle", text) / "hosts/gpu"
    scripts = [str(hosts / name) for name in ("fabricgen-roce", "gpudirect-check")]
    found = subprocess.run([checker, *scripts], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    analyze = tool("systemd-analyze", "systemd")
    unit = write_bundle(tmp_path / "bundle") / "hosts/gpu/fabricgen-roce@.service"
    text = unit.read_text().replace("/usr/local/sbin/fabricgen-roce", "/bin/true")
    instance = tmp_path / "fabricgen-roce@rail0.service"
    instance.write_text(text)
    found = subprocess.run([analyze, "verify", "--man=no", str(instance)], capture_output=True, text=True)
    assert found.returncode == 0 and "fabricgen-roce" not in found.stderr, found.stderr


class TestGpuDirect:
    """gpudirect-check on a machine that is as it should be, and on some that are not."""

    @pytest.fixture
    def host(self, tmp_path: Path) -> Machine:
        host = machine(tmp_path)
        proc = tmp_path / "proc"
        (proc / "self").mkdir(parents=True)
        (proc / "cmdline").write_text("BOOT_IMAGE=/vmlinuz iommu=pt quiet\n")
        (proc / "self/limits").write_text("Max locked memory         unlimited            unlimited            bytes\n")
        (host.sys / "module/nvidia_peermem").mkdir(parents=True)
        host.tool(
            "lspci", "echo '18:00.0 PCI bridge'; echo '  ACSCtl: SrcValid- TransBlk-'; echo '  MaxReadReq 4096 bytes'"
        )
        host.tool("uname", "echo 5.10.0-33-amd64")
        return host

    def verdict(self, host: Machine, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
        monkeypatch.setenv("PROC", str(host.folder / "proc"))
        done = host.run(host.conf.parent / "gpudirect-check")
        assert done.stderr == ""
        return done.returncode, done.stdout

    def test_all_is_well(self, host: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        code, output = self.verdict(host, monkeypatch)
        assert code == 0 and "PROBLEM" not in output and output.splitlines()[-1].startswith("0 problems")

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ("rmdir {sys}/module/nvidia_peermem", "no peer memory module"),
            ("echo quiet >{proc}/cmdline; mkdir -p {sys}/class/iommu/dmar0", "IOMMU translates"),
            ("echo 'Max locked memory 65536 65536 bytes' >{proc}/self/limits", "only 65536 bytes"),
            ("sed -i s/SrcValid-/SrcValid+/ {bin}/lspci", "ACS on at 18:00.0"),
        ],
    )
    def test_obstacles(self, host: Machine, monkeypatch: pytest.MonkeyPatch, change: str, problem: str) -> None:
        places = {"sys": host.sys, "proc": host.folder / "proc", "bin": host.tools}
        subprocess.run(["/bin/sh", "-c", change.format(**places)], check=True)
        code, found = self.verdict(host, monkeypatch)
        assert code == 1 and problem in found, found
