"""Faults and valid forms from the field, planted in rendered examples: each is found with its line, or is silent."""

import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.findings import Finding, Severity
from fabricgen.rules.run import run
from tests.render.hosts.rendered import write_bundle
from tests.rules.hosts.inventories import INFINIBAND, RACK
from tests.shared_material import shared

# case -> (codes of which one is expected, file, text of its line)
EXPECTED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "01-nccl-quoted-value": (("FG904",), "hosts/dgx/nccl.conf", 'NCCL_IB_TC="106"'),
    "03-nccl-roce-v1": (("FG910",), "hosts/dgx/nccl.conf", "NCCL_IB_ROCE_VERSION_NUM=1"),
    "10-ucx-local-subnet": (("FG916",), "hosts/dgx/ucx.conf", "UCX_IB_ROCE_REACHABILITY_MODE=local_subnet"),
    "20-roce-conf-spaces": (("FG900",), "hosts/dgx/roce/compute.conf", "TRUST = dscp"),
    "24-netplan-networkmanager": (("FG909",), "hosts/dgx/netplan/", "renderer: NetworkManager"),
    "27-nccl-crlf": (("FG901", "FG910"), "hosts/dgx/nccl.conf", "NCCL_IB_HCA="),
    "31-opensm-sm-inactive": (("FG854",), "infiniband/compute/opensm.conf", "sm_inactive TRUE"),
    "33-opensm-no-clients-rereg": (("FG835",), "infiniband/compute/opensm.conf", "no_clients_rereg TRUE"),
    "36-opensm-disable-multicast": (("FG824",), "infiniband/compute/opensm.conf", "disable_multicast TRUE"),
    "52-nccl-fifo-tc-0": (("FG904",), "hosts/dgx/nccl.conf", "NCCL_IB_FIFO_TC=0"),
    "64-valid-hex-tc": ((), "", ""),
}
_FOLDER = TemporaryDirectory(prefix="fabricgen-field-")


@cache
def _rendered(example: str) -> Path:
    from fabricgen.api import render

    folder = Path(_FOLDER.name) / example
    render(Path("inventories") / example, folder)
    return folder


def judged(folder: Path, text: str) -> list[Finding]:
    """Errors and warnings after a script has changed a bundle."""
    subprocess.run(["sh", text, str(folder)], check=True)
    found = run(open_bundle([folder]), ("FG8", "FG9"))
    return [one for one in found if one.severity != Severity.NOTE]


@pytest.mark.parametrize("case", EXPECTED)
def test_field_cases(tmp_path: Path, case: str) -> None:
    codes, file, text = EXPECTED[case]
    folder = shared("data", "field_cases", "hosts", case)
    example = Path((folder / "inventory.txt").read_text().strip()).name
    bundle = tmp_path / "b"
    shutil.copytree(_rendered(example), bundle)
    found = judged(bundle, str(folder / "make.sh"))
    if not codes:
        assert found == []
        return
    mine = [one for one in found if one.code in codes and one.location and f"/{file}" in one.location.file]
    assert mine, found
    lines = [Path(one.location.file).read_text().split("\n")[one.location.line - 1] for one in mine if one.location]
    assert any(text in line for line in lines), (mine, lines)


def added(file: str, line: str) -> Callable[[Path], None]:
    """A line more in a file."""
    return lambda folder: (folder / file).write_text((folder / file).read_text().rstrip("\n") + f"\n{line}\n") and None


def changed(file: str, old: str, new: str) -> Callable[[Path], None]:
    """Another text in a file."""

    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        assert re.search(old, text, re.MULTILINE), old
        (folder / file).write_text(re.sub(old, new, text, flags=re.MULTILINE))

    return change


