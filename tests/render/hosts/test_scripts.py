"""The rendered scripts, run on stand-ins: they set what is meant, say what they change, and change nothing twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.components import tool
from tests.render.hosts.machine import FILES, Machine
from tests.render.hosts.rendered import inventory, write_bundle
from tests.render.hosts.tools.stand_in import FORMS, say

RAILS = {f"rail{n}": (f"mlx5_{n}", f"0000:{16 + n:02x}:00.0") for n in range(8)}
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.127.05  Tue Oct  8 16:30:26 UTC 2024\n"
# linux fs/proc/base.c, proc_pid_limits: %-25s %-20s %-20s %-10s
LOCKED = f"{'Max locked memory':<25} {{:<20}} {{:<20}} {'bytes':<10}\n"
POLLARA = inventory("mi355x", classes="3: {dscp: [26]}")
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
    assert host.read("class/infiniband/mlx5_0/tc/1/traffic_class") == "Global tclass=106"
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


CC = "kernel/config/bnxt_re/mlx5_0/ports/1/cc"


def broadcom(folder: Path, **driver: object) -> Machine:
    """A host with NICs of Broadcom and a version of their driver."""
    host = machine(folder, AMD, "bnxt_en", ofed=False)
    host.state.write_text(json.dumps(host.nics() | {"bnxt": driver}))
    return host


@pytest.mark.parametrize("version", ["old", "new"])
def test_broadcom_applies_the_settings(tmp_path: Path, version: str) -> None:
    """Both versions of the driver read 0x18 as 24, and print it so: a second run changes nothing."""
    host = broadcom(tmp_path, version=version)
    assert host.run(script(host), "rail0").returncode == 0
    names = ("ecn_enable", "roce_dscp", "roce_prio", "cnp_dscp", "cnp_prio", "apply")
    assert [host.read(f"{CC}/{name}") for name in names] == ["0x1", "0x18", "0x3", "0x30", "0x6", "0x1"]
    assert host.nics()["rail0"]["dscp"] == {"24": "3", "26": "3", "48": "6"}
    again = host.run(script(host), "--check", "rail0")
    assert (again.returncode, again.stdout) == (0, "0 changes on 1 interfaces\n")


def test_what_the_firmware_of_broadcom_owns_does_not_stop_the_run(tmp_path: Path) -> None:
    host = broadcom(tmp_path, version="old", profiles=True)
    done = host.run(script(host), "rail0")
    assert done.returncode == 0 and "2 values differ that the firmware owns" in done.stdout, done.stderr
    assert "RoCE priority stays 0, the plan has 3: the firmware owns it (service profile)" in done.stderr
    assert [host.read(f"{CC}/{name}") for name in ("roce_dscp", "roce_prio", "cnp_dscp", "apply")] == [
        "0x18", "0", "0x30", "0x1",
    ]  # fmt: skip
    assert host.run(script(host), "--check", "rail0").returncode == 1, "the NIC differs from the plan"
    info = host.sys / "kernel/debug/bnxt_re/mlx5_0/info"
    info.parent.mkdir(parents=True)
    info.write_text("\tfw_service_prof_type_sup : 1\n")  # debugfs.c: seq_printf
    calls = (tmp_path / "calls").read_text()
    assert "2 values differ that the firmware owns" in host.run(script(host), "rail0").stdout
    assert "bnxt_store" not in (tmp_path / "calls").read_text().removeprefix(calls), "nothing is tried in vain"


def test_pollara_is_set_up_in_an_order_that_it_accepts(tmp_path: Path) -> None:
    host = machine(tmp_path, POLLARA, "ionic", ofed=False)
    host.state.write_text(json.dumps(host.nics() | {"slots": [slot for _, slot in RAILS.values()]}))
    done = host.run(script(host), "rail0")
    assert done.returncode == 0 and "rail0: CNP DSCP 46 -> 48" in done.stdout, done.stderr
    found = host.nics()["nicctl"]
    assert (found["class"], found["no_drop"], found["cnp"], found["schedule"]) == ("DSCP", [3], 48, [3, 0, 6])
    assert found["map"] == {"26": 3, "48": 6}
    again = host.run(script(host), "--check")
    assert (again.returncode, again.stdout) == (0, "0 changes on 8 interfaces\n"), again.stdout


def test_stand_ins_print_what_the_sources_print() -> None:
    """A form that the source does not have is refused, as decimal digits of bnxt_re."""
    assert say("bnxt_re", "0x1a") and say("bnxt_re", "0")
    wrongs = {
        "bnxt_re": ("26", "0x0"), "dcb": ("prio-pfc 3:on",), "mlnx_qos": ("Cable len: 5m",), "mlx5_tc": ("106",),
        "nicctl": ("  CNP DSCP             : 46",), "mlxconfig": ("INTERNAL_CPU_OFFLOAD_ENGINE=0",),
        "lspci": ("ACSCtl: SrcValid-",), "ethtool": ("RX: on",),
    }  # fmt: skip
    assert set(wrongs) == set(FORMS)
    for name, wrong in ((name, wrong) for name, each in wrongs.items() for wrong in each):
        with pytest.raises(AssertionError, match="cannot print"):
            say(name, wrong)
    assert all(source for forms in FORMS.values() for _, source in forms) and all(source for _, _, source in FILES)


def test_a_file_that_the_kernel_cannot_print_is_refused(tmp_path: Path) -> None:
    host = machine(tmp_path)
    host.refuse_other_forms()
    (host.sys / "class/infiniband/mlx5_0/tc/1/traffic_class").write_text("106\n")
    with pytest.raises(AssertionError, match="the kernel does not print"):
        host.refuse_other_forms()


def test_the_form_of_limits_is_that_of_this_kernel() -> None:
    line = next(line for line in Path("/proc/self/limits").read_text().splitlines(True) if "locked memory" in line)
    assert line == LOCKED.format(*line.split()[3:5])


def test_a_port_in_infiniband_mode_is_named_with_the_command(tmp_path: Path) -> None:
    host = machine(tmp_path)
    (host.sys / "class/net/rail0/type").write_text("32\n")
    done = host.run(script(host), "rail0")
    assert done.returncode == 1
    assert "rail0 is in InfiniBand mode: run mlxconfig -d 0000:10:00.0 set LINK_TYPE_P1=2" in done.stderr


@pytest.mark.parametrize(("mode", "code"), [("ENABLED(0)", 1), ("DISABLED(1)", 0)])
def test_a_bluefield_in_dpu_mode_is_refused(tmp_path: Path, mode: str, code: int) -> None:
    host = machine(tmp_path)
    (host.sys / "class/net/rail0/device/device").write_text("0xa2dc\n")
    host.state.write_text(json.dumps(host.nics() | {"mlxconfig": {"INTERNAL_CPU_OFFLOAD_ENGINE": mode}}))
    done = host.run(script(host), "rail0")
    assert done.returncode == code and ("in DPU mode" in done.stderr) == bool(code)


def test_the_script_waits_for_an_rdma_device(tmp_path: Path) -> None:
    host = machine(tmp_path)
    (host.sys / "devices/0000:10:00.0/infiniband").rename(tmp_path / "later")
    done = host.run(script(host), "--wait", "1", "rail0")
    assert done.returncode == 1 and "rail0 has no RDMA device" in done.stderr
    host.tool("sleep", f"mv {tmp_path}/later {host.sys}/devices/0000:10:00.0/infiniband")
    assert host.run(script(host), "--wait", "1", "rail0").returncode == 0


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


@pytest.mark.parametrize(
    "text", [inventory(), AMD, inventory("hgx-h100", "rail-only"), POLLARA], ids=["dgx", "amd", "hgx", "pollara"]
)
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
        (proc / "self/limits").write_text(LOCKED.format("unlimited", "unlimited"))
        (host.sys / "module/nvidia_peermem").mkdir(parents=True)
        (proc / "driver/nvidia").mkdir(parents=True)
        # the first line of nvidia.ko of both kinds (kernel-open/nvidia/nv-procfs.c; nv_printf of NV_VERSION_STRING)
        (proc / "driver/nvidia/version").write_text(CLOSED)
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

    def test_the_open_driver_needs_no_peer_memory(self, host: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        (host.sys / "module/nvidia_peermem").rmdir()
        host.tool("uname", "echo 6.8.0-45-generic")
        assert self.verdict(host, monkeypatch)[0] == 1, "dma-buf of the kernel does not help the closed driver"
        version = host.folder / "proc/driver/nvidia/version"
        version.write_text(CLOSED.replace("x86_64 Kernel Module", "Open Kernel Module for x86_64"))
        assert self.verdict(host, monkeypatch)[0] == 0

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            (
                "rmdir {sys}/module/nvidia_peermem",
                "the closed driver gives no dma-buf, and nvidia_peermem is not loaded",
            ),
            ("rm {proc}/driver/nvidia/version", "the NVIDIA driver is not loaded"),
            (
                "rmdir {sys}/module/nvidia_peermem; sed -i 's/x86_64 Kernel Module/Open Kernel Module for x86_64/' "
                "{proc}/driver/nvidia/version",
                "kernel 5.10.0-33-amd64 has no dma-buf",
            ),
            ("echo quiet >{proc}/cmdline; mkdir -p {sys}/class/iommu/dmar0", "IOMMU translates"),
            (f"printf '%s' '{LOCKED.format(65536, 65536)}' >{{proc}}/self/limits", "only 65536 bytes"),
            ("""sed -i 's/^{{/{{"acs": "+", /' {state}""", "ACS on at 18:00.0"),
            (
                """sed -i 's/^{{/{{"read_bytes": 512, /' {state}""",
                "read requests of 512 bytes, expected 4096: setpci -s 0000:10:00.0 CAP_EXP+8.w=5000:7000",
            ),
        ],
    )
    def test_obstacles(self, host: Machine, monkeypatch: pytest.MonkeyPatch, change: str, problem: str) -> None:
        places = {"sys": host.sys, "proc": host.folder / "proc", "state": host.state}
        subprocess.run(["/bin/sh", "-c", change.format(**places)], check=True)
        code, found = self.verdict(host, monkeypatch)
        assert code == 1 and problem in found, found
