"""The files of a subnet: goldens of one example, and laws that hold for all."""

import json
import re
from itertools import chain
from pathlib import Path

import pytest

from fabricgen.cli.main import run
from fabricgen.opensm.guids import is_placeholder
from fabricgen.opensm.options import MAX_PARTITION_LINE_BYTES, option_facts
from fabricgen.resources import resource
from tests.conftest import Cli, Golden
from tests.inventories import Tree, rail_optimized, write

GOLDEN = Path(__file__).parents[2] / "golden" / "infiniband"
EXAMPLES = ["infiniband", "torus", "dragonfly"]
QM9700 = "nvidia-qm9700"
_GUID = re.compile(r"0x[0-9a-f]{16}")
_NODE = re.compile(r'^(?:Ca|Switch)\t\d+ "([^"]+)"')
_PORT = re.compile(r'^\[(\d+)\](?:\([0-9a-f]+\))?\t"([^"]+)"\[(\d+)\]')


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A bundle of every example, rendered as it is."""
    folder = tmp_path_factory.mktemp("bundles")
    for name in EXAMPLES:
        with pytest.raises(SystemExit) as done:
            run(["-q", "render", str(resource("inventories", name)), "-o", str(folder / name), "--locked"])
        assert done.value.code == 0
    return {name: folder / name for name in EXAMPLES}


def subnets(bundles: dict[str, Path]) -> list[Path]:
    found = chain.from_iterable(bundle.glob("infiniband/*") for bundle in bundles.values())
    return sorted(found)


def options(file: Path) -> dict[str, str]:
    lines = [line.partition("#")[0].split(None, 1) for line in file.read_text().splitlines()]
    return {words[0]: words[1] for words in lines if words}


def test_small_files_are_as_they_were(bundles: dict[str, Path], golden: Golden) -> None:
    storage, torus = bundles["infiniband"] / "infiniband/storage", bundles["torus"] / "infiniband/compute"
    for name in ("opensm.conf", "standby-1/opensm.conf", "partitions.conf", "root_guids", "io_guids"):
        golden(GOLDEN / "storage" / name, (storage / name).read_bytes())
    for name in ("opensm.conf", "partitions.conf", "qos-policy.conf", "torus-2QoS.conf"):
        golden(GOLDEN / "torus" / name, (torus / name).read_bytes())


def test_every_option_is_one_of_opensm(bundles: dict[str, Path]) -> None:
    for subnet in subnets(bundles):
        for file in (file for file in subnet.rglob("opensm.conf") if file.parent.name != "mlnx-sm-5"):
            for name, text in options(file).items():
                assert option_facts()[name].type != "boolean" or text in ("TRUE", "FALSE")
                if text.startswith("/etc/opensm/"):
                    assert (subnet / Path(text).name).is_file(), f"{file}: {name}"


def test_managers_differ_in_port_and_priority_alone(bundles: dict[str, Path]) -> None:
    for subnet in subnets(bundles):
        master, standby = options(subnet / "opensm.conf"), options(subnet / "standby-1" / "opensm.conf")
        assert int(master["sm_priority"]) > int(standby["sm_priority"])
        assert {name for name in master if master[name] != standby[name]} <= {"guid", "sm_priority"}
        assert master.keys() == standby.keys()


def test_subnets_have_prefixes_of_their_own(bundles: dict[str, Path]) -> None:
    two = sorted((bundles["infiniband"] / "infiniband").iterdir())
    prefixes = {options(subnet / "opensm.conf")["subnet_prefix"] for subnet in two}
    assert len(two) == len(prefixes) == 2 and "0xfe80000000000000" not in prefixes


def test_netlists_have_both_ends_of_every_link(bundles: dict[str, Path]) -> None:
    for subnet in subnets(bundles):
        ends: dict[tuple[str, int], tuple[str, int]] = {}
        node = ""
        for line in (subnet / "topology.ibsim").read_text().splitlines():
            assert len(line) < 256
            if match := _NODE.match(line):
                node = match[1]
            elif match := _PORT.match(line):
                assert (node, int(match[1])) not in ends
                ends[node, int(match[1])] = (match[2], int(match[3]))
        assert ends and all(ends[far] == near for near, far in ends.items())


def test_guids_are_unique_and_in_fabric_json(bundles: dict[str, Path]) -> None:
    for bundle in bundles.values():
        wired = json.loads((bundle / "fabric.json").read_bytes())
        nics = [nic for host in wired["hosts"] for nic in host["nics"]]
        guids = [device["node_guid"] for device in wired["devices"]]
        guids += [nic[kind] for nic in nics for kind in ("node_guid", "port_guid")]
        assert len(set(guids)) == len(guids) and all(is_placeholder(guid) and _GUID.fullmatch(guid) for guid in guids)
        ports, nodes = {nic["port_guid"] for nic in nics}, {device["node_guid"] for device in wired["devices"]}
        for subnet in (bundle / "infiniband").iterdir():
            for name in ("partitions.conf", "cn_guids", "io_guids", "guid_routing_order"):
                file = subnet / name
                assert not file.is_file() or set(_GUID.findall(file.read_text())) <= ports
            roots = subnet / "root_guids"
            assert not roots.is_file() or set(_GUID.findall(roots.read_text())) <= nodes


def test_roots_are_all_spines(bundles: dict[str, Path]) -> None:
    wired = json.loads((bundles["infiniband"] / "fabric.json").read_bytes())
    for plane in ("compute", "storage"):
        spines = {one["node_guid"] for one in wired["devices"] if one["plane"] == plane and one["role"] == "spine"}
        assert set(_GUID.findall((bundles["infiniband"] / "infiniband" / plane / "root_guids").read_text())) == spines


def subnet_tree(hosts: int = 4, **plane: object) -> Tree:
    """A rail-optimized InfiniBand plane of DGX H100."""
    tree = rail_optimized(hosts, hosts, 1, QM9700, technology="infiniband", **plane)
    tree["planes"]["compute"].pop("addressing", None)
    tree.pop("management", None)
    return tree


def test_a_large_tenant_is_wrapped(cli: Cli, tmp_path: Path) -> None:
    tree = subnet_tree(32, partitions=[{"name": "big", "pkey": 0x8001, "members": ["ALL"]}])
    assert cli("render", write(tmp_path / "i", tree), "-o", tmp_path / "b").code == 0
    text = (tmp_path / "b/infiniband/compute/partitions.conf").read_text()
    assert len(_GUID.findall(text)) == 32 * 8
    assert all(len(line.encode()) <= MAX_PARTITION_LINE_BYTES for line in text.splitlines())


def test_an_overlay_with_an_unknown_option_is_refused(cli: Cli, tmp_path: Path) -> None:
    overlay = tmp_path / "t" / "infiniband"
    overlay.mkdir(parents=True)
    shipped = resource("templates", "infiniband", "opensm.conf.j2").read_text()
    inventory = write(tmp_path / "i", subnet_tree())
    for line, message in (("ar_mode 1", "no option 'ar_mode'"), ("sweep_on_trap true", "true as FALSE")):
        (overlay / "opensm.conf.j2").write_text(f"{shipped}{line}\n")
        outcome = cli("render", inventory, "-o", tmp_path / "b", "--templates", tmp_path / "t")
        assert outcome.code == 1 and message in outcome.out


def test_explain_shows_the_reason(cli: Cli, bundles: dict[str, Path]) -> None:
    output = cli("explain", bundles["infiniband"], "compute:routing_engine").out
    assert output.startswith("compute  routing_engine = ftree,updn,no_fallback")
    assert "no credit loop" in output and "opensm.conf.j2" in output
    assert "14 for the master" in cli("explain", bundles["infiniband"], "compute/standby-1:sm_priority").out
    assert cli("explain", bundles["infiniband"], "compute:ar_mode").code == 2
