"""Spectrum-X of one group of hosts: NIC settings, interface names, rails, and claims of a GPU with its NICs.

Kinds and fields: Mellanox/spectrum-x-operator, branches network-operator-26.4.x and 26.7.x, and 246268d5; templates of
NICs as in manifests_nics.py; ResourceClaimTemplate: kubernetes 1.34, resource.k8s.io/v1. Names and versions:
NVIDIA/k8s-launch-kit@378fd361 profiles/spectrum-x-ra2.2, spectrum-x, spectrum-x-ra2.4.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fabricgen.errors import UsageError
from fabricgen.handoff.chosen import object_name
from fabricgen.handoff.manifests import (
    GROUP_LABEL,
    OPERATOR,
    POD_NAMESPACE,
    RESOURCE_PREFIX,
    Manifest,
    Operator,
    Rail,
    image,
)
from fabricgen.handoff.manifests_nics import nic_template
from fabricgen.vocabulary import Isolation

_PLANES = (1, 2, 4)  # numberOfPlanes of spectrumXOptimized
_PLATFORMS = ("h100", "h200", "b200", "gb200", "b300", "gb300", "vr", "rtx")  # pkg/config/spectrumx_platform.go
_INTERFACE, _RDMA = "eth_p{plane}_r{rail}", "roce_p{plane}_r{rail}"


@dataclass(frozen=True)
class SpectrumX:
    """The NICs of a group by rail, each with one port for each plane. Raises UsageError for other shapes."""

    group: str
    model: str  # of the hosts
    rails: tuple[tuple[Rail, ...], ...]  # by rail, then by plane
    shares_pcie_root: bool  # whether a GPU and its NICs are below one PCIe switch

    def __post_init__(self) -> None:
        if len({len(rail) for rail in self.rails}) > 1 or self.planes not in _PLANES:
            raise UsageError(
                f"group {self.group}: Spectrum-X has 1, 2 or 4 planes, and each rail a port on each of them"
            )

    @property
    def planes(self) -> int:
        """The number of planes."""
        return len(self.rails[0])

    @property
    def overlay(self) -> str:
        """The word for VXLAN: l3 if leaves send the packets of the NICs to VTEPs (EVPN)."""
        of_planes = {rail.plane.isolation for ports in self.rails for rail in ports}
        return "l3" if Isolation.EVPN in of_planes else "none"

    def name(self, rail: int, plane: int) -> str:
        """The name of a rail, or of its port on a plane: the network, the resource and the device of a pod."""
        return f"rail{rail}" if self.planes == 1 else f"rail{rail}p{plane}"

    def pool_name(self, rail: int, plane: int) -> str:
        """The name of its pool of addresses."""
        return f"rail-{rail}" if self.planes == 1 else f"rail-{rail}-plane-{plane}"

    @property
    def ports(self) -> Iterator[tuple[int, int, Rail]]:
        """(rail, plane, NIC port) of all ports."""
        return ((r, p, port) for r, rail in enumerate(self.rails) for p, port in enumerate(rail))


def spectrum_x_operator(operator: Operator) -> Manifest:
    """The section of the cluster policy."""
    plane = {"image": "xplane", "repository": "nvcr.io/nvidia/doca", "version": operator.xplane}
    return {"spectrumXOperator": image("spectrum-x-operator", operator, xPlane=plane)}


def spectrum_x_values() -> Manifest:
    """Values of the chart of the SR-IOV operator: bridges for planes, claims, and the firmware of NICs left to the
    operator that configures them."""
    gates = {"manageSoftwareBridges": True, "dynamicResourceAllocation": True}
    return {"sriovOperatorConfig": {"deploy": True, "featureGates": gates, "disablePlugins": ["mellanox"]}}


def spectrum_x_settings(group: SpectrumX, operator: Operator) -> Manifest:
    """NVIDIA's own settings for the NICs. Raises UsageError for a host model without a platform that NVIDIA names."""
    optimized: Manifest = {"enabled": True, "version": operator.architecture, "overlay": group.overlay}
    optimized |= {"multiplaneMode": "none" if group.planes == 1 else "swplb", "numberOfPlanes": group.planes}
    if operator.has_platform_type:
        platform = max((one for one in _PLATFORMS if one in group.model.lower()), key=len, default=None)
        if platform is None:
            raise UsageError(
                f"host model {group.model}: Spectrum-X needs its platform; give the model a name with one of "
                f"{', '.join(_PLATFORMS)}"
            )
        optimized |= {"platformType": platform} | ({"version": "RA3.1"} if platform == "vr" else {})
    first = [rail[0] for rail in group.rails]  # the first function stands for its NIC
    return nic_template(object_name(f"{group.group}-spectrum-x"), first, {"spectrumXOptimized": optimized})


