"""The manifests of one group's NICs for Kubernetes: those on RoCE planes, and what all NICs share.

Kinds and fields: network-operator@b06827e0, sriov-network-operator@249e2001 (custom resource definitions),
nvidia-k8s-ipam@3ce4a34 (CIDRPool). JSON inside a string is dumped from the same values.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_interface, ip_network
from typing import TYPE_CHECKING, Any

from fabricgen.errors import UsageError
from fabricgen.handoff.chosen import object_name

if TYPE_CHECKING:
    from fabricgen.bundle.wiring import WiredAdapter, WiredModel, WiredNic, WiredPlane, Wiring

OPERATOR = "nvidia-network-operator"
REPOSITORY = "nvcr.io/nvidia/mellanox"
RESOURCE_PREFIX = "nvidia.com"  # set by the Network Operator for its device plugin
GROUP_LABEL = "fabricgen.io/group"
POD_NAMESPACE = "default"
TENANT_LABEL = "fabricgen.io/tenant"
EXAMPLE_IMAGES = {  # vendor of the GPUs -> an image with its collectives
    "amd": "docker.io/rocm/pytorch:rocm6.4.1_ubuntu24.04_py3.12_pytorch_release_2.6.0",
    "nvidia": "nvcr.io/nvidia/pytorch:25.01-py3",
}
IMEX_CLAIM = "imex-channel"
# PCI id of a NIC that the SR-IOV operator does not list -> its entry: vendor, physical and virtual function.
_UNLISTED = {
    "14e4:1760": ("Broadcom_bnxt_BCM57608", "14e4 1760 1819"),
    "1dd8:1002": ("AMD_ionic_Pollara_400", "1dd8 1002 1003"),
}
# Variables that are wrong in a pod: its devices are virtual functions, its sockets use the pod network.
_NOT_OF_PODS = ("NCCL_IB_HCA", "NCCL_SOCKET_IFNAME")

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Operator:
    """A release of NVIDIA's Network Operator: the tag of its images, and what its kinds have."""

    tag: str
    architecture: str = ""  # of Spectrum-X: a version, or the name of the ConfigMap with NVIDIA's profile
    xplane: str = ""  # the version of its image
    has_extended_qos: bool = False  # roceOptimized: ecn, cableLen, pauseFrames
    has_platform_type: bool = False  # spectrumXOptimized: platformType


# Network Operator v26.1.2, v26.4.1 and v26.7.0-rc.2, hack/release.yaml; NVIDIA/k8s-launch-kit docs/user/spectrum-x.md.
OPERATORS = {
    "26.1": Operator("network-operator-v26.1.2"),
    "26.4": Operator("network-operator-v26.4.1", "RA2.2", "3.4.0005"),
    "26.7": Operator("network-operator-v26.7.0", "spectrum-x-ra2.3", "3.5.0035", True),
    "26.10": Operator("network-operator-v26.10.0", "RA2.4", "3.5.0035", True, True),
}
LATEST = "26.7"  # the default: 26.10 is not released yet


@dataclass(frozen=True)
class Rail:
    """A NIC of a group. `addresses` are (host, address with prefix length, address of the switch)."""

    group: str
    nic: "WiredNic"
    adapter: "WiredAdapter"
    plane: "WiredPlane"
    mtu_bytes: int
    addresses: tuple[tuple[str, str, str], ...]

    @property
    def name(self) -> str:
        """The name of its objects: GROUP-NIC."""
        return object_name(f"{self.group}-{self.nic.name}")

    @property
    def network(self) -> str:
        """The network that a pod names."""
        return self.name

    @property
    def resource(self) -> str:
        """The resource that a pod requests; older operators refuse a dash."""
        return self.name.replace("-", "_")


def image(name: str, operator: Operator, **more: object) -> Manifest:
    """A section of the cluster policy."""
    return {"image": name, "repository": REPOSITORY, "version": operator.tag, **more}


def cluster_policy(more: Manifest, operator: Operator) -> Manifest:
    """The policy of the Network Operator: Multus, the CNI plugins, nv-ipam with the addresses of the fabric, and `more`
    sections."""
    plugins = {"cniPlugins": image("plugins", operator), "multus": image("multus-cni", operator)}
    secondary = {**plugins, **more.get("secondaryNetwork", {})}
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy"},  # the operator accepts no other name
        "spec": {
            "nvIpam": image("nvidia-k8s-ipam", operator, enableWebhook=False),
            **more,
            "secondaryNetwork": secondary,
        },
    }


