"""`import avd` of what the real pyavd 5 and 6 write: the links, numbers and addresses are those of the fabric."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from fabricgen.bundle.read import open_bundle
from tests.components import missing
from tests.conftest import Cli

OF_HOSTS = {"FG295", "FG296", "FG311", "FG316", "FG908", "FG909"}
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("release", ["5", "6"])
def test_what_pyavd_writes_comes_in_whole(release: str, cli: Cli, tmp_path: Path) -> None:
    python = ROOT / f".venv-avd-{release}" / "bin" / "python"
    if not python.exists():
        missing(f"pyavd {release}", "CI=true scripts/setup '[dev]'")
    command = [python, ROOT / "tests" / "adopt" / "avd_fabric.py"]
    made = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    (tmp_path / "files").mkdir()
    for name, structured in made.items():
        (tmp_path / "files" / f"{name}.yml").write_text(yaml.safe_dump(structured))
    outcome = cli("import", "avd", tmp_path / "files", "-o", tmp_path / "inventory")
    assert outcome.code == 0 and "FG868" not in outcome.err, outcome.err
    report = json.loads(cli("check", tmp_path / "inventory", "--format", "json").out)
    wrong = {one["code"] for one in report["findings"] if one["severity"] == "error"}
    assert wrong <= OF_HOSTS, "the files have the VLAN of hosts, and not their addresses"
    assert cli("render", tmp_path / "inventory", "-o", tmp_path / "bundle", "-q", "--locked").code == 0
    bundle = open_bundle([tmp_path / "bundle"])
    ends = {frozenset((link.a[0], link.b[0])) for link in bundle.links}
    assert ends == {frozenset((leaf, spine)) for leaf in ("leaf1", "leaf2") for spine in ("spine1", "spine2")} | {
        frozenset((f"gpu{number}", f"leaf{number}")) for number in (1, 2)
    }
    for leaf in ("leaf1", "leaf2"):
        members = bundle.devices[leaf].table("VLAN_MEMBER")
        assert {key.partition("|")[0]: row for key, row in members.items()} == {"Vlan10": {"tagging_mode": "untagged"}}
    asns = {name: device.metadata["bgp_asn"] for name, device in bundle.devices.items()}
    assert asns == {"leaf1": "65101", "leaf2": "65102", "spine1": "65000", "spine2": "65000"}
    rendered = {
        (name, key.partition("|")[2])
        for name, device in bundle.devices.items()
        for key in (*device.table("INTERFACE"), *device.table("LOOPBACK_INTERFACE"))
        if "/" in key
    }
    written = {
        (name, port["ip_address"])
        for name, structured in made.items()
        for port in (*structured["ethernet_interfaces"], *structured["loopback_interfaces"])
        if "ip_address" in port
    }
    assert written <= rendered and len(written) == 12
