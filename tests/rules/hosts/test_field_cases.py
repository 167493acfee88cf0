"""Faults and valid forms from the field, planted in rendered examples: each is found with its line, or is silent."""

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.findings import Finding, Severity
from fabricgen.rules.run import run
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