def interface_names(group: SpectrumX) -> Manifest | None:
    """The names of interfaces and RDMA devices by rail and plane; None without the PCI addresses of the NICs."""
    addresses = [rail[0].adapter.pci for rail in group.rails]
    if not all(addresses):
        return None
    numbers = {"plane": "%plane_id%", "rail": "%rail_id%"}
    return {
        "apiVersion": "configuration.net.nvidia.com/v1alpha1",
        "kind": "NicInterfaceNameTemplate",
        "metadata": {"name": object_name(f"{group.group}-names"), "namespace": OPERATOR},
        "spec": {
            "nodeSelector": {GROUP_LABEL: group.group},
            "rdmaDevicePrefix": _RDMA.format(**numbers),
            "netDevicePrefix": _INTERFACE.format(**numbers),
            "pfsPerNic": group.planes,
            "railPciAddresses": [[address] for address in addresses],
        },
    }


def rail_pool_config(group: SpectrumX) -> Manifest:
    """The rails: the operator makes the policies, bridges and networks of pods from them."""
    return {
        "apiVersion": "spectrumx.nvidia.com/v1alpha2",
        "kind": "SpectrumXRailPoolConfig",
        "metadata": {"name": object_name(f"{group.group}-rails"), "namespace": OPERATOR},
        "spec": {
            "draEnabled": True,
            "nodeSelector": {GROUP_LABEL: group.group},
            "networkNamespace": POD_NAMESPACE,
            "numVfs": 1,
            "railTopology": [
                {
                    "name": group.name(rail, plane),
                    "nicSelector": {"pfNames": [_INTERFACE.format(rail=rail, plane=plane)]},
                    "cidrPoolRef": group.pool_name(rail, plane),
                    "mtu": port.mtu_bytes,
                }
                for rail, plane, port in group.ports
            ],
        },
    }


def claims(group: SpectrumX) -> dict[str, Manifest]:
    """Name -> claim template of one GPU with the ports of its rails; of a rail, where the model names no GPU."""
    by_gpu: dict[str, list[tuple[str, bool]]] = {}
    for rail, plane, port in group.ports:
        one = group.name(rail, plane), port.adapter.gpu is not None
        by_gpu.setdefault(claim_name(rail, port), []).append(one)
    return {name: _claim(group, name, ports) for name, ports in by_gpu.items()}


def claim_name(rail: int, port: Rail) -> str:
    """The name of the claim that has a port."""
    return f"rail{rail}" if port.adapter.gpu is None else f"gpu{port.adapter.gpu}"


def _claim(group: SpectrumX, name: str, ports: list[tuple[str, bool]]) -> Manifest:
    has_gpu = ports[0][1]
    requests: list[Manifest] = [_request("gpu", "gpu.nvidia.com")] if has_gpu else []
    for port, _ in ports:
        resource = f'device.attributes["k8s.cni.cncf.io"].resourceName == "{RESOURCE_PREFIX}/{port}"'
        requests.append(_request(port, "sriovnetwork.k8snetworkplumbingwg.io", resource))
    devices: Manifest = {"requests": requests}
    if has_gpu and group.shares_pcie_root:
        names = [one["name"] for one in requests]
        devices["constraints"] = [{"requests": names, "matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": object_name(f"{group.group}-{name}"), "namespace": POD_NAMESPACE},
        "spec": {"spec": {"devices": devices}},
    }


def _request(name: str, device_class: str, expression: str = "") -> Manifest:
    selectors = {"selectors": [{"cel": {"expression": expression}}]} if expression else {}
    return {"name": name, "exactly": {"deviceClassName": device_class, "count": 1, **selectors}}
