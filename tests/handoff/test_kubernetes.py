"""Manifests for Kubernetes: the published definitions accept them and refuse mistakes; addresses are the fabric's."""

import json
from collections.abc import Callable
from ipaddress import ip_interface, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.handoff.kubernetes import kubernetes_files
from tests.conftest import Cli
from tests.handoff.crd import definitions, problems
from tests.handoff.operators import refused
from tests.inventories import rail_optimized, write
from tests.render.hosts.rendered import STORAGE, inventory, write_bundle
from tests.rules.access import BONDED
from tests.shared_material import shared

RACK = inventory("gb200-nvl72").replace("count: 2}}", "count: 18}}").replace("{hosts: 2, planned: 2}", "{hosts: 18}")
Manifests = dict[tuple[str, str], dict[str, Any]]
ALL = inventory(more=STORAGE.format(name="storage"))


def manifests(folder: Path, text: str = ALL, only: str | None = None) -> Manifests:
    """(kind, name) -> manifest."""
    files = dict(kubernetes_files(open_bundle([write_bundle(folder / "bundle", text)]), only))
    found = [one for name, content in files.items() if name.endswith(".yaml") for one in yaml.safe_load_all(content)]
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


def test_every_nic_has_a_policy_a_pool_and_a_network(tmp_path: Path) -> None:
    found = manifests(tmp_path)
    nics = [f"gpu-rail{n}" for n in range(8)] + ["gpu-storage0", "gpu-storage1"]
    for kind in ("SriovNetworkNodePolicy", "CIDRPool", "NetworkAttachmentDefinition"):
        assert [name for one, name in found if one == kind] == nics
    policy = found["SriovNetworkNodePolicy", "gpu-rail3"]["spec"]
    assert (policy["resourceName"], policy["mtu"], policy["isRdma"]) == ("gpu_rail3", 9100, True)
    assert policy["nicSelector"] == {
        "pfNames": ["rail3"], "vendor": "15b3", "deviceID": "1021", "rootDevices": ["0000:5e:00.0"]
    }  # fmt: skip
    definition = found["NetworkAttachmentDefinition", "gpu-rail3"]
    assert definition["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/resourceName": "nvidia.com/gpu_rail3"}
    plugins = json.loads(definition["spec"]["config"])["plugins"]
    assert [one["type"] for one in plugins] == ["sriov", "tuning", "sbr"]
    assert plugins[0]["ipam"] == {"type": "nv-ipam", "poolName": "gpu-rail3", "poolType": "cidrpool"}
    assert plugins[1]["mtu"] == policy["mtu"]


TENANTS_OF_NICS = (
    ALL.replace("design: rail-optimized", "design: rail-optimized\n    isolation: acl")
    + """\
tenants:
  blue: {hosts: [gpu/0/rail0, gpu/0/rail1, gpu/1]}
  red: {hosts: [gpu/0/rail2]}
"""
)


def test_nodes_have_the_tenants_of_their_nics(tmp_path: Path) -> None:
    """gpu-001 is of one tenant. The NICs of gpu-000 have two and none, so each has a label."""
    files = dict(kubernetes_files(open_bundle([write_bundle(tmp_path / "bundle", TENANTS_OF_NICS)])))
    first, second = files["label-nodes.sh"].decode().splitlines()[-2:]
    assert "fabricgen.io/tenant- fabricgen.io/tenant-rail0=blue fabricgen.io/tenant-rail1=blue" in first
    assert "fabricgen.io/tenant-rail2=red fabricgen.io/tenant-rail3- " in first
    assert "fabricgen.io/tenant=blue fabricgen.io/tenant-rail0- " in second
    spec = list(yaml.safe_load_all(files["gpu/pod.yaml"]))[-1]["spec"]
    assert spec["nodeSelector"] == {
        "fabricgen.io/group": "gpu", "fabricgen.io/tenant-rail0": "blue", "fabricgen.io/tenant-rail1": "blue",
    }  # fmt: skip
    assert spec["containers"][0]["resources"]["limits"] == {
        "nvidia.com/gpu": "2", "nvidia.com/gpu_rail0": "1", "nvidia.com/gpu_rail1": "1",
    }  # fmt: skip


def test_pools_give_the_addresses_that_the_switches_expect(tmp_path: Path) -> None:
    found = manifests(tmp_path)
    bundle = open_bundle([tmp_path / "bundle"])
    assert bundle.wiring
    for host in bundle.wiring.hosts:
        for nic in host.nics:
            spec = found["CIDRPool", f"gpu-{nic.name}"]["spec"]
            (own,) = [one for one in spec["staticAllocations"] if one["nodeName"] == host.name]
            address = ip_interface(nic.addresses[0])
            assert own["prefix"] == str(address.network)
            switch, port = bundle.link_at[host.name, nic.name].b
            assert f"{port}|{own['gateway']}/31" in bundle.devices[switch].table("INTERFACE")
            # What nv-ipam itself asks of a pool (pkg/ip, api/v1alpha1 validation).
            assert ip_network(own["prefix"]).subnet_of(ip_network(spec["cidr"]))  # type: ignore[arg-type]
            assert spec["perNodeNetworkPrefix"] == ip_network(own["prefix"]).prefixlen
            assert ip_network(own["prefix"])[spec["gatewayIndex"]] == ip_interface(own["gateway"]).ip


