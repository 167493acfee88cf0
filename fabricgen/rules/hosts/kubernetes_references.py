"""The rule on what objects of Kubernetes name: pools, resources and networks that another object makes."""

import json
from collections.abc import Iterator

from fabricgen.bundle.manifests import Manifest, ObservedManifests
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.manifests import GROUP_LABEL, RENDER_AGAIN, group_name, place_of

_NETWORKS, _RESOURCE = "k8s.v1.cni.cncf.io/networks", "k8s.v1.cni.cncf.io/resourceName"


@rule("FG923", Severity.ERROR, "An object of Kubernetes names another that does not exist", Basis.AGREEMENT)
def kubernetes_references(fabric: Fabric) -> Iterator[Defect]:
    """What: The CIDRPool of each network and rail, the resource of each network and pod, the networks of each pod and
    the templates of its claims are among the objects of kubernetes/. So is its ConfigMap of NCCL, and the
    fabric has the group of hosts that an object selects. The JSON of networks can be read, and has the plug-ins that
    several rails need.

    Why: The API server does not compare objects. A pod that names a missing network or resource waits for ever.

    Example: The network gpu-rail0 has the pool gpu-rail8.

    Fix: Correct the name.

    Source: k8snetworkplumbingwg/multus-cni, annotations of pods; Mellanox/nvidia-k8s-ipam@3ce4a34 (poolName, poolType);
    k8snetworkplumbingwg/sriov-network-operator@249e2001 (resourceName).
    """
    if (manifests := fabric.bundle.kubernetes) is not None:
        yield from _references(manifests)
        yield from _nodes(fabric, manifests)


def _nodes(fabric: Fabric, manifests: ObservedManifests) -> Iterator[Defect]:
    """Groups of hosts that objects select by label and that the fabric does not have."""
    known = {host.group for host in fabric.hosts.values()}
    for one in manifests.objects:
        selected: list[tuple[str, tuple[str | int, ...]]] = [(group_name(one), ("spec", "nodeSelector"))]
        for at, term in enumerate(one.rows("spec", "nodeSelector", "nodeSelectorTerms")):
            rows = term.get("matchExpressions")
            for row in rows if isinstance(rows, list) else ():
                values = row.get("values") if isinstance(row, dict) and row.get("key") == GROUP_LABEL else None
                of_term = ("spec", "nodeSelector", "nodeSelectorTerms", at)
                selected += [(str(value), of_term) for value in (values if isinstance(values, list) else ())]
        for group, path in selected:
            if group and group not in known:
                message = f"the fabric has no group {group} of hosts: no node has the label"
                yield Defect(place_of(manifests, one, *path), message, RENDER_AGAIN)


def _references(manifests: ObservedManifests) -> Iterator[Defect]:
    """Pools, resources and networks that objects name and that no object makes."""
    pools = {one.name for one in manifests.objects if one.kind == "CIDRPool"}
    resources = {
        str(one.get("spec", "resourceName"))
        for one in manifests.objects
        if one.kind in ("SriovNetworkNodePolicy", "HostDeviceNetwork")
    }
    networks = {
        one.name for one in manifests.objects if one.kind in ("NetworkAttachmentDefinition", "HostDeviceNetwork")
    }
    # The driver of a ComputeDomain makes a template for pods.
    templates = {one.name for one in manifests.objects if one.kind == "ResourceClaimTemplate"}
    domain = ("spec", "channel", "resourceClaimTemplate", "name")
    templates |= {str(one.get(*domain)) for one in manifests.objects if one.kind == "ComputeDomain"}
    rails = {str(row.get("name")) for one in manifests.objects for row in one.rows("spec", "railTopology")}
    for one in manifests.objects:
        for at, row in enumerate(one.rows("spec", "railTopology")):
            if (pool := row.get("cidrPoolRef")) is not None and pool not in pools:
                yield Defect(
                    place_of(manifests, one, "spec", "railTopology", at, "cidrPoolRef"),
                    _undefined("cidrPoolRef", "CIDRPool", pool),
                    RENDER_AGAIN,
                )
        if one.kind == "NetworkAttachmentDefinition":
            yield from _attachment(manifests, one, pools, resources)
        if one.kind == "Pod":
            yield from _pod(manifests, one, networks | rails, resources | rails)
            yield from _namespaces(manifests, one)
            yield from _maps(manifests, one)
            for at, row in enumerate(one.rows("spec", "resourceClaims")):
                if (name := row.get("resourceClaimTemplateName")) is not None and name not in templates:
                    path = ("spec", "resourceClaims", at, "resourceClaimTemplateName")
                    problem = _undefined(path[-1], "ResourceClaimTemplate", name)
                    yield Defect(place_of(manifests, one, *path), problem, RENDER_AGAIN)


def _undefined(what: object, kind: str, name: object) -> str:
    return f"{what} names the {kind} {name}, which no file defines"


