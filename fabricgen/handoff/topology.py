"""The tiers of the fabric for schedulers in Kubernetes: node labels, and the objects that list them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fabricgen.errors import UsageError
from fabricgen.handoff import Handoff, Option, WrittenFiles
from fabricgen.handoff.chosen import object_name, refuse_node_names
from fabricgen.handoff.launch_kit import FILE, launch_kit_file
from fabricgen.handoff.manifests import GROUP_LABEL, dump
from fabricgen.handoff.node_tiers import FAMILIES, NodeLevel, label_value, tiers_of, with_domains
from fabricgen.handoff.templates import yaml_bytes
from fabricgen.handoff.topology_kinds import (
    hyper_nodes,
    kai_topology,
    koordinator_topology,
    kueue_flavor,
    kueue_topology,
)
from fabricgen.hostlist import hostlist_parts

if TYPE_CHECKING:
    from fabricgen.bundle.locality import Locality
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredHost

_MOST_NODES = 500  # of one kubectl command: a line far below the 128 KiB that Linux allows for an argument list
_HEAD = """#!/bin/sh
# Sets the labels of the nodes. Arguments are added to each call of kubectl, for example --dry-run=server.
set -eu
"""
_DOMAIN = "accelerator.topology.test/domain"  # the annotation of topograph's models


def topology_files(
    bundle: "Bundle",
    labels: str = "topograph",
    format: str = "objects",  # noqa: A002 (the name of the option)
) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes): label-nodes.sh, a file for each scheduler, and the model for topograph; with the format
    l8k the file for NVIDIA's launch kit.

    `labels` is the family of label keys. Raises UsageError if the bundle has no hosts with GPUs on a compute plane, and
    for names and tiers that Kubernetes or the labels do not allow.
    """
    from fabricgen.bundle.locality import localities

    if format == "l8k":
        yield launch_kit_file(bundle)
        return
    wiring = bundle.wiring
    roots = localities(wiring) if wiring else ()
    if wiring is None or not roots:
        raise UsageError("the bundle has no hosts with GPUs on a compute plane: no nodes to label")
    nodes = {name for root in roots for name in root.hosts}
    hosts = [host for host in wiring.hosts if host.name in nodes]
    refuse_node_names(host.name for host in hosts)
    keys = FAMILIES[labels]
    tiers = tiers_of(roots, keys)
    levels = with_domains(tiers, hosts, keys)
    name = object_name(wiring.fabric)
    groups = list(dict.fromkeys(host.group for host in hosts))
    flavors = [kueue_flavor(f"{name}-{object_name(group)}", name, (GROUP_LABEL, group)) for group in groups]
    _refuse_equal_flavors(groups)
    yield "label-nodes.sh", _script(hosts, tiers, keys.nvlink)
    yield "kueue.yaml", dump([kueue_topology(name, levels), *flavors])
    yield "kai.yaml", dump([kai_topology(name, levels)])
    yield "volcano.yaml", dump(list(hyper_nodes(name, levels)))
    yield "koordinator.yaml", dump([koordinator_topology(levels)])
    yield "topograph-model.yaml", yaml_bytes(_model(roots, hosts))


def _refuse_equal_flavors(groups: Sequence[str]) -> None:
    owners: dict[str, str] = {}
    for group in groups:
        if (other := owners.setdefault(object_name(group), group)) != group:
            raise UsageError(
                f"groups {other} and {group} have the same name in Kubernetes, {object_name(group)}; rename one of them"
            )


def _script(hosts: Sequence["WiredHost"], tiers: Sequence[NodeLevel], nvlink: str) -> bytes:
    """Commands that set the labels; hosts with the same labels share a command."""
    alike: dict[str, list[str]] = {}
    for host in hosts:
        values = {GROUP_LABEL: label_value(host.group)}
        values |= {tier.key: tier.value_of[host.name] for tier in reversed(tiers)}
        values |= {nvlink: label_value(host.nvlink_domain)} if host.nvlink_domain else {}
        alike.setdefault(" ".join(f"{key}={value}" for key, value in values.items()), []).append(host.name)
    commands = (
        f'kubectl label nodes --overwrite "$@" {" ".join(names[first : first + _MOST_NODES])} {text}\n'
        for text, names in alike.items()
        for first in range(0, len(names), _MOST_NODES)
    )
    return (_HEAD + "".join(commands)).encode()


def _model(roots: Sequence["Locality"], hosts: Sequence["WiredHost"]) -> Mapping[str, Any]:
    """A model that topograph's providers for tests and simulation read: switches with children, and blocks of nodes."""
    groups = [group for root in roots for group in root.within()]
    switches: dict[str, Any] = {
        group.name: {"switches": [part.name for part in group.parts]} for group in groups if group.parts
    }
    # A switch without a parent needs an entry.
    alone: dict[str, Any] = {root.name: {} for root in roots if not root.parts}
    domain_of = {host.name: host.nvlink_domain for host in hosts}
    blocks = []
    for group in groups:
        by_domain: dict[str, list[str]] = {}
        for host in () if group.parts else group.hosts:
            by_domain.setdefault(domain_of[host], []).append(host)
        for domain, names in by_domain.items():
            block: dict[str, Any] = {"switch": group.name, "nodes": list(hostlist_parts(names))}
            blocks.append(block | ({"annotations": {_DOMAIN: domain}} if domain else {}))
    return {"switches": switches | alone, "blocks": blocks}


def _notes(files: WrittenFiles) -> Iterator[str]:
    if FILE in files:
        yield (
            "l8k makes its own addresses from this file, which are not those of the switches: replace its CIDRPools "
            "by those of `fabricgen handoff kubernetes`"
        )


def _next_step(format: str, **_: object) -> str:  # noqa: A002 (the name of the option)
    if format == "l8k":
        return f"l8k generate --topology-file {{output}}/{FILE} --topology-scheme 2-tier, or 3-tier with cores"
    return "sh {output}/label-nodes.sh, and kubectl apply -f the file of your scheduler"


HANDOFF = Handoff(
    "topology",
    "Write node labels for the tiers of the fabric, and the topology objects of Kueue, KAI, Volcano and Koordinator.",
    topology_files,
    (
        Option(
            "labels",
            "Keys of the labels: those of topograph 1.0 and later, or of network.topology.nvidia.com before it.",
            "topograph",
            tuple(FAMILIES),
        ),
        Option(
            "format",
            "Objects of schedulers, or the topology file of NVIDIA's launch kit (l8k).",
            "objects",
            ("objects", "l8k"),
        ),
    ),
    _next_step,
    _notes,
    examples=("", "--labels nvidia", "--format l8k"),
)