def test_a_pod_asks_for_every_compute_nic_and_reads_the_settings_of_the_group(tmp_path: Path) -> None:
    found = manifests(tmp_path)
    pod, settings = found["Pod", "nccl-gpu-example"], found["ConfigMap", "nccl-gpu"]["data"]
    asked = json.loads(pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"])
    assert [one["name"] for one in asked] == [f"gpu-rail{n}" for n in range(8)]
    (container,) = pod["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "8"} | {
        f"nvidia.com/gpu_rail{n}": "1" for n in range(8)
    }
    own = open_bundle([tmp_path / "bundle"]).hosts["gpu"].settings("nccl.conf")
    names = ("NCCL_IB_TC", "NCCL_IB_SL", "NCCL_IB_ADDR_RANGE")
    assert {name: settings[name] for name in names} == {name: own[name] for name in names}
    assert settings["NCCL_SOCKET_IFNAME"] == "eth0" and "NCCL_IB_HCA" not in settings


@pytest.mark.parametrize("kind", ["vlan", "bond"])
def test_nics_in_a_subnet_with_other_hosts_have_no_pool(tmp_path: Path, kind: str) -> None:
    """nv-ipam refuses a pool in which two nodes have the same prefix."""
    found = manifests(tmp_path, ALL + f"    access: {{kind: {kind}, vlan: 110}}\n")
    assert [name for one, name in found if one == "CIDRPool"] == [f"gpu-rail{n}" for n in range(8)]
    assert refused(found.values(), "26.7") == []
    (script,) = [text for name, text in kubernetes_files(open_bundle([tmp_path / "bundle"])) if name.endswith(".sh")]
    assert b"# Nodes of gpu: storage0, storage1 share a subnet with other hosts, or are in a bond" in script
    alone = BONDED.partition("    static:")[0].replace("in-band:", "storage:").replace(", dhcp: 10.90.0.5", "")
    bundle = open_bundle([write_bundle(tmp_path / "alone", alone.replace("kind: bond", f"kind: {kind}"))])
    with pytest.raises(UsageError, match="NICs in bonds, or in a subnet with other hosts, have no manifests"):
        dict(kubernetes_files(bundle))


def test_only_some_hosts(tmp_path: Path) -> None:
    pool = manifests(tmp_path, only="gpu-001")["CIDRPool", "gpu-rail0"]["spec"]
    assert [one["nodeName"] for one in pool["staticAllocations"]] == ["gpu-001"]
    pool = manifests(tmp_path, only="gpu-000,gpu-001")["CIDRPool", "gpu-rail0"]["spec"]
    assert [one["nodeName"] for one in pool["staticAllocations"]] == ["gpu-000", "gpu-001"]
    with pytest.raises(UsageError, match="--only absent"):
        manifests(tmp_path, only="absent")


def test_amd_hosts_request_amd_gpus(tmp_path: Path) -> None:
    found = manifests(tmp_path, inventory("mi300x", classes="3: {dscp: [26]}"))
    limits = found["Pod", "nccl-gpu-example"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits["amd.com/gpu"] == "8"
    assert found["SriovNetworkNodePolicy", "gpu-rail0"]["spec"]["nicSelector"] == {
        "pfNames": ["rail0"],
        "vendor": "14e4",
        "deviceID": "1760",
    }
    assert "rocm/pytorch" in found["Pod", "nccl-gpu-example"]["spec"]["containers"][0]["image"]
    files = dict(kubernetes_files(open_bundle([tmp_path / "bundle"])))
    values = yaml.safe_load(files["sriov-operator.values"])
    assert values == {"supportedExtraNICs": ['Broadcom_bnxt_BCM57608: "14e4 1760 1819"']}


def test_pollara_is_named_to_the_sriov_operator(tmp_path: Path, cli: Cli) -> None:
    """Its own list has no NIC of Pensando, and its webhook refuses policies for others."""
    bundle = write_bundle(tmp_path / "bundle", inventory("mi355x", classes="3: {dscp: [26]}"))
    done = cli("handoff", "kubernetes", bundle, "-o", tmp_path / "k8s")
    assert yaml.safe_load((tmp_path / "k8s/sriov-operator.values").read_text()) == {
        "supportedExtraNICs": ['AMD_ionic_Pollara_400: "1dd8 1002 1003"']
    }
    assert "group gpu: host model mi355x has no PCI addresses, so nothing names the interfaces rail0" in done.err
    assert "# Nodes of gpu: host model mi355x" in (tmp_path / "k8s/label-nodes.sh").read_text()


def test_interfaces_with_a_pci_address_are_not_mentioned(tmp_path: Path) -> None:
    files = dict(kubernetes_files(open_bundle([write_bundle(tmp_path / "bundle")])))
    assert b"PCI" not in files["label-nodes.sh"]


def test_pods_on_racks_with_nvlink_claim_an_imex_channel(tmp_path: Path) -> None:
    """Without the claim, NCCL finds the NVLink of the rack, and fails to import memory of another host."""
    found = manifests(tmp_path, RACK)
    spec = found["Pod", "nccl-gpu-example"]["spec"]
    template = found["ComputeDomain", "nccl-gpu"]["spec"]["channel"]["resourceClaimTemplate"]["name"]
    assert spec["resourceClaims"] == [{"name": "imex-channel", "resourceClaimTemplateName": template}]
    assert spec["containers"][0]["resources"]["claims"] == [{"name": "imex-channel"}]
    known = definitions(Path(__file__).with_name("definitions"))
    assert problems(found["ComputeDomain", "nccl-gpu"], known) == []
    broken = {**found["ComputeDomain", "nccl-gpu"], "spec": {"numNodes": 0}}
    assert problems(broken, known), "the definition refuses a domain without a channel"
    alone = manifests(tmp_path / "h100")
    assert "resourceClaims" not in alone["Pod", "nccl-gpu-example"]["spec"]


def test_the_published_definitions_accept_every_manifest(tmp_path: Path) -> None:
    known = definitions(shared("data", "schemas"))
    found = manifests(tmp_path)
    assert {kind for _, kind in known} >= {"NicClusterPolicy", "SriovNetworkNodePolicy", "NetworkAttachmentDefinition"}
    assert {name: wrong for name, one in found.items() if (wrong := problems(one, known))} == {}


def _spec(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda one: one["spec"].__setitem__(name, value)


MISTAKES: list[tuple[str, str, Callable[[dict[str, Any]], object], str]] = [
    ("SriovNetworkNodePolicy", "gpu-rail0", lambda one: one["spec"].update(isRDMA=one["spec"].pop("isRdma")), "isRDMA"),
    ("SriovNetworkNodePolicy", "gpu-rail0", _spec("mtu", "9100"), "spec/mtu"),
    ("SriovNetworkNodePolicy", "gpu-rail0", _spec("linkType", "Ethernet"), "spec/linkType"),
    ("SriovNetworkNodePolicy", "gpu-rail0", lambda one: one["spec"].pop("resourceName"), "resourceName"),
    ("NicClusterPolicy", "nic-cluster-policy", _spec("nvIPAM", {}), "nvIPAM"),
    ("NicClusterPolicy", "nic-cluster-policy", lambda one: one["spec"]["nvIpam"].update(version=26.7), "version"),
    ("NicClusterPolicy", "nic-cluster-policy", lambda one: one["metadata"].update(namespace="x"), "namespace"),
    (
        "NetworkAttachmentDefinition",
        "gpu-rail0",
        lambda one: one["spec"].update(config=one["spec"]["config"][:-2]),
        "not JSON",
    ),
    ("NetworkAttachmentDefinition", "gpu-rail0", _spec("config", {"type": "sriov"}), "spec/config"),
    (
        "Pod",
        "nccl-gpu-example",
        lambda one: one["metadata"]["annotations"].update({"k8s.v1.cni.cncf.io/networks": "[{]"}),
        "not JSON",
    ),
]


@pytest.mark.parametrize(("kind", "name", "spoil", "message"), MISTAKES, ids=[f"{one[0]}-{one[3]}" for one in MISTAKES])
def test_a_mistake_is_refused(
    tmp_path: Path, kind: str, name: str, spoil: Callable[[dict[str, Any]], object], message: str
) -> None:
    one = manifests(tmp_path)[kind, name]
    spoil(one)
    found = problems(one, definitions(shared("data", "schemas")))
    assert any(message in each for each in found), found


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["gpu-"], "'gpu-' is not allowed as a label"),
        (["g" * 59], "Kubernetes reads names of resources of at most 63 characters"),
        (["a--b", "a-b"], "rail0 of group a--b and rail0 of group a-b have the same name in Kubernetes, a-b-rail0"),
    ],
)
def test_groups_that_kubernetes_cannot_name(tmp_path: Path, cli: Cli, names: list[str], message: str) -> None:
    tree = rail_optimized(hosts=4)
    tree["hosts"] = {name: {**tree["hosts"]["gpu"], "count": 4 // len(names)} for name in names}
    tree["planes"]["compute"]["hosts"] = names
    assert cli("-q", "render", write(tmp_path / "in", tree), "-o", tmp_path / "bundle").code == 0
    outcome = cli("handoff", "kubernetes", tmp_path / "bundle", "-o", tmp_path / "out")
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err
    assert not (tmp_path / "out").exists()
    if len(names) > 1:
        outcome = cli("handoff", "topology", tmp_path / "bundle", "-o", tmp_path / "out")
        assert (outcome.code, "groups a--b and a-b have the same name" in outcome.err) == (2, True), outcome.err


def test_the_verb(cli: Cli, tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "bundle")
    done = cli("handoff", "kubernetes", str(bundle), "--output", str(tmp_path / "out"))
    assert done.code == 0 and "12 files" in done.out, done
    assert (tmp_path / "out/gpu/rail7.yaml").is_file()
    assert cli("handoff", "kubernetes", str(bundle), "-o", str(tmp_path / "out"), "--only", "x*").code == 2
