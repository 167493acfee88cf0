"""Manifests for Kubernetes on InfiniBand: published definitions accept them, and P_Keys are those of the tenants."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.bundle.read import open_bundle
from fabricgen.handoff.kubernetes import GPU_OPERATOR, kubernetes_files
from tests.conftest import Cli
from tests.handoff.crd import definitions, problems
from tests.handoff.test_kubernetes import Manifests, manifests
from tests.render.hosts.rendered import inventory, write_bundle
from tests.rules.hosts.inventories import TENANTS
from tests.shared_material import shared

ALONE = TENANTS[: TENANTS.index("    partitions:")]
ALONE_WITH_UFM = ALONE + "    infiniband: {mlnx_sm: {}}\n"
WITH_UFM = TENANTS.replace("    partitions:", "    infiniband: {mlnx_sm: {}}\n    partitions:")


def plugin(found: Manifests, name: str) -> dict[str, Any]:
    """The only plug-in of a network."""
    (only,) = json.loads(found["NetworkAttachmentDefinition", name]["spec"]["config"])["plugins"]
    assert isinstance(only, dict)
    return only


@pytest.mark.parametrize("text", [ALONE, TENANTS, WITH_UFM], ids=["alone", "tenants", "ufm"])
def test_the_published_definitions_accept_every_manifest(tmp_path: Path, text: str) -> None:
    known, found = definitions(shared("data", "schemas")), manifests(tmp_path, text)
    assert {name: wrong for name, one in found.items() if (wrong := problems(one, known))} == {}


def test_a_virtual_function_of_each_nic(tmp_path: Path) -> None:
    found = manifests(tmp_path, ALONE_WITH_UFM)
    spec = found["SriovNetworkNodePolicy", "gpu-rail3"]["spec"]
    assert (spec["linkType"], spec["isRdma"], spec["numVfs"]) == ("ib", True, 1) and "mtu" not in spec
    assert spec["nicSelector"] == {"rootDevices": ["0000:5e:00.0"], "vendor": "15b3", "deviceID": "1021"}
    assert plugin(found, "gpu-rail3")["type"] == "ib-sriov" and "pkey" not in plugin(found, "gpu-rail3")
    assert found["IPoIBNetwork", "gpu-rail0-ipoib"]["spec"] == {"networkNamespace": "default", "master": "rail0"}
    assert [name for kind, name in found if kind == "IPoIBNetwork"] == ["gpu-rail0-ipoib"]
    assert not any(kind == "CIDRPool" for kind, _ in found), "no address belongs to a switch port"
    policy = found["NicClusterPolicy", "nic-cluster-policy"]["spec"]
    assert "ipoib" in policy["secondaryNetwork"] and "ibKubernetes" in policy


def test_without_ufm_pods_get_the_physical_functions(tmp_path: Path) -> None:
    """OpenSM 3.3.23 gives the ports of virtual functions no LID."""
    found = manifests(tmp_path, TENANTS)
    assert {kind for kind, _ in found} == {"NicClusterPolicy", "HostDeviceNetwork", "ConfigMap", "Pod"}
    assert found["HostDeviceNetwork", "gpu-rail3"]["spec"] == {
        "networkNamespace": "default",
        "resourceName": "ib_rail3",
    }
    config = found["NicClusterPolicy", "nic-cluster-policy"]["spec"]["sriovDevicePlugin"]["config"]
    resources = {one["resourceName"]: one["selectors"] for one in json.loads(config)["resourceList"]}
    assert resources["ib_rail3"] == {"isRdma": True, "pciAddresses": ["0000:5e:00.0"]} and len(resources) == 8
    spec = found["Pod", "nccl-gpu-example"]["spec"]
    assert spec["containers"][0]["resources"]["limits"]["nvidia.com/ib_rail3"] == "1"
    assert spec["nodeSelector"] == {"fabricgen.io/group": "gpu", "fabricgen.io/tenant": "blue"}
    assert found["ConfigMap", "nccl-gpu"]["data"]["NCCL_IB_PKEY"] == "1", "the table of the port is that of the host"


def test_nodes_get_labels_of_their_group_and_tenant(tmp_path: Path) -> None:
    files = dict(kubernetes_files(open_bundle([write_bundle(tmp_path, TENANTS)])))
    lines = files["label-nodes.sh"].decode().splitlines()
    assert lines[2] == "kubectl label --overwrite node gpu-000 fabricgen.io/group=gpu fabricgen.io/tenant=blue"
    assert lines[-1] == "kubectl label --overwrite node gpu-003 fabricgen.io/group=gpu fabricgen.io/tenant=green"


def test_a_network_of_each_tenant(tmp_path: Path) -> None:
    found = manifests(tmp_path, WITH_UFM)
    assert {name for kind, name in found if kind == "NetworkAttachmentDefinition"} == {
        f"gpu-rail{rail}-{tenant}" for rail in range(8) for tenant in ("blue", "green")
    }
    assert plugin(found, "gpu-rail0-blue")["pkey"] == "0x1" and plugin(found, "gpu-rail0-green")["pkey"] == "0x2"
    assert not any(kind == "IPoIBNetwork" for kind, _ in found), "hosts are limited members of Default"
    asked = json.loads(found["Pod", "nccl-gpu-example"]["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"])
    assert [one["name"] for one in asked] == [f"gpu-rail{rail}-blue" for rail in range(8)]


def test_hosts_of_one_tenant_have_one_network(tmp_path: Path) -> None:
    found = manifests(tmp_path, WITH_UFM, only="gpu-002,gpu-003")
    assert plugin(found, "gpu-rail0")["pkey"] == "0x2"


def test_ufm_gives_virtual_functions_their_keys(tmp_path: Path) -> None:
    found = manifests(tmp_path, WITH_UFM)
    assert plugin(found, "gpu-rail0-blue") | {
        "ibKubernetesEnabled": True,
        "capabilities": {"infinibandGUID": True},
    } == (plugin(found, "gpu-rail0-blue"))
    section = found["NicClusterPolicy", "nic-cluster-policy"]["spec"]["ibKubernetes"]
    assert section["ufmSecret"] and section["pKeyGUIDPoolRangeStart"] < section["pKeyGUIDPoolRangeEnd"]


@pytest.mark.parametrize(("model", "written"), [("dgx-h100", True), ("mi300x", False)])
def test_the_gpu_operator_uses_the_memory_of_gpus_directly(tmp_path: Path, model: str, written: bool) -> None:
    text = inventory() if model == "dgx-h100" else inventory(model, classes="3: {dscp: [26]}")
    files = dict(kubernetes_files(open_bundle([write_bundle(tmp_path, text)])))
    assert (GPU_OPERATOR in files) == written
    if written:
        values = yaml.safe_load(files[GPU_OPERATOR])
        assert values["driver"] == {"kernelModuleType": "open", "rdma": {"enabled": False, "useHostMofed": True}}
        assert values["gds"] == {"enabled": False}, "no NIC on a storage plane"


def test_the_verb(cli: Cli, tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "bundle", TENANTS)
    done = cli("handoff", "kubernetes", str(bundle), "--output", str(tmp_path / "out"))
    assert done.code == 0 and (tmp_path / "out/gpu/rail7.yaml").is_file()
