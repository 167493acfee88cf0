"""Kubernetes manifests: one SR-IOV resource, network and address pool for each NIC of a group, as the fabric has them.

Kinds and fields: network-operator@b06827e0, sriov-network-operator@249e2001 (custom resource definitions),
nvidia-k8s-ipam@3ce4a34 (CIDRPool). JSON that stands in a string is dumped from the same values, never put together.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_interface, ip_network
from typing import Any

import yaml

from fabricgen.bundle.hosts import ObservedHosts
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredAdapter, WiredHost, WiredModel, WiredNic, WiredPlane, Wiring
from fabricgen.errors import UsageError
from fabricgen.handoff.chosen import fits
from fabricgen.platforms.catalog import nic_model

OPERATOR = "nvidia-network-operator"
OPERATOR_VERSION = "network-operator-v26.7.0"
REPOSITORY = "nvcr.io/nvidia/mellanox"
RESOURCE_PREFIX = "nvidia.com"  # what the Network Operator gives the device plugin
GROUP_LABEL = "fabricgen.io/group"
POD_NAMESPACE = "default"
EXAMPLE_IMAGE = "nvcr.io/nvidia/pytorch:25.01-py3"
# What a pod must not be told: its devices are virtual functions, its sockets the pod network.
_NOT_OF_PODS = ("NCCL_IB_HCA", "NCCL_SOCKET_IFNAME")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Rail:
    """A NIC of a group on a RoCE plane. `addresses` are (host, address with length, switch's address)."""

    group: str
    nic: WiredNic
    adapter: WiredAdapter
    plane: WiredPlane
    mtu_bytes: int
    addresses: tuple[tuple[str, str, str], ...]

    @property
    def name(self) -> str:
        """What its objects are called: GROUP-NIC."""
        return f"{self.group}-{self.nic.name}".lower().replace("_", "-").replace(".", "-")

    @property
    def resource(self) -> str:
        """What a pod asks for; older operators refuse a dash."""
        return self.name.replace("-", "_")


def kubernetes_files(bundle: Bundle, only: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the manifests, in the same order for the same bundle.

    Every group with NICs on a RoCE plane that is not for management has some. `only` are shell patterns over the
    names of hosts, with commas between. Raises UsageError where there is nothing to write, and for names that
    Kubernetes cannot hold; UnreadableInputError for files of hosts that are none.
    """
    wiring = bundle.wiring
    if wiring is None or not bundle.hosts:
        raise UsageError("the bundle has no hosts/: render it with this version of fabricgen")
    groups = [(name, rails) for name in bundle.hosts if (rails := list(_rails(bundle, wiring, name, only)))]
    if not groups:
        none = "no host of the bundle has a NIC on a RoCE plane"
        raise UsageError(f"--only {only}: no host with a NIC on a RoCE plane has such a name" if only else none)
    yield "nic-cluster-policy.yaml", _dump([cluster_policy()])
    for name, rails in groups:
        for rail in rails:
            yield f"{name}/{rail.nic.name}.yaml", _dump([node_policy(rail), pool(rail), network(rail)])
        if any(rail.plane.purpose == "compute" for rail in rails):
            settings = bundle.hosts[name].settings(bundle.hosts[name].nccl_file)
            yield f"{name}/pod.yaml", _dump([settings_map(name, settings), pod(wiring, name, rails)])


def _rails(bundle: Bundle, wiring: Wiring, group: str, only: str | None) -> Iterator[Rail]:
    hosts = [host for host in wiring.hosts if host.group == group and fits(host.name, only)]
    models = {model.name: model for model in wiring.host_models}
    planes = {plane.name: plane for plane in wiring.planes if plane.technology == "roce" and not plane.is_management}
    if not hosts or hosts[0].model not in models:
        return
    for host in hosts:
        if not _NAME.fullmatch(host.name):
            raise UsageError(f"host name {host.name!r} cannot name a Kubernetes node: lower-case letters, digits and -")
    files = bundle.hosts[group]
    for adapter in models[hosts[0].model].nics:
        of_hosts = [(host, nic) for host in hosts for nic in host.nics if nic.name == adapter.name]
        first = next((nic for _, nic in of_hosts if nic.plane in planes and nic.addresses), None)
        card = nic_model(adapter.model)
        if first is None or not (card and card.driver):
            continue
        mtu = next((mtu for host, _ in of_hosts if (mtu := _mtu(files, host, adapter.name))), 0)
        pairs = tuple(_pair(host, nic, first) for host, nic in of_hosts if nic.addresses)
        yield Rail(group, first, adapter, planes[first.plane], mtu, pairs)


def _mtu(files: ObservedHosts, host: WiredHost, nic: str) -> int:
    mtu = files.interfaces(host.name).get(nic, {}).get("mtu", 0)
    return mtu if isinstance(mtu, int) else 0


def _pair(host: WiredHost, nic: WiredNic, first: WiredNic) -> tuple[str, str, str]:
    """One family is all that a pool has: the first that the plane gives."""
    version = ip_interface(first.addresses[0]).version
    own = next(address for text in nic.addresses if (address := ip_interface(text)).version == version)
    gateway = next(address for address in own.network if address != own.ip)
    return host.name, str(own), str(gateway)


def cluster_policy() -> Manifest:
    """What the Network Operator runs: Multus, the CNI plugins, and nv-ipam, which can follow the fabric's addresses."""

    def image(name: str, **more: object) -> Manifest:
        return {"image": name, "repository": REPOSITORY, "version": OPERATOR_VERSION, **more}

    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy"},  # the only name that the operator takes
        "spec": {
            "nvIpam": image("nvidia-k8s-ipam", enableWebhook=False),
            "secondaryNetwork": {"cniPlugins": image("plugins"), "multus": image("multus-cni")},
        },
    }


def node_policy(rail: Rail) -> Manifest:
    """One virtual function of the NIC for pods. One policy for each NIC, so that a pod can ask for each rail once."""
    card = nic_model(rail.adapter.model)
    vendor, _, device = (card.pci_id if card else "").partition(":")
    selector: Manifest = {"pfNames": [rail.nic.name]}
    selector |= {"vendor": vendor, "deviceID": device} if device else {}
    selector |= {"rootDevices": [rail.adapter.pci]} if rail.adapter.pci else {}
    return {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": rail.name, "namespace": OPERATOR},
        "spec": {
            "resourceName": rail.resource,
            "nodeSelector": {GROUP_LABEL: rail.group},
            "nicSelector": selector,
            "numVfs": 1,
            "mtu": rail.mtu_bytes,
            "isRdma": True,
            "linkType": "eth",
            "deviceType": "netdevice",
        },
    }


def pool(rail: Rail) -> Manifest:
    """The addresses that the switches expect, host by host. Left to itself the controller has an order of its own.

    Raises UsageError where no pool of the plane covers them.
    """
    addresses = [ip_interface(address) for _, address, _ in rail.addresses]
    fabric = [prefix for prefix in rail.plane.host_prefixes if ip_network(prefix).version == addresses[0].version]
    own = next((prefix for prefix in fabric if all(one in ip_network(prefix) for one in addresses)), None)
    if own is None:
        raise UsageError(f"{rail.name}: no pool of plane {rail.plane.name} in fabric.json has all its addresses")
    return {
        "apiVersion": "nv-ipam.nvidia.com/v1alpha1",
        "kind": "CIDRPool",
        "metadata": {"name": rail.name, "namespace": OPERATOR},
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
    """What a pod names in its annotation: the virtual function, its settings, and routes by source address."""
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
    """The NCCL variables of the group's own file, for pods."""
    kept = {key: text for key, text in settings.items() if key not in _NOT_OF_PODS}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _map_name(group), "namespace": POD_NAMESPACE},
        "data": {"NCCL_SOCKET_IFNAME": "eth0", **kept},
    }


