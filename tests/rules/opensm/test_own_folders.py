"""Folders of OpenSM that fabricgen did not render: rules and proof agree."""

import json
import subprocess
from pathlib import Path

import pytest

from fabricgen.simulate.opensm import Tools
from tests.conftest import Cli

SWITCH = """
switchguid=0xa00000000000000{own}(a00000000000000{own})
Switch\t36 "S-a00000000000000{own}"\t\t# "sw{own}"
{ports}
"""
HOST = """
caguid=0xb00000000000000{own}
Ca\t1 "H-b00000000000000{own}"\t\t# "host{own}"
[1](b0000000000001{own}) \t"S-a00000000000000{own}"[9]\t\t# lid 3 lmc 0 4xEDR
"""


def netlist(cables: list[tuple[int, int]], switches: int) -> str:
    """A subnet with one host on each switch; each cable joins two switches."""
    ports: dict[int, list[str]] = {number: [] for number in range(1, switches + 1)}
    for a, b in cables:
        near, far = len(ports[a]) + 1, len(ports[b]) + 1 + (a == b)
        ports[a].append(f'[{near}]\t"S-a00000000000000{b}"[{far}]\t\t# "sw{b}" lid {b} 4xEDR')
        ports[b].append(f'[{far}]\t"S-a00000000000000{a}"[{near}]\t\t# "sw{a}" lid {a} 4xEDR')
    text = ""
    for own, lines in ports.items():
        host = f'[9]\t"H-b00000000000000{own}"[1](b0000000000001{own})\t\t# "host{own}" lid 3 4xEDR'
        text += SWITCH.format(own=own, ports="\n".join([*lines, host])) + HOST.format(own=own)
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two switches with two cables, and the engine without which OpenSM starts."""
    (tmp_path / "topology.ibsim").write_text(netlist([(1, 2), (1, 2)], 2))
    (tmp_path / "opensm.conf").write_text("routing_engine minhop\n")
    return tmp_path


def test_parallel_cables_are_no_ring(cli: Cli, folder: Path) -> None:
    """No shortest path turns back, so minhop closes no credit loop."""
    assert cli("-q", "validate", folder, "--select", "FG814").code == 0


def test_a_ring_needs_an_engine_with_lanes(cli: Cli, folder: Path) -> None:
    (folder / "topology.ibsim").write_text(netlist([(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)], 5))
    outcome = cli("-q", "validate", folder, "--select", "FG814")
    assert outcome.code == 1 and "form credit loops" in outcome.out


def test_the_proof_agrees(cli: Cli, folder: Path, opensm: Tools) -> None:
    found = json.loads(cli("-q", "simulate", "deadlock", folder, "--format", "json").out)
    assert (found["deadlock"]["verdict"], found["deadlock"]["claim"], found["findings"]) == ("free", "proved", [])


def test_the_file_that_opensm_writes_has_no_finding(cli: Cli, folder: Path, opensm: Tools) -> None:
    """`opensm -c` names files of /etc/opensm that need not exist, and with qos FALSE some that it never reads."""
    subprocess.run([opensm.opensm, "-c", str(folder / "opensm.conf")], check=True, capture_output=True)
    assert "qos_policy_file /etc" in (folder / "opensm.conf").read_text()
    assert cli("-q", "validate", folder).code == 0
    assert cli("-q", "simulate", "deadlock", folder).code == 0


def test_a_file_of_the_folder_that_is_missing_is_an_error(cli: Cli, folder: Path) -> None:
    (folder / "opensm.conf").write_text("routing_engine minhop\npartition_config_file /etc/opensm/own.conf\n")
    outcome = cli("-q", "validate", folder, "--select", "FG818")
    assert outcome.code == 1 and "there is no own.conf beside opensm.conf" in outcome.out


def test_lanes_that_paths_use_are_counted_as_the_table_has_them(cli: Cli, folder: Path) -> None:
    """Lanes 0 and 2 are two lanes."""
    lines = ["routing_engine dfsssp", "qos TRUE", "max_op_vls 4", f"qos_sl2vl {','.join(['0,2'] * 8)}"]
    (folder / "opensm.conf").write_text("\n".join([*lines, "qos_vlarb_high 0:64,1:64", ""]))
    outcome = cli("-q", "validate", folder, "--select", "FG816")
    assert "has different weights, but paths use 2 lanes" in outcome.out
    assert "set qos_vlarb_high to 0:64,2:64" in outcome.out