def node_policy(rail: Rail) -> Manifest:
    """One virtual function of the NIC for pods. Each NIC has a policy, so a pod can request each rail once."""
    selector = {"pfNames": [rail.nic.name], **nic_ids(rail)}
    selector |= {"rootDevices": [rail.adapter.pci]} if rail.adapter.pci else {}
    return sriov_policy(rail, selector, "eth", mtu=rail.mtu_bytes)


def nic_ids(rail: Rail) -> Manifest:
    """The PCI vendor and device of the NIC model, for a selector; empty if they are not known."""
    from fabricgen.platforms.catalog import nic_model  # a tenth of the time of a completion

    card = nic_model(rail.adapter.model)
    vendor, _, device = (card.pci_id if card else "").partition(":")
    return {"vendor": vendor, "deviceID": device} if device else {}


def sriov_policy(rail: Rail, selector: Manifest, link_type: str, **port: int) -> Manifest:
    """One virtual function of the selected NIC, with RDMA. `link_type` is eth or ib; `port` has more settings."""
    return {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": rail.name, "namespace": OPERATOR},
        "spec": {
            "resourceName": rail.resource,
            "nodeSelector": {GROUP_LABEL: rail.group},
            "nicSelector": selector,
            "numVfs": 1,
            **port,
            "isRdma": True,
            "linkType": link_type,
            "deviceType": "netdevice",
        },
    }


def pool(rail: Rail, name: str) -> Manifest:
    """The address that the switch expects from each host; without it, the controller chooses the order.

    Raises UsageError if no pool of the plane contains them all.
    """
    addresses = [ip_interface(address) for _, address, _ in rail.addresses]
    fabric = [prefix for prefix in rail.plane.host_prefixes if ip_network(prefix).version == addresses[0].version]
    own = next((prefix for prefix in fabric if all(one in ip_network(prefix) for one in addresses)), None)
    if own is None:
        raise UsageError(f"{rail.name}: no pool of plane {rail.plane.name} in fabric.json contains all its addresses")
    return {
        "apiVersion": "nv-ipam.nvidia.com/v1alpha1",
        "kind": "CIDRPool",
        "metadata": {"name": name, "namespace": OPERATOR},
        "spec": {
            "cidr": own,
            "perNodeNetworkPrefix": addresses[0].network.prefixlen,
            "gatewayIndex": 0,  # the switch has the even address
            "nodeSelector": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": GROUP_LABEL, "operator": "In", "values": [rail.group]}]}
                ]
            },
            "staticAllocations": [
                {"nodeName": host, "prefix": str(ip_interface(address).network), "gateway": gateway}
                for host, address, gateway in rail.addresses
            ],
            "routes": [{"dst": prefix} for prefix in fabric],
        },
    }


def network(rail: Rail) -> Manifest:
    """The network that a pod names in its annotation: virtual function, settings, and routes by source address."""
    config = {
        "cniVersion": "1.0.0",
        "name": rail.name,
        "plugins": [
            {
                "type": "sriov",
                "ipam": {"type": "nv-ipam", "poolName": rail.name, "poolType": "cidrpool"},
            },
            {
                "type": "tuning",
                "mtu": rail.mtu_bytes,
                "sysctl": {
                    "net.ipv4.conf.IFNAME.arp_ignore": "1",
                    "net.ipv4.conf.IFNAME.arp_announce": "2",
                    "net.ipv4.conf.IFNAME.rp_filter": "2",
                },
            },
            {"type": "sbr"},
        ],
    }
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": rail.name,
            "namespace": POD_NAMESPACE,
            "annotations": {"k8s.v1.cni.cncf.io/resourceName": f"{RESOURCE_PREFIX}/{rail.resource}"},
        },
        "spec": {"config": json.dumps(config, indent=2)},
    }


def settings_map(group: str, settings: Mapping[str, str]) -> Manifest:
    """The NCCL variables from the file of the group, for pods."""
    kept = {key: text for key, text in settings.items() if key not in _NOT_OF_PODS}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _map_name(group), "namespace": POD_NAMESPACE},
        "data": {"NCCL_SOCKET_IFNAME": "eth0", **kept},
    }


def _map_name(group: str) -> str:
    return object_name(f"nccl-{group}")


