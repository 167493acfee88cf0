"""What schedulers refuse beyond their schemas: the rules of their definitions in CEL, and of their code."""

from collections.abc import Iterable
from typing import Any

HOSTNAME = "kubernetes.io/hostname"
Object = dict[str, Any]


def refused(objects: Iterable[Object]) -> list[str]:
    """The mistakes in the objects of one fabric together."""
    found: list[str] = []
    every = list(objects)
    topologies = {one["metadata"]["name"] for one in every if one["kind"] == "Topology"}
    nodes = {one["metadata"]["name"] for one in every if one["kind"] == "HyperNode"}
    parents: dict[str, str] = {}
    for one in every:
        name, spec = one["metadata"]["name"], one["spec"]
        if one["kind"] == "Topology":
            keys = [level["nodeLabel"] for level in spec["levels"]]
            found += [f"{name}: a level twice"] * (len(keys) > len(set(keys)))
            found += [f"{name}: the hostname is not the last level"] * (HOSTNAME in keys[:-1])
        elif one["kind"] == "ResourceFlavor":
            found += [f"{name}: no label"] * (not spec.get("nodeLabels"))
            found += [f"{name}: unknown topology"] * (spec["topologyName"] not in topologies)
        elif one["kind"] == "HyperNode":
            for member in spec["members"]:
                selectors = member.get("selector", {})
                found += [f"{name}: not one selector"] * (len(selectors) != 1)
                if member["type"] == "HyperNode":
                    inner = selectors["exactMatch"]["name"]
                    found += [f"{name}: unknown member {inner}"] * (inner not in nodes)
                    found += [f"{inner}: two parents"] * (parents.setdefault(inner, name) != name)
        elif one["kind"] == "ClusterNetworkTopology":
            found += [f"{name}: not read, expected default"] * (name != "default")
            found += _layers(spec["networkTopologySpec"])
    return found


def _layers(layers: list[Object]) -> list[str]:
    """Koordinator follows the parents from the layer of nodes and must meet every layer."""
    by_name = {layer["topologyLayer"]: layer for layer in layers}
    name, met = "NodeTopologyLayer", 0
    while name in by_name and met < len(layers):
        name, met = by_name[name].get("parentTopologyLayer", ""), met + 1
    return [] if met == len(layers) and not name else [f"layers: {met} of {len(layers)} from the nodes upwards"]