def _attachment(manifests: ObservedManifests, one: Manifest, pools: set[str], resources: set[str]) -> Iterator[Defect]:
    place = place_of(manifests, one, "spec", "config")
    try:
        config = json.loads(str(one.get("spec", "config")))
        plugins = [plugin for plugin in config["plugins"] if isinstance(plugin, dict)]
    except (ValueError, TypeError, KeyError):
        yield Defect(place, "config is not the JSON of a network", RENDER_AGAIN)
        return
    asked = str(one.get("metadata", "annotations", _RESOURCE)).rpartition("/")[2]
    if asked not in resources:
        yield Defect(
            place_of(manifests, one, "metadata", "annotations"), f"no policy has the resource {asked}", RENDER_AGAIN
        )
    first = plugins[0] if plugins else {}
    ipam = first.get("ipam")
    if isinstance(ipam, dict) and ipam.get("type") == "nv-ipam":
        if ipam.get("poolName") not in pools:
            yield Defect(place, _undefined("poolName", "CIDRPool", ipam.get("poolName")), RENDER_AGAIN)
        elif ipam.get("poolType") != "cidrpool":
            yield Defect(place, "poolType is not cidrpool, so nv-ipam looks for an IPPool", "set poolType to cidrpool")
    if first.get("type") == "sriov" and not any(plugin.get("type") == "sbr" for plugin in plugins):
        yield Defect(place, "without the plug-in sbr all rails of a pod answer by the first one", "add {type: sbr}")
    mtus = {plugin["mtu"] for plugin in plugins if plugin.get("type") == "tuning" and "mtu" in plugin}
    policies = [
        each
        for each in manifests.objects
        if each.kind == "SriovNetworkNodePolicy" and each.get("spec", "resourceName") == asked
    ]
    for policy in policies:
        if mtus and policy.get("spec", "mtu") not in mtus:
            related = (("the policy", place_of(manifests, policy, "spec", "mtu")),)
            message = f"mtu is {sorted(mtus)[0]} for pods, and {policy.get('spec', 'mtu')} in the policy"
            yield Defect(place, message, "use one MTU", related)


def _namespaces(manifests: ObservedManifests, pod: Manifest) -> Iterator[Defect]:
    """Networks of a pod that are in another namespace than the pod names."""
    of_network = {one.name: _namespace(one) for one in manifests.objects if one.kind == "NetworkAttachmentDefinition"}
    try:
        asked = json.loads(str(pod.get("metadata", "annotations", _NETWORKS)))
    except ValueError:
        return  # reported with the names
    for row in asked if isinstance(asked, list) else ():
        if isinstance(row, dict) and (own := of_network.get(str(row.get("name")))):
            named = str(row.get("namespace") or _namespace(pod))
            if own != named:
                message = f"the network {row['name']} is in namespace {own}, and the pod names {named}"
                yield Defect(place_of(manifests, pod, "metadata", "annotations"), message, RENDER_AGAIN)


def _namespace(one: Manifest) -> str:
    return str(one.get("metadata", "namespace") or "default")


def _maps(manifests: ObservedManifests, pod: Manifest) -> Iterator[Defect]:
    """Variables of NCCL that a pod names and no ConfigMap has."""
    maps = {one.name for one in manifests.objects if one.kind == "ConfigMap"}
    for at, container in enumerate(pod.rows("spec", "containers")):
        rows = container.get("envFrom")
        sources = [row.get("configMapRef") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        for name in [str(source.get("name")) for source in sources if isinstance(source, dict)]:
            if name.startswith("nccl-") and name not in maps:
                path = ("spec", "containers", at, "envFrom")
                yield Defect(place_of(manifests, pod, *path), _undefined("envFrom", "ConfigMap", name), RENDER_AGAIN)


def _pod(manifests: ObservedManifests, one: Manifest, networks: set[str], resources: set[str]) -> Iterator[Defect]:
    text = one.get("metadata", "annotations", _NETWORKS)
    place = place_of(manifests, one, "metadata", "annotations")
    try:
        asked = [str(row["name"]) for row in json.loads(str(text))] if text is not None else []
    except (ValueError, TypeError, KeyError):
        yield Defect(place, "the annotation of networks is not a JSON list of names", RENDER_AGAIN)
        asked = []
    for name in asked:
        if name not in networks:
            yield Defect(place, _undefined("the pod", "network", name), RENDER_AGAIN)
    for at, container in enumerate(one.rows("spec", "containers")):
        requests = (
            container.get("resources", {}).get("requests", {}) if isinstance(container.get("resources"), dict) else {}
        )
        for key in requests if isinstance(requests, dict) else ():
            vendor, _, name = str(key).partition("/")
            if vendor == "nvidia.com" and name != "gpu" and name not in resources:
                path = ("spec", "containers", at, "resources", "requests")
                yield Defect(place_of(manifests, one, *path), f"no policy has the resource {name}", RENDER_AGAIN)
