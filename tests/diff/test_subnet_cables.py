"""The cables that the real ibnetdiscover sees on a simulated subnet beside those that were meant."""

import json
import subprocess
from pathlib import Path

import pytest

from fabricgen.simulate.opensm import Tools
from fabricgen.simulate.opensm.bench import swept
from tests.conftest import Cli
from tests.opensm.small import MESH, TORUS, TREE, rendered
from tests.rules.opensm.changes import LEAF, MANAGER_ON_SPINE, MISSING_UPLINK, NET, SPINE, SWAPPED_RAILS, rewired

STRANGE = rewired(
    ("caguid=0x02fab00200000004", "caguid=0xe8ebd30300000004"),
    ("[1](02fab00200000005)", "[1](e8ebd30300000005)"),
)


def head(guid: str, name: str) -> str:
    """The first line of a switch in the netlist."""
    return f'Switch\t64 "S-{guid[2:]}"\t# "{name}" enhanced port 0 lid 0 lmc 0\n'


SECOND = "0x02fab00100000001"
SPINE_HEAD, LEAF_HEAD = head(SPINE, "compute-spine-00"), head(LEAF, "compute-su00-r0-leaf")
SECOND_HEAD = head(SECOND, "compute-su00-r1-leaf")
MOVED = rewired(  # the last uplink of the first leaf is elsewhere on the spine
    (f'[61]\t"S-{SPINE[2:]}"[3]\t', f'[61]\t"S-{SPINE[2:]}"[64]\t'),
    (f'[3]\t"S-{LEAF[2:]}"[61]\t# "compute-su00-r0-leaf" lid 0 4xHDR\n', ""),
    (SPINE_HEAD, f'{SPINE_HEAD}[64]\t"S-{LEAF[2:]}"[61]\n'),
)
EXTRA = rewired(  # a cable between the first two leaves
    (LEAF_HEAD, f'{LEAF_HEAD}[40]\t"S-{SECOND[2:]}"[41]\n'),
    (SECOND_HEAD, f'{SECOND_HEAD}[41]\t"S-{LEAF[2:]}"[40]\n'),
)


def discovered(opensm: Tools, ibnetdiscover: str, folder: Path, file: Path) -> Path:
    """What ibnetdiscover says of the subnet in the folder's netlist."""
    with swept(opensm, folder / NET, folder) as bench:
        command = [ibnetdiscover]
        run = subprocess.run(command, env=bench.environment, capture_output=True, text=True, timeout=60, check=True)
    file.write_text(run.stdout)
    return file


@pytest.mark.parametrize("name", [TREE, TORUS, MESH])
def test_correct_cabling(opensm: Tools, ibnetdiscover: str, cli: Cli, tmp_path: Path, name: str) -> None:
    root = rendered(tmp_path, name)
    seen = discovered(opensm, ibnetdiscover, root / "infiniband/compute", tmp_path / "seen.txt")
    outcome = cli("diff", root, seen, "--exit-code")
    assert outcome.code == 0, outcome.out
    assert outcome.out.startswith("No miscabling.")


