"""Tenants and GUIDs that OpenSM would accept silently are refused."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.findings import Finding
from fabricgen.render.plans import make_plans
from tests.conftest import Cli
from tests.inventories import write
from tests.render.infiniband.test_files import subnet_tree

NODE, PORT = "0x02fab00200000000", "0x02fab00200000001"


def refused(tmp_path: Path, tree: Any) -> list[Finding]:
    return [finding for finding in make_plans(write(tmp_path, tree)).findings if finding.severity == "error"]


def tenant(pkey: object = 0x8001, name: str = "blue", members: Any = ("gpu",), **more: Any) -> dict[str, Any]:
    return {"name": name, "pkey": pkey, "members": list(members), **more}


@pytest.mark.parametrize(
    ("partitions", "code", "hint"),
    [
        ([tenant(members=["gpi/0"])], "FG881", "did you mean 'gpu'?"),
        ([tenant(members=["gpu/4"])], "FG881", "gpu has the hosts 0 to 3"),
        ([tenant(members=["gpu/0/rail9"])], "FG881", "did you mean 'rail7'?"),
        ([tenant(members=["rail8"])], "FG881", "rail 8 has no endpoint"),
        ([tenant(members=[NODE])], "FG881", f"it is the node GUID of gpu/0/rail0; its port GUID is {PORT}"),
        ([tenant(members=["0x02fab00100000000"])], "FG881", "it is the node GUID of switch"),
        ([tenant(0x8000)], "FG882", "top bit"),
        ([tenant(0)], "FG882", "top bit"),
        ([tenant(0x7FFF)], "FG882", "top bit"),
        ([tenant(0x8001), tenant(1, "green")], "FG883", "0x0001 and 0x8001 are the same key"),
        ([tenant(), tenant(2, "Blue")], "FG102", ""),
        ([tenant(membership="limited")], "FG884", "limited members reach only full members"),
        ([tenant(ipoib=True, rate="800G")], "FG885", "known: "),
        ([tenant(ipoib=True, rate="600G")], "FG885", "at most the rate of the slowest member"),
        ([tenant(number, f"t{number}", ["gpu/0/rail0"]) for number in range(1, 129)], "FG886", "at most 128 P_Keys"),
    ],
)  # fmt: skip
def test_mistakes_that_opensm_accepts(partitions: Any, code: str, hint: str, tmp_path: Path) -> None:
    (finding,) = refused(tmp_path, subnet_tree(partitions=partitions))
    assert finding.code == code and hint in finding.hint and finding.location and finding.location.line > 1


def test_hosts_in_a_tenant_with_some_of_their_ports_are_named(cli: Cli, tmp_path: Path) -> None:
    tree = subnet_tree(partitions=[tenant(members=["gpu/0-3/rail0"])])
    done = cli("render", write(tmp_path / "i", tree), "-o", tmp_path / "b")
    assert done.code == 0
    assert "FG849 gpu/0/rail1 and 27 other ports of hosts with a tenant are in no tenant" in done.err
    spare = subnet_tree(partitions=[tenant(members=["gpu/0-1"])])
    assert "FG849" not in cli("render", write(tmp_path / "j", spare), "-o", tmp_path / "c").err, "spare hosts"


def test_tenants_of_a_group_need_one_index(tmp_path: Path) -> None:
    """The limited members of `shared` have its key before that of their tenant."""
    shared = tenant(0x7000, "shared", [{"member": "gpu/0", "membership": "limited"}, "gpu/1"])
    found = refused(
        tmp_path, subnet_tree(partitions=[tenant(members=["gpu/0-1"]), tenant(2, "green", ["gpu/2-3"]), shared])
    )
    assert [one.code for one in found] == ["FG850"]
    assert "NCCL_IB_PKEY would be 1 for gpu/" in found[0].message and " and 2 for gpu/" in found[0].message


@pytest.mark.parametrize(
    ("member", "ports"),
    [("ALL", 32), ("gpu", 32), ("gpu/1", 8), ("gpu/1-2", 16), ("gpu/0-3/rail0", 4), ("rail3", 4), ("gpu-002", 8),
     (PORT, 1), ("02FA:B002:0000:0001", 1)],
)  # fmt: skip
def test_members(member: str, ports: int, cli: Cli, tmp_path: Path) -> None:
    tree = subnet_tree(partitions=[tenant(members=[member])])
    assert cli("render", write(tmp_path / "i", tree), "-o", tmp_path / "b").code == 0
    text = (tmp_path / "b/infiniband/compute/partitions.conf").read_text().partition("blue=")[2]
    assert text.count("=full") == ports


def test_both_needs_its_option(cli: Cli, tmp_path: Path) -> None:
    members = [{"member": "gpu/0-1", "membership": "both"}]
    tree = subnet_tree(partitions=[tenant(members=members)])
    assert cli("render", write(tmp_path / "i", tree), "-o", tmp_path / "b").code == 0
    folder = tmp_path / "b/infiniband/compute"
    assert (folder / "partitions.conf").read_text().count("=both") == 16
    assert "\nallow_both_pkeys TRUE\n" in (folder / "opensm.conf").read_text()


def adapter(nic: str, node: int, port: int) -> dict[str, str]:
    return {"host": "gpu/0", "nic": nic, "node_guid": f"0x{node:016x}", "port_guid": f"0x{port:016x}"}


def test_guids_of_the_hardware_replace_placeholders(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "i"
    write(folder, subnet_tree())
    (folder / "guids.csv").write_text(
        "host,nic,node_guid,port_guid\ngpu-000,rail0,e8eb:d303:00aa:bb00,E8EBD30300AABB01\ngpu/0,rail1,0x1,0x2\n"
    )
    (finding,) = [one for one in make_plans(folder).findings if one.severity == "error"][:1]
    assert finding.code == "FG105" and finding.location and finding.location.file.endswith("guids.csv")
    (folder / "guids.csv").write_text(
        "host,nic,node_guid,port_guid\ngpu-000,rail0,e8eb:d303:00aa:bb00,E8EBD30300AABB01\n"
    )
    assert cli("render", folder, "-o", tmp_path / "b").code == 0
    assert '0xe8ebd30300aabb00 "gpu-000 rail0"' in (tmp_path / "b/infiniband/compute/node-name-map").read_text()
    assert "0xe8ebd30300aabb01 # gpu-000 rail0" in (tmp_path / "b/infiniband/compute/cn_guids").read_text()


@pytest.mark.parametrize(
    ("guids", "code"),
    [
        ([adapter("rail0", 0x10, 0x11), adapter("rail1", 0x10, 0x12)], "FG880"),
        ([adapter("rail0", 0x10, 0x11), adapter("rail1", 0x11, 0x13)], "FG880"),
        ([adapter("rail9", 0x10, 0x11)], "FG107"),
        ([adapter("storage0", 0x10, 0x11)], "FG107"),
        ([adapter("rail0", 0x10, 0x11), adapter("rail0", 0x20, 0x21)], "FG102"),
    ],
)
def test_impossible_guids(guids: Any, code: str, tmp_path: Path) -> None:
    assert [finding.code for finding in refused(tmp_path, {**subnet_tree(), "guids": guids})] == [code]


def test_one_guid_for_node_and_port_is_valid(tmp_path: Path) -> None:
    assert refused(tmp_path, {**subnet_tree(), "guids": [adapter("rail0", 0x10, 0x10)]}) == []


def test_managers_have_a_port(tmp_path: Path) -> None:
    (finding,) = refused(tmp_path, subnet_tree(infiniband={"managers": ["gpu/0", "gpx/0"]}))
    assert finding.code == "FG887" and finding.path == "planes.compute.infiniband.managers[1]"


def test_managers_of_two_planes_have_a_folder_for_each(tmp_path: Path) -> None:
    tree = subnet_tree(infiniband={"managers": ["gpu/0"]})
    tree["planes"]["other"] = {**tree["planes"]["compute"], "design": "rail-only", "purpose": "compute"}
    del tree["planes"]["other"]["spine"]
    (finding,) = [one for one in refused(tmp_path, tree) if one.code == "FG889"]
    assert finding.path == "planes.other.infiniband.managers[0]" and "/etc/opensm/other" in finding.hint


def test_subnets_of_a_plane_have_a_folder_each(cli: Cli, tmp_path: Path) -> None:
    tree = subnet_tree(infiniband={"managers": ["gpu/0"]})
    tree["planes"]["compute"]["design"] = "rail-only"
    del tree["planes"]["compute"]["spine"]
    assert cli("render", write(tmp_path / "i", tree), "-o", tmp_path / "b").code == 0
    folders = sorted((tmp_path / "b/infiniband/compute").iterdir())
    assert [folder.name for folder in folders] == [f"rail{rail}" for rail in range(8)]
    texts = [(folder / "opensm.conf").read_text() for folder in folders]
    assert "partition_config_file /etc/opensm/rail3/partitions.conf" in texts[3]
    assert len({line for text in texts for line in text.splitlines() if line.startswith("subnet_prefix")}) == 8
    assert all("guid 0x02fab002" in text for text in texts)


def test_placeholders_stay_when_the_fabric_grows(tmp_path: Path) -> None:
    tree = subnet_tree(4)
    tree["planes"]["compute"]["scalable_unit"]["planned"] = 2
    before = make_plans(write(tmp_path, tree))
    (tmp_path / "allocations.lock.yaml").write_text(before.lock.dump())
    tree["hosts"]["gpu"]["count"] = 8
    after = make_plans(write(tmp_path, tree))
    assert after.allocation.guids.adapters.items() > before.allocation.guids.adapters.items()
    assert after.allocation.guids.switches.items() >= before.allocation.guids.switches.items()
