"""Slurm: the network as topology.conf or topology.yaml, and the nodes with their GPUs and features.

A scalable unit is one switch of the tree, although each rail has its own leaf: Slurm expects each node below one leaf.
Source: topology.conf(5), topology.yaml(5) and the topology guide of Slurm; read by slurmctld 22.05, 24.11 and 26.05.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff import Handoff, Option, WrittenFiles
from fabricgen.handoff.chosen import refuse_strange_names
from fabricgen.handoff.host_tenants import HostTenants, host_tenants
from fabricgen.handoff.templates import yaml_bytes
from fabricgen.hostlist import hostlist

if TYPE_CHECKING:
    from fabricgen.bundle.locality import Locality
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredHost, Wiring

NODES, PARTITIONS = "nodes.conf", "partitions.conf"
RELEASES = ("22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05")
_BLOCK_SIZES, _YAML = RELEASES.index("24.05"), RELEASES.index("25.05")  # the first releases that read them
_MOST_SIZES = 16  # levels of blocks
_MOST_CHARACTERS = 64  # of the name of a switch or block: 26.05 does not start with a longer one, 22.05 does
_TREE, _BLOCK = "tree", "block"


def slurm_files(
    bundle: "Bundle", slurm_release: str = "24.11", plugin: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes): topology.conf, or topology.yaml from 25.05; nodes.conf; fabric.conf with the options; and
    partitions.conf of a fabric with tenants.

    `plugin` is the topology of all partitions: by default block if NVLink joins several hosts, else tree. Raises
    UsageError if the bundle has no hosts with GPUs, or if the release cannot read the topology.
    """
    from fabricgen.bundle.locality import localities

    wiring = bundle.wiring
    roots = localities(wiring) if wiring else ()
    if wiring is None or not roots:
        raise UsageError("the bundle has no hosts with GPUs on a compute plane: Slurm has no nodes to place")
    release = RELEASES.index(slurm_release)
    nodes = {name for root in roots for name in root.hosts}
    hosts = [host for host in wiring.hosts if host.name in nodes]
    blocks = _blocks(hosts)
    chosen = plugin or _usual(hosts, blocks, release)
    if chosen == _BLOCK and not blocks:
        raise UsageError("--plugin block: NVLink joins no two hosts of the bundle; use --plugin tree")
    if chosen == _BLOCK and release < _BLOCK_SIZES:
        raise UsageError(f"--plugin block: Slurm {slurm_release} does not read BlockSizes; use 24.05 or later")
    refuse_strange_names(nodes, "host name")
    switches = [group for root in roots for group in root.within()]
    names = [*(group.name for group in switches), *blocks]
    refuse_strange_names(names, "name of a group of hosts")
    if long := [name for name in names if len(name) > _MOST_CHARACTERS]:
        raise UsageError(f"{long[0]}: Slurm reads names of at most {_MOST_CHARACTERS} characters; use a shorter name")
    if release >= _YAML:
        yield "topology.yaml", yaml_bytes(_topologies(switches, blocks, chosen))
    else:
        lines = _tree_lines(switches) if chosen == _TREE else _block_lines(blocks)
        yield "topology.conf", _text(lines)
    yield NODES, _text(_node_lines(hosts, switches, wiring))
    if (tenants := host_tenants(bundle)).by_nic:
        yield PARTITIONS, _text(_partition_lines(hosts, tenants))
    yield "fabric.conf", _text(_option_lines(wiring, chosen, release))


def _usual(hosts: list["WiredHost"], blocks: Mapping[str, list[str]], release: int) -> str:
    all_in_blocks = all(host.nvlink_domain for host in hosts)
    return _BLOCK if blocks and all_in_blocks and release >= _BLOCK_SIZES else _TREE


def _blocks(hosts: Iterable["WiredHost"]) -> dict[str, list[str]]:
    """NVLink domain -> its hosts."""
    found: dict[str, list[str]] = {}
    for host in hosts:
        if host.nvlink_domain:
            found.setdefault(host.nvlink_domain, []).append(host.name)
    return found


def _sizes(blocks: Mapping[str, list[str]]) -> list[int]:
    """The hosts of the smallest block, and its doubles up to all blocks together."""
    smallest = min(map(len, blocks.values()))
    powers = range(min(len(blocks).bit_length(), _MOST_SIZES))
    return [smallest << power for power in powers]