def sriov_operator_values(rails: list[Rail]) -> Manifest:
    """Values of the chart of the SR-IOV operator: NICs that it supports only if they are named. Its webhook refuses
    policies for others. Empty if it lists all NICs.

    Source: sriov-network-operator@249e2001 deployment, supportedExtraNICs and the ConfigMap supported-nic-ids; linux
    bnxt.c, bnxt_pci_tbl: 0x1819 is the virtual function of BCM5760X; ionic.h: 0x1003 is that of Pollara.
    """
    from fabricgen.platforms.catalog import nic_model  # a tenth of the time of a completion

    cards = {card.pci_id for rail in rails if (card := nic_model(rail.adapter.model))}
    extra = [f'{name}: "{ids}"' for pci_id, (name, ids) in _UNLISTED.items() if pci_id in cards]
    return {"supportedExtraNICs": extra} if extra else {}


def compute_domain(group: str) -> Manifest:
    """The IMEX channel by which GPUs of several hosts use their NVLink together. The driver makes the template of the
    claim that pods name.

    Source: NVIDIA/k8s-dra-driver-gpu@22407113, resource.nvidia.com_computedomains.yaml.
    """
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": _map_name(group), "namespace": POD_NAMESPACE},
        "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": f"{_map_name(group)}-{IMEX_CLAIM}"}}},
    }


def has_rack_nvlink(wiring: "Wiring", group: str) -> bool:
    """Whether NVLink joins several hosts of a group."""
    return any(host.nvlink_domain for host in wiring.hosts if host.group == group)


def resources_of(model: "WiredModel", rails: list[Rail], *, is_part: bool) -> Manifest:
    """The resources of device plugins: all GPUs of a host, and one function of each NIC. `is_part`: the NICs are those
    of one tenant of the host, with a GPU each."""
    gpus = {"amd": "amd.com/gpu"}.get(model.vendor, "nvidia.com/gpu")
    number = min(model.gpus, len(rails)) if is_part else model.gpus
    resources = {gpus: str(number)} if number else {}
    resources |= {f"{RESOURCE_PREFIX}/{rail.resource}": "1" for rail in rails}
    return {"requests": resources, "limits": dict(resources)}


def pod(
    wiring: "Wiring",
    group: str,
    networks: list[str],
    requests: Manifest,
    labels: Mapping[str, str],
    claims: Mapping[str, str] | None = None,
) -> Manifest:
    """An example: a pod with these networks, on nodes of the group with these labels. `claims` are name -> template."""
    model = model_of(wiring, group)
    interfaces = [
        {"name": network, "namespace": POD_NAMESPACE, "interface": f"net{number}"}
        for number, network in enumerate(networks, 1)
    ]
    templates = dict(claims or {})
    if has_rack_nvlink(wiring, group):
        templates[IMEX_CLAIM] = compute_domain(group)["spec"]["channel"]["resourceClaimTemplate"]["name"]
    own: Manifest = {}
    if templates:
        requests = {**requests, "claims": [{"name": name} for name in templates]}
        pairs = [{"name": name, "resourceClaimTemplateName": template} for name, template in templates.items()]
        own = {"resourceClaims": pairs}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{_map_name(group)}-example",
            "namespace": POD_NAMESPACE,
            "annotations": {"k8s.v1.cni.cncf.io/networks": json.dumps(interfaces)},
        },
        "spec": {
            "nodeSelector": {GROUP_LABEL: group, **labels},
            **own,
            "containers": [
                {
                    "name": "worker",
                    "image": EXAMPLE_IMAGES.get(model.vendor, EXAMPLE_IMAGES["nvidia"]),
                    "command": ["sleep", "infinity"],
                    "envFrom": [{"configMapRef": {"name": _map_name(group)}}],
                    "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
                    "resources": requests,
                    "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
                }
            ],
            "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}],
        },
    }


def model_of(wiring: "Wiring", group: str) -> "WiredModel":
    """The model of the hosts of a group."""
    name = next(host.model for host in wiring.hosts if host.group == group)
    return next(model for model in wiring.host_models if model.name == name)


def dump(manifests: list[Manifest]) -> bytes:
    """Several manifests as one YAML file."""
    return b"".join(map(_document, manifests))


def _document(manifest: Manifest) -> bytes:
    import yaml  # a tenth of the time of a completion

    from fabricgen.yaml_blocks import block_lines
    from fabricgen.yaml_words import BlockDumper

    lines = block_lines(manifest)  # a fifth of the time
    if lines and (text := "\n".join(["---", *lines, ""])).isascii():
        return text.encode()
    dumped: bytes = yaml.dump(
        manifest, Dumper=BlockDumper, encoding="utf-8", sort_keys=False, explicit_start=True, width=120
    )
    return dumped
