"""The Slurm files, read by the real slurmctld."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricgen.hostlist import hostlist
from fabricgen.resources import resource
from tests.components import tool
from tests.conftest import Cli
from tests.examples import examples
from tests.handoff.slurm_daemon import Slurm, slurm
from tests.inventories import WITH_COMPUTE, WITHOUT_COMPUTE, islands, rail_optimized, write


def handed(cli: Cli, inventory: Path, folder: Path, *options: str) -> Path:
    """The files of the handoff for an inventory."""
    outcome = cli("-q", "render", inventory, "-o", folder / "bundle")
    assert outcome.code == 0, outcome.out
    outcome = cli("handoff", "slurm", folder / "bundle", "-o", folder / "slurm", *options)
    assert outcome.code == 0, outcome.err
    return folder / "slurm"


def example(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(resource("inventories", name), folder / "inventory"))


@pytest.mark.parametrize("name", WITH_COMPUTE)
def test_slurmctld_loads_every_example(name: str, tmp_path: Path, cli: Cli) -> None:
    files = handed(cli, example(name, tmp_path), tmp_path, "--slurm-release", "22.05")
    lines = (files / "topology.conf").read_text().splitlines()
    with slurm(files) as controller:
        assert controller.complaints == []
        known = controller.topology()
        hosts = controller.placed(2)
    assert sorted(line.split()[0] for line in known) == sorted(line.split()[0] for line in lines)
    assert len(hosts) == 2


@pytest.mark.parametrize("name", sorted(WITHOUT_COMPUTE))
def test_a_fabric_without_a_compute_plane_is_refused(name: str, tmp_path: Path, cli: Cli) -> None:
    assert cli("-q", "render", example(name, tmp_path), "-o", tmp_path / "bundle").code == 0
    outcome = cli("handoff", "slurm", tmp_path / "bundle", "-o", tmp_path / "slurm")
    assert outcome.code == 2 and "no hosts with GPUs on a compute plane" in outcome.err
    assert not (tmp_path / "slurm").exists()


@pytest.mark.parametrize(
    ("name", "line", "complaint"),
    [
        ("topology.conf", "SwitchName=other Nodes=other-000", "Invalid hostnames in switch configuration: other-000"),
        ("topology.conf", "SwitchName=other", "switch other has neither child switches nor nodes"),
        ("fabric.conf", "TopologyPlugin=topology/tree", "TopologyPlugin 1 specified more than once"),
        ("fabric.conf", "Topologie=tree", "Parsing error at unrecognized key: Topologie"),
        ("nodes.conf", "NodeName=gpu-000", "Duplicated NodeName gpu-000"),
        ("nodes.conf", "NodeName=other", "switches lack access to 1 nodes: other"),
        ("nodes.conf", "NodeName=other Gres=fpga:1", "Invalid GRES configured on node other"),
    ],
)
def test_slurmctld_complains_of_a_wrong_line(name: str, line: str, complaint: str, tmp_path: Path, cli: Cli) -> None:
    files = handed(cli, example("quickstart", tmp_path), tmp_path, "--slurm-release", "22.05")
    with (files / name).open("a") as file:
        file.write(f"{line}\n")
    with slurm(files) as controller:
        assert any(complaint in one for one in controller.complaints), controller.log


def test_a_complaint_of_the_machine_is_none_of_the_files() -> None:
    log = (
        "slurmctld: error: High latency for 1000 calls to gettimeofday(): 1170 microseconds\n"
        "slurmctld: Warning: Note very large processing time from slurm_topo_build_config: usec=33426 began=14:48:13\n"
    )
    assert Slurm(f"{log}slurmctld: error: Configured MailProg is invalid\n", {}).complaints == []


def test_a_job_stays_in_one_unit_while_it_fits(tmp_path: Path, cli: Cli) -> None:
    """Eight rail leaves are one switch: with eight switches no job of 17 nodes starts."""
    files = handed(cli, example("quickstart", tmp_path), tmp_path)
    with slurm(files) as controller:
        units = [set(controller.names(f"gpu-[{numbers}]")) for numbers in ("000-015", "016-031")]
        assert any(set(controller.placed(16)) <= unit for unit in units)
        assert all(set(controller.placed(17)) & unit for unit in units)
        assert len(controller.placed(17, "--switches=2")) == 17
        assert controller.placed(17, "--switches=1@99:00:00") == []


def test_a_job_of_a_tenant_stays_on_its_hosts(tmp_path: Path, cli: Cli) -> None:
    """A partition for each tenant; gpu-007 has NICs of two tenants, gpu-006 has none."""
    tree = rail_optimized(isolation="acl")
    tree["tenants"] = {
        "blue": {"hosts": ["gpu/0-3", "gpu/7/rail0"]},
        "red": {"hosts": ["gpu/4-5", "gpu/7/rail1"]},
    }
    files = handed(cli, write(tmp_path / "in", tree), tmp_path)
    assert (files / "partitions.conf").read_text().splitlines() == [
        "PartitionName=blue Nodes=gpu-[000-003] State=UP",
        "PartitionName=red Nodes=gpu-[004-005] State=UP",
        "# In no partition, because their NICs have several tenants: gpu-007",
    ]
    with slurm(files) as controller:
        assert controller.complaints == []
        assert set(controller.placed(2, "-p", "red")) == {"gpu-004", "gpu-005"}
        assert controller.placed(3, "-p", "red") == []
    outcome = cli("handoff", "slurm", tmp_path / "bundle", "-o", tmp_path / "slurm")
    assert "include partitions.conf after nodes.conf" in outcome.err
    tree["tenants"] = {"default": {"hosts": ["gpu"]}}
    assert cli("render", write(tmp_path / "in", tree), "-o", tmp_path / "other").code == 0
    outcome = cli("handoff", "slurm", tmp_path / "other", "-o", tmp_path / "slurm")
    assert (outcome.code, "tenant default: Kubernetes and Slurm need another name" in outcome.err) == (2, True)


def test_no_job_spans_islands(tmp_path: Path, cli: Cli) -> None:
    files = handed(cli, write(tmp_path / "in", islands()), tmp_path)
    assert (files / "topology.conf").read_text() == "SwitchName=leaf1 Nodes=gpu-000\nSwitchName=leaf2 Nodes=gpu-001\n"
    with slurm(files) as controller:
        assert len(controller.placed(1)) == 1
        assert controller.placed(2) == []


def test_nvlink_domains_are_blocks(tmp_path: Path, cli: Cli) -> None:
    files = handed(cli, example("nvl72", tmp_path), tmp_path)
    assert (files / "topology.conf").read_text().splitlines() == [
        "BlockName=tray-nvl0 Nodes=tray-[000-017]",
        "BlockName=tray-nvl1 Nodes=tray-[018-035]",
        "BlockName=tray-nvl2 Nodes=tray-[036-053]",
        "BlockName=tray-nvl3 Nodes=tray-[054-071]",
        "BlockSizes=18,36,72",
    ]
    assert "TopologyPlugin=topology/block\n" in (files / "fabric.conf").read_text()
    assert (files / "nodes.conf").read_text().splitlines()[3] == (
        "NodeName=tray-[054-071] Feature=su3,gb200-nvl72,tray-nvl3 Gres=gpu:4"
    )


def test_topology_yaml_has_both(tmp_path: Path, cli: Cli) -> None:
    files = handed(cli, example("nvl72", tmp_path), tmp_path, "--slurm-release", "25.05", "--plugin", "tree")
    tree, block = yaml.safe_load((files / "topology.yaml").read_text())
    assert (tree["topology"], tree["cluster_default"]) == ("tree", True)
    assert tree["tree"]["switches"][-1] == {"switch": "nvl72", "children": "su[0-3]"}
    assert (block["topology"], block["cluster_default"]) == ("block", False)
    assert block["block"]["block_sizes"] == [18, 36, 72]
    assert block["block"]["blocks"][0] == {"block": "tray-nvl0", "nodes": "tray-[000-017]"}
    assert not (files / "topology.conf").exists()
    assert "TopologyPlugin" not in (files / "fabric.conf").read_text()


def test_dragonfly_is_said(tmp_path: Path, cli: Cli) -> None:
    files = handed(cli, example("dragonfly-plus", tmp_path), tmp_path)
    assert "TopologyParam=dragonfly\n" in (files / "fabric.conf").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plugin", "block"), "--plugin block: NVLink joins no two hosts of the bundle; use --plugin tree"),
        (("--slurm-release", "23.11", "--plugin", "block"), "NVLink joins no two hosts"),
        (("--slurm-release", "19.05"), "'19.05' is not one of"),
    ],
)
def test_refusals(options: tuple[str, ...], message: str, rendered: Path, tmp_path: Path, cli: Cli) -> None:
    outcome = cli("handoff", "slurm", rendered, "-o", tmp_path / "slurm", *options)
    assert outcome.code == 2
    assert message in outcome.err
    assert not (tmp_path / "slurm").exists()


def test_blocks_need_a_release_that_reads_their_sizes(tmp_path: Path, cli: Cli) -> None:
    handed(cli, example("nvl72", tmp_path), tmp_path, "--slurm-release", "23.11")
    outcome = cli(
        "handoff", "slurm", tmp_path / "bundle", "-o", tmp_path / "o", "--slurm-release=23.11", "--plugin=block"
    )
    assert (outcome.code, "use 24.05 or later" in outcome.err) == (2, True)


def test_names_that_slurm_does_not_read_are_refused(tmp_path: Path, cli: Cli) -> None:
    inventory = example("nvl72", tmp_path) / "fabric.yaml"
    (inventory.parent / "allocations.lock.yaml").unlink()
    short = '\nnames:\n  host: "t{number}"'
    inventory.write_text(inventory.read_text().replace("tray", "t" * 61).replace("\nnames:", short))
    assert cli("-q", "render", inventory.parent, "-o", tmp_path / "bundle").code == 0
    outcome = cli("handoff", "slurm", tmp_path / "bundle", "-o", tmp_path / "slurm")
    assert (outcome.code, "tt-nvl0: Slurm reads names of at most 64 characters" in outcome.err) == (2, True)


NAMES = st.builds(
    lambda prefix, number, width: f"{prefix}{number:0{width}}",
    st.sampled_from(["gpu-", "su0-r", "a1b", "n"]),
    st.integers(0, 120),
    st.integers(0, 4),
)


def test_hostlist_forms() -> None:
    assert hostlist(["gpu-008", "gpu-009", "gpu-010", "gpu-012"]) == "gpu-[008-010,012]"
    assert hostlist(["su0", "su1", "leaf", "su10"]) == "su[0-1,10],leaf"
    assert hostlist(["su0-r0-leaf", "su0-r1-leaf"]) == "su0-r0-leaf,su0-r1-leaf"
    assert hostlist(["n7"]) == "n7"
    assert hostlist(f"n{number}" for number in range(65537)) == "n[0-65535],n65536"


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, min_size=1, max_size=30, unique=True))
def test_slurm_reads_the_same_names(tmp_path: Path, names: list[str]) -> None:
    config = tmp_path / "slurm.conf"
    config.write_text("ClusterName=test\nSlurmctldHost=localhost\n")
    scontrol = tool("scontrol", "slurm-client")
    command = [scontrol, "show", "hostnames", hostlist(names)]
    read = subprocess.run(command, env={"SLURM_CONF": str(config)}, capture_output=True, text=True, check=True)
    assert sorted(read.stdout.split()) == sorted(names)
