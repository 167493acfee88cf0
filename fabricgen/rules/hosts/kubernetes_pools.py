"""What nv-ipam refuses or ignores in a pool, and hosts that a pool leaves out.

The rendered cluster policy has no webhook, so the API server accepts such a pool, and pods get no address, or another.
"""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network

from fabricgen.bundle.manifests import Manifest, ObservedManifests
from fabricgen.bundle.wiring import WiredNic
from fabricgen.rules.view.fabric import Fabric

Fault = tuple[str, str]  # the key below spec, the message


def refusals(one: Manifest, nodes: Mapping[str, str]) -> Iterator[Fault]:
    """Why nv-ipam refuses a pool. `nodes` are host -> prefix, of the allocations that agree with the fabric.

    Source: Mellanox/nvidia-k8s-ipam@07ef8820 api/v1alpha1/cidrpool_validate.go (Validate, validateCIDR,
    validateStaticAllocations).
    """
    text = one.get("spec", "cidr")
    cidr = _prefix(text)
    if cidr is None:
        yield "cidr", f"cidr is {text or 'missing'}, which is not a prefix"
        return
    length, index = one.get("spec", "perNodeNetworkPrefix"), one.get("spec", "gatewayIndex")
    networks = {host: ip_network(prefix) for host, prefix in nodes.items()}
    lengths = {network.prefixlen for network in networks.values()} or {length}
    if not _is_number(length) or lengths != {length} or not max(cidr.prefixlen, 1) <= length <= cidr.max_prefixlen:
        expected = f", expected {min(lengths)}" if networks else ""
        yield "perNodeNetworkPrefix", f"perNodeNetworkPrefix is {'missing' if length is None else length}{expected}"
        return
    for host, network in networks.items():
        if network.version != cidr.version or network.network_address not in cidr:
            yield "cidr", f"cidr is {text}, which does not contain {network} of {host}"
            break
    rows = one.rows("spec", "staticAllocations")
    for key in ("nodeName", "prefix"):
        values = [str(row[key]) for row in rows if row.get(key)]
        if twice := [value for value in values if values.count(value) > 1]:
            yield "staticAllocations", f"{twice[0]} is {key} twice"
            break
    if index is None and not one.rows("spec", "routes"):
        return
    if not _is_number(index) or not 0 <= index < 1 << (cidr.max_prefixlen - length):
        shown = "missing, which routes need" if index is None else f"{index}, which is outside of a /{length}"
        yield "gatewayIndex", f"gatewayIndex is {shown}"


def missing_hosts(fabric: Fabric, manifests: ObservedManifests, nic: WiredNic, nodes: Mapping[str, str]) -> list[str]:
    """Hosts of other pools that have the NIC of this pool and no allocation in it: nv-ipam gives them a free prefix."""
    others = {str(row.get("nodeName")) for each in _pools(manifests) for row in each.rows("spec", "staticAllocations")}
    groups = {fabric.hosts[name].group for name in nodes}
    return [
        name
        for name, host in fabric.hosts.items()
        if name in others
        and name not in nodes
        and host.group in groups
        and any(own.name == nic.name and own.addresses for own in host.nics)
    ]


def is_of_hosts(fabric: Fabric, one: Manifest) -> bool:
    """Whether a pool gives addresses of the hosts' pools of a plane."""
    cidr = _prefix(one.get("spec", "cidr"))
    known = (ip_network(prefix) for plane in fabric.planes.values() for prefix in plane.host_prefixes)
    return cidr is not None and any(cidr.version == own.version and cidr.overlaps(own) for own in known)


def _pools(manifests: ObservedManifests) -> Iterator[Manifest]:
    return (one for one in manifests.objects if one.kind == "CIDRPool")


def _prefix(text: object) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(str(text))
    except ValueError:
        return None


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
