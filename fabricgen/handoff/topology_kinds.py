"""The tiers of a fabric as objects of schedulers in Kubernetes.

Kinds and fields: kueue@ff69552 (v1beta2), KAI-Scheduler@72de64f, volcano@ed72c7c, koordinator@1.8 (their custom
resource definitions); koordinator reads the object with the name "default" only.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fabricgen.errors import UsageError
from fabricgen.handoff.chosen import object_name
from fabricgen.handoff.node_tiers import HOSTNAME, NodeLevel

Manifest = dict[str, Any]


def kueue_topology(name: str, levels: Sequence[NodeLevel]) -> Manifest:
    """The levels of Kueue, the widest first."""
    return _topology("kueue.x-k8s.io/v1beta2", name, levels)


def kai_topology(name: str, levels: Sequence[NodeLevel]) -> Manifest:
    """The levels of the KAI scheduler, the widest first."""
    return _topology("kai.scheduler/v1alpha1", name, levels)


def _topology(version: str, name: str, levels: Sequence[NodeLevel]) -> Manifest:
    keys = [*(level.key for level in reversed(levels)), HOSTNAME]
    return _object(version, "Topology", name, {"levels": [{"nodeLabel": key} for key in keys]})


def kueue_flavor(name: str, topology: str, label: tuple[str, str]) -> Manifest:
    """The nodes with a label as a resource flavor with the topology."""
    spec = {"nodeLabels": dict([label]), "topologyName": topology}
    return _object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", name, spec)


def hyper_nodes(prefix: str, levels: Sequence[NodeLevel]) -> Iterator[Manifest]:
    """Volcano's groups. Those of the nearest level select nodes by label, the others have the groups below by name.

    A group with the same hosts as one below it is left out, because it adds nothing. Raises UsageError if two groups
    have the same name.
    """
    taken: set[str] = set()
    below: dict[str, str] = {}  # host -> the group that has it
    for tier, level in enumerate(levels, start=1):
        parts: dict[str, dict[str, None]] = {}
        for host, value in level.value_of.items():
            parts.setdefault(value, {})[below.get(host, host)] = None
        names = {}
        for value, inside in parts.items():
            if tier > 1 and len(inside) == 1:
                names[value] = next(iter(inside))
                continue
            names[value] = object_name(f"{prefix}-{value}")
            if names[value] in taken:
                raise UsageError(
                    f"two groups of hosts are the HyperNode {names[value]}: rename a pod or an NVLink domain"
                )
            taken.add(names[value])
            members = [_member("HyperNode", {"exactMatch": {"name": part}}) for part in inside]
            if tier == 1:
                members = [_member("Node", {"labelMatch": {"matchLabels": {level.key: value}}})]
            spec = {"tier": tier, "tierName": level.name, "members": members}
            yield _object("topology.volcano.sh/v1alpha1", "HyperNode", names[value], spec)
        below = {host: names[value] for host, value in level.value_of.items()}


def _member(kind: str, selector: Manifest) -> Manifest:
    return {"type": kind, "selector": selector}


def koordinator_topology(levels: Iterable[NodeLevel]) -> Manifest:
    """The layers of Koordinator, the widest first; the last one is that of nodes."""
    layers: list[Manifest] = []
    for level in reversed(list(levels)):
        layers.append({"topologyLayer": f"{level.name.capitalize()}Layer", **_parent(layers), "labelKey": [level.key]})
    layers.append({"topologyLayer": "NodeTopologyLayer", **_parent(layers)})
    spec = {"networkTopologySpec": layers}
    return _object("scheduling.koordinator.sh/v1alpha1", "ClusterNetworkTopology", "default", spec)


def _parent(layers: Sequence[Manifest]) -> Manifest:
    return {"parentTopologyLayer": layers[-1]["topologyLayer"]} if layers else {}


def _object(version: str, kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