def _map_name(group: str) -> str:
    return f"nccl-{group}".lower().replace("_", "-").replace(".", "-")


def pod(wiring: Wiring, group: str, rails: list[Rail]) -> Manifest:
    """An example: a pod that has every compute NIC of its node."""
    compute = [rail for rail in rails if rail.plane.purpose == "compute"]
    model = _model_of(wiring, group)
    interfaces = [
        {"name": rail.name, "namespace": POD_NAMESPACE, "interface": f"net{number}"}
        for number, rail in enumerate(compute, 1)
    ]
    gpus = {"amd": "amd.com/gpu"}.get(model.vendor, "nvidia.com/gpu")
    resources = {gpus: str(model.gpus)} if model.gpus else {}
    resources |= {f"{RESOURCE_PREFIX}/{rail.resource}": "1" for rail in compute}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{_map_name(group)}-example",
            "namespace": POD_NAMESPACE,
            "annotations": {"k8s.v1.cni.cncf.io/networks": json.dumps(interfaces)},
        },
        "spec": {
            "nodeSelector": {GROUP_LABEL: group},
            "containers": [
                {
                    "name": "worker",
                    "image": EXAMPLE_IMAGE,
                    "command": ["sleep", "infinity"],
                    "envFrom": [{"configMapRef": {"name": _map_name(group)}}],
                    "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
                    "resources": {"requests": resources, "limits": dict(resources)},
                    "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
                }
            ],
            "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}],
        },
    }


def _model_of(wiring: Wiring, group: str) -> WiredModel:
    name = next(host.model for host in wiring.hosts if host.group == group)
    return next(model for model in wiring.host_models if model.name == name)


class _Dumper(yaml.SafeDumper):
    """Block style for texts of several lines, so that the JSON in them can be read; never an alias."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _dump(manifests: list[Manifest]) -> bytes:
    dumped: bytes = yaml.dump_all(
        manifests, Dumper=_Dumper, encoding="utf-8", sort_keys=False, explicit_start=True, width=120
    )
    return dumped