def _tree_lines(switches: list["Locality"]) -> Iterator[str]:
    for group in switches:
        below = f"Switches={hostlist(part.name for part in group.parts)}" if group.parts else ""
        yield f"SwitchName={group.name} {below or f'Nodes={hostlist(group.hosts)}'}"


def _block_lines(blocks: Mapping[str, list[str]]) -> Iterator[str]:
    for name, names in blocks.items():
        yield f"BlockName={name} Nodes={hostlist(names)}"
    yield f"BlockSizes={','.join(map(str, _sizes(blocks)))}"


def _topologies(switches: list["Locality"], blocks: Mapping[str, list[str]], chosen: str) -> list[dict[str, object]]:
    """The documents of topology.yaml. Partitions choose another one by Topology=NAME."""
    tree = [
        {"switch": group.name, "children": hostlist(part.name for part in group.parts)}
        if group.parts
        else {"switch": group.name, "nodes": hostlist(group.hosts)}
        for group in switches
    ]
    kinds: dict[str, object] = {_TREE: {"switches": tree}}
    if blocks:
        rows = [{"block": name, "nodes": hostlist(names)} for name, names in blocks.items()]
        kinds[_BLOCK] = {"block_sizes": _sizes(blocks), "blocks": rows}
    return [{"topology": kind, "cluster_default": kind == chosen, kind: value} for kind, value in kinds.items()]


def _node_lines(hosts: list["WiredHost"], switches: list["Locality"], wiring: "Wiring") -> Iterator[str]:
    """A line for the hosts with the same features: the group that shares switches, the model, the NVLink domain."""
    unit_of = {name: group.name for group in switches if not group.parts for name in group.hosts}
    gpus = {model.name: model.gpus for model in wiring.host_models}
    alike: dict[tuple[str, ...], list[str]] = {}
    for host in hosts:
        key = (unit_of[host.name], host.model, *filter(None, [host.nvlink_domain]))
        alike.setdefault(key, []).append(host.name)
    for features, names in alike.items():
        gres = f" Gres=gpu:{number}" if (number := gpus.get(features[1], 0)) else ""
        yield f"NodeName={hostlist(names)} Feature={','.join(features)}{gres}"


def _partition_lines(hosts: list["WiredHost"], tenants: HostTenants) -> Iterator[str]:
    """A partition for each tenant with its hosts. Slurm does not place a job by NIC, so a host whose NICs have several
    tenants is in none."""
    of_host = {host.name: tenants.of_host(host) for host in hosts}
    for tenant in tenants.names:
        if names := [name for name, own in of_host.items() if own == [tenant]]:
            yield f"PartitionName={tenant} Nodes={hostlist(names)} State=UP"
    if mixed := [name for name, own in of_host.items() if len(own) > 1]:
        yield f"# In no partition, because their NICs have several tenants: {hostlist(mixed)}"


def _option_lines(wiring: "Wiring", chosen: str, release: int) -> Iterator[str]:
    if release < _YAML:
        yield f"TopologyPlugin=topology/{chosen}"
    if chosen == _TREE and any(plane.design in ("dragonfly", "dragonfly-plus") for plane in wiring.planes):
        yield "TopologyParam=dragonfly"
    if any(model.gpus for model in wiring.host_models):
        yield "GresTypes=gpu"


def _text(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _notes(files: WrittenFiles) -> Iterator[str]:
    if PARTITIONS in files:
        yield (
            f"include {PARTITIONS} after {NODES}, and limit each partition to its tenant with AllowAccounts or "
            "AllowGroups: the network takes a job for one of the tenant of its hosts"
        )


HANDOFF = Handoff(
    "slurm",
    "Write Slurm's topology.conf or topology.yaml, and the nodes with their GPUs and features.",
    slurm_files,
    (
        Option("slurm-release", "Release of Slurm that reads the files.", default="24.11", choices=RELEASES),
        Option(
            "plugin",
            "Topology of the partitions. Default: block if NVLink joins hosts, else tree.",
            choices=(_TREE, _BLOCK),
        ),
    ),
    "copy the topology file beside slurm.conf, and include fabric.conf and nodes.conf after your NodeName=DEFAULT line",
    _notes,
    examples=("", "--slurm-release 25.05"),
)
