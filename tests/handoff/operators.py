"""What the operators refuse beyond the structure of their definitions, and what no object may contradict in another.

Sources: Mellanox/nic-configuration-operator config/crd/bases (x-kubernetes-validations of each release);
Mellanox/spectrum-x-operator api/v1alpha2/spectrumxrailpoolconfig_types.go; Mellanox/nvidia-k8s-ipam@3ce4a34
api/v1alpha1/cidrpool_validate.go; kubernetes resource.k8s.io/v1 validation of constraints.
"""

from collections.abc import Iterable, Iterator
from ipaddress import ip_address, ip_network
from typing import Any

Document = dict[str, Any]
SPECTRUM_X_NICS = ("1023", "1025", "a2dc")


def refused(documents: Iterable[Document], release: str) -> list[str]:
    """What the operators of a release refuse."""
    every = list(documents)
    pools = {one["metadata"]["name"] for one in every if one["kind"] == "CIDRPool"}
    found: list[str] = []
    for one in every:
        if one["kind"] == "NicConfigurationTemplate":
            found += _template(one["spec"], release)
        elif one["kind"] == "CIDRPool":
            found += _pool(one["spec"])
        elif one["kind"] == "SpectrumXRailPoolConfig":
            topology = one["spec"]["railTopology"]
            found += [
                f"{rail['name']}: cidrPoolRef and ipam" for rail in topology if {"cidrPoolRef", "ipam"} <= set(rail)
            ]
            found += [f"{rail['name']}: no pool" for rail in topology if rail.get("cidrPoolRef") not in pools]
            names = [rail["name"] for rail in topology]
            found += ["a rail twice"] if len(set(names)) < len(names) else []
        elif one["kind"] == "ResourceClaimTemplate":
            devices = one["spec"]["spec"]["devices"]
            names = [request["name"] for request in devices["requests"]]
            found += ["a request twice"] if len(set(names)) < len(names) else []
            asked = [name for rule in devices.get("constraints", ()) for name in rule.get("requests", ())]
            found += [f"no request {name}" for name in asked if name not in names]
    return found


def _template(spec: Document, release: str) -> Iterator[str]:
    template = spec["template"]
    spectrum_x, roce = template.get("spectrumXOptimized", {}), template.get("roceOptimized", {})
    if spectrum_x.get("enabled"):
        planes, mode = spectrum_x.get("numberOfPlanes", 1), spectrum_x.get("multiplaneMode", "none")
        if roce.get("enabled"):
            yield "spectrumXOptimized beside roceOptimized"
        if template.get("linkType") != "Ethernet" or template["numVfs"] != 1:
            yield "spectrumXOptimized needs Ethernet and one function"
        if spec["nicSelector"]["nicType"] not in SPECTRUM_X_NICS:
            yield "not a NIC of Spectrum-X"
        if (mode == "none") != (planes == 1):
            yield "planes without a mode"
        if release == "26.10" and not spectrum_x.get("platformType"):
            yield "platformType is required"
    if release in ("26.1", "26.4") and template.get("linkType") is None:
        yield "linkType is required"


def _pool(spec: Document) -> Iterator[str]:
    cidr = ip_network(spec["cidr"])
    allocations = spec.get("staticAllocations", ())
    for one in allocations:
        prefix = ip_network(one["prefix"])
        if prefix.version != cidr.version or not prefix.subnet_of(cidr):  # type: ignore[arg-type]
            yield f"{prefix} is not in {cidr}"
        if prefix.prefixlen != spec["perNodeNetworkPrefix"] or ip_address(one["gateway"]) not in prefix:
            yield f"{prefix}: another length, or the gateway is outside"
    for key in ("nodeName", "prefix"):
        values = [one[key] for one in allocations]
        if len(set(values)) < len(values):
            yield f"a {key} twice"
    if spec.get("routes") and spec.get("gatewayIndex") is None:
        yield "routes need gatewayIndex"
