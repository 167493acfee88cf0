"""From an inventory with tenants to the real OpenSM and back: the subnet works as rendered.

The requested engine runs, OpenSM refuses no option and warns about no line, every adapter port has the P_Keys
of the inventory, and there is no credit loop. Each subnet is rendered and run once, by the command line.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fabricgen.observed.opensm_dumps import Dumps, read_subnet
from fabricgen.simulate.opensm import Tools, proof
from fabricgen.simulate.opensm.answers import Keys
from fabricgen.simulate.opensm.bench import Bench
from tests.conftest import Cli
from tests.inventories import Tree, grid, grouped, rail_optimized, write
from tests.simulate.deadlock.test_certificate import checked

QM9700 = "nvidia-qm9700"
GROUPS_OF_FOUR = {"switches": 4, "global_links": 2, "arrangement": "absolute"}
FULL, DEFAULT = 0x8000, 0x7FFF

# name -> inventory, hosts, engine; the endpoints are eight a host
SUBNETS: dict[str, tuple[Callable[[], Tree], int, str]] = {
    "two tiers, 256": (lambda: rail_optimized(32, 32, 1, QM9700), 32, "ftree"),
    "two tiers, 1024": (lambda: rail_optimized(128, 32, 4, QM9700), 128, "ftree"),
    "three tiers, 2048": (
        lambda: rail_optimized(256, 32, 8, QM9700, tiers=3, core={"platform": QM9700}), 256, "ftree",
    ),
    "torus 4x4x4": (lambda: grid("torus", [4, 4, 4], 64, 1), 64, "torus-2QoS"),
    "dragonfly of 9 groups": (lambda: grouped("dragonfly", GROUPS_OF_FOUR, 9, 1), 9, "nue"),
}  # fmt: skip


def with_tenants(tree: Tree, hosts: int) -> Tree:
    """Blue and green have half of the hosts each; all share a third, as limited members except the first host."""
    del tree["management"], tree["planes"]["compute"]["addressing"]
    tree["planes"]["compute"] |= {
        "technology": "infiniband",
        "partitions": [
            {"name": "blue", "pkey": 0x8001, "members": [f"gpu/0-{hosts // 2 - 1}"], "ipoib": True},
            {"name": "green", "pkey": 0x8002, "members": [f"gpu/{hosts // 2}-{hosts - 1}"]},
            {
                "name": "shared",
                "pkey": 0x8003,
                "membership": "limited",
                "members": ["gpu", {"member": "gpu/0", "membership": "full"}],
            },
        ],
    }
    return tree


def expected_keys(bundle: Path, hosts: int) -> dict[int, set[int]]:
    """Port GUID -> P_Keys, by the number of the host."""
    keys = {}
    for host in json.loads((bundle / "fabric.json").read_bytes())["hosts"]:
        number = int(re.findall(r"\d+", host["name"])[-1])
        tenant = 0x8001 if number < hosts // 2 else 0x8002
        for nic in host["nics"]:
            keys[int(nic["port_guid"], 16)] = {0x7FFF, tenant, 0x0003 | (0 if number else FULL)}
    return keys


@dataclass
class Witness:
    """What went on behind the command: OpenSM's words, and the P_Keys that the ports answered with."""

    log: str = ""
    output: str = ""
    keys: Keys | None = None
    switch_keys: dict[tuple[str, int], set[int] | None] | None = None  # by name and port; port 0 is the switch itself


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Witness:
    """Listens to a run without changing it."""
    heard, read, read_switches = Witness(), proof.port_keys, proof.switch_keys

    def port_keys(bench: Bench, *arguments: object) -> Keys:
        heard.log, heard.output = bench.log, bench.output
        heard.keys = read(bench, *arguments)
        return heard.keys

    def switch_keys(bench: Bench, dumps: Dumps) -> Mapping[tuple[int, int], set[int] | None]:
        found = read_switches(bench, dumps)
        names = [switch.name for switch in dumps.subnet.switches]
        heard.switch_keys = {(names[row], port): keys for (row, port), keys in found.items()}
        return found

    monkeypatch.setattr(proof, "port_keys", port_keys)
    monkeypatch.setattr(proof, "switch_keys", switch_keys)
    return heard


@pytest.mark.parametrize("name", SUBNETS)
def test_the_real_opensm_obeys(opensm: Tools, cli: Cli, tmp_path: Path, witness: Witness, name: str) -> None:
    tree, hosts, engine = SUBNETS[name]
    bundle = tmp_path / "bundle"
    assert cli("render", write(tmp_path / "inventory", with_tenants(tree(), hosts)), "-o", bundle).code == 0
    certificate = tmp_path / "certificate.json"
    outcome = cli("simulate", "deadlock", bundle, "--certificate", certificate, "--format", "json")
    report = json.loads(outcome.out)
    assert (outcome.code, report["findings"]) == (0, [])
    verdict = report["deadlock"]
    assert (verdict["verdict"], verdict["claim"], verdict["model"]) == ("free", "proved", "opensm")
    output = checked(json.loads(certificate.read_text()), bundle)
    if engine != "dfsssp":  # its verdict counts ports, because the lanes of the certificate differ from run to run
        assert f"{verdict['channels']} channels are in order, {verdict['dependencies']} dependencies checked" in output

    assert re.findall(r"osm_ucast_mgr_process: (\S+) tables configured", witness.log) == [engine]
    assert not re.search(r"Unrecognized|[Ii]nvalid|-E-|rror", witness.output)
    assert "osm_prtn_make_partitions: Partition configuration" not in witness.log
    complaints = [line for line in witness.log.splitlines() if re.search(r"PARSE (WARN|ERROR)|: ERR ", line)]
    assert [line for line in complaints if "no_fallback" not in line] == []
    assert "] 0x04 -> " in witness.log  # level VERBOSE, that of PARSE WARN, is on

    expected = expected_keys(bundle, hosts)
    assert witness.keys is not None and len(expected) == 8 * hosts
    manager = [guid for guid, keys in witness.keys.items() if keys and 0xFFFF in keys]
    assert len(manager) <= 1  # the port that OpenSM speaks through is a full member of Default
    for guid in manager:
        expected[guid] = expected[guid] - {0x7FFF} | {0xFFFF}
    assert witness.keys == expected
    assert witness.switch_keys == of_switches(bundle, expected)


def of_switches(bundle: Path, keys: dict[int, set[int]]) -> dict[tuple[str, int], set[int]]:
    """The keys of switches: full membership of Default, and at a port to an adapter the keys of the adapter."""
    subnet = read_subnet(bundle / "infiniband" / "compute" / "topology.ibsim")
    found = {(switch.name, 0): {FULL | DEFAULT} for switch in subnet.switches}
    for adapter, row, port in zip(subnet.adapters, subnet.attached_switch, subnet.attached_port, strict=True):
        found[subnet.switches[row].name, int(port)] = keys[adapter.port_guid]
    return found