NCCL, UCX, SHMEM, ROCE, SYSCTL, UNIT = (
    "nccl.conf", "ucx.conf", "nvshmem.conf", "roce/compute.conf", "sysctl.conf", "fabricgen-roce@.service",
)  # fmt: skip
HCA = r"NCCL_IB_HCA==.*"
# Faults of the kinds of the cases above, with other variables and files: the code, and text of the line.
PLANTED: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "nccl: no dma-buf": (added(NCCL, "NCCL_DMABUF_ENABLE=0"), "FG916", "NCCL_DMABUF_ENABLE=0"),
    "nccl: no shared memory": (added(NCCL, "NCCL_SHM_DISABLE=1"), "FG916", "NCCL_SHM_DISABLE=1"),
    "nccl: failures are ignored": (added(NCCL, "NCCL_IB_RETURN_ASYNC_EVENTS=0"), "FG916", "ASYNC_EVENTS=0"),
    "nccl: devices by a begin": (changed(NCCL, HCA, "NCCL_IB_HCA=mlx5"), "FG901", "NCCL_IB_HCA=mlx5"),
    "nccl: too many excluded": (changed(NCCL, HCA, "NCCL_IB_HCA=^mlx5_1,mlx5_2,mlx5_7,mlx5_8"), "FG901", "=^mlx5_1"),
    "nccl: second port": (changed(NCCL, "mlx5_3", "mlx5_3:2"), "FG901", "mlx5_3:2"),
    "nccl: sockets on a rail": (changed(NCCL, "IFNAME=.*", "IFNAME=rail3"), "FG901", "IFNAME=rail3"),
    "nccl: timeout": (added(NCCL, "NCCL_IB_TIMEOUT=0x20"), "FG916", "NCCL_IB_TIMEOUT=0x20"),
    "ucx: class of a transport": (added(UCX, "UCX_RC_MLX5_TRAFFIC_CLASS=0"), "FG928", "RC_MLX5_TRAFFIC_CLASS=0"),
    "ucx: level of a transport": (added(UCX, "UCX_DC_MLX5_SL=1"), "FG928", "UCX_DC_MLX5_SL=1"),
    "ucx: GID of a transport": (added(UCX, "UCX_UD_VERBS_GID_INDEX=1"), "FG928", "UD_VERBS_GID_INDEX=1"),
    "ucx: subnet of a transport": (added(UCX, "UCX_RC_MLX5_ROCE_LOCAL_SUBNET=y"), "FG928", "LOCAL_SUBNET=y"),
    "ucx: no RDMA by exclusion": (added(UCX, "UCX_TLS=^rc,ud,dc"), "FG916", "UCX_TLS=^rc,ud,dc"),
    "ucx: no GPUDirect": (added(UCX, "UCX_IB_GPU_DIRECT_RDMA=no"), "FG916", "GPU_DIRECT_RDMA=no"),
    "ucx: all devices": (changed(UCX, "NET_DEVICES=.*", "NET_DEVICES=all"), "FG901", "NET_DEVICES=all"),
    "nvshmem: mapping": (added(SHMEM, "NVSHMEM_HCA_PE_MAPPING=mlx5_0:1:8"), "FG916", "HCA_PE_MAPPING"),
    "nvshmem: provider": (added(SHMEM, "NVSHMEM_REMOTE_TRANSPORT=libfabric"), "FG916", "=libfabric"),
    "nvshmem: no dma-buf": (added(SHMEM, "NVSHMEM_IB_DISABLE_DMABUF=yes"), "FG916", "DISABLE_DMABUF=yes"),
    "nvshmem: sockets": (added(SHMEM, "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME=rail"), "FG901", "SOCK_IFNAME=rail"),
    "nvshmem: prefix": (added(SHMEM, "NVSHMEM_HCA_PREFIX=ibp"), "FG901", "NVSHMEM_HCA_PREFIX=ibp"),
    "roce: two priorities": (changed(ROCE, "26:3", "26:3 26:4"), "FG902", "26:3 26:4"),
    "roce: a setting that nothing reads": (added(ROCE, "DCQCN=off"), "FG900", "DCQCN=off"),
    "sysctl: strict": (added(SYSCTL, "net.ipv4.conf.rail0.rp_filter = 1"), "FG911", "rail0.rp_filter = 1"),
    "unit: not bound": (changed(UNIT, "^BindsTo=.*", ""), "FG914", ""),
    "unit: no wait": (changed(UNIT, "--wait 60 ", ""), "FG914", "ExecStart="),
    "link: small MTU": (changed("links/10-rail0.link", "MTUBytes=.*", "MTUBytes=1500"), "FG906", "MTUBytes=1500"),
    "netplan: conditional rule": (
        changed("netplan/gpu-000.yaml", "table: 100, priority", "mark: 1, table: 100, priority"),
        "FG909",
        "routing-policy:",
    ),
}
FORMS: dict[str, Callable[[Path], None]] = {
    "nccl: no equals sign": changed(NCCL, "HCA==", "HCA="),  # no device begins with the name of another
    "nccl: others excluded": changed(NCCL, HCA, "NCCL_IB_HCA=^=mlx5_1,mlx5_2,mlx5_7,mlx5_8"),
    "nccl: another order": changed(NCCL, "mlx5_0,mlx5_3", "mlx5_3,mlx5_0"),
    "nccl: with ports": changed(NCCL, "mlx5_3,", "mlx5_3:1,"),
    "nccl: octal": changed(NCCL, "TC=106", "TC=0152"),
    "nccl: a word after the number": changed(NCCL, "TC=106", "TC=106 # DSCP 26"),
    "nccl: sockets by name": changed(NCCL, "IFNAME=.*", "IFNAME==eno1,bond0"),
    "ucx: the same class of a transport": added(UCX, "UCX_RC_MLX5_TRAFFIC_CLASS=0106"),
    "ucx: transports": added(UCX, "UCX_TLS=rc,ud,sm,cuda_copy,cuda_ipc"),
    "ucx: without shared memory": added(UCX, "UCX_TLS=^sm"),
    "ucx: another order": changed(UCX, "mlx5_0:1,mlx5_3:1", "mlx5_3:1,mlx5_0:1"),
    "nvshmem: without ports": changed(SHMEM, "mlx5_0:1,mlx5_3:1", "mlx5_0,mlx5_3"),
    "nvshmem: yes": changed(SHMEM, "PE_MAPPING=1", "PE_MAPPING=yes"),
    "nvshmem: hexadecimal": changed(SHMEM, "CLASS=106", "CLASS=0x6a"),
    "nvshmem: IBGDA": added(SHMEM, "NVSHMEM_IB_ENABLE_IBGDA=1"),
    "nvshmem: its own prefix": added(SHMEM, "NVSHMEM_HCA_PREFIX=mlx5_"),
    "roce: exported, in quotes": changed(ROCE, "^TRUST=dscp", "export TRUST='dscp'"),
    "sysctl: of all interfaces": added(SYSCTL, "net.ipv4.conf.all.rp_filter = 1"),
    "networkd: off": changed("networkd.conf", "=no", "=off"),
    "link: K": changed("links/10-rail0.link", "MTUBytes=.*", "MTUBytes=8K"),
}