def test_seeded_faults(opensm: Tools, ibnetdiscover: str, cli: Cli, tmp_path: Path) -> None:
    root, wrong = rendered(tmp_path, TREE), rendered(tmp_path / "wrong", TREE) / "infiniband/compute"
    for change in (SWAPPED_RAILS, MISSING_UPLINK, STRANGE, MOVED, EXTRA):
        change(wrong)
    conf = wrong / "opensm.conf"  # ftree would give up, and nothing depends on the engine here
    conf.write_text(conf.read_text().replace("routing_engine ftree,no_fallback", "routing_engine minhop"))
    seen = discovered(opensm, ibnetdiscover, wrong, tmp_path / "seen.txt")
    outcome = cli("diff", root, seen, "--exit-code", "--as", "ibnetdiscover")
    assert outcome.code == 4
    assert "~ swapped (two ports of gpu-000): " in outcome.out
    found = json.loads(cli("diff", root, seen, "--format", "json").out)
    found_kinds = {(one["kind"], one["detail"]): (one["seen"] or one["meant"]) for one in found["cables"]}
    leaf, spine = "compute-su00-r0-leaf", "compute-spine-00"
    assert found_kinds == {
        ("swapped", "one-device"): [
            [[leaf, "1"], ["gpu-000", "rail1"]],
            [["compute-su00-r1-leaf", "1"], ["gpu-000", "rail0"]],
        ],
        ("missing", ""): [[[spine, "1"], [leaf, "59"]]],
        ("misplaced", "other-port"): [[[spine, "64"], [leaf, "61"]]],
        ("misplaced", "other-device"): [[["compute-su00-r2-leaf", "1"], ["gpu-000 rail2 (0xe8ebd30300000005)", "1"]]],
        ("extra", ""): [[[leaf, "40"], ["compute-su00-r1-leaf", "41"]]],
    }
    assert [one["guid"] for one in found["strangers"]] == ["0xe8ebd30300000005"]


def test_a_host_on_the_wrong_switch(cli: Cli, tmp_path: Path) -> None:
    root, wrong = rendered(tmp_path, TREE), rendered(tmp_path / "wrong", TREE) / "infiniband/compute"
    MANAGER_ON_SPINE(wrong)
    (one,) = json.loads(cli("diff", root, wrong / NET, "--format", "json").out)["cables"]
    assert (one["kind"], one["detail"]) == ("misplaced", "other-device")
    assert one["meant"] == [[["compute-su00-r0-leaf", "6"], ["sm-000", "rail0"]]]


def test_a_missing_switch_is_reported_once(cli: Cli, tmp_path: Path) -> None:
    root = rendered(tmp_path, TREE)
    text = (root / "infiniband/compute" / NET).read_text()
    nodes = [node for node in text.split("\n\n") if f'"S-{SPINE[2:]}"\t#' not in node.partition("[")[0]]
    kept = [line for line in "\n\n".join(nodes).splitlines() if not line.partition("#")[0].count(f"S-{SPINE[2:]}")]
    (tmp_path / "seen.txt").write_text("\n".join(kept))
    outcome = cli("diff", root, tmp_path / "seen.txt", "--exit-code")
    assert outcome.code == 4
    assert "0 missing" in outcome.out and "1 switch not in the output: compute-spine-00" in outcome.out


def test_a_replaced_switch_is_known_by_its_name(cli: Cli, tmp_path: Path) -> None:
    root = rendered(tmp_path, TREE)
    text = (root / "infiniband/compute" / NET).read_text().replace(SPINE[2:], "e8ebd30300000099")
    (tmp_path / "seen.txt").write_text(text)
    outcome = cli("diff", root, tmp_path / "seen.txt", "--exit-code")
    assert outcome.code == 4
    assert "unknown GUID: 0xe8ebd30300000099 of compute-spine-00, expected " + SPINE in outcome.out
    assert "96 cables as planned, 0 missing, 0 extra, 0 misplaced, 0 swapped." in outcome.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('switchguid=0x1\nSwitch 4 "S-1" # "tor"\n[1] "S-2"[1]\nswitchguid=0x2\nSwitch 4 "S-2" # "b"\n[1] "S-1"[1]\n',
         "no switch of the output is in the bundle"),
        ('switchguid=0x1\nSwitch 4 "S-1" # "tor"\n', "does not contain a cable in the format of ibnetdiscover"),
    ],
)  # fmt: skip
def test_output_of_another_fabric(cli: Cli, tmp_path: Path, text: str, message: str) -> None:
    root = rendered(tmp_path, TREE)
    (tmp_path / "seen.txt").write_text(text)
    outcome = cli("diff", root, tmp_path / "seen.txt")
    assert outcome.code == 2 and message in outcome.err
