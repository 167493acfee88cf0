"""The manifests of one group's InfiniBand NICs for Kubernetes: virtual functions, their networks by tenant, IPoIB.

Ports of virtual functions exist only with NVIDIA's subnet manager (virt_enabled 2 of opensm.conf, UFM): OpenSM 3.3.23
gives them no LID. Without it, pods get the physical functions.

Kinds and fields: as in manifests.py; the CNI plug-in ib-sriov and ib-kubernetes, whose P_Keys have 15 bits
(Mellanox/ib-kubernetes, IsPKeyValid; network-operator, examples of SR-IOV InfiniBand networks).
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff.manifests import (
    POD_NAMESPACE,
    RESOURCE_PREFIX,
    Manifest,
    Operator,
    Rail,
    image,
    nic_ids,
    sriov_policy,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

UFM_SECRET = "ib-kubernetes-ufm-secret"
FIRST_GUID, LAST_GUID = "02:00:00:00:00:00:00:00", "02:FF:FF:FF:FF:FF:FF:FF"  # locally administered, as in its examples


@dataclass(frozen=True)
class Tenant:
    """A partition in which ports are full members. `pkey` has 15 bits."""

    name: str
    pkey: int


@dataclass(frozen=True)
class InfinibandRail(Rail):
    """A NIC of a group on an InfiniBand plane. `tenants` are those of its hosts. `has_ufm`: UFM manages the subnet."""

    tenants: tuple[Tenant, ...] = ()
    has_ufm: bool = False
    has_ipoib: bool = False

    @property
    def network(self) -> str:
        """The network for a pod: that of the first tenant."""
        return self.network_of(self.tenants[0]) if self.tenants and self.has_ufm else self.name

    @property
    def resource(self) -> str:
        """Without virtual functions the device plugin of the whole cluster serves it: groups share its name."""
        return self.name.replace("-", "_") if self.has_ufm else f"ib_{self.nic.name}".lower().replace("-", "_")

    def network_of(self, tenant: Tenant) -> str:
        """The network of a tenant; hosts of several tenants need several."""
        several = len(self.tenants) > 1
        return f"{self.name}-{tenant.name}".lower().replace("_", "-").replace(".", "-") if several else self.name


def ib_manifests(rail: InfinibandRail) -> "Iterator[Manifest]":
    """The policy, the networks and the IPoIB network of a NIC."""
    if rail.has_ufm:
        yield _node_policy(rail)
        for tenant in rail.tenants or (None,):
            yield _network(rail, rail.network_of(tenant) if tenant else rail.name, tenant)
    else:
        yield {
            "apiVersion": "mellanox.com/v1alpha1",
            "kind": "HostDeviceNetwork",
            "metadata": {"name": rail.name},  # a kind of the whole cluster
            "spec": {"networkNamespace": POD_NAMESPACE, "resourceName": rail.resource},
        }
    if rail.has_ipoib:
        yield {
            "apiVersion": "mellanox.com/v1alpha1",
            "kind": "IPoIBNetwork",
            "metadata": {"name": f"{rail.name}-ipoib"},  # a kind of the whole cluster
            "spec": {"networkNamespace": POD_NAMESPACE, "master": rail.nic.name},
        }


def ib_services(rails: "list[InfinibandRail]", operator: Operator) -> Manifest:
    """The sections of the cluster policy that InfiniBand needs."""
    made: Manifest = {}
    if any(rail.has_ufm for rail in rails):
        guids = {"pKeyGUIDPoolRangeStart": FIRST_GUID, "pKeyGUIDPoolRangeEnd": LAST_GUID}
        made["ibKubernetes"] = image("ib-kubernetes", operator, **guids, ufmSecret=UFM_SECRET, periodicUpdateSeconds=5)
    if any(rail.has_ipoib for rail in rails):
        made["secondaryNetwork"] = {"ipoib": image("ipoib-cni", operator)}
    if physical := [rail for rail in rails if not rail.has_ufm]:
        config = json.dumps({"resourceList": _physical_functions(physical)}, indent=2)
        made["sriovDevicePlugin"] = image("sriov-network-device-plugin", operator, config=config)
    return made


def _physical_functions(rails: "list[InfinibandRail]") -> list[Manifest]:
    """The resources of the device plugin: a NIC of all groups is one. Raises UsageError if one PCI address is that of
    different NICs, because the plugin has one list for the whole cluster."""
    selectors: dict[str, Manifest] = {}
    owner: dict[str, InfinibandRail] = {}
    for rail in rails:
        key, text = ("pciAddresses", rail.adapter.pci) if rail.adapter.pci else ("pfNames", rail.nic.name)
        first = owner.setdefault(text, rail)
        if first.resource != rail.resource:
            names = f"{first.nic.name} of group {first.group} and {rail.nic.name} of group {rail.group}"
            raise UsageError(
                f"{names} have one PCI address, {text}: write the groups to different clusters with --only"
            )
        own = selectors.setdefault(rail.resource, {})
        own.setdefault(key, [])
        own[key] = [*dict.fromkeys([*own[key], text])]
    return [
        {"resourcePrefix": RESOURCE_PREFIX, "resourceName": name, "selectors": {"isRdma": True, **own}}
        for name, own in selectors.items()
    ]


def _node_policy(rail: InfinibandRail) -> Manifest:
    """One virtual function for pods. Its MTU is that of the port, which the subnet manager sets."""
    # The interface of a NIC with a PCI address is ibN or ibp…, by the kernel; without one only its name is known.
    selector: Manifest = {"rootDevices": [rail.adapter.pci]} if rail.adapter.pci else {"pfNames": [rail.nic.name]}
    return sriov_policy(rail, selector | nic_ids(rail), "ib")


def _network(rail: InfinibandRail, name: str, tenant: Tenant | None) -> Manifest:
    """The network of a tenant. ib-kubernetes gives the GUID of the virtual function its P_Key, through UFM."""
    plugin: Manifest = {"type": "ib-sriov", "link_state": "enable"}
    plugin |= {"pkey": f"0x{tenant.pkey:x}"} if tenant else {}
    plugin |= {"ibKubernetesEnabled": True, "capabilities": {"infinibandGUID": True}} if rail.has_ufm else {}
    config = {"cniVersion": "0.3.1", "name": name, "plugins": [plugin]}
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": name,
            "namespace": POD_NAMESPACE,
            "annotations": {"k8s.v1.cni.cncf.io/resourceName": f"{RESOURCE_PREFIX}/{rail.resource}"},
        },
        "spec": {"config": json.dumps(config, indent=2)},
    }


def gpu_operator_values(*, storage: bool) -> Manifest:
    """Values of the GPU operator, from which it makes its ClusterPolicy: GPUDirect RDMA over DMA-BUF, which the open
    kernel modules have, with the NIC drivers of the host; nvidia_peermem is then not needed. GPUDirect Storage if the
    hosts have NICs on a storage plane."""
    rdma = {"enabled": False, "useHostMofed": True}  # `enabled` loads the older nvidia_peermem
    return {"driver": {"kernelModuleType": "open", "rdma": rdma}, "gds": {"enabled": storage}}
