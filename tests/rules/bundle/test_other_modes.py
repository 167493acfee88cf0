"""What holds only where bgpcfgd runs, and names and VRFs of files that fabricgen did not render."""

import json
import shutil
from pathlib import Path

import pytest

from fabricgen.rules.run import run
from tests.conftest import Cli
from tests.rules.case import Switches
from tests.rules.changes import ConfigChange, both, drop, put
from tests.rules.fabrics import LEAVES, META

SPLIT = put("split", "leaf1", *META, "docker_routing_config_mode")


def without_loopback(configs: dict[str, dict[str, dict[str, object]]]) -> None:
    """leaf1 has no Loopback0."""
    configs["leaf1"]["LOOPBACK_INTERFACE"] = {}


@pytest.mark.parametrize("code", ["FG227", "FG314"])
def test_bgp_of_another_daemon_needs_neither_a_type_nor_a_loopback(code: str, tmp_path: Path) -> None:
    """docker_init.sh renders nothing in split mode: FRR reads its own files."""
    change = both(drop("leaf1", *META, "type"), without_loopback)
    assert [one.severity for one in run(Switches().broken(change, tmp_path / "a"), [code])] == ["error"]
    found = run(Switches().broken(both(SPLIT, change), tmp_path / "b"), [code])
    assert [one.severity for one in found] == (["warning"] if code == "FG227" else [])


def tenant(device: str, *ports: str) -> ConfigChange:
    """Ports of hosts in the VRF of a tenant."""
    return both(
        put({}, device, "VRF", "Vrf_a"), *(put({"vrf_name": "Vrf_a"}, device, "INTERFACE", port) for port in ports)
    )


@pytest.mark.parametrize("code", ["FG592", "FG594"])
def test_ports_of_a_tenant_are_no_deviation(code: str, tmp_path: Path) -> None:
    """No help says to remove the VRF of a tenant."""
    change = both(tenant("leaf1", "Ethernet0", "Ethernet4"))
    assert run(Switches().broken(change, tmp_path), [code]) == []


def test_a_vrf_without_ports_is_a_remainder(tmp_path: Path) -> None:
    """Only leaf1 has it, and nothing uses it."""
    assert len(LEAVES) >= 3
    [found] = run(Switches().broken(put({}, "leaf1", "VRF", "Vrf_old"), tmp_path), ["FG592"])
    assert found.device == "leaf1" and found.path.startswith("VRF")


def test_a_folder_may_have_any_name(cli: Cli, rendered: Path, tmp_path: Path) -> None:
    """Without fabric.json the hostname is the name; two files of one hostname are copies."""
    for number, file in enumerate(sorted(rendered.glob("sonic/*/config_db.json"))[:4]):
        shutil.copytree(file.parent, tmp_path / "files" / f"case{number}")
    found = json.loads(cli("-q", "validate", tmp_path / "files", "--select", "FG221", "--format", "json").out)
    assert found["findings"] == []
    shutil.copytree(tmp_path / "files" / "case0", tmp_path / "files" / "copy")
    found = json.loads(cli("-q", "validate", tmp_path / "files", "--select", "FG221", "--format", "json").out)
    assert {one["device"] for one in found["findings"]} == {"case0", "copy"}
