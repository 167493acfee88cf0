"""A host to run the rendered scripts on: a sysfs of plain files, and stand-ins for the tools, in a folder."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tests.render.hosts.tools.stand_in import CALL, FORMS

# Files of sysfs, configfs and debugfs: (pattern of the path, regular expression of the content, the statement of the
# kernel that prints it). A file of another form is refused after each run.
FILES = [
    ("*/net/*/type", r"\d+", "linux net/core/net-sysfs.c, NETDEVICE_SHOW_RO(type, fmt_dec)"),
    ("*/device", r"0x[0-9a-f]{4}", "linux drivers/pci/pci-sysfs.c, pci_config_attr(device, 0x%04x)"),
    ("*/ecn/roce_?p/enable/[0-7]", r"[01]", "MLNX_OFED mlx5_core, en_ecn.c, mlx5e_show_enable: %d"),
    ("*/ecn/roce_np/cnp_*", r"\d+", "MLNX_OFED mlx5_core, en_ecn.c, mlx5e_show_cnp: %d"),
    ("*/cc_params/np_*", r"\d+", "linux drivers/infiniband/hw/mlx5/cong.c, get_param: %d"),
    ("*/rdma_cm/*/default_roce_mode", r"IB/RoCE v1|RoCE v2", "linux drivers/infiniband/core/cma_configfs.c; cache.c"),
    ("*/rdma_cm/*/default_roce_tos", r"\d+", "linux drivers/infiniband/core/cma_configfs.c: %u"),
    ("*/tc/1/traffic_class", FORMS["mlx5_tc"][0][0], FORMS["mlx5_tc"][0][1]),
    ("*/bnxt_re/*/cc/*", FORMS["bnxt_re"][0][0], FORMS["bnxt_re"][0][1]),
    ("*/bnxt_re/*/info", r"(\t\w+ : \w+\n?)*", "bnxt_re debugfs.c of Broadcom: seq_printf"),
]
FRESH: dict[str, Any] = {"dcbx": "fw", "trust": "pcp", "dscp": {}, "pfc": [0] * 8, "cable": 7, "pause": "on"}


@dataclass
class Machine:
    """`sys` stands for /sys. The tools write their settings to `state`."""

    folder: Path
    conf: Path
    driver: str = "mlx5_core"

    def __post_init__(self) -> None:
        self.sys, self.tools, self.state = (self.folder / name for name in ("sys", "bin", "state.json"))
        self.tools.mkdir()
        for tool in ("mlnx_qos", "ethtool", "dcb", "nicctl", "mlxconfig", "lspci", "bnxt_store", "mlx5_store"):
            self.tool(tool, CALL, "bash")
        # A folder of configfs is born with its files.
        (self.sys / "kernel/config/rdma_cm").mkdir(parents=True)
        self.tool("mkdir", f'/bin/mkdir "$@" && exec sh "{self.folder}/born" "$1"')
        (self.folder / "born").write_text(
            'case "$1" in *rdma_cm/*) /bin/mkdir -p "$1/ports/1"\n'
            'echo "IB/RoCE v1" >"$1/ports/1/default_roce_mode"; echo 0 >"$1/ports/1/default_roce_tos" ;;\n'
            '*bnxt_re/*) /bin/mkdir -p "$1/ports/1/cc"; for name in ecn_marking ecn_enable roce_dscp roce_prio '
            'cnp_dscp cnp_prio apply; do echo 0 >"$1/ports/1/cc/$name"; done ;; esac\n'
        )
        # A function of the shell goes before its builtin: a file of configfs is a function of the kernel, not a text.
        (self.folder / "kernel").write_text(
            "printf() {\n"
            '  { target="$(readlink /proc/self/fd/3)"; } 3>&1\n'
            '  case "$target" in\n'
            '  */bnxt_re/*/cc/*) command printf "$@" | xargs -0 bnxt_store "$target" ;;\n'
            '  */tc/1/*) command printf "$@" | xargs -0 mlx5_store "$target" ;;\n'
            '  *) command printf "$@" ;;\n'
            "  esac\n"
            "}\n"
        )
        self.state.write_text("{}")

    def tool(self, name: str, command: str, shell: str = "sh") -> None:
        """Put a command into the path."""
        file = self.tools / name
        file.write_text(f"#!/bin/{shell}\n{command}\n")
        file.chmod(0o755)

    def plug(self, interface: str, device: str, slot: str, *, ofed: bool = True) -> None:
        """A NIC as it comes out of its box; `ofed` is the driver of DOCA-OFED."""
        pci = self.sys / "devices" / slot
        (pci / "infiniband" / device).mkdir(parents=True)
        driver = self.sys / "drivers" / self.driver
        driver.mkdir(parents=True, exist_ok=True)
        (pci / "driver").symlink_to(driver)
        net = self.sys / "class/net" / interface
        net.mkdir(parents=True)
        (net / "type").write_text("1\n")  # linux include/uapi/linux/if_arp.h: ARPHRD_ETHER
        (pci / "device").write_text("0x1021\n")
        (net / "device").symlink_to(pci)
        (self.sys / "class/infiniband" / device).mkdir(parents=True)
        (self.sys / "class/infiniband" / device / "device").symlink_to(pci)
        if ofed:
            files = {f"roce_{end}/enable/{n}": "0" for end in ("np", "rp") for n in range(8)}
            self.write(net / "ecn", files | {"roce_np/cnp_dscp": "0", "roce_np/cnp_802p_prio": "0"})
            self.write(self.sys / "class/infiniband" / device / "tc/1", {"traffic_class": ""})
        else:
            params = self.sys / "kernel/debug/mlx5" / slot / "cc_params"
            self.write(params, {"np_cnp_dscp": "0", "np_cnp_prio": "0"})
        one = json.loads(json.dumps(FRESH)) | {"tunables": {"pfc-prevention-tout": 8000}}
        self.state.write_text(json.dumps(self.nics() | {interface: one}))

    def write(self, folder: Path, files: dict[str, str]) -> None:
        """Files of sysfs."""
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text + "\n")

    def nics(self) -> dict[str, Any]:
        """The settings that the tools got, by interface."""
        return dict(json.loads(self.state.read_text()))

    def read(self, path: str) -> str:
        """A file below `sys`."""
        return (self.sys / path).read_text().strip()

    def everything(self) -> dict[str, str]:
        """All that a run may change."""
        files = {str(path): path.read_text() for path in self.sys.rglob("*") if path.is_file()}
        return {**files, "state": self.state.read_text()}

    def run(self, script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a rendered script."""
        paths = {"SYS": str(self.sys), "CONF": str(self.conf), "NIC_STATE": str(self.state)}
        environment = {**os.environ, **paths, "PATH": f"{self.tools}:{os.environ['PATH']}"}
        command = ["sh", "-c", f'. "{self.folder}/kernel"; file="$1"; shift; . "$file"', "sh", str(script), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.refuse_other_forms()
        return done

    def refuse_other_forms(self) -> None:
        """Fail on a file that the kernel does not print so."""
        for file in (path for path in self.sys.rglob("*") if path.is_file()):
            forms = [form for pattern, form, _ in FILES if fnmatch(str(file), pattern)]
            text = file.read_text().removesuffix("\n")
            assert forms and any(re.fullmatch(form, text) for form in forms), (
                f"the kernel does not print {file}: {text!r}"
            )