def findings_after(change: Callable[[Path], None], folder: Path) -> list[Finding]:
    """Errors and warnings of a small bundle after a change of its hosts."""
    bundle = write_bundle(folder / "b")
    change(bundle / "hosts/gpu")
    return [one for one in run(open_bundle([bundle]), ("FG9",)) if one.severity != Severity.NOTE]


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found_with_their_line(tmp_path: Path, name: str) -> None:
    change, code, text = PLANTED[name]
    found = [one for one in findings_after(change, tmp_path) if one.code == code and one.location]
    lines = [Path(one.location.file).read_text().split("\n")[one.location.line - 1] for one in found if one.location]
    assert any(text in line for line in lines), (found, lines)


@pytest.mark.parametrize("name", FORMS)
def test_other_forms_are_silent(tmp_path: Path, name: str) -> None:
    assert findings_after(FORMS[name], tmp_path) == []


def test_racks_use_their_nvlink(tmp_path: Path) -> None:
    for line in ("NCCL_MNNVL_ENABLE=0", "NCCL_CUMEM_ENABLE=0"):
        for text, expected in ((RACK, 1), (INFINIBAND, 0)):
            bundle = write_bundle(tmp_path / f"{line}{expected}", text)
            added(NCCL, line)(bundle / "hosts/gpu")
            found = [one for one in run(open_bundle([bundle]), ("FG916",)) if one.severity != Severity.NOTE]
            assert len(found) == expected, found
