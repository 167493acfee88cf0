"""Mistakes that OpenSM accepts silently: fabricgen refuses or handles them first; compared with the real OpenSM.

Each is shown three times: the finding for the inventory, the finding for the file, and the result of OpenSM.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.observed.opensm_dumps import NO_PORT, Dumps, read_dumps
from fabricgen.render.plans import make_plans
from fabricgen.rules.run import run
from fabricgen.simulate.opensm import Tools
from fabricgen.simulate.opensm.answers import port_keys
from fabricgen.simulate.opensm.bench import swept
from tests.conftest import Cli
from tests.inventories import Tree, write
from tests.opensm.small import TREE, rendered
from tests.render.infiniband.test_files import subnet_tree
from tests.rules.opensm.changes import CONF, MANAGERS, NET, PARTS, PORT, ROOTS, SPINE

NODE, BLUE, GREEN = PORT[:-1] + "0", 0x8001, 0x8002
LARGE_HOSTS = 38  # of eight ports: 304


@dataclass(frozen=True)
class Swept:
    """What OpenSM made of the files: P_Keys by port GUID, tables, and its complaints."""

    keys: dict[int, set[int]]
    dumps: Dumps
    complaints: list[str]


def swept_once(opensm: Tools, folder: Path) -> Swept:
    with swept(opensm, folder / NET, folder) as bench:
        assert bench.is_up, bench.log[-2000:]
        dumps = read_dumps(bench.scratch)
        keys = {port: found or set() for port, found in port_keys(bench, dumps).items()}
        errors = [one for one in bench.log.splitlines() if ("ERR" in one and "AC01" not in one) or "PARSE" in one]
        return Swept(keys, dumps, errors)


def codes(root: Path) -> set[str]:
    return {finding.code for finding in run(open_bundle([root])) if finding.severity != "note"}


def changed(root: Path, file: str, old: str, new: str) -> Path:
    path = root / "infiniband" / "compute" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    return path.parent


def refused(folder: Path, *partitions: Tree) -> set[str]:
    plans = make_plans(write(folder, subnet_tree(partitions=list(partitions))))
    return {finding.code for finding in plans.findings if finding.severity == "error"}


def tenant(**parts: object) -> Tree:
    return {"name": "blue", "pkey": BLUE, "members": ["gpu"], **parts}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return rendered(tmp_path, TREE)


@pytest.mark.parametrize(
    ("member", "written"), [("gpi/0", "0x02fab002000000a1"), (NODE, NODE)], ids=["misspelt", "node GUID"]
)
def test_a_member_that_is_no_port(opensm: Tools, tmp_path: Path, tree: Path, member: str, written: str) -> None:
    assert refused(tmp_path / "i", tenant(members=[member])) == {"FG881"}
    folder = changed(tree, PARTS, f"{PORT}=full", f"{written}=full")
    assert codes(tree) == {"FG820", "FG845"}  # the port is in no tenant
    seen = swept_once(opensm, folder)
    assert seen.complaints == []
    assert BLUE not in seen.keys[int(PORT, 16)], "the port has not its tenant's key"
    assert sum(BLUE in keys for keys in seen.keys.values()) == 15, "all others have"


def test_a_key_that_opensm_makes_up(opensm: Tools, tmp_path: Path, tree: Path) -> None:
    assert refused(tmp_path / "i", tenant(pkey=0x8000)) == {"FG882"}
    text = (tree / "infiniband/compute" / PARTS).read_text()
    default, blue, green = text.split("\n\n")[1:]
    folder = changed(tree, PARTS, f"{blue}\n\n{green}", f"{green.replace('0x8002', '0x8000')}\n{blue}\n")
    assert default in (folder / PARTS).read_text()
    assert codes(tree) == {"FG821"}
    seen = swept_once(opensm, folder)
    assert not [line for line in seen.complaints if "PARSE" in line]
    holders = {port for port, keys in seen.keys.items() if BLUE in keys}
    assert len(holders) == 32, "ports of green have the key of blue"


def test_a_host_that_the_other_tenant_reaches_over_default(opensm: Tools, tree: Path) -> None:
    folder = changed(tree, PARTS, "SELF=full,", f"SELF=full, {PORT}=full,")
    assert codes(tree) == {"FG823"}
    seen = swept_once(opensm, folder)
    assert seen.complaints == []
    assert {0xFFFF, BLUE} <= seen.keys[int(PORT, 16)]
    assert sum(keys >= {0x7FFF, GREEN} for keys in seen.keys.values()) == 16, "limited members of Default"


def test_a_timeout_with_which_opensm_does_not_start(opensm: Tools, tree: Path) -> None:
    for file in MANAGERS:
        changed(tree, file, "\nlmc 0\n", "\nlmc 0\ntransaction_timeout 1\n")
    folder = tree / "infiniband" / "compute"
    assert codes(tree) == set()
    assert swept_once(opensm, folder).complaints == []
    for file in MANAGERS:
        changed(tree, file, "transaction_timeout 1", "transaction_timeout 0")
    assert codes(tree) == {"FG854"}
    with pytest.raises(UsageError, match="ended with code 1 before it was ready"):
        swept_once(opensm, folder)


def test_a_tenant_of_three_hundred_members(opensm: Tools, tmp_path: Path, cli: Cli) -> None:
    inventory = subnet_tree(LARGE_HOSTS, partitions=[tenant()])
    inventory["planes"]["compute"]["scalable_unit"] = {"hosts": LARGE_HOSTS // 2}
    root = tmp_path / "b"
    assert cli("render", write(tmp_path / "i", inventory), "-o", root).code == 0
    assert codes(root) == set()
    folder = root / "infiniband" / "compute"
    good = swept_once(opensm, folder)
    assert sum(BLUE in keys for keys in good.keys.values()) == LARGE_HOSTS * 8 == 304

    head, _, members = (folder / PARTS).read_text().partition("blue=")
    title, _, listed = members.partition(":")
    (folder / PARTS).write_text(f"{head}blue={title}: {' '.join(listed.split())}\n")
    assert codes(root) == {"FG819"}
    bad = swept_once(opensm, folder)
    assert not any(BLUE in keys for keys in bad.keys.values())
    assert {frozenset(keys) for keys in bad.keys.values()} == {frozenset({0xFFFF})}, (
        "every port is a full member of Default"
    )


def test_a_spine_that_is_missing_among_the_roots(opensm: Tools, tree: Path) -> None:
    folder = tree / "infiniband" / "compute"
    assert SPINE in (folder / ROOTS).read_text(), "render lists every spine"
    assert 0 not in carried(swept_once(opensm, folder).dumps).values()
    changed(tree, ROOTS, f"{SPINE} # compute-spine-00\n", "")
    assert codes(tree) == {"FG828"}
    for engine in ("ftree", "updn"):
        conf = (folder / CONF).read_text()
        (folder / CONF).write_text(conf.replace("routing_engine ftree", f"routing_engine {engine}"))
        seen = swept_once(opensm, folder)
        assert seen.complaints == []
        assert carried(seen.dumps)[int(SPINE, 16)] == 0, f"{engine} leaves it idle, and says nothing"


def carried(dumps: Dumps) -> dict[int, int]:
    """Spine -> how many LIDs of adapters the leaves send over it."""
    subnet = dumps.subnet
    found = {switch.node_guid: 0 for switch in subnet.switches if "spine" in switch.name}
    for row, switch in enumerate(subnet.switches):
        if switch.node_guid not in found:
            ports = dumps.forwarding[row, dumps.destinations]
            peers = subnet.peer_switch[row, ports[ports != NO_PORT]]
            for peer, count in zip(*np.unique(peers[peers >= 0], return_counts=True), strict=True):
                found[subnet.switches[int(peer)].node_guid] += int(count)
    return found
